"""Each fact that decides a tool surface: what takes a tool out, what looks so and does not, and which line it is.

The facts: what the real hosts did at the version that `hosts/*.toml` names.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hosts.field import FETCH, SEARCH, TAVILY, Files, Look, local, look, npx

CLAUDE = {"WebSearch", "WebFetch"}
A = {f"mcp__a__{SEARCH}", f"mcp__a__{FETCH}"}
STATE = {"mcpServers": {"a": npx()}}
ARGV = ["npx", "-y", "deepseek-web-retrieval"]
SETTINGS = "~/.claude/settings.json"


def claude(settings: Any, **more: Any) -> Look:
    """Claude Code with one server and these settings."""
    return look("claude", {"~/.claude.json": STATE, SETTINGS: settings}, **more)


# ------------------------------------------------------------------ Claude Code: deny rules

GONE: dict[str, set[str]] = {
    "WebSearch": {"WebSearch"},
    "WebFetch": {"WebFetch"},
    "WebSearch(*)": {"WebSearch"},
    "WebFetch(*)": {"WebFetch"},
    "Web*": CLAUDE,
    "Web*(*)": CLAUDE,
    "*Search": {"WebSearch"},
    "*": CLAUDE | A,
    "mcp__a": A,
    "mcp__a__*": A,
    "mcp__a*": A,
    "mcp__*": A,
    f"mcp__a__{SEARCH}": {f"mcp__a__{SEARCH}"},
    "mcp__*__deepseek_web_search": {f"mcp__a__{SEARCH}"},
    "mcp__a__*_web_*": {f"mcp__a__{SEARCH}"},
}
STAYS = [
    "websearch", "webfetch", "web_search", "web*", "WebSearch()", "WebFetch(domain:*)", "WebFetch(domain:example.com)",
    "WebSearchTool", "Web?earch", "Web[FS]*", " WebSearch", "WebFetch ", "MCP__a", "mcp__A", "mcp__a(*)",
    f"mcp__a__{SEARCH}(*)", "mcp__b", "mcp__a_", SEARCH, "a", "Bash", "Bash(*)", "mcp__a__*x", "", 5, None, {"a": 1},
]  # fmt: skip


@pytest.mark.parametrize("rule", GONE)
def test_claude_rule_takes_out(rule: str) -> None:
    assert claude({"permissions": {"deny": ["Bash(rm:*)", rule]}}).all == (CLAUDE | A) - GONE[rule]


@pytest.mark.parametrize("rule", STAYS, ids=repr)
def test_claude_rule_does_not_take_out(rule: Any) -> None:
    assert claude({"permissions": {"deny": [rule]}}).all == CLAUDE | A


def test_claude_bad_entries_are_passed_over_one_by_one() -> None:
    assert claude({"permissions": {"deny": [5, "websearch", "WebSearch"]}}).all == {"WebFetch"} | A


def test_claude_allow_makes_no_hole_and_ask_takes_nothing_out() -> None:
    rules = {"deny": ["mcp__a", "Web*"], "allow": [f"mcp__a__{SEARCH}", "WebSearch"]}
    assert claude({"permissions": rules}).all == set()
    assert claude({"permissions": {"ask": ["WebSearch", "mcp__a"]}}).all == CLAUDE | A


@pytest.mark.parametrize(
    ("name", "rule", "gone"),
    [
        ("my.s x", "mcp__my_s_x", True),
        ("my.s x", "mcp__my.s x", False),
        ("has-dash", "mcp__has-dash", True),
        ("has-dash", "mcp__has_dash", False),
    ],
)
def test_claude_rules_know_a_server_by_its_spelling(name: str, rule: str, gone: bool) -> None:
    files = {"~/.claude.json": {"mcpServers": {name: npx()}}, SETTINGS: {"permissions": {"deny": [rule]}}}
    assert (look("claude", files).all == CLAUDE) is gone


@pytest.mark.parametrize(
    "file",
    [
        SETTINGS,
        "./.claude/settings.json",
        "./.claude/settings.local.json",
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-settings.d/10-x.json",
    ],
)
def test_claude_denials_of_all_layers_are_one(file: str) -> None:
    files = {"~/.claude.json": STATE, file: {"permissions": {"deny": ["WebSearch"]}}}
    files.setdefault(SETTINGS, {"permissions": {"deny": ["WebFetch"], "allow": ["WebSearch"]}})
    found = look("claude", files).all
    assert "WebSearch" not in found
    assert ("WebFetch" in found) is (file == SETTINGS)


# ------------------------------------------------------------------ Claude Code: servers

HTTP = {"mcpServers": {"h": {"type": "http", "url": "http://127.0.0.1:9/mcp"}, "a": npx()}}


@pytest.mark.parametrize(
    ("item", "gone"),
    [
        ({"serverName": "a"}, True),
        ({"serverName": "a", "note": "x"}, True),
        ({"serverCommand": ARGV}, True),
        ({"serverName": "*"}, False),
        ({"serverName": "A"}, False),
        ({"serverName": "mcp__a"}, False),
        ({"serverCommand": ARGV[:2]}, False),
        ({"serverCommand": " ".join(ARGV)}, False),
        ({"serverName": "a", "serverCommand": ["z"]}, False),
        ("a", False),
        ({}, False),
    ],
    ids=repr,
)
def test_claude_denied_server(item: Any, gone: bool) -> None:
    found = claude({"deniedMcpServers": ["x", item]})
    assert (found.all == CLAUDE) is gone
    assert found.registration("a").enabled is not gone
    if gone:
        path, line = found.line(SETTINGS, '"server')
        assert f"`{path}`:{line - 1}" in found.registration("a").why_off


@pytest.mark.parametrize(
    ("pattern", "gone"),
    [
        ("http://127.0.0.1:9/mcp", True),
        ("http://127.0.0.1:*/*", True),
        ("http://127*", True),
        ("*127*", False),
        ("https://127.0.0.1:9/mcp", False),
    ],
)
def test_claude_denied_address(pattern: str, gone: bool) -> None:
    files = {"~/.claude.json": HTTP, SETTINGS: {"deniedMcpServers": [{"serverUrl": pattern}]}}
    found = look("claude", files)
    assert found.registration("h").enabled is not gone
    assert found.registration("a").enabled


@pytest.mark.parametrize(
    ("items", "left"),
    [
        ([], ""),
        ([{"serverName": "a"}], "a"),
        ([{"serverName": "a"}, {"serverName": "h"}], "ah"),
        ([{"serverCommand": ARGV}], "a"),
        ([{"serverCommand": ARGV}, {"serverName": "b"}], "a"),
        ([{"serverCommand": ["z"]}, {"serverName": "a"}, {"serverName": "h"}], "h"),
        ([{"serverUrl": "https://x"}, {"serverName": "a"}, {"serverName": "h"}], "a"),
        ([{"serverUrl": "http://127*"}], "h"),
        ("none", "abh"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("file", [SETTINGS, "./.claude/settings.json", "./.claude/settings.local.json"])
def test_claude_allow_list(file: str, items: Any, left: str) -> None:
    """Any layer's list counts; once it names a command, a server with one has to be named by it."""
    state = {"mcpServers": {**HTTP["mcpServers"], "b": npx("other-mcp")}}
    found = look("claude", {"~/.claude.json": state, file: {"allowedMcpServers": items}})
    assert "".join(sorted(r.name for r in found.survey.registrations if r.enabled)) == left


