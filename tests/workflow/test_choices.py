"""From words to choices: paths, packages, knobs, variables; and what of them stands in the hosts' files afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hostconf.errors import HostconfError, Refused, UsageError
from tests.plan.shell import run
from tests.plan.world import HOSTS, World, make, wish

TABLE = {"claude": "mcpServers", "codex": "mcp_servers", "opencode": "mcp"}
FILE = {"claude": "~/.claude.json", "codex": "~/.codex/config.toml", "opencode": "~/.config/opencode/opencode.jsonc"}
PROJECT = {
    "claude": "{project}/.mcp.json",
    "codex": "{project}/.codex/config.toml",
    "opencode": "{project}/opencode.json",
}


def entry(world: World, host: str, scope: str = "user") -> dict[str, Any]:
    name = (FILE if scope == "user" else PROJECT)[host]
    whole = world.toml(name) if name.endswith("toml") else world.json(name)
    found: dict[str, Any] = whole[TABLE[host]]["deepseek"]
    return found


def environment_of(world: World, host: str, scope: str = "user") -> dict[str, str]:
    found = entry(world, host, scope)
    return {**found.get("env", {}), **found.get("environment", {})}


def words(world: World, host: str) -> list[str]:
    found = entry(world, host)
    command = found["command"]
    return command if isinstance(command, list) else [command, *found["args"]]


def undone(world: World, before: object) -> None:
    world.removed()
    assert world.kept() == before


# ------------------------------------------------------------------ paths and packages


@pytest.mark.parametrize(("host", "path"), [("claude", "extension"), ("codex", "plugin"), ("opencode", "extension")])
def test_a_path_that_the_host_does_not_have(host: str, path: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=f"no path `{path}`") as failure:
        make(tmp_path).apply(wish(host, path=path))
    assert (failure.value.code, failure.value.exit_code) == ("no-path", 3)
    assert failure.value.hint == "it has mcp"


def test_a_path_that_is_not_written_on_this_version(tmp_path: Path) -> None:
    """The plugin is for OpenCode 2.x; 1.x takes another shape."""
    world = make(tmp_path)
    before = world.tree()
    with pytest.raises(Refused, match=r"cannot write the path `plugin` .* on OpenCode 1\.") as failure:
        world.apply(wish("opencode", path="plugin"))
    assert failure.value.hint == "it has mcp"
    assert world.tree() == before
    world.applied(wish("opencode", path="mcp"))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "package", ["deepseek-web-retrieval@1.2.3", "@me/fork", "./local dir", "git+https://h.example/r"]
)
def test_package_replaces_the_reference(host: str, package: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    world.applied(wish(host, search="forced", fetch="forced", package=package))
    assert words(world, host) == ["npx", "-y", package]
    assert world.host(host)["installed"][0]["package"] == package
    undone(world, before)


@pytest.mark.parametrize("package", ["-x", "--registry=http://h.example", "a\nb", "a\x1b[31m"])
def test_what_is_no_reference(package: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--package"):
        make(tmp_path).plan(wish("codex", package=package))


def npm(place: Path, version: str) -> str:
    """A registry that knows this version; gives a PATH."""
    place.mkdir(exist_ok=True)
    (place / "npm").write_text(f"#!/bin/sh\necho {version}\n")
    (place / "npm").chmod(0o755)
    return f"{place}:/bin"


@pytest.mark.parametrize("host", HOSTS)
def test_pin_names_the_version_and_apply_again_moves_it(host: str, tmp_path: Path) -> None:
    world = make(tmp_path / "w")
    before = world.kept()
    for version in ("1.2.3", "1.3.0-rc.1"):
        path = npm(tmp_path / "bin", version)
        world.applied(wish(host, pin=True), PATH=path)
        assert words(world, host) == ["npx", "-y", f"deepseek-web-retrieval@{version}"]
    world.applied(wish(host))
    assert words(world, host)[-1] == "deepseek-web-retrieval", "unpinned again"
    undone(world, before)


def test_pin_without_a_registry(tmp_path: Path) -> None:
    world = make(tmp_path / "w")
    before = world.tree()
    with pytest.raises(Refused) as failure:
        world.apply(wish("codex", pin=True), PATH=npm(tmp_path / "bin", "no version at all"))
    assert failure.value.code == "no-version"
    assert world.tree() == before


def test_what_can_only_be_recognised(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="only to be recognised"):
        make(tmp_path).plan(wish("codex", integration="tavily"))
    with pytest.raises(UsageError, match="the nearest is `deepseek-web-retrieval`"):
        make(tmp_path / "b").plan(wish("codex", integration="deepseek-web"))


# ------------------------------------------------------------------ knobs


@pytest.mark.parametrize("host", HOSTS)
def test_knobs_become_variables(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    settings = (("searchTimeoutMs", "5000"), ("count", "3"), ("searchContentMaxChars", "0"), ("count", "4"))
    world.applied(wish(host, settings=settings))
    found = environment_of(world, host)
    assert found.items() >= {
        ("DEEPSEEK_SEARCH_TIMEOUT_MS", "5000"),
        ("DEEPSEEK_COUNT", "4"),
        ("DEEPSEEK_SEARCH_CONTENT_MAX_CHARS", "0"),
    }
    assert world.host(host)["installed"][0]["knobs"]["count"] == "4"
    world.applied(wish(host))
    assert "DEEPSEEK_COUNT" not in environment_of(world, host), "not wished any more"
    undone(world, before)


@pytest.mark.parametrize(
    ("knob", "value", "said"),
    [
        ("count", "0", "below 1"),
        ("count", "101", "above 100"),
        ("count", "many", "number"),
        ("count", "-3", "below 1"),
        ("searchTimeoutMs", "600001", "above"),
        ("counts", "3", "the nearest is `count`"),
        ("DEEPSEEK_COUNT", "3", "no knob"),
    ],
)
def test_knobs_are_checked(knob: str, value: str, said: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.tree()
    with pytest.raises(UsageError, match=said) as failure:
        world.apply(wish("codex", settings=((knob, value),)))
    assert failure.value.exit_code == 2 and failure.value.hint
    assert world.tree() == before


# ------------------------------------------------------------------ variables


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_name_is_the_hosts_own_reference(scope: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    request = wish(*HOSTS, scope=scope, env=(("DEEPSEEK_API_KEY", None), ("OTHER", None), ("OTHER", None)))
    world.applied(request)
    assert environment_of(world, "claude", scope) == {
        "DEEPSEEK_API_KEY": "${DEEPSEEK_API_KEY}",
        "OTHER": "${OTHER}",
    }
    assert environment_of(world, "opencode", scope) == {
        "DEEPSEEK_API_KEY": "{env:DEEPSEEK_API_KEY}",
        "OTHER": "{env:OTHER}",
    }
    assert entry(world, "codex", scope)["env_vars"] == ["DEEPSEEK_API_KEY", "OTHER"]
    undone(world, before)


@pytest.mark.parametrize("host", HOSTS)
def test_a_literal_value(host: str, tmp_path: Path) -> None:
    value = "CANARY-1a2b-SECRET"
    world = make(tmp_path)
    before = world.kept()
    result = world.applied(wish(host, env=(("A", "1"), ("A", None), ("DEEPSEEK_API_KEY", value))))
    assert environment_of(world, host) == {"A": "1", "DEEPSEEK_API_KEY": value}, "a value outranks the bare name"
    assert "env_vars" not in entry(world, host)
    assert value not in json.dumps(result.data)
    assert world.at(FILE[host]).stat().st_mode & 0o777 == 0o600
    undone(world, before)


@pytest.mark.parametrize("host", HOSTS)
def test_a_literal_value_in_a_project_has_to_be_asked_for(host: str, tmp_path: Path) -> None:
    value = "CANARY-1a2c-SECRET"
    world = make(tmp_path)
    before = world.tree()
    request = wish(host, scope="project", env=(("DEEPSEEK_API_KEY", value),))
    with pytest.raises(Refused) as failure:
        world.apply(request)
    assert (failure.value.code, failure.value.exit_code) == ("literal-secret", 3)
    assert "--literal" in failure.value.hint and "`--env DEEPSEEK_API_KEY`" in failure.value.hint
    assert value not in str(failure.value) + failure.value.hint
    assert world.tree() == before
    kept = world.kept()
    world.applied(request._replace(literal=True))
    assert environment_of(world, host, "project")["DEEPSEEK_API_KEY"] == value
    undone(world, kept)


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A\n", "Ä B"])
def test_what_is_no_name_of_a_variable(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--env") as failure:
        make(tmp_path).plan(wish("codex", env=((name, "CANARY-9999-SECRET"),)))
    assert "CANARY" not in str(failure.value) + failure.value.hint


@pytest.mark.parametrize(
    "value", ["", " ", "a\nb", '"', "'", "\\", "${X}", "{env:X}", "é\u202e", "=", "\x7f", "#", "]]"]
)
@pytest.mark.parametrize("host", HOSTS)
def test_any_value_arrives_as_it_is(host: str, value: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    world.applied(wish(host, env=(("V", value),)))
    assert environment_of(world, host)["V"] == value
    undone(world, before)


# ------------------------------------------------------------------ tiers


@pytest.mark.parametrize(
    ("tiers", "right"),
    [
        ((), ("optional", "optional")),
        (((None, "preferred"),), ("preferred", "preferred")),
        ((("web_fetch", "off"), (None, "preferred")), ("preferred", "off")),
        (((None, "off"), ("web_search", "forced")), ("forced", "off")),
        ((("web_search", "off"), ("web_search", "preferred")), ("preferred", "optional")),
    ],
)
def test_tiers_in_any_order(tiers: Any, right: tuple[str, str], tmp_path: Path) -> None:
    world = make(tmp_path)
    planned = world.plan(wish("codex")._replace(tiers=tiers))
    assert tuple(s["tier"] for s in planned.data["surface"]) == right


@pytest.mark.parametrize("tiers", [((None, "force"),), (("web_serch", "off"),), (("", "off"),)])
def test_what_is_no_tier(tiers: Any, tmp_path: Path) -> None:
    with pytest.raises(HostconfError) as failure:
        make(tmp_path).plan(wish("codex")._replace(tiers=tiers))
    assert failure.value.exit_code == 2


@pytest.mark.parametrize("host", HOSTS)
def test_off_of_one_capability_leaves_the_other(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    world.applied(wish(host, search="off", fetch="optional"))
    assert [t for t in world.tools(host) if "deepseek" in t] == []
    assert [t for t in world.tools(host, "web_fetch") if "deepseek" in t]
    undone(world, before)


# ------------------------------------------------------------------ as a person calls it


def test_the_whole_way_by_the_command_line(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.codex/config.toml": "# mine\n"})
    before = world.kept()
    line = [
        "deepseek-web-retrieval",
        "--host",
        "codex",
        "--tier",
        "forced",
        "--set",
        "count=3",
        "--env",
        "K=v",
        "--json",
    ]
    assert run(world, "plan", *line, "--exit-code").code == 6
    assert world.kept() == before
    no = run(world, "apply", *line)
    assert no.code == 2 and no.envelope()["errors"][0]["code"] == "usage"
    assert world.kept() == before
    done = run(world, "apply", *line, "--yes")
    assert done.code == 0 and done.envelope()["data"]["applied"] is True
    again = run(world, "apply", *line, "--yes")
    assert again.code == 0 and again.envelope()["data"]["applied"] is False
    assert run(world, "plan", *line, "--exit-code").code == 0
    assert run(world, "uninstall", "--json").code == 2
    gone = run(world, "uninstall", "--yes", "--json").envelope()
    assert [r["integration"] for r in gone["data"]["removed"]] == ["deepseek-web-retrieval"]
    assert world.kept() == before
    nothing = run(world, "uninstall", "--yes", "--json")
    assert nothing.code == 0 and nothing.envelope()["messages"] == ["nothing of hostconf is installed there"]
