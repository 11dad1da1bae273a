"""What stands in the way: findings by host, the line in its file, what each tier would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot

from hostconf.model import CONFLICT_KINDS
from hostconf.tui.app import Wizard
from hostconf.tui.screens.base import Room
from hostconf.tui.screens.conflicts import Conflicts
from hostconf.tui.widgets.excerpt import Excerpt, Token, tokens
from hostconf.tui.widgets.findings import KINDS, in_order, short_place
from hostconf.tui.widgets.rows import Rows
from tests.tui.conftest import SIZES, THEMES, Open, same_picture, screen_lines, screen_text, settled


async def opened(app: Wizard, pilot: Pilot[Any]) -> None:
    """The hosts are read, and the conflicts of all of them are shown."""
    await settled(pilot)
    await pilot.press("n")
    await settled(pilot)
    assert isinstance(app.screen, Conflicts)


async def mark(app: Wizard, pilot: Pilot[Any], words: str) -> None:
    """The cursor on the first row with these words."""
    listing = app.screen.query_one(Rows).listing
    listing.highlighted = next(n for n, o in enumerate(listing.options) if words in str(o.prompt) and not o.disabled)
    await settled(pilot)


def table(app: Wizard) -> list[str]:
    """The rows of the table, whether in sight or not."""
    return [str(option.prompt) for option in app.screen.query_one(Rows).listing.options]


# ------------------------------------------------------------------ pictures


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("theme", THEMES)
async def test_the_surface(wizard: Open, sample: Path, size: tuple[int, int], theme: str) -> None:
    """Two hosts with a rival each; the first finding in full."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await opened(app, pilot)
        same_picture(app, f"conflicts-{size[0]}x{size[1]}-{theme.rpartition('-')[2]}", sample)


async def test_wide_the_finding_stands_beside_the_table(wizard: Open, sample: Path) -> None:
    """All of the marked finding at the right."""
    app = wizard()
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "set by hand")
        same_picture(app, "conflicts-200x60-dark", sample)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_a_broken_file_shows_line_and_column(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """A caret under the column; tabs and a masked value do not move it."""
    (sample / ".codex/config.toml").write_text(
        'model = "a"\n[mcp_servers.x]\n\tenv = { API_KEY = "sk-12345678901234" ]\n'
    )
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "broken file")
        same_picture(app, f"conflicts-broken-{size[0]}x{size[1]}-dark", sample)

        shown = screen_lines(app)
        at = next(n for n, line in enumerate(shown) if ">   3" in line)
        assert shown[at + 1].rstrip().endswith("^")
        assert shown[at].rindex("]") == shown[at + 1].index("^")
        assert "sk-1234" not in screen_text(app)


async def test_nothing_in_the_way(wizard: Open, tmp_path: Path) -> None:
    """A host without a finding: said in words, and where one goes from here."""
    home = tmp_path / "calm"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex/config.toml").write_text('model = "gpt-5.5"\n')
    app = wizard(home)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "Nothing stands in the way on Codex CLI." in screen_text(app)
        same_picture(app, "conflicts-none-80x24-dark", home)


# ------------------------------------------------------------------ the table


