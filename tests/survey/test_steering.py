"""Which lines of a rules file steer to a web tool or away from one. All lines here are made up."""

from __future__ import annotations

import pytest

from hostconf.survey.steering import Steer, steering_lines

OWN = ["mcp__deepseek__deepseek_web_search", "deepseek_web_search", "deepseek_fetch"]
RIVALS = [
    "tavily_search",
    "mcp__searx__searxng_web_search",
    "brave_web_search",
    "fetch",
    "search",
    "general_web_lookup",
]
NAMES = ["Tavily", "Exa", "Brave Search", "Parallel", "my-finder"]
HOST = ["WebSearch", "WebFetch", "google_web_search"]


def ask(text: str) -> tuple[Steer, ...]:
    """The steering lines of a text, with the tools of these tests."""
    return steering_lines(text, own_tools=OWN, rival_tools=RIVALS, rival_names=NAMES, host_tools=HOST)


def short(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Direction and tools of each."""
    return [(steer.direction, steer.tools) for steer in ask(text)]


@pytest.mark.parametrize(
    ("line", "direction", "tools"),
    [
        ("Always use WebSearch for anything newer than last year.", "to", ("WebSearch",)),
        ("- Use Exa when a library is unknown", "to", ("Exa",)),
        ("* prefer `tavily_search` for news", "to", ("tavily_search",)),
        ("You MUST call mcp__searx__searxng_web_search first", "to", ("mcp__searx__searxng_web_search",)),
        ("Fall back to exa if nothing is found.", "to", ("exa",)),
        ("Only WebFetch may open links; use it sparingly", "to", ("WebFetch",)),
        ("WebSearch is the preferred tool here", "to", ("WebSearch",)),
        ("Try Brave Search first.", "to", ("Brave Search",)),
        ("Use the fetch tool for documentation", "to", ("fetch",)),
        ("Use my-finder to look around", "to", ("my-finder",)),
        ("Use mcp__other__tavily_search", "to", ("mcp__other__tavily_search",)),
        ("Before answering, always search the web.", "to", ("web search",)),
        ("You should fetch the page before you quote it", "to", ("web fetch",)),
        ("- Web search: Exa", "to", ("Exa",)),
        ("1. Search the web → `tavily_search`", "to", ("tavily_search",)),
        ("Never use WebSearch.", "away", ("WebSearch",)),
        ("Do not call `brave_web_search` here", "away", ("brave_web_search",)),
        ("Don't search the web for this project", "away", ("web search",)),
        ("Avoid Perplexity", "away", ("Perplexity",)),
        ("`WebFetch` is forbidden", "away", ("WebFetch",)),
        ("WebSearch must not be used in reviews", "away", ("WebSearch",)),
        ("Work without WebFetch", "away", ("WebFetch",)),
        ("Never use mcp__deepseek__deepseek_web_search", "away", ("mcp__deepseek__deepseek_web_search",)),
    ],
)
def test_lines_that_steer(line: str, direction: str, tools: tuple[str, ...]) -> None:
    assert short(line) == [(direction, tools)]


@pytest.mark.parametrize(
    ("line", "to", "away"),
    [
        ("Use Exa instead of WebSearch", "Exa", "WebSearch"),
        ("Instead of WebSearch, use Exa", "Exa", "WebSearch"),
        ("Prefer tavily_search over WebSearch for news", "tavily_search", "WebSearch"),
        ("Never use WebSearch; use Exa", "Exa", "WebSearch"),
        ("Use Tavily, not WebSearch", "Tavily", "WebSearch"),
        ("WebSearch is disabled, but Exa must be used", "Exa", "WebSearch"),
        ("Do not use WebSearch, use `tavily_search`", "tavily_search", "WebSearch"),
        ("Exa rather than WebFetch", "Exa", "WebFetch"),
    ],
)
def test_lines_that_steer_both_ways(line: str, to: str, away: str) -> None:
    assert sorted(short(line)) == [("away", (away,)), ("to", (to,))]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "We have an integration test for the search index.",
        "The team met Exa engineers last week.",
        "WebSearch and WebFetch exist.",
        "Always fetch the latest main branch first.",
        "Use search params in the router, never local state.",
        "You must be brave and use strict mode.",
        "Parallel execution is preferred; use workers.",
        "Use the symbol_search helper of the editor",
        "Use web components only.",
        "EXAMPLE: always run the tests",
        "Use /opt/tools/exa/bin/start to begin",
        "Prefer exact matches over fuzzy ones",
    ],
)
def test_lines_that_do_not(line: str) -> None:
    assert short(line) == []


def test_tables_speak_by_their_heads() -> None:
    text = """\
| Task | Use | Avoid |
|---|---|---|
| Look something up | `tavily_search` | WebSearch |
| Read | nothing | WebFetch |

| Tool | Words |
| --- | --- |
| Exa | finds things |

| Project | Owner |
| --- | --- |
| Exa | someone |
"""
    assert [(s.line, s.direction, s.tools) for s in ask(text)] == [
        (3, "to", ("tavily_search",)),
        (3, "away", ("WebSearch",)),
        (4, "away", ("WebFetch",)),
        (8, "to", ("Exa",)),
    ]


def test_bullets_speak_by_the_line_above() -> None:
    text = """\
## Never use

- WebSearch
- `WebFetch`: it is slow
- a file that speaks of Exa

Some words.

- WebSearch

Prefer these:
1. Tavily
"""
    assert [(s.line, s.direction, s.tools) for s in ask(text)] == [
        (3, "away", ("WebSearch",)),
        (4, "away", ("WebFetch",)),
        (12, "to", ("Tavily",)),
    ]


def test_our_own_block_is_not_looked_at() -> None:
    text = """\
Use Exa.
<!-- hostconf:begin deepseek -->
Use `deepseek_web_search`, never WebSearch.
<!-- hostconf:end deepseek -->
Use Tavily.
"""
    assert [(s.line, s.tools) for s in ask(text)] == [(1, ("Exa",)), (5, ("Tavily",))]


def test_configuration_in_fences_is_no_prose() -> None:
    text = '```json\n{"use": "WebSearch always"}\n```\n\n```\nAlways use WebSearch\n```\nUse Exa\n'
    assert [s.line for s in ask(text)] == [6, 8]


def test_what_stands_against_the_integration() -> None:
    assert [s.elsewhere for s in ask("Use WebSearch")] == [True]
    assert [s.elsewhere for s in ask("Never use WebSearch")] == [False]
    assert [s.elsewhere for s in ask("Use deepseek_fetch")] == [False]
    assert [s.elsewhere for s in ask("Never use deepseek_fetch")] == [True]
    both = ask("Use deepseek_web_search instead of WebSearch")
    assert [(s.own, s.elsewhere) for s in both] == [(True, False), (False, False)]


def test_the_line_is_given_as_it_stands() -> None:
    (steer,) = ask("one\r\n  - Use **Exa**.  \r\n")
    assert steer.text == "- Use **Exa**." and steer.line == 2


def test_long_and_odd_texts_come_to_an_end() -> None:
    assert ask("never " * 20_000 + "mind") == ()
    assert ask("a_" * 20_000) == ()
    assert len(ask("Use Exa\n" * 2_000)) == 2_000
