"""The wizard in terminals of all kinds: mouse alone, other sizes, no colours, old terminals; and its demo."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import way
from tests.terminal.terminal import Terminal

Wizard = Callable[..., Terminal]

SGR = re.compile(rb"\x1b\[([\d;:]*)m")
COLOURS = {*range(30, 39), *range(40, 49), *range(90, 98), *range(100, 108)}
"""Those of the default, 39 and 49, are none."""
MARKED = re.compile(r"\x1b\[(?:[\d;]*;)?[47](?:;[\d;]*)?m")
"""Underlined or reversed."""


def colours(output: bytes) -> set[bytes]:
    """The sequences that set a colour."""
    found = set()
    for numbers in SGR.findall(output):
        if COLOURS & {int(number) for number in re.split(rb"[;:]", numbers) if number}:
            found.add(numbers)
    return found


# ------------------------------------------------------------------ hands and sizes


def test_the_mouse_alone(wizard: Wizard, demo: Path, variables: dict[str, str]) -> None:
    """A whole install by clicks, on a host that is chosen by one."""
    request = way.REQUEST._replace(hosts=("codex",), host_tiers=(("codex", "web_search", "preferred"),))
    planned = way.planned(variables, request)
    before = way.contents(demo)
    terminal = wizard()
    terminal.wait_for(way.READ)
    terminal.click_on("[x] Claude")  # beside the sign a click would only mark it
    for host in ("Claude", "OpenCode"):
        column, row = terminal.place(f"] {host}")
        terminal.click(column - 1, row)
        terminal.wait_for(f"[ ] {host}")
    terminal.click_on("n Next")
    terminal.wait_for(re.compile(r"\d+ findings"))
    terminal.click_on("n Next")
    terminal.wait_for("× forced")
    terminal.click_on("○ preferred")
    terminal.wait_for("● preferred")
    terminal.wait_gone("forced  …")
    terminal.click_on("n Next")
    terminal.wait_for(way.PLANNED)
    terminal.click_on("2 Files")
    terminal.wait_for(re.compile(r"~/.codex/config.toml +Codex"))
    assert way.contents(demo) == before
    terminal.click_on("a Apply")
    terminal.click_on(re.compile(r"Apply(?= +No )"))
    terminal.wait_for(way.WRITTEN)
    assert way.written(demo, planned) == planned
    assert way.records(demo) == ["codex"] and way.litter(demo) == []
    terminal.click_on("Enter Done")
    terminal.wait_for(re.compile(r"Codex CLI .* preferre"))
    terminal.click_on("q Quit")
    assert terminal.ended() == 0
    assert terminal.modes().sane


def test_another_size_at_any_time(wizard: Wizard, demo: Path) -> None:
    """Nothing chosen is lost, and after all sizes the screen is as it was."""
    before = way.tree(demo)
    terminal = wizard()
    way.to_choice(terminal)
    way.to_forced(terminal)
    sizes = ((200, 60), (60, 20), (80, 24))
    for part, shown in (("choice", "● forced"), ("preview", "~/.claude.json")):
        if part == "preview":
            way.to_preview(terminal)
            terminal.type("2")
            terminal.wait_for("opencode.jsonc")
        first = terminal.screen()
        for width, height in sizes:
            terminal.resize(width, height)
            # the footer stands in the last line, and nothing of another size beside it
            rows = rf"\A(?:.*\n){{{height - 1}}}.*\? Keys.*\n\Z"
            terminal.wait_for(re.compile(rows))
            terminal.wait_for(shown)
        terminal.wait_for(re.compile(re.escape(first.rstrip())))
    terminal.type("Escape")
    terminal.wait_for("● forced")
    terminal.type("q")
    terminal.wait_for("Leave hostconf?")
    terminal.type("y")
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert way.tree(demo) == before


# ------------------------------------------------------------------ colours and kinds of terminals


@pytest.mark.parametrize("how", ["NO_COLOR", "--no-color", ""], ids=["variable", "option", "with colours"])
def test_no_colour_reaches_the_terminal(wizard: Wizard, variables: dict[str, str], how: str) -> None:
    """From the first picture to the end; the cursor is seen all the same. Without either there are colours."""
    words = [how] if how.startswith("--") else []
    env = {**variables, **({} if words or not how else {how: "1"})}
    terminal = wizard(*words, env=env, record=True)
    terminal.wait_for(way.READ)
    if how:
        line = next(row for row in terminal.screen(colours=True).splitlines() if "[x] Claude Code" in row)
        assert MARKED.search(line), "the cursor is not seen"
    terminal.type("W")
    terminal.wait_for("Integration")
    terminal.type("q")
    assert terminal.ended() == 0
    seen = terminal.output(b"\x1b[?1049l")
    assert bool(colours(seen)) is not bool(how), colours(seen)
    assert terminal.modes().sane


@pytest.mark.parametrize(
    "env", [{"TERM": "xterm"}, {"TERM": "linux", "COLORTERM": ""}, {"LANG": "C"}, {"LC_ALL": "C"}], ids=str
)
def test_any_terminal_will_do(wizard: Wizard, variables: dict[str, str], env: dict[str, str]) -> None:
    terminal = wizard(env={**variables, **env})
    screen = terminal.wait_for(way.READ)
    assert "hostconf Hosts › Conflicts" in screen and "────" in screen
    terminal.type("q")
    assert terminal.ended() == 0
    assert terminal.modes().sane


def test_one_that_cannot_be_drawn_on_gets_the_status(wizard: Wizard, variables: dict[str, str]) -> None:
    terminal = wizard(env={**variables, "TERM": "dumb"}, width=120, height=150)
    assert terminal.ended() == 0
    screen = terminal.screen()
    assert "Claude Code" in screen and "WebSearch" in screen
    assert "? Keys" not in screen
    assert terminal.modes().sane


# ------------------------------------------------------------------ demo


@pytest.fixture
def nowhere(variables: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The variables on a machine with no host: an empty home, and an empty folder for temporary files."""
    for name in ("empty", "temporary"):
        (tmp_path / name).mkdir()
    given = {name: text for name, text in variables.items() if name != "DEEPSEEK_API_KEY"}
    return {**given, "HOME": str(tmp_path / "empty"), "TMPDIR": str(tmp_path / "temporary")}


