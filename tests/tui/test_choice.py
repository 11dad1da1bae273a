"""The choice: form, grid of tiers, surface before and after; keyboard and mouse."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Button, Input

from hostconf import workflow
from hostconf.tui.app import Wizard
from hostconf.tui.screens.asking import Asking
from hostconf.tui.screens.choice import Choice
from hostconf.tui.screens.options import Options
from hostconf.tui.screens.pick import Pick
from hostconf.tui.screens.preview import Preview
from hostconf.tui.screens.variables import Variables
from hostconf.tui.widgets.form import FormLine, OneOf, Tick
from hostconf.tui.widgets.offered import NOTHING_HERE
from hostconf.tui.widgets.rows import Rows
from hostconf.tui.widgets.tiers import TierGrid
from hostconf.tui.wish import Wish
from hostconf.workflow.request import Request
from tests.tui.conftest import SIZES, THEMES, Open, now, same_picture, screen_lines, screen_text, settled

SECRET = "sk-not-for-the-screen"
BOTH = (("DEEPSEEK_API_KEY", None),)
size_and_theme = pytest.mark.parametrize(
    ("size", "theme"), [(s, t) for s in SIZES for t in THEMES], ids=lambda v: v if isinstance(v, str) else f"{v[0]}"
)


@pytest.fixture
def project(sample: Path) -> Path:
    """A project below the home, so that its place is shown in the same way everywhere."""
    site = sample / "site"
    site.mkdir()
    (site / ".mcp.json").write_text("{}\n")
    return site


async def to_choice(pilot: Pilot[Any]) -> None:
    await settled(pilot)
    app = pilot.app
    assert isinstance(app, Wizard)
    app.go("choice")
    await settled(pilot)
    assert isinstance(now(app), Choice)


def name(size: tuple[int, int], theme: str) -> str:
    return f"{size[0]}x{size[1]}-{theme.rpartition('-')[2]}"


def row_of(app: Wizard, *words: str) -> int:
    """The number of the screen line with these words."""
    return next(n for n, line in enumerate(screen_lines(app)) if all(w in line for w in words))


# ------------------------------------------------------------------ pictures


@size_and_theme
async def test_a_tier_that_cannot_be_had(wizard: Open, sample: Path, size: tuple[int, int], theme: str) -> None:
    """Disabled under the cursor, with its reason; beside it what the model gets."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await to_choice(pilot)
        await pilot.press("G", "l", "l")
        await settled(pilot)
        assert "forced cannot be had on Codex CLI" in screen_text(app)
        same_picture(app, f"choice-refused-{name(size, theme)}", sample)


@size_and_theme
async def test_the_same_for_all(wizard: Open, sample: Path, size: tuple[int, int], theme: str) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await to_choice(pilot)
        await pilot.press("l", "l", "a")
        await settled(pilot)
        same_picture(app, f"choice-all-{name(size, theme)}", sample)


@size_and_theme
async def test_in_a_project(wizard: Open, sample: Path, project: Path, size: tuple[int, int], theme: str) -> None:
    app = wizard(project=project)
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await to_choice(pilot)
        await pilot.press("s")
        await settled(pilot)
        assert app.wish.scope == "project"
        same_picture(app, f"choice-project-{name(size, theme)}", sample)


@pytest.mark.parametrize("theme", THEMES)
async def test_the_small_screens(wizard: Open, sample: Path, project: Path, theme: str) -> None:
    """Picker, variables with a value typed, options with what is said against one."""
    app = wizard(project=project)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        app.cursor_blink = False  # type: ignore[attr-defined]
        await to_choice(pilot)
        await pilot.press("e")
        await settled(pilot)
        same_picture(app, f"choice-picker-{name((80, 24), theme)}", sample)
        await pilot.press("escape", "s", "v", "right")
        await settled(pilot)
        same_picture(app, f"choice-variables-{name((80, 24), theme)}", sample)
        await pilot.press("escape", "o", "0", "enter", "down")
        await settled(pilot)
        assert "may not be below 1" in screen_text(app)
        same_picture(app, f"choice-options-{name((80, 24), theme)}", sample)


# ------------------------------------------------------------------ tiers


