"""What may be done now, as buttons with a sentence beside each: for the mouse, and for who does not know the keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button

from hostconf.tui.actions import ACTIONS, key_name
from hostconf.tui.words import Words, said


class Answers(Vertical):
    """One row an action of the screen: its button, and what it does. Only those last told are shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "app.focus_next", show=False),
        Binding("up,k", "app.focus_previous", show=False),
    ]

    def __init__(self, *actions: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions = actions

    def compose(self) -> ComposeResult:
        """All rows; which of them count is told later."""
        for name in self._actions:
            action = ACTIONS[name]
            with Horizontal(classes="answer", id=f"answer-{name}"):
                label = Content(f"{key_name(action.keys.split(',')[0]):<3} {action.label}")
                yield Button(label, id=f"do-{name}", compact=True)
                yield Words()

    def tell(self, rows: Sequence[tuple[str, str | Content, bool]], *, disabled: Collection[str] = ()) -> None:
        """Show these: action, what it does, whether it is the advised one."""
        told = {name: (text, advised) for name, text, advised in rows}
        for name in self._actions:
            row = self.query_one(f"#answer-{name}")
            row.set_class(name in told, "-on")
            if name in told:
                text, advised = told[name]
                row.query_one(Words).say(said(text))
                button = row.query_one(Button)
                button.set_class(advised, "-advised")
                button.disabled = name in disabled

    def focus_on(self, name: str) -> None:
        """Give one the focus."""
        self.query_one(f"#do-{name}", Button).focus()

    @on(Button.Pressed)
    async def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        await self.screen.run_action((event.button.id or "").removeprefix("do-"))
