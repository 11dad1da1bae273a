"""Somebody changed what hostconf wrote: seen, named, never overwritten unasked, never taken out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.formats import format_named
from tests.plan.fields import SCHEMA, world_of
from tests.plan.world import HOSTS, OURS, World, make, wish

CONFIG = {
    "claude": "~/.claude.json",
    "codex": "~/.codex/config.toml",
    "opencode": "~/.config/opencode/opencode.jsonc",
}
TABLE = {"claude": "mcpServers", "codex": "mcp_servers", "opencode": "mcp"}
FILES: dict[str, str | bytes] = {
    "~/.claude.json": '{"numStartups": 3, "mcpServers": {"notes": {"command": "notes-mcp"}}}\n',
    "~/.claude/settings.json": '{\n  "permissions": {\n    "deny": ["Bash(rm:*)", "Read(.env)"]\n  }\n}\n',
    "~/.codex/config.toml": '# mine\nweb_search = "cached"\n\n[mcp_servers.notes]\ncommand = "notes-mcp"\n',
    "~/.config/opencode/opencode.jsonc": "{\n  " + SCHEMA + ',\n  "mcp": { "notes": { "type": "local", '
    '"command": ["notes-mcp"] } }, // mine\n  "permission": { "bash": "ask" }\n}\n',
}


def document(world: World, name: str) -> Any:
    kind = "toml" if name.endswith(".toml") else "jsonc" if name.endswith("jsonc") else "json"
    return format_named(kind).parse(world.at(name).read_bytes())


def value(world: World, name: str) -> Any:
    return document(world, name).get(())


def kinds(world: World, host: str) -> list[str]:
    return [c["kind"] for c in workflow.conflicts(world.environment(), [host]).data["conflicts"]]


@pytest.mark.parametrize("host", HOSTS)
def test_a_changed_entry_stops_apply_and_stays_at_uninstall(host: str, tmp_path: Path) -> None:
    world, name = make(tmp_path, FILES), CONFIG[host]
    fresh = value(world, name)
    world.applied(wish(host, search="forced", fetch="forced"))
    assert "drift" not in kinds(world, host)
    world.edit(name, "deepseek-web-retrieval", "deepseek-web-retrieval@1.2.3")
    mine = value(world, name)[TABLE[host]]["deepseek"]

    assert "drift" in kinds(world, host)
    assert world.host(host)["installed"][0]["drift"][0]["line"] > 0
    for search in ("forced", "preferred", "off"):
        refused = world.refused(wish(host, search=search, fetch="forced"), "drift", "changed since", "--replace")
        assert all(e["line"] for e in refused.errors)

    result = world.uninstall(host)
    assert (result.exit_code, result.status) == (1, "partial")
    assert [(e["code"], e["path"]) for e in result.errors] == [("drift", str(world.at(name)))]
    assert "deepseek" in result.errors[0]["message"] and result.errors[0]["line"] > 0
    now = value(world, name)
    assert now[TABLE[host]].pop("deepseek") == mine, "what somebody changed is not ours to take out"
    assert now == fresh, "all the rest is back"
    assert world.host(host)["installed"] == []
    assert world.uninstall(host).exit_code == 0


@pytest.mark.parametrize("host", HOSTS)
def test_a_changed_entry_is_replaced_when_asked_and_comes_back(host: str, tmp_path: Path) -> None:
    world, name = make(tmp_path, FILES), CONFIG[host]
    world.applied(wish(host))
    world.edit(name, "deepseek-web-retrieval", "deepseek-web-retrieval@1.2.3")
    changed = world.read(name)
    planned = world.applied(wish(host, search="forced", fetch="forced", replace=True))
    assert any("put aside" in b for b in planned.data["blast_radius"])
    assert "@1.2.3" not in world.read(name)
    world.removed(host)
    assert world.read(name) == changed


@pytest.mark.parametrize("host", HOSTS)
def test_a_deleted_entry_is_written_anew_or_not_missed(host: str, tmp_path: Path) -> None:
    world, name = make(tmp_path, FILES), CONFIG[host]
    before = world.kept()
    world.applied(wish(host, search="forced", fetch="forced"))
    whole = world.read(name)
    world.write(name, document(world, name).delete((TABLE[host], "deepseek")).after.to_bytes())
    assert "drift" in kinds(world, host)
    world.applied(wish(host, search="forced", fetch="forced"))
    assert value(world, name)[TABLE[host]]["deepseek"]
    assert sorted(world.read(name)) == sorted(whole), "the same, perhaps at another place"
    world.write(name, document(world, name).delete((TABLE[host], "deepseek")).after.to_bytes())
    done = world.removed(host)
    assert any("gone already" in note for note in done.data["notes"])
    assert value(world, name) == json_or_toml(before, world, name)


def test_items_that_somebody_moved_are_found_again(tmp_path: Path) -> None:
    world = make(tmp_path, FILES)
    world.applied(wish("claude", search="forced", fetch="off"))
    settings = world.json("~/.claude/settings.json")
    settings["permissions"]["deny"].reverse()
    settings["permissions"]["deny"].insert(1, "Bash(curl:*)")
    world.write("~/.claude/settings.json", json.dumps(settings))
    assert "drift" not in kinds(world, "claude"), "the order of a list is nobody's business"
    assert world.plan(wish("claude", search="forced", fetch="off")).data["empty"]
    world.removed("claude")
    assert world.json("~/.claude/settings.json") == {
        "permissions": {"deny": ["Bash(curl:*)", "Read(.env)", "Bash(rm:*)"]}
    }


def test_items_that_somebody_took_out_are_written_anew(tmp_path: Path) -> None:
    world = make(tmp_path, FILES)
    before = world.kept()
    world.applied(wish("claude", search="forced", fetch="forced"))
    world.edit("~/.claude/settings.json", ', "WebSearch"', "")
    assert "drift" in kinds(world, "claude")
    assert "WebSearch" in world.tools("claude")
    world.applied(wish("claude", search="forced", fetch="forced"))
    assert world.tools("claude") == [OURS["claude"][0]]
    world.removed("claude")
    assert world.kept() == before


def test_an_item_that_the_user_has_too_stays_once(tmp_path: Path) -> None:
    """The user denied one of the two by hand: it is not recorded, and stays."""
    world = make(tmp_path, {"~/.claude/settings.json": '{"permissions": {"deny": ["WebSearch"]}}'})
    world.applied(wish("claude", search="forced", fetch="forced"))
    assert world.json("~/.claude/settings.json")["permissions"]["deny"] == ["WebSearch", "WebFetch"]
    world.removed("claude")
    assert world.read("~/.claude/settings.json") == '{"permissions": {"deny": ["WebSearch"]}}'


def test_a_list_that_became_something_else_is_left_and_named(tmp_path: Path) -> None:
    world = make(tmp_path, FILES)
    world.applied(wish("claude", search="forced", fetch="forced"))
    world.write("~/.claude/settings.json", '{"permissions": {"deny": "everything"}}')
    result = world.uninstall("claude")
    assert (result.exit_code, result.status) == (1, "partial")
    assert world.read("~/.claude/settings.json") == '{"permissions": {"deny": "everything"}}'
    assert "deepseek" not in world.read("~/.claude.json")


def test_a_switch_that_the_user_set_anew_is_his(tmp_path: Path) -> None:
    world = make(tmp_path, FILES)
    world.applied(wish("codex", search="forced", fetch="forced"))
    world.edit("~/.codex/config.toml", 'web_search = "disabled"', 'web_search = "live"')
    assert "drift" in kinds(world, "codex")
    # asked for again, it is overridden, and that is said; the latest choice of the user comes back
    planned = world.applied(wish("codex", search="forced", fetch="forced"))
    assert any("web_search = live" in b and "comes back" in b for b in planned.data["blast_radius"])
    world.removed("codex")
    assert world.read("~/.codex/config.toml") == str(FILES["~/.codex/config.toml"]).replace("cached", "live")


def test_a_switch_that_the_user_set_anew_stays_at_uninstall(tmp_path: Path) -> None:
    world = make(tmp_path, FILES)
    world.applied(wish("codex", search="forced", fetch="forced"))
    world.edit("~/.codex/config.toml", 'web_search = "disabled"', 'web_search = "live"')
    result = world.uninstall("codex")
    assert (result.exit_code, result.status) == (1, "partial")
    assert "web_search" in result.errors[0]["message"]
    assert world.read("~/.codex/config.toml") == str(FILES["~/.codex/config.toml"]).replace("cached", "live")


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_changed_block_stops_apply_and_stays_at_uninstall(host: str, scope: str, tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    world.applied(wish(host, search="preferred", fetch="preferred", scope=scope))
    rules = next(Path(r["path"]) for r in world.host(host)["rules"] if r["block"])
    rules.write_text(rules.read_text().replace("To search the web", "If you must search"))
    world.refused(wish(host, search="preferred", fetch="preferred", scope=scope), "drift", str(rules))
    told = world.applied(wish(host, scope=scope))
    assert any(str(rules) in note and "stays" in note for note in told.data["notes"])
    assert "If you must" in rules.read_text()
    world.removed(host)
    assert "If you must" in rules.read_text()


@pytest.mark.parametrize("host", HOSTS)
def test_text_around_our_block_is_the_users(host: str, tmp_path: Path) -> None:
    world = world_of("rules that hide one another", tmp_path)
    world.applied(wish(host, search="preferred", fetch="preferred"))
    rules = next(Path(r["path"]) for r in world.host(host)["rules"] if r["block"])
    old = rules.read_text().partition("<!-- hostconf")[0]
    rules.write_text("Above.\n" + rules.read_text() + "Below.\n")
    world.applied(wish(host, search="preferred", fetch="optional"))
    world.removed(host)
    assert rules.read_text().split() == ["Above.", *old.split(), "Below."]


# ------------------------------------------------------------------ the host wrote its file anew


def rewritten(world: World, name: str) -> None:
    """As a host does that writes its whole file: no comments, its own order and spelling, LF, no last newline."""
    whole = value(world, name)
    if name.endswith(".toml"):
        import tomlkit

        world.write(name, tomlkit.dumps(dict(sorted(whole.items(), key=lambda i: isinstance(i[1], dict)))).rstrip())
    else:
        world.write(name, json.dumps(dict(reversed(whole.items())), indent=2))


@pytest.mark.parametrize("tiers", [("forced", "forced"), ("preferred", "off"), ("off", "optional")])
@pytest.mark.parametrize("field", ["rival in user", "CRLF, tabs, BOM, no final newline"])
@pytest.mark.parametrize("host", HOSTS)
def test_after_a_rewrite_by_the_host_ours_still_goes(
    host: str, field: str, tiers: tuple[str, str], tmp_path: Path
) -> None:
    world = world_of(field, tmp_path)
    names = [n for n in ("~/.claude.json", "~/.claude/settings.json", *CONFIG.values()) if world.at(n).exists()]
    names += [n for n in ("~/.config/opencode/opencode.json",) if world.at(n).exists()]
    before = {n: value(world, n) for n in names}
    world.applied(wish(host, search=tiers[0], fetch=tiers[1]))
    made = [n for n in ("~/.claude/settings.json",) if n not in names and world.at(n).exists()]
    for name in (*names, *made):
        rewritten(world, name)
    assert "drift" not in kinds(world, host)
    assert world.plan(wish(host, search=tiers[0], fetch=tiers[1])).data["empty"]
    world.applied(wish(host, search="optional", fetch="preferred"))
    world.removed(host)
    assert {n: value(world, n) for n in names} == before
    assert not any(world.at(n).exists() for n in made)
    assert not list(world.home.rglob("*hostconf*"))


def test_the_schema_line_that_opencode_adds_stays(tmp_path: Path) -> None:
    name = "~/.config/opencode/opencode.json"
    world = make(tmp_path, {name: '{\n  "theme": "dark"\n}\n'})
    world.applied(wish("opencode", search="forced", fetch="forced"))
    world.edit(name, "{\n", '{\n  "$schema": "https://opencode.ai/config.json",\n') if world.read(name).count(
        "{\n"
    ) == 1 else world.write(name, world.read(name).replace("{\n", "{\n  " + SCHEMA + ",\n", 1))
    assert world.plan(wish("opencode", search="forced", fetch="forced")).data["empty"]
    world.removed("opencode")
    assert world.read(name) == "{\n  " + SCHEMA + ',\n  "theme": "dark"\n}\n'


def test_line_ends_that_codex_changes(tmp_path: Path) -> None:
    name = "~/.codex/config.toml"
    text = '# mine\r\nweb_search = "live" # yes\r\n\r\n[mcp_servers.notes]\r\ncommand = "notes-mcp"\r\n'
    world = make(tmp_path, {name: text})
    world.applied(wish("codex", search="forced", fetch="forced"))
    world.write(name, world.read(name).replace("\r\n", "\n"))
    world.removed("codex")
    assert world.read(name) == text.replace("\r\n", "\n")


# ------------------------------------------------------------------ files that went


@pytest.mark.parametrize("host", HOSTS)
def test_a_deleted_file_is_not_missed(host: str, tmp_path: Path) -> None:
    world, name = make(tmp_path, FILES), CONFIG[host]
    world.applied(wish(host, search="preferred", fetch="forced" if host != "codex" else "off"))
    world.at(name).unlink()
    assert "drift" in kinds(world, host)
    done = world.removed(host)
    assert any(str(world.at(name)) in note and "gone" in note for note in done.data["notes"])
    assert not world.at(name).exists()
    assert not [p for p in world.home.rglob("*") if "hostconf" in p.name]


@pytest.mark.parametrize("host", HOSTS)
def test_a_deleted_file_is_made_anew_by_apply(host: str, tmp_path: Path) -> None:
    world, name = make(tmp_path, FILES), CONFIG[host]
    world.applied(wish(host))
    world.at(name).unlink()
    world.applied(wish(host))
    world.removed(host)
    assert not world.at(name).exists(), "it was not there when hostconf came the second time"


def test_a_moved_folder_is_not_searched_for(tmp_path: Path) -> None:
    world = make(tmp_path, FILES)
    world.applied(wish("codex", search="forced", fetch="forced"))
    world.at("~/.codex").rename(world.at("~/cx"))
    text = world.read("~/cx/config.toml")
    done = world.removed("codex")
    assert any("gone" in note for note in done.data["notes"])
    assert world.read("~/cx/config.toml") == text


def json_or_toml(tree: dict[str, Any], world: World, name: str) -> Any:
    data = tree[str(world.at(name).relative_to(world.home.parent))][2]
    kind = "toml" if name.endswith(".toml") else "jsonc" if name.endswith("jsonc") else "json"
    return format_named(kind).parse(data).get(())
