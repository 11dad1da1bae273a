"""The way through the wizard, step by step, and what is on the disk before and after it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hostconf import workflow
from hostconf.environment import read_environment
from hostconf.workflow.request import Request
from tests.terminal.terminal import Terminal

READ = "[x] Claude Code"
"""Shown once the hosts of the sample home are read."""
PLANNED = re.compile(r"\d+ files? · ")
"""Shown once a plan is made."""
WRITTEN = "✓ Written"
RECORDS = Path(".local/state/hostconf/records")
REQUEST = Request("deepseek-web-retrieval", ("claude", "codex", "opencode"), env=(("DEEPSEEK_API_KEY", None),))
"""What the wizard wishes on the sample home if nothing is chosen."""
FORCED = REQUEST._replace(host_tiers=(("claude", "web_fetch", "forced"), ("opencode", "web_fetch", "forced")))
"""What it wishes after `to_forced`."""


class Node(NamedTuple):
    """One name on the disk, with all that a look at it does not change."""

    mode: int
    changed: int
    data: bytes


def tree(home: Path) -> dict[str, Node]:
    """Every file and folder: mode, time, bytes."""
    found = {}
    for path in [home, *sorted(home.rglob("*"))]:
        state = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(state.st_mode) else b""
        found[str(path.relative_to(home))] = Node(state.st_mode, state.st_mtime_ns, data)
    return found


def contents(home: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder: mode and bytes."""
    return {name: (node.mode, node.data) for name, node in tree(home).items()}


def but_state(home: Path) -> dict[str, tuple[int, bytes]]:
    """The same without the folders for hostconf's own state, which an undo may leave empty."""
    found = contents(home)
    left = [name for name in found if name.startswith(".local")]
    assert left in ([], [".local", ".local/state", ".local/state/hostconf"])
    return {name: what for name, what in found.items() if name not in left}


def planned(variables: Mapping[str, str], request: Request = REQUEST) -> dict[str, bytes]:
    """The config files that this request writes, as they are then."""
    home = variables["HOME"]
    environment = read_environment(home=home, project=None, cwd=home, variables=variables)
    prepared = workflow.prepare(environment, request)
    assert prepared.ready, prepared.result.errors
    found = {}
    for change in prepared.plan.changes:
        if change.role == "config":
            assert change.after is not None
            found[os.path.relpath(change.real, home)] = change.after
    return found


def written(home: Path, names: Mapping[str, bytes]) -> dict[str, bytes]:
    """These files as they are."""
    return {name: (home / name).read_bytes() for name in names}


def records(home: Path) -> list[str]:
    """The records of finished installs."""
    return sorted(path.name.split(".")[0] for path in (home / RECORDS).glob("*.json"))


def litter(home: Path) -> list[str]:
    """What only an operation at work may leave: locks, journals, texts beside files."""
    pattern = re.compile(r"\.hostconf\.lock|/journal\.|\.hostconf-[0-9a-f]{12}")
    return [str(path) for path in home.rglob("*") if pattern.search(str(path))]


# ------------------------------------------------------------------ steps


def to_choice(terminal: Terminal) -> None:
    """From the hosts over the conflicts to the choice, and wait until all of it is worked out."""
    terminal.wait_for(READ)
    terminal.type("n")
    terminal.wait_for(re.compile(r"\d+ findings"))
    terminal.type("n")
    terminal.wait_for("× forced")  # what Codex cannot do is known only then
    terminal.wait_gone("forced  …")


def to_forced(terminal: Terminal) -> None:
    """From the choice: web fetch forced wherever it can be had."""
    terminal.type("Down", "Right", "Right", "a")
    terminal.wait_for("● forced")
    terminal.wait_gone("forced  …")


def to_preview(terminal: Terminal) -> None:
    """From the choice to the plan."""
    terminal.type("n")
    terminal.wait_for(PLANNED)


def approve(terminal: Terminal, word: str = "") -> None:
    """From the plan: say yes, by a word where one is asked for."""
    terminal.type("a")
    if word:
        terminal.wait_for("go on")
        terminal.text(word)
        terminal.type("Enter")
    else:
        terminal.wait_for(" No ")
        terminal.type("y")
