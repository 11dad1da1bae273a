"""On a real terminal: the plan is shown, the question asked, and only a yes writes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
APPLY = ["apply", "deepseek-web-retrieval", "--host", "codex", "--env", "DEEPSEEK_API_KEY"]
CONFIG = '# mine\nmodel = "x"\n'


class Terminal:
    """hostconf on a pseudo-terminal of its own, with somebody to answer."""

    def __init__(self, words: list[str], home: Path, **variables: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hostconf", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=home,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C arrives
            env={
                "HOME": str(home),
                "PATH": os.defpath,
                "PYTHONPATH": str(ROOT / "src"),
                "TERM": "xterm",
                "LANG": "C.UTF-8",
                **variables,
            },
        )
        os.close(slave)
        self.seen = ""

    def until(self, text: str, seconds: float = 60) -> None:
        """Read on until `text` was shown."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert self._read(end), f"{text!r} was not shown: {self.seen}"

    def answer(self, text: str) -> int:
        """Type, and wait for the end."""
        os.write(self.master, text.encode())
        end = time.monotonic() + 60
        while self._read(end):
            pass
        return self.process.wait(60)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


@pytest.fixture
def field(home: Path) -> Path:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(CONFIG, encoding="utf-8")
    return home


@pytest.fixture
def terminal(field: Path) -> Iterator[Terminal]:
    opened = Terminal(APPLY, field)
    opened.until("[y/N] ")
    yield opened
    opened.close()


def config(home: Path) -> str:
    return (home / ".codex" / "config.toml").read_text(encoding="utf-8")


def test_the_plan_is_shown_before_the_question_and_yes_writes(terminal: Terminal, field: Path) -> None:
    before = terminal.seen
    assert "+[mcp_servers.deepseek]" in before
    assert "\x1b[32m" in before
    assert config(field) == CONFIG

    assert terminal.answer("y\n") == 0
    assert "[mcp_servers.deepseek]" in config(field)
    assert "changed ~/.codex/config.toml" in re.sub(r" +", " ", terminal.seen)


@pytest.mark.parametrize(("typed", "exit_code"), [("n\n", 3), ("\n", 3), ("\x04", 3), ("\x03", 130)])
def test_anything_else_writes_nothing(typed: str, exit_code: int, terminal: Terminal, field: Path) -> None:
    """No, nothing, end of input, Ctrl-C."""
    assert terminal.answer(typed) == exit_code

    assert config(field) == CONFIG
    assert sorted(file.name for file in field.rglob("*") if file.is_file()) == ["config.toml"]
    assert "error: " in re.sub(r"\x1b\[[\d;]*m", "", terminal.seen)


def test_no_color_is_honoured(field: Path) -> None:
    opened = Terminal(["status"], field, NO_COLOR="1")
    try:
        assert opened.answer("") == 0
        assert "\x1b" not in opened.seen
    finally:
        opened.close()
