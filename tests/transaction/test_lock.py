"""The lock: who lives, who is dead, what nobody can tell; and that nothing is stolen."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hostconf import lock
from hostconf.errors import Locked, UsageError
from hostconf.lock import Held, Verdict
from hostconf.recovery import carry_out_recovery, describe
from hostconf.system import FailingSystem, RealSystem
from tests.transaction.harness import PLANS, PURPOSE, apply, fate, in_child, litter, recover, start, tree, world

SYSTEM = RealSystem()


def take(path: str, wait: float = 0, told: list[str] | None = None) -> Held:
    """Take it as this process."""
    facts = lock.facts(SYSTEM, PURPOSE, "/nowhere", "0" * 12)
    tell = (lambda text: None) if told is None else told.append
    return lock.acquire(SYSTEM, path, facts, deadline=time.monotonic() + wait, tell=tell)


@contextmanager
def holder(path: str) -> Iterator[int]:
    """A process that holds it, ended with the block."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            take(path)
            os.write(write, b"x")
            signal.pause()
        finally:
            os._exit(1)
    os.close(write)
    assert os.read(read, 1) == b"x"
    os.close(read)
    try:
        yield pid
    finally:
        end(pid)


def end(pid: int) -> None:
    """Kill it and wait until it is gone."""
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


@pytest.fixture
def path(place: Path) -> str:
    """Where a lock of the file `config` stands."""
    return lock.lock_path(str(place / "config"), str(place))


def test_it_is_named_beside_the_file_and_never_as_the_hosts_name_theirs() -> None:
    assert lock.lock_path("/a/b/config.toml", "/a") == "/a/config.toml.hostconf.lock"


def test_taken_and_given_back_leaves_nothing(path: str, place: Path) -> None:
    assert lock.examine(SYSTEM, path).kind == "FREE"
    held = take(path)
    owner = json.loads(Path(path, "owner.json").read_text())
    assert owner["lock_id"] == held.lock_id
    assert owner["pid"] == os.getpid()
    assert owner["flock"] is True
    assert Path(path).stat().st_mode & 0o777 == 0o700
    assert Path(path, "owner.json").stat().st_mode & 0o777 == 0o600
    assert lock.release(SYSTEM, held)
    assert list(place.iterdir()) == []


def test_it_says_who_and_what_and_no_secret(path: str) -> None:
    purpose = {**PURPOSE, "argv": ["--env", "KEY=CANARY-7f3a-SECRET"], "environ": {"KEY": "CANARY-7f3a-SECRET"}}
    facts = lock.facts(SYSTEM, purpose, "/state", "0" * 12)
    assert "CANARY" not in json.dumps(facts)
    assert {key: facts[key] for key in PURPOSE} == PURPOSE


def test_a_living_holder_is_named_and_keeps_it(path: str) -> None:
    with holder(path) as pid:
        before = tree(Path(path))
        verdict = lock.examine(SYSTEM, path)
        assert verdict.kind == "LIVE"
        assert verdict.evidence == (f"process {pid} is the one that took it",)
        with pytest.raises(Locked) as told:
            take(path)
        assert told.value.exit_code == 4
        assert f"pid {pid}" in told.value.message
        assert "2026-01-01T00:00:00Z" in told.value.message
        assert told.value.path == path
        assert "hostconf recover" in told.value.hint
        assert tree(Path(path)) == before


def test_a_sleeping_holder_with_an_old_lock_lives(path: str) -> None:
    with holder(path) as pid:
        os.kill(pid, signal.SIGSTOP)
        os.utime(path, (0, 0))
        os.utime(Path(path, "owner.json"), (0, 0))
        assert lock.examine(SYSTEM, path).kind == "LIVE"


def test_a_killed_holder_is_dead_and_buried(path: str, place: Path) -> None:
    with holder(path) as pid:
        end(pid)
        verdict = lock.examine(SYSTEM, path)
        assert verdict.kind == "DEAD"
        assert verdict.evidence == (f"there is no process {pid} now",)
        lock.release(SYSTEM, take(path))
    assert list(place.iterdir()) == []


def test_a_pid_that_somebody_else_has_now_proves_nothing(path: str) -> None:
    with holder(path) as pid:
        end(pid)
        owner = Path(path, "owner.json")
        facts = json.loads(owner.read_text())
        owner.write_text(json.dumps({**facts, "pid": os.getpid()}))
        verdict = lock.examine(SYSTEM, path)
        assert verdict.kind == "DEAD"
        assert verdict.evidence == (f"process {os.getpid()} is another one, started later",)


def test_a_lock_lives_on_with_the_child_of_its_holder(path: str) -> None:
    held = take(path)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    lock.leave(SYSTEM, held)
    assert lock.examine(SYSTEM, path).kind == "LIVE"
    os.close(read)
    os.close(write)
    os.waitpid(child, 0)
    assert lock.examine(SYSTEM, path).kind == "DEAD"


