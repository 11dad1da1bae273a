"""What a registration does for the model: the catalogue first, then what its words say.

Pure. The catalogue knows packages, programs, images and addresses exactly. Where
it knows nothing, the words of name, command and address are looked at; the
evidence always says which of the two it was, for the user may overrule it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from hostconf.integrations.schema import ANY_TOOL, CAPABILITIES, Integration
from hostconf.survey.launchers import Target, base_of, many, package_of, stem_of, targets

SEARCH, FETCH = CAPABILITIES


class Classification(NamedTuple):
    """What a registration does for the model, and how that is known."""

    capabilities: tuple[str, ...] = ()
    tools: tuple[tuple[str, str], ...] = ()
    """Capability and raw tool name; `*` where the names are not known."""
    integration: str = ""
    evidence: str = ""
    """One sentence without full stop."""
    confidence: str = "none"
    """`catalogue`, `heuristic` or `none`."""


class _Index(NamedTuple):
    packages: Mapping[str, Integration]
    programs: Mapping[str, Integration]
    images: Mapping[str, Integration]
    builtins: Mapping[str, Integration]
    urls: tuple[tuple[str, str, Integration], ...]


_last: list[tuple[Sequence[Integration], _Index]] = []
"""The index of the catalogue asked for last: one registration after the other asks for the same."""

# Words that stand for one thing only. The second set also reads pages.
VENDORS = many("""
    tavily exa perplexity perplexityai searxng searx duckduckgo ddg ddgs kagi serper serpapi searchapi linkup bocha
    langsearch websearch webresearch bravesearch googlesearch gsearch bingsearch deepresearch deepsearch metasearch
    whoogle serp firecrawl jina brightdata internetsearch groksearch kagimcp perplexica websearchmcp minideepsearch
""")
VENDORS_THAT_READ = {"tavily", "exa", "firecrawl", "jina", "brightdata"}
SEARCH_PAIRS = {
    ("web", "search"), ("search", "web"), ("web", "searcher"), ("internet", "search"), ("online", "search"),
    ("google", "search"), ("bing", "search"), ("brave", "search"), ("baidu", "search"), ("yandex", "search"),
    ("yahoo", "search"), ("grok", "search"), ("gemini", "search"), ("openai", "search"), ("ai", "search"),
    ("deep", "research"), ("deep", "search"), ("web", "research"), ("free", "search"),
    ("duck", "search"), ("fallback", "search"), ("live", "search"), ("bright", "data"), ("net", "search"),
    ("global", "search"), ("google", "news"), ("web", "searxng"), ("meta", "search"), ("google", "pse"),
    ("google", "cse"), ("minimax", "search"), ("deepseek", "search"), ("doubao", "search"), ("search", "fetch"),
    ("gpt", "researcher"),
}  # fmt: skip
FETCHERS = re.compile(
    r"fetch(er|v\d)?|(web|url)(fetch|reader)|\w*(crawl|crawler|scrape|scraper|scraping)|scrapling|crawl4ai|webpage|"
    r"markitdown|markdownify|curl|wget|readability"
)
FETCH_PAIRS = {
    ("web", "fetch"), ("url", "fetch"), ("fetch", "url"), ("fetch", "web"), ("web", "reader"), ("url", "reader"),
    ("read", "website"), ("read", "url"), ("website", "downloader"), ("web", "downloader"), ("web", "content"),
    ("website", "reader"), ("page", "reader"), ("web", "scraper"), ("url", "markdown"), ("web", "page"),
    ("search", "fetch"), ("website", "fetch"), ("read", "web"), ("read", "webpage"), ("web", "extract"),
    ("bright", "data"),
}  # fmt: skip
# With one of these the search or the reading is of one place, or of something else than the web.
ELSEWHERE = many("""
    docs doc documentation code repo repos repository github gitlab git youtube bilibili arxiv wiki wikipedia
    wikidata scholar scholarly paper papers pubmed academic reddit twitter linkedin facebook instagram tiktok weixin
    wechat redbook zhihu notion slack jira confluence email mail gmail calendar maps drive workspace console
    analytics trends file files filesystem local vault obsidian db database sql postgres elastic elasticsearch
    opensearch meilisearch algolia vector memory hotel hotels flight flights job jobs house image images video music
    product stock npm pypi vision screenshot ocr transcript transcripts pdf session sessions history torrent patent
    legal news24 tool tools registry logs log data semantic symbol symbols contact contacts domain webmaster
    elasticsearch7 sec finance weather x airbnb browser dependency figma
