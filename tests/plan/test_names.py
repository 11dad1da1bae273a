"""Our name on the field already: somebody else's, our own by hand, in another layer, of another installation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.plan.world import World, make, wish

SECRET = "CANARY-5e01-SECRET"

# The user's own server under our name, in the file that hostconf would write; with comments, odd spacing, a secret.
TAKEN: dict[str, tuple[str, str]] = {
    "claude": (
        "~/.claude.json",
        '{\n    "mcpServers": {\n        "notes" : {"command": "notes-mcp"},\n        "deepseek" : '
        '{ "type": "http",\n'
        '            "url": "https://chat.example/mcp", "headers": '
        f'{{"Authorization": "Bearer {SECRET}"}} }}\n    }}\n}}',
    ),
    "codex": (
        "~/.codex/config.toml",
        "[mcp_servers.notes]\r\ncommand = 'notes-mcp'\r\n\r\n# mine\r\n"
        '[mcp_servers."deepseek"] # my own wrapper\r\n'
        "command = 'my-deepseek'\r\nargs = [ '--mine', ]\r\n"
        f"env = {{ KEY = '{SECRET}' }} # secret\r\n\r\n[tui]\r\nx = 1\r\n",
    ),
    "opencode": (
        "~/.config/opencode/opencode.jsonc",
        '{\n  "mcp": {\n    // mine\n    "deepseek": { "type": "local", "command": ["my-deepseek"], /* so */\n'
        f'      "environment": {{ "KEY": "{SECRET}" }}, }},\n  }},\n}}\n',
    ),
}
TIERS = [("optional", "optional"), ("preferred", "off"), ("forced", "forced")]


def taken(host: str, tmp_path: Path, **files: str) -> tuple[World, str]:
    name, text = TAKEN[host]
    return make(tmp_path, {name: text, **files}), name


@pytest.mark.parametrize("host", TAKEN)
@pytest.mark.parametrize(("search", "fetch"), TIERS)
def test_an_entry_of_our_name_is_never_overwritten_unasked(host: str, search: str, fetch: str, tmp_path: Path) -> None:
    world, name = taken(host, tmp_path)
    result = world.refused(wish(host, search=search, fetch=fetch), "name-taken", "--replace", str(world.at(name)))
    assert all(e["line"] for e in result.errors)
    kinds = [c["kind"] for c in result.data["conflicts"]]
    assert "name-taken" in kinds
    assert SECRET not in json.dumps(result.data)


@pytest.mark.parametrize("host", TAKEN)
@pytest.mark.parametrize(("search", "fetch"), TIERS)
def test_a_replaced_entry_comes_back_to_the_byte(host: str, search: str, fetch: str, tmp_path: Path) -> None:
    world, name = taken(host, tmp_path)
    before = world.kept()
    request = wish(host, search=search, fetch=fetch, replace=True)
    planned = world.plan(request)
    aside = [b for b in planned.data["blast_radius"] if "comes back at uninstall" in b and "deepseek" in b]
    assert len(aside) == 1, planned.data["blast_radius"]
    assert SECRET not in json.dumps(planned.data)
    world.applied(request)
    assert_secret_only_in_vaults(world)
    # a second apply, of another tier, keeps the first snapshot
    world.applied(wish(host, search="optional", fetch="optional", replace=True))
    assert_secret_only_in_vaults(world)
    world.removed(host)
    assert world.kept() == before
    assert SECRET in world.read(name)


@pytest.mark.parametrize("host", TAKEN)
def test_apply_again_needs_no_replace(host: str, tmp_path: Path) -> None:
    world, _ = taken(host, tmp_path)
    before = world.kept()
    world.applied(wish(host, replace=True))
    world.applied(wish(host, search="forced", fetch="forced"))
    assert_secret_only_in_vaults(world)
    world.removed(host)
    assert world.kept() == before


@pytest.mark.parametrize("host", TAKEN)
def test_a_replaced_entry_comes_back_though_others_changed_the_file(host: str, tmp_path: Path) -> None:
    world, name = taken(host, tmp_path)
    value = reading(world, name)
    world.applied(wish(host, search="forced", fetch="forced", replace=True))
    world.write(
        name, world.read(name).replace("notes-mcp", "notes-mcp2").replace("my own", "mine own").encode() + b"\n"
    )
    world.removed(host)
    now = reading(world, name)
    key = {"claude": "mcpServers", "codex": "mcp_servers", "opencode": "mcp"}[host]
    assert now[key]["deepseek"] == value[key]["deepseek"]
    assert SECRET in world.read(name)
    assert_secret_only_in(world, name)


@pytest.mark.parametrize("host", TAKEN)
def test_a_replaced_entry_comes_back_though_ours_was_deleted(host: str, tmp_path: Path) -> None:
    world, name = taken(host, tmp_path)
    key = {"claude": "mcpServers", "codex": "mcp_servers", "opencode": "mcp"}[host]
    mine = reading(world, name)[key]["deepseek"]
    world.applied(wish(host, replace=True))
    drop_entry(world, host, name)
    world.removed(host)
    assert reading(world, name)[key]["deepseek"] == mine
    assert_secret_only_in(world, name)


@pytest.mark.parametrize("host", TAKEN)
def test_a_replaced_entry_is_not_lost_where_ours_was_changed(host: str, tmp_path: Path) -> None:
    """Ours stays, for it was changed; the user's own is then still in the vault, and said to be."""
    world, name = taken(host, tmp_path)
    key = {"claude": "mcpServers", "codex": "mcp_servers", "opencode": "mcp"}[host]
    mine = reading(world, name)[key]["deepseek"]
    world.applied(wish(host, replace=True))
    world.edit(name, "deepseek-web-retrieval", "deepseek-web-retrieval@9")
    result = world.uninstall(host)
    assert (result.exit_code, result.status) == (1, "partial")
    assert_secret_only_in_vaults(world)
    assert any(".vault" in e["message"] + e["hint"] for e in result.errors), result.errors
    again = world.uninstall(host)
    assert again.exit_code == 1, "it is still there"
    drop_entry(world, host, name)
    world.removed(host)
    assert reading(world, name)[key]["deepseek"] == mine
    assert_secret_only_in(world, name)


