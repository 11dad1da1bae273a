"""What hostconf has installed: each install in full, its drift, and the ways back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from hostconf import workflow
from hostconf.tui.app import Wizard
from hostconf.tui.screens.ask import Confirm
from hostconf.tui.screens.hosts import Hosts
from hostconf.tui.screens.installed import Installed
from hostconf.tui.screens.preview import Preview
from hostconf.tui.widgets.rows import Rows
from tests.tui.conftest import SIZES, THEMES, Open, same_picture, screen_lines, screen_text, settled
from tests.tui.interrupted import environment, install

NAME = "deepseek-web-retrieval"


@pytest.fixture
def installed(sample: Path) -> Path:
    """The sample home with two installs."""
    install(sample)
    return sample


@pytest.fixture
def drifted(installed: Path) -> Path:
    """And somebody changed what was written for Claude Code."""
    path = installed / ".claude.json"
    text = path.read_text()
    assert '"deepseek-web-retrieval"' in text
    path.write_text(text.replace('"deepseek-web-retrieval"', '"another-package"'))
    return installed


async def opened(app: Wizard, pilot: Pilot[Any]) -> Installed:
    """The screen, by its key."""
    await settled(pilot)
    await pilot.press("i")
    await settled(pilot)
    screen = app.screen
    assert isinstance(screen, Installed)
    return screen


def now(app: Wizard) -> type:
    """Which screen is shown."""
    return type(app.screen)


# ------------------------------------------------------------------ what is there


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("theme", THEMES)
async def test_two_installs_one_of_them_drifted(wizard: Open, drifted: Path, size: tuple[int, int], theme: str) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await opened(app, pilot)
        same_picture(app, f"installed-drift-{size[0]}x{size[1]}-{theme.rpartition('-')[2]}", drifted)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_an_install_as_it_was_written(wizard: Open, installed: Path, size: tuple[int, int]) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        same_picture(app, f"installed-two-{size[0]}x{size[1]}-dark", installed)


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_where_nothing_is_installed_it_says_what_to_press(
    wizard: Open, sample: Path, size: tuple[int, int]
) -> None:
    app = wizard()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        text = screen_text(app)
        assert "installed nothing here yet" in text and "Press Esc" in text
        assert "Uninstall" not in text, "there is nothing to take back"
        same_picture(app, f"installed-none-{size[0]}x{size[1]}-dark", sample)

        await pilot.press("u", "U", "t")
        await settled(pilot)
        assert now(app) is Installed
        await pilot.press("escape")
        assert now(app) is Hosts


async def test_the_marked_install_is_shown_in_full(wizard: Open, sample: Path) -> None:
    install(sample, settings=(("count", "7"),))
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        text = screen_text(app)
        for part in ("mcp", "deepseek", "count = 7", "DEEPSEEK_API_KEY", "2026-11-30 10:00", "~/.claude.json"):
            assert part in text
        assert "~/.codex/config.toml" not in text

        await pilot.press("j")
        await settled(pilot)
        text = screen_text(app)
        assert "~/.codex/config.toml" in text and "~/.claude.json" not in text


async def test_drift_says_where_why_and_what_an_uninstall_does(wizard: Open, drifted: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        rows = [row.strip() for row in screen_lines(app)]
        at = rows.index("! mcpServers.deepseek: the entry was changed since")
        assert rows[at + 1] == "~/.claude.json:9"
        assert rows[at + 2] == "uninstall: stays, for it is not as hostconf wrote it"
        assert ["drift" in row for row in rows if row.startswith(("Claude Code", "Codex CLI"))] == [True, False]


async def test_an_entry_that_is_gone_keeps_nothing_back(wizard: Open, installed: Path) -> None:
    path = installed / ".codex/config.toml"
    text = path.read_text()
    path.write_text(text[: text.index("[mcp_servers.deepseek]")])
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("j")
        await settled(pilot)
        text = screen_text(app)
        assert "mcp_servers.deepseek: the entry is gone" in text
        assert "uninstall: takes out what is left of ours" in text


async def test_a_file_that_cannot_be_read_refuses_the_uninstall_beforehand(wizard: Open, installed: Path) -> None:
    (installed / ".codex/config.toml").write_text("[broken\n")
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("j")
        await settled(pilot)
        assert "uninstall is refused:" in screen_text(app)


async def test_a_record_that_cannot_be_read_is_shown_with_its_place(wizard: Open, installed: Path) -> None:
    record = installed / f".local/state/hostconf/records/codex.{NAME}.json"
    record.write_text("{")
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        text = screen_text(app)
        assert "Records that cannot be read" in text
        assert f"~/.local/state/hostconf/records/codex.{NAME}.json" in text
        assert "what to do:" in text
        assert app.screen.query_one(Rows).current.startswith("claude|"), "the other one is still there"

        await pilot.press("U")
        await settled(pilot)
        assert now(app) is Installed, "on what is not known nothing is decided"
        assert "codex" in "".join(screen_lines(app)[-6:])


async def test_read_again_shows_what_has_changed(wizard: Open, installed: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "drift" not in screen_text(app)
        path = installed / ".claude.json"
        path.write_text(path.read_text().replace('"deepseek-web-retrieval"', '"another-package"'))
        await pilot.press("r")
        await settled(pilot)
        assert "! drift" in screen_text(app)


async def test_the_filter_leaves_what_contains_it(wizard: Open, installed: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("slash", *"codex", "enter")
        await settled(pilot)
        assert screen.query_one(Rows).current == f"codex|{NAME}|user"
        assert f"{NAME} on Codex CLI" in screen_text(app)


async def test_without_colour_the_marked_row_is_still_marked(
    wizard: Open, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = wizard()
    monkeypatch.setenv("NO_COLOR", "1")
    app = wizard(colour=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        strips = app.screen._compositor.render_strips(app.size)
        marked = [s for row in strips for s in row if "Claude Code" in s.text and s.style and s.style.reverse]
        assert marked


# ------------------------------------------------------------------ ways back


async def test_u_plans_the_removal_of_the_marked_one(wizard: Open, installed: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("j", "u")
        await settled(pilot)
        assert isinstance(app.screen, Preview)
        prepared = app.screen.prepared
        assert prepared is not None and prepared.ready
        assert [(r.host, r.integration, r.scope) for r in prepared.records] == [("codex", NAME, "user")]

        await pilot.press("escape")
        await settled(pilot)
        assert now(app) is Installed
        assert app.screen.query_one(Rows).current.startswith("codex|"), "the cursor is where it was"


async def test_capital_u_plans_the_removal_of_all(wizard: Open, installed: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("U")
        await settled(pilot)
        assert isinstance(app.screen, Preview) and app.screen.prepared is not None
        assert [r.host for r in app.screen.prepared.records] == ["claude", "codex"]


@pytest.mark.parametrize(("label", "hosts"), [("Uninstall", ["codex"]), ("Uninstall all", ["claude", "codex"])])
async def test_the_mouse_marks_and_takes_back(wizard: Open, installed: Path, label: str, hosts: list[str]) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(app, pilot)
        await pilot.click(screen.query_one(Rows).listing, offset=(3, 1))
        await settled(pilot)
        await click_key(pilot, label)
        assert isinstance(app.screen, Preview) and app.screen.prepared is not None
        assert [r.host for r in app.screen.prepared.records] == hosts


async def click_key(pilot: Pilot[Any], label: str) -> None:
    """Click a word of the footer."""
    keys = [key for key in pilot.app.screen.query("FooterKey") if getattr(key, "description", "") == label]
    await pilot.click(keys[0])
    await settled(pilot)


async def test_a_whole_uninstall_from_here(wizard: Open, sample: Path) -> None:
    before = {p: p.read_bytes() for p in sample.rglob("*") if p.is_file()}
    install(sample)
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("U")
        await settled(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert isinstance(app.screen, Confirm)
        await pilot.press(*("y" if not app.screen.query("#ask-word") else "uninstall"), "enter")
        await settled(pilot)
        await asyncio.wait_for(app.workers.wait_for_complete(), 30)
        await settled(pilot)
    assert {p: p.read_bytes() for p in sample.rglob("*") if p.is_file()} == before


async def test_t_takes_the_install_as_the_wish(wizard: Open, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(sample, settings=(("count", "7"),), tiers=((None, "preferred"),))
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        went: list[str] = []
        monkeypatch.setattr(app, "go", went.append)
        await pilot.press("j", "t")
        await settled(pilot)
        wish = app.wish
        assert went == ["choice"]
        assert (wish.hosts, wish.integration, wish.scope, wish.path) == (("codex",), NAME, "user", "mcp")
        assert wish.tiers == {("codex", "web_search"): "preferred", ("codex", "web_fetch"): "preferred"}
        assert wish.settings == {"count": "7"}
        assert workflow.prepare(environment(sample), wish.request()).plan.empty, "as it is, nothing would change"


async def test_t_asks_before_another_choice_is_lost(wizard: Open, installed: Path) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("space")
        before = app.wish
        await opened(app, pilot)
        await pilot.press("t")
        await settled(pilot)
        assert isinstance(app.screen, Confirm)
        await pilot.press("escape")
        assert app.wish == before


async def test_a_dry_run_reads_and_writes_nothing(wizard: Open, drifted: Path) -> None:
    def tree() -> dict[str, tuple[int, bytes]]:
        paths = sorted(drifted.rglob("*"))
        return {str(p): (p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in paths}

    before = tree()
    app = wizard(dry_run=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "DRY RUN" in screen_text(app)
        await pilot.press("u")
        await settled(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert isinstance(app.screen, Preview)
    assert tree() == before
