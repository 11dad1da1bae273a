"""The preview: what changes, the exact files, the conflicts, and the approval that no stray key gives."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from hostconf.tui.app import Wizard
from hostconf.tui.command import apply_commands, hidden_values, uninstall_commands
from hostconf.tui.screens.apply import Apply
from hostconf.tui.screens.ask import Confirm, Hold
from hostconf.tui.screens.command import Commands
from hostconf.tui.screens.preview import Preview
from hostconf.tui.widgets.diff import Diff, broken, pair_up, parse_diff, shown
from hostconf.tui.widgets.paragraphs import wrapped
from hostconf.tui.widgets.rows import Rows
from hostconf.tui.widgets.sections import Sections
from hostconf.tui.wish import Wish
from hostconf.tui.words import safe
from tests.tui.conftest import SIZES, THEMES, Open, same_picture, screen_text, settled

HOSTS = ("claude", "codex")


def wished(search: str = "preferred", fetch: str = "optional", hosts: tuple[str, ...] = HOSTS, **more: Any) -> Wish:
    """A wish for the sample home."""
    tiers = {(host, c): t for host in hosts for c, t in (("web_search", search), ("web_fetch", fetch))}
    settings: dict[str, Any] = {"env": {"DEEPSEEK_API_KEY": None}, "touched": True, **more}
    return Wish(hosts=hosts, integration="deepseek-web-retrieval", tiers=tiers, **settings)


async def preview(app: Wizard, pilot: Pilot[Any], wish: Wish) -> Preview:
    """The preview of a wish, its plan made."""
    await settled(pilot)
    app.wish, app.chosen_once = wish, True
    screen = Preview()
    await app.push_screen(screen)
    await settled(pilot)
    return screen


def tree(home: Path) -> dict[str, bytes]:
    """Every file below a home."""
    return {str(p.relative_to(home)): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


# ------------------------------------------------------------------ pictures


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize(("part", "key"), [("changes", "1"), ("conflicts", "3")])
async def test_the_parts_of_a_plan(wizard: Open, sample: Path, size: tuple[int, int], part: str, key: str) -> None:
    """What changes for the model, and the conflicts settled and left, of a forced plan."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await preview(app, pilot, wished("forced", "forced"))
        await pilot.press(key)
        await settled(pilot)
        same_picture(app, f"preview-{part}-{size[0]}x{size[1]}-dark", sample)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("theme", THEMES)
