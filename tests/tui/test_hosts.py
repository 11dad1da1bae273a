"""The first screen: who searches the web here, at one look."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hostconf.tui.app import Wizard
from hostconf.tui.screens.hosts import Hosts
from hostconf.tui.widgets.rows import Rows
from hostconf.workflow.request import Request
from tests.tui.conftest import SIZES, THEMES, Open, same_picture, screen_lines, screen_text, settled


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


async def test_wide_the_host_stands_beside_the_table(wizard: Open, sample: Path) -> None:
    """All of the marked host at the right."""
    app = wizard()
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("j")
        await settled(pilot)
        same_picture(app, "hosts-200x60-dark", sample)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_one_look_tells_who_searches(wizard: Open, size: tuple[int, int]) -> None:
    """How many answer, and who, on the row of each host."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        rows = {name: y for y in screen_lines(app) for name in ("Claude Code", "Codex CLI") if f"[x] {name}" in y}
        assert "2: WebSearch, tavily" in rows["Claude Code"]
        assert "2: web_search, tavily" in rows["Codex CLI"]


async def test_a_broken_file_is_plain_on_its_host(wizard: Open, sample: Path) -> None:
    """The word on the row, the file and why in the host's own part."""
    (sample / ".codex/config.toml").write_text("model = = 1\n")
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert any("[x] Codex CLI" in line and "broken" in line for line in screen_lines(app))
        await pilot.press("j")
        await settled(pilot)
        assert "✗ ~/.codex/config.toml: " in screen_text(app)
        same_picture(app, "hosts-broken-80x24-dark", sample)


async def test_no_host_at_all(wizard: Open, tmp_path: Path) -> None:
    """Which hosts are known, where was looked, and how to see the job all the same."""
    home = tmp_path / "bare"
    home.mkdir()
    app = wizard(home)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        shown = screen_text(app)
        assert "hostconf --demo" in shown
        assert "~/.codex/config.toml" in shown
        same_picture(app, "hosts-none-80x24-dark", home)

        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, Hosts)

        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text("")
        await pilot.press("r")
        await settled(pilot)
        assert "[x] Codex CLI" in screen_text(app)


async def test_what_is_installed_and_its_drift(wizard: Open, sample: Path) -> None:
    """Tiers of ours on the row; a changed entry of ours is called drift."""
    app = wizard()
    bench = app.bench
    tiers = (("codex", "web_search", "preferred"), ("codex", "web_fetch", "optional"))
    done = bench.carry_out(
        bench.prepare(Request("deepseek-web-retrieval", ("codex",), host_tiers=tiers)), lambda step: None
    )
    assert done.exit_code == 0
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert any("[x] Codex CLI" in line and "preferred/optional" in line for line in screen_lines(app))

        path = sample / ".codex/config.toml"
        path.write_text(path.read_text().replace("deepseek-web-retrieval", "deepseek-web-retrievals"))
        await pilot.press("r", "j")
        await settled(pilot)
        assert any("[x] Codex CLI" in line and "drift!" in line for line in screen_lines(app))
        assert "! drift ~/.codex/config.toml" in screen_text(app)


async def test_why_a_server_is_off_names_the_file_in_short(wizard: Open) -> None:
    app = wizard()
    bench = app.bench
    tiers = (("claude", "web_search", "forced"), ("claude", "web_fetch", "forced"))
    env = (("DEEPSEEK_API_KEY", None),)
    prepared = bench.prepare(Request("deepseek-web-retrieval", ("claude",), host_tiers=tiers, env=env))
    assert bench.carry_out(prepared, lambda step: None).exit_code == 0
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "(~/.claude/settings.json:" in screen_text(app)


async def test_a_host_that_is_gone_is_shown_while_something_of_ours_is_on_record(wizard: Open, sample: Path) -> None:
    """It is not taken in by itself, and what was installed is found."""
    app = wizard()
    bench = app.bench
    env = (("DEEPSEEK_API_KEY", None),)
    done = bench.carry_out(bench.prepare(Request("deepseek-web-retrieval", ("codex",), env=env)), lambda step: None)
    assert done.exit_code == 0
    shutil.rmtree(sample / ".codex")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert app.wish.hosts == ("claude",)
        await pilot.press("j")
        await settled(pilot)
        assert "[ ] Codex CLI" in screen_text(app) and "Not here any more" in screen_text(app)
        await pilot.press("i")
        await settled(pilot)
        assert "deepseek-web-retrieval on Codex CLI" in " ".join(screen_text(app).split())


async def test_n_without_a_host_taken_in_stays(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("a", "n")
        await settled(pilot)
        assert app.wish.hosts == ()
        assert isinstance(app.screen, Hosts)
        assert "take a host in first" in screen_text(app)


async def test_resizing_keeps_the_marked_host(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("j")
        for size in ((200, 60), (120, 40), (40, 12), (80, 24)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert app.screen.query_one(Rows).current == "codex"
        assert "Codex CLI · web search" in screen_text(app)


async def test_the_screen_is_there_before_the_files_are_read(wizard: Open) -> None:
    app: Wizard = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        assert "hostconf" in screen_text(app)
        await settled(pilot)
        assert "Codex CLI" in screen_text(app)
