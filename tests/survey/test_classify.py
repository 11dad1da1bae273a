"""What a registration is for: by the catalogue, through launchers, by words; and how often that is right."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from hostconf.integrations.load import load_integrations
from hostconf.survey.classify import Classification, classify
from hostconf.survey.launchers import Target, package_of, split_words, targets

LABELS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "labels.tsv"
CATALOGUE = load_integrations()


def ask(words: str = "", *, name: str = "x", url: str = "", env: Sequence[str] = ()) -> Classification:
    """What a registration of these words is taken for."""
    command = () if url else tuple(split_words(words))
    return classify(name=name, transport="stdio", command=command, url=url, env_names=env, catalogue=CATALOGUE)


@pytest.mark.parametrize(
    ("words", "integration"),
    [
        ("npx -y tavily-mcp", "tavily"),
        ("npx -y tavily-mcp@0.2.3", "tavily"),
        ("npx --yes --registry https://example.org exa-mcp-server@latest", "exa"),
        ("npx -p @brave/brave-search-mcp-server brave-search-mcp-server", "brave-search"),
        ("npx --package=firecrawl-mcp firecrawl-mcp", "firecrawl"),
        ("npx -y -- tavily-mcp", "tavily"),
        ("npx.cmd -y tavily-mcp", "tavily"),
        (r"C:\nodejs\npx.CMD -y tavily-mcp", "tavily"),
        ("/usr/local/bin/npx -y tavily-mcp", "tavily"),
        ("bunx tavily-mcp", "tavily"),
        ("bun x tavily-mcp", "tavily"),
        ("npm exec --yes -- tavily-mcp@1", "tavily"),
        ("pnpm dlx tavily-mcp", "tavily"),
        ("yarn dlx tavily-mcp", "tavily"),
        ("npx -c 'tavily-mcp --verbose'", "tavily"),
        ("uvx kagimcp", "kagi"),
        ("uvx --python 3.12 --from kagimcp==1.0.0 kagimcp", "kagi"),
        ("uvx mcp-server-fetch>=2025.1", "fetch"),
        ("uvx markitdown-mcp[all]", "markitdown"),
        ("uv tool run kagimcp", "kagi"),
        ("uv run --with kagimcp kagimcp", "kagi"),
        ("uv run -m mcp_server_fetch", "fetch"),
        ("uv --directory /srv/x run python -m mcp_server_fetch.main", "fetch"),
        ("pipx run mcp-server-fetch", "fetch"),
        ("pipx run --spec mcp-server-fetch==1 mcp-server-fetch", "fetch"),
        ("uvx --from git+https://github.com/someone/mcp-searxng.git@main start", "searxng"),
        ("python3.12 -m mcp_server_fetch", "fetch"),
        ("docker run -i --rm -e TAVILY_API_KEY mcp/tavily", "tavily"),
        ("docker run --rm --name a -e KEY=b docker.io/mcp/fetch:1.2", "fetch"),
        ("docker run -i ghcr.io/some/uv:python3.12 uvx --from kagimcp==1.0 kagimcp", "kagi"),
        ("docker exec -i box npx tavily-mcp", "tavily"),
        ("docker mcp gateway run --servers=brave-search,github", "brave-search"),
        ("cmd /c npx -y tavily-mcp", "tavily"),
        ("bash -c 'npx -y tavily-mcp --flag'", "tavily"),
        ("sh -lc 'export A=1 && exec npx -y tavily-mcp'", "tavily"),
        ("powershell -NoProfile -Command 'npx -y tavily-mcp'", "tavily"),
        ("env TAVILY_API_KEY=x npx tavily-mcp", "tavily"),
        ("TAVILY_API_KEY=x npx tavily-mcp", "tavily"),
        ("sudo -u me npx tavily-mcp", "tavily"),
        ("ssh box npx tavily-mcp", "tavily"),
        ("mise x node@22 -- npx tavily-mcp", "tavily"),
        ("/opt/some-wrapper npx -y mcp-searxng", "searxng"),
        ("npx -y mcp-remote@0.1 https://mcp.exa.ai/mcp --header Authorization:x", "exa"),
        ("npx -y supergateway --stdio 'npx -y tavily-mcp'", "tavily"),
        ("npx -y supergateway --sse https://mcp.exa.ai/sse", "exa"),
        ("uvx mcp-proxy https://mcp.exa.ai/mcp", "exa"),
        ("npx -y @smithery/cli@latest run exa-mcp-server --key k", "exa"),
        ("node /srv/tavily-mcp/build/index.js", "tavily"),
        ("node ./node_modules/@brave/brave-search-mcp-server/dist/index.js", "brave-search"),
        ("node /usr/lib/node_modules/npm/bin/npx-cli.js -y tavily-mcp", "tavily"),
        ("deno run -A npm:tavily-mcp", "tavily"),
        ("runner -m=https://esm.sh/tavily-mcp@0.2/dist/index.js", "tavily"),
        ("${BIN:-/opt/kagi/kagimcp}", "kagi"),
        ("npx -y deepseek-web-retrieval@1.2.3", "deepseek-web-retrieval"),
    ],
)
def test_launchers_are_seen_through(words: str, integration: str) -> None:
    found = ask(words)
    assert found.integration == integration
    assert found.confidence == "catalogue"
    assert found.evidence


@pytest.mark.parametrize(
    ("url", "integration"),
    [
        ("https://mcp.exa.ai", "exa"),
        ("https://mcp.exa.ai/mcp?exaApiKey=k", "exa"),
        ("https://user:secret@mcp.exa.ai:443/mcp", "exa"),
        ("HTTPS://MCP.EXA.AI/mcp", "exa"),
        ("https://api.z.ai/api/mcp/web_search_prime/mcp/", "zhipu-web-search"),
        ("https://api.z.ai/api/mcp/web_reader/mcp", "zhipu-web-reader"),
        ("https://api.z.ai/api/mcp/vision/mcp", ""),
        ("https://mcp.exa.ai.example.org/mcp", ""),
        ("https://notmcp.exa.aim/", ""),
        ("{env:SOME_MCP}", ""),
        ("https://[::1", ""),
    ],
)
def test_an_address_is_known_by_host_and_path(url: str, integration: str) -> None:
    assert ask(url=url).integration == integration


def test_tools_come_from_the_catalogue() -> None:
    found = ask("npx deepseek-web-retrieval")
    assert found.capabilities == ("web_search", "web_fetch")
    assert found.tools == (("web_search", "deepseek_web_search"), ("web_fetch", "deepseek_fetch"))
    assert "package `deepseek-web-retrieval`" in found.evidence


def test_the_package_counts_and_not_the_name() -> None:
    found = ask("uvx duckduckgo-mcp-server", name="fetch")
    assert found.integration == "duckduckgo"
    assert "web_search" in found.capabilities


def test_a_builtin_is_known_by_its_name_alone() -> None:
    assert ask(name="computercontroller").integration == "computer-controller"
    assert ask("true", name="computercontroller").integration == ""
    assert ask(name="npm:pi-web-access").integration == "pi-web-access"


@pytest.mark.parametrize(
    ("words", "name", "capabilities"),
    [
        ("node ./own/perplexity-bridge/server.js", "ask", ("web_search",)),
        ("uvx some-web-search-thing", "x", ("web_search",)),
        ("node build/googleSearchMcp.js", "x", ("web_search",)),
        ("npx -y url-fetch-mcp", "x", ("web_fetch",)),
        ("python server.py", "web-reader", ("web_fetch",)),
        ("python server.py", "web", ("web_search",)),
        ("npx -y something-else", "web", ()),
        ("docker mcp gateway run --profile fetch_web_search", "x", ("web_search",)),
        ("opaque", "mine", ()),
    ],
)
def test_words_speak_where_the_catalogue_is_silent(words: str, name: str, capabilities: tuple[str, ...]) -> None:
    found = ask(words, name=name)
    assert set(capabilities) <= set(found.capabilities)
    assert bool(found.capabilities) == bool(capabilities)
    assert found.confidence == ("heuristic" if capabilities else "none")
    assert all(tool == "*" for _, tool in found.tools)


@pytest.mark.parametrize(
    ("words", "name", "env"),
    [
        ("npx -y task-master-ai", "task-master-ai", ["PERPLEXITY_API_KEY", "BRAVE_API_KEY"]),
        ("node ./grok4-integration.js", "grok4-integration", ["PERPLEXITY_API_KEY", "XAI_API_KEY"]),
        ("node_repl", "node_repl", ["BROWSER_USE_BACKENDS"]),
        ("npx -y @z_ai/mcp-server", "zai-mcp-server", ["Z_AI_API_KEY"]),
        ("uvx chunkhound mcp", "code-search", []),
        ("uvx google-search-console-mcp", "gsc", []),
        ("npx -y elasticsearch-mcp", "search", []),
        ("uvx arxiv-search-mcp", "arxiv", []),
        ("uvx mc-wiki-fetch-mcp", "wiki", []),
        ("npx @playwright/mcp@latest", "browser", []),
        ("npx -y @upstash/context7-mcp", "context7", ["CONTEXT7_API_KEY"]),
        ("uvx duckdb-mcp-server", "duckdb", []),
        ("npx -y @modelcontextprotocol/server-filesystem ./web-fetch ./search", "filesystem", []),
    ],
)
def test_what_only_looks_like_it(words: str, name: str, env: list[str]) -> None:
    assert ask(words, name=name, env=env).capabilities == ()


def test_a_variable_speaks_only_where_it_leaves_no_doubt() -> None:
    assert ask(url="https://search.example.org/x", name="code", env=["MCP_SEARXNG_API_KEY"]).capabilities == (
        "web_search",
    )
    assert ask(url="https://x.example.org", name="code", env=["TAVILY_API_KEY"]).capabilities == ()


def test_the_evidence_holds_no_part_of_an_address() -> None:
    found = ask(url="https://mcp.example.com/perplexityai/s3cr3t-path?key=hush")
    assert found.capabilities == ("web_search",)
    assert "s3cr3t" not in found.evidence and "hush" not in found.evidence


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("@Scope/Name@1.2.3", "@scope/name"),
        ("name==1.0", "name"),
        ("name[extra]>=2", "name"),
        ("npm:@a/b@latest", "@a/b"),
        ("git+https://github.com/a/b.git@v1#subdirectory=c", "b"),
        ("git:github.com/a/pi-thing", "pi-thing"),
        ("github:a/b", "b"),
        ("https://example.org/pkg-1.2.tgz", "pkg"),
        ("name @ git+https://example.org/a/other", "other"),
        ("./local", ""),
        ("~/local", ""),
        ("C:\\local", ""),
    ],
)
def test_package_references(word: str, name: str) -> None:
    assert package_of(word) == name


def test_launchers_inside_launchers_come_to_an_end() -> None:
    words = ["bash", "-c", "npx x"]
    for _ in range(50):
        words = ["bash", "-c", *words]
    assert isinstance(targets(words), tuple)
    assert targets(["npx"]) == targets([]) == targets(["docker", "run"]) == ()
    assert targets(["npx", "-y", "a", "b"]) == (Target("package", "a"), Target("argument", "b"))


# ------------------------------------------------------------------ how often it is right


def truth(row: dict[str, str]) -> set[str]:
    """The capabilities that a labelled row has."""
    if row["label"] not in ("web_search", "web_fetch"):
        return set()
    named = row["capabilities"].split(",")
    return {row["label"]} | {
        long for short, long in (("search", "web_search"), ("fetch", "web_fetch")) if short in named
    }


@pytest.mark.skipif(not LABELS.exists(), reason="the labelled registrations (shared/corpus/labels.tsv) are not here")
@pytest.mark.parametrize("half", ["written with", "held out"])
@pytest.mark.parametrize("capability", ["web_search", "web_fetch"])
def test_precision_and_recall(half: str, capability: str) -> None:
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    with LABELS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            even = int(hashlib.sha256(row["name"].encode()).hexdigest(), 16) % 2 == 0
            if even != (half == "written with"):
                continue
            text = row["command_or_url"]
            remote = "://" in text.split(" ")[0] or row["transport"].startswith(("http", "remote", "sse", "streamable"))
            found = classify(
                name=row["name"],
                transport=row["transport"],
                command=() if remote or not text else tuple(text.split(" ")),
                url=text if remote else "",
                env_names=[name for name in row["env_and_header_names"].split(",") if name],
                catalogue=CATALOGUE,
            )
            counts[capability in found.capabilities, capability in truth(row)] += 1
    hit, false, missed = counts[True, True], counts[True, False], counts[False, True]
    precision, recall = hit / (hit + false), hit / (hit + missed)
    print(
        f"{half}, {capability}: precision {precision:.3f}, recall {recall:.3f}",
        f"({hit} hits, {false} false, {missed} missed)",
    )
    assert precision >= 0.95
    assert recall >= (0.95 if half == "held out" else 0.93)
