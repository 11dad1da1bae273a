"""Killed at every call that changes something: afterwards all old or all new, and nothing left lying about."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hostconf.errors import HostconfError
from hostconf.recover import Decision
from hostconf.recovery import describe
from hostconf.system import FailingSystem, RealSystem
from tests.transaction.harness import (
    PLANS,
    LinklessSystem,
    PlainSystem,
    Tree,
    World,
    apply,
    fate,
    in_child,
    killed_at,
    litter,
    recover,
    tree,
    wanted,
    without_state,
    world,
)

SYSTEMS = {"exchange": FailingSystem, "no-exchange": PlainSystem, "no-links": LinklessSystem}


def clean_end(here: World, before: Tree, after: Tree) -> str:
    """What has to hold once recovery is through; gives `old` or `new`."""
    end = fate(here)
    assert end in ("old", "new")
    assert litter(here) == []
    assert without_state(tree(here.root)) == without_state(before if end == "old" else after)
    assert not describe(RealSystem(), [here.state], here.locks)["needed"]
    return end


@pytest.mark.parametrize(
    ("plan", "kind", "decision"),
    [
        *((plan, "exchange", None) for plan in PLANS),
        ("three", "exchange", "undo"),
        ("three", "no-exchange", None),
        ("back", "no-exchange", "undo"),
        ("edit", "no-links", None),
    ],
)
def test_killed_anywhere_ends_all_old_or_all_new(place: Path, plan: str, kind: str, decision: Decision | None) -> None:
    before, after = wanted(place / "model", PLANS[plan])
    ends = []
    for at in range(1, 1000):
        here = world(place / str(at), PLANS[plan])
        if not killed_at(SYSTEMS[kind](at), lambda system, here=here: apply(system, here)):  # type: ignore[misc]
            break
        assert not fate(here).startswith("torn")
        seen = describe(RealSystem(), [here.state], here.locks)
        possible = all(decision in operation["choices"] for operation in seen["operations"])
        recover(RealSystem(), here, decision if possible else None)
        ends.append(clean_end(here, before, after))
        if ends[-1] == "old":
            apply(RealSystem(), here)
            assert without_state(tree(here.root)) == without_state(after)
    assert fate(here) == "new"
    assert set(ends) == {"old", "new"}
    assert len(ends) > 40


@pytest.mark.parametrize("decision", [None, "undo"])
def test_killed_in_recovery_too_ends_the_same(place: Path, decision: Decision | None) -> None:
    before, after = wanted(place / "model", PLANS["three"])
    pairs = 0
    for first in range(30, 1000, 17):
        killed = False
        for second in range(1, 1000, 4):
            here = world(place / f"{first}-{second}", PLANS["three"])
            killed = killed_at(FailingSystem(first), partial(apply, here=here))
            if not killed:
                break
            seen = describe(RealSystem(), [here.state], here.locks)
            choice = decision if all(decision in op["choices"] for op in seen["operations"]) else None
            found = texts(here)
            again = killed_at(FailingSystem(second), partial(recover, here=here, decision=choice))
            begun = texts(here) != found
            recover(RealSystem(), here)
            end = clean_end(here, before, after)
            # What was begun to be taken back is never carried forward again.
            assert end == "old" or not (begun and choice == "undo")
            pairs += 1
            if not again:
                break
        if not killed:
            break
    assert pairs > 30


def test_a_kill_before_the_journal_needs_no_recovery(place: Path) -> None:
    probe = FailingSystem()
    apply(probe, world(place / "probe", PLANS["three"]))
    born = next(at for at, call in enumerate(probe.calls, 1) if call[-1].endswith("journal.staging"))
    for at in range(1, born + 1):
        here = world(place / str(at), PLANS["three"])
        assert killed_at(FailingSystem(at), partial(apply, here=here))
        apply(RealSystem(), here)
        assert fate(here) == "new"
        assert litter(here) == []


def texts(here: World) -> list[bytes | None]:
    """What the files hold."""
    paths = [Path(change.real) for change in here.changes]
    return [path.read_bytes() if path.exists() else None for path in paths]


class FailsThenDies(FailingSystem):
    """An error at one call, and the end at a later one, while it is taken back."""

    def __init__(self, fails: int, dies: int) -> None:
        super().__init__(dies)
        self.fails = fails

    def before(self, call: str, *paths: str) -> None:
        """Fail once, die later."""
        super().before(call, *paths)
        if len(self.calls) == self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO), paths[0])


def test_killed_while_an_error_is_taken_back(place: Path) -> None:
    before, after = wanted(place / "model", PLANS["three"])
    probe = FailingSystem()
    apply(probe, world(place / "probe", PLANS["three"]))
    swaps = [at for at, call in enumerate(probe.calls, 1) if call[-1].endswith("-2") and call[0] == "rename_new"]
    ends = []
    for dies in range(swaps[0] + 1, 1000):
        here = world(place / str(dies), PLANS["three"])
        code = in_child(partial(quietly, apply, FailsThenDies(swaps[0], dies), here))
        if code == 0:
            break
        assert code == -signal.SIGKILL
        assert not fate(here).startswith("torn")
        recover(RealSystem(), here)
        ends.append(clean_end(here, before, after))
    assert fate(here) == "old"
    assert litter(here) == []
    # Before the mark nothing was taken back yet, and recovery goes forward; behind it there is one way only.
    assert ends == ["new", *["old"] * (len(ends) - 1)]
    assert len(ends) > 20


def quietly(work: Callable[..., object], *arguments: object) -> None:
    """An error of ours is what is expected."""
    with pytest.raises(HostconfError):
        work(*arguments)
