"""Which lines of a rules file steer the model to a web tool, or away from one.

Pure. A line counts when it names a web tool (or web search as such) and directs:
by a word (`use`, `never`, `instead of`), by its place under such a heading or
table head, or as a pair (`Web search: Exa`). A mere mention does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Steer(NamedTuple):
    """One line that steers, and where to."""

    line: int
    """1-based."""
    text: str
    """The line without the blanks around it, as it stands."""
    tools: tuple[str, ...]
    """As the line spells them; `web search` or `web fetch` where none is named."""
    direction: str
    """`to` or `away`."""
    own: bool = False
    """Whether the tools are the integration's own."""

    @property
    def elsewhere(self) -> bool:
        """Whether it stands against the integration: to another tool, or away from its own."""
        return self.own == (self.direction == "away")


class _Mention(NamedTuple):
    start: int
    end: int
    word: str
    kind: str
    """`own`, `tool` or `phrase`."""


_BLOCK_BEGIN = re.compile(r"<!--\s*hostconf:begin\b")
_BLOCK_END = re.compile(r"<!--\s*hostconf:end\b")
_FENCE = re.compile(r"\s*(```+|~~~+)\s*(\w*)")
_CONFIG_FENCES = {
    "json",
    "jsonc",
    "json5",
    "toml",
    "yaml",
    "yml",
    "xml",
    "ini",
    "diff",
    "python",
    "ts",
    "js",
    "typescript",
}

# What people call web tools, in any rules file; names that are also words of the language stand in _COMMON.
_KNOWN = (
    "WebSearch", "WebFetch", "web_search", "web_fetch", "websearch", "webfetch", "google_web_search", "Tavily", "Exa",
    "Brave Search", "Perplexity", "Firecrawl", "SearXNG", "DuckDuckGo", "Kagi", "Jina", "Linkup", "Serper", "SerpApi",
    "BrightData", "Bright Data", "Crawl4AI", "Brave",
)  # fmt: skip
_COMMON = frozenset(
    [
        *("fetch", "search", "web", "brave", "parallel", "you", "google", "bing", "extract", "scrape", "crawl", "read"),
        *("reader", "research", "code", "general", "docs", "memory", "browser", "apify", "intercept", "fetcher"),
        *("oxylabs", "crawling", "you.com"),
    ]
)
_PHRASES = re.compile(
    r"\b(?:web[ -]?search(?:es|ing)?|search(?:es|ing)? (?:the |on the )?(?:web|internet|online)|internet search|"
    r"look(?:ing)? (?:it |things |this |them )?up (?:online|on the web)|google it|browse the (?:web|internet)|"
    r"(?:fetch|read|scrape|retrieve|open)(?:ing|es|s)? (?:the |a |any |that )?"
    r"(?:web ?)?(?:pages?|urls?|websites?|links?)|"
    r"web[ -]?fetch|web[ -]?scraping)\b",
    re.IGNORECASE,
)
_FETCH_PHRASE = re.compile(r"fetch|read|scrap|retrieve|open", re.IGNORECASE)

# Words that direct. The negative ones come first, for `never use` is one of them.
_AWAY = re.compile(
    r"\b(?:never|do(?:es)? not|don[’']?t|must not|mustn[’']?t|should not|shouldn[’']?t|may not|cannot|can[’']?t|"
    r"avoid(?:ing)?|instead of|rather than|in place of|in favou?r over|without|no longer|stop using|refrain from|"
    r"forbidden to|not allowed to|replac(?:e|es|ing)|disable[sd]?|skip|ban(?:ned)?|"
    r"over|not|no)\b"
    r"(?:\s+(?:ever|just|simply|even|directly|use|using|call|calling|invoke|rely on|reach for|fall back (?:to|on)|run|"
    r"try|default to|built-?in|the|any|to))*",
    re.IGNORECASE,
)
_TO = re.compile(
    r"\b(?:use[sd]?|using|always|must|prefer(?:s|red|ably)?|only|first|should|call|calls|invoke|run|default(?:s)? to|"
    r"rely on|reach for|go (?:to|through|with)|fall(?:s|ing)? back (?:to|on)|fallback|need(?:s)? to|have to|required|"
    r"instead(?! of)|via|through|make sure|ensure|try|prioriti[sz]e|favou?r|choose|pick|start with|mandatory)\b",
    re.IGNORECASE,
)
_AFTER_AWAY = re.compile(
    r"^[`*\"')\]]*\s*(?:(?:tools?|mcp|servers?)\s+)?(?:(?:is|are|must|should|may|can|will)\s+)?"
    r"(?:(?:not|never)\b(?!\s+only)|(?:be\s+)?(?:strictly\s+)?"
    r"(?:forbidden|prohibited|disabled|banned|deprecated|off[- ]limits|avoided|blocked|denied|unavailable)\b)",
    re.IGNORECASE,
)
_AFTER_TO = re.compile(
    r"^[`*\"')\]]*\s*(?:(?:tools?|mcp|servers?|search)\s+)?(?:first\b|only\b|(?:is|are)\s+(?:the\s+)?(?:preferred|default|required|"
    r"mandatory|primary|first choice|your)|instead\b(?! of)|(?:must|should) be (?:used|preferred|called))",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"[`*\"')\]]*\s*,?\s*(?:not|instead of|rather than|over)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;!?]\s|\.\s|\s[—–]\s|\bbut\b|\bhowever\b|\|", re.IGNORECASE)
