"""Naming a lock that nobody can judge: a person reads what is known of it and types the beginning of its id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input

from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.sections import Reading
from hostconf.tui.widgets.unfinished import lock_facts
from hostconf.tui.words import Words, sentence

LEAST = 4
"""Signs of an id that have to be typed."""


class NameLock(ModalScreen[str]):
    """Gives the id of the lock whose first signs were typed, or nothing."""

    CSS_PATH = ["ask.tcss", "name_lock.tcss"]
    BINDINGS = [Binding("escape", "no", "No", show=False)]

    def __init__(self, locks: Sequence[Mapping[str, Any]], home: str, *, then: str) -> None:
        super().__init__()
        self._locks, self._home, self._then = locks, home, then

    def compose(self) -> ComposeResult:
        """The locks with what is known of them, the field, the buttons."""
        one = len(self._locks) == 1
        with Vertical(id="ask"):
            yield Words("Remove this lock?" if one else "Remove which of these locks?", id="ask-question")
            with Reading(id="name-facts"):
                yield Paragraphs(id="name-locks")
            yield Words(sentence(f"Only if no hostconf runs on it, here or elsewhere. {self._then}"), id="name-then")
            yield Words(f"Type the first {LEAST} signs of its id", id="ask-type")
            yield Input(id="ask-word", placeholder="id", max_length=32)
            with Horizontal(id="ask-buttons"):
                yield Button("Remove", id="yes", variant="primary", disabled=True)
                yield Button("Let it be", id="no")

    def on_mount(self) -> None:
        """What is known of them; the field has the focus."""
        rows = [row for lock in self._locks for row in [*lock_facts(lock, self._home), Content("   ")]]
        self.query_one("#name-locks", Paragraphs).say([row[3:] for row in rows[:-1]])
        self.query_one("#ask-word").focus()

    @property
    def named(self) -> str:
        """The id of the one lock that begins so."""
        typed = self.query_one("#ask-word", Input).value.strip().lower()
        found = [str(lock["lock_id"]) for lock in self._locks if str(lock["lock_id"]).startswith(typed)]
        return found[0] if len(typed) >= LEAST and len(found) == 1 else ""

    @on(Input.Changed)
    def _typed(self) -> None:
        self.query_one("#yes", Button).disabled = not self.named

    @on(Input.Submitted)
    def _sent(self) -> None:
        if self.named:
            self.dismiss(self.named)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(self.named if event.button.id == "yes" else "")

    def action_no(self) -> None:
        """Let it be."""
        self.dismiss("")