def test_waiting_is_told_once_and_ends_when_the_holder_does(path: str) -> None:
    told: list[str] = []
    with holder(path) as pid:
        if not (killer := os.fork()):
            time.sleep(0.3)
            os.kill(pid, signal.SIGKILL)
            os._exit(0)
        os.waitpid(killer, 0)
        os.waitpid(pid, 0)
        lock.release(SYSTEM, take(path, 5, told))
    with holder(path), pytest.raises(Locked):
        take(path, 0.2, told)
    assert len(told) == 1
    assert told[0].startswith("waiting for pid ")


# ------------------------------------------------------------------ what nobody can tell


def _owner(path: Path, text: str) -> None:
    path.mkdir()
    (path / "owner.json").write_text(text)


def _dead(path: Path) -> None:
    lock.leave(SYSTEM, take(str(path)))


def _changed(**facts: object) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        _dead(path)
        owner = path / "owner.json"
        owner.write_text(json.dumps({**json.loads(owner.read_text()), **facts}))

    return make


def _copied(path: Path) -> None:
    _dead(path)
    shutil.copytree(path, path.with_name("copy"))
    shutil.rmtree(path)
    path.with_name("copy").rename(path)


def _linked(path: Path) -> None:
    _dead(path)
    (path / "owner.json").rename(path.with_name("elsewhere"))
    (path / "owner.json").symlink_to("../elsewhere")


def _pipe(path: Path) -> None:
    path.mkdir()
    os.mkfifo(path / "owner.json")


def _file(path: Path) -> None:
    path.write_text("x")


def _inner_folder(path: Path) -> None:
    (path / "owner.json").mkdir(parents=True)