MANAGED = "/etc/claude-code/managed-settings.json"


@pytest.mark.parametrize(
    ("user", "managed", "left"),
    [
        (["a"], {"allowedMcpServers": [{"serverName": "b"}]}, "ab"),
        (["a"], {"allowedMcpServers": [{"serverName": "b"}], "allowManagedMcpServersOnly": True}, "b"),
        (["a"], {"allowManagedMcpServersOnly": True}, "ab"),
        (None, {"allowedMcpServers": []}, ""),
    ],
)
def test_claude_managed_allow_list(user: list[str] | None, managed: Any, left: str) -> None:
    settings = {} if user is None else {"allowedMcpServers": [{"serverName": n} for n in user]}
    state = {"mcpServers": {"a": npx(), "b": npx("b-mcp")}}
    found = look("claude", {"~/.claude.json": state, SETTINGS: settings, MANAGED: managed})
    assert "".join(sorted(r.name for r in found.survey.registrations if r.enabled)) == left


def test_claude_denial_of_the_user_beats_the_managed_list() -> None:
    managed = {"allowedMcpServers": [{"serverName": "a"}], "allowManagedMcpServersOnly": True}
    files = {"~/.claude.json": STATE, SETTINGS: {"deniedMcpServers": [{"serverName": "a"}]}, MANAGED: managed}
    assert look("claude", files).all == CLAUDE