""")
WHOLE_NAMES = {
    "web": (SEARCH,), "search": (SEARCH,), "research": (SEARCH,), "internet": (SEARCH,), "web-browse": (FETCH,),
    "search-mcp": (SEARCH,), "web-mcp": (SEARCH,),
}  # fmt: skip
NOISE = {
    "mcp",
    "server",
    "servers",
    "client",
    "npm",
    "api",
    "the",
    "io",
    "dev",
    "local",
    "tool",
    "tools",
    "pro",
    "enhanced",
}
PLACES = many("""
    src dist build bin lib out index main server servers mcp mcp-servers scripts node_modules venv .venv app run
    start cli home users user opt usr local
""")
ADDRESS = re.compile(r"[A-Za-z][\w+.\-]*://(?:[^/@?#]*@)?(\[[^\]]*\]|[^:/?#]*)(?::\d*)?([^?#]*)")
ENV_WORDS = re.compile(r"SEARXNG|SEARX_|WEB_?SEARCH")
ARGUMENT_WORDS = re.compile(r"web[_-]?search(?!_console)|searxng|tavily|duckduckgo|exa_search")


def classify(
    *,
    name: str,
    transport: str,
    command: Sequence[str],
    url: str,
    env_names: Sequence[str],
    catalogue: Sequence[Integration],
) -> Classification:
    """What one registration does for the model, with the evidence for it."""
    found = targets(command, url)
    if not command and not url:
        found = (Target("builtin", name.strip().lower()), Target("package", package_of(name)))
    index = _index(catalogue)
    hits = _catalogue_hits(found, index)
    if hits:
        return _from_catalogue(hits)
    return _from_words(name, transport, found, env_names)


def normal(package: str) -> str:
    """A package name in the one spelling that registries hold for equal."""
    name = package.lower()
    return name if name.startswith("@") else re.sub(r"[-_.]+", "-", name)


# ------------------------------------------------------------------ the catalogue


def _index(catalogue: Sequence[Integration]) -> _Index:
    if _last and _last[0][0] is catalogue and isinstance(catalogue, tuple):
        return _last[0][1]
    packages: dict[str, Integration] = {}
    programs: dict[str, Integration] = {}
    images: dict[str, Integration] = {}
    builtins: dict[str, Integration] = {}
    urls: list[tuple[str, str, Integration]] = []
    for one in catalogue:
        known = one.recognise
        packages.update((normal(name), one) for name in known.packages)
        programs.update((normal(name), one) for name in known.commands)
        images.update((name.lower(), one) for name in known.images)
        builtins.update((name.lower(), one) for name in known.builtins)
        for address in known.urls:
            host, _, path = address.lower().partition("/")
            urls.append((host, path, one))
    urls.sort(key=lambda item: -len(item[1]))
    index = _Index(packages, programs, images, builtins, tuple(urls))
    _last[:] = [(catalogue, index)]
    return index


def _catalogue_hits(found: Iterable[Target], index: _Index) -> list[tuple[Integration, str]]:
    hits: dict[str, tuple[Integration, str]] = {}
    for target in found:
        one, what = _known(target, index)
        if one is not None:
            hits.setdefault(one.id, (one, what))
    return list(hits.values())


def _known(target: Target, index: _Index) -> tuple[Integration | None, str]:
    kind, name = target
    if kind == "url":
        return _known_url(name, index)
    if kind == "builtin":
        return index.builtins.get(name), f"the name `{name}`"
    if kind == "image":
        found = index.images.get(name) or index.images.get("/".join(name.split("/")[-2:]))
        return found, f"the image `{name}`"
    if kind == "service":
        return index.images.get(f"mcp/{name}") or index.packages.get(normal(name)), f"the gateway's server `{name}`"
    if kind == "argument":
        return None, ""
    if kind == "script":
        for part in reversed(name.split("/")[-4:]):
            plain = normal(base_of(part))
            if plain and plain not in PLACES and (one := index.programs.get(plain) or index.packages.get(plain)):
                return one, f"`{part}` in its path"
        return None, ""
    plain = normal(name.split(".")[0] if kind == "module" else name)
    words = {"package": "the package", "command": "the program", "module": "the module"}
    if kind == "package":
        return index.packages.get(plain), f"the package `{name}`"
    return index.programs.get(plain) or index.packages.get(plain), f"{words.get(kind, 'the word')} `{name}`"


def _known_url(url: str, index: _Index) -> tuple[Integration | None, str]:
    host, path = _host_and_path(url)
    for known, prefix, one in index.urls:
        same = host == known or (known.startswith("*.") and host.endswith(known[1:]))
        if same and (not prefix or path == prefix or path.startswith(prefix.rstrip("/") + "/")):
            return one, f"the address `{host}{'/' + prefix if prefix else ''}`"
    return None, ""


def _host_and_path(url: str) -> tuple[str, str]:
    match = ADDRESS.match(url.strip())
    return (match[1].lower().strip("[]"), match[2].strip("/").lower()) if match else ("", "")


def _from_catalogue(hits: list[tuple[Integration, str]]) -> Classification:
    tools: dict[tuple[str, str], None] = {}
    for one, _ in hits:
        for capability, names in one.capabilities.items():
            tools.update(((capability, tool), None) for tool in names)
    capabilities = tuple(name for name in CAPABILITIES if any(pair[0] == name for pair in tools))
    first, what = hits[0]
    evidence = f"{what} is {first.name} in the catalogue"
    if len(hits) > 1:
        evidence += f", with {', '.join(one.name for one, _ in hits[1:])}"
    return Classification(capabilities, tuple(tools), first.id, evidence, "catalogue")


# ------------------------------------------------------------------ the words


def words_of(text: str) -> list[str]:
    """The words of a name: cut at everything that is no letter or digit, and where a capital follows a small letter."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return [word for word in re.split(r"[^a-z0-9]+", parted.lower()) if word]


