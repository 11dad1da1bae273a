"""Carrying out: steps, result, what went wrong, the hosts' own word; and that nothing leaves while it writes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from textual.pilot import Pilot

from hostconf import lock
from hostconf.model import Environment
from hostconf.system import RealSystem
from hostconf.tui.app import Wizard
from hostconf.tui.messages import Step
from hostconf.tui.screens.apply import STAY, Apply
from hostconf.tui.screens.hosts import Hosts
from hostconf.tui.screens.preview import Preview
from tests.tui.conftest import SIZES, Open, now, same_picture, screen_text, settled
from tests.tui.test_preview import preview, tree, wished
from tests.workflow.test_verify import gone

TOLD = "waiting for pid 4711"


@contextmanager
def lock_held(environment: Environment) -> Iterator[None]:
    """Somebody else is at it: the scope's lock is held, by one whose facts are the same in every run."""
    Path(environment.state).mkdir(parents=True, exist_ok=True)
    facts = {
        "format": lock.FORMAT,
        "pid": 4711,
        "user": "ada",
        "host": "desk",
        "tool": "hostconf 0.1.0",
        "op": "apply",
        "started": "2026-11-30T09:59:00Z",
    }
    system = RealSystem()
    held = lock.acquire(system, lock.scope_lock(environment.state), facts, deadline=time.monotonic())
    try:
        yield
    finally:
        lock.release(system, held)


def patient(app: Wizard, seconds: int) -> Wizard:
    """How long the wizard waits for a lock."""
    bench = app.bench
    bench.environment = bench.environment._replace(
        variables={**bench.environment.variables, "HOSTCONF_LOCK_WAIT": str(seconds)}
    )
    return app


class Heard:
    """Hears when the first step comes in."""

    def __init__(self) -> None:
        self.step = asyncio.Event()

    def hear(self, message: Message) -> None:
        """One message of the app."""
        if isinstance(message, Step):
            self.step.set()


async def approved(app: Wizard, pilot: Pilot[Any]) -> Apply:
    """From the plan to the apply screen, without waiting for its end."""
    app.animation_level = "none"
    await preview(app, pilot, wished())
    await pilot.press("a")
    await settled(pilot)
    await pilot.press("y")
    await pilot.pause()
    assert isinstance(app.screen, Apply)
    return app.screen


def writing(app: Wizard) -> bool:
    """Whether it says that it writes."""
    return app.writing


