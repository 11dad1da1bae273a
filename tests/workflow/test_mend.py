"""Recover and doctor: an apply that was killed, locks that were left, and what is not as it should be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.errors import Locked, RecoveryNeeded, UsageError
from hostconf.lock import lock_path
from hostconf.model import OperationResult
from tests.plan.fields import world_of
from tests.plan.world import HOSTS, World, make, wish


def killed(world: World, work: Callable[[], Any], at: str, number: int) -> None:
    """Do the work in a process that is gone, as by a power cut, before the call `at` of that number."""
    child = os.fork()
    if child == 0:
        import importlib

        module, _, name = at.rpartition(".")
        place = importlib.import_module(module)
        real, left = getattr(place, name), [number]

        def call(*words: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
            return real(*words, **more)

        setattr(place, name, call)
        try:
            work()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9, "it ended before it was killed"


def recover(world: World, action: str | None = None, lock_id: str | None = None) -> OperationResult:
    return workflow.recover(world.environment(), action, lock_id, yes=True)


def checks(world: World, **variables: str) -> dict[str, list[str]]:
    """Doctor's rows that are not well: check to status and text."""
    result = workflow.doctor(world.environment(**variables))
    found: dict[str, list[str]] = {}
    for row in result.data["checks"]:
        assert set(row) == {"check", "status", "text", "hint", "path"}
        if row["status"] != "ok":
            found.setdefault(row["check"], []).append(f"{row['status']}: {row['text']} | {row['hint']} | {row['path']}")
    assert result.exit_code == int(any(t.startswith("fail") for rows in found.values() for t in rows))
    assert (result.messages == ("all is well",)) == (not found)
    return found


def but_for_empty_folders_of_ours(world: World) -> dict[str, Any]:
    """All that there is; the state folder, where the journal and the lock of the recovery stood, may stay empty."""
    kept = world.kept()
    for name in ("home/.local/state/hostconf", "home/.local/state", "home/.local", "project/.hostconf"):
        if not any(p.startswith(name + "/") for p in kept):
            kept.pop(name, None)
    return kept


# ------------------------------------------------------------------ nothing to do


