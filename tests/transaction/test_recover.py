"""The decision as a table, and journals that are not to be trusted."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest

from hostconf import journal
from hostconf.errors import RecordUnreadable, UsageError
from hostconf.journal import Entry, Journal
from hostconf.recover import Seen, advise
from hostconf.recovery import carry_out_recovery, describe
from hostconf.system import RealSystem
from tests.transaction.harness import PURPOSE, tree

SYSTEM = RealSystem()
OLD, NEW, OTHER = "a" * 64, "b" * 64, "c" * 64


def seen(now: str | None, *, before: str | None = OLD, after: str | None = NEW, staged: bool, kept: bool) -> Seen:
    """One file."""
    return Seen("file", before, after, now, staged, kept)


@pytest.mark.parametrize(
    ("now", "before", "after", "fate"),
    [
        (OLD, OLD, NEW, "old"),
        (NEW, OLD, NEW, "new"),
        (None, OLD, NEW, "missing"),
        (OTHER, OLD, NEW, "other"),
        ("", OLD, NEW, "other"),
        (None, None, NEW, "old"),
        (None, OLD, None, "new"),
        (OTHER, None, NEW, "other"),
    ],
)
def test_files_are_told_apart_by_content(now: str | None, before: str | None, after: str | None, fate: str) -> None:
    assert seen(now, before=before, after=after, staged=False, kept=False).fate == fate


OLD_STAGED = seen(OLD, staged=True, kept=False)
NEW_KEPT = seen(NEW, staged=False, kept=True)
NEVER_OURS = seen(OTHER, staged=True, kept=False)
OVER_OURS = seen(OTHER, staged=False, kept=True)
LOST = seen(OLD, staged=False, kept=False)


@pytest.mark.parametrize(
    ("stage", "files", "decision", "choices"),
    [
        ("staging", (LOST,), "undo", ("undo", "forget")),
        ("staging", (OVER_OURS,), "undo", ("undo", "forget")),
        ("prepared", (OLD_STAGED, NEW_KEPT), "finish", ("finish", "undo", "forget")),
        ("prepared", (NEW_KEPT, NEVER_OURS), None, ("undo", "forget")),
        ("prepared", (NEW_KEPT, OVER_OURS), None, ("forget",)),
        ("prepared", (LOST, NEW_KEPT), None, ("undo", "forget")),
        ("undo", (OLD_STAGED, NEW_KEPT), "undo", ("undo", "forget")),
        ("undo", (OLD_STAGED, OVER_OURS), None, ("forget",)),
        ("done", (OVER_OURS,), "finish", ("finish", "forget")),
    ],
)
def test_the_table(stage: str, files: tuple[Seen, ...], decision: str | None, choices: tuple[str, ...]) -> None:
    advice = advise(stage, files)
    assert (advice.decision, advice.choices) == (decision, choices)
    assert advice.reason


def test_what_is_advised_is_always_possible_and_loses_nothing() -> None:
    pool = [
        seen(now, before=before, after=after, staged=staged, kept=kept)
        for now, before, after, staged, kept in product(
            (None, OLD, NEW, OTHER, ""), (None, OLD), (None, NEW), (False, True), (False, True)
        )
        if before != after
    ]
    for stage, one, two in product(journal.STAGES, pool, pool):
        advice = advise(stage, (one, two))
        assert advice.decision is None or advice.decision in advice.choices
        if stage == "prepared" and advice.decision == "finish":
            assert all(file.fate == "new" or file.after is None or file.staged for file in (one, two))
        if stage in ("prepared", "undo") and {"missing", "other"} & {one.fate, two.fate}:
            assert advice.decision is None


# ------------------------------------------------------------------ journals


def lay(place: Path, stage: journal.Stage = "prepared", project: bool = False) -> tuple[str, Journal, Path]:
    """A state folder with a journal of one file that is old, its new text staged."""
    root = place / "p"
    state = root / (".hostconf" if project else "state")
    state.mkdir(parents=True, mode=0o700)
    file = root / "config"
    file.write_bytes(b"old")
    temp = root / ".config.hostconf-0123456789ab-0"
    temp.write_bytes(b"new")
    hashes = [sha256(data).hexdigest() for data in (b"old", b"new")]
    entry = Entry(str(file), str(file), str(temp), hashes[0], hashes[1], None)
    made = Journal("0123456789ab", {"op": "apply"}, (), (), (), (entry,))
    journal.write(SYSTEM, str(state), made)
    if stage != "staging":
        journal.move(SYSTEM, str(state), "staging", stage)
    return str(state), made, file


def test_a_journal_is_read_as_it_was_written(place: Path) -> None:
    state, made, _ = lay(place)
    assert journal.found(SYSTEM, state) == ("prepared",)
    assert journal.read(SYSTEM, state, "prepared") == made
    assert Path(journal.file(state, "prepared")).stat().st_mode & 0o777 == 0o600


def change(state: str, **values: object) -> None:
    """Another journal in its place."""
    path = Path(journal.file(state, "prepared"))
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


BROKEN: list[dict[str, object]] = [
    {"format": 2},
    {"files": [1]},
    {"locks": 7},
    {"operation": "../x"},
    {"make": ["a/b"]},
]


def test_an_unreadable_journal_is_shown_and_only_put_aside_by_a_person(place: Path) -> None:
    for number, values in enumerate(BROKEN):
        state, _, file = lay(place / str(number))
        change(state, **values)
        (operation,) = describe(SYSTEM, [state])["operations"]
        assert operation["decision"] == ""
        assert operation["choices"] == ["forget"]
        before = tree(place)
        with pytest.raises(RecordUnreadable):
            carry_out_recovery(SYSTEM, [state], "finish", purpose=PURPOSE, wait_seconds=0)
        assert tree(place) == before
        carry_out_recovery(SYSTEM, [state], "forget", purpose=PURPOSE, wait_seconds=0)
        assert file.read_bytes() == b"old"
        assert journal.found(SYSTEM, state) == ()
        assert len(list(Path(state).glob("unusable-journal-*"))) == 1


def test_two_journals_are_a_question(place: Path) -> None:
    state, made, _ = lay(place)
    journal.write(SYSTEM, state, made)
    with pytest.raises(RecordUnreadable, match="two journals"):
        carry_out_recovery(SYSTEM, [state], purpose=PURPOSE, wait_seconds=0)
    carry_out_recovery(SYSTEM, [state], "forget", purpose=PURPOSE, wait_seconds=0)
    assert journal.found(SYSTEM, state) == ()


def test_a_journal_that_others_may_write_is_not_obeyed(place: Path) -> None:
    state, _, file = lay(place)
    Path(journal.file(state, "prepared")).chmod(0o644)
    with pytest.raises(RecordUnreadable, match="others may"):
        carry_out_recovery(SYSTEM, [state], "finish", purpose=PURPOSE, wait_seconds=0)
    assert file.read_bytes() == b"old"


@pytest.mark.parametrize("victim", ["../victim", ".git/config"])
def test_a_journal_that_came_with_a_checkout_cannot_reach_out(place: Path, victim: str) -> None:
    state, made, _ = lay(place, project=True)
    target = (place / "p" / victim).resolve()
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(b"old")
    (entry,) = made.files
    change(state, files=[entry._replace(real=str(target))._asdict()])
    with pytest.raises(RecordUnreadable, match="outside"):
        carry_out_recovery(SYSTEM, [state], "finish", purpose=PURPOSE, wait_seconds=0)
    assert target.read_bytes() == b"old"


def test_what_is_not_possible_is_refused_with_what_is(place: Path) -> None:
    state, _, file = lay(place, "staging")
    with pytest.raises(UsageError) as told:
        carry_out_recovery(SYSTEM, [state], "finish", purpose=PURPOSE, wait_seconds=0)
    assert told.value.hint == "possible: `--undo`, `--forget`"
    assert file.read_bytes() == b"old"


def test_nothing_unfinished_is_nothing_to_do(place: Path) -> None:
    before = tree(place)
    assert carry_out_recovery(SYSTEM, [str(place / "state")], purpose=PURPOSE, wait_seconds=0) == ()
    assert describe(SYSTEM, [str(place / "state")]) == {"needed": False, "operations": [], "locks": []}
    assert tree(place) == before
