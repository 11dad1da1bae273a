"""The walls of the wizard: one registry of actions, one widget for text, footers that fit, no traceback."""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from textual.widgets import Footer

import hostconf.tui
from hostconf.tui.actions import ACTIONS, EVERYWHERE, keys_of
from hostconf.tui.app import Wizard
from hostconf.tui.places import PLACES, STEPS
from hostconf.tui.screens.apply import Apply
from hostconf.tui.screens.base import Room
from hostconf.tui.screens.hosts import Hosts
from hostconf.tui.splash import picture
from hostconf.tui.widgets.rows import Rows
from hostconf.workflow.request import Request
from tests.tui.conftest import Open, screen_lines, settled

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(hostconf.tui.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
REQUEST = Request("deepseek-web-retrieval", ("codex",), env=(("DEEPSEEK_API_KEY", None),))
ROOMS: list[type[Room]] = [
    getattr(import_module(f"hostconf.tui.screens.{module}"), name) for module, name in PLACES.values()
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_a_screen_does_what_it_offers(room: type[Room]) -> None:
    """Each offered action has a method, a sentence and keys of its own on that screen."""
    missing = [i for i in room.OFFERS if not callable(getattr(room, f"action_{i}", None))]
    assert missing == []
    # `mend` is `go_recovery` once more, for the footer
    offered = [i for i in (*room.OFFERS, *EVERYWHERE) if i != "mend"]
    keys = [key for i in offered for key in ACTIONS[i].keys.split(",")]
    assert sorted(key for key in set(keys) if keys.count(key) > 1) == []
    assert room.PLACE in PLACES
    assert room.QUESTION


def test_every_action_is_offered_somewhere() -> None:
    offered = {i for room in ROOMS for i in room.OFFERS} | set(EVERYWHERE)

    assert set(ACTIONS) - offered == set()
    assert [i for i in EVERYWHERE if not callable(getattr(Wizard, f"action_{i}", None))] == []


def test_every_step_is_a_place() -> None:
    assert [name for name, _ in STEPS if name not in PLACES] == []
    assert [room.PLACE for room in ROOMS] == list(PLACES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_text_has_one_widget(file: Path) -> None:
    """`Words` takes no markup. Static, Label and Markdown would read `[red]` in a name as a command."""
    tree = ast.parse(file.read_text())
    used = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Static", "Label", "Markdown")
    }
    assert used == set()
    loud = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(".notify")
        and "markup" not in {keyword.arg for keyword in node.keywords}
    ]
    assert loud == []
    assert "from_markup" not in file.read_text()


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
async def test_the_footer_fits_eighty_columns(wizard: Open, room: type[Room]) -> None:
    """Every key it shows is shown whole, the last ones too."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        if room is Apply:
            app.push_screen(Apply(app.bench.prepare(REQUEST)))
        elif room is not Hosts:
            app.push_screen(room())
        await settled(pilot)
        footer = app.screen.query_one(Footer)
        ends = [key.region.right for key in footer.query("FooterKey")]
        assert ends
        assert max(ends) <= 80
        assert "Quit" in screen_lines(app)[-1]


async def test_the_help_names_every_key_of_the_screen(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        await settled(pilot)
        shown = "\n".join(screen_lines(app))
        offered = [ACTIONS[i] for i in (*ROOMS[0].OFFERS, *EVERYWHERE)]
        assert [a.id for a in offered if a.help not in shown or keys_of(a).split()[0] not in shown] == []

        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, Room)


async def test_the_palette_has_every_action(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        titles = {command.help for command in app.get_system_commands(app.screen)}

        offered = [ACTIONS[i] for i in (*ROOMS[0].OFFERS, *EVERYWHERE) if i != "palette"]
        assert [a.id for a in offered if not any(a.help in title for title in titles)] == []


async def test_leaving_asks_where_something_was_chosen(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("space", "q")
        await settled(pilot)
        assert "Leave hostconf?" in "\n".join(screen_lines(app))

        await pilot.press("escape")
        await settled(pilot)
        assert app.is_running

        await pilot.press("q", "y")
        await pilot.pause()
        assert app.return_value == 0


async def test_leaving_does_not_ask_where_nothing_was_chosen(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("q")
        await pilot.pause()
    assert app.return_value == 0


async def test_a_failing_worker_is_a_message_and_no_traceback(wizard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words hold where it happened, and no value: it may be a secret."""
    app = wizard()

    def fail() -> None:
        raise ValueError("tvly-not-a-real-key")

    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        monkeypatch.setattr(app.bench, "status", fail)
        await pilot.press("r")
        await settled(pilot)
        shown = "\n".join(screen_lines(app))
        assert "ValueError" in shown
        assert "tvly-not-a-real-key" not in shown
        assert "Codex CLI" in shown, "what was read before stays"


CRASH = """
import os, sys
from hostconf.environment import read_environment
from hostconf.tui.app import Wizard
environment = read_environment(home=sys.argv[1], project=None, cwd=sys.argv[1], variables=os.environ)
app = Wizard(environment, dry_run="dry" in sys.argv)
def boom():
    secret = "tvly-not-a-real-key"
    raise ValueError(secret)
app.call_later(boom)
sys.exit(app.run_to_end(headless=True))
"""


@pytest.mark.parametrize("dry", [False, True])
def test_a_crash_says_where_its_report_is(sample: Path, tmp_path: Path, dry: bool) -> None:
    variables = {"PATH": os.defpath, "HOME": str(sample), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-c", CRASH, str(sample), *(["dry"] if dry else [])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=variables)

    assert done.returncode == 1
    assert "error: hostconf failed in a way nobody foresaw: ValueError" in done.stderr
    assert "hint:" in done.stderr
    assert "tvly-not-a-real-key" not in done.stdout + done.stderr
    reports = list(tmp_path.glob("hostconf-report-*.txt"))
    if dry:
        assert reports == []
        assert "in boom" in done.stderr
    else:
        (report,) = reports
        assert str(report) in done.stderr
        assert report.stat().st_mode & 0o077 == 0
        assert "in boom" in report.read_text()
        assert "tvly-not-a-real-key" not in report.read_text()


@pytest.mark.parametrize("size", [(20, 5), (80, 24), (200, 60)])
def test_the_first_picture_fits_and_needs_no_textual(size: tuple[int, int]) -> None:
    shown = picture(*size, dry_run=True, demo=True, colour=False)
    rows = re.findall(r"\x1b\[(\d+);1H([^\x1b]*)", shown)

    assert all(int(row) <= size[1] and len(text) <= size[0] for row, text in rows)
    program = "import sys; import hostconf.tui.splash; print(any(n.startswith('textual') for n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": os.defpath},
    )
    assert done.stdout == "False\n"