def _from_words(name: str, transport: str, found: Sequence[Target], env_names: Sequence[str]) -> Classification:
    del transport
    for source, text in _speaking(name, found):
        words = words_of(text)
        capabilities, why = _meaning(words if source == "address" else [word for word in words if word not in NOISE])
        if capabilities:
            shown = "" if source == "address" else f" `{text}`"
            return _heuristic(capabilities, f"the {source}{shown} speaks of `{why}`")
    for target in found:
        if target.kind == "argument" and (match := ARGUMENT_WORDS.search(target.name)):
            return _heuristic((SEARCH,), f"an argument speaks of `{match.group()}`")
        if target.kind == "service" and (meant := _meaning(words_of(target.name)))[0]:
            return _heuristic(meant[0], f"the gateway's server `{target.name}` speaks of `{meant[1]}`")
    speaking = next((variable for variable in env_names if ENV_WORDS.search(variable.upper())), "")
    if speaking:
        return _heuristic((SEARCH,), f"the variable `{speaking}` speaks of web search")
    whole = WHOLE_NAMES.get("-".join(words_of(name)))
    if whole and _opaque(found):
        return _heuristic(whole, f"it is called `{name.strip()}`, and its command says nothing else")
    return Classification(evidence="neither the catalogue nor its words speak of the web")


def _heuristic(capabilities: tuple[str, ...], evidence: str) -> Classification:
    tools = tuple((capability, ANY_TOOL) for capability in capabilities)
    return Classification(capabilities, tools, "", evidence, "heuristic")


def _speaking(name: str, found: Sequence[Target]) -> list[tuple[str, str]]:
    """The texts whose words count, with what they are: what is started first, then the name."""
    texts: list[tuple[str, str]] = []
    for target in found:
        if target.kind in ("package", "command", "image", "module"):
            kind = "program" if target.kind == "command" else target.kind
            texts.append((kind, target.name.rpartition("/")[2] if target.kind == "image" else target.name))
        elif target.kind == "script":
            parts = [part for part in target.name.split("/") if part]
            near = [part for part in parts[-3:] if base_of(part) not in PLACES]
            texts.extend(("path", stem_of(part)) for part in reversed(near))
        elif target.kind == "url":
            host, path = _host_and_path(target.name)
            texts.append(("address", ".".join(host.split(".")[:-1]) + ("/" + path if path else "")))
    texts.append(("name", name.strip()))
    return texts


def _meaning(words: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Capabilities that the words stand for, and the words that say so."""
    pairs = list(pairwise(words))
    vendor = next((word for word in words if word in VENDORS), "")
    if vendor and not {"console", "embeddings", "whatsapp", "history"} & set(words):
        return ((SEARCH, FETCH) if vendor in VENDORS_THAT_READ else (SEARCH,)), vendor
    if list(words) in (["brave"], ["omnisearch"]):
        return (SEARCH,), words[0]
    elsewhere = ELSEWHERE & set(words)
    searches = next((pair for pair in pairs if pair in SEARCH_PAIRS), None)
    reads = next((pair for pair in pairs if pair in FETCH_PAIRS), None)
    reader = next((word for word in words if FETCHERS.fullmatch(word)), "")
    if elsewhere - {"data", "browser"} or (elsewhere and not searches and not reads):
        return (), ""
    capabilities = ((SEARCH,) if searches else ()) + ((FETCH,) if reads or reader else ())
    said = [" ".join(pair) for pair in (searches, reads) if pair] or [reader]
    return capabilities, " ".join(dict.fromkeys(said))


def _opaque(found: Sequence[Target]) -> bool:
    """Whether nothing of the command has a name of its own: a script called `server.py`, an address at home."""
    for target in found:
        if target.kind in ("package", "image", "service"):
            return False
        if target.kind == "url" and not re.search(
            r"//(localhost|127\.|0\.0\.0\.0|\[::1\]|10\.|192\.168\.|host\.docker)", target.name
        ):
            return False
    return True