@pytest.mark.parametrize(
    ("project", "mcp", "settings", "gone"),
    [
        ({"disabledMcpServers": ["a"]}, None, None, True),
        (None, {"projects": {"{project}": {"disabledMcpServers": ["a"]}}}, None, False),
        (None, None, {"disabledMcpServers": ["a"]}, False),
        (None, None, {"mcpServers": {"a": {"disabled": True}}}, False),
        ({"disabledMcpjsonServers": ["a"]}, None, None, False),
        (None, None, {"disabledMcpjsonServers": ["a"]}, False),
    ],
)
def test_claude_disabled_for_this_project(project: Any, mcp: Any, settings: Any, gone: bool) -> None:
    """`disabledMcpServers` counts in the state file alone; the list for .mcp.json touches no other server."""
    state = {**STATE, "projects": {"/h/ada/p": project or {}, "/h/ada/q": {"disabledMcpServers": ["a"]}}}
    files: Files = {"~/.claude.json": state, "./.mcp.json": mcp or {"mcpServers": {}}, SETTINGS: settings or {}}
    assert (look("claude", files).all == CLAUDE) is gone


@pytest.mark.parametrize("key", ["disabled", "enabled"])
def test_claude_entries_have_no_switch(key: str) -> None:
    entry = {**npx(), key: key == "disabled"}
    assert look("claude", {"~/.claude.json": {"mcpServers": {"a": entry}}}).all == CLAUDE | A


def test_claude_settings_hold_no_servers() -> None:
    assert look("claude", {SETTINGS: STATE}).all == CLAUDE


# ------------------------------------------------------------------ Claude Code: the variable


@pytest.mark.parametrize(
    ("settings", "variable", "gone"),
    [
        ("1", None, True), ("true", None, True), ("Yes", None, True), ("on", None, True), (1, None, True),
        ("0", None, False), ("false", None, False), ("", None, False), (None, "1", True), (None, "yes", True),
        (None, "false", False), (None, "", False), ("0", "1", False), ("1", "0", True),
    ],
)  # fmt: skip
def test_claude_variable_against_fetching(settings: Any, variable: str | None, gone: bool) -> None:
    """What the settings set outranks the environment of the start."""
    env = {} if settings is None else {"env": {"CLAUDE_CODE_DISABLE_WEB_FETCH": settings}}
    variables = {} if variable is None else {"CLAUDE_CODE_DISABLE_WEB_FETCH": variable}
    assert claude(env, variables=variables).all == (CLAUDE - {"WebFetch"} if gone else CLAUDE) | A


def test_variables_do_not_count_for_another_home() -> None:
    variables = {"CLAUDE_CODE_DISABLE_WEB_FETCH": "1", "OPENCODE_ENABLE_EXA": "1"}
    assert claude({}, variables=variables, host_variables=False).all == CLAUDE | A
    assert look("opencode", {}, variables=variables, host_variables=False).all == {"webfetch", "websearch possible"}


# ------------------------------------------------------------------ Claude Code: where files lie


def test_claude_config_dir_moves_everything() -> None:
    files = {
        "~/.claude.json": {"mcpServers": {"b": npx()}},
        SETTINGS: {"permissions": {"deny": ["WebFetch"]}},
        "/cfg/.claude.json": STATE,
        "/cfg/settings.json": {"permissions": {"deny": ["WebSearch"]}},
    }
    assert look("claude", files, variables={"CLAUDE_CONFIG_DIR": "/cfg"}).all == {"WebFetch"} | A


HERE = "./s/.claude/settings.local.json"
DENY: dict[str, Any] = {tool: {"permissions": {"deny": [tool]}} for tool in ("WebSearch", "WebFetch", "mcp__a")}