def test_where_nothing_was_done_nothing_is_to_do(tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.tree()
    for action in (None, "finish", "undo", "forget"):
        result = recover(world, action)
        assert result.exit_code == 0 and not result.data["needed"]
        assert result.messages == ("nothing is unfinished, and no lock is left",)
    assert checks(world) == {}
    assert world.tree() == before


@pytest.mark.parametrize("host", HOSTS)
def test_after_an_install_all_is_well(host: str, tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    for path in world.home.rglob("*.json*"):
        path.chmod(0o600)
    world.applied(wish(host, search="preferred", fetch="off"))
    before = world.tree()
    assert checks(world) == {}
    assert recover(world).exit_code == 0
    assert world.tree() == before


# ------------------------------------------------------------------ killed on the way


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("action", ["finish", "undo"])
@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("host", HOSTS)
def test_a_killed_apply_is_told_and_brought_to_an_end(
    host: str, number: int, action: str, scope: str, tmp_path: Path
) -> None:
    world = world_of("plain", tmp_path)
    request = wish(host, search="preferred", fetch="off", scope=scope)
    before = world.kept()
    killed(world, lambda: world.apply(request), "hostconf.swap.put_new", number)

    told = workflow.recover(world.environment(), None, None, yes=False)
    assert told.exit_code == 5 and told.data["needed"]
    assert [e["code"] for e in told.errors] == ["recovery-needed"]
    (operation,) = told.data["operations"]
    assert {"finish", "undo"} <= {*operation["choices"]}
    assert sum(f["state"] == "new" for f in operation["files"]) == number
    assert checks(world)["operations"]
    still = world.tree()
    verbs: tuple[Callable[[], object], ...] = (
        lambda: world.apply(request),
        lambda: world.apply(wish(*HOSTS, scope=scope)),
    )
    for verb in verbs:
        with pytest.raises(RecoveryNeeded) as failure:
            verb()
        assert failure.value.exit_code == 5 and "hostconf recover" in failure.value.hint
        assert {p: e[:3] for p, e in world.tree().items()} == {p: e[:3] for p, e in still.items()}
    with pytest.raises(UsageError):
        workflow.recover(world.environment(), action, None, yes=False)

    done = recover(world, action)
    assert done.exit_code == 0 and done.data["done"] and not done.data["needed"]
    assert not [p for p in world.kept() if p.endswith(".lock")]
    if action == "undo":
        assert but_for_empty_folders_of_ours(world) == before
    else:
        assert world.plan(request).data["empty"]
        world.removed(host)
        assert but_for_empty_folders_of_ours(world) == before
    assert "operations" not in checks(world)


def test_a_killed_uninstall_too(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    before = world.kept()
    world.applied(wish(*HOSTS, search="preferred"))
    killed(world, lambda: world.uninstall(), "hostconf.swap.put_new", 3)
    assert recover(world).exit_code == 5
    assert recover(world, "finish").exit_code == 0
    assert but_for_empty_folders_of_ours(world) == before


def test_one_scope_left_unfinished_does_not_stop_the_other(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    killed(world, lambda: world.apply(wish("codex")), "hostconf.swap.put_new", 1)
    world.applied(wish("opencode", scope="project"))
    assert recover(world, "undo").exit_code == 0
    world.removed("opencode")


# ------------------------------------------------------------------ uninstall of two scopes, one of them locked


def test_an_uninstall_that_gets_only_one_of_two_scopes_says_so(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    before = world.kept()
    world.applied(wish("codex"))
    world.applied(wish("codex", scope="project"))
    lock = Path(lock_path(str(world.project / ".codex/config.toml"), str(world.project / ".codex")))
    lock.mkdir()
    environment = world.environment(HOSTCONF_LOCK_WAIT="0")
    result = workflow.uninstall(environment, None, ["codex"], None, yes=True)
    assert (result.exit_code, result.status) == (4, "partial")
    assert result.errors[0]["code"] == "locked" and str(lock) in str(result.errors[0])
    assert any("done in part" in m for m in result.messages)
    assert [i["scope"] for i in world.host("codex")["installed"]] == ["project"]
    lock.rmdir()
    world.removed("codex")
    assert world.kept() == before


# ------------------------------------------------------------------ locks that were left


def places(world: World) -> dict[str, Path]:
    """Files beside which a lock of hostconf may stand."""
    return {
        "config": world.home / ".codex/config.toml",
        "claims": world.home / ".codex/config.toml.hostconf-owner.json",
        "rules": world.home / ".codex/AGENTS.md",
        "rules that count": world.home / ".codex/AGENTS.override.md",
        "rules of opencode": world.home / ".config/opencode/hostconf.md",
        "rules of the project": world.project / "AGENTS.md",
        "record": world.home / ".local/state/hostconf/records/codex.deepseek-web-retrieval.json",
        "record of the project": world.project / ".hostconf/records/codex.deepseek-web-retrieval.json",
    }


@pytest.mark.parametrize("which", [*places(World(Path(), Path(), Path())), "rules of claude"])
def test_a_lock_of_nobody_known_is_found_wherever_it_stands(which: str, tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    if which == "rules of claude":
        # beside the folder that the host loads whole, never in it
        file, beside = world.home / ".claude/rules/hostconf.md", world.home / ".claude"
    else:
        file = places(world)[which]
        beside = file.parent
    beside.mkdir(parents=True, exist_ok=True)
    lock = Path(lock_path(str(file), str(beside)))
    lock.mkdir()
    (lock / "owner.json").write_text('{"format": 99}')
    told = recover(world)
    assert told.exit_code == 5
    (row,) = told.data["locks"]
    assert (row["path"], row["verdict"]) == (str(lock), "UNKNOWN") and row["lock_id"]
    (text,) = checks(world)["locks"]
    assert text.startswith("fail") and str(lock) in text
    with pytest.raises(UsageError):
        recover(world, None, "ffff" if not row["lock_id"].startswith("ffff") else "0000")
    assert lock.exists()
    assert recover(world, None, row["lock_id"][:6]).exit_code == 0
    assert not lock.exists()
    assert recover(world).exit_code == 0


def test_a_lock_stops_apply_and_nothing_is_written(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    lock = world.home / ".codex/config.toml.hostconf.lock"
    lock.mkdir()
    before = world.kept()
    with pytest.raises(Locked) as failure:
        world.apply(wish("codex", search="forced", fetch="forced"), HOSTCONF_LOCK_WAIT="0")
    assert failure.value.exit_code == 4
    assert world.kept() == before


def test_a_lock_of_a_dead_owner_is_removed_without_being_named(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    killed(world, lambda: world.apply(wish("codex")), "hostconf.journal.write", 0)
    assert recover(world).exit_code == 5
    assert recover(world, "undo").exit_code == 0
    assert not [p for p in world.kept() if ".hostconf.lock" in p]


# ------------------------------------------------------------------ doctor


def test_a_state_folder_for_all_to_read(tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish("codex"))
    (world.home / ".local/state/hostconf").chmod(0o755)
    (text,) = checks(world)["state"]
    assert text.startswith("warn") and "0700" in text


def test_drift_is_named(tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish("codex"))
    world.edit("~/.codex/config.toml", "npx", "bunx")
    (text,) = checks(world)["drift"]
    assert "mcp_servers.deepseek" in text and str(world.at("~/.codex/config.toml")) in text


def test_a_claim_of_nobody_here_is_named_with_what_to_do(tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish("codex"), XDG_STATE_HOME=str(tmp_path / "elsewhere"))
    (text,) = checks(world)["claims"]
    assert "mcp_servers.deepseek" in text and "remove `" in text
    assert "claims" not in checks(world, XDG_STATE_HOME=str(tmp_path / "elsewhere"))


@pytest.mark.parametrize(
    ("name", "text", "warned"),
    [
        ("~/.claude.json", '{"mcpServers": {"x": {"command": "x", "env": {"K": "secret"}}}}', True),
        ("~/.claude.json", '{"mcpServers": {"x": {"command": "x", "env": {"K": "${K}"}}}}', False),
        ("~/.codex/config.toml", '[mcp_servers.x]\nurl = "u"\nhttp_headers = { A = "secret" }\n', True),
        ("~/.config/opencode/opencode.json", '{"mcp": {"x": {"environment": {"K": "{env:K}"}}}}', False),
        ("{project}/.mcp.json", '{"mcpServers": {"x": {"command": "x", "env": {"K": "secret"}}}}', False),
    ],
)
def test_secrets_for_all_to_read(name: str, text: str, warned: bool, tmp_path: Path) -> None:
    world = make(tmp_path, {name: text})
    world.at(name).chmod(0o644)
    found = checks(world).get("files", [])
    assert [t for t in found if "can be read by others" in t and str(world.at(name)) in t] == found
    assert bool(found) == warned
    world.at(name).chmod(0o600)
    assert "files" not in checks(world)


def test_a_config_that_is_no_file(tmp_path: Path) -> None:
    world = make(tmp_path)
    world.at("~/.claude.json").mkdir()
    (text,) = checks(world)["files"]
    assert text.startswith("fail") and "folder" in text


def installed(place: Path, name: str, package: str, version: str) -> str:
    """A program in an npm package of that version; gives a PATH."""
    folder = place / "node_modules" / package / "bin"
    folder.mkdir(parents=True)
    (folder.parent / "package.json").write_text(json.dumps({"name": package, "version": version}))
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    (place / "bin").mkdir(exist_ok=True)
    (place / "bin" / name).symlink_to(folder / name)
    return str(place / "bin")


@pytest.mark.parametrize(
    ("version", "newer"), [("0.171.0", False), ("0.99.9", False), ("0.172.0", True), ("1.0.0-alpha.1", True)]
)
def test_facts_older_than_the_program(version: str, newer: bool, tmp_path: Path) -> None:
    world = make(tmp_path / "w")
    path = installed(tmp_path / "p", "codex", "@openai/codex", version)
    found = checks(world, PATH=path)
    assert ("facts" in found) == newer
    if newer:
        assert version in found["facts"][0] and "hostconf verify codex" in found["facts"][0]


def test_a_program_whose_version_nobody_tells(tmp_path: Path) -> None:
    world = make(tmp_path / "w")
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/true", tmp_path / "bin/codex")
    assert "facts" not in checks(world, PATH=str(tmp_path / "bin"))


def test_doctor_and_recover_write_nothing_by_looking(tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    world.applied(wish("codex"))
    before = world.tree()
    checks(world)
    recover(world)
    assert world.tree() == before


def test_a_child_can_be_killed_here() -> None:
    """The killing above counts on fork: said plainly where there is none."""
    assert hasattr(os, "fork") and sys.platform != "win32"
    assert subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=False).returncode == 3