_PAIR = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+.*?(?::|→|->|=>|—|–)\s*")
_ROW = re.compile(r"^\s*\|.*\|")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s|.*:\s*\**\s*$)")
_LEADING = re.compile(
    r"\b(?:never|do not|don[’']?t|avoid|prefer\w*|always|only|instead|forbidden|use(?! cases?)|allowed)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")


def steering_lines(
    text: str,
    *,
    own_tools: Sequence[str],
    rival_tools: Sequence[str],
    rival_names: Sequence[str],
    host_tools: Sequence[str],
) -> tuple[Steer, ...]:
    """The lines outside our own block that steer the model to or away from a web tool.

    `own_tools` and `rival_tools` are ids as the model sees them or raw names;
    `rival_names` what people call them; `host_tools` the host's own. All lines are
    given; those that stand against the integration say so (`Steer.elsewhere`).
    """
    names = _Names(own_tools, [*rival_tools, *rival_names, *host_tools, *_KNOWN])
    found: list[Steer] = []
    lead = head = ""
    for number, line in _lines(text):
        mentions = names.in_line(line)
        row = bool(_ROW.match(line))
        if not row:
            head = ""
        elif not head and not _RULE.match(line):
            head = line
        if mentions:
            found += _steers(
                number, line, mentions, lead if _ITEM.match(line) else "", head if row and head != line else ""
            )
        if _LEAD.match(line):
            lead = line if _LEADING.search(line) else ""
        elif line.strip() and not _ITEM.match(line) and not line.startswith((" ", "\t")):
            lead = ""
    return tuple(found)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that the model reads as prose: not our block, not configuration in a fence."""
    ours = False
    fence = ""
    skipped = False
    for number, line in enumerate(text.split("\n"), 1):
        if ours:
            ours = not _BLOCK_END.search(line)
            continue
        if _BLOCK_BEGIN.search(line):
            ours = not _BLOCK_END.search(line)
            continue
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, skipped = mark[1], mark[2].lower() in _CONFIG_FENCES
        elif mark and mark[1].startswith(fence) and not mark[2]:
            fence, skipped = "", False
        elif not skipped:
            yield number, line


class _Names:
    """Finds the names of web tools in a line."""

    def __init__(self, own: Sequence[str], others: Sequence[str]) -> None:
        self.own = {name.lower() for name in own if name}
        every = {name.strip() for name in (*own, *others) if name and name.strip("* ")}
        ordered = sorted(every, key=lambda name: (-len(name), name))
        # Longest first. An id may stand inside the id that a host makes of it (`mcp__server__id`).
        words = "|".join(re.escape(name) for name in ordered)
        self.pattern = re.compile(
            rf"(?<![\w/.@\-])(?:({words})|((?:mcp_{{1,2}})?[A-Za-z0-9\-]+(?:_[A-Za-z0-9\-]+){{0,6}}?_{{1,2}}({words})))"
            r"(?![\w/@]|-\w|\.\w)",
            re.IGNORECASE,
        )

    def in_line(self, line: str) -> list[_Mention]:
        """Mentions in order; phrases only where nothing is named."""
        found = [mention for match in self.pattern.finditer(line) if (mention := self._mention(match, line))]
        phrases = [_Mention(m.start(), m.end(), m.group(), "phrase") for m in _PHRASES.finditer(line)]
        named = [m for m in found if not any(_within(m, p) and not _marked(line, m) for p in phrases)]
        return named or [phrase for phrase in phrases if _clear(line, phrase)]

    def _mention(self, match: re.Match[str], line: str) -> _Mention | None:
        whole, name = match.group(), match[1] or match[3]
        mention = _Mention(match.start(), match.end(), whole, "own" if self._is_own(whole, name) else "tool")
        common = name.lower() in _COMMON
        if whole != name:
            return (
                None if common and not whole.lower().startswith("mcp_") and whole.lower() not in self.own else mention
            )
        if common:
            near = line[match.end() : match.end() + 12].lstrip("`*\"' ").lower()
            called = near.startswith(("tool", "mcp", "server", "api", "search"))
            return mention if _marked(line, mention) or (called and (name[0].isupper() or near[:1] in "tms")) else None
        return mention

    def _is_own(self, whole: str, name: str) -> bool:
        return whole.lower() in self.own or name.lower() in self.own


def _within(mention: _Mention, phrase: _Mention) -> bool:
    return phrase.start <= mention.start and mention.end <= phrase.end and len(phrase.word) > len(mention.word)


def _marked(line: str, mention: _Mention) -> bool:
    """Whether it stands as a name: in backticks, quotes or bold."""
    return (
        line[mention.start - 1 : mention.start] in ("`", "*", '"', "'")
        and line[mention.end : mention.end + 1] in "`*\"'("
    )


def _clear(line: str, phrase: _Mention) -> bool:
    """Whether a phrase speaks of the web and not of a page of something else."""
    rest = line[phrase.end : phrase.end + 20].lower()
    return not rest.startswith((" of the app", " component", " endpoint", " handler", " table", " bar", " index"))


def _steers(number: int, line: str, mentions: Sequence[_Mention], lead: str, head: str) -> list[Steer]:
    ways: dict[tuple[str, bool], list[str]] = {}
    for mention in mentions:
        way = _direction(line, mention, mentions)
        if not way and mention.kind != "phrase":
            way = _by_place(line, mention, lead, head)
        if way:
            ways.setdefault((way, mention.kind == "own"), []).append(_called(mention))
    text = line.strip()
    return [Steer(number, text, tuple(dict.fromkeys(tools)), way, own) for (way, own), tools in ways.items()]


def _called(mention: _Mention) -> str:
    if mention.kind != "phrase":
        return mention.word
    return "web fetch" if _FETCH_PHRASE.search(mention.word) else "web search"


def _direction(line: str, mention: _Mention, mentions: Sequence[_Mention]) -> str:
    """What the words of the clause say about one mention; empty when none directs."""
    start = max((m.end() for m in _CLAUSE.finditer(line, 0, mention.start)), default=0)
    stop = next((m.start() for m in _CLAUSE.finditer(line, mention.end)), len(line))
    others = [m for m in mentions if m is not mention and start <= m.start < stop]
    after = line[mention.end : min([stop, *(m.start for m in others if m.start > mention.start)])]
    if _AFTER_AWAY.match(after):
        return "away"
    before = line[start : mention.start]
    negatives = list(_AWAY.finditer(before))
    taken = [(m.start(), m.end()) for m in negatives]
    positives = [m for m in _TO.finditer(before) if not any(a <= m.start() < b for a, b in taken)]
    last = max((m.start() for m in negatives), default=-1)
    good = max((m.start() for m in positives), default=-1)
    if last > good and not _spent(before, negatives[-1].end(), others, start):
        return "away"
    if good >= 0:
        return "to"
    if last >= 0:
        return "" if _spent(before, negatives[-1].end(), others, start) else "away"
    if _AFTER_TO.match(after):
        return "to"
    late = _AWAY.search(after) or _TO.search(after)
    if (
        late
        and mention.kind != "phrase"
        and re.match(r"[`*\"')\]]*\s*(?:,\s*)?(?:not|instead of|rather than|over)\b", after)
    ):
        return "to"
    if late and _TO.match(after.lstrip("`*\"')] ")):
        return "to"
    return ""


def _spent(before: str, end: int, others: Sequence[_Mention], start: int) -> bool:
    """Whether a negative word was meant for another tool: one stands between, and a comma after it."""
    between = [m for m in others if start + end <= m.start and m.end <= start + len(before)]
    return bool(between) and "," in before[between[-1].end - start :]


def _by_place(line: str, mention: _Mention, lead: str, head: str) -> str:
    """What a heading, a table head, or the pair `Web search: Exa` says."""
    if head:
        cells = [cell.strip() for cell in head.strip().strip("|").split("|")]
        column = line[: mention.start].strip().lstrip("|").count("|")
        title = cells[column] if column < len(cells) else ""
        if _AWAY.search(title):
            return "away"
        if _TO.search(title) or re.fullmatch(r"\W*(?:tools?|mcp|server)\W*", title, re.IGNORECASE):
            return "to"
        return ""
    if lead and re.fullmatch(r"\s*(?:[-*+]|\d+[.)])\s+[`*\"']*", line[: mention.start]):
        return "away" if _AWAY.search(lead) else "to"
    pair = _PAIR.match(line)
    if pair and pair.end() <= mention.start and _PHRASES.search(pair.group()):
        return "to"
    return ""
