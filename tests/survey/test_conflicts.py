"""Every kind of finding, with one field that has it and one like it that has not: host, layer, path, line, tiers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.model import CONFLICT_KINDS
from hostconf.workflow.request import Request
from tests.hosts.field import CANARY, NOTES, TAVILY, Files, Kind, Look, local, look, npx, text_of
from tests.plan.world import World, make

STATE = "~/.claude.json"
SETTINGS = "~/.claude/settings.json"
CODEX = "~/.codex/config.toml"
OPENCODE = "~/.config/opencode/opencode.json"
TRUST = '[projects."{project}"]\ntrust_level = "trusted"\n'
TAVILY_TOML = '[mcp_servers.tavily]\ncommand = "npx"\nargs = ["-y", "tavily-mcp"]\n'


def state(**servers: Any) -> dict[str, Any]:
    """The state file of Claude Code with these servers of the user."""
    return {STATE: {"mcpServers": servers}}


def deny(*rules: str) -> dict[str, Any]:
    """The settings of Claude Code with these rules."""
    return {SETTINGS: {"permissions": {"deny": [*rules]}}}


DENIED = {SETTINGS: {"deniedMcpServers": [{"serverName": "t"}]}}
HERE = {STATE: {"projects": {"{project}": {"mcpServers": {"t": TAVILY}}}}}
TWO_TOML = '[mcp_servers."my-s"]\ncommand = "a"\n[mcp_servers.my_s]\ncommand = "b"\n'
KEY = npx(env={"K": "${MY_KEY}"})
REMOTE_TOML = '[mcp_servers.t]\nurl = "http://x"\nbearer_token_env_var = "T"\nenv_http_headers = { X = "V" }\n'


def found_at(found: Look, kind: str) -> list[tuple[str, str, int]]:
    """Layer, path and line of the findings of a kind."""
    return [(c.layer, c.path, c.line) for c in found.conflicts(kind)]


def expected_at(found: Look, *places: tuple[str, str, str]) -> list[tuple[str, str, int]]:
    """The same from layer, name and a text on the line."""
    return [(layer, *found.line(name, needle)) for layer, name, needle in places]


# ------------------------------------------------------------------ capable-registration


@pytest.mark.parametrize(
    ("host", "files", "places"),
    [
        ("claude", {STATE: {"mcpServers": {"n": NOTES, "t": TAVILY}}}, [("user-state", STATE, '"t"')]),
        ("claude", HERE, [("local-state", STATE, '"t"')]),
        ("claude", {"./.mcp.json": {"mcpServers": {"t": TAVILY}}}, [("project-mcp", "./.mcp.json", '"t"')]),
        ("claude", {**state(t=TAVILY), **DENIED}, []),
        ("claude", {**state(t=TAVILY), **deny("mcp__t__*")}, []),
        ("claude", {STATE: {"mcpServers": {"t": NOTES}}}, []),
        ("codex", {CODEX: f"# x\n{TAVILY_TOML}"}, [("user", CODEX, "[mcp_servers")]),
        ("codex", {CODEX: f"# x\n{TAVILY_TOML}enabled = false\n"}, []),
        ("codex", {CODEX: f"{TAVILY_TOML}enabled_tools = []\n"}, []),
        ("codex", {"./.codex/config.toml": TAVILY_TOML}, [("project", "./.codex/config.toml", "[mcp_servers")]),
        ("opencode", {OPENCODE: {"mcp": {"t": local("tavily-mcp")}}}, [("user", OPENCODE, '"t"')]),
        ("opencode", {OPENCODE: {"mcp": {"t": local("tavily-mcp")}, "permission": {"t_*": "deny"}}}, []),
    ],
)  # fmt: skip
def test_capable_registration(host: str, files: Files, places: Any) -> None:
    found = look(host, files)
    assert found_at(found, "capable-registration") == expected_at(found, *places)
    for finding in found.conflicts("capable-registration"):
        assert finding.host == host
        assert finding.tiers["optional"] == "stays beside ours"
        assert finding.tiers["forced"].startswith("switched off")
        assert "package `tavily-mcp`" in finding.text


# ------------------------------------------------------------------ name-shadowed


def test_name_shadowed_between_layers() -> None:
    files = {STATE: {"mcpServers": {"a": npx()}}, "./.mcp.json": {"mcpServers": {"a": NOTES}}}
    found = look("claude", {**files, SETTINGS: {"enableAllProjectMcpServers": True}})
    assert found_at(found, "name-shadowed") == expected_at(found, ("user-state", STATE, '"a"'))
    assert "is hidden by" in found.one("name-shadowed").text
    found = look("claude", files)
    assert found_at(found, "name-shadowed") == expected_at(found, ("project-mcp", "./.mcp.json", '"a"'))


def test_name_shadowed_where_entries_are_merged() -> None:
    found = look("codex", {CODEX: TRUST + TAVILY_TOML, "./.codex/config.toml": TAVILY_TOML})
    assert found_at(found, "name-shadowed") == expected_at(found, ("user", CODEX, "[mcp_servers"))
    assert "is merged under" in found.one("name-shadowed").text
    found = look("opencode", {OPENCODE: {"mcp": {"a": local()}}, "./opencode.json": {"mcp": {"a": local("x-mcp")}}})
    assert found_at(found, "name-shadowed") == expected_at(found, ("user", OPENCODE, '"a"'))


@pytest.mark.parametrize(
    ("host", "files"),
    [
        ("claude", {STATE: {"mcpServers": {"a": npx()}}, "./.mcp.json": {"mcpServers": {"b": npx()}}}),
        ("codex", {CODEX: TRUST + TAVILY_TOML, "./.codex/config.toml": "[mcp_servers.tavily]\nenabled = false\n"}),
        ("opencode", {OPENCODE: {"mcp": {"a": local()}}, "./opencode.json": {"mcp": {"a": {"enabled": False}}}}),
    ],
)
def test_a_switch_shadows_nothing(host: str, files: Files) -> None:
    assert look(host, files).conflicts("name-shadowed") == []


# ------------------------------------------------------------------ tool-name-collision


@pytest.mark.parametrize(
    ("host", "files", "clash"),
    [
        ("claude", {STATE: {"mcpServers": {"my.s": npx(), "my s": npx()}}}, True),
        ("claude", {STATE: {"mcpServers": {"my.s": npx(), "my s": npx("exa-mcp-server")}}}, False),
        ("claude", {STATE: {"mcpServers": {"my-s": npx(), "my_s": npx()}}}, False),
        ("codex", {CODEX: TWO_TOML}, True),
        ("codex", {CODEX: TWO_TOML + "enabled = false\n"}, False),
        ("codex", {CODEX: '[mcp_servers.my_t]\ncommand = "a"\n[mcp_servers.my_s]\ncommand = "b"\n'}, False),
        ("opencode", {OPENCODE: {"mcp": {"my.s": local(), "my s": local()}}}, True),
        ("opencode", {OPENCODE: {"mcp": {"my-s": local(), "my_s": local()}}}, False),
    ],
)  # fmt: skip
def test_tool_name_collision(host: str, files: Files, clash: bool) -> None:
    found = look(host, files)
    assert len(found.conflicts("tool-name-collision")) == clash
    if clash:
        second = list(found.survey.registrations)[1]
        finding = found.one("tool-name-collision")
        assert (finding.path, finding.line) == (second.path, second.line)
        assert set(finding.tiers) == {"off", "optional", "preferred", "forced"}


# ------------------------------------------------------------------ dead-switch


@pytest.mark.parametrize(
    ("host", "files", "place"),
    [
        ("claude", {STATE: {"mcpServers": {"t": {**NOTES, "disabled": True}}}}, ("user-state", STATE, '"disabled"')),
        ("claude", {STATE: {"mcpServers": {"t": {**NOTES, "enabled": False}}}}, ("user-state", STATE, '"enabled"')),
        ("claude", {STATE: {"projects": {"{project}": {"mcpServers": {"t": {**NOTES, "disabled": True}}}}}},
         ("local-state", STATE, '"disabled"')),
        ("claude", {"./.mcp.json": {"mcpServers": {"t": {**NOTES, "disabled": True}}}},
         ("project-mcp", "./.mcp.json", '"disabled"')),
        ("claude", {STATE: {"mcpServers": {"t": {**NOTES, "disabled": False}}}}, None),
        ("claude", {SETTINGS: {"mcpServers": {}}}, ("user-settings", SETTINGS, '"mcpServers"')),
        ("claude", {SETTINGS: {"disabledMcpServers": ["x"]}}, ("user-settings", SETTINGS, '"disabledMcpServers"')),
        ("claude", {SETTINGS: {"disallowedTools": ["WebSearch"]}}, ("user-settings", SETTINGS, '"disallowedTools"')),
        ("claude", {SETTINGS: {"disabledTools": []}}, ("user-settings", SETTINGS, '"disabledTools"')),
        ("claude", {SETTINGS: {"permissions": {"exclude": []}}}, ("user-settings", SETTINGS, '"exclude"')),
        ("claude", {SETTINGS: {"permissions": {"disallowedTools": []}}},
         ("user-settings", SETTINGS, '"disallowedTools"')),
        *(("claude", deny("Bash", rule), ("user-settings", SETTINGS, f'"{rule}"'))
          for rule in ("websearch", "web_fetch", "webFetch", "WebSearch()", "WebFetch()", "WebFetch(domain:*)", "web*",
                       "WebSearchTool", "tavily_search", "Websearch", "Web_Search", "WEBSEARCH", "mcp__t(*)",
                       "MCP__t")),
        *(("claude", deny(rule), None)
          for rule in ("WebSearch", "WebFetch(domain:example.com)", "Bash(curl:*)", "mcp__t", "mcp__t__*", "*", "rm",
                       "Web*")),
        ("codex", {CODEX: "[tools]\nweb_search = false\n"}, ("user", CODEX, "web_search")),
        ("codex", {CODEX: "[tools]\nweb_search = { allowed_domains = [] }\n"}, None),
        ("codex", {CODEX: "[features]\nweb_search_request = false\n"}, ("user", CODEX, "web_search_request")),
        ("codex", {CODEX: "[features]\nstandalone_web_search = false\n"}, ("user", CODEX, "standalone")),
        ("codex", {CODEX: '[mcp_servers.a]\ncommand = "x"\ndisabled = true\n'}, ("user", CODEX, "disabled")),
        ("codex", {CODEX: '[mcp_servers.a]\ncommand = "x"\nweb_search = "disabled"\n'}, ("user", CODEX, "web_search")),
        ("codex", {CODEX: '[tui]\nweb_search = "disabled"\n'}, ("user", CODEX, "web_search")),
        ("codex", {CODEX: 'web_search = "disabled"\n[tui]\n'}, None),
        ("codex", {CODEX: '[mcpServers.a]\ncommand = "x"\n'}, ("user", CODEX, "mcpServers")),
        ("opencode", {OPENCODE: {"mcpServers": {}}}, ("user", OPENCODE, '"mcpServers"')),
        ("opencode", {OPENCODE: {"mcp": {"a": local(env={"A": "b"})}}}, ("user", OPENCODE, '"env"')),
        ("opencode", {OPENCODE: {"mcp": {"a": local(environment={"A": "b"})}}}, None),
    ],
)  # fmt: skip
def test_dead_switch(host: str, files: Files, place: Any) -> None:
    found = look(host, files)
    assert found_at(found, "dead-switch") == (expected_at(found, place) if place else [])
    assert all(c.tiers["forced"] == "counts as not there" for c in found.conflicts("dead-switch"))


# ------------------------------------------------------------------ explicit-choice


@pytest.mark.parametrize(
    ("host", "files", "place"),
    [
        ("codex", {CODEX: '# x\nweb_search = "live"\n'}, ("user", CODEX, "web_search")),
        ("codex", {CODEX: 'web_search = "cached"\n'}, ("user", CODEX, "web_search")),
        ("codex", {CODEX: 'web_search = "disabled"\n'}, None),
        ("codex", {CODEX: TRUST, "./.codex/config.toml": 'web_search = "live"\n'},
         ("project", "./.codex/config.toml", "web_search")),
        ("codex", {"/etc/codex/config.toml": 'web_search = "live"\n'}, None),
        ("opencode", {OPENCODE: {"permission": {"*": "ask", "webfetch": "allow"}}}, ("user", OPENCODE, '"webfetch"')),
        ("opencode", {OPENCODE: {"permission": {"webfetch": "ask"}}}, ("user", OPENCODE, '"webfetch"')),
        ("opencode", {OPENCODE: {"permission": {"*": "allow"}}}, None),
        ("opencode", {OPENCODE: {"permission": {"webfetch": "deny"}}}, None),
        ("opencode", {OPENCODE: {"tools": {"webfetch": True}}}, ("user", OPENCODE, '"webfetch"')),
        ("claude", {SETTINGS: {"permissions": {"allow": ["WebFetch"]}}}, ("user-settings", SETTINGS, '"WebFetch"')),
        ("claude", {SETTINGS: {"permissions": {"allow": ["WebFetch"], "deny": ["WebFetch"]}}}, None),
        ("claude", {SETTINGS: {"env": {"CLAUDE_CODE_DISABLE_WEB_FETCH": "0"}}}, ("user-settings", SETTINGS, "FETCH")),
        ("claude", {SETTINGS: {"permissions": {"allow": ["Bash"]}}}, None),
    ],
)  # fmt: skip
def test_explicit_choice(host: str, files: Files, place: Any) -> None:
    found = look(host, files)
    assert found_at(found, "explicit-choice") == (expected_at(found, place) if place else [])
    for finding in found.conflicts("explicit-choice"):
        assert finding.tiers["optional"] == "stays"
        assert finding.tiers["forced"].startswith("overridden")


def test_a_choice_of_the_project_also_outranks_the_user() -> None:
    found = look("codex", {CODEX: TRUST, "./.codex/config.toml": 'web_search = "live"\n'})
    finding = found.one("outranked")
    assert finding.layer == "project"
    assert finding.tiers["forced"] == "refused at user scope"
    assert "refused at a weaker one" in found.one("explicit-choice").tiers["forced"]


# ------------------------------------------------------------------ not-trusted


def test_not_trusted_folder() -> None:
    found = look("codex", {CODEX: 'model = "x"\n', "./.codex/config.toml": 'model = "y"\n' + TAVILY_TOML})
    findings = found.conflicts("not-trusted")
    assert [(c.layer, c.path.rpartition("/")[2], c.line) for c in findings] == [
        ("project", "config.toml", 1),
        ("project", "config.toml", 2),
    ]
    assert "does not load the file" in findings[0].text
    assert findings[0].tiers["forced"].startswith("refused")
    assert "trust" in findings[0].fix


@pytest.mark.parametrize(
    ("user", "folder", "count"),
    [
        ("", "", 1),
        (TRUST, "", 0),
        (TRUST, "sub", 0),
        (TRUST.replace('"trusted"', '"untrusted"'), "", 1),
        (TRUST + TRUST.replace("{project}", "{project}/sub").replace('"trusted"', '"untrusted"'), "sub", 1),
        (TRUST.replace("{project}", "{project}/sub"), "sub", 1),
        (TRUST.replace("{project}", "{home}"), "", 1),
    ],
)
def test_codex_trust_of_a_folder(user: str, folder: str, count: int) -> None:
    """By its own entry, else by the root's; one above the root says nothing."""
    files = {CODEX: user, "./.codex/config.toml": 'model = "y"\n'}
    files |= {"./sub/.codex/config.toml": 'model = "z"\n'} if folder else {}
    assert len(look("codex", files, folder).conflicts("not-trusted")) == count


