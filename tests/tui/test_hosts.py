"""The first screen: who searches the web here, at one look."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostconf.tui.app import Wizard
from hostconf.tui.screens.hosts import Hosts
from hostconf.tui.widgets.rows import Rows
from tests.tui.conftest import SIZES, THEMES, Open, same_picture, screen_text, settled


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("theme", THEMES)
async def test_the_first_screen(wizard: Open, sample: Path, size: tuple[int, int], theme: str) -> None:
    """Two hosts, each with a rival beside the built-in tool."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await settled(pilot)
        same_picture(app, f"hosts-{size[0]}x{size[1]}-{theme.rpartition('-')[2]}", sample)


async def test_space_takes_a_host_out_and_in(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        before = app.wish.hosts
        assert before == ("claude", "codex")

        await pilot.press("space")
        after = app.wish.hosts
        assert after == ("codex",)
        assert "[ ] Claude Code" in screen_text(app)

        await pilot.press("j", "space", "k", "space")
        assert app.wish.hosts == ("claude",)


async def test_a_click_on_the_box_takes_a_host_out(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        table = app.screen.query_one(Rows).listing
        await pilot.click(table, offset=(2, 1))
        await pilot.pause()

        assert app.wish.hosts == ("claude",)


async def test_the_filter_shows_what_contains_it_and_escape_shows_all(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"codex")
        await settled(pilot)
        assert "Claude Code" not in screen_text(app)

        await pilot.press("escape")
        await settled(pilot)
        assert "Claude Code" in screen_text(app)
        assert isinstance(app.screen, Hosts)


async def test_the_screen_is_there_before_the_files_are_read(wizard: Open) -> None:
    app: Wizard = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        assert "hostconf" in screen_text(app)
        await settled(pilot)
        assert "Codex CLI" in screen_text(app)