def test_the_vault_is_for_the_user_alone(tmp_path: Path) -> None:
    world, _ = taken("codex", tmp_path)
    os.umask(0)
    try:
        world.applied(wish("codex", replace=True))
    finally:
        os.umask(0o022)
    state = world.home / ".local/state/hostconf"
    for path in (state, *state.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


# ------------------------------------------------------------------ the same by hand


BY_HAND = {
    "claude": (
        "~/.claude.json",
        '{ "mcpServers": { "deepseek": { "env": {"DEEPSEEK_API_KEY": "${DEEPSEEK_API_KEY}"}, "type": "stdio", '
        '"command": "npx", "args": ["-y", "deepseek-web-retrieval"] } } }',
    ),
    "codex": (
        "~/.codex/config.toml",
        'mcp_servers.deepseek = { command = "npx", args = ["-y", "deepseek-web-retrieval"], '
        'env_vars = ["DEEPSEEK_API_KEY"] } # by hand\n',
    ),
    "opencode": (
        "~/.config/opencode/opencode.json",
        '{ "mcp": { "deepseek": { "command": ["npx", "-y", "deepseek-web-retrieval"], "type": "local", '
        '"environment": { "DEEPSEEK_API_KEY": "{env:DEEPSEEK_API_KEY}" } } } }',
    ),
}


@pytest.mark.parametrize("host", BY_HAND)
def test_the_same_entry_by_hand_is_kept_and_not_recorded(host: str, tmp_path: Path) -> None:
    name, text = BY_HAND[host]
    world = make(tmp_path, {name: text})
    before = world.tree()
    result = world.applied(wish(host))
    assert result.data["empty"] and world.tree() == before
    assert any("by hand" in note for note in result.data["notes"])
    assert world.removed(host).data["removed"] == []
    assert world.tree() == before


@pytest.mark.parametrize("host", BY_HAND)
def test_the_same_entry_by_hand_stays_when_the_rest_goes(host: str, tmp_path: Path) -> None:
    name, text = BY_HAND[host]
    world = make(tmp_path, {name: text})
    before = world.kept()
    world.applied(wish(host, search="forced", fetch="forced"))
    assert world.kept() != before
    assert len(world.host(host)["installed"]) == 1
    world.removed(host)
    assert world.kept() == before


# ------------------------------------------------------------------ the same name in another layer

LAYERS: dict[str, tuple[str, str, dict[str, str]]] = {
    "codex, ours for the user": (
        "codex",
        "user",
        {
            "{project}/.codex/config.toml": '[mcp_servers.deepseek]\nurl = "https://other.example/mcp"\n',
            "~/.codex/config.toml": '[projects."{project}"]\ntrust_level = "trusted"\n',
        },
    ),
    "codex, ours for the project": (
        "codex",
        "project",
        {
            "~/.codex/config.toml": '[mcp_servers.deepseek]\ncommand = "mine"\n'
            '[projects."{project}"]\ntrust_level = "trusted"\n'
        },
    ),
    "opencode, ours for the user": (
        "opencode",
        "user",
        {"{project}/opencode.json": '{"mcp": {"deepseek": {"type": "remote", "url": "https://other.example"}}}'},
    ),
    "opencode, two files of the user": (
        "opencode",
        "user",
        {
            "~/.config/opencode/opencode.jsonc": '{"mcp": {}}',
            "~/.config/opencode/config.json": '{"mcp": {"deepseek": {"type": "local", "command": ["mine"]}}}',
        },
    ),
    "opencode, ours for the project": (
        "opencode",
        "project",
        {"~/.config/opencode/opencode.json": '{"mcp": {"deepseek": {"type": "local", "command": ["mine"]}}}'},
    ),
}


@pytest.mark.parametrize("case", LAYERS)
@pytest.mark.parametrize("replace", [False, True])
def test_an_entry_that_the_host_would_merge_into_ours_is_refused(case: str, replace: bool, tmp_path: Path) -> None:
    host, scope, files = LAYERS[case]
    world = make(tmp_path, files)
    foreign = next(str(world.at(n)) for n, text in files.items() if "deepseek" in text)
    world.refused(wish(host, scope=scope, replace=replace), "name-taken", foreign, "merge")


def test_a_lone_switch_of_our_name_in_another_layer_is_named(tmp_path: Path) -> None:
    world = make(tmp_path, {"{project}/opencode.json": '{"mcp": {"deepseek": {"enabled": false}}}'})
    world.refused(wish("opencode"), str(world.at("{project}/opencode.json")), "outranked")


def test_a_hidden_entry_is_refused_and_named_on_claude(tmp_path: Path) -> None:
    files = {
        "{project}/.mcp.json": '{"mcpServers": {"deepseek": {"command": "mine"}}}',
        "~/.claude/settings.json": '{"enableAllProjectMcpServers": true}',
    }
    world = make(tmp_path, files)
    world.refused(wish("claude"), "outranked", str(world.at("{project}/.mcp.json")))


def test_an_unapproved_entry_does_not_hide_ours_on_claude(tmp_path: Path) -> None:
    world = make(tmp_path, {"{project}/.mcp.json": '{"mcpServers": {"deepseek": {"command": "mine"}}}'})
    before = world.kept()
    world.applied(wish("claude"))
    world.removed("claude")
    assert world.kept() == before


# ------------------------------------------------------------------ another installation


@pytest.mark.parametrize("host", TAKEN)
def test_an_entry_that_another_installation_owns_is_refused(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "other-state" / "deep")}
    clean = world.kept()
    world.applied(wish(host, search="forced", fetch="forced"), **elsewhere)
    kept = world.kept()
    for replace in (False, True):
        world.refused(wish(host, replace=replace), "owned-by-another", "uninstall it there first")
        # even the very same is not ours to record
        world.refused(wish(host, search="forced", fetch="forced", replace=replace), "owned-by-another")
    assert world.removed(host).data["removed"] == []
    assert world.kept() == kept
    world.removed(host, **elsewhere)
    assert world.kept() == clean


