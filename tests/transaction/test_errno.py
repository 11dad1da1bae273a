"""A call that fails with an error: the error is told, and every file is as it was, or all are new."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from hostconf.errors import HostconfError, RecoveryNeeded, StalePlan, WriteFailed
from hostconf.recovery import describe
from hostconf.system import FailingSystem, RealSystem
from tests.transaction.harness import PLANS, apply, fate, litter, recover, tree, wanted, without_state, world


def calls_of(place: Path, plan: str) -> int:
    """How many calls a run without a fault makes."""
    system = FailingSystem()
    apply(system, world(place / "count", PLANS[plan]))
    return len(system.calls)


@pytest.mark.parametrize(
    ("plan", "name", "step"), [("three", "EIO", 1), ("back", "ENOSPC", 1), ("three", "EACCES", 4), ("back", "EROFS", 4)]
)
def test_a_failing_call_leaves_all_old_or_all_new(place: Path, plan: str, name: str, step: int) -> None:
    before, after = wanted(place / "model", PLANS[plan])
    unfinished = 0
    for at in range(1, calls_of(place, plan) + 1, step):
        here = world(place / str(at), PLANS[plan])
        system = FailingSystem(at, getattr(errno, name))
        try:
            apply(system, here)
        except RecoveryNeeded as error:
            # One call that fails is taken back; only the last steps, with all new in place, leave something to clean.
            unfinished += 1
            assert error.code == "cleaning-unfinished"
            assert error.hint == "run `hostconf recover`"
            assert fate(here) == "new"
        except (WriteFailed, StalePlan) as error:
            assert error.message
            assert str(place) in (error.path or "")
            assert fate(here) == "old"
        else:
            assert fate(here) == "new"
        recover(RealSystem(), here)
        assert fate(here) in ("old", "new")
        assert without_state(tree(here.root)) == without_state(before if fate(here) == "old" else after)
        assert litter(here) == []
        assert not describe(RealSystem(), [here.state], here.locks)["needed"]
    assert unfinished


@pytest.mark.parametrize("name", ["ENOSPC", "EIO"])
def test_a_disk_that_fails_from_then_on_leaves_whole_files(place: Path, name: str) -> None:
    wanted(place / "model", PLANS["three"])
    for at in range(1, calls_of(place, "three") + 1, 4):
        here = world(place / str(at), PLANS["three"])
        try:
            apply(FailingSystem(at, getattr(errno, name), for_ever=True), here)
        except HostconfError:
            pass
        assert not fate(here).startswith("torn")
        recover(RealSystem(), here)
        assert fate(here) in ("old", "new")
        assert litter(here) == []


@pytest.mark.parametrize(
    ("number", "code", "hint"),
    [
        (errno.ENOSPC, "no-space", "make room"),
        (errno.EROFS, "not-writable", "permissions"),
        (errno.EIO, "write-failed", ""),
    ],
)
def test_the_cause_and_the_file_are_named(place: Path, number: int, code: str, hint: str) -> None:
    here = world(place / "w", PLANS["edit"])
    probe = FailingSystem()
    apply(probe, world(place / "probe", PLANS["edit"]))
    staging = [index for index, call in enumerate(probe.calls, 1) if call[0] == "copy_metadata"]
    with pytest.raises(WriteFailed) as told:
        apply(FailingSystem(staging[0], number), here)
    assert told.value.code == code
    assert here.changes[0].path in told.value.message
    assert hint in told.value.hint
    assert "new" not in told.value.message


class ShortSystem(FailingSystem):
    """Takes three bytes at a time, as a disk under pressure may."""

    def _write_some(self, descriptor: int, data: memoryview) -> int:
        return super()._write_some(descriptor, data[:3])


class LyingSystem(FailingSystem):
    """Says that it wrote all, and wrote less: some network file systems do."""

    def _write_some(self, descriptor: int, data: memoryview) -> int:
        super()._write_some(descriptor, data[:3])
        return len(data)


def test_short_writes_are_gone_on_with(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    apply(ShortSystem(), here)
    assert fate(here) == "new"


def test_a_write_that_lies_is_found_by_reading_back(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    with pytest.raises((WriteFailed, StalePlan)):
        apply(LyingSystem(), here)
    assert fate(here) == "old"