@pytest.mark.parametrize(
    ("files", "folder", "left"),
    [
        ({"./.claude/settings.json": DENY["WebFetch"]}, "", {"WebSearch"}),
        ({"./.claude/settings.json": DENY["WebFetch"]}, "sub", CLAUDE),
        ({"./.claude/settings.json": DENY["WebFetch"], "./sub/.claude/settings.json": {}}, "sub", CLAUDE),
        ({"./sub/.claude/settings.json": DENY["WebFetch"]}, "sub", {"WebSearch"}),
        ({"./sub/.claude/settings.json": DENY["WebFetch"]}, "sub/deep", CLAUDE),
        ({"./.claude/settings.local.json": DENY["WebFetch"]}, "sub", {"WebSearch"}),
        ({"./.claude/settings.local.json": DENY["WebFetch"], HERE: DENY["WebSearch"]}, "s", set()),
        ({"./.claude/settings.local.json": DENY["WebFetch"], HERE: DENY["WebSearch"]}, "s/d", {"WebSearch"}),
    ],
)  # fmt: skip
def test_claude_settings_below_the_root(files: Files, folder: str, left: set[str]) -> None:
    """Started below the root, it reads the project's settings there and the local ones of root and there."""
    assert look("claude", files, folder).all == left


def test_claude_server_files_from_the_root_down() -> None:
    files = {
        SETTINGS: {"enableAllProjectMcpServers": True},
        "./.mcp.json": {"mcpServers": {"a": npx("root-mcp"), "r": npx()}},
        "./sub/.mcp.json": {"mcpServers": {"a": npx()}},
    }
    found = look("claude", files, "sub/deep")
    assert found.all == CLAUDE | A | {f"mcp__r__{SEARCH}", f"mcp__r__{FETCH}"}
    assert found.place(f"mcp__a__{SEARCH}")[0].endswith("/sub/.mcp.json")
    assert look("claude", files).all == CLAUDE | {f"mcp__r__{SEARCH}", f"mcp__r__{FETCH}"}


# ------------------------------------------------------------------ Codex

CODEX = "~/.codex/config.toml"
SERVER = '[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", "deepseek-web-retrieval"]\n'
TRUST = '[projects."{project}"]\ntrust_level = "trusted"\n'


@pytest.mark.parametrize(
    ("user", "project", "managed", "system", "gone", "decides"),
    [
        ("", "", "", "", False, ""),
        ('web_search = "disabled"\n', "", "", "", True, ""),
        ('web_search = "live"\n', "", "", "", False, CODEX),
        ('web_search = "cached"\n', "", "", "", False, CODEX),
        ('web_search = "indexed"\n', "", "", "", False, CODEX),
        ('web_search = "disabled"\n', 'web_search = "live"\n', "", "", False, "./.codex/config.toml"),
        ('web_search = "live"\n', 'web_search = "disabled"\n', "", "", True, ""),
        ('web_search = "disabled"\n', "", 'web_search = "live"\n', "", False, "/etc/codex/managed_config.toml"),
        ('web_search = "live"\n', 'web_search = "live"\n', 'web_search = "disabled"\n', "", True, ""),
        ("", "", "", 'web_search = "disabled"\n', True, ""),
        ('web_search = "live"\n', "", "", 'web_search = "disabled"\n', False, CODEX),
        ("[tools]\nweb_search = false\n", "", "", "", False, ""),
        ("[features]\nweb_search_request = false\n", "", "", "", False, ""),
        ("[features]\nstandalone_web_search = false\n", "", "", "", False, ""),
        ('[tui]\nweb_search = "disabled"\n', "", "", "", False, ""),
    ],
)
def test_codex_web_search(user: str, project: str, managed: str, system: str, gone: bool, decides: str) -> None:
    """One tool for both capabilities; managed beats project beats user beats system."""
    files = {CODEX: user + TRUST}
    files |= {"./.codex/config.toml": project} if project else {}
    files |= {"/etc/codex/managed_config.toml": managed} if managed else {}
    files |= {"/etc/codex/config.toml": system} if system else {}
    found = look("codex", files)
    assert found.tools("web_search") == found.tools("web_fetch") == ([] if gone else ["web_search"])
    if not gone:
        assert found.place("web_search") == (found.line(decides, "web_search =") if decides else ("", 0))


