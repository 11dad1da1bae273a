"""The command line that does what a screen shows, to be copied."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button

from hostconf.tui.words import Words, safe, sentence


class Commands(ModalScreen[None]):
    """One or more commands, to be selected with the mouse or copied with a key."""

    CSS_PATH = "command.tcss"
    BINDINGS = [
        Binding("escape,q,y", "close", "Close", show=False),
        Binding("c", "copy", "Copy", show=False),
        Binding("j,down", "down", show=False),
        Binding("k,up", "up", show=False),
    ]

    def __init__(self, commands: Sequence[str], hidden: Sequence[str] = ()) -> None:
        super().__init__()
        self._commands, self._hidden = commands, hidden

    def compose(self) -> ComposeResult:
        """Heading, commands, what is not in them, buttons."""
        title = "The command that does the same" if len(self._commands) == 1 else "The commands that do the same"
        with Vertical(id="command"):
            yield Words(safe(title, "bold"))
            with VerticalScroll(id="command-lines", can_focus=False):
                for one in self._commands or ("nothing is chosen",):
                    yield Words(safe(one, limit=4096), classes="command-line")
            if self._hidden:
                names = ", ".join(f"`{name}`" for name in self._hidden)
                yield Words(sentence(f"the value of {names} is not shown: set it in the shell first", "$text-warning"))
            yield Words(safe("c copies it, if the terminal allows; or select it with the mouse", "$text-muted italic"))
            with Horizontal(id="command-buttons"):
                yield Button("Copy", id="copy", variant="primary")
                yield Button("Close", id="close")

    def on_mount(self) -> None:
        """The way out first."""
        self.query_one("#close").focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "copy":
            self.action_copy()
        else:
            self.dismiss(None)

    def action_copy(self) -> None:
        """Into the clipboard."""
        self.app.copy_to_clipboard("\n".join(self._commands))
        self.notify("copied", markup=False)

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)

    def action_down(self) -> None:
        """Further."""
        self.query_one("#command-lines").scroll_down()

    def action_up(self) -> None:
        """Back up."""
        self.query_one("#command-lines").scroll_up()