async def test_findings_are_grouped_by_host_the_weightiest_first(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        listing = app.screen.query_one(Rows).listing
        heads = [n for n, option in enumerate(listing.options) if option.disabled]
        assert [table(app)[n] for n in heads] == ["Claude Code  1 finding", "Codex CLI  3 findings"]
        assert [row.split()[0] for row in table(app)[heads[1] + 1 :]] == ["rival", "rules", "set"]


async def test_only_the_hosts_taken_in(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("space")
        await opened(app, pilot)
        assert any("Codex CLI" in row for row in table(app))
        assert not any("Claude Code" in row for row in table(app))


@pytest.mark.parametrize("typed", ["codex", "rules-steer", "AGENTS.md", "steer away"])
async def test_the_filter_looks_at_kind_host_and_file(wizard: Open, typed: str) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        everything = table(app)
        await pilot.press("slash", *typed)
        await settled(pilot)
        assert 1 < len(table(app)) < len(everything)
        assert any("AGENTS.md" in row for row in table(app))
        assert not any("~/.claude.json" in row for row in table(app))
        assert typed in screen_text(app), "what is typed is in sight"

        await pilot.press("escape")
        await settled(pilot)
        assert table(app) == everything
        assert isinstance(app.screen, Conflicts)


async def test_a_filter_that_nothing_passes_shows_no_finding(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "Tiers" in screen_text(app)
        await pilot.press("slash", *"zzz")
        await settled(pilot)
        assert "no row contains this" in screen_text(app)
        assert "Tiers" not in screen_text(app)


# ------------------------------------------------------------------ the finding in full


async def test_the_line_in_its_context_follows_the_cursor(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "set by hand")
        shown = screen_text(app)
        assert '>   3 web_search = "live"' in shown
        assert "    5 [mcp_servers.tavily]" in shown
        assert "overridden; comes back at uninstall" in shown

        await mark(app, pilot, "rules steer")
        assert ">   3 - For every web search use" in screen_text(app)
        assert "what to do" in screen_text(app).lower()


async def test_a_held_key_ends_with_the_lines_of_the_last_row(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press(*"jjjjjjjj", "G", "k", "j")
        await settled(pilot)
        where = [line for line in screen_lines(app) if "layer user" in line]
        assert "~/.codex/config.toml:3" in where[0]
        assert '>   3 web_search = "live"' in screen_text(app)


async def test_no_secret_of_the_file_is_shown(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "~/.claude.json:3")
        assert "TAVILY_API_KEY" in screen_text(app)
        assert "tvly-not" not in screen_text(app)


async def test_a_file_that_is_gone_shows_no_line_but_says_so(wizard: Open, sample: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        (sample / ".codex/config.toml").unlink()
        await mark(app, pilot, "set by hand")
        assert "the file cannot be read any more" in screen_text(app)
        assert "~/.codex/config.toml:3" in screen_text(app)


async def test_a_finding_without_a_line_says_that_there_is_none(wizard: Open, sample: Path) -> None:
    (sample / ".codex/config.toml").unlink()
    (sample / ".codex/config.toml").mkdir()
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "broken file")
        assert "about the file as a whole" in screen_text(app)


async def test_reading_again_keeps_the_cursor_on_its_finding(wizard: Open, sample: Path) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "set by hand")
        path = sample / ".codex/config.toml"
        path.write_text("# one more line\n" + path.read_text())
        (sample / ".claude.json").write_text("{}")
        await pilot.press("r")
        await settled(pilot)
        assert not any("~/.claude.json" in row for row in table(app))
        assert '>   4 web_search = "live"' in screen_text(app)


# ------------------------------------------------------------------ sizes, looks


async def test_resizing_keeps_the_finding_and_shows_more_of_it(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await mark(app, pilot, "set by hand")
        assert len([y for y in screen_lines(app) if "[mcp_servers.tavily]" in y]) == 0
        for width, height in ((200, 60), (120, 40)):
            await pilot.resize_terminal(width, height)
            await settled(pilot)
            assert '>   3 web_search = "live"' in screen_text(app)
            assert "[mcp_servers.tavily]" in screen_text(app)
        await pilot.resize_terminal(40, 12)
        await settled(pilot)
        assert "set by hand" in screen_text(app)


async def test_without_colours_the_cursor_row_and_the_line_are_seen(wizard: Open) -> None:
    app = wizard(colour=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        strips = app.screen._compositor.render_strips(app.size)
        reverse = [
            "".join(s.text for s in strip) for strip in strips if any(s.style and s.style.reverse for s in strip)
        ]
        assert any("rival" in line for line in reverse)
        assert any(line.lstrip().startswith(">") for line in screen_lines(app))


# ------------------------------------------------------------------ on, and back


@pytest.mark.parametrize("key", ["n", "enter"])
async def test_on_to_the_choice(wizard: Open, key: str) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(app.screen, Room)
        assert app.screen.PLACE == "choice"


async def test_a_click_marks_and_a_second_one_goes_on(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        listing = app.screen.query_one(Rows).listing
        await pilot.click(listing, offset=(10, 4))
        await settled(pilot)
        assert listing.highlighted == 4
        assert isinstance(app.screen, Conflicts)

        await pilot.click(listing, offset=(10, 4), times=2)
        await settled(pilot)
        assert isinstance(app.screen, Room)
        assert app.screen.PLACE == "choice"


async def test_with_nothing_in_the_way_n_goes_on(wizard: Open, tmp_path: Path) -> None:
    home = tmp_path / "calm"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex/config.toml").write_text("")
    app = wizard(home)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, Room)
        assert app.screen.PLACE == "choice"


async def test_escape_goes_back_to_the_hosts_as_they_were_chosen(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("space")
        await opened(app, pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, Room)
        assert app.screen.PLACE == "hosts"
        assert app.wish.hosts == ("codex",)


async def test_the_wheel_scrolls_the_finding(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(60, 16)) as pilot:
        await opened(app, pilot)
        about = app.screen.query_one("#about")
        before = about.scroll_offset
        await pilot.press("tab", "j", "j")
        await settled(pilot)
        assert before == Offset(0, 0)
        assert about.scroll_offset.y > 0


# ------------------------------------------------------------------ parts


def test_every_kind_of_finding_has_words_and_a_rank() -> None:
    assert set(KINDS) == set(CONFLICT_KINDS)


def test_a_kind_nobody_knows_comes_before_the_harmless() -> None:
    found = [{"kind": k, "path": "", "line": 0} for k in ("dead-switch", "new-kind", "drift")]
    assert [one["kind"] for one in in_order(found)] == ["drift", "new-kind", "dead-switch"]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (40, "~/.config/opencode/opencode.jsonc:17"),
        (30, "…/opencode/opencode.jsonc:17"),
        (20, "…/opencode.jsonc:17"),
        (12, "…de.jsonc:17"),
    ],
)
def test_folders_give_way_before_file_and_line(width: int, expected: str) -> None:
    assert short_place("/home/ada/.config/opencode/opencode.jsonc", 17, "/home/ada", width) == expected


@pytest.mark.parametrize(
    ("format", "text", "expected"),
    [
        ("json", '"a": "b//c", // d', ["key", "string", "comment"]),
        ("jsonc", "/* x */ true", ["comment", "value"]),
        ("toml", '[a."b"] # c', ["head", "comment"]),
        ("toml", 'a = "#b" # c', ["key", "string", "comment"]),
        ("yaml", "a: 12 # c", ["key", "value", "comment"]),
        ("markdown", "## a `b`", ["head"]),
        ("markdown", "- use `b`", ["value", "string"]),
        ("", "a = 1", []),
    ],
)
def test_pieces_of_a_line(format: str, text: str, expected: list[str]) -> None:
    assert [token.kind for token in tokens(text, format)[0]] == expected


def test_a_comment_goes_on_to_its_end() -> None:
    inside = tokens("1 /* a", "json")[1]
    assert inside
    assert tokens("b", "json", inside=inside) == ([Token(0, 1, "comment")], True)
    assert tokens("c */ 2", "json", inside=True) == ([Token(0, 4, "comment"), Token(5, 6, "value")], False)


def test_the_excerpt_takes_the_finding_s_own_line_where_the_file_is_gone() -> None:
    shown = Excerpt()
    assert not shown.show({"lines": []}, 4)
    assert shown.show({"lines": []}, 4, "a = = b\n    ^")
    assert [line.text for line in shown._lines] == ["a = = b", "    ^"]