@pytest.mark.parametrize(
    ("modes", "gone"), [("[]", True), ('["live"]', False), ('["disabled"]', False), ('["cached", "live"]', False)]
)
def test_codex_allowed_modes(modes: str, gone: bool) -> None:
    files = {"/etc/codex/requirements.toml": f"allowed_web_search_modes = {modes}\n"}
    assert (look("codex", files).all == set()) is gone


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("", [SEARCH, FETCH]),
        ("enabled = true\n", [SEARCH, FETCH]),
        ("enabled = false\n", []),
        ("disabled = true\n", [SEARCH, FETCH]),
        (f'disabled_tools = ["{SEARCH}"]\n', [FETCH]),
        (f'disabled_tools = ["mcp__a__{SEARCH}", "{FETCH.upper()}"]\n', [SEARCH, FETCH]),
        (f'enabled_tools = ["{SEARCH}"]\n', [SEARCH]),
        ("enabled_tools = []\n", []),
        (f'enabled_tools = ["{SEARCH}", "{FETCH}"]\ndisabled_tools = ["{FETCH}"]\n', [SEARCH]),
    ],
)
def test_codex_entry(lines: str, left: list[str]) -> None:
    """Raw names, to the letter; what is denied stays denied."""
    found = look("codex", {CODEX: 'web_search = "disabled"\n' + SERVER + lines})
    assert found.all == {f"mcp__a__{tool}" for tool in left}
    assert found.registration("a").capabilities == tuple(
        c
        for c, tool in (("web_search", SEARCH), ("web_fetch", FETCH))
        if tool in left or lines.startswith("enabled = f")
    )


@pytest.mark.parametrize(("only", "left"), [("[]", set()), ('["ask"]', {"mcp__my_search__*"})])
def test_codex_tools_that_nobody_named(only: str, left: set[str]) -> None:
    entry = f'web_search = "disabled"\n[mcp_servers.my-search]\ncommand = "my-web-search"\nenabled_tools = {only}\n'
    assert look("codex", {CODEX: entry}).all == left


def test_codex_a_hyphen_becomes_a_line_below() -> None:
    entry = SERVER.replace("mcp_servers.a", 'mcp_servers."has-dash.x y"')
    assert f"mcp__has_dash_x_y__{SEARCH}" in look("codex", {CODEX: entry}).all


def test_codex_layers_are_merged_deep() -> None:
    """A project's lone `enabled`, a table in the entry, a list: each key from the strongest that has it."""
    project = '[mcp_servers.a]\nenabled = false\n[mcp_servers.b]\nenv = { B = "2" }\ncommand = "x"\n'
    files = {
        CODEX: TRUST + SERVER + SERVER.replace(".a]", ".b]") + 'env = { A = "1" }\n',
        "./.codex/config.toml": project,
    }
    found = look("codex", files)
    assert not found.registration("a").enabled
    assert "`/h/ada/p/.codex/config.toml`:2" in found.registration("a").why_off
    strong = found.registration("b", "project")
    assert strong.command == ("x", "-y", "deepseek-web-retrieval")
    assert strong.environment == ("A", "B")
    assert strong.wins
    assert not found.registration("b", "user").wins


def test_codex_project_entry_alone_switches_nothing_in_a_folder_that_is_not_trusted() -> None:
    files = {CODEX: SERVER, "./.codex/config.toml": 'web_search = "disabled"\n[mcp_servers.a]\nenabled = false\n'}
    assert look("codex", files).all == {"web_search"} | A


def test_codex_what_an_unread_file_says_of_its_own_server_will_hold() -> None:
    """Off in the file that brings it, so trust will not bring it."""
    assert look("codex", {"./.codex/config.toml": SERVER}).all == {"web_search", *(f"{tool} pending" for tool in A)}
    assert look("codex", {"./.codex/config.toml": SERVER + "enabled = false\n"}).all == {"web_search"}


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ('[mcp_servers.a.identity]\ncommand = "npx"\n', True),
        ('[mcp_servers.a.identity]\ncommand = "uvx"\n', False),
        ('[mcp_servers.b.identity]\ncommand = "npx"\n', False),
        ('[mcp_servers.a.identity]\nurl = "npx"\n', False),
        ("[mcp_servers]\n", False),
        ("allowed_sandbox_modes = []\n", True),
    ],
)
def test_codex_requirements_let_in_by_name_and_identity(entry: str, left: bool) -> None:
    found = look("codex", {CODEX: SERVER, "/etc/codex/requirements.toml": entry})
    assert (found.all >= A) is left
    if not left:
        assert "/etc/codex/requirements.toml" in found.registration("a").why_off