def test_codex_trust_in_a_managed_file_counts_and_in_the_projects_own_does_not() -> None:
    project = {"./.codex/config.toml": TRUST + 'web_search = "disabled"\n'.join(["", ""])}
    assert look("codex", project).conflicts("not-trusted")
    for path in ("/etc/codex/config.toml", "/etc/codex/managed_config.toml"):
        assert look("codex", {**project, path: TRUST}).conflicts("not-trusted") == []


def test_not_trusted_is_also_a_broken_project_file() -> None:
    found = look("codex", {"./.codex/config.toml": "[x\n"})
    assert found.one("not-trusted").layer == "project"
    assert "while the folder is not trusted" in found.one("broken-file").text


@pytest.mark.parametrize(("approved", "count"), [(False, 1), (True, 0)])
def test_claude_server_that_waits(approved: bool, count: int) -> None:
    files = {"./.mcp.json": {"mcpServers": {"t": TAVILY}}, SETTINGS: {"enableAllProjectMcpServers": approved}}
    found = look("claude", files)
    expected = expected_at(found, ("project-mcp", "./.mcp.json", '"t"')) if count else []
    assert found_at(found, "not-trusted") == expected
    assert all("approve" in c.fix and "rival" in c.tiers["forced"] for c in found.conflicts("not-trusted"))


