"""A way that ends too early, in a real terminal: left by keys, hung up, told to end, killed; and what comes after."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import way
from tests.terminal.terminal import Terminal
from tests.tui import interrupted

Wizard = Callable[..., Terminal]
STATE = Path(".local/state/hostconf")


@pytest.fixture
def demo(demo: Path) -> Path:
    """The sample home with two hosts: what is shown here is the same, and planned in less time."""
    shutil.rmtree(demo / ".config" / "opencode")
    return demo


def hang_up(terminal: Terminal) -> None:
    """As when a window is closed, or a connection breaks."""
    terminal.close()


def terminate(terminal: Terminal) -> None:
    """As `kill` does it."""
    terminal.signal(signal.SIGTERM)


def left(terminal: Terminal, end: Callable[[Terminal], None]) -> None:
    """It has left by itself, and nothing of it stays."""
    # 120 is the interpreter's own word, where it could not write its last to a terminal that is gone
    assert terminal.ended() in ((130, 120) if end is hang_up else (130,))
    assert end is hang_up or terminal.modes().sane
    terminal.close()
    terminal.all_gone()


def to_plan(terminal: Terminal) -> None:
    """From the hosts to a plan that asks for no word."""
    way.to_choice(terminal)
    way.to_preview(terminal)


def stopped(terminal: Terminal, home: Path) -> str:
    """Stop the program as soon as its files are being exchanged; the stage at which it stands then."""
    end = time.monotonic() + 20
    while not (home / STATE / "journal.prepared").exists():
        assert time.monotonic() < end and terminal.running(), "it never came to exchange files"
    terminal.signal(signal.SIGSTOP)
    stages = [path.suffix[1:] for path in (home / STATE).glob("journal.*")]
    return stages[0] if stages else "over"


def whole(home: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Each file is as it was, or as it was planned."""
    now = way.written(home, after)
    assert not [name for name, data in now.items() if data not in (before[name], after[name])]


def complete(home: Path, after: dict[str, bytes]) -> None:
    """All is written, recorded and cleaned up."""
    assert way.written(home, after) == after
    assert way.records(home) == ["claude", "codex"]
    assert way.litter(home) == []


# ------------------------------------------------------------------ before anything is written


def test_left_in_the_middle(wizard: Wizard, demo: Path) -> None:
    """What was chosen is asked about; one may stay; nothing was written."""
    before = way.tree(demo)
    terminal = wizard()
    way.to_choice(terminal)
    way.to_forced(terminal)
    for key in ("q", "C-c"):
        terminal.type(key)
        terminal.wait_for("Leave hostconf?")
        terminal.type("Escape")
        assert "● forced" in terminal.wait_gone("Leave hostconf?")

    way.to_preview(terminal)
    terminal.type("a")
    terminal.wait_for("go on")
    terminal.type("Escape")
    terminal.wait_gone("go on")
    terminal.type("C-c")
    terminal.wait_for("Leave hostconf?")
    terminal.type("y")
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert way.tree(demo) == before


@pytest.mark.parametrize("end", [hang_up, terminate])
def test_ended_from_outside_before_a_yes(wizard: Wizard, demo: Path, end: Callable[[Terminal], None]) -> None:
    """While it still works out what could be had."""
    before = way.tree(demo)
    terminal = wizard()
    terminal.wait_for(way.READ)
    terminal.type("W")
    terminal.wait_for("Integration")
    end(terminal)
    left(terminal, end)
    assert way.tree(demo) == before


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_left_at_once_where_nothing_was_chosen(wizard: Wizard, demo: Path, key: str) -> None:
    before = way.tree(demo)
    terminal = wizard()
    terminal.wait_for(way.READ)
    terminal.type(key)
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert way.tree(demo) == before


# ------------------------------------------------------------------ while it writes


@pytest.mark.parametrize("end", [hang_up, terminate])
def test_ended_from_outside_while_it_waits_for_a_host(
    wizard: Wizard, demo: Path, variables: dict[str, str], end: Callable[[Terminal], None]
) -> None:
    """All locks are taken and nothing is exchanged: it goes on to the end, and leaves then."""
    planned = way.planned(variables, interrupted.REQUEST)
    before = way.written(demo, planned)
    terminal = wizard()
    to_plan(terminal)
    (demo / ".codex/config.toml.lock").mkdir()  # a host at work: it is waited for, for a while
    way.approve(terminal)
    terminal.wait_for("own lock")
    terminal.type("q", "C-c", "Escape")
    end(terminal)
    assert way.written(demo, planned) == before and terminal.running()

    left(terminal, end)
    complete(demo, planned)


def test_hung_up_while_files_are_exchanged(wizard: Wizard, demo: Path, variables: dict[str, str]) -> None:
    """Some files may be old and others new at this moment, each of them whole; in the end all are new."""
    planned = way.planned(variables, interrupted.REQUEST)
    before = way.written(demo, planned)
    terminal = wizard()
    to_plan(terminal)
    way.approve(terminal)
    stopped(terminal, demo)
    whole(demo, before, planned)
    hang_up(terminal)
    terminal.signal(signal.SIGCONT)
    left(terminal, hang_up)
    complete(demo, planned)


