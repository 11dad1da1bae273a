"""A value of a wrong type at every place that hostconf writes or reads: refused with the place, or edited around."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.judge import BASE, PLACES, delivered, in_time, refused, words
from tests.plan.world import make

BY_NAME = {(p.host, p.name): p for p in PLACES}
WRONG = ("broken-file", "wrong-type", "name-taken", "outranked", "edit-refused")

IN_THE_WAY: list[tuple[str, str, str]] = [
    *[("claude", "~/.claude.json", text) for text in ("[]", "[1, 2]", "3", '"x"', "null", "true")],
    *[("claude", "~/.claude.json", f'{{"a": 1,\n "mcpServers": {v}}}') for v in ("[]", "3", '"x"', "null", "true")],
    *[("claude", "~/.claude/settings.json", text) for text in ("[]", "0", '"x"', "null")],
    *[("claude", "~/.claude/settings.json", f'{{"permissions":\n {v}}}') for v in ("[]", "3", '"x"', "null")],
    *[
        ("claude", "~/.claude/settings.json", f'{{"permissions": {{"deny":\n {v}}}}}')
        for v in ("{}", "3", '"WebSearch"')
    ],
    ("claude", "~/.claude/settings.json", '{"permissions": {"allow":\n "x"}}'),
    *[("claude", "{project}/.mcp.json", text) for text in ("[]", "1", '{"mcpServers":\n []}', '{"mcpServers": "x"}')],
    *[("claude", "{project}/.claude/settings.json", f'{{"permissions": {v}}}') for v in ("[]", '{"deny": {}}')],
    *[("codex", "~/.codex/config.toml", f"a = 1\nmcp_servers = {v}\n") for v in ("[]", "3", '"x"', "true")],
    ("codex", "~/.codex/config.toml", "[[mcp_servers]]\ncommand = 'x'\n"),
    *[("codex", "~/.codex/config.toml", f"a = 1\nweb_search = {v}\n") for v in ("false", "3", "[]", "{}")],
    ("codex", "{project}/.codex/config.toml", "mcp_servers = [1]\n"),
    *[("opencode", "~/.config/opencode/opencode.json", text) for text in ("[]", "7", '"x"', "// no\n[1]")],
    *[("opencode", "~/.config/opencode/opencode.json", f'{{"mcp":\n {v}}}') for v in ("[]", "3", '"x"')],
    *[("opencode", "~/.config/opencode/opencode.json", f'{{"permission":\n {v}}}') for v in ("[]", "3", "true")],
    *[("opencode", "~/.config/opencode/opencode.jsonc", f'{{"instructions":\n {v}}}') for v in ('"x"', "3", "{}")],
    ("opencode", "{project}/opencode.json", '{ "permission": [ "deny" ] }'),
]


@pytest.mark.parametrize(("host", "name", "text"), IN_THE_WAY)
def test_a_wrong_type_in_the_way(host: str, name: str, text: str, tmp_path: Path) -> None:
    world = make(tmp_path, {**BASE, name: text})
    refused(world, BY_NAME[host, name], codes=WRONG, line=True, told=False)


@pytest.mark.parametrize("tier", ["optional", "preferred", "off"])
def test_a_file_that_the_host_does_not_take_is_no_place_for_any_tier(tier: str, tmp_path: Path) -> None:
    """It can be read and edited, and the host would still not start: nothing is written, whatever is wished."""
    world = make(tmp_path, {"~/.codex/config.toml": "tools = true\n"})
    line = ["deepseek-web-retrieval", "--host", "codex", "--tier", f"web_search={tier}", "--json"]
    ran = in_time(world, "plan", *line)
    assert ran.code == 3
    assert {(e["code"], e["line"]) for e in ran.envelope()["errors"]} == {("broken-file", 1)}


# Our own entry is something that is no table: somebody else's, whatever it means.
OURS: list[tuple[str, str, str]] = [
    *[("claude", "~/.claude.json", f'{{"mcpServers": {{"deepseek":\n {v}}}}}') for v in ("[]", "3", "null", '"x"')],
    *[("codex", "~/.codex/config.toml", f"[mcp_servers]\ndeepseek = {v}\n") for v in ("[]", "3", '"x"')],
    *[
        ("opencode", "~/.config/opencode/opencode.json", f'{{"mcp": {{"deepseek":\n {v}}}}}')
        for v in ("[]", "3", '"x"')
    ],
]


@pytest.mark.parametrize(("host", "name", "text"), OURS)
def test_an_entry_of_our_name_that_is_no_entry(host: str, name: str, text: str, tmp_path: Path) -> None:
    world = make(tmp_path, {**BASE, name: text})
    refused(world, BY_NAME[host, name], codes=WRONG, line=False, told=False)


# Odd, but not in the way: the host skips it or does not care.
BESIDE: list[tuple[str, str, str]] = [
    *[("claude", "~/.claude.json", f'{{"projects": {v}, "mcpServers": {{}}}}') for v in ("[]", '{"x": 3}', '"x"')],
    ("claude", "~/.claude.json", '{"mcpServers": {"odd": 3, "odder": [], "oddest": {"command": 7, "args": "x"}}}'),
    ("claude", "~/.claude.json", '{"mcpServers": {"odd": {"command": "x", "args": [1, null, {}], "env": []}}}'),
    ("claude", "~/.claude/settings.json", '{"deny": ["WebSearch"], "permissions": {"deny": [1, null, {"a": 2}]}}'),
]


@pytest.mark.parametrize(("host", "name", "text"), BESIDE)
def test_an_odd_value_beside_is_edited_around(host: str, name: str, text: str, tmp_path: Path) -> None:
    world = make(tmp_path, {**BASE, name: text})
    delivered(world, BY_NAME[host, name])


# The host does not start with these: whether to write is the survey's word, but nothing may fail.
JUNK = ("null", "true", "3", "1.5", '"x"', "[]", "[[]]", "{}", '{"a": {"b": []}}', '[{"a": 1}]')
SPOTS = {
    ("claude", "~/.claude.json"): [
        '{{"projects": {{"{project}": {}}}}}',
        '{{"projects": {{"{project}": {{"mcpServers": {}, "disabledMcpServers": {}}}}}}}',
        '{{"mcpServers": {{"x": {{"command": {}}}}}}}',
        '{{"mcpServers": {{"x": {{"command": "x", "env": {}}}}}}}',
        '{{"mcpServers": {{"x": {{"type": {}, "url": {}}}}}}}',
    ],
    ("claude", "~/.claude/settings.json"): [
        '{{"deniedMcpServers": {}}}',
        '{{"allowedMcpServers": {}}}',
        '{{"claudeMdExcludes": {}, "env": {}}}',
        '{{"enabledMcpjsonServers": {}, "enableAllProjectMcpServers": {}}}',
        '{{"enabledPlugins": {}, "extraKnownMarketplaces": {}}}',
        '{{"permissions": {{"deny": {}}}}}',
    ],
    ("opencode", "~/.config/opencode/opencode.json"): [
        '{{"permission": {{"webfetch": {}}}}}',
        '{{"permission": {{"*": {}}}}}',
        '{{"tools": {}}}',
        '{{"tools": {{"webfetch": {}}}}}',
        '{{"agent": {}}}',
        '{{"agent": {{"build": {{"permission": {}}}}}}}',
        '{{"mcp": {{"x": {{"type": "local", "command": {}}}}}}}',
        '{{"mcp": {{"x": {{"type": {}, "url": {}, "enabled": {}}}}}}}',
        '{{"instructions": [{}], "plugin": {}}}',
        '{{"permissions": {}}}',
    ],
}
TOML_JUNK = ("true", "3", "1.5", '"x"', "[]", "{}", "[{a = 1}]", "1979-05-27")
TOML_SPOTS = [
    "projects = {}\n",
    '[projects]\n"{project}" = {}\n',
    '[projects."{project}"]\ntrust_level = {}\n',
    "[mcp_servers.x]\ncommand = {}\n",
    '[mcp_servers.x]\ncommand = "tavily-mcp"\nargs = {}\n',
    '[mcp_servers.x]\ncommand = "tavily-mcp"\nenabled = {}\n',
    '[mcp_servers.x]\ncommand = "tavily-mcp"\nenv_vars = {}\n',
    '[mcp_servers.x]\ncommand = "tavily-mcp"\ndisabled_tools = {}\nenabled_tools = {}\n',
    "tools = {}\n",
    "features = {}\n",
    "plugins = {}\nmarketplaces = {}\n",
]


def spots() -> list[tuple[str, str, str]]:
    rows = []
    for (host, name), texts in SPOTS.items():
        rows += [(host, name, t) for t in texts]
    return rows + [("codex", "~/.codex/config.toml", t) for t in TOML_SPOTS]


@pytest.mark.parametrize(("host", "name", "spot"), spots())
def test_anything_anywhere_is_refused_or_delivered(host: str, name: str, spot: str, tmp_path: Path) -> None:
    place = BY_NAME[host, name]
    for number, junk in enumerate(TOML_JUNK if host == "codex" else JUNK):
        text = spot.replace("{{", "{").replace("}}", "}") if host != "codex" else spot
        text = text.replace("{project}", "@project@").replace("{}", junk).replace("@project@", "{project}")
        world = make(tmp_path / str(number), {**BASE, name: text})
        assert in_time(world, "conflicts", host, "--json").code == 0
        before = world.kept()
        ran = in_time(world, "apply", *words(place), "--yes")
        assert ran.code in (0, 3), (text, ran.envelope())
        if ran.code == 3:
            assert all(e["message"] and e["path"] for e in ran.envelope()["errors"]), text
        else:
            assert in_time(world, "uninstall", "--host", host, "--yes", "--json").code == 0, text
        assert world.kept() == before, text