def test_opencode_knows_no_trust() -> None:
    assert look("opencode", {"./opencode.json": {"mcp": {"t": local()}}}).conflicts("not-trusted") == []


# ------------------------------------------------------------------ unresolved-secret

REFERS: list[tuple[str, Any, dict[str, str], list[str]]] = [
    ("claude", state(t=KEY), {}, ["MY_KEY"]),
    ("claude", state(t=KEY), {"MY_KEY": "x"}, []),
    ("claude", {STATE: {"mcpServers": {"t": npx(env={"K": "${MY_KEY:-x}"})}}}, {}, []),
    ("claude", {STATE: {"mcpServers": {"t": npx(env={"K": "$MY_KEY"})}}}, {}, []),
    ("claude", {STATE: {"mcpServers": {"t": npx("a${B}c${D}")}}}, {}, ["B", "D"]),
    ("claude", {**state(t=KEY), SETTINGS: {"env": {"MY_KEY": "x"}}}, {}, []),
    ("claude", {**state(t=KEY), **DENIED}, {}, []),
    ("codex", {CODEX: '[mcp_servers.t]\ncommand = "x"\nenv_vars = ["A", { name = "B" }]\n'}, {"A": "1"}, ["B"]),
    ("codex", {CODEX: REMOTE_TOML}, {}, ["T", "V"]),
    ("codex", {CODEX: '[mcp_servers.t]\ncommand = "x"\nenv = { A = "${B}" }\n'}, {}, []),
    ("opencode", {OPENCODE: {"mcp": {"t": local(environment={"K": "{env:MY_KEY}"})}}}, {}, ["MY_KEY"]),
    ("opencode", {OPENCODE: {"mcp": {"t": local(environment={"K": "${MY_KEY}"})}}}, {}, []),
    ("opencode", {OPENCODE: {"mcp": {"t": local(environment={"K": "{env:MY_KEY}"})}}}, {"MY_KEY": "x"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("host", "files", "variables", "names"), REFERS)
def test_unresolved_secret(host: str, files: Any, variables: dict[str, str], names: list[str]) -> None:
    found = look(host, files, variables=variables)
    findings = found.conflicts("unresolved-secret")
    assert [c.fix.split("`")[1] for c in findings] == names
    entry = found.registration("t")
    assert all((c.layer, c.path, c.line) == (entry.layer, entry.path, entry.line) for c in findings)


def test_a_variable_that_only_a_weaker_layer_names_counts_where_entries_are_merged() -> None:
    weak, strong = '[mcp_servers.t]\ncommand = "x"\nenv_vars = ["A"]\n', '[mcp_servers.t]\ncommand = "y"\n'
    found = look("codex", {CODEX: TRUST + weak, "./.codex/config.toml": strong})
    assert found.one("unresolved-secret").layer == "project"


# ------------------------------------------------------------------ rules-steer-elsewhere


@pytest.mark.parametrize(
    ("host", "files", "name", "layer"),
    [
        ("claude", {STATE: {"mcpServers": {"tavily": TAVILY}}}, "~/.claude/CLAUDE.md", "user"),
        ("codex", {CODEX: TAVILY_TOML}, "./AGENTS.md", "project"),
        ("opencode", {OPENCODE: {"mcp": {"tavily": local("tavily-mcp")}}}, "./AGENTS.md", "project"),
    ],
)
def test_rules_steer_elsewhere(host: str, files: Any, name: str, layer: str) -> None:
    tool = "tavily_tavily_search" if host == "opencode" else "mcp__tavily__tavily_search"
    text = f"# Mine\n\n- For every web search use the tool `{tool}`. Never use any other.\n- Be brief.\n"
    found = look(host, {**files, name: text})
    finding = found.one("rules-steer-elsewhere")
    assert (finding.layer, finding.path, finding.line) == (layer, *found.line(name, "For every"))
    assert tool in finding.text
    assert finding.tiers["preferred"] == "stays; our block stands beside it"
    harmless = look(host, {**files, name: "# Mine\n\n- Be brief.\n"})
    assert harmless.conflicts("rules-steer-elsewhere") == []


def test_rules_that_are_not_loaded_steer_nobody() -> None:
    text = "Always use WebSearch for the web\n"
    assert look("claude", {"./AGENTS.md": text}).conflicts("rules-steer-elsewhere")
    assert look("claude", {"./AGENTS.md": text, "./CLAUDE.md": "x\n"}).conflicts("rules-steer-elsewhere") == []


def test_a_key_in_a_steering_line_is_masked() -> None:
    text = f"Always use WebSearch with api_key={CANARY} for the web\n"
    finding = look("claude", {"./CLAUDE.md": text}).one("rules-steer-elsewhere")
    assert finding.excerpt
    assert CANARY not in repr(finding)


# ------------------------------------------------------------------ broken-file

ONE_OF_EACH = [("claude", STATE), ("claude", SETTINGS), ("codex", CODEX), ("opencode", OPENCODE)]


@pytest.mark.parametrize(("host", "name"), ONE_OF_EACH)
@pytest.mark.parametrize("kind", ["folder", "special", "loop", "dangling", "unreadable"])
def test_broken_file_that_is_no_file(host: str, name: str, kind: str) -> None:
    found = look(host, {name: Kind(kind, "why it is so")})
    finding = found.conflicts("broken-file")[0]
    assert finding.path.endswith(name[1:])
    assert "why it is so" in finding.text
    assert finding.tiers["forced"].startswith("refused")
    assert "by hand" in finding.fix


BROKEN: list[tuple[str, str, Any, int, str]] = [
    ("claude", STATE, '{\n "a": 1,\n}\n', 2, "every command"),
    ("claude", SETTINGS, '{\n // mine\n "a": 1\n}\n', 2, "drops the whole file"),
    ("claude", SETTINGS, "[]\n", 1, "drops the whole file"),
    ("claude", SETTINGS, b'{\n "a": "\xff"\n}\n', 2, "drops the whole file"),
    ("claude", SETTINGS, '{\n "permissions": {\n  "deny": "WebSearch"\n }\n}\n', 3, "drops the whole file"),
    ("claude", SETTINGS, '{\n "model": 5\n}\n', 2, "drops the whole file"),
    ("claude", SETTINGS, '{\n "a": 1,\n "enabledPlugins": []\n}\n', 3, "drops the whole file"),
    ("claude", SETTINGS, '{\n "a": 1,\n "deniedMcpServers": "x"\n}\n', 3, "ignores this key"),
    ("claude", STATE, '{\n "a": 1,\n "mcpServers": []\n}\n', 3, "skips the servers"),
    ("claude", "./.mcp.json", '{\n "mcpServers": {}\n', 3, "skips the servers"),
    ("claude", STATE, '{\n "a": 1,\n "a": 2\n}\n', 3, "takes the last one"),
    ("codex", CODEX, 'a = 1\n[x\n', 2, "stops"),
    ("codex", CODEX, "a = 1\na = 2\n", 2, "stops"),
    ("codex", CODEX, 'a = 1\nweb_search = false\n', 2, "stops"),
    ("codex", CODEX, 'a = 1\nweb_search = "off"\n', 2, "stops"),
    ("codex", CODEX, 'a = 1\nprofile = "x"\n', 2, "stops"),
    ("codex", CODEX, "a = 1\nmcp_servers = []\n", 2, "stops"),
    ("codex", CODEX, 'a = 1\n[mcp_servers]\nx = "y"\n', 3, "stops"),
    ("codex", CODEX, '[features]\nx = "y"\n', 2, "stops"),
    ("codex", CODEX, '[projects."/p"]\ntrust_level = "yes"\n', 2, "stops"),
    ("codex", CODEX, b'a = "\xff"\n', 1, "stops"),
    ("opencode", OPENCODE, '{\n "a" 1\n}\n', 2, "stops"),
    ("opencode", OPENCODE, '{\n "a": 1,\n "permissions": []\n}\n', 3, "stops"),
    ("opencode", OPENCODE, '{\n "a": 1,\n "instructions": "x"\n}\n', 3, "stops"),
    ("opencode", OPENCODE, '{\n "mcp": []\n}\n', 2, "stops"),
    ("opencode", OPENCODE, '{\n "permission": {\n  "webfetch": "no"\n }\n}\n', 3, "stops"),
    ("opencode", OPENCODE, '{\n "permission": {\n  "webfetch": {"*": "deny"}\n }\n}\n', 3, "stops"),
    ("opencode", OPENCODE, '{\n "permission": 5\n}\n', 2, "stops"),
    ("opencode", OPENCODE, '{\n "a": 1,\n "a": 2\n}\n', 3, "takes the last one"),
    ("opencode", OPENCODE, "[]\n", 1, "stops"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "text", "line", "effect"), BROKEN)
def test_broken_file(host: str, name: str, text: Any, line: int, effect: str) -> None:
    finding = look(host, {name: text}).one("broken-file")
    assert finding.path.endswith(name[1:])
    assert (finding.line, effect in finding.text) == (line, True), finding.text
    assert set(finding.tiers) == {"off", "optional", "preferred", "forced"}


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("claude", STATE, b'\xef\xbb\xbf{"mcpServers": {}}'),
        ("claude", SETTINGS, b'\xef\xbb\xbf{"permissions": {"deny": ["WebSearch"]}}'),
        ("claude", SETTINGS, '{"unknown": {"x": []}, "model": "m"}'),
        ("claude", STATE, ""),
        ("codex", CODEX, b"\xef\xbb\xbfmodel = 'x'\r\n"),
        ("codex", CODEX, 'unknown = 1\n[also.unknown]\nx = "y"\n'),
        ("codex", CODEX, ""),
        ("opencode", OPENCODE, '// mine\n{ "a": [1,], /* x */ "permission": { "bash": { "*": "ask" }, }, }\n'),
        ("opencode", OPENCODE, ""),
    ],
)
def test_not_broken(host: str, name: str, text: Any) -> None:
    assert look(host, {name: text}).conflicts("broken-file") == []