async def test_the_files_of_a_plan(wizard: Open, sample: Path, size: tuple[int, int], theme: str) -> None:
    """The list of files, and the diff of the marked one."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await preview(app, pilot, wished())
        await pilot.press("2", "right_square_bracket", "right_square_bracket")
        await settled(pilot)
        same_picture(app, f"preview-files-{size[0]}x{size[1]}-{theme.rpartition('-')[2]}", sample)


@pytest.mark.parametrize("size", [(160, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_old_and_new_beside_each_other(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """Wide terminals show both sides; very wide ones the list beside them."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await preview(app, pilot, wished("forced", "forced"))
        await pilot.press("2")
        await settled(pilot)
        assert app.screen.query_one(Diff).split
        same_picture(app, f"preview-split-{size[0]}x{size[1]}-dark", sample)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_a_refused_plan(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """The reasons come first; to apply shows them again, and nothing is asked."""
    before = tree(sample)
    app = wizard()
    async with app.run_test(size=size) as pilot:
        screen = await preview(app, pilot, wished("optional", "forced"))
        assert screen.prepared is not None and screen.prepared.plan.refusals
        same_picture(app, f"preview-refused-{size[0]}x{size[1]}-dark", sample)

        await pilot.press("2", "a")
        await settled(pilot)
        assert app.screen is screen
        assert "Refused: nothing can be written" in screen_text(app)
    assert tree(sample) == before


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_the_approval_that_is_typed(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """What else changes is listed, and the word has to be typed."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await preview(app, pilot, wished("forced", "forced"))
        await pilot.press("a")
        await settled(pilot)
        app.screen.query_one(Input).cursor_blink = False
        await settled(pilot)
        same_picture(app, f"preview-approval-{size[0]}x{size[1]}-dark", sample)


# ------------------------------------------------------------------ finding one's way


async def test_keys_tab_and_mouse_bring_each_part(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await preview(app, pilot, wished())
        parts = app.screen.query_one(Sections)
        for key, part in (("2", "files"), ("3", "conflicts"), ("1", "changes")):
            await pilot.press(key)
            await pilot.pause()
            assert parts.now == part and app.screen.query_one(f"#{part}").display

        for head, part in ((2, "conflicts"), (1, "files"), (0, "changes")):
            await pilot.click(parts.children[head])
            await pilot.pause()
            assert parts.now == part

        await pilot.press("shift+tab")
        assert parts.has_focus
        await pilot.press("right", "right")
        await pilot.pause()
        assert parts.now == "conflicts" and parts.has_focus


async def test_brackets_go_through_the_files_and_so_do_arrows_and_clicks(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await preview(app, pilot, wished())
        assert screen.prepared is not None
        files = [f["path"] for f in screen.prepared.result.data["files"]]
        assert len(files) == 4

        def title() -> str:
            return str(screen.query_one("#files-title").render())

        await pilot.press("right_square_bracket")
        await settled(pilot)
        assert Path(files[1]).name in title()
        await pilot.press("left_square_bracket", "left_square_bracket")
        await settled(pilot)
        assert Path(files[0]).name in title()
        await pilot.press("j", "j")
        await settled(pilot)
        assert Path(files[2]).name in title()
        await pilot.click(screen.query_one("#files-list", Rows).listing, offset=(5, 3))
        await settled(pilot)
        assert Path(files[3]).name in title()
        assert "+ " in screen_text(app)


async def test_the_diff_is_split_where_it_is_wide_until_one_says_otherwise(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await preview(app, pilot, wished())

        def split() -> bool:
            return screen.query_one(Diff).split

        await pilot.press("2")
        assert not split()
        await pilot.resize_terminal(140, 40)
        await settled(pilot)
        assert split()
        await pilot.press("v")
        assert not split()
        await pilot.resize_terminal(160, 40)
        await settled(pilot)
        assert not split()


async def test_a_plan_that_cannot_be_made_says_why(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await preview(app, pilot, wished()._replace(integration="tavily"))
        text = screen_text(app)
        assert "only to be recognised" in text and "no plan could be made" in text
        await pilot.press("a", "y")
        await settled(pilot)
        now: object = app.screen
        assert now is screen

        app.wish = wished()
        await pilot.press("r")
        await settled(pilot)
        assert "4 files" in screen_text(app)


# ------------------------------------------------------------------ approval


async def test_no_stray_enter_approves(wizard: Open, sample: Path) -> None:
    """Without more than the choice itself a plain question, whose default is no."""
    before = tree(sample)
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await preview(app, pilot, wished())
        await pilot.press("enter", "a", "enter")
        await settled(pilot)
        assert app.screen is screen
        await pilot.press("a", "escape")
        await settled(pilot)
        assert app.screen is screen
    assert tree(sample) == before


async def test_beyond_the_choice_the_word_has_to_be_typed(wizard: Open, sample: Path) -> None:
    before = tree(sample)
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await preview(app, pilot, wished("forced", "forced"))
        await pilot.press("a", "enter", *"appl", "enter")
        await settled(pilot)
        assert isinstance(app.screen, Confirm)
        assert tree(sample) == before

        await pilot.press("y", "enter")
        await settled(pilot)
        now: object = app.screen
        assert isinstance(now, Apply)
        assert now.prepared is screen.prepared
    assert tree(sample) != before


async def test_a_click_approves(wizard: Open, sample: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await preview(app, pilot, wished())
        await pilot.press("a")
        await settled(pilot)
        await pilot.click("#yes")
        await settled(pilot)
        assert isinstance(app.screen, Apply) and app.screen.state == "done"


async def test_a_dry_run_shows_all_and_writes_nothing(wizard: Open, sample: Path) -> None:
    before = tree(sample)
    app = wizard(dry_run=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await preview(app, pilot, wished("forced", "forced"))
        assert "DRY RUN" in screen_text(app)
        await pilot.press("a")
        await settled(pilot)
        assert app.screen is screen
        assert any("dry run" in str(n.message) for n in app._notifications)
    assert tree(sample) == before


async def test_what_is_so_already_is_said(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await preview(app, pilot, wished())
        await pilot.press("a", "y")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)

        screen = await preview(app, pilot, wished())
        assert "nothing to do: it is so already" in screen_text(app)
        await pilot.press("a")
        await settled(pilot)
        assert app.screen is screen


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_an_uninstall_shows_what_goes_and_what_stays(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        app.bench.carry_out(app.bench.prepare(wished().request()), lambda text: None)
        settings = sample / ".claude.json"
        settings.write_text(settings.read_text().replace('"deepseek-web-retrieval"', '"other-package"'))

        screen = Preview(app.bench.prepare_uninstall(None, (), None))
        await app.push_screen(screen)
        await settled(pilot)
        same_picture(app, f"preview-uninstall-{size[0]}x{size[1]}-dark", sample)
        text = screen_text(app)
        assert "What goes" in text and "What stays" in text and "1 entry stays" in text

        await pilot.press("a")
        await settled(pilot)
        assert isinstance(app.screen, Confirm)
        await pilot.press(*"uninstall", "enter")
        await settled(pilot)
        assert isinstance(app.screen, Apply) and app.screen.state == "partial"
        assert "Taken back in part" in screen_text(app)
    assert "deepseek" not in (sample / ".codex/config.toml").read_text()
    assert "other-package" in settings.read_text()


async def test_an_uninstall_is_planned_anew_as_it_was(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.bench.carry_out(app.bench.prepare(wished().request()), lambda text: None)
        first = app.bench.prepare_uninstall("deepseek-web-retrieval", ("codex",), "user")
        screen = Preview(first)
        await app.push_screen(screen)
        await settled(pilot)
        await pilot.press("r")
        await settled(pilot)
        assert screen.prepared is not None and screen.prepared is not first
        assert [r.id for r in screen.prepared.records] == [r.id for r in first.records]


# ------------------------------------------------------------------ the command line


async def test_the_command_line_makes_the_same_plan(wizard: Open, sample: Path) -> None:
    """One command for hosts that are wished the same, else one each; each plans what the preview showed."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        wish = wished().with_tier("codex", "web_search", "optional")
        screen = await preview(app, pilot, wish)
        await pilot.press("y")
        await settled(pilot)
        now: object = app.screen
        assert isinstance(now, Commands)
        assert "hostconf apply deepseek-web-retrieval" in screen_text(app)
        await pilot.press("c")
        await settled(pilot)
        commands = app.clipboard.splitlines()
        assert len(commands) == 2
        await pilot.press("escape")
        now = app.screen
        assert now is screen and screen.prepared is not None
        planned = screen.prepared.result.data["files"]
    found: list[Any] = []
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["hostconf", "apply"]
        run = subprocess.run(
            [sys.executable, "-m", "hostconf", "plan", *words[2:], "--json"],
            capture_output=True,
            text=True,
            cwd=sample,
            timeout=60,
            check=True,
        )
        found += json.loads(run.stdout)["data"]["files"]
    key = "path"
    assert sorted(found, key=lambda f: str(f[key])) == sorted(planned, key=lambda f: str(f[key]))


def test_a_value_is_in_no_command(wizard: Open) -> None:
    bench = wizard().bench
    wish = wished(env={"DEEPSEEK_API_KEY": "sk-very-secret"})
    prepared = bench.prepare(wish.request())
    (command,) = apply_commands(prepared.plan.choices, bench.environment)
    assert "sk-very-secret" not in command
    assert '--env "DEEPSEEK_API_KEY=$DEEPSEEK_API_KEY"' in command
    assert hidden_values(prepared.plan.choices) == ("DEEPSEEK_API_KEY",)


def test_the_command_of_an_uninstall(wizard: Open, sample: Path) -> None:
    bench = wizard().bench
    bench.carry_out(bench.prepare(wished().request()), lambda text: None)
    records = bench.prepare_uninstall(None, (), None).records
    home = shlex.quote(str(sample))
    assert uninstall_commands(records, bench.environment) == [
        f"hostconf uninstall deepseek-web-retrieval --host claude --host codex --scope user --home {home}"
    ]


# ------------------------------------------------------------------ the diff

TEXT = """--- a/x
+++ b/x
@@ -1,3 +1,4 @@
 one
--- two
+\ttwo\r
++++ three
 four
\\ No newline at end of file
"""


def test_lines_have_their_numbers_and_signs() -> None:
    assert [(line.sign, line.old, line.new, line.text) for line in parse_diff(TEXT)] == [
        ("@", 0, 0, "@@ -1,3 +1,4 @@"),
        (" ", 1, 1, "one"),
        ("-", 2, 0, "-- two"),
        ("+", 0, 2, "\ttwo\r"),
        ("+", 0, 3, "+++ three"),
        (" ", 3, 4, "four"),
        ("\\", 0, 0, "no newline at the end of the file"),
    ]


def test_what_was_stands_beside_what_is() -> None:
    pairs = [(a.text if a else None, b.text if b else None) for a, b in pair_up(parse_diff(TEXT))]
    assert pairs[2:4] == [("-- two", "\ttwo\r"), (None, "+++ three")]


@pytest.mark.parametrize(
    ("line", "text", "marks"),
    [
        ("plain [red]x[/]", "plain [red]x[/]", ()),
        ("a\tb", "a→  b", (1,)),
        ("end\r", "end␍", (3,)),
        ("\ufeff{", "<U+FEFF>{", ()),
        ("\x1b[31mred\x07", "␛[31mred␇", ()),
        ("\u202eabc", "<U+202E>abc", ()),
    ],
)
def test_what_has_no_picture_is_shown_as_text(line: str, text: str, marks: tuple[int, ...]) -> None:
    assert shown(line) == (text, marks)


@pytest.mark.parametrize("text", ["", "a" * 100, "漢字" * 30, "a漢" * 20])
def test_a_long_line_is_broken_and_nothing_of_it_lost(text: str) -> None:
    parts = broken(text, 9)
    assert "".join(text[a:b] for a, b in parts) == text
    assert all(safe(text[a:b]).cell_length <= 9 for a, b in parts)


def test_a_line_goes_on_under_its_own_beginning() -> None:
    rows = wrapped(safe("  ! one two three four five six"), 16)
    assert [row.plain for row in rows] == ["  ! one two", "    three four", "    five six"]


class Alone(App[None]):
    """A diff and nothing else."""

    def on_mount(self) -> None:
        """A page at once, not in sixty pictures."""
        self.animation_level = "none"

    def compose(self) -> ComposeResult:
        yield Diff()


def long_diff(number: int) -> str:
    """So many lines replaced by others."""
    old = [f"-old line {n}" for n in range(number)]
    new = [f"+new line {n}" for n in range(number)]
    return "\n".join(["--- a/x", "+++ b/x", f"@@ -1,{number} +1,{number} @@", *old, *new, ""])


def text_of(app: App[None]) -> str:
    rows = app.screen._compositor.render_strips(app.size)
    return "\n".join("".join(segment.text for segment in row) for row in rows)


@pytest.mark.parametrize("split", [False, True])
async def test_a_diff_of_five_thousand_lines_scrolls_at_once(split: bool) -> None:
    """Only what is in sight is drawn: to go through it costs as little as through a short one."""
    app = Alone()
    async with app.run_test(size=(100, 30)) as pilot:
        diff = app.query_one(Diff)
        diff.split = split
        diff.show(long_diff(2500))
        diff.focus()
        await pilot.pause()
        assert "old line 0" in text_of(app)

        begun = time.process_time()
        for _ in range(20):
            await pilot.press("pagedown")
        await pilot.press("G")
        await pilot.pause()
        assert "new line 2499" in text_of(app)
        await pilot.press("g")
        await pilot.pause()
        assert "old line 0" in text_of(app)
        assert time.process_time() - begun < 5


async def test_the_line_at_the_edge_stays_when_the_layout_changes() -> None:
    app = Alone()
    async with app.run_test(size=(100, 30)) as pilot:
        diff = app.query_one(Diff)
        context = "\n".join(f" same {n}" for n in range(500))
        diff.show(f"--- a/x\n+++ b/x\n@@ -1,501 +1,501 @@\n-{'long ' * 60}\n+short\n{context}\n")
        await pilot.pause()
        diff.scroll_to(y=200, animate=False)
        await pilot.pause()
        top = text_of(app).splitlines()[0].split("same ")[1].split()[0]

        diff.split = True
        await pilot.pause()
        assert f"same {top}" in text_of(app).splitlines()[0]
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert f"same {top}" in text_of(app).splitlines()[0]


async def test_hostile_lines_are_drawn_as_text() -> None:
    app = Alone()
    async with app.run_test(size=(60, 12)) as pilot:
        diff = app.query_one(Diff)
        name = "漢" * 50
        diff.show(
            f"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-[red]x[/]\x1b[2J\n+{name}\n+\tend\r\n\\ No newline at end of file\n"
        )
        await pilot.pause()
        text = text_of(app)
        assert "[red]x[/]␛[2J" in text and "no newline at the end of the file" in text
        assert "→   end␍" in text
        assert text.count("漢") == 50 and "↪" in text


async def test_the_yes_is_held_where_there_are_no_keys(wizard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A click lets go too early; held long enough it goes on."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        app.animation_level = "none"
        await preview(app, pilot, wished("forced", "forced"))
        await pilot.press("a")
        await settled(pilot)
        assert isinstance(app.screen, Confirm)
        monkeypatch.setattr(Hold, "seconds", 3600.0)
        await pilot.click("#ask-type")
        await settled(pilot)
        dialog = app.screen
        assert not dialog.query_one(Hold).has_class("-held")

        monkeypatch.setattr(Hold, "seconds", 0.01)
        await pilot.mouse_down("#ask-type")
        while app.screen is dialog:
            await pilot.pause()
        await settled(pilot)
        assert type(app.screen).__name__ == "Apply"
