"""The line at the top: where one is, what has been done, and what kind of run this is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Click

from hostconf.tui.places import STEPS
from hostconf.tui.words import Words, place


class Crumb(Words):
    """One step of the way; a click goes there if it lies behind."""

    def __init__(self, target: str, label: str, state: str) -> None:
        super().__init__(label, classes=f"-{state}")
        self.target, self.state = target, state

    def on_click(self, event: Click) -> None:
        """Go back to a step that was done."""
        event.stop()
        if self.state == "done":
            self.app.run_worker(self.app.run_action(f"go_{self.target}"))


class Unfinished(Words):
    """Says that something is unfinished; a click goes there."""

    def on_click(self, event: Click) -> None:
        """To what is unfinished."""
        event.stop()
        self.app.run_worker(self.app.run_action("go_recovery"))


LONGEST = 28
"""Cells for the project."""


class Bar(Horizontal):
    """Name, steps, badges."""

    DEFAULT_CSS = """
    Bar {
        height: 1; background: $panel; color: $text-muted;
        #bar-name { width: auto; padding: 0 1; color: $primary; text-style: bold; }
        Crumb { width: auto; }
        Crumb.-now { color: $foreground; text-style: bold underline; }
        Crumb.-done:hover { text-style: underline; }
        .bar-gap { width: auto; color: $text-disabled; }
        #bar-space { width: 1fr; }
        .bar-badge { width: auto; margin-left: 1; text-style: bold reverse; color: $warning; }
        #bar-project { width: auto; max-width: 30; padding: 0 1; }
    }
    Bar.-narrow #bar-project { display: none; }
    Bar #bar-unfinished { color: $error; display: none; }
    Bar.-unfinished #bar-unfinished { display: block; }
    Bar.-crowded .bar-gap, Bar.-crowded Crumb.-ahead { display: none; }
    """

    def __init__(self, step: str, title: str, *, dry_run: bool, demo: bool, project: str, home: str) -> None:
        super().__init__()
        self._step, self._title, self._dry_run, self._demo = step, title, dry_run, demo
        shown = place(project, home=home) if project else ""
        self._project = shown if len(shown) <= LONGEST else "…" + shown[1 - LONGEST :]  # its end is its name

    def compose(self) -> ComposeResult:
        """The parts in order."""
        yield Words("hostconf", id="bar-name")
        steps = [name for name, _ in STEPS]
        if self._step in steps:
            for number, (name, label) in enumerate(STEPS):
                if number:
                    yield Words(" › ", classes="bar-gap")
                now = steps.index(self._step)
                yield Crumb(name, label, "now" if number == now else "done" if number < now else "ahead")
        else:
            yield Crumb("", self._title, "now")
        yield Words("", id="bar-space")
        if self._project:
            yield Words(self._project, id="bar-project")
        yield Unfinished(id="bar-unfinished", classes="bar-badge")
        if self._demo:
            yield Words(" DEMO ", classes="bar-badge")
        if self._dry_run:
            yield Words(" DRY RUN ", classes="bar-badge")

    def on_mount(self) -> None:
        """What is unfinished is said on every screen."""
        self.watch(self.app, "unfinished", self._tell)

    def _tell(self, word: str) -> None:
        self.query_one("#bar-unfinished", Words).say(f" {word} ")
        self.set_class(bool(word), "-unfinished")
        self.on_resize()

    def on_resize(self) -> None:
        """Room for the project, and for the steps ahead, only where there is some."""
        self.set_class(self.size.width < 100, "-narrow")
        parts = sum(len(label) + 3 for _, label in STEPS) + 10 + 7 * self._demo + 10 * self._dry_run + 13
        self.set_class(self.has_class("-unfinished") and self.size.width < parts, "-crowded")