def test_codex_requirements_know_an_address() -> None:
    files = {
        CODEX: '[mcp_servers.e]\nurl = "https://mcp.exa.ai/mcp"\n',
        "/etc/codex/requirements.toml": '[mcp_servers.e.identity]\nurl = "https://mcp.exa.ai/mcp"\n',
    }
    assert look("codex", files).registration("e").enabled


# ------------------------------------------------------------------ OpenCode

USER = "~/.config/opencode/opencode.json"
O = {f"a_{SEARCH}", f"a_{FETCH}"}  # noqa: E741
EXA = {"OPENCODE_ENABLE_EXA": "1"}
BUILT_IN = {"webfetch", "websearch"}


def opencode(*permissions: Any, server: bool = True, **more: Any) -> Look:
    """OpenCode with its gate open, and the permission of the user and of the project."""
    user: dict[str, Any] = {"mcp": {"a": local()}} if server else {}
    files: dict[str, Any] = {USER: user}
    for name, value in zip((USER, "./opencode.json"), permissions, strict=False):
        files[name] = {**files.get(name, {}), **value}
    return look("opencode", files, variables=EXA, **more)


def permission(value: Any) -> dict[str, Any]:
    """A file with that `permission`."""
    return {"permission": value}


ALLOW, DENY_ONE = {"*": "allow"}, {"webfetch": "deny"}
ORDERS: list[tuple[list[Any], set[str]]] = [
    ([permission(DENY_ONE)], {"webfetch"}),
    ([permission({"webfetch": "deny", "websearch": "deny"})], BUILT_IN),
    ([permission({"webfetch": "ask"})], set()),
    ([permission({"webfetch": "deny", "*": "allow"})], set()),
    ([permission({"*": "allow", "webfetch": "deny"})], {"webfetch"}),
    ([permission({"*": "deny"})], BUILT_IN | O),
    ([permission("deny")], BUILT_IN | O),
    ([permission("allow")], set()),
    ([permission({"*": "deny", "webfetch": "allow"})], {"websearch"} | O),
    ([permission({"web*": "deny"})], BUILT_IN),
    ([permission({"a_*": "deny"})], O),
    ([permission({f"a_{SEARCH}": "deny"})], {f"a_{SEARCH}"}),
    ([permission({"a_*": "deny", f"a_{SEARCH}": "allow"})], {f"a_{FETCH}"}),
    ([permission({f"a_{SEARCH}": "allow", "a_*": "deny"})], O),
    ([permission({"a_*": "deny", f"a_{SEARCH}": {"*": "allow", "q": "deny"}})], {f"a_{FETCH}"}),
    ([permission({f"a_{SEARCH}": {"q": "allow", "*": "deny"}})], {f"a_{SEARCH}"}),
    ([permission({"b_*": "deny", "a": "deny"})], set()),
    # over two layers a key keeps the place that the weaker one gave it
    ([permission(DENY_ONE), permission(ALLOW)], set()),
    ([permission(DENY_ONE), permission({"webfetch": "allow"})], set()),
    ([permission(ALLOW), permission(DENY_ONE)], {"webfetch"}),
    ([permission({"webfetch": "allow", "*": "allow"}), permission(DENY_ONE)], set()),
    ([permission("deny"), permission({"bash": "allow"})], BUILT_IN | O),
    ([permission(DENY_ONE), permission("allow")], set()),
    ([permission("allow"), permission(DENY_ONE)], {"webfetch"}),
    # the older table is merged in under the newer, so it comes first
    ([{"tools": {"webfetch": False}}], {"webfetch"}),
    ([{"tools": {"webfetch": True}}], set()),
    ([{"tools": {"a_*": False}}], O),
    ([{"tools": {"webfetch": False}, "permission": {"webfetch": "allow"}}], set()),
    ([{"tools": {"webfetch": False}, "permission": {"*": "allow", "webfetch": "deny"}}], set()),
    ([{"tools": {"webfetch": False}, "permission": {"bash": "ask"}}], {"webfetch"}),
    ([{"tools": {"webfetch": False}}, permission(ALLOW)], set()),
    ([permission({"webfetch": "allow"}), {"tools": {"webfetch": False}}], set()),
    # the agent's own rules are read last
    ([{**permission(DENY_ONE), "agent": {"build": permission({"webfetch": "allow"})}}], set()),
    ([{"agent": {"build": permission(DENY_ONE)}}], {"webfetch"}),
    ([{"agent": {"build": {"tools": {"webfetch": False}}}}], {"webfetch"}),
    ([{"agent": {"plan": permission(DENY_ONE)}}], set()),
    ([{"agent": {"build": permission({"webfetch": "allow"})}}, permission(DENY_ONE)], set()),
]


