"""Names from files that would break a screen: markup, control sequences, 300 characters, other scripts. Text, all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from hostconf.tui.app import Wizard
from hostconf.tui.widgets.rows import Rows
from tests.tui.conftest import Open, screen_text, settled

NAMES = {
    "markup": "[red]x[/]",
    "broken-markup": "[/x] [@click=app.quit]y[",
    "escape": "e\x1b[31m\x1b]0;owned\x07\x9b2Jz",
    "long": "n" * 300,
    "right-to-left": "בודק\u202eתיש",
    "double": "検索サーバー工具",
    "joined": "a\u200d\u0301👩\u200d👩\u200d👧b",
    "lines": "one\ntwo\r\tthree\u2028four",
    "backticks": "`tick``tock`",
}
SHOWN = {
    "markup": "[red]x[/]",
    "broken-markup": "[/x] [@click=app.quit]y[",
    "escape": "e␛[31m␛]0;owned␇<U+009B>2Jz",
    "long": "nnnnnnnnnn",
    "right-to-left": "בודק<U+202E>תיש",
    "double": "検索サーバー工具",
    "joined": "a<U+200D>",
    "lines": "one␊two␍␉three<U+2028>four",
    "backticks": "tick",
}
SIZES = ((80, 24), (120, 40), (200, 60))


def server(name: str) -> dict[str, Any]:
    """A rival server of this name."""
    return {name: {"command": "npx", "args": ["-y", "tavily-mcp@latest"]}}


def home_with(place: Path, name: str) -> Path:
    """A home with two hosts, each with a server of this name."""
    home = place / "hostile"
    (home / ".codex").mkdir(parents=True)
    text = json.dumps({"mcpServers": server(name)}, indent=2)
    (home / ".claude.json").write_text(text)
    key = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f").replace("\x9b", "\\u009b")
    (home / ".codex/config.toml").write_text(
        f'[mcp_servers.{key}]\ncommand = "npx"\nargs = ["-y", "tavily-mcp@latest"]\n'
    )
    (home / ".codex/AGENTS.md").write_text(
        f"# {name}\n\nFor web search use `mcp__tavily__tavily_search` {name} always.\n", newline=""
    )
    return home


def whole(app: Wizard) -> None:
    """Every line is as wide as the terminal, and nothing on it is a control character."""
    width, height = app.size
    strips = app.screen._compositor.render_strips(app.size)
    assert len(strips) == height
    for y, strip in enumerate(strips):
        text = "".join(segment.text for segment in strip)
        assert strip.cell_length == width, f"line {y} is {strip.cell_length} wide: {text!r}"
        assert all(char.isprintable() for char in text), f"line {y}: {text!r}"


async def on_hosts(app: Wizard, pilot: Pilot[Any], key: str) -> None:
    """Both hosts, one after the other."""
    for _ in range(2):
        whole(app)
        assert SHOWN[key][:6] in screen_text(app)
        await pilot.press("j")
        await settled(pilot)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("key", NAMES)
async def test_a_hostile_name_is_text_on_hosts_and_conflicts(
    wizard: Open, tmp_path: Path, key: str, size: tuple[int, int]
) -> None:
    app = wizard(home_with(tmp_path, NAMES[key]))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await on_hosts(app, pilot, key)

        await pilot.press("n")
        await settled(pilot)
        listing = app.screen.query_one(Rows).listing
        kinds = []
        for number, option in enumerate(listing.options):
            if option.disabled:
                continue
            listing.highlighted = number
            await settled(pilot)
            whole(app)
            kinds.append(str(option.prompt).split("  ")[0])
            if kinds[-1] == "rival":
                assert SHOWN[key] in "".join(screen_text(app).split("\n")) or SHOWN[key][:10] in screen_text(app)
        assert kinds.count("rival") == 2

        await pilot.press("slash", "[", "/")
        await settled(pilot)
        whole(app)
        assert app.is_running


async def test_markup_does_not_colour_and_a_link_in_it_does_not_act(wizard: Open, tmp_path: Path) -> None:
    app = wizard(home_with(tmp_path, "[@click=app.quit][red]x[/][/]"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "[@click=app.quit][red]x[/][/]" in screen_text(app)
        strips = app.screen._compositor.render_strips(app.size)
        metas = [segment.style.meta for strip in strips for segment in strip if segment.style and "red" in segment.text]
        assert metas
        assert not any("@click" in meta for meta in metas)
