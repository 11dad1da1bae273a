"""The facts that hostconf stands on, asked of the hosts themselves with hand-written files: no hostconf in here.

They show two things: that a switch does what hosts/*.toml says, and that this harness would see it if it did not. So
beside every switch that works stands one that looks alike and does nothing. OpenCode takes 8 s a start, so its tests
ask several questions at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.real_hosts.drive import Driver

DriverOf = Callable[[str], Driver]

DEEPSEEK, TAVILY, NOTES = "deepseek-web-retrieval", "tavily-mcp@latest", "notes-mcp"
SEARCH, FETCH = "mcp__deepseek__deepseek_web_search", "mcp__deepseek__deepseek_fetch"


def write(path: Path, value: Any) -> None:
    """A file with its folders: text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), encoding="utf-8")


# ------------------------------------------------------------------ Claude Code


def npx(package: str, **variables: str) -> dict[str, Any]:
    """A server entry as Claude Code has it."""
    return {"command": "npx", "args": ["-y", package], "env": variables}


def claude_servers(*extra: str) -> dict[str, Any]:
    """`mcpServers` with our server, and others by their package."""
    servers = {"deepseek": npx(DEEPSEEK)} | {name.partition("-")[0]: npx(name) for name in extra}
    return {"mcpServers": servers}


