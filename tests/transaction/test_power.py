"""The power goes: on a disk that keeps only what was synced, in any order, all is old or all is new."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hostconf.errors import HostconfError
from hostconf.recovery import describe
from hostconf.system import RealSystem
from tests.transaction.harness import PLANS, PlainSystem, World, apply, fate, litter, recover, world
from tests.transaction.weak_disk import Call, Disk, Recorder, lay_down, states


class PlainRecorder(PlainSystem, Recorder):
    """Recorded on a file system that cannot exchange names."""


def cut_after_every_call(
    place: Path, plan: str, recorder: Recorder, kept: Callable[[Call], bool] = lambda call: True, cap: int = 64
) -> tuple[int, set[str]]:
    """Try what a power cut may leave; the number of different states, and how they ended after recovery."""
    here = world(place / "recorded", PLANS[plan])
    disk = Disk(here.root)
    apply(recorder, here)
    seen: set[frozenset[tuple[str, bytes | None]]] = set()
    ends = set()
    for state in states(disk, [call for call in recorder.log if kept(call)], cap, random.Random(plan)):
        if frozenset(state.items()) in seen:
            continue
        seen.add(frozenset(state.items()))
        shutil.rmtree(place / "cut", ignore_errors=True)
        lay_down(state, here.root, place / "cut")
        ends.add(end_of(moved(here, place / "cut")))
    return len(seen), ends


def moved(here: World, root: Path) -> World:
    """The same world elsewhere."""

    def there(path: str) -> str:
        return path.replace(str(here.root), str(root))

    return World(
        root,
        tuple(c._replace(path=there(c.path), real=there(c.real), beside=there(c.beside)) for c in here.changes),
    )


def end_of(here: World) -> str:
    """Recover, and say how it ended."""
    try:
        recover(RealSystem(), here)
    except HostconfError as error:
        return f"needs a person: {error.code}"
    if litter(here) or describe(RealSystem(), [here.state], here.locks)["needed"]:
        return "litter"
    return fate(here)


@pytest.mark.parametrize(
    ("plan", "recorder"),
    [("edit", Recorder), ("three", Recorder), ("back", Recorder), ("edit", PlainRecorder), ("three", PlainRecorder)],
)
def test_a_power_cut_leaves_all_old_or_all_new(place: Path, plan: str, recorder: type[Recorder]) -> None:
    count, ends = cut_after_every_call(place, plan, recorder())
    assert ends == {"old", "new"}
    assert count > 30


@pytest.mark.parametrize("call", ["sync", "sync_folder"])
def test_without_sync_it_would_not(place: Path, call: str) -> None:
    _, ends = cut_after_every_call(place, "edit", Recorder(), lambda one: one.name != call, cap=8)
    assert ends - {"old", "new"}
