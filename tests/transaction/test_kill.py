"""Killed at every call that changes something: afterwards all old or all new, and nothing left lying about."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from hostconf.system import FailingSystem, RealSystem
from tests.transaction.harness import PLANS, apply, fate, killed_at, litter, world
from tests.transaction.sweeps import sweep


@pytest.mark.parametrize(
    "words",
    [
        *((plan, "exchange") for plan in PLANS),
        ("three", "exchange", "undo"),
        ("three", "no-exchange"),
        ("back", "no-exchange", "undo"),
        ("edit", "no-links"),
    ],
    ids=" ".join,
)
def test_killed_anywhere_ends_all_old_or_all_new(place: Path, words: tuple[str, ...]) -> None:
    assert sweep("kill", place, *words) > 40


@pytest.mark.parametrize("words", [(), ("undo",)], ids=" ".join)
def test_killed_in_recovery_too_ends_the_same(place: Path, words: tuple[str, ...]) -> None:
    assert sweep("double", place, *words) > 30


def test_killed_while_an_error_is_taken_back(place: Path) -> None:
    assert sweep("back", place) > 20


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
