"""What an administrator sets: which of it voids what a user writes, and on which line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hosts.field import FETCH, SEARCH, Files, local, look, npx

SETTINGS = "~/.claude/settings.json"
MANAGED = "/etc/claude-code/managed-settings.json"
DROP_IN = "/etc/claude-code/managed-settings.d/10-x.json"
EXCLUSIVE = "/etc/claude-code/managed-mcp.json"
A = {f"mcp__a__{SEARCH}", f"mcp__a__{FETCH}"}
M = {f"mcp__m__{SEARCH}", f"mcp__m__{FETCH}"}
CLAUDE = {"WebSearch", "WebFetch"}
STATE = {"mcpServers": {"a": npx()}}
NO_A = {"permissions": {"deny": ["mcp__a"]}}
NO_M = {"deniedMcpServers": [{"serverName": "m"}]}
ONLY = {"allowManagedPermissionRulesOnly": True}
ETC = "/etc/opencode/opencode.json"
WEBFETCH = {"permission": {"webfetch": "allow"}}


def claude(**files: Any) -> Files:
    """A user with a server; the files by short names."""
    names = {"settings": SETTINGS, "managed": MANAGED, "drop_in": DROP_IN, "exclusive": EXCLUSIVE, "mcp": "./.mcp.json"}
    return {"~/.claude.json": STATE, **{names[name]: value for name, value in files.items()}}


@pytest.mark.parametrize(
    ("files", "shown", "line"),
    [
        (claude(exclusive={"mcpServers": {}}), CLAUDE, (EXCLUSIVE, 1)),
        (claude(exclusive={"mcpServers": {"m": npx()}}), CLAUDE | M, (EXCLUSIVE, 1)),
        (claude(exclusive={}), CLAUDE, (EXCLUSIVE, 1)),
        (claude(exclusive="{"), CLAUDE, (EXCLUSIVE, 1)),
        (claude(exclusive={"mcpServers": []}), CLAUDE, (EXCLUSIVE, 1)),
        (claude(exclusive={"mcpServers": {"m": npx()}}, settings=NO_M), CLAUDE, (EXCLUSIVE, 1)),
        (claude(managed={"strictPluginOnlyCustomization": True}), CLAUDE, (MANAGED, 2)),
        (claude(managed={"strictPluginOnlyCustomization": ["skills", "mcp"]}), CLAUDE, (MANAGED, 4)),
        (claude(managed={"strictPluginOnlyCustomization": ["skills"]}), CLAUDE | A, None),
        (claude(managed={"strictPluginOnlyCustomization": False}), CLAUDE | A, None),
        (claude(settings={"strictPluginOnlyCustomization": True}), CLAUDE | A, None),
        (claude(drop_in={"strictPluginOnlyCustomization": True}), CLAUDE, (DROP_IN, 2)),
        (claude(settings=NO_A, managed=ONLY), CLAUDE | A, (MANAGED, 2)),
        (claude(settings={**NO_A, **ONLY}), CLAUDE, None),
        (claude(settings=NO_A, managed={"allowManagedPermissionRulesOnly": False}), CLAUDE, None),
        (claude(settings={"deniedMcpServers": [{"serverName": "a"}]}, managed=ONLY), CLAUDE, (MANAGED, 2)),
        (claude(managed={"permissions": {"deny": "WebSearch"}}), CLAUDE | A, None),
        (claude(managed={"permissions": {"deny": ["WebSearch"]}}), {"WebFetch"} | A, None),
    ],
)  # fmt: skip
def test_claude_policy(files: Files, shown: set[str], line: tuple[str, int] | None) -> None:
    found = look("claude", files)
    assert found.all == shown
    outranked = found.conflicts("outranked")
    assert [(c.path, c.line) for c in outranked] == ([line] if line else [])
    for finding in outranked:
        assert finding.layer in ("managed-mcp", "managed-settings", "managed-drop-ins")
        assert set(finding.tiers) == {"off", "optional", "preferred", "forced"}


def test_claude_managed_rules_alone_still_deny() -> None:
    managed = {"allowManagedPermissionRulesOnly": True, "permissions": {"deny": ["WebFetch"]}}
    found = look("claude", claude(settings={"permissions": {"deny": ["WebSearch", "mcp__a"]}}, managed=managed))
    assert found.all == {"WebSearch"} | A


def test_claude_a_server_kept_out_names_the_policy() -> None:
    found = look("claude", claude(exclusive={"mcpServers": {"m": npx()}}, mcp={"mcpServers": {"p": npx()}}))
    for name in ("a", "p"):
        assert f"`{EXCLUSIVE}`:1" in found.registration(name).why_off
    assert found.registration("m").enabled


def test_claude_what_is_managed_is_not_asked_for_the_list() -> None:
    files = claude(exclusive={"mcpServers": {"m": npx()}}, managed={"allowedMcpServers": []})
    assert look("claude", files).all == CLAUDE | M


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("macos", "/Library/Application Support/ClaudeCode/managed-settings.json"),
        ("windows", "C:\\Program Files\\ClaudeCode\\managed-settings.json"),
        ("wsl", MANAGED),
        ("linux", MANAGED),
    ],
)
def test_claude_managed_files_of_the_platform(platform: str, path: str) -> None:
    files = {"~/.claude.json": STATE, path: {"permissions": {"deny": ["WebSearch"]}}}
    assert look("claude", files, platform=platform).all == {"WebFetch"} | A


def test_drop_in_files_later_names_win() -> None:
    """Two of one layer: the later name is read later."""
    folder = "/etc/claude-code/managed-settings.d"
    on, off = ({"env": {"CLAUDE_CODE_DISABLE_WEB_FETCH": value}} for value in "10")
    assert look("claude", {f"{folder}/10.json": on, f"{folder}/20.json": off}).all == CLAUDE
    assert look("claude", {f"{folder}/10.json": off, f"{folder}/20.json": on}).all == {"WebSearch"}


# ------------------------------------------------------------------ Codex and OpenCode

CODEX = "~/.codex/config.toml"


def test_codex_requirements_are_a_policy() -> None:
    files = {CODEX: '[mcp_servers.a]\ncommand = "x"\n', "/etc/codex/requirements.toml": "# mine\n[mcp_servers]\n"}
    finding = look("codex", files).one("outranked")
    assert (finding.layer, finding.path, finding.line) == ("requirements", "/etc/codex/requirements.toml", 2)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"/etc/codex/managed_config.toml": '# x\nweb_search = "live"\n'}, ("/etc/codex/managed_config.toml", 2)),
        ({"/etc/codex/config.toml": 'web_search = "live"\n'}, None),
        ({CODEX: 'web_search = "live"\n'}, None),
        ({"/etc/codex/managed_config.toml": 'web_search = "disabled"\n'}, None),
    ],
)
def test_codex_a_stronger_layer_decides(files: Files, line: tuple[str, int] | None) -> None:
    outranked = look("codex", files).conflicts("outranked")
    assert [(c.path, c.line) for c in outranked] == ([line] if line else [])


@pytest.mark.parametrize(
    ("files", "variables", "line"),
    [
        ({ETC: WEBFETCH}, {}, (ETC, 3)),
        ({"./opencode.json": {"permission": {"*": "allow"}}}, {}, None),
        ({}, {"OPENCODE_PERMISSION": '{"webfetch": "allow"}'}, ("$OPENCODE_PERMISSION", 1)),
        ({"~/.config/opencode/opencode.json": {"permission": {"webfetch": "allow"}}}, {}, None),
        ({"/etc/opencode/opencode.json": {"permission": {"webfetch": "deny"}}}, {}, None),
    ],
)
def test_opencode_a_stronger_layer_decides(files: Files, variables: Any, line: Any) -> None:
    outranked = [c for c in look("opencode", files, variables=variables).conflicts("outranked") if "webfetch" in c.text]
    if line is None and "./opencode.json" in files:
        assert [c.layer for c in outranked] == ["project"]
        assert outranked[0].tiers["forced"] == "refused at user scope"
        return
    assert [(c.path, c.line) for c in outranked] == ([line] if line else [])
    assert all(c.tiers["forced"].startswith("refused:") for c in outranked)


def test_opencode_managed_switches_a_server_off() -> None:
    files = {
        "~/.config/opencode/opencode.json": {"mcp": {"a": local()}},
        "/etc/opencode/opencode.json": {"mcp": {"a": {"enabled": False}}},
    }
    assert not look("opencode", files).registration("a").enabled
