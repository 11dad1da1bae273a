"""The keys of a screen, from the registry of actions."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from hostconf.tui.actions import ACTIONS, EVERYWHERE, keys_of
from hostconf.tui.screens.base import Room
from hostconf.tui.words import Words, fit, safe, said


class Help(ModalScreen[None]):
    """All keys: those of the screen behind, those of every screen, those of lists."""

    CSS_PATH = "help.tcss"
    BINDINGS = [
        Binding("escape,question_mark,q,enter,f1", "close", "Close", show=False),
        Binding("j,down", "down", show=False),
        Binding("k,up", "up", show=False),
    ]

    def __init__(self, room: Room) -> None:
        super().__init__()
        self._room = room

    def compose(self) -> ComposeResult:
        """Groups of keys with their sentences."""
        room = self._room
        groups = (
            (f"On this screen: {room.TITLE_SHOWN or room.PLACE}", tuple(i for i in room.OFFERS)),
            ("On every screen", tuple(i for i in EVERYWHERE if i not in room.OFFERS)),
        )
        with VerticalScroll(id="help"):
            for title, ids in groups:
                yield Words(title, classes="heading")
                for action in (ACTIONS[i] for i in ids):
                    yield Words(said("  ", fit(safe(keys_of(action), "bold"), 16), " ", safe(action.help)))
            yield Words("In lists", classes="heading")
            for keys, text in (
                ("↑ ↓ j k", "Up and down"),
                ("g G Home End", "First and last"),
                ("^d ^u PgDn PgUp", "A page down, a page up"),
                ("Tab Shift+Tab", "To the next part of the screen, and back"),
                ("mouse", "A click marks a row, a second one chooses it; words in the footer are buttons"),
            ):
                yield Words(said("  ", fit(safe(keys, "bold"), 16), " ", safe(text)))
            yield Words(safe("Esc closes this", "$text-muted italic"), id="help-end")

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)

    def action_down(self) -> None:
        """Further."""
        self.query_one("#help").scroll_down()

    def action_up(self) -> None:
        """Back up."""
        self.query_one("#help").scroll_up()
