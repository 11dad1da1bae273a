"""Which entries are servers, which of one name wins, which wait for a word of the user; what plugins bring."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.model import Registration
from hostconf.workflow.request import Request
from tests.hosts.field import (
    CANARY,
    EXA_URL,
    FETCH,
    HOME,
    PROJECT,
    SEARCH,
    TAVILY,
    Kind,
    Look,
    local,
    look,
    npx,
    text_of,
)
from tests.plan.world import make

KEY: tuple[tuple[str, str | None], ...] = (("DEEPSEEK_API_KEY", None),)
SETTINGS = "~/.claude/settings.json"
CODEX = "~/.codex/config.toml"
OPENCODE = "~/.config/opencode/opencode.json"


def states(found: Look) -> dict[str, str]:
    """Name of each registration that wins to its state."""
    return {r.name: r.state for r in found.survey.registrations if r.wins and r.enabled}


# ------------------------------------------------------------------ Claude Code: approval and trust

PENDING = {"p": "pending", "q": "pending"}
BOTH = {"p": "offered", "q": "offered"}
ONE = {"p": "offered", "q": "pending"}
ALL_ON, P_ON = {"enableAllProjectMcpServers": True}, {"enabledMcpjsonServers": ["p"]}
TRUSTED = {"hasTrustDialogAccepted": True}


@pytest.mark.parametrize(
    ("state", "user", "project", "local_", "managed", "expected"),
    [
        (None, None, None, None, None, PENDING),
        (None, ALL_ON, None, None, None, BOTH),
        (None, P_ON, None, None, None, ONE),
        (None, {"enableAllProjectMcpServers": False}, None, None, None, PENDING),
        (None, {"enableAllProjectMcpServers": "yes"}, None, None, None, PENDING),
        (None, None, ALL_ON, None, None, PENDING),
        (None, None, None, P_ON, None, PENDING),
        (P_ON, None, None, None, None, PENDING),
        (TRUSTED, None, None, None, None, PENDING),
        (TRUSTED, None, ALL_ON, None, None, BOTH),
        (TRUSTED, None, P_ON, None, None, ONE),
        (TRUSTED, None, None, P_ON, None, ONE),
        ({**TRUSTED, **P_ON}, None, None, None, None, ONE),
        ({**TRUSTED, **ALL_ON}, None, None, None, None, BOTH),
        (None, None, None, None, ALL_ON, BOTH),
        (None, {**P_ON, "disabledMcpjsonServers": ["p"]}, None, None, None, {"q": "pending"}),
        (None, {**ALL_ON, "disabledMcpjsonServers": ["q"]}, None, None, None, {"p": "offered"}),
        (None, ALL_ON, {"disabledMcpjsonServers": ["q"]}, None, None, {"p": "offered"}),
        (None, ALL_ON, None, {"disabledMcpjsonServers": ["q"]}, None, {"p": "offered"}),
        ({"disabledMcpjsonServers": ["q"]}, ALL_ON, None, None, None, {"p": "offered"}),
        ({"disabledMcpServers": ["q"]}, ALL_ON, None, None, None, {"p": "offered"}),
    ],
)
def test_claude_approval(state: Any, user: Any, project: Any, local_: Any, managed: Any, expected: Any) -> None:
    files: dict[str, Any] = {"./.mcp.json": {"mcpServers": {"p": npx(), "q": npx()}}}
    files["~/.claude.json"] = {"projects": {PROJECT: state or {}}}
    for name, value in (
        (SETTINGS, user),
        ("./.claude/settings.json", project),
        ("./.claude/settings.local.json", local_),
        ("/etc/claude-code/managed-settings.json", managed),
    ):
        if value is not None:
            files[name] = value
    found = look("claude", files)
    assert states(found) == expected
    said = {"offered": "", "pending": " pending"}
    shown = {f"mcp__{n}__{t}{said[s]}" for n, s in expected.items() for t in (SEARCH, FETCH)}
    assert found.all - {"WebSearch", "WebFetch"} == shown


def test_claude_trust_of_a_folder_above_is_none() -> None:
    files = {
        "~/.claude.json": {"projects": {HOME: TRUSTED}},
        "./.mcp.json": {"mcpServers": {"p": npx()}},
        "./.claude/settings.json": ALL_ON,
    }
    assert states(look("claude", files)) == {"p": "pending"}


def entry(tool: str) -> dict[str, Any]:
    """A server that the catalogue knows by another package, so that the winner shows in its tools."""
    return npx({"user": "tavily-mcp", "project": "deepseek-web-retrieval", "local": "exa-mcp-server"}[tool])


@pytest.mark.parametrize(
    ("scopes", "approved", "wins"),
    [
        (("user",), False, "user-state"),
        (("user", "project"), False, "user-state"),
        (("user", "project"), True, "project-mcp"),
        (("user", "project", "local"), True, "local-state"),
        (("project", "local"), False, "local-state"),
        (("project",), False, "project-mcp"),
    ],
)
def test_claude_same_name(scopes: tuple[str, ...], approved: bool, wins: str) -> None:
    """Local beats project beats user; a project's waits behind the user's until it is approved."""
    state: dict[str, Any] = {"mcpServers": {}, "projects": {PROJECT: {}}}
    files: dict[str, Any] = {"~/.claude.json": state, SETTINGS: ALL_ON if approved else {}}
    if "user" in scopes:
        state["mcpServers"]["a"] = entry("user")
    if "local" in scopes:
        state["projects"][PROJECT]["mcpServers"] = {"a": entry("local")}
    if "project" in scopes:
        files["./.mcp.json"] = {"mcpServers": {"a": entry("project")}}
    found = look("claude", files)
    assert [r.layer for r in found.survey.registrations if r.wins] == [wins]
    assert len(found.survey.registrations) == len(scopes)


# ------------------------------------------------------------------ what is a server


@pytest.mark.parametrize(
    ("raw", "transport"),
    [
        ({"command": "x"}, "stdio"),
        ({"type": "stdio", "command": "x"}, "stdio"),
        ({"command": "x", "url": "http://x"}, "stdio"),
        ({"type": "http", "url": "http://x"}, "http"),
        ({"type": "streamable-http", "url": "http://x"}, "http"),
        ({"type": "ws", "url": "ws://x"}, "http"),
        ({"type": "sse", "url": "http://x"}, "sse"),
        ({"url": "http://x"}, "unknown"),
        ({"type": "http", "command": "x"}, "unknown"),
        ({"type": "stdio", "url": "http://x"}, "unknown"),
        ({"type": "odd", "command": "x"}, "unknown"),
        ({"command": ["x"]}, "unknown"),
        ({"command": "x", "args": "y"}, "unknown"),
        ({"command": "x", "env": {"A": 1}}, "unknown"),
        ({"cmd": "x"}, "unknown"),
        ({}, "unknown"),
    ],
    ids=repr,
)
def test_claude_entry(raw: Any, transport: str) -> None:
    """What the host skips is shown, wins nothing and is a finding with its line; the others are not touched."""
    found = look("claude", {"~/.claude.json": {"mcpServers": {"bad": raw, "a": npx()}}})
    row = found.registration("bad")
    assert (row.transport, row.wins) == (transport, transport != "unknown")
    assert found.registration("a").wins
    findings = found.conflicts("broken-file")
    assert len(findings) == (transport == "unknown")
    for finding in findings:
        assert "`bad`" in finding.text
        assert "makes no server" in finding.text
        assert finding.layer == "user-state"
        assert finding.line >= found.line("~/.claude.json", '"bad"')[1]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ("enabled = false\n", 3),
        ('command = "x"\nurl = "http://x"\n', 5),
        ('url = "http://x"\nenv = { A = "1" }\n', 5),
        ('url = "http://x"\nargs = ["a"]\n', 5),
        ('command = "x"\nbearer_token_env_var = "A"\n', 5),
        ('command = "x"\nenabled = "false"\n', 5),
        ('command = "x"\ndisabled_tools = "y"\n', 5),
        ('command = "x"\nenv = { A = 1 }\n', 5),
        ('command = ["x"]\n', 4),
    ],
)
def test_codex_does_not_start_with_a_bad_entry(lines: str, line: int) -> None:
    found = look("codex", {CODEX: f'# mine\nmodel = "x"\n[mcp_servers.odd]\n{lines}'})
    finding = found.one("broken-file")
    assert (finding.path, finding.line, finding.layer) == (f"{HOME}/.codex/config.toml", line, "user")
    assert "`odd`" in finding.text
    assert "stops" in finding.text


@pytest.mark.parametrize(
    "lines",
    [
        'command = "x"\n',
        'url = "http://x"\n',
        'url = "http://x"\nbearer_token_env_var = "A"\nheaders = { A = "1" }\n',
        'command = "x"\ntype = "stdio"\ntransport = "x"\nodd = 1\nenv_vars = ["A", { name = "B", source = "local" }]\n',
    ],
)
def test_codex_starts_with_a_good_entry(lines: str) -> None:
    found = look("codex", {CODEX: f"[mcp_servers.a]\n{lines}"})
    assert found.conflicts("broken-file") == []
    assert found.registration("a").wins


TRUST = '[projects."{project}"]\ntrust_level = "trusted"\n'


@pytest.mark.parametrize(
    ("user", "project", "path"),
    [
        ("", "[mcp_servers.z]\nenabled = false\n", ""),
        (TRUST, "[mcp_servers.z]\nenabled = false\n", "./.codex/config.toml"),
        (TRUST + '[mcp_servers.z]\ncommand = "x"\n', "[mcp_servers.z]\nenabled = false\n", ""),
        (TRUST + "[mcp_servers.z]\nenabled = false\n", '[mcp_servers.z]\ncommand = "x"\n', ""),
        ("[mcp_servers.z]\nenabled = false\n", '[mcp_servers.z]\ncommand = "x"\n', CODEX),
        (TRUST + '[mcp_servers.z]\ncommand = "x"\n', '[mcp_servers.z]\nurl = "http://x"\n', "./.codex/config.toml"),
        ('web_search = "off"\n' + TRUST, 'web_search = "live"\n', ""),
        (TRUST, 'web_search = "off"\n', "./.codex/config.toml"),
        ("", 'web_search = "off"\n', ""),
    ],
)
def test_codex_looks_at_what_the_layers_come_to(user: str, project: str, path: str) -> None:
    """A lone `enabled` is fatal where no trusted layer has the rest; a bad value that is overridden harms nobody."""
    found = look("codex", {CODEX: user, "./.codex/config.toml": project})
    broken = found.conflicts("broken-file")
    assert [c.path for c in broken] == ([found.line(path, text_in(path, user, project))[0]] if path else [])
    if path:
        assert broken[0].line == found.line(path, text_in(path, user, project))[1]


def text_in(path: str, user: str, project: str) -> str:
    """The line that the finding is on."""
    text = user if path == CODEX else project
    return next(word for word in ("url =", "web_search", "[mcp_servers.z]") if word in text)


@pytest.mark.parametrize(
    ("raw", "outcome"),
    [
        (local(), "server"),
        ({"type": "remote", "url": EXA_URL}, "server"),
        ({"enabled": False}, "nothing"),
        ({"enabled": True}, "nothing"),
        ({"command": ["x"], "enabled": True}, "nothing"),
        ({"type": "stdio", "command": ["x"], "enabled": True}, "nothing"),
        ({"command": ["x"]}, "stops"),
        ({"type": "stdio", "command": ["x"]}, "stops"),
        ({"type": "local", "command": "x"}, "stops"),
        (local(environment={"A": 1}), "stops"),
        (local(env={"A": 1}), "server"),
    ],
    ids=repr,
)
def test_opencode_entry(raw: Any, outcome: str) -> None:
    found = look("opencode", {OPENCODE: {"username": "u", "mcp": {"a": raw}}})
    findings = found.conflicts("broken-file")
    assert len(findings) == (outcome != "server" and "command" in raw)
    assert all(("stops" in c.text) is (outcome == "stops") for c in findings)
    if outcome == "stops":
        assert found.one("broken-file").line >= found.line(OPENCODE, '"a"')[1]
    else:
        assert any(r.wins for r in found.survey.registrations) is (outcome == "server")


def test_opencode_entries_are_merged_deep() -> None:
    weak, strong = {"A": "1", "B": "1"}, {"type": "local", "command": ["y"], "environment": {"B": "2", "C": "2"}}
    files = {OPENCODE: {"mcp": {"a": local(environment=weak)}}, "./opencode.json": {"mcp": {"a": strong}}}
    row = look("opencode", files).registration("a", "project")
    assert row.wins
    assert (row.command, row.environment) == (("y",), ("A", "B", "C"))


HEADED = {"type": "http", "url": "http://x", "headers": {"X": CANARY}}


def test_environments_are_names_and_never_values() -> None:
    files: dict[str, Any] = {
        "~/.claude.json": {"mcpServers": {"t": TAVILY, "h": HEADED}},
        CODEX: f'[mcp_servers.t]\ncommand = "x"\nenv = {{ A = "{CANARY}" }}\nenv_vars = ["B", {{ name = "C" }}]\n'
        f'[mcp_servers.h]\nurl = "http://x"\nhttp_headers = {{ H = "{CANARY}" }}\nbearer_token_env_var = "T"\n'
        'env_http_headers = { X = "V" }\n',
    }
    assert look("claude", files).registration("t").environment == ("TAVILY_API_KEY",)
    assert look("claude", files).registration("h").environment == ("X",)
    assert look("codex", files).registration("t").environment == ("A", "B", "C")
    assert look("codex", files).registration("h").environment == ("H", "T", "V", "X")
    for host in ("claude", "codex"):
        assert CANARY not in repr(look(host, files).survey)


def test_a_line_of_an_entry_is_its_own() -> None:
    text = '{\n "mcpServers": {\n  "b": {"command": "x"},\n\n  "a": {\n   "command": "y"\n  }\n }\n}\n'
    found = look("claude", {"~/.claude.json": text})
    assert {r.name: r.line for r in found.survey.registrations} == {"b": 3, "a": 5}
    toml = '# x\n[mcp_servers]\nb = { command = "x" }\n\n[mcp_servers."a.c"] # mine\ncommand = "y"\n'
    assert {r.name: r.line for r in look("codex", {CODEX: toml}).survey.registrations} == {"b": 3, "a.c": 5}


def test_a_file_that_cannot_be_read_brings_nothing() -> None:
    found = look("claude", {"~/.claude.json": Kind("folder"), "./.mcp.json": "{"})
    assert found.survey.registrations == ()
    assert found.all == {"WebSearch", "WebFetch"}


def test_a_capability_that_the_integration_itself_leaves_out() -> None:
    off = npx(env={"DEEPSEEK_ENABLE_SEARCH": "False"})
    found = look("claude", {"~/.claude.json": {"mcpServers": {"a": off}}})
    assert found.registration("a").capabilities == ("web_fetch",)
    assert found.tools("web_search") == ["WebSearch"]


# ------------------------------------------------------------------ plugins of Claude Code

CACHE = "~/.claude/plugins/cache/m/webplug/1.0"
PLUGIN: dict[str, Any] = {
    "~/.claude/plugins/installed_plugins.json": {
        "version": 2,
        "plugins": {"webplug@m": [{"scope": "user", "installPath": "{home}/.claude/plugins/cache/m/webplug/1.0"}]},
    },
    "~/.claude/plugins/known_marketplaces.json": {"m": {"installLocation": "{home}/.claude/plugins/marketplaces/m"}},
    f"{CACHE}/.claude-plugin/plugin.json": {"name": "webplug", "version": "1.0"},
    f"{CACHE}/.mcp.json": {"mcpServers": {"psrv": npx()}},
}
PLUGGED = {f"mcp__plugin_webplug_psrv__{SEARCH}", f"mcp__plugin_webplug_psrv__{FETCH}"}


def plugged(settings: Any, **more: Any) -> Look:
    """Claude Code with that plugin, and these settings of the user."""
    return look("claude", {**PLUGIN, SETTINGS: settings, **more})


ON = {"enabledPlugins": {"webplug@m": True}}


@pytest.mark.parametrize(
    ("settings", "more", "brought"),
    [
        (ON, {}, True),
        ({}, {}, False),
        ({"enabledPlugins": {"webplug@m": False}}, {}, False),
        ({"enabledPlugins": {"webplug@m": ["1.0"]}}, {}, False),
        ({"enabledPlugins": ["webplug@m"]}, {}, False),
        ({}, {"./.claude/settings.json": ON}, True),
        (ON, {"./.claude/settings.json": {"enabledPlugins": {"webplug@m": False}}}, False),
        (ON, {"~/.claude/plugins/installed_plugins.json": {"version": 2, "plugins": {}}}, False),
        (ON, {"~/.claude/plugins/known_marketplaces.json": {}}, False),
        (ON, {f"{CACHE}/.mcp.json": {"psrv": npx()}}, True),
        (ON, {f"{CACHE}/.mcp.json": {"mcpServers": {"psrv": {"url": "http://x"}}}}, False),
        (ON, {f"{CACHE}/.mcp.json": {}, f"{CACHE}/.claude-plugin/plugin.json": {"mcpServers": {"psrv": npx()}}}, True),
        (
            ON,
            {
                f"{CACHE}/.mcp.json": {},
                f"{CACHE}/.claude-plugin/plugin.json": {"mcpServers": "./servers.json"},
                f"{CACHE}/servers.json": {"mcpServers": {"psrv": npx()}},
            },
            True,
        ),
        ({**ON, "permissions": {"deny": ["mcp__plugin_webplug_psrv"]}}, {}, False),
        ({**ON, "permissions": {"deny": ["mcp__psrv"]}}, {}, True),
        ({**ON, "deniedMcpServers": [{"serverName": "plugin:webplug:psrv"}]}, {}, False),
        ({**ON, "deniedMcpServers": [{"serverName": "psrv"}]}, {}, True),
        ({**ON, "deniedMcpServers": [{"serverCommand": ["npx", "-y", "deepseek-web-retrieval"]}]}, {}, False),
        ({**ON, "allowedMcpServers": []}, {}, False),
        ({**ON, "allowedMcpServers": [{"serverName": "plugin:webplug:psrv"}, {"serverName": "psrv"}]}, {}, False),
        ({**ON, "allowedMcpServers": [{"serverCommand": ["npx", "-y", "deepseek-web-retrieval"]}]}, {}, True),
        (ON, {"/etc/claude-code/managed-mcp.json": {"mcpServers": {}}}, False),
        (ON, {"/etc/claude-code/managed-settings.json": {"strictPluginOnlyCustomization": True}}, True),
        ({**ON, "disabledMcpjsonServers": ["psrv", "plugin:webplug:psrv"]}, {}, True),
    ],
    ids=repr,
)
def test_claude_plugin_server(settings: Any, more: Any, brought: bool) -> None:
    found = plugged(settings, **more)
    assert found.all == ({"WebSearch", "WebFetch"} | PLUGGED if brought else {"WebSearch", "WebFetch"})


def test_claude_plugin_is_decided_where_it_is_enabled() -> None:
    found = plugged(ON)
    row = found.registration("plugin:webplug:psrv")
    assert (row.layer, row.scope) == ("plugin", "user")
    assert (row.path, row.line) == found.line(SETTINGS, "webplug@m")
    assert found.place(f"mcp__plugin_webplug_psrv__{SEARCH}") == (row.path, row.line)
    assert found.one("capable-registration").line == row.line


def test_claude_plugin_described_by_its_market_alone() -> None:
    """Only a plugin without a description of its own."""
    market = {"plugins": [{"name": "other"}, {"name": "webplug", "mcpServers": {"inl": npx()}}]}
    files = {**PLUGIN, SETTINGS: ON, "~/.claude/plugins/marketplaces/m/.claude-plugin/marketplace.json": market}
    assert look("claude", files).registration("plugin:webplug:psrv").wins
    bare = {name: value for name, value in files.items() if "cache" not in name}
    assert look("claude", bare).registration("plugin:webplug:inl").wins


@pytest.mark.parametrize(("name", "capable"), [("web-search-kit@m", True), ("notes@m", False)])
def test_a_plugin_that_no_file_tells_of_may_bring_a_tool(name: str, capable: bool) -> None:
    """So that nothing is called forced that may not be."""
    found = look("claude", {SETTINGS: {"enabledPlugins": {name: True}, "deniedMcpServers": [{"serverName": name}]}})
    row = found.registration(name)
    assert (row.transport, row.state, row.enabled) == ("plugin", "possible", True)
    assert (len(found.survey.surface["web_search"]) == 2) is capable
    if capable:
        tool = found.survey.surface["web_search"][1]
        assert (tool.state, tool.path, tool.line) == ("possible", *found.line(SETTINGS, f'"{name}": true'))
        assert "refused" in found.one("capable-registration").tiers["forced"]


# ------------------------------------------------------------------ plugins of Codex

C = "~/.codex/plugins/cache/m/webplug"
MANIFEST = f"{C}/1.10.0/.codex-plugin/plugin.json"
CODEX_PLUGIN: dict[str, Any] = {
    f"{C}/1.9.0/.codex-plugin/plugin.json": {"name": "webplug"},
    f"{C}/1.9.0/.mcp.json": {"mcpServers": {"old": npx()}},
    f"{C}/1.10.0/.codex-plugin/plugin.json": {"name": "webplug"},
    f"{C}/1.10.0/.mcp.json": {"mcpServers": {"psrv": npx()}},
}
P = '[plugins."webplug@m"]\n'


@pytest.mark.parametrize(
    ("config", "more", "tools"),
    [
        (P + "enabled = true\n", {}, (SEARCH, FETCH)),
        (P, {}, (SEARCH, FETCH)),
        (P + "enabled = false\n", {}, ()),
        ("", {}, ()),
        (P + "[features]\nplugins = false\n", {}, ()),
        (P + '[plugins."webplug@m".mcp_servers.psrv]\nenabled = false\n', {}, ()),
        (P + f'[plugins."webplug@m".mcp_servers.psrv]\ndisabled_tools = ["{SEARCH}"]\n', {}, (FETCH,)),
        (P, {"/etc/codex/requirements.toml": "[mcp_servers]\n"}, ()),
        (P, {MANIFEST: {"mcpServers": {"psrv": npx()}}, f"{C}/1.10.0/.mcp.json": {}}, (SEARCH, FETCH)),
        (P, {MANIFEST: {"mcpServers": {"other": npx("x-mcp")}}}, ()),
        (P, {MANIFEST: {"mcpServers": "./.mcp.json"}}, (SEARCH, FETCH)),
        (P, {f"{C}/2.0.0/.claude-plugin/plugin.json": {}, f"{C}/2.0.0/.mcp.json": {"psrv": npx()}}, (SEARCH, FETCH)),
    ],
    ids=repr,
)  # fmt: skip
def test_codex_plugin_server(config: str, more: Any, tools: tuple[str, ...]) -> None:
    found = look("codex", {**CODEX_PLUGIN, CODEX: config, **more})
    assert found.all == {"web_search"} | {f"mcp__psrv__{tool}" for tool in tools}


def test_codex_own_server_hides_that_of_a_plugin() -> None:
    found = look("codex", {**CODEX_PLUGIN, CODEX: P + '[mcp_servers.psrv]\ncommand = "x"\n'})
    assert found.all == {"web_search"}
    assert found.one("name-shadowed").layer == "plugin"


def test_codex_a_lone_switch_for_a_plugin_server_stops_the_host() -> None:
    found = look("codex", {**CODEX_PLUGIN, CODEX: P + "[mcp_servers.psrv]\nenabled = false\n"})
    assert found.one("broken-file").line == 2


def test_codex_project_can_turn_a_plugin_on() -> None:
    files = {**CODEX_PLUGIN, CODEX: TRUST, "./.codex/config.toml": P}
    found = look("codex", files)
    row = found.registration("psrv")
    assert (row.scope, row.path, row.line) == ("project", *found.line("./.codex/config.toml", "[plugins"))
    assert row.at == ("plugins", "webplug@m", "mcp_servers", "psrv")


# ------------------------------------------------------------------ plugins of OpenCode


@pytest.mark.parametrize(
    ("files", "possible"),
    [
        ({OPENCODE: {"plugin": ["opencode-websearch", "notes"]}}, ["opencode-websearch"]),
        ({OPENCODE: {"plugin": [["web-search-plus", {"key": CANARY}]]}}, ["web-search-plus"]),
        ({"~/.config/opencode/tool/web-search.ts": "x"}, ["web-search"]),
        ({"./.opencode/plugins/web-search.js": "x"}, ["web-search"]),
        ({"~/.config/opencode/tools/webfetch.js": "x"}, []),
        ({"~/.config/opencode/tools/format.ts": "x"}, []),
    ],
    ids=repr,
)
def test_opencode_plugin_may_bring_a_tool(files: Any, possible: list[str]) -> None:
    found = look("opencode", files)
    rows: list[Registration] = [r for r in found.survey.registrations if r.capabilities]
    assert [r.name for r in rows] == possible
    assert all(r.state == "possible" and r.layer == "plugin" for r in rows)
    assert CANARY not in repr(found.survey)
    assert all(not layer["path"].endswith((".ts", ".js")) for layer in found.survey.layers)


# ------------------------------------------------------------------ forced, with plugins on the field


def test_a_plugins_server_is_taken_out_at_its_own_place(tmp_path: Path) -> None:
    """Codex would not start with a lone `enabled` among the servers; Claude Code knows the server by its long name."""
    home = {name: text_of(value) for name, value in CODEX_PLUGIN.items()}
    claude = {name: text_of(value).replace(HOME, str(tmp_path / "home")) for name, value in PLUGIN.items()}
    world = make(tmp_path, {**home, **claude, CODEX: P, SETTINGS: text_of(ON)})
    wish = Request("deepseek-web-retrieval", ("codex", "claude"), tiers=((None, "forced"),), env=KEY)
    before = {p: p.read_bytes() for p in (world.home / CODEX[2:], world.home / SETTINGS[2:])}
    assert workflow.apply(world.environment(), wish, yes=True).exit_code == 0
    for host in workflow.status(world.environment(), ["codex", "claude"]).data["hosts"]:
        tools = [t["tool"] for rows in host["surface"].values() for t in rows]
        assert sorted(tools) == [f"mcp__deepseek__{FETCH}", f"mcp__deepseek__{SEARCH}"]
    config = tomllib.loads((world.home / CODEX[2:]).read_text())
    assert config["plugins"]["webplug@m"]["mcp_servers"] == {"psrv": {"enabled": False}}
    settings = json.loads((world.home / SETTINGS[2:]).read_text())
    assert settings["deniedMcpServers"] == [{"serverName": "plugin:webplug:psrv"}]
    assert workflow.uninstall(world.environment(), None, [], None, yes=True).exit_code == 0
    assert {p: p.read_bytes() for p in before} == before


@pytest.mark.parametrize(
    ("host", "files"),
    [
        ("opencode", {OPENCODE: {"plugin": ["opencode-websearch"]}}),
        ("opencode", {"~/.config/opencode/tool/web-search.ts": "x"}),
        ("claude", {SETTINGS: {"enabledPlugins": {"web-search-kit@m": True}}}),
        ("codex", {CODEX: '[plugins."web-search-kit@m"]\nenabled = true\n'}),
    ],
)
def test_nothing_is_forced_beside_a_plugin_that_no_file_tells_of(host: str, files: Any, tmp_path: Path) -> None:
    world = make(tmp_path, {name: text_of(value) for name, value in files.items()})
    for tier, code in (("forced", 3), ("preferred", 0)):
        wish = Request("deepseek-web-retrieval", (host,), tiers=((None, tier),), env=KEY)
        assert workflow.plan(world.environment(), wish).exit_code == code