def test_the_wizard_is_killed_while_it_writes(wizard: Wizard, demo: Path, variables: dict[str, str]) -> None:
    """Whatever it had done by then: each file is whole, and the next start offers what is left to do."""
    planned = way.planned(variables, interrupted.REQUEST)
    before = way.contents(demo)
    terminal = wizard()
    to_plan(terminal)
    way.approve(terminal)
    stage = stopped(terminal, demo)
    terminal.signal(signal.SIGKILL)
    terminal.signal(signal.SIGCONT)
    assert terminal.ended() == 128 + signal.SIGKILL
    whole(demo, {name: before[name][1] for name in planned}, planned)
    if stage == "over":  # it was faster than the test
        complete(demo, planned)
        return

    again = wizard()
    screen = again.wait_for("What was left unfinished")
    back = stage == "prepared"
    again.wait_for("u Take back" if back else "f Finish")
    assert "UNFINISHED" in screen.splitlines()[0]
    again.type("u" if back else "f")
    again.wait_for(" Not yet ")
    again.type("y")
    again.wait_for("✓ Done")
    if back:
        assert way.but_state(demo) == before
    else:
        complete(demo, planned)
    again.type("q")
    assert again.ended() == 0
    assert again.modes().sane


# ------------------------------------------------------------------ after it


@pytest.mark.parametrize("decision", ["u", "f"], ids=["take back", "finish"])
def test_recovery_after_a_killed_apply(wizard: Wizard, demo: Path, variables: dict[str, str], decision: str) -> None:
    """It comes first, tells how each file stands, and is settled either way; then the way is free."""
    planned = way.planned(variables, interrupted.REQUEST)
    before = way.contents(demo)
    interrupted.interrupt(demo, interrupted.exchanging, 6)
    half = way.written(demo, planned)
    assert half != planned and half != {name: before[name][1] for name in planned}
    assert way.litter(demo)

    terminal = wizard(width=120, height=40)
    screen = terminal.wait_for("What was left unfinished")
    assert "UNFINISHED" in screen.splitlines()[0]
    terminal.type("Escape")
    terminal.wait_for(way.READ)
    assert "UNFINISHED" in terminal.screen().splitlines()[0]
    assert way.written(demo, planned) == half
    terminal.type("R")
    terminal.wait_for("3 What now?")
    terminal.type(decision)
    terminal.wait_for(" Not yet ")
    terminal.type("Enter")  # the no has the focus
    terminal.wait_gone(" Not yet ")
    assert way.written(demo, planned) == half
    terminal.type(decision)
    terminal.wait_for(" Not yet ")
    terminal.type("y")
    terminal.wait_for("✓ Done")
    terminal.wait_gone("UNFINISHED")
    if decision == "u":
        assert way.but_state(demo) == before
    else:
        assert way.written(demo, planned) == planned
        assert way.records(demo) == ["claude", "codex"]
    assert way.litter(demo) == []

    terminal.type("n")
    terminal.wait_for(way.READ)
    terminal.type("q")
    assert terminal.ended() == 0
    assert terminal.modes().sane


def test_stopped_and_continued_from_outside(wizard: Wizard) -> None:
    """By a signal that cannot be caught: it draws anew, and the terminal is as it was found once one leaves."""
    terminal = wizard()
    terminal.wait_for(way.READ)
    terminal.signal(signal.SIGSTOP)
    terminal.signal(signal.SIGCONT)
    terminal.type("?")
    terminal.wait_for("On every screen")
    terminal.type("Escape")
    terminal.wait_gone("On every screen")
    terminal.type("q")
    assert terminal.ended() == 0
    assert terminal.modes().sane


@pytest.mark.parametrize("keys", ["qn", "qC", "qW:"])
def test_keys_that_come_after_the_last_one(wizard: Wizard, keys: str) -> None:
    """Typed in one go: the later ones find a program that is leaving."""
    terminal = wizard()
    terminal.wait_for(way.READ)
    terminal.text(keys)
    assert terminal.ended() == 0
    assert "foresaw" not in terminal.screen()


def test_a_host_that_is_being_asked_is_ended_with_the_wizard(
    wizard: Wizard, demo: Path, variables: dict[str, str], tmp_path: Path
) -> None:
    """It has a session of its own: what the wizard does not end before it ends itself, nobody ends."""
    told = tmp_path / "told"
    program = tmp_path / "codex"
    program.write_text(f"#!/bin/sh\nsleep 300 &\necho $$ $! >{told}.new\nmv {told}.new {told}\nwait\n")
    program.chmod(0o755)
    terminal = wizard(env={**variables, "PATH": f"{tmp_path}:{variables['PATH']}"})
    to_plan(terminal)
    way.approve(terminal)
    terminal.wait_for("asking the hosts")
    end = time.monotonic() + 20
    while not told.exists():
        assert time.monotonic() < end
    terminal.type("q")
    assert terminal.ended() == 0
    assert all(ended(int(pid)) for pid in told.read_text().split())


def ended(pid: int) -> bool:
    """Whether it is gone at this moment, or dead and waits to be fetched."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