async def test_the_first_picture_is_the_frame_of_the_first_screen(wizard: Open) -> None:
    """So that nothing jumps when the screen takes its place."""
    app = wizard(dry_run=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        now = screen_lines(app)
    shown = picture(80, 24, dry_run=True, demo=False, colour=False)
    rows = {int(row): text.rstrip() for row, text in re.findall(r"\x1b\[(\d+);1H([^\x1b]*)", shown)}

    assert {row: now[row - 1] for row in (1, 2, 24)} == {row: rows[row] for row in (1, 2, 24)}


async def test_without_colours_no_colour_is_drawn(wizard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = wizard(colour=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        from textual.strip import Strip

        strips = app.screen._compositor.render_strips(app.size)
        drawn = [
            Strip(list(row)).apply_filter(f, app.screen.background_colors[1])
            for row in strips
            for f in app._filters
            if f.enabled
        ]
        colours = {
            segment.style.color.name
            for strip in drawn
            for segment in strip
            if segment.style is not None and segment.style.color is not None and not segment.style.color.is_default
        }
        assert colours == set()


def test_actions_say_something(tmp_path: Path) -> None:
    assert [a.id for a in ACTIONS.values() if not (a.help and a.label and a.keys)] == []
    assert inspect.getdoc(import_module("hostconf.tui.actions"))


async def test_a_long_project_keeps_its_name_on_the_bar(wizard: Open, tmp_path: Path) -> None:
    """Its end is what it is known by."""
    project = tmp_path / ("long" * 10) / "site"
    project.mkdir(parents=True)
    async with (app := wizard(project=project)).run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "longlong/site" in screen_lines(app)[0]


@pytest.mark.parametrize("key", [*"nCIWRi:?", "ctrl+p"])
async def test_a_key_after_leaving_does_nothing(wizard: Open, key: str) -> None:
    """Both come in one read: the second finds the screens being put away."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.exit(0)
        await app.run_action("go_conflicts")
        with contextlib.suppress(Exception):
            app.simulate_key(key)
        assert len(app.screen_stack) == 2
        assert app.check_action("go_conflicts", ()) is False
    assert app._exception is None


SERVERS = "".join(f'[mcp_servers.s{n}]\ncommand = "npx"\nargs = ["-y", "tavily-mcp"]\n' for n in range(60))


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (130, 45), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_the_marked_row_of_a_long_table_is_seen(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """The last one too."""
    (sample / ".codex/config.toml").write_text(SERVERS)
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        app.go("conflicts")
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        table = app.screen.query_one(Rows)
        assert table.listing.region.bottom <= table.region.bottom
        marked = table.listing.highlighted
        assert marked is not None and marked > 40
        top = marked - table.listing.scroll_offset.y
        assert 0 <= top < table.listing.region.height