def test_a_dropped_file_decides_nothing() -> None:
    settings = {"permissions": {"deny": ["WebSearch"]}, "cleanupPeriodDays": "x"}
    assert "WebSearch" in look("claude", {SETTINGS: settings}).all
    lenient = {"permissions": {"deny": ["WebSearch"]}, "deniedMcpServers": "x", "hooks": []}
    assert "WebSearch" not in look("claude", {SETTINGS: lenient}).all


def test_an_excerpt_shows_no_secret() -> None:
    broken = f'{{\n "env": {{ "K": "{CANARY}" "x" }}\n}}\n'
    finding = look("claude", {SETTINGS: broken}).one("broken-file")
    assert finding.excerpt
    assert CANARY not in repr(finding)
    finding = look("codex", {CODEX: f'[mcp_servers.a]\ncommand = "x"\nenv = {{ K = "{CANARY}" B = 1 }}\n'}).one(
        "broken-file"
    )
    assert CANARY not in repr(finding)
    wrong = look("codex", {CODEX: f'[mcp_servers.a]\ncommand = "x"\nbearer_token = "{CANARY}"\n'}).one("broken-file")
    assert CANARY not in repr(wrong)


# ------------------------------------------------------------------ on a real disk


def broken_on_disk(world: World, kind: str, path: Path) -> None:
    """Put something that is no file in the place of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case "dangling":
            path.symlink_to(world.home / "nowhere")
        case "not-utf8":
            path.write_bytes(b'{"a": "\xff"}')


@pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "dangling", "not-utf8"])
@pytest.mark.parametrize(
    ("host", "name"),
    [("claude", ".claude.json"), ("codex", ".codex/config.toml"), ("opencode", ".config/opencode/opencode.json")],
)
def test_on_the_disk(kind: str, host: str, name: str, tmp_path: Path) -> None:
    """Through the verbs: no hang, no failure, the file named and untouched."""
    world = make(tmp_path, {})
    path = world.home / name
    broken_on_disk(world, kind, path)
    before = sorted(p.name for p in path.parent.iterdir())
    result = workflow.conflicts(world.environment(), [host])
    assert result.exit_code == 0
    broken = [c for c in result.data["conflicts"] if c["kind"] == "broken-file"]
    assert {c["path"] for c in broken} == {str(path)}
    for verb in (
        workflow.status(world.environment(), [host]),
        workflow.explain(world.environment(), "web_search", [host]),
    ):
        assert verb.exit_code == 0
        assert json.dumps(verb.data)
    assert sorted(p.name for p in path.parent.iterdir()) == before


def test_every_kind_of_the_design_is_known() -> None:
    """None of these hosts has a switch that lasts for a session."""
    here = Path(__file__).read_text(encoding="utf-8")
    elsewhere = {"session-only"}
    assert {kind for kind in CONFLICT_KINDS if f'"{kind}"' not in here} <= elsewhere


# ------------------------------------------------------------------ what hostconf itself did, and another one of it


def wish(host: str, tier: str) -> Request:
    """The integration on one host."""
    return Request("deepseek-web-retrieval", (host,), tiers=((None, tier),), env=(("DEEPSEEK_API_KEY", None),))


INSTALLED = [
    ("claude", STATE, "user-state", '"npx"', '"deepseek"'),
    ("codex", CODEX, "user", '"npx"', "[mcp_servers.deepseek]"),
    ("opencode", "~/.config/opencode/opencode.jsonc", "user-jsonc", '"npx"', '"deepseek"'),
]


@pytest.mark.parametrize(("host", "name", "layer", "word", "line"), INSTALLED)
def test_drift_and_owned_by_another(host: str, name: str, layer: str, word: str, line: str, tmp_path: Path) -> None:
    world = make(tmp_path, {})
    path = world.home / name[2:]
    assert workflow.apply(world.environment(), wish(host, "optional"), yes=True).exit_code == 0
    text = path.read_text()
    place = (host, layer, str(path), text[: text.index(line)].count("\n") + 1)

    def kinds(**variables: str) -> dict[str, Any]:
        rows = workflow.conflicts(world.environment(**variables), [host]).data["conflicts"]
        return {c["kind"]: c for c in rows}

    assert not {"drift", "owned-by-another"} & set(kinds())
    owned = kinds(XDG_STATE_HOME=str(tmp_path / "elsewhere"))["owned-by-another"]
    assert (owned["host"], owned["layer"], owned["path"], owned["line"]) == place
    assert "refused" in owned["tiers"]["optional"]
    path.write_text(text.replace(word, '"bunx"'))
    drift = kinds()["drift"]
    assert (drift["host"], drift["layer"], drift["path"], drift["line"]) == place
    assert drift["tiers"]["forced"]


@pytest.mark.parametrize(
    ("host", "files", "kind", "place"),
    [
        ("claude", state(deepseek=NOTES), "name-taken", (STATE, '"deepseek"')),
        (
            "codex",
            {CODEX: '# x\n[mcp_servers.deepseek]\ncommand = "notes-mcp"\n'},
            "name-taken",
            (CODEX, "[mcp_servers"),
        ),
        ("opencode", {OPENCODE: {"mcp": {"deepseek": local("notes-mcp")}}}, "name-taken", (OPENCODE, '"deepseek"')),
        ("claude", state(other=NOTES), "name-taken", None),
        ("claude", {SETTINGS: {"permissions": {"deny": ["Bash"]}}}, "array-must-merge", (SETTINGS, '"deny"')),
        ("claude", {SETTINGS: {"permissions": {}}}, "array-must-merge", None),
    ],
)
def test_findings_of_a_plan(host: str, files: Any, kind: str, place: Any, tmp_path: Path) -> None:
    world = make(tmp_path, {name: text_of(value) for name, value in files.items()})
    plan = workflow.plan(world.environment(), wish(host, "forced"))
    found = [(c["path"], c["line"]) for c in plan.data["conflicts"] if c["kind"] == kind]
    expected = []
    if place:
        path = world.home / place[0][2:]
        text = path.read_text()
        expected = [(str(path), text[: text.index(place[1])].count("\n") + 1)]
    assert found == expected
    assert (plan.exit_code == 3) is (kind == "name-taken" and place is not None)