# ------------------------------------------------------------------ while it writes


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_while_it_writes_nothing_leaves(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """The step at work is shown; no key leaves, and each says why. Then it goes on by itself."""
    heard, app = Heard(), patient(wizard(), 60)
    before = tree(sample)
    async with app.run_test(size=size, message_hook=heard.hear) as pilot:
        with lock_held(app.bench.environment):
            screen = await approved(app, pilot)
            await asyncio.wait_for(heard.step.wait(), 30)
            await pilot.pause()
            assert writing(app) and TOLD in screen_text(app)
            same_picture(app, f"apply-writing-{size[0]}x{size[1]}-dark", sample)

            for key in ("escape", "q", "ctrl+c", "ctrl+q", "ctrl+p", "colon"):
                app.clear_notifications()
                await pilot.press(key)
                await pilot.pause()
                assert now(app) is screen and app.is_running, key
                assert [str(n.message) for n in app._notifications] == [STAY], key
            for key in ("enter", "H", "I", "R", "W", "v", "p", "d", "tab"):
                await pilot.press(key)
                assert now(app) is screen, key
            await pilot.resize_terminal(100, 30)
            assert TOLD in screen_text(app)
            await pilot.press("question_mark", "escape")
            assert now(app) is screen
            changed = {n for n, b in tree(sample).items() if before.get(n) != b and "/apply.hostconf.lock/" not in n}
            assert not changed
        await settled(pilot)
        assert screen.state == "done" and not writing(app)
        assert "Written" in screen_text(app)


async def test_a_terminal_that_closes_waits_for_the_end(wizard: Open, sample: Path) -> None:
    """Told to leave in the middle: it is brought to its end first, whole."""
    heard, app = Heard(), patient(wizard(), 60)
    async with app.run_test(size=(80, 24), message_hook=heard.hear) as pilot:
        with lock_held(app.bench.environment):
            screen = await approved(app, pilot)
            await asyncio.wait_for(heard.step.wait(), 30)
            app.told_to_leave()
            await pilot.pause()
            code: object = app.return_value
            assert now(app) is screen and writing(app) and code is None
        await app.workers.wait_for_complete([w for w in app.workers if w.group == "writing"])
        await pilot.pause()
    code = app.return_value
    assert code == 130
    for change in screen.prepared.plan.changes:
        assert Path(change.real).read_bytes() == change.after
    assert not [name for name in tree(sample) if name.endswith(".lock/owner.json") or "journal" in name]


# ------------------------------------------------------------------ what came of it


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_the_result_with_the_hosts_own_word(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """What was written, what to start anew, what the model gets; no host is installed here, and that is said."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        screen = await approved(app, pilot)
        await settled(pilot)
        same_picture(app, f"apply-result-{size[0]}x{size[1]}-dark", sample)
        for change in screen.prepared.plan.changes:
            assert Path(change.real).read_bytes() == change.after
        assert not app.wish.touched and app.wish.hosts == ("claude", "codex")


@pytest.mark.parametrize("keys", [("enter",), ("d",), ("escape",)])
async def test_done_goes_to_the_hosts_read_anew(wizard: Open, keys: tuple[str, ...]) -> None:
    app = wizard()
    async with app.run_test(size=(120, 40)) as pilot:
        await approved(app, pilot)
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        assert isinstance(now(app), Hosts)
        assert "preferred/optional" in screen_text(app)
        await pilot.press("q")
    assert app.return_value == 0


async def test_a_click_in_the_footer_is_a_key(wizard: Open) -> None:
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        await approved(app, pilot)
        await settled(pilot)
        await pilot.click("Footer", offset=(3, 0))
        await settled(pilot)
        assert isinstance(now(app), Hosts)


async def test_leaving_does_not_wait_for_a_host_that_is_being_asked(wizard: Open, tmp_path: Path) -> None:
    """It is ended, with what it started."""
    told = tmp_path / "told"
    program = tmp_path / "codex"
    program.write_text(f"#!/bin/sh\nsleep 300 &\necho $$ $! > {told}.new\nmv {told}.new {told}\nwait\n")
    program.chmod(0o755)
    app = wizard()
    variables = {**app.bench.environment.variables, "PATH": f"{tmp_path}{os.pathsep}{os.defpath}"}
    app.bench.environment = app.bench.environment._replace(variables=variables)
    async with app.run_test(size=(80, 24)) as pilot:
        await approved(app, pilot)
        while not told.exists():
            await pilot.pause()
        await pilot.press("q")
    assert app.return_value == 0
    await asyncio.get_running_loop().shutdown_default_executor()  # as the interpreter does when it ends
    assert all(gone(int(pid)) for pid in told.read_text().split())


async def test_in_the_demo_no_program_is_started(wizard: Open) -> None:
    app = wizard(demo=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await approved(app, pilot)
        await settled(pilot)
        assert "no program is started in the demo" in screen_text(app)
        assert not screen.check_action("verify", ())
        assert not screen._asking


async def test_the_hosts_are_asked_what_they_load(wizard: Open, sample: Path, tmp_path: Path) -> None:
    """One that agrees, one that differs; asked again, the answer is the new one."""
    programs = tmp_path / "bin"
    programs.mkdir()

    def says(name: str, text: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\ncat <<'EOF'\n{text}\nEOF\n")
        (programs / name).chmod(0o755)

    says("codex", '[{"name": "tavily", "enabled": true}]')
    app = wizard()
    environment = app.bench.environment
    path = f"{programs}{os.pathsep}{os.defpath}"
    app.bench.environment = environment._replace(variables={**environment.variables, "PATH": path})
    async with app.run_test(size=(120, 40)) as pilot:
        await approved(app, pilot)
        await settled(pilot)
        text = screen_text(app)
        assert "Codex CLI: differs" in text and "- deepseek should be loaded, and the host does" in text
        assert "Claude Code: not installed here" in text

        says("codex", '[{"name": "tavily", "enabled": true}, {"name": "deepseek", "enabled": true}]')
        await pilot.press("v")
        await settled(pilot)
        assert "Codex CLI: agrees" in screen_text(app)


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_a_file_that_moved_on_stops_it(wizard: Open, sample: Path, size: tuple[int, int]) -> None:
    """A file is changed between preview and approval: no byte is written, and `p` plans again."""
    app = wizard()
    async with app.run_test(size=size) as pilot:
        app.animation_level = "none"
        first = await preview(app, pilot, wished())
        shown = first.prepared
        config = sample / ".codex/config.toml"
        config.write_text(config.read_text() + "# moved on\n")
        before = tree(sample)

        await pilot.press("a")
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
        screen = now(app)
        assert isinstance(screen, Apply) and screen.state == "failed"
        assert tree(sample) == before and not app.writing and app.wish.touched
        same_picture(app, f"apply-stale-{size[0]}x{size[1]}-dark", sample)

        await pilot.press("p")
        await settled(pilot)
        assert now(app) is first and first.prepared is not None and first.prepared is not shown
        await pilot.press("a")
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
        assert "# moved on" in config.read_text() and "deepseek" in config.read_text()


async def test_a_lock_of_somebody_else_is_told_with_its_holder(wizard: Open, sample: Path) -> None:
    app = patient(wizard(), 0)
    async with app.run_test(size=(80, 24)) as pilot:
        with lock_held(app.bench.environment):
            before = tree(sample)
            await approved(app, pilot)
            await settled(pilot)
            text = screen_text(app)
            assert "Nothing was written" in text and "4711" in text
            assert tree(sample) == before
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(now(app), Preview)


async def test_a_file_that_cannot_be_written_is_told(wizard: Open, sample: Path) -> None:
    """A folder stands where the plan has a new file."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        app.animation_level = "none"
        await preview(app, pilot, wished())
        (sample / ".claude/rules/hostconf.md").mkdir(parents=True)
        before = tree(sample)
        await pilot.press("a")
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
        screen = now(app)
        assert isinstance(screen, Apply) and screen.state == "failed"
        assert "Nothing was written" in screen_text(app)
        assert tree(sample) == before


async def test_what_is_unfinished_leads_to_the_recovery(wizard: Open, sample: Path) -> None:
    """A journal of an earlier operation is there: nothing is touched, and `R` goes where it is settled."""
    app = wizard()
    async with app.run_test(size=(80, 24)) as pilot:
        app.animation_level = "none"
        await preview(app, pilot, wished())
        _leave_unfinished(app.bench.environment, wished, app)
        before = tree(sample)
        await pilot.press("a")
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
        screen = now(app)
        assert isinstance(screen, Apply) and screen.state == "failed"
        assert tree(sample) == before
        assert "Press R" in screen_text(app) and screen.check_action("mend", ())


def _leave_unfinished(environment: Environment, wish: Callable[..., Any], app: Wizard) -> None:
    """Another apply, of another scope of choice, killed before its first file was exchanged."""
    child = os.fork()
    if child == 0:
        try:
            from hostconf import swap

            swap.put_new = lambda *words, **more: os._exit(9)
            app.bench.carry_out(app.bench.prepare(wish("optional", "off").request()), lambda text: None)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9, "it ended before it was killed"


async def test_a_fault_of_our_own_is_told_and_can_be_left(wizard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the work dies of, the screen says it, shows no value, and lets go."""
    app = wizard()

    def dies(*words: Any, **more: Any) -> Any:
        raise ZeroDivisionError("a value of a file")

    monkeypatch.setattr(app.bench, "carry_out", dies)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await approved(app, pilot)
        await settled(pilot)
        text = screen_text(app)
        assert screen.state == "failed" and not app.writing
        assert "ZeroDivisionError" in text and "a value of a file" not in text
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(now(app), Preview)


async def test_even_an_interruption_of_the_work_lets_go(wizard: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = wizard()

    def dies(*words: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(app.bench, "carry_out", dies)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await approved(app, pilot)
        await settled(pilot)
        assert screen.state == "failed" and not app.writing
        assert "it was interrupted" in screen_text(app)
