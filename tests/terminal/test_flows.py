"""Whole ways through the wizard in a real terminal: install, uninstall, dry run; on the screen and on the disk."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.terminal import way
from tests.terminal.terminal import Terminal

Wizard = Callable[..., Terminal]


def test_install_and_uninstall(wizard: Wizard, demo: Path, variables: dict[str, str]) -> None:
    """All of it by keys: what was previewed is written, and what was written is taken back to the byte."""
    before, planned = way.contents(demo), way.planned(variables, way.FORCED)
    terminal = wizard()
    way.to_choice(terminal)
    way.to_forced(terminal)
    way.to_preview(terminal)
    terminal.type("2")
    screen = terminal.wait_for(re.compile(r"modify +~/.config/opencode/opencode.jsonc"))
    assert f"Files ({len(planned)})" in screen
    assert set(re.findall(r"modify +~/(\S+)", screen)) == set(planned)
    assert way.contents(demo) == before

    terminal.type("a")
    terminal.wait_for("go on")
    terminal.type("y", "Enter")  # neither a letter nor Enter is the word
    terminal.wait_for("▊  y ")
    terminal.type("BSpace")
    assert "go on" in terminal.wait_for("▊  apply ") and way.contents(demo) == before
    terminal.text("apply")
    terminal.type("Enter")
    screen = terminal.wait_for(way.WRITTEN)
    assert all(f"~/{name}" in screen for name in planned)
    assert way.written(demo, planned) == planned
    others = {name: what for name, what in way.contents(demo).items() if name in before and name not in planned}
    assert others == {name: what for name, what in before.items() if name not in planned}
    assert way.records(demo) == ["claude", "codex", "opencode"]
    assert way.litter(demo) == []

    terminal.wait_for("not installed here")
    terminal.type("G")
    terminal.wait_for("asks again")
    terminal.type("Enter")
    terminal.wait_for(re.compile(r"Claude Code .* deepseek .*optional"))
    terminal.type("i")
    terminal.wait_for(re.compile("(?s)(deepseek-web-retrieval +user .* as written.*){3}"))
    terminal.type("U")
    terminal.wait_for(way.PLANNED)
    assert way.written(demo, planned) == planned
    way.approve(terminal)
    screen = terminal.wait_for("✓ Taken back")
    assert all(f"~/{name}" in screen for name in planned)
    assert way.contents(demo) == before

    terminal.type("Enter")
    terminal.wait_for(way.READ)
    terminal.type("q")
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert way.contents(demo) == before


def test_a_dry_run_touches_nothing(wizard: Wizard, demo: Path) -> None:
    """As far as one can get: every byte, mode and time of the home is as before, and every screen says so."""
    before = way.tree(demo)
    terminal = wizard("--dry-run")

    def told() -> None:
        assert "DRY RUN" in terminal.screen().splitlines()[0]

    terminal.wait_for(way.READ)
    told()
    terminal.type("n")
    terminal.wait_for(re.compile(r"\d+ findings"))
    told()
    terminal.type("n")
    terminal.wait_for("× forced")
    told()
    way.to_forced(terminal)
    told()
    way.to_preview(terminal)
    told()
    terminal.type("2", "Down", "3", "y")
    terminal.wait_for("hostconf apply")
    terminal.type("Escape")
    terminal.wait_gone("hostconf apply")
    terminal.type("a")
    terminal.wait_for("this is a dry run")
    told()
    assert " No " not in terminal.screen()
    terminal.type("I")
    terminal.wait_for("Installed")
    told()
    terminal.type("R")
    terminal.wait_for("Recovery")
    told()
    assert way.tree(demo) == before

    terminal.type("q")
    terminal.wait_for("Leave hostconf?")
    terminal.type("y")
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert way.tree(demo) == before
    assert not (demo.parent / "system").exists()