async def test_arrow_keys_and_vim_keys_reach_every_cell_and_space_picks(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        assert app.wish.touched is False
        await pilot.press("right", "space")
        await settled(pilot)
        assert (app.wish.tier("claude", "web_search"), bool(app.wish.touched)) == ("preferred", True)

        await pilot.press("j", "j", "l", "enter")
        await settled(pilot)
        assert app.wish.tier("codex", "web_search") == "forced"
        grid = app.screen.query_one(TierGrid)
        for keys, host, capability, tier in (
            ("khhh", "claude", "web_fetch", "off"),
            ("gkh", "claude", "web_search", "off"),
            ("Gjlll", "codex", "web_fetch", "forced"),
        ):
            await pilot.press(*keys)
            assert grid.current is not None
            assert (grid.current[0].host, grid.current[0].capability, grid.current[1]) == (host, capability, tier)


async def test_the_surface_follows_the_choice_at_once(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await to_choice(pilot)
        assert "+ mcp__deepseek__deepseek_web_search" in screen_text(app)
        assert "- WebSearch" not in screen_text(app)

        await pilot.press("l", "l", "space")
        await settled(pilot)
        shown = screen_text(app)
        assert "- WebSearch" in shown and "- mcp__tavily__tavily_search" in shown
        assert "What else changes for you" in shown
        offer = app.bench.offer(app.wish.request(("claude",)), "claude")
        assert f"{offer['files']} files written" in shown
        assert f"! {len(offer['blast_radius'])} things beyond this choice: {offer['blast_radius'][0][:20]}" in (
            shown.replace("`", "")
        ) or str(offer["blast_radius"][0]).startswith("Claude Code")


async def test_a_tier_that_cannot_be_had_is_not_picked(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.press("G", "l", "l", "space")
        await settled(pilot)

        assert app.wish.tier("codex", "web_fetch") == "optional" and not app.wish.touched
        assert "× forced" in screen_lines(app)[row_of(app, "forced cannot be had") - 1]
        assert "force both" in " ".join(screen_text(app).split())


async def test_a_click_picks_and_a_click_beside_marks(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        grid = app.screen.query_one(TierGrid)
        top = row_of(app, "Codex CLI", "web search")
        column = screen_lines(app)[top].index("preferred")
        await pilot.click(offset=(column, top))
        await settled(pilot)
        assert app.wish.tiers == {("codex", "web_search"): "preferred"}

        await pilot.click(offset=(2, row_of(app, "Claude Code", "web search")))
        await settled(pilot)
        assert grid.current is not None and grid.current[0].host == "claude"
        assert app.wish.tiers == {("codex", "web_search"): "preferred"}

        await pilot.click(offset=(screen_lines(app)[top + 1].index("forced"), top + 1))
        await settled(pilot)
        assert app.wish.tier("codex", "web_fetch") == "optional"
        assert "cannot be had on Codex CLI" in screen_text(app)


async def test_the_same_for_all_says_where_it_could_not(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await to_choice(pilot)
        await pilot.press("j", "l", "l", "a")
        await settled(pilot)
        assert app.wish.tier("claude", "web_fetch") == "forced"
        assert app.wish.tier("codex", "web_fetch") == "optional"
        assert "web fetch forced on Claude Code; not on Codex CLI:" in screen_text(app)

        await pilot.press("left")
        assert "not on Codex CLI:" not in screen_text(app)


async def test_a_wish_that_can_no_longer_be_had_is_kept_and_keeps_from_going_on(wizard: Open) -> None:
    """Forced for both is one switch; then search is wished otherwise."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.press("j", "j", "l", "l", "space")
        await settled(pilot)
        await pilot.press("j", "space")
        await settled(pilot)
        assert app.wish.tier("codex", "web_fetch") == "forced"
        await pilot.press("k", "h", "h", "space")
        await settled(pilot)

        assert app.wish.tier("codex", "web_fetch") == "forced"
        assert "! forced" in screen_text(app)
        await pilot.press("n")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert "forced is wished and cannot be had on Codex CLI" in screen_text(app)


async def test_all_off_is_no_install(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        off = {("codex", "web_search"): "off", ("codex", "web_fetch"): "off"}
        app.wish = Wish(("claude", "codex"), "deepseek-web-retrieval", tiers=off, env=dict(BOTH))
        await to_choice(pilot)
        assert NOTHING_HERE in screen_lines(app)[row_of(app, "Codex CLI", "web search") + 2]

        await pilot.press("n")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert f"not yet: Codex CLI: {NOTHING_HERE[:40]}" in screen_text(app)


async def test_installed_tiers_are_the_start(wizard: Open, sample: Path) -> None:
    app = wizard()
    request = Request(
        "deepseek-web-retrieval", ("codex",), tiers=(("web_search", "preferred"), ("web_fetch", "off")), env=BOTH
    )
    assert workflow.apply(app.bench.environment, request, yes=True).exit_code == 0
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        assert (app.wish.tier("codex", "web_search"), app.wish.tier("codex", "web_fetch")) == ("preferred", "off")
        assert app.wish.tier("claude", "web_search") == "optional"
        assert not app.wish.touched


class Gate:
    """The real offers, but those of one host only once it is opened."""

    def __init__(self, app: Wizard, host: str) -> None:
        self._offer, self._host, self.event = app.bench.offer, host, threading.Event()

    def __call__(self, request: Request, host: str, *, anew: bool = False) -> Mapping[str, Any]:
        if host == self._host:
            assert self.event.wait(30)
        return self._offer(request, host, anew=anew)


async def test_each_host_comes_as_it_is_worked_out(wizard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are there at once; `n` before the last has come goes on when it has."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        gate = Gate(app, "codex")
        monkeypatch.setattr(app.bench, "offer", gate)
        app.go("choice")
        try:
            for _ in range(2000):
                await pilot.pause()
                if isinstance(app.screen, Choice) and app.screen._waiting == ["codex"]:
                    break
            claude = screen_lines(app)[row_of(app, "Claude Code", "web search")]
            codex = screen_lines(app)[row_of(app, "Codex CLI", "web search")]
            assert "…" not in claude and codex.rstrip("│ ").endswith("…")
            await pilot.press("n")
            assert "still being worked out" in screen_text(app)
            assert isinstance(now(app), Choice)
        finally:
            gate.event.set()
        await settled(pilot)
        assert getattr(app.screen, "PLACE", "") == "preview"


async def test_on_to_the_preview_and_back_with_everything(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.press("l", "space", "n")
        await settled(pilot)
        assert getattr(app.screen, "PLACE", "") == "preview"
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert app.wish.tier("claude", "web_search") == "preferred"
        await pilot.press("escape")
        await settled(pilot)
        await to_choice(pilot)
        line = screen_lines(app)[row_of(app, "Claude Code", "web search")]
        assert "● preferred" in line


async def test_without_a_host_it_does_not_go_on(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.wish = app.wish._replace(hosts=())
        await to_choice(pilot)
        await pilot.press("n")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert "no host is taken in: go back, and take one in" in screen_text(app)


async def test_n_while_the_choice_is_read_goes_on_afterwards(wizard: Open) -> None:
    """It is not lost, and the next key does not mean another thing on a screen that nobody awaited."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.go("choice")
        await pilot.pause()
        choice = now(app)
        assert isinstance(choice, Choice)
        choice._catalogue = {}
        choice.action_next()
        choice._read_catalogue()
        await settled(pilot)
        assert isinstance(now(app), Preview)


async def test_the_files_are_read_again(wizard: Open, sample: Path) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await to_choice(pilot)
        assert "mcp__tavily__tavily_search" in screen_text(app)
        (sample / ".claude.json").write_text("{}\n")
        await pilot.press("r")
        await settled(pilot)
        assert "mcp__tavily__tavily_search" not in screen_text(app)


# ------------------------------------------------------------------ the form


async def test_without_a_project_there_is_no_project_scope(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        assert "× project (there is no project here)" in screen_text(app)
        await pilot.press("s")
        await settled(pilot)
        assert app.wish.scope == "user"
        assert "the working folder is the home folder" in screen_text(app)


async def test_scope_and_way_by_mouse(wizard: Open, project: Path) -> None:
    app = wizard(project=project)
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        y = row_of(app, "s Scope")
        await pilot.click(offset=(screen_lines(app)[y].index("project"), y))
        await settled(pilot)
        assert app.wish.scope == "project"
        await pilot.click(offset=(3, y))
        await settled(pilot)
        assert app.wish.scope == "user"

        y = row_of(app, "p Way")
        await pilot.click(offset=(screen_lines(app)[y].index("plugin"), y))
        await settled(pilot)
        assert app.wish.path == "plugin" and app.wish.touched
        await pilot.click(offset=(screen_lines(app)[y].index("default"), y))
        await settled(pilot)
        assert app.wish.path == ""


async def test_a_way_that_a_host_lacks_is_said_in_its_row(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.press("p")
        await settled(pilot)
        assert app.wish.path == "mcp"
        assert "has no path" not in screen_text(app)
        await pilot.press("p")
        await settled(pilot)
        assert "! deepseek-web-retrieval has no path extension on Codex CLI" in screen_text(app)
        assert "! optional" in screen_lines(app)[row_of(app, "Codex CLI", "web search")]

        await pilot.press("n")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert "not yet: Claude Code: deepseek-web-retrieval has no path extension" in screen_text(app)
        await pilot.press("p", "p")
        await settled(pilot)
        assert app.wish.path == "" and "has no path" not in screen_text(app)


async def test_where_a_variable_comes_from_is_shown(wizard: Open, sample: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        assert app.wish.env == {"DEEPSEEK_API_KEY": None}
        assert "DEEPSEEK_API_KEY: from the environment (set)" in screen_text(app)
        await pilot.press("v", "right", "right", "enter")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert app.wish.env == {}
        assert "DEEPSEEK_API_KEY: left out, and it is required" in screen_text(app)


async def test_a_value_is_typed_unseen_and_never_shown(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await to_choice(pilot)
        await pilot.press("v", "l", "enter")
        await settled(pilot)
        assert isinstance(now(app), Variables)
        assert "type the value of DEEPSEEK_API_KEY" in screen_text(app)

        await pilot.press(*SECRET)
        await settled(pilot)
        seen = [screen_text(app), app.export_screenshot()]
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert app.wish.env == {"DEEPSEEK_API_KEY": SECRET} and app.wish.touched
        assert "DEEPSEEK_API_KEY: a value typed here" in screen_text(app)
        seen += [screen_text(app), app.export_screenshot()]

        await pilot.press("v")
        await settled(pilot)
        field = app.screen.query_one("#value-0", Input)
        assert field.password and field.value == ""
        seen += [screen_text(app), app.export_screenshot()]
        await pilot.press("enter")
        await settled(pilot)
        assert app.wish.env == {"DEEPSEEK_API_KEY": SECRET}, "what was typed before is kept"
        assert not [text for text in seen if SECRET in text or SECRET.replace("-", "&#x2d;") in text]


async def test_a_value_in_a_project_has_to_be_allowed(wizard: Open, project: Path) -> None:
    app = wizard(project=project)
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.press("s", "v", "right", "tab", *SECRET, "enter")
        await settled(pilot)
        assert isinstance(now(app), Variables)
        assert "would stand in a file of the project" in screen_text(app)
        assert app.wish.env == {"DEEPSEEK_API_KEY": None}

        assert isinstance(app.screen.focused, Tick)
        await pilot.press("space", "enter")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert (app.wish.env, app.wish.literal) == ({"DEEPSEEK_API_KEY": SECRET}, True)
        assert SECRET not in screen_text(app)


async def test_variables_by_mouse(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.click("#form-variables")
        await settled(pilot)
        assert isinstance(now(app), Variables)
        y = row_of(app, "leave out")
        await pilot.click(offset=(screen_lines(app)[y].index("leave out"), y))
        assert app.screen.query_one(OneOf).value == ""
        await pilot.click("#leave")
        await settled(pilot)
        assert app.wish.env == {"DEEPSEEK_API_KEY": None}, "back changes nothing"
        assert not app.wish.touched


async def test_options_are_tried_before_they_count(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        await pilot.press("o", "down", "down", "down", *"500", "enter")
        await settled(pilot)
        assert isinstance(now(app), Options)
        y = row_of(app, "✗")
        assert "may not be above 100" in screen_lines(app)[y]
        assert app.screen.focused is not None and app.screen.focused.id == "knob-count"
        assert app.wish.settings == {}

        await pilot.press("backspace", "backspace", "enter")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert app.wish.settings == {"count": "5"} and app.wish.touched
        assert "count=5" in screen_text(app)


async def test_what_is_seldom_needed(wizard: Open) -> None:
    """Package, pin, what is accepted, taking a name; a wrong reference is said at its field."""
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await to_choice(pilot)
        await pilot.click("#form-options")
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, Options)
        screen.query_one("#package", Input).focus()
        await pilot.press("minus", "x", "enter")
        await settled(pilot)
        assert app.screen is screen
        assert "wants the reference of a package" in screen_text(app)
        await pilot.press("backspace", "backspace", *"me", "down", "space", "down", "space", "down", "space")
        await pilot.click("#save")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        wish = app.wish
        assert (wish.package, wish.pin, wish.accept, wish.replace_name) == ("me", True, ("call-denied",), True)
        assert "package me · pinned" in screen_text(app)

        await pilot.press("o")
        await settled(pilot)
        assert [t.value for t in app.screen.query(Tick)] == [True, True, True]
        await pilot.press("escape")
        await settled(pilot)
        assert app.wish == wish


async def test_esc_leaves_a_small_screen_and_nothing_is_changed(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        before = app.wish
        for key in "evo":
            await pilot.press(key)
            await settled(pilot)
            assert isinstance(now(app), (Pick, Asking))
            await pilot.press("escape")
            await settled(pilot)
            assert isinstance(now(app), Choice)
        assert app.wish == before


async def test_the_picker_offers_what_can_be_installed(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        known = app.bench.integrations()
        await pilot.click("#form-integration")
        await settled(pilot)
        shown = screen_text(app)
        others = sum(not i["installable"] for i in known)
        assert f"{others} others are recognised where found" in shown
        assert "● DeepSeek web retrieval" in shown and "Tavily" not in shown
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(now(app), Choice)
        assert not app.wish.touched, "the same again is no change"


async def test_the_picker_filters_and_gives_what_was_chosen(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        rows = [{**i, "doc": i["doc"] or "-"} for i in app.bench.integrations()]
        got: list[str | None] = []
        app.push_screen(Pick(rows, 0, str(rows[0]["id"])), got.append)
        await settled(pilot)
        assert "recognised" not in screen_text(app)
        await pilot.press("slash", *"tavily", "enter", "enter")
        await settled(pilot)
        assert got == ["tavily"]

        app.push_screen(Pick(rows, 0, "tavily"), got.append)
        await settled(pilot)
        assert app.screen.query_one(Rows).current == "tavily"
        await pilot.click("#choose")
        await settled(pilot)
        assert got == ["tavily", "tavily"]


# ------------------------------------------------------------------ looks


async def test_markup_in_a_project_s_name_is_text(wizard: Open, sample: Path) -> None:
    folder = sample / "[red]x[b]\x1b[31m"
    folder.mkdir()
    (folder / ".mcp.json").write_text("{}\n")
    app = wizard(project=folder)
    async with app.run_test(size=(120, 40)) as pilot:
        await to_choice(pilot)
        line = screen_lines(app)[row_of(app, "s Scope")]
        assert "~/[red]x[b]␛[31m" in line


async def test_without_colours_the_cursor_is_seen(wizard: Open) -> None:
    app = wizard(colour=False)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await to_choice(pilot)
            y = row_of(app, "Claude Code", "web search")
            strip = app.screen._compositor.render_strips(app.size)[y]
            reverse = "".join(s.text for s in strip if s.style is not None and s.style.reverse)
            assert reverse == "● optional"
    finally:
        os.environ.pop("NO_COLOR", None)


async def test_it_fits_a_small_screen_and_uses_a_wide_one(wizard: Open) -> None:
    """Nothing that matters is cut at 80 columns; from 110 on the surface stands beside the grid."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_choice(pilot)
        for word in ("e Integration", "v Needs", "s Scope", "p Way", "o Options", "forced", "file written"):
            assert word in screen_text(app)
        grid = row_of(app, "Claude Code", "web search", "forced")
        assert row_of(app, "Claude Code · web search") > grid

        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        row_of(app, "Claude Code  web search", "Claude Code · web search")
        assert "Claude Code · web fetch" in screen_text(app), "where there is room, the host's other capability too"


def test_a_form_line_is_text() -> None:
    line = FormLine("x", "what", "Label")
    line.tell("[b]not bold[/b]")
    shown = line.content
    assert isinstance(shown, Content) and shown.plain == "x Label       [b]not bold[/b]"
    assert Button is not None