UNKNOWN: dict[str, Callable[[Path], None]] = {
    "foreign format": lambda path: _owner(path, '{ "format": 999, "who": "another machine" }'),
    "no JSON": lambda path: _owner(path, "{"),
    "deep JSON": lambda path: _owner(path, "[" * 60_000),
    "empty": lambda path: _owner(path, ""),
    "a list": lambda path: _owner(path, "[]"),
    "no id": _changed(lock_id=""),
    "a wicked id": _changed(lock_id="../../x"),
    "too large": lambda path: _owner(path, " " * 70_000),
    "no owner": lambda path: path.mkdir(),
    "a file": _file,
    "a copy": _copied,
    "a link": _linked,
    "a pipe": _pipe,
    "a folder inside": _inner_folder,
    "no kernel lock": _changed(flock=False),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_what_nobody_can_judge_stops_apply_and_is_not_touched(place: Path, kind: str) -> None:
    here = world(place / "w", PLANS["three"])
    path = Path(here.locks[1])
    UNKNOWN[kind](path)
    before = tree(place)
    verdict = lock.examine(SYSTEM, str(path))
    assert verdict.kind == "UNKNOWN"
    assert verdict.reason
    assert len(verdict.lock_id) == 32
    with pytest.raises(Locked) as told:
        apply(SYSTEM, here, wait=5)
    assert told.value.exit_code == 4
    assert told.value.path == str(path)
    assert verdict.reason in told.value.message
    assert tree(place) == before


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_person_who_was_shown_its_id_may_remove_it(place: Path, kind: str) -> None:
    path = place / "config.hostconf.lock"
    UNKNOWN[kind](path)
    shown = lock.examine(SYSTEM, str(path)).lock_id
    before = tree(place)
    for wrong in ("", shown[:3], "0000" if not shown.startswith("0000") else "1111"):
        with pytest.raises(Locked):
            lock.dismiss(SYSTEM, str(path), wrong)
    assert tree(place) == before
    if kind == "a folder inside":
        return
    carry_out_recovery(SYSTEM, [], lock_id=shown[:4], locks=[str(path)], purpose=PURPOSE, wait_seconds=0)
    assert not any(".lock" in name for name in tree(place))


def test_an_id_that_no_lock_has_is_told(place: Path) -> None:
    path = place / "config.hostconf.lock"
    _owner(path, "{")
    before = tree(place)
    with pytest.raises(UsageError, match="no lock"):
        carry_out_recovery(SYSTEM, [], lock_id="0123456789", locks=[str(path)], purpose=PURPOSE, wait_seconds=0)
    assert tree(place) == before


def test_the_id_of_a_living_holder_does_not_help(path: str) -> None:
    with holder(path):
        shown = lock.examine(SYSTEM, path).lock_id
        with pytest.raises(Locked):
            carry_out_recovery(SYSTEM, [], lock_id=shown, locks=[path], purpose=PURPOSE, wait_seconds=0)
        assert lock.examine(SYSTEM, path).kind == "LIVE"


def test_a_lock_folder_with_more_in_it_is_left_to_its_maker(place: Path) -> None:
    path = place / "config.hostconf.lock"
    _owner(path, "{}")
    (path / "precious").write_text("x")
    with pytest.raises(Locked, match="holds more"):
        lock.dismiss(SYSTEM, str(path), lock.examine(SYSTEM, str(path)).lock_id)
    assert (path / "precious").exists()


class Elsewhere(RealSystem):
    """A file system that other machines share."""

    def is_local(self, descriptor: int) -> bool:
        """Not this kernel's alone."""
        return False


class Lockless(FailingSystem):
    """A file system without flock."""

    def try_lock(self, descriptor: int, path: str) -> bool | None:
        """There is none."""
        return None


def test_on_a_shared_file_system_nobody_is_dead(path: str) -> None:
    _dead(Path(path))
    verdict = lock.examine(Elsewhere(), path)
    assert verdict.kind == "UNKNOWN"
    assert os.uname().nodename in verdict.reason


def test_without_kernel_locks_apply_works_and_a_lock_left_is_a_question(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    apply(Lockless(), here)
    assert fate(here) == "new"
    assert litter(here) == []
    again = world(place / "v", PLANS["three"])
    lock.leave(SYSTEM, lock.acquire(Lockless(), again.locks[1], {"format": 1}, deadline=0))
    with pytest.raises(Locked, match="keeps no locks"):
        apply(SYSTEM, again)


def test_words_of_a_foreign_lock_cannot_drive_the_terminal(path: str) -> None:
    _changed(user="a\x1b]0;x\x07", host="\u202eevil", started="\x9b31m")(Path(path))
    verdict = lock.examine(SYSTEM, path)
    assert (verdict.holder + verdict.since).isprintable()
    assert Verdict(path, "LIVE").holder == "somebody unknown"


# ------------------------------------------------------------------ many at once


def test_nobody_holds_it_twice_though_half_of_them_die(path: str, place: Path) -> None:
    witness = place / "inside"
    children = []
    for number in range(4):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                for turn in range(12):
                    held = take(path, 60)
                    os.close(os.open(witness, os.O_CREAT | os.O_EXCL))
                    witness.unlink()
                    if turn == 11 and number % 2:
                        os.kill(os.getpid(), signal.SIGKILL)
                    lock.release(SYSTEM, held)
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert sorted(ends) == [-signal.SIGKILL, -signal.SIGKILL, 0, 0]
    lock.release(SYSTEM, take(path))
    assert list(place.iterdir()) == []


def test_appliers_at_once_lose_nothing(place: Path) -> None:
    """Each adds a line of its own to one file, planning anew when it comes too late."""
    from hostconf.apply import carry_out
    from hostconf.errors import StalePlan
    from hostconf.model import Change

    file = place / "config"
    file.write_bytes(b"")

    def add(number: int) -> None:
        done = 0
        while done < 6:
            before = file.read_bytes()
            after = before + b"%d:%d\n" % (number, done)
            change = Change(str(file), str(file), before, after, None, "config", str(place))
            try:
                carry_out([change], system=SYSTEM, state=str(place / "state"), purpose=PURPOSE, wait_seconds=60)
                done += 1
            except StalePlan:
                continue

    children = [start(lambda number=number: add(number)) for number in range(4)]  # type: ignore[misc]
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
    lines = file.read_bytes().split()
    assert sorted(lines) == sorted(b"%d:%d" % (number, turn) for number in range(4) for turn in range(6))


# ------------------------------------------------------------------ left lying about


def test_a_dead_lock_without_a_question_is_swept_by_recovery(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    _dead(Path(here.locks[1]))
    seen = describe(SYSTEM, [here.state], here.locks)
    assert [one["verdict"] for one in seen["locks"]] == ["DEAD"]
    (told,) = recover(SYSTEM, here)
    assert here.locks[1] in told
    assert litter(here) == []


def test_a_dead_lock_without_a_question_does_not_stop_apply(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    _dead(Path(here.locks[1]))
    apply(SYSTEM, here)
    assert fate(here) == "new"
    assert litter(here) == []


def test_a_lock_removed_by_hand_stops_its_holder(place: Path) -> None:
    here = world(place / "w", PLANS["three"])

    class Impatient(FailingSystem):
        def before(self, call: str, *paths: str) -> None:
            if call == "exchange":
                shutil.rmtree(here.locks[2], ignore_errors=True)
            super().before(call, *paths)

    from hostconf.errors import StalePlan

    with pytest.raises(StalePlan, match="was removed"):
        apply(Impatient(), here)
    assert fate(here) == "old"
    assert litter(here) == []


def test_describing_takes_nothing_and_writes_nothing(place: Path) -> None:
    from hostconf.system import ReadOnlySystem

    here = world(place / "w", PLANS["three"])
    _dead(Path(here.locks[1]))
    before = tree(place)
    assert describe(ReadOnlySystem(), [here.state], here.locks)["needed"]
    assert tree(place) == before
    assert in_child(lambda: take(here.locks[1])) == 0
