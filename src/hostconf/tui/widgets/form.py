"""A form in lines: a key, a name, what is chosen; and small fields for one answer out of several, or yes and no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.style import Style

from hostconf.tui.words import Words, fit, safe, said


class Answer(NamedTuple):
    """One of several answers."""

    id: str
    label: str
    able: bool = True
    more: str = ""
    """Said behind it, muted."""


def answers(choices: Sequence[Answer], now: str) -> Content:
    """The answers in a line: `●` is chosen, `○` can be, `×` cannot. Each tells a click its id."""
    return said("   ").join(
        [
            said(
                safe(
                    f"{'●' if one.id == now else '○' if one.able else '×'} {one.label}",
                    "bold" if one.id == now else "" if one.able else "$text-disabled",
                ).stylize(Style.from_meta({"answer": one.id})),
                safe(f" {one.more}", "$text-muted") if one.more else "",
            )
            for one in choices
        ]
    )


class FormLine(Words):
    """A key, what it is for, and what is chosen; a click is as the key."""

    DEFAULT_CSS = """
    FormLine { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    FormLine:hover { background: $panel; }
    """

    @dataclass
    class Pressed(Message):
        """The line was clicked."""

        line: str
        answer: str | None
        """Id of the answer that was hit; None beside them."""

    def __init__(self, key: str, name: str, label: str) -> None:
        super().__init__(id=f"form-{name}")
        self._key, self._what, self._label = key, name, label
        self.tell("")

    def tell(self, value: str | Content) -> None:
        """Show what is chosen."""
        head = said(safe(self._key, "$accent bold"), " ", fit(safe(self._label, "$text-muted"), 12))
        self.say(said(head, value))

    def on_click(self, event: Click) -> None:
        """As the key, or the answer that was hit."""
        event.stop()
        self.post_message(self.Pressed(self._what, event.style.meta.get("answer")))


class OneOf(Words, can_focus=True):
    """One answer out of several: arrow keys or a click take it at once."""

    DEFAULT_CSS = """
    OneOf { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    OneOf:focus { background: $primary 30%; }
    OneOf:nocolor:focus { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", show=False),
        Binding("right,l", "step(1)", show=False),
        Binding("space", "step(1, True)", show=False),
    ]

    @dataclass
    class Changed(Message):
        """Another answer was taken."""

        field: OneOf
        value: str

        @property
        def control(self) -> OneOf:
            """The field."""
            return self.field

    def __init__(self, choices: Sequence[Answer], value: str, id: str | None = None) -> None:
        super().__init__(answers(choices, value), id=id)
        self._choices, self.value = tuple(choices), value

    def take(self, value: str) -> None:
        """Take this answer."""
        if value != self.value:
            self.value = value
            self.say(answers(self._choices, value))
            self.post_message(self.Changed(self, value))

    def action_step(self, by: int, around: bool = False) -> None:
        """The answer beside."""
        ids = [c.id for c in self._choices]
        at = ids.index(self.value) + by
        self.take(ids[at % len(ids) if around else min(max(at, 0), len(ids) - 1)])

    def on_click(self, event: Click) -> None:
        """The answer that was hit."""
        event.stop()
        self.focus()
        hit = event.style.meta.get("answer")
        if hit is not None:
            self.take(str(hit))


class Tick(Words, can_focus=True):
    """Yes or no: Space or a click turns it."""

    DEFAULT_CSS = """
    Tick { height: auto; padding: 0 1; }
    Tick:focus { background: $primary 30%; }
    Tick:nocolor:focus { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "turn", show=False)]

    @dataclass
    class Changed(Message):
        """It was turned."""

        tick: Tick
        value: bool

        @property
        def control(self) -> Tick:
            """The field."""
            return self.tick

    def __init__(self, label: str, value: bool, doc: str = "", id: str | None = None, classes: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self._label, self._doc, self.value = label, doc, value
        self._draw()

    def _draw(self) -> None:
        box = safe("[x] " if self.value else "[ ] ", "$primary bold" if self.value else "$text-muted")
        self.say(said(box, safe(self._label), safe(f"  {self._doc}", "$text-muted") if self._doc else ""))

    def action_turn(self) -> None:
        """Turn it."""
        self.value = not self.value
        self._draw()
        self.post_message(self.Changed(self, self.value))

    def on_click(self, event: Click) -> None:
        """Turn it."""
        event.stop()
        self.focus()
        self.action_turn()
