"""A real terminal for tests: a program in tmux, with keys, mouse, a screen to read and an end.

Each terminal is a tmux server of its own, which reads no settings of anybody.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

POLL = 0.1
"""Seconds between two looks at the screen."""

# Leads the session in the place of a shell. As a shell that dies of it would, it hands the hang-up on to the program;
# unlike one it stays, tells the exit code, and holds the window until somebody closes it.
_LEADER = """
import json, os, signal, subprocess, sys, termios

def hung(*_):
    process.send_signal(signal.SIGHUP)

folder = sys.argv[1]
with open(os.path.join(folder, "program")) as file:
    words, variables = json.load(file)
signal.signal(signal.SIGINT, lambda *_: None)
signal.signal(signal.SIGQUIT, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
process = subprocess.Popen(words, env=variables, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, []))
with open(os.path.join(folder, "new"), "w") as file:
    file.write(str(process.pid))
os.rename(os.path.join(folder, "new"), os.path.join(folder, "pid"))
signal.signal(signal.SIGHUP, hung)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
code = process.wait()
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it comes twice
try:
    flags = termios.tcgetattr(0)[3]
except termios.error:
    flags = 0  # it is closed
with open(os.path.join(folder, "new"), "w") as file:
    json.dump([code if code >= 0 else 128 - code, bool(flags & termios.ECHO), bool(flags & termios.ICANON)], file)
os.rename(os.path.join(folder, "new"), os.path.join(folder, "end"))
try:
    while os.read(0, 1024):
        pass
except OSError:
    pass