def test_what_is_left_of_a_lost_state_folder_can_be_overcome(tmp_path: Path) -> None:
    """Records are gone, the claim is not: the refusal says which file to look at."""
    import shutil

    world = make(tmp_path)
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "other-state")}
    world.applied(wish("codex"), **elsewhere)
    shutil.rmtree(tmp_path / "other-state")
    claim = world.at("~/.codex/config.toml.hostconf-owner.json")
    world.refused(wish("codex"), "owned-by-another", claim.name)
    claim.unlink()
    result = world.applied(wish("codex"))
    assert any("by hand" in note for note in result.data["notes"])


def test_our_own_claim_without_a_record_is_no_other_installation(tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish("codex"))
    for record in (world.home / ".local/state/hostconf/records").iterdir():
        record.unlink()
    text = world.read("~/.codex/config.toml")
    assert world.removed("codex").data["removed"] == [], "nothing is removed that no record covers"
    assert world.read("~/.codex/config.toml") == text
    world.applied(wish("codex"))
    world.refused(wish("codex", search="off"), "name-taken")


# ------------------------------------------------------------------ helpers


def content(entry: tuple[str, int, bytes | str]) -> bytes:
    return entry[2] if isinstance(entry[2], bytes) else b""


def reading(world: World, name: str) -> Any:
    from hostconf.formats import format_named

    kind = "toml" if name.endswith(".toml") else "jsonc"
    return format_named(kind).parse(world.at(name).read_bytes()).get(())


def drop_entry(world: World, host: str, name: str) -> None:
    """The user takes the entry `deepseek` out."""
    from hostconf.formats import format_named

    key = {"claude": "mcpServers", "codex": "mcp_servers", "opencode": "mcp"}[host]
    kind = "toml" if name.endswith(".toml") else "jsonc"
    document = format_named(kind).parse(world.at(name).read_bytes())
    world.write(name, document.delete((key, "deepseek")).after.to_bytes())


def assert_secret_only_in_vaults(world: World) -> None:
    holding = [p for p, e in world.kept().items() if SECRET.encode() in content(e)]
    assert holding and all(p.endswith(".vault") for p in holding), holding
    assert all((world.home.parent / p).stat().st_mode & 0o777 == 0o600 for p in holding)


def assert_secret_only_in(world: World, name: str) -> None:
    holding = [p for p, e in world.kept().items() if SECRET.encode() in content(e)]
    assert [str(world.home.parent / p) for p in holding] == [str(world.at(name))]
