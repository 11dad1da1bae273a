"""The wizard itself: which screen is shown, what was chosen, how one leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, cast

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen

from hostconf import workflow
from hostconf.model import Environment, OperationResult
from hostconf.tui import crash
from hostconf.tui.actions import ACTIONS, EVERYWHERE, bindings, keys_of
from hostconf.tui.bench import Bench
from hostconf.tui.gone import bearing
from hostconf.tui.hands import Hands
from hostconf.tui.places import PLACES
from hostconf.tui.screens.base import Room, attempt
from hostconf.tui.theme import DARK, LIGHT, fitting
from hostconf.tui.wish import Wish


class Wizard(App[int]):
    """All screens over one `Bench`. What a person has chosen is `wish`; screens change it and read it."""

    TITLE = "hostconf"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*EVERYWHERE), Binding("ctrl+z", "suspend_process", show=False)]

    unfinished: reactive[str] = reactive("")
    """One word for every bar while something is unfinished or locked."""

    @dataclass
    class Looked(Message):
        """It is known whether something is unfinished."""

        result: OperationResult

    def __init__(
        self, environment: Environment, *, dry_run: bool = False, demo: bool = False, colour: bool = True
    ) -> None:
        if not colour:
            os.environ["NO_COLOR"] = "1"  # the only way in: the framework reads it from there
        super().__init__(ansi_color=True if not colour or "NO_COLOR" in os.environ else None)
        self.driver_class = bearing(self.driver_class)
        self.bench = Bench(environment, dry_run=dry_run)
        self.dry_run, self.demo = dry_run, demo
        self.wish = Wish()
        self.chosen_once = False
        """Whether the hosts were taken in once: after that the person's choice counts."""
        self.writing = False
        """Whether files are being written: then nothing leaves."""
        self._leave_after = False
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = fitting(environment.variables)

    # ---- coming and going

    def on_mount(self) -> None:
        """The first screen."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(Hands(self.bench.put_down))
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None:
                try:
                    loop.add_signal_handler(number, self.told_to_leave, name == "SIGHUP")
                except (NotImplementedError, RuntimeError, ValueError):
                    pass  # not the main thread: then the one who started us looks after signals
        self.push_screen(self._made("hosts"))
        self.call_after_refresh(self._look_for_unfinished)

    def _look_for_unfinished(self) -> None:
        def work() -> None:
            answer = attempt(self.bench.recovery, self.Looked)
            if isinstance(answer, self.Looked):  # what failed here fails again, and is told, where it is needed
                self.post_message(answer)

        self.run_worker(work, thread=True, group="recovery", exit_on_error=False)

    def on_unmount(self) -> None:
        """The interpreter waits for every thread: none may wait for somebody else's program then."""
        self.bench.leave()

    def on_wizard_looked(self, event: Looked) -> None:
        """What is unfinished comes before anything else."""
        behind = [s.PLACE for s in self.screen_stack if isinstance(s, Room)]
        if event.result.data["needed"] and not self.writing and "recovery" not in behind:
            from hostconf.tui.screens.recovery import Recovery

            self.push_screen(Recovery(event.result))

    def told_to_leave(self, gone: bool = False) -> None:
        """The terminal is gone, or somebody ended us: at once, but not in the middle of writing."""
        self._leave_after = True
        if gone and self._driver is not None:
            self._driver.disable_input()  # else its thread reads the end of the terminal, again and again
        if not self.writing:
            self.exit(130)

    def begin_writing(self) -> None:
        """From here on nothing leaves."""
        self.writing = True

    def end_writing(self) -> None:
        """What is written is written."""
        self.writing = False
        if self._leave_after:
            self.exit(130)

    def run_to_end(self, *, headless: bool = False) -> int:
        """Run until one leaves; gives the exit code. A crash leaves a sane terminal and says where its report is."""
        code = self.run(headless=headless)
        error = self._exception
        if error is not None:
            self._tell_crash(error)
            return 1
        return code or 0

    def _fatal_error(self) -> None:
        # instead of a traceback with the values of every variable
        self._close_messages_no_wait()

    def _tell_crash(self, error: BaseException) -> None:
        text = crash.report(error)
        where = ""
        if not self.dry_run:
            where = workflow.write_report(text)
        stream = sys.stderr
        stream.write(f"error: hostconf failed in a way nobody foresaw: {type(error).__name__}{crash.place_of(error)}\n")
        stream.write(f"  the report is in `{where}`; it holds no value of your files\n" if where else text)
        stream.write(
            "\nhint: every file is whole, old or new; `hostconf recover` tells whether something is unfinished\n"
        )
        stream.flush()

    # ---- places

    def _made(self, place: str) -> Screen[Any]:
        module, name = PLACES[place]
        made = getattr(import_module(f"hostconf.tui.screens.{module}"), name)()
        return cast("Screen[Any]", made)

    def go(self, place: str) -> None:
        """Go to a place: back to it where it lies behind, else on to it."""
        if self.writing or self._exit:
            return
        behind = [s.PLACE for s in self.screen_stack if isinstance(s, Room)]
        if behind and behind[-1] == place:
            return
        if place in behind:
            while not (isinstance(self.screen, Room) and place == self.screen.PLACE):
                self.pop_screen()
        else:
            self.push_screen(self._made(place))

    def go_back(self) -> None:
        """To where one came from; on the first screen that is leaving."""
        rooms = [s for s in self.screen_stack if isinstance(s, Room)]
        if self.writing:
            return
        if len(rooms) > 1:
            self.pop_screen()
        else:
            self.action_quit_asked()

    def start_over(self) -> None:
        """To the hosts, read anew."""
        while len([s for s in self.screen_stack if isinstance(s, Room)]) > 1:
            self.pop_screen()
        self.bench.forget_files()
        if isinstance(self.screen, Room) and self.screen.PLACE != "hosts":
            self.switch_screen(self._made("hosts"))
        elif hasattr(self.screen, "action_reload"):
            self.screen.action_reload()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While files are written, nothing but looking at the keys; once one leaves, nothing at all."""
        return not (self._exit or (self.writing and action not in ("help", "theme")))

    # ---- actions of every screen

    def action_help(self) -> None:
        """All keys of this screen."""
        from hostconf.tui.screens.help import Help

        if isinstance(self.screen, Room):
            self.push_screen(Help(self.screen))

    def action_palette(self) -> None:
        """Every action by name."""
        self.action_command_palette()

    def action_theme(self) -> None:
        """Light or dark."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_quit(self) -> None:  # type: ignore[override]
        """Leave; ask first where something would be lost."""
        self.action_quit_asked()

    def action_quit_asked(self) -> None:
        """Leave; ask first where something would be lost."""
        if self.writing:
            return
        if not self.wish.touched:
            self.exit(0)
            return
        from hostconf.tui.screens.ask import Confirm

        if not isinstance(self.screen, Confirm):
            said = ["What you chose is not written anywhere, and is gone once you leave."]
            self.push_screen(
                Confirm("Leave hostconf?", said, yes="Leave", no="Stay"), lambda yes: self.exit(0) if yes else None
            )

    def action_go_hosts(self) -> None:
        """See the registry."""
        self.go("hosts")

    def action_go_conflicts(self) -> None:
        """See the registry."""
        self.go("conflicts")

    def action_go_choice(self) -> None:
        """See the registry."""
        self.go("choice")

    def action_go_installed(self) -> None:
        """See the registry."""
        self.go("installed")

    def action_go_recovery(self) -> None:
        """See the registry."""
        self.go("recovery")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every action of this screen and of the app, from the registry."""
        offers = screen.OFFERS if isinstance(screen, Room) else ()
        for owner, ids in ((screen, offers), (self, EVERYWHERE)):
            for action in (ACTIONS[i] for i in ids):
                if action.id != "palette" and owner.check_action(action.id, ()):
                    text = f"{action.help} ({keys_of(action)})"
                    run = getattr(owner, f"action_{action.id}")
                    yield SystemCommand(action.label, text, run)