"""


class Modes(NamedTuple):
    """How a program has left the terminal."""

    alternate: bool
    """Whether the alternate screen is still shown."""
    cursor: bool
    echo: bool
    lines: bool
    """Whether the terminal gives whole lines, as a shell wants it."""
    mouse: bool
    """Whether the mouse is still taken."""

    @property
    def sane(self) -> bool:
        """Whether a shell can go on in it."""
        return self == Modes(alternate=False, cursor=True, echo=True, lines=True, mouse=False)


class Terminal:
    """One program in one terminal. Close it at the end: `with Terminal() as terminal`."""

    grace = 5.0
    """Seconds that `remove` leaves a program to end by itself."""

    def __init__(self) -> None:
        # A socket's path has to be short, and those of pytest are not.
        self._folder = Path(tempfile.mkdtemp(prefix="hct-"))
        self._end = self._folder / "end"
        self._output = self._folder / "output"
        self._pid = 0
        self._open = False

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    # -------------------------------------------------------------- start and end

    def start(
        self,
        words: Sequence[str],
        width: int = 80,
        height: int = 24,
        *,
        env: Mapping[str, str],
        cwd: Path,
        record: bool = False,
    ) -> None:
        """Start a program with these variables and no others; TERM is tmux's own unless it is among them.

        With `record` all that it writes to the terminal is kept for `output`.
        """
        assert not self._pid, "one program a terminal"
        variables = {"TERM": "tmux-256color", **env}
        (self._folder / "program").write_text(json.dumps([list(words), variables]))
        self._tmux(
            *("new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(cwd)),
            *(sys.executable, "-I", "-S", "-c", _LEADER, str(self._folder), ";"),
            *("set-option", "-g", "status", "off", ";", "set-option", "-s", "escape-time", "0"),
            *((";", "pipe-pane", "-t", "0", "-O", f"cat >{self._output}") if record else ()),
        )
        self._open = True
        self._pid = int(self._ask("#{pane_pid}"))
        self.resize(width, height)  # the line of the status was among them

    def ended(self, seconds: float = 20) -> int:
        """Wait for the end of the program; its exit code, 128 and more for a signal."""
        self._until(self._end.exists, seconds, "the program is still there")
        return int(self._told()[0])

    def running(self) -> bool:
        """Whether the program has not ended."""
        return not self._end.exists()

    @property
    def pid(self) -> int:
        """The process id of the program."""
        told = self._folder / "pid"
        self._until(told.exists, 20, "the program has not begun")
        return int(told.read_text())

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        os.kill(self.pid, number)

    def all_gone(self, seconds: float = 20) -> None:
        """Wait, after `close`, until no process that began in this terminal is left."""
        self._until(lambda: not _group_lives(self._pid), seconds, "a process is left")

    def close(self) -> None:
        """Close the window, as its user would: the program gets SIGHUP. `ended` tells its exit code."""
        if self._open:
            self._open = False
            self._tmux("kill-server", check=False)

    def remove(self) -> None:
        """Close, end what is left, remove all traces."""
        self.close()
        end = time.monotonic() + self.grace
        while self._pid and self.running() and time.monotonic() < end:
            time.sleep(POLL)
        if self._pid and self.running():
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self._folder, ignore_errors=True)

    # -------------------------------------------------------------- hands

    def type(self, *keys: str) -> None:
        """Press keys by the names that tmux has for them: `Enter`, `Escape`, `Down`, `C-c`, `q`."""
        self._tmux("send-keys", "-t", "0", "--", *map(_whole, keys))

    def text(self, text: str) -> None:
        """Type a text as it stands."""
        self._tmux("send-keys", "-t", "0", "-l", "--", _whole(text))

    def click(self, column: int, row: int) -> None:
        """Press and release the left button on a cell; both count from 0."""
        for final in "Mm":
            report = f"\x1b[<0;{column + 1};{row + 1}{final}"
            self._tmux("send-keys", "-t", "0", "-H", *(f"{ord(letter):02x}" for letter in report))

    def click_on(self, what: str | re.Pattern[str], seconds: float = 20) -> None:
        """Click into the middle of the first place where a text is shown, or where a pattern holds in a line."""
        self.wait_for(what, seconds)
        column, row, width = _found(self.rest(), what)
        self.click(column + width // 2, row)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-t", "0", "-x", str(width), "-y", str(height))

    # -------------------------------------------------------------- eyes

    def screen(self, *, colours: bool = False) -> str:
        """What is shown, line by line; with `colours` with the sequences that make them."""
        return self._tmux("capture-pane", "-p", "-t", "0", *(["-e"] if colours else []))

    def place(self, text: str) -> tuple[int, int]:
        """Column and row where a text is first shown, from 0."""
        return _found(self.screen(), text)[:2]

    def output(self, until: bytes) -> bytes:
        """All that a program which was started with `record` has written, once this is among it."""
        self._until(lambda: until in self._output.read_bytes(), 20, f"{until!r} was not written")
        return self._output.read_bytes()

    def wait_for(self, what: str | re.Pattern[str], seconds: float = 20) -> str:
        """Wait until a text or a pattern is shown; the screen it is on."""
        return self._watch(lambda screen: _shows(screen, what), seconds, f"{what!r} was not shown")

    def wait_gone(self, what: str | re.Pattern[str], seconds: float = 20) -> str:
        """Wait until it is shown no more, and what was under it is at rest; the screen without it."""
        self._watch(lambda screen: not _shows(screen, what), seconds, f"{what!r} is still shown")
        return self.rest()

    def rest(self, quiet: float = 0.25, most: float = 3) -> str:
        """Wait until the screen has not changed for a while; gives it.

        A click or a key that comes while one screen takes the place of another meets neither.
        """
        screen, now = self.screen(), time.monotonic()
        end, since = now + most, now
        while time.monotonic() < min(end, since + quiet):
            time.sleep(POLL)
            if (found := self.screen()) != screen:
                screen, since = found, time.monotonic()
        return screen

    def modes(self) -> Modes:
        """How the program has left the terminal. Waits for its end."""
        self.ended()
        alternate, cursor, mouse = self._ask("#{alternate_on} #{cursor_flag} #{mouse_any_flag}").split()
        _, echo, lines = self._told()
        return Modes(alternate == "1", cursor == "1", echo, lines, mouse == "1")

    # -------------------------------------------------------------- tmux

    def _watch(self, good: Callable[[str], bool], seconds: float, problem: str) -> str:
        end = time.monotonic() + seconds
        while not good(screen := self.screen()):
            if time.monotonic() > end:
                state = "running" if self.running() else f"ended with {self.ended()}"
                pytest.fail(f"{problem} in {seconds:g} seconds; the program is {state}\n{framed(screen)}")
            time.sleep(POLL)
        return screen

    def _until(self, good: Callable[[], bool], seconds: float, problem: str) -> None:
        end = time.monotonic() + seconds
        while not good():
            if time.monotonic() > end:
                screen = framed(self.screen()) if self._open else "the terminal is closed"
                pytest.fail(f"{problem} after {seconds:g} seconds\n{screen}")
            time.sleep(POLL)

    def _told(self) -> tuple[int, bool, bool]:
        code, echo, lines = json.loads(self._end.read_text())
        return code, echo, lines

    def _ask(self, what: str) -> str:
        return self._tmux("display-message", "-p", "-t", "0", what).strip()

    def _tmux(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-L", "t", "-f", os.devnull, *words],
            capture_output=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "LANG": "C.UTF-8",
                "HOME": str(self._folder),
                "TMUX_TMPDIR": str(self._folder),
            },
        )
        assert not check or done.returncode == 0, f"tmux {words[0]}: {done.stderr.decode()}"
        return done.stdout.decode("utf-8", "replace")


def cells(text: str) -> int:
    """How many cells a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def framed(screen: str) -> str:
    """A screen for a message, with its borders."""
    lines = screen.splitlines()
    width = max(map(cells, lines), default=0)
    return "\n".join(["┌" + "─" * width, *(f"│{line}" for line in lines), "└" + "─" * width])


def _whole(word: str) -> str:
    """A word for tmux, which takes a `;` at the end of one for the end of the command."""
    return f"{word[:-1]}\\;" if word.endswith(";") else word


def _found(screen: str, what: str | re.Pattern[str]) -> tuple[int, int, int]:
    """Column, row and width of the first place where it is shown in a line."""
    pattern = re.compile(re.escape(what)) if isinstance(what, str) else what
    for row, line in enumerate(screen.splitlines()):
        if found := pattern.search(line):
            return cells(line[: found.start()]), row, cells(found[0])
    pytest.fail(f"{what!r} is not shown\n{framed(screen)}")


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _shows(screen: str, what: str | re.Pattern[str]) -> bool:
    return what in screen if isinstance(what, str) else what.search(screen) is not None