@pytest.mark.parametrize(("layers", "gone"), ORDERS)
def test_opencode_the_last_matching_key_decides(layers: list[Any], gone: set[str]) -> None:
    assert opencode(*layers).all == (BUILT_IN | O) - gone


@pytest.mark.parametrize(
    ("user", "project", "gone"),
    [
        (local(enabled=False), None, True),
        (local(enabled=True), None, False),
        (local(disabled=True), None, True),
        (local(enabled=True, disabled=True), None, False),
        (local(), {"enabled": False}, True),
        (local(enabled=False), {"enabled": True}, False),
        (local(disabled=True), {"enabled": True}, False),
        (local(enabled=True), {"enabled": True, "disabled": True}, False),
    ],
    ids=repr,
)
def test_opencode_server_switch(user: Any, project: Any, gone: bool) -> None:
    """A lone `enabled` is a file of its own right; the spelling of 2.x counts where `enabled` says nothing."""
    files: dict[str, Any] = {USER: {"mcp": {"a": user}}}
    if project:
        files["./opencode.json"] = {"mcp": {"a": project}}
    found = look("opencode", files)
    assert (found.all == {"webfetch", "websearch possible"}) is gone
    assert [r.name for r in found.survey.registrations] == ["a"]


def test_opencode_servers_at_the_place_of_the_other_version() -> None:
    files = {USER: {"mcp": {"servers": {"a": local(), "b": local(enabled=False)}, "notes": local("notes-mcp")}}}
    found = look("opencode", files)
    assert {r.name: r.enabled for r in found.survey.registrations} == {"a": True, "b": False, "notes": True}
    assert found.all >= O


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({}, "websearch possible"),
        ({"OPENCODE_ENABLE_EXA": "1"}, "websearch"),
        ({"OPENCODE_ENABLE_EXA": "true"}, "websearch"),
        ({"OPENCODE_ENABLE_PARALLEL": "1"}, "websearch"),
        ({"OPENCODE_EXPERIMENTAL": "1"}, "websearch"),
        ({"OPENCODE_ENABLE_EXA": "0"}, "websearch possible"),
        ({"OPENCODE_ENABLE_EXA": ""}, "websearch possible"),
    ],
)
def test_opencode_gate(variables: dict[str, str], shown: str) -> None:
    found = look("opencode", {}, variables=variables)
    assert found.tools("web_search") == [shown]
    assert found.place("websearch") == ((f"${next(iter(variables))}", 0) if shown == "websearch" else ("", 0))
    assert look("opencode", {USER: permission({"websearch": "deny"})}, variables=variables).tools("web_search") == []


LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("~/.config/opencode/config.json", {}),
    (USER, {}),
    ("~/.config/opencode/opencode.jsonc", {}),
    ("/v/file.json", {"OPENCODE_CONFIG": "/v/file.json"}),
    ("./opencode.json", {}),
    ("./opencode.jsonc", {}),
    ("./sub/opencode.json", {}),
    ("./sub/opencode.jsonc", {}),
    ("./sub/.opencode/opencode.json", {}),
    ("./sub/.opencode/opencode.jsonc", {}),
    ("./.opencode/opencode.json", {}),
    ("./.opencode/opencode.jsonc", {}),
    ("~/.opencode/opencode.json", {}),
    ("~/.opencode/opencode.jsonc", {}),
    ("/v/opencode.json", {"OPENCODE_CONFIG_DIR": "/v"}),
    ("/v/opencode.jsonc", {"OPENCODE_CONFIG_DIR": "/v"}),
    ("$OPENCODE_CONFIG_CONTENT", {"OPENCODE_CONFIG_CONTENT": permission({"webfetch": "WORD"})}),
    ("/etc/opencode/opencode.json", {}),
    ("/etc/opencode/opencode.jsonc", {}),
    ("$OPENCODE_PERMISSION", {"OPENCODE_PERMISSION": {"webfetch": "WORD"}}),
]
"""From the weakest to the strongest, as the host merged them."""


@pytest.mark.parametrize("number", range(len(LAYERS) - 1), ids=lambda n: f"{LAYERS[n][0]} < {LAYERS[n + 1][0]}")
@pytest.mark.parametrize(("weak", "strong"), [("deny", "allow"), ("allow", "deny")])
def test_opencode_order_of_the_layers(number: int, weak: str, strong: str) -> None:
    files: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    for (name, needed), word in zip(LAYERS[number : number + 2], (weak, strong), strict=True):
        if not name.startswith("$"):
            files[name] = permission({"webfetch": word})
        for variable, text in needed.items():
            value = text if isinstance(text, str) else str(text).replace("WORD", word).replace("'", '"')
            variables[variable] = value
    found = look("opencode", files, "sub", variables)
    assert ("webfetch" in found.all) is (strong == "allow")
    if strong == "allow":
        name = LAYERS[number + 1][0]
        path = found.line(name, '"webfetch"') if not name.startswith("$") else (name, 1)
        assert found.place("webfetch") == path


def test_opencode_without_the_project() -> None:
    files = {"./opencode.json": permission(DENY_ONE), "./.opencode/opencode.json": {"mcp": {"a": local()}}}
    found = look("opencode", files, variables={"OPENCODE_DISABLE_PROJECT_CONFIG": "1"})
    assert found.all == {"webfetch", "websearch possible"}
    assert look("opencode", files).all == {"websearch possible"} | O


@pytest.mark.parametrize("text", ['"deny"', "{", "[]"])
def test_opencode_a_permission_variable_that_is_no_object_says_nothing(text: str) -> None:
    found = look("opencode", {USER: permission({"websearch": "deny"})}, variables={"OPENCODE_PERMISSION": text})
    assert found.all == {"webfetch"}


def test_opencode_hyphens_stay() -> None:
    found = look("opencode", {USER: {"mcp": {"has-dash x": local()}}})
    assert f"has-dash_x_{SEARCH}" in found.all


# ------------------------------------------------------------------ which line decides


def test_lines_that_decide_are_exact() -> None:
    rules = ' "permission": {\n  "*": "allow",\n  "webfetch": "allow" // I read a lot\n },'
    text = f'{{\n // mine\n{rules}\n "mcp": {{\n  "a": {json.dumps(local())}\n }}\n}}\n'
    found = look("opencode", {USER: text}, variables=EXA)
    assert found.place("webfetch") == found.line(USER, "// I read a lot")
    assert found.place("websearch") == found.line(USER, '"*"')
    assert found.place(f"a_{SEARCH}") == found.line(USER, '"a"')


def test_a_voided_rule_names_the_policy() -> None:
    files = {
        SETTINGS: {"permissions": {"deny": ["WebSearch"]}},
        MANAGED: {"x": 1, "allowManagedPermissionRulesOnly": True},
    }
    found = look("claude", files)
    assert found.all == CLAUDE
    assert found.place("WebSearch") == found.line(MANAGED, "allowManagedPermissionRulesOnly")


def test_switches_name_their_line() -> None:
    state = {
        "mcpServers": {"t": TAVILY},
        "projects": {"/h/ada/p": {"allowedTools": [], "disabledMcpServers": ["x", "t"]}},
    }
    found = look("claude", {"~/.claude.json": state})
    path, line = found.line("~/.claude.json", '"t"\n')
    assert found.registration("t").why_off == f"disabled for this project (`{path}`:{line})"