def test_the_demo_is_the_whole_job(wizard: Wizard, nowhere: dict[str, str]) -> None:
    """An install in the throwaway home; nothing of it is left, and the empty home is as it was."""
    home, temporary = Path(nowhere["HOME"]), Path(nowhere["TMPDIR"])
    before = way.tree(home)
    terminal = wizard("--demo", env=nowhere, cwd=home)
    way.to_choice(terminal)
    way.to_preview(terminal)
    way.approve(terminal)
    terminal.wait_for(way.WRITTEN)
    assert "DEMO" in terminal.screen().splitlines()[0]
    (folder,) = temporary.iterdir()
    assert way.records(folder / "home") == ["claude", "codex", "opencode"]
    terminal.type("q")
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert not [path for path in temporary.iterdir() if path.name.startswith("hostconf")]
    assert way.tree(home) == before


def test_a_demo_whose_terminal_is_closed_leaves_nothing(wizard: Wizard, nowhere: dict[str, str]) -> None:
    home, temporary = Path(nowhere["HOME"]), Path(nowhere["TMPDIR"])
    before = way.tree(home)
    terminal = wizard("--demo", env=nowhere, cwd=home)
    terminal.wait_for(way.READ)
    assert len(list(temporary.iterdir())) == 1
    terminal.close()
    terminal.ended()
    terminal.all_gone()
    assert list(temporary.iterdir()) == []
    assert way.tree(home) == before


def test_no_host_is_said_and_the_demo_named(wizard: Wizard, nowhere: dict[str, str]) -> None:
    home = Path(nowhere["HOME"])
    before = way.tree(home)
    terminal = wizard(env=nowhere, cwd=home)
    terminal.wait_for("hostconf --demo")
    terminal.type("q")
    assert terminal.ended() == 0
    assert terminal.modes().sane
    assert way.tree(home) == before