def test_claude_without_anything_has_its_own_two(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    claude = driver_of("claude")
    tools = claude.tools(host_home, project)
    assert tools >= {"WebSearch", "WebFetch", "Bash"}
    assert not [tool for tool in tools if tool.startswith("mcp__")]
    assert claude.listing(host_home, project) == {}


def test_claude_offers_what_is_registered(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    claude = driver_of("claude")
    write(host_home / ".claude.json", claude_servers("tavily-mcp", NOTES))
    write(host_home / ".claude" / "rules" / "ours.md", "<!-- unseen-by-the-model -->\nAsk the-rules-were-read first.\n")
    asked = claude.ask(host_home, project)["print"]
    assert asked.tools >= {"WebSearch", "WebFetch", SEARCH, FETCH, "mcp__tavily__tavily_search", "mcp__notes__note_add"}
    assert "the-rules-were-read" in asked.text
    assert "unseen-by-the-model" not in asked.text
    listed = claude.listing(host_home, project)
    assert {name: entry["status"] for name, entry in listed.items()} == dict.fromkeys(
        ("deepseek", "tavily", "notes"), "connected"
    )
    assert listed["deepseek"]["tools"] == ["deepseek_fetch", "deepseek_web_search"]


@pytest.mark.parametrize(
    ("settings", "gone"),
    [
        ({"permissions": {"deny": ["WebSearch"]}}, {"WebSearch"}),
        ({"permissions": {"deny": ["WebFetch", SEARCH]}}, {"WebFetch", SEARCH}),
        ({"permissions": {"deny": ["mcp__deepseek"]}}, {SEARCH, FETCH}),
        ({"deniedMcpServers": [{"serverName": "deepseek"}]}, {SEARCH, FETCH}),
        ({"permissions": {"deny": ["websearch", "WebFetch(domain:*)", "deepseek_fetch"]}}, set()),
        ({"disabledMcpServers": ["deepseek"], "disallowedTools": ["WebSearch"]}, set()),
        ({"permissions": {"deny": ["WebSearch"]}, "model": 5}, set()),
    ],
    ids=["search", "fetch-and-own", "server-rule", "denied-server", "wrong-names", "dead-keys", "one-wrong-type"],
)
def test_claude_switches(
    driver_of: DriverOf, host_home: Path, project: Path, settings: dict[str, Any], gone: set[str]
) -> None:
    claude = driver_of("claude")
    write(host_home / ".claude.json", claude_servers())
    write(host_home / ".claude" / "settings.json", settings)
    assert {"WebSearch", "WebFetch", SEARCH, FETCH} - claude.tools(host_home, project) == gone
    if "deniedMcpServers" in settings:
        assert claude.listing(host_home, project) == {}


def test_claude_project_scope(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    """Project files count; a project's servers wait for approval, which `-p` does not show and `mcp list` does."""
    claude = driver_of("claude")
    write(project / ".mcp.json", claude_servers("tavily-mcp"))
    rules = {"permissions": {"deny": ["WebSearch"]}, "deniedMcpServers": [{"serverName": "tavily"}]}
    write(project / ".claude" / "settings.json", rules)
    assert claude.listing(host_home, project)["deepseek"]["approved"] is False
    write(host_home / ".claude" / "settings.json", {"enableAllProjectMcpServers": True})
    assert claude.listing(host_home, project)["deepseek"]["approved"] is True
    tools = claude.tools(host_home, project)
    assert {"WebFetch", SEARCH, FETCH} <= tools
    assert not {"WebSearch", "mcp__tavily__tavily_search"} & tools


def test_claude_passes_the_false_only_switch(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    server = npx(DEEPSEEK, DEEPSEEK_ENABLE_SEARCH="false")
    write(host_home / ".claude.json", {"mcpServers": {"deepseek": server}})
    tools = driver_of("claude").tools(host_home, project)
    assert FETCH in tools
    assert SEARCH not in tools


# ------------------------------------------------------------------ Codex

CODEX_SERVER = """\
[mcp_servers.deepseek]
command = "npx"
args = ["-y", "deepseek-web-retrieval"]
"""


def test_codex_without_anything_has_one_for_both(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    codex = driver_of("codex")
    for variant, asked in codex.ask(host_home, project).items():
        assert "web_search" in asked.tools, variant
        assert not [tool for tool in asked.tools if tool.startswith("mcp__")], variant
    assert codex.listing(host_home, project) == {}


@pytest.mark.parametrize(
    ("before", "inside", "gone"),
    [
        ("", "", set()),
        ('web_search = "disabled"\n', "", {"web_search"}),
        ("", "enabled = false\n", {SEARCH, FETCH}),
        ("", 'disabled_tools = ["deepseek_web_search"]\n', {SEARCH}),
        ("", 'env = { DEEPSEEK_ENABLE_FETCH = "false" }\n', {FETCH}),
        ("", f'disabled_tools = ["{SEARCH}"]\ndisabled = true\n', set()),
        ("[tools]\nweb_search = false\n", "", set()),
    ],
    ids=["none", "web-search", "server", "own-tool", "variable", "wrong-spellings", "dead-table"],
)
def test_codex_switches(
    driver_of: DriverOf, host_home: Path, project: Path, before: str, inside: str, gone: set[str]
) -> None:
    """Both shapes of the tool surface have to agree on every switch."""
    codex = driver_of("codex")
    write(host_home / ".codex" / "config.toml", before + CODEX_SERVER + inside)
    for variant, asked in codex.ask(host_home, project).items():
        assert {"web_search", SEARCH, FETCH} - asked.tools == gone, variant
    assert codex.listing(host_home, project)["deepseek"]["enabled"] is ("enabled = false" not in inside)


def test_codex_project_scope(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    """A project layer counts once the user's file trusts it; the project's AGENTS.md is read without."""
    codex = driver_of("codex")
    write(project / ".codex" / "config.toml", 'web_search = "disabled"\n' + CODEX_SERVER)
    write(project / "AGENTS.md", "Ask the-rules-were-read first.\n")
    for asked in codex.ask(host_home, project).values():
        assert "web_search" in asked.tools
        assert SEARCH not in asked.tools
        assert "the-rules-were-read" in asked.text
    write(host_home / ".codex" / "config.toml", f'[projects."{project}"]\ntrust_level = "trusted"\n')
    for asked in codex.ask(host_home, project).values():
        assert "web_search" not in asked.tools
        assert {SEARCH, FETCH} <= asked.tools
    assert codex.listing(host_home, project)["deepseek"]["enabled"] is True


# ------------------------------------------------------------------ OpenCode

OURS = {"deepseek_deepseek_web_search", "deepseek_deepseek_fetch"}


def local(package: str, **more: Any) -> dict[str, Any]:
    """A server entry as OpenCode has it."""
    return {"type": "local", "command": ["npx", "-y", package]} | more


def opencode_file(**more: Any) -> dict[str, Any]:
    """A configuration file, with the line that the host would put in by itself."""
    return {"$schema": "https://opencode.ai/config.json"} | more


def test_opencode_without_anything_has_a_gate(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    asked = driver_of("opencode").ask(host_home, project)
    assert "webfetch" in asked["plain"].tools
    assert asked["exa"].tools - asked["plain"].tools == {"websearch"}


def test_opencode_offers_what_is_registered(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    """One server on, one off by `enabled`, and one tool of the first off by `permission`; rules by `instructions`."""
    opencode = driver_of("opencode")
    rules = host_home / ".config" / "opencode" / "ours.md"
    write(rules, "Ask the-rules-were-read first.\n")
    servers = {
        "deepseek": local(DEEPSEEK),
        "tavily": local(TAVILY, enabled=False),
        "notes": local(NOTES, environment={"A": "b"}),
    }
    deny = {"deepseek_deepseek_fetch": "deny", "websearch": "deny"}
    config = opencode_file(mcp=servers, permission=deny, instructions=[str(rules)])
    write(host_home / ".config" / "opencode" / "opencode.json", "// a comment\n" + json.dumps(config))
    listed = opencode.listing(host_home, project)
    assert {name: entry["enabled"] for name, entry in listed.items()} == {
        "deepseek": True,
        "tavily": False,
        "notes": True,
    }
    asked = opencode.ask(host_home, project, "exa")["exa"]
    assert {"deepseek_deepseek_web_search", "notes_note_add", "webfetch"} <= asked.tools
    assert not {"deepseek_deepseek_fetch", "websearch", "tavily_tavily_search"} & asked.tools
    assert "the-rules-were-read" in asked.text


def test_opencode_last_matching_key_wins(driver_of: DriverOf, host_home: Path, project: Path) -> None:
    """A `"*"` behind a denial undoes it; one before does not. A project's file is read after the user's."""
    opencode = driver_of("opencode")
    order = {"webfetch": "deny", "*": "allow", "websearch": "deny"}
    user = opencode_file(mcp={"deepseek": local(DEEPSEEK), "tavily": local(TAVILY)}, permission=order)
    write(host_home / ".config" / "opencode" / "opencode.jsonc", user)
    over = opencode_file(mcp={"tavily": {"enabled": False}}, permission={"deepseek_deepseek_web_search": "deny"})
    write(project / "opencode.json", over)
    tools = opencode.ask(host_home, project, "exa")["exa"].tools
    assert {"webfetch", "deepseek_deepseek_fetch"} <= tools
    assert not {"websearch", "deepseek_deepseek_web_search", "tavily_tavily_search"} & tools
