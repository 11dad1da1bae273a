"""What a test in a real terminal stands on: tmux, the installed command, a copy of the demo home."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.terminal import Terminal

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def open_terminal() -> Iterator[Callable[[], Terminal]]:
    """Opens as many terminals as a test wants; all are closed at its end."""
    if shutil.which("tmux") is None:
        # Where nobody looks at what was skipped, these tests would be lost without a word.
        (pytest.fail if os.environ.get("CI") else pytest.skip)("tmux is not installed")
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Terminal())


@pytest.fixture
def terminal(open_terminal: Callable[[], Terminal]) -> Terminal:
    """The terminal of this test; nothing is started in it yet."""
    return open_terminal()


@pytest.fixture
def hostconf() -> str:
    """The installed command, beside the interpreter of the tests."""
    command = Path(sys.executable).parent / "hostconf"
    assert command.is_file(), "install the checkout first: the tests in a terminal start its command"
    return str(command)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the sample home, with its project `site`."""
    place = tmp_path / "ada"
    shutil.copytree(ROOT / "demo" / "home", place)
    (place / "site" / ".git").mkdir()
    return place


@pytest.fixture
def variables(demo: Path) -> dict[str, str]:
    """All variables of a program in the terminal: those of a plain login on the sample home."""
    managed = demo.parent / "system"
    return {
        "HOME": str(demo),
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "TERM": "tmux-256color",
        "COLORTERM": "truecolor",
        "DEEPSEEK_API_KEY": "not-a-real-key",
        "HOSTCONF_SYSTEM_ROOT": str(managed),
    }


@pytest.fixture
def wizard(
    open_terminal: Callable[[], Terminal], hostconf: str, variables: dict[str, str], demo: Path
) -> Callable[..., Terminal]:
    """Opens the wizard with these words in a terminal of its own, on the sample home if nothing else is said."""

    def opened(*words: str, **more: Any) -> Terminal:
        terminal = open_terminal()
        terminal.start((hostconf, *words), **{"env": variables, "cwd": demo, **more})
        return terminal

    return opened
