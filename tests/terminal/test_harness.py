"""The terminal of the tests does what a terminal does, so that a failure in it is the program's."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.terminal import Terminal, cells

# Takes the whole terminal as the wizard does, shows what it gets, and gives all back at `q`.
TAKER = r"""
import os, signal, sys, termios, tty

def size(*_):
    rows = os.get_terminal_size()
    print(f"\x1b[2;1H\x1b[2Ksize {rows.columns}x{rows.lines}", end="", flush=True)

before = termios.tcgetattr(0)
tty.setraw(0)
signal.signal(signal.SIGWINCH, size)
print("\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1006h\x1b[1;1H汉字 ready", end="")
size()
seen = b""
while not seen.endswith(b"q"):
    seen += os.read(0, 1024)
    print(f"\x1b[3;1H\x1b[2Kgot {seen!r}", end="", flush=True)
if "leave" not in sys.argv:
    print("\x1b[?1006l\x1b[?1000l\x1b[?25h\x1b[?1049l", end="", flush=True)
    termios.tcsetattr(0, termios.TCSANOW, before)
sys.exit(7)
"""


@pytest.fixture
def start(terminal: Terminal, variables: dict[str, str], tmp_path: Path) -> Callable[..., Terminal]:
    """Start a program and give its terminal."""

    def started(*words: str, width: int = 80, height: int = 24) -> Terminal:
        terminal.start(words, width, height, env=variables, cwd=tmp_path)
        return terminal

    return started


def test_keys_go_in_and_the_screen_comes_out(start: Callable[..., Terminal]) -> None:
    terminal = start("sh", "-c", "read x; echo got:$x; exit 3")
    assert terminal.running()
    terminal.text("Enter 'é' -l;")
    terminal.type("Enter")

    assert "got:Enter 'é' -l;" in terminal.wait_for("got:")
    assert terminal.ended() == 3
    assert terminal.modes().sane


def test_the_program_has_the_variables_it_was_given_and_no_others(
    start: Callable[..., Terminal], variables: dict[str, str]
) -> None:
    terminal = start("env", width=200)

    assert terminal.ended() == 0
    shown = dict(line.partition("=")[::2] for line in terminal.screen().split("\n") if line)
    assert shown == variables


def test_a_program_that_takes_the_terminal_and_gives_it_back(start: Callable[..., Terminal]) -> None:
    terminal = start(sys.executable, "-c", TAKER)
    terminal.wait_for(re.compile(r"^size 80x24$", re.MULTILINE))
    assert terminal.place("ready") == (5, 0)

    terminal.resize(120, 40)
    terminal.wait_for("size 120x40")
    terminal.click(4, 9)
    terminal.wait_for("[<0;5;10M")
    terminal.wait_for("[<0;5;10m")
    terminal.click_on("ready")
    terminal.wait_for("[<0;8;1m")
    terminal.type("Escape", "Down", "q")
    terminal.wait_gone("ready")

    assert terminal.ended() == 7
    assert terminal.modes().sane


def test_a_terminal_that_was_not_given_back_is_told(start: Callable[..., Terminal]) -> None:
    terminal = start(sys.executable, "-c", TAKER, "leave")
    terminal.wait_for("ready")
    terminal.type("q")

    assert terminal.ended() == 7
    found = terminal.modes()
    assert found == (True, False, False, False, True)
    assert not found.sane


def test_a_closed_terminal_hangs_up(start: Callable[..., Terminal], tmp_path: Path) -> None:
    program = "trap 'echo hung >hung; exit 9' HUP; echo ready; while :; do sleep 0.05; done"
    terminal = start("sh", "-c", program)
    terminal.wait_for("ready")
    terminal.close()

    assert terminal.ended() == 9
    assert (tmp_path / "hung").exists()


def test_a_program_that_does_not_listen_dies_of_it(start: Callable[..., Terminal]) -> None:
    terminal = start("sh", "-c", "echo ready; sleep 60")
    terminal.wait_for("ready")
    terminal.close()

    assert terminal.ended() == 128 + 1


def test_all_that_is_written_is_kept_and_a_signal_meets_the_program(
    terminal: Terminal, variables: dict[str, str], tmp_path: Path
) -> None:
    words = ["sh", "-c", r"printf '\033[31mred\033[0m\n'; read x"]
    terminal.start(words, env=variables, cwd=tmp_path, record=True)
    terminal.wait_for("red")
    assert "red" in terminal.rest(0.1)
    assert b"\x1b[31mred" in terminal.output(b"red")
    terminal.signal(9)
    assert terminal.ended() == 128 + 9
    terminal.close()
    terminal.all_gone()


def test_nothing_is_left_of_a_program_that_ignores_the_end(variables: dict[str, str], tmp_path: Path) -> None:
    terminal = Terminal()
    terminal.start(["sh", "-c", "trap '' HUP; echo $$ >pid; echo ready; sleep 60"], env=variables, cwd=tmp_path)
    terminal.wait_for("ready")
    pid = int((tmp_path / "pid").read_text())
    terminal.grace = 0.2
    terminal.remove()

    with pytest.raises(ProcessLookupError):
        for _ in range(200):  # a dead one keeps its number until it is fetched
            os.kill(pid, 0)
            time.sleep(0.05)
    assert not terminal._folder.exists()


def test_what_does_not_come_fails_with_the_whole_screen(start: Callable[..., Terminal]) -> None:
    terminal = start("sh", "-c", "echo here it is; exit 5")
    terminal.wait_for("here")

    with pytest.raises(pytest.fail.Exception, match="'there' was not shown") as caught:
        terminal.wait_for("there", 0.2)
    assert "│here it is" in str(caught.value)
    with pytest.raises(pytest.fail.Exception, match="is still shown"):
        terminal.wait_gone(re.compile("h.re"), 0.2)
    with pytest.raises(pytest.fail.Exception, match="is not shown"):
        terminal.place("there")


def test_two_terminals_know_nothing_of_each_other(
    open_terminal: Callable[[], Terminal], variables: dict[str, str], tmp_path: Path
) -> None:
    one, other = open_terminal(), open_terminal()
    for number, terminal in enumerate((one, other)):
        terminal.start(["sh", "-c", f"echo number {number}; read x; exit {number}"], env=variables, cwd=tmp_path)
    other.wait_for("number 1")
    other.close()

    assert "number 0" in one.wait_for("number")
    one.type("Enter")
    assert one.ended() == 0


def test_the_installed_command_runs_in_it(
    start: Callable[..., Terminal], hostconf: str, demo: Path, variables: dict[str, str]
) -> None:
    terminal = start(hostconf, "explain", "web_search", "codex", width=120)

    assert terminal.ended() == 0
    assert "mcp__exa__web_search_exa" in terminal.screen()
    assert "\x1b[" in terminal.screen(colours=True)


def test_cells() -> None:
    assert [cells(text) for text in ("", "abc", "汉字", "e\u0301")] == [0, 3, 4, 1]
