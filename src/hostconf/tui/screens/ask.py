"""Small screens that ask one thing and give one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Button, Input

from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.words import Words, sentence

AROUND, AROUND_TYPED = 10, 15
"""Lines of a dialog around what is said: edge, question, field, buttons."""


class Hold(Words):
    """A line that is held down with the mouse, for who has no keys at hand; a click alone does nothing."""

    DEFAULT_CSS = "Hold.-held { background: $warning 30%; text-style: reverse; }"
    seconds: ClassVar[float] = 1.5
    """How long it has to be held."""

    class Held(Message):
        """It was held long enough."""

    _timer: Timer | None = None

    def on_mouse_down(self) -> None:
        """The time begins."""
        self.capture_mouse()
        self.add_class("-held")
        self._timer = self.set_timer(self.seconds, self._held)

    def on_mouse_up(self) -> None:
        """Let go: nothing happens, unless the time was over."""
        self.release_mouse()
        self.remove_class("-held")
        if self._timer is not None:
            self._timer.stop()

    def _held(self) -> None:
        self.release_mouse()
        self.post_message(self.Held())


class Confirm(ModalScreen[bool]):
    """A question with a yes and a no. With `typed` the yes counts only after that word was typed."""

    CSS_PATH = "ask.tcss"
    BINDINGS = [
        Binding("escape,n", "no", "No", show=False),
        Binding("y", "yes", "Yes", show=False),
        Binding("left,h", "app.focus_previous", show=False),
        Binding("right,l", "app.focus_next", show=False),
        Binding("up,k", "scroll_said(-1)", show=False),
        Binding("down,j", "scroll_said(1)", show=False),
    ]

    def __init__(
        self, question: str, said: Sequence[str | Content] = (), *, yes: str = "Yes", no: str = "No", typed: str = ""
    ) -> None:
        super().__init__()
        self._question, self._said, self._yes, self._no, self._typed = question, said, yes, no, typed

    def compose(self) -> ComposeResult:
        """Question, sentences, field where something has to be typed, buttons."""
        with Vertical(id="ask"):
            yield Words(sentence(self._question), id="ask-question")
            if self._said:
                with VerticalScroll(id="ask-said", can_focus=False):
                    said = Paragraphs()
                    said.say([sentence(s) if isinstance(s, str) else s for s in self._said])
                    yield said
            if self._typed:
                text = f"Type `{self._typed}` to go on, or hold the mouse button on this line"
                yield Hold(sentence(text), id="ask-type")
                yield Input(id="ask-word", placeholder=self._typed)
            with Horizontal(id="ask-buttons"):
                yield Button(self._yes, id="yes", variant="primary", disabled=bool(self._typed))
                yield Button(self._no, id="no")

    def on_mount(self) -> None:
        """The field first; without one the no, so that a stray Enter harms nobody."""
        self.query_one("#ask-word" if self._typed else "#no").focus()

    def on_resize(self) -> None:
        """What is said gets the room that is left."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        # a dialog as high as its content would count all of the text, also what is scrolled away
        for said in self.query("#ask-said"):
            room = self.size.height * 9 // 10 - (AROUND_TYPED if self._typed else AROUND)
            said.styles.max_height = said.styles.height = max(3, min(said.virtual_size.height, room))

    @on(Input.Changed, "#ask-word")
    def _word(self, event: Input.Changed) -> None:
        self.query_one("#yes", Button).disabled = event.value.strip() != self._typed

    @on(Input.Submitted, "#ask-word")
    def _sent(self, event: Input.Submitted) -> None:
        if event.value.strip() == self._typed:
            self.dismiss(True)

    @on(Hold.Held)
    def _held(self) -> None:
        self.dismiss(True)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_scroll_said(self, by: int) -> None:
        """Further down in what is said, or back up."""
        for said in self.query("#ask-said"):
            said.scroll_relative(y=by, animate=False)

    def action_yes(self) -> None:
        """Yes, where nothing has to be typed."""
        if not self._typed:
            self.dismiss(True)

    def action_no(self) -> None:
        """No."""
        self.dismiss(False)
