"""The surface as a whole: what is in it and how it is marked, in which order, and what it never holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.model import TIERS
from hostconf.survey.workspace import Workspace
from tests.hosts.field import CANARY, FETCH, NOTES, SEARCH, TAVILY, Files, known_hosts, local, look, npx, text_of
from tests.plan.world import make

SETTINGS = "~/.claude/settings.json"
CODEX = "~/.codex/config.toml"
OPENCODE = "~/.config/opencode/opencode.json"

OPAQUE = {"command": "my-web-search"}
BUSY: dict[str, Any] = {
    "~/.claude.json": {"mcpServers": {"tavily": TAVILY, "notes": NOTES}},
    "./.mcp.json": {"mcpServers": {"deepseek": npx(env={"DEEPSEEK_API_KEY": CANARY})}},
    SETTINGS: {"permissions": {"deny": ["WebFetch"], "allow": ["WebSearch"]}, "env": {"TOKEN": CANARY}},
    CODEX: 'web_search = "live"\n[mcp_servers.tavily]\ncommand = "npx"\nargs = ["tavily-mcp"]\n'
    f'env = {{ K = "{CANARY}" }}\n'
    '[mcp_servers.bad]\ncommand = "x"\n',
    "./.codex/config.toml": '[mcp_servers.deepseek]\ncommand = "npx"\nargs = ["deepseek-web-retrieval"]\n',
    OPENCODE: {"mcp": {"tavily": local("tavily-mcp", environment={"K": CANARY})}, "permission": {"webfetch": "allow"}},
    "./opencode.json": {"mcp": {"deepseek": local()}, "permission": {"websearch": "deny"}},
    "~/.claude/CLAUDE.md": f"Always use tavily_search. The key is {CANARY}\n",
    "~/.codex/AGENTS.md": f"Always use `mcp__tavily__tavily_search` with `api_key={CANARY}`\n",
}


@pytest.mark.parametrize("host", [h.id for h in known_hosts()])
def test_the_hosts_own_come_first_and_every_row_says_where(host: str) -> None:
    found = look(host, BUSY)
    for capability, rows in found.survey.surface.items():
        assert rows, capability
        own = [t.registration == "" for t in rows]
        assert own == sorted(own, reverse=True)
        for tool in rows:
            assert tool.state in ("offered", "possible", "pending")
            assert tool.provider == ("host" if not tool.registration else tool.provider)
            if tool.registration:
                text = found.texts[tool.path].splitlines()
                assert tool.registration in text[tool.line - 1]


@pytest.mark.parametrize("host", [h.id for h in known_hosts()])
def test_no_secret_leaves_its_file(host: str) -> None:
    found = look(host, BUSY)
    registrations = [r._replace(command=(), url="") for r in found.survey.registrations]
    assert CANARY not in repr((registrations, found.survey.surface, found.survey.conflicts, found.survey.layers))


@pytest.mark.parametrize("host", [h.id for h in known_hosts()])
def test_equal_files_give_an_equal_survey(host: str) -> None:
    assert look(host, BUSY).survey == look(host, dict(reversed(list(BUSY.items())))).survey


@pytest.mark.parametrize("host", [h.id for h in known_hosts()])
def test_every_finding_is_whole(host: str) -> None:
    """A kind of the design, a layer that there is, a place in the file, a word for the tiers, a way out."""
    known = {layer.id for layer in next(h for h in known_hosts() if h.id == host).layers} | {
        "plugin",
        "user",
        "project",
    }
    found = look(host, BUSY)
    assert found.survey.conflicts
    for finding in found.survey.conflicts:
        assert finding.layer in known
        assert finding.path in found.texts
        assert 1 <= finding.line <= found.texts[finding.path].count("\n") + 1
        assert finding.tiers
        assert set(finding.tiers) <= set(TIERS)
        assert finding.fix
        assert not finding.text.endswith(".")


def test_pending_and_possible_are_in_it_marked() -> None:
    assert look("claude", BUSY).tools("web_search") == [
        "WebSearch",
        f"mcp__deepseek__{SEARCH} pending",
        "mcp__tavily__tavily_search",
        "mcp__tavily__tavily_research",
    ]
    assert f"mcp__deepseek__{FETCH} pending" in look("codex", BUSY).all
    assert look("opencode", {}).tools("web_search") == ["websearch possible"]


def test_a_pending_row_says_what_to_do() -> None:
    row = next(t for t in look("claude", BUSY).survey.surface["web_search"] if t.state == "pending")
    assert "approve" in row.note
    row = next(t for t in look("codex", BUSY).survey.surface["web_search"] if t.state == "pending")
    assert "trust" in row.note


def test_servers_that_serve_no_capability_are_not_in_it() -> None:
    found = look("claude", {"~/.claude.json": {"mcpServers": {"notes": NOTES}}})
    assert found.all == {"WebSearch", "WebFetch"}
    assert found.conflicts("capable-registration") == []


def test_one_tool_for_two_capabilities() -> None:
    found = look("codex", {})
    assert found.tools("web_search") == found.tools("web_fetch") == ["web_search"]


@pytest.mark.parametrize(
    ("which", "files", "tools"),
    [
        (
            "claude",
            {"~/.claude.json": {"mcpServers": {"my-search": OPAQUE}}},
            "mcp__my-search__*",
        ),
        ("codex", {CODEX: '[mcp_servers.my-search]\ncommand = "my-web-search"\n'}, "mcp__my_search__*"),
        (
            "opencode",
            {OPENCODE: {"mcp": {"my-search": {"type": "local", "command": ["my-web-search"]}}}},
            "my-search_*",
        ),
    ],
)
def test_tools_that_nobody_named(which: str, files: Files, tools: str) -> None:
    assert tools in look(which, files).tools("web_search")


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({SETTINGS: {"permissions": {"deny": ["mcp__s__*"]}}}, False),
        ({SETTINGS: {"permissions": {"deny": ["mcp__s__search"]}}}, True),
        ({SETTINGS: {"permissions": {"deny": ["mcp__s__s*"]}}}, True),
        ({SETTINGS: {"permissions": {"deny": ["mcp__s"]}}}, False),
    ],
)
def test_tools_that_nobody_named_go_only_all_together(files: Any, left: bool) -> None:
    state = {"mcpServers": {"s": {"command": "my-web-search"}}}
    assert ("mcp__s__*" in look("claude", {**files, "~/.claude.json": state}).all) is left


def test_no_file_is_parsed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the verb, with what is read step by step: a plugin that names a file, a list of rules."""
    home = {name: text_of(value) for name, value in BUSY.items() if name.startswith("~/")}
    world = make(tmp_path, {**home, "~/.config/opencode/opencode.jsonc": '{"instructions": ["r/*.md"]}'})
    counted: Counter[tuple[str, str]] = Counter()
    parse = Workspace._parse

    def count(self: Workspace, path: str, format_name: str) -> Any:
        read = parse(self, path, format_name)
        counted[path, format_name] += read is not None
        return read

    monkeypatch.setattr(Workspace, "_parse", count)
    assert workflow.status(world.environment(), []).exit_code == 0
    assert len([n for n in counted.values() if n]) >= 4
    assert max(counted.values()) == 1, counted.most_common(3)
