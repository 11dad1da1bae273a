"""What was left unfinished: killed installs, dead locks, locks nobody can judge, and somebody at work."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from hostconf import lock, workflow
from hostconf.system import RealSystem
from hostconf.tui.app import Wizard
from hostconf.tui.screens.ask import Confirm
from hostconf.tui.screens.hosts import Hosts
from hostconf.tui.screens.name_lock import NameLock
from hostconf.tui.screens.recovery import Recovery
from hostconf.tui.widgets.unfinished import State
from tests.tui import interrupted
from tests.tui.conftest import SIZES, THEMES, Open, same_picture, screen_text, settled
from tests.tui.interrupted import environment, interrupt, take

NAMES = ("claude", "codex")
Tree = dict[str, tuple[int, bytes]]


def tree(home: Path) -> Tree:
    """Names, times and bytes of everything."""
    paths = sorted(home.rglob("*"))
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in paths}


def contents(home: Path) -> dict[str, bytes]:
    """The files and their bytes."""
    return {str(p.relative_to(home)): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


def without_ids(files: dict[str, bytes]) -> dict[str, bytes]:
    """Each install has an id of its own, which claims and records name."""
    return {name: re.sub(rb"\b[0-9a-f]{24}\b", b"id", data) for name, data in files.items()}


def litter(home: Path) -> list[str]:
    """Locks, journals and texts beside files."""
    return [
        n for n in tree(home) if ".hostconf.lock" in n or "journal" in n or re.search(r"\.hostconf-[0-9a-f]{12}", n)
    ]


@pytest.fixture
def whole(sample: Path, tmp_path: Path) -> dict[str, bytes]:
    """The home as the whole install leaves it."""
    copy = tmp_path / "whole" / "home"
    shutil.copytree(sample, copy)
    interrupted.install(copy)
    return without_ids(contents(copy))


@pytest.fixture
def half(sample: Path) -> Path:
    """Killed while the files were exchanged: one of the two config files is new."""
    interrupt(sample, interrupted.exchanging, 6)
    return sample


@pytest.fixture
def unknown(sample: Path) -> Path:
    """A lock of a format that nobody here knows."""
    path = sample / ".claude.json.hostconf.lock"
    path.mkdir()
    (path / "owner.json").write_text('{ "format": 999, "pid": 77, "user": "ada", "host": "elsewhere" }')
    return sample


@pytest.fixture
def dead(sample: Path) -> Path:
    """A lock whose owner is gone, and nothing else."""
    lock.leave(RealSystem(), take(sample))
    return sample


@pytest.fixture
def live(sample: Path) -> Iterator[Path]:
    """Somebody is at work."""
    with interrupted.held(sample):
        yield sample


async def shown(pilot: Pilot[Any]) -> Recovery:
    """The screen that comes by itself."""
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, Recovery)
    return screen


def now(app: Wizard) -> type:
    """Which screen is shown."""
    return type(app.screen)


def facts(screen: Recovery) -> str:
    """All that it knows, also what is not in sight."""
    return " ".join(str(screen.query_one("#recovery-facts").visual.at(500).plain).split())  # type: ignore[attr-defined]


def told(screen: Recovery) -> str:
    """What is said of what may be done."""
    return " ".join(str(screen.query_one("#recovery-told").visual.at(500).plain).split())  # type: ignore[attr-defined]


def keys(app: Wizard) -> set[str]:
    """What is offered in the footer."""
    return {str(getattr(key, "description", "")) for key in app.screen.query("FooterKey")}


def buttons(screen: Recovery) -> set[str]:
    """Ids of the actions with a button in sight."""
    return {str(b.id).removeprefix("do-") for b in screen.query(Button) if b.parent and b.parent.has_class("-on")}


def steady(screen: Recovery) -> None:
    """What differs from run to run is set to the same: process, machine, ids, times of the clock."""
    assert screen.state is not None
    text = json.dumps(screen.state.data)
    text = re.sub(r"\b(pid|process) \d+", r"\1 4711", text)
    text = re.sub(r"hostconf [\d.]+ apply, [^)]+\)", "hostconf 0.1.0 apply, ada@box)", text)
    text = re.sub(r'"tool": "hostconf [^"]+"', '"tool": "hostconf 0.1.0"', text)
    text = re.sub(r'"operation": "[0-9a-f]{12}"', '"operation": "3f9a51c20b7d"', text)
    text = re.sub(r'"lock_id": "[0-9a-f]{32}"', f'"lock_id": "{"77d0c1e5" * 4}"', text)
    screen.show(json.loads(text))


# ------------------------------------------------------------------ pictures


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("theme", THEMES)
async def test_an_interrupted_install(wizard: Open, half: Path, size: tuple[int, int], theme: str) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        steady(await shown(pilot))
        await pilot.pause()
        same_picture(app, f"recovery-prepared-{size[0]}x{size[1]}-{theme.rpartition('-')[2]}", half)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("kind", ["unknown", "live"])
async def test_a_lock(
    wizard: Open, sample: Path, size: tuple[int, int], kind: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(kind)
    app = wizard()
    async with app.run_test(size=size) as pilot:
        steady(await shown(pilot))
        await pilot.pause()
        same_picture(app, f"recovery-{kind}-{size[0]}x{size[1]}-dark", sample)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_after_it_is_finished(wizard: Open, half: Path, size: tuple[int, int]) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        await pilot.press("f", "y")
        await settled(pilot)
        same_picture(app, f"recovery-finished-{size[0]}x{size[1]}-dark", half)


async def test_the_badge_beside_all_others(wizard: Open, half: Path) -> None:
    app = wizard(dry_run=True, demo=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("escape")
        await settled(pilot)
        bar = screen_text(app).split("\n")[0]
        assert now(app) is Hosts
        assert all(word in bar for word in ("Hosts", "UNFINISHED", "DEMO", "DRY RUN"))


# ------------------------------------------------------------------ what is said


@pytest.mark.parametrize(
    ("at", "number", "far", "choices", "states"),
    [
        (interrupted.laying_aside, 1, "no file of yours was touched", {"undo", "forget"}, {"as before"}),
        (interrupted.exchanging, 1, "exchanged one by one", {"finish", "undo", "forget"}, {"as before"}),
        (interrupted.exchanging, 6, "exchanged one by one", {"finish", "undo", "forget"}, {"as before", "new"}),
        (interrupted.cleaning, 1, "only cleaning up was left", {"finish", "forget"}, {"new"}),
    ],
    ids=["staging", "none exchanged", "some exchanged", "done"],
)
async def test_how_far_it_came_and_what_may_be_done(
    wizard: Open, sample: Path, at: Any, number: int, far: str, choices: set[str], states: set[str]
) -> None:
    interrupt(sample, at, number)
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        text = facts(screen)
        assert far in text
        assert "Installing deepseek-web-retrieval on Claude Code, Codex CLI interrupted" in text
        assert "DEAD not running any more" in text and "there is no process" in text
        assert "since 2026-11-30 10:00" in text and "user scope" in text
        files = {m[1] for m in re.finditer(r"[·✓!] (as before|new|missing|changed by somebody else) ~/", text)}
        assert files == states
        assert buttons(screen) == {*choices, "reload", "not_now"}
        assert ("Finish" in keys(app), "Take back" in keys(app)) == ("finish" in choices, "undo" in choices)
        assert "UNFINISHED" in screen_text(app)


async def test_config_and_record_are_told_as_they_stand(wizard: Open, half: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        text = facts(await shown(pilot))
        assert "As the files stand now" in text
        assert "Claude Code · recorded: deepseek-web-retrieval, user scope, optional/optional" in text
        assert "claude.deepseek-web-retrieval.json record" in text and "hostconf-owner.json claim" in text


async def test_where_somebody_else_changed_a_file_it_is_a_persons_word(wizard: Open, half: Path) -> None:
    (half / ".claude.json").write_text('{"mine": 1}')
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        assert "! changed by somebody else ~/.claude.json" in facts(screen)
        assert "it is yours to say" in told(screen) and "advised" not in screen_text(app)
        assert buttons(screen) == {"forget", "reload", "not_now"}


async def test_a_journal_that_cannot_be_read_can_only_be_put_aside(wizard: Open, half: Path) -> None:
    journal = half / ".local/state/hostconf/journal.prepared"
    journal.write_text("{")
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        assert "it is corrupt" in facts(screen)
        assert buttons(screen) == {"forget", "reload", "not_now"}
        await pilot.press("l", *"leave", "enter")
        await settled(pilot)
        assert "put the journal aside" in screen_text(app)
        assert not journal.exists() and list(journal.parent.glob("unusable-journal-*"))


# ------------------------------------------------------------------ finish, take back, leave


async def test_finish_makes_all_files_new_and_recorded(wizard: Open, whole: dict[str, bytes], half: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("f")
        await settled(pilot)
        assert isinstance(app.screen, Confirm)
        await pilot.press("enter")
        await settled(pilot)
        assert litter(half), "Enter alone is no yes"

        await pilot.press("f", "y")
        await settled(pilot)
        text = screen_text(app)
        assert "Done" in text and "finished the interrupted operation" in text and "A new plan?" in text
        assert "UNFINISHED" not in text
    assert litter(half) == []
    assert without_ids(contents(half)) == whole
    found = workflow.status(environment(half)).data["hosts"]
    assert [one["integration"] for h in found for one in h["installed"]] == ["deepseek-web-retrieval"] * 2
    assert not any(one["drift"] for h in found for one in h["installed"])


@pytest.mark.parametrize(("at", "number"), [(interrupted.laying_aside, 1), (interrupted.exchanging, 6)])
async def test_take_back_gives_every_byte_back(wizard: Open, sample: Path, at: Any, number: int) -> None:
    before = contents(sample)
    interrupt(sample, at, number)
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("u", "y")
        await settled(pilot)
        assert "took back" in screen_text(app)
    assert contents(sample) == before


async def test_leave_wants_the_word_and_leaves_each_file(wizard: Open, half: Path) -> None:
    before = {name: data for name, data in contents(half).items() if name in (".claude.json", ".codex/config.toml")}
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("l", *"leav", "enter")
        await settled(pilot)
        assert isinstance(app.screen, Confirm), "not the whole word yet"
        await pilot.press("e", "enter")
        await settled(pilot)
        assert "forgot the interrupted operation" in screen_text(app)
    assert litter(half) == []
    assert {name: data for name, data in contents(half).items() if name in before} == before


async def test_the_mouse_finishes_and_goes_on(wizard: Open, half: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.click("#do-finish")
        await settled(pilot)
        await pilot.click("#yes")
        await settled(pilot)
        assert litter(half) == []
        await pilot.click("#do-next")
        await settled(pilot)
        assert now(app) is Hosts
        assert "optional" in screen_text(app), "the hosts are read anew"


async def test_n_goes_on_to_the_hosts_read_anew(wizard: Open, half: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await pilot.press("n")
        await settled(pilot)
        assert now(app) is Recovery, "not before it is settled"
        await pilot.press("u", "y")
        await settled(pilot)
        await pilot.press("n")
        await settled(pilot)
        assert now(app) is Hosts and "optional" not in screen_text(app)


async def test_not_now_says_on_every_screen_that_it_is_open(wizard: Open, half: Path) -> None:
    before = tree(half)
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert now(app) is Hosts and "UNFINISHED" in screen_text(app)
        await pilot.press("i")
        await settled(pilot)
        assert "UNFINISHED" in screen_text(app)

        await pilot.click("#bar-unfinished")
        await settled(pilot)
        assert now(app) is Recovery
    assert tree(half) == before


async def test_what_was_settled_elsewhere_meanwhile_is_seen(wizard: Open, half: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        workflow.recover(environment(half), "undo", yes=True)
        await pilot.press("f", "y")
        await settled(pilot)
        text = screen_text(app)
        assert "nothing is unfinished" in text and "UNFINISHED" not in text


async def test_an_error_is_shown_with_its_hint_and_the_state_read_anew(wizard: Open, half: Path) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        (half / ".claude.json").write_text('{"mine": 1}')
        await pilot.press("f", "y")
        await settled(pilot)
        text = screen_text(app)
        assert "`--finish` is not possible".replace("`", "") in text and "possible: --forget" in text
        assert buttons(screen) == {"forget", "reload", "not_now"}, "it was read anew"
        assert not app.writing


async def test_nothing_unfinished_is_no_screen(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert now(app) is Hosts
        await pilot.press("R")
        await settled(pilot)
        assert now(app) is Recovery
        assert "no lock is left" in screen_text(app) and buttons(cast("Recovery", app.screen)) == {"next"}


# ------------------------------------------------------------------ locks


async def test_a_dead_lock_alone_goes_on_a_yes(wizard: Open, dead: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot)
        assert "DEAD not running any more" in facts(screen) and "no operation is unfinished" in facts(screen)
        assert buttons(screen) == {"remove_lock", "reload", "not_now"}
        await pilot.press("x", "y")
        await settled(pilot)
        assert "whose owner is dead" in told(screen)
    assert litter(dead) == []


async def test_an_unknown_lock_goes_only_by_the_first_signs_of_its_id(wizard: Open, unknown: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot)
        text = facts(screen)
        assert "UNKNOWN nobody can tell" in text and "format '999'" in text and "ada@elsewhere" in text
        assert buttons(screen) == {"remove_lock", "reload", "not_now"}

        lock_id = str(screen.state.locks[0]["lock_id"]) if screen.state else ""
        assert lock_id and lock_id in text
        for typed in ("", lock_id[:3], "zzzz"):
            await pilot.press("x", *typed, "enter")
            await settled(pilot)
            assert isinstance(app.screen, NameLock) and app.screen.query_one("#yes", Button).disabled
            await pilot.press("escape")
            await settled(pilot)
            assert litter(unknown)

        await pilot.click("#do-remove_lock")
        await settled(pilot)
        await pilot.press(*lock_id[:4])
        await pilot.click("#yes")
        await settled(pilot)
        assert "removed the lock" in screen_text(app)
    assert litter(unknown) == []


async def test_an_unknown_lock_in_the_way_is_named_and_goes_with_the_choice(wizard: Open, half: Path) -> None:
    owner = half / ".claude.json.hostconf.lock/owner.json"
    owner.write_text('{ "format": 999 }')
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        await pilot.press("f", "y")
        await settled(pilot)
        assert "nobody can tell whether it is held" in " ".join(screen_text(app).split())
        assert owner.exists(), "it stands in the way, and was not touched"

        assert screen.state is not None
        (left,) = screen.state.of("UNKNOWN")
        await pilot.press("x", *str(left["lock_id"])[:4], "enter")
        await settled(pilot)
        assert owner.exists() and "goes together with what you choose" in told(screen)
        await pilot.press("f", "y")
        await settled(pilot)
        assert "Done" in screen_text(app)
    assert litter(half) == []


async def test_where_somebody_is_at_work_nothing_is_offered(wizard: Open, live: Path) -> None:
    before = tree(live)
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot)
        text = facts(screen)
        assert "LIVE at work right now: its process is alive" in text
        assert "since 2026-11-30 10:00" in text and "is the one that took it" in text
        assert buttons(screen) == {"reload", "not_now"}
        assert not {"Finish", "Take back", "Leave", "Remove lock"} & keys(app)
        assert "LOCKED" in screen_text(app) and "never removed" in screen_text(app)
        await pilot.press("f", "u", "l", "x")
        await settled(pilot)
        assert app.screen is screen
    assert tree(live) == before


async def test_an_operation_under_way_is_nobody_elses_to_settle(wizard: Open, half: Path) -> None:
    shutil.rmtree(half / ".local/state/hostconf/apply.hostconf.lock")
    app = wizard()
    with interrupted.held(half):
        async with app.run_test(size=(120, 40)) as pilot:
            screen = await shown(pilot)
            assert "under way" in facts(screen)
            assert buttons(screen) == {"reload", "not_now"}
            assert "UNFINISHED" not in screen_text(app)


async def test_r_looks_again(wizard: Open, sample: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        with interrupted.held(sample):
            screen = await shown(pilot)
            assert "LIVE" in facts(screen)
        await pilot.press("r")
        await settled(pilot)
        assert "DEAD" in facts(screen) and "LIVE" not in facts(screen)
        assert "remove_lock" in buttons(screen)


# ------------------------------------------------------------------ two operations


async def test_two_operations_are_settled_together(wizard: Open, half: Path) -> None:
    project = half / "site"
    project.mkdir()
    interrupt(half, interrupted.laying_aside, project=project, hosts="codex")
    app = wizard(project=project)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(pilot)
        text = facts(screen)
        assert "user scope" in text and "project scope" in text
        assert buttons(screen) == {"undo", "forget", "reload", "not_now"}, "what both allow"
        assert "only what all of them allow" in told(screen)
        assert "advised" not in screen_text(app)
        await pilot.press("u", "y")
        await settled(pilot)
    assert litter(half) == []


# ------------------------------------------------------------------ a dry run


@pytest.mark.parametrize("kind", ["half", "dead", "unknown", "live"])
async def test_a_dry_run_shows_all_and_changes_nothing(
    wizard: Open, sample: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(kind)
    before = tree(sample)
    app = wizard(dry_run=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot)
        assert "This is a dry run" in screen_text(app) and "DRY RUN" in screen_text(app)
        for name in buttons(screen) - {"reload", "not_now"}:
            assert screen.query_one(f"#do-{name}").disabled
        for key in "fulx":
            await pilot.press(key)
            await settled(pilot)
            assert app.screen is screen
    assert tree(sample) == before


def test_what_would_be_done_is_nothing_without_data() -> None:
    state = State({"needed": False, "operations": [], "locks": []})
    assert (state.choices, state.decision, state.badge, state.removable) == ((), "", "", [])
