"""Parts of one screen, one in sight at a time; a text that scrolls, and fields that do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import Click
from textual.message import Message

from hostconf.tui.words import Words, safe, said

SCROLLING = (
    Binding("j", "scroll_down", "Down", show=False),
    Binding("k", "scroll_up", "Up", show=False),
    Binding("g", "scroll_home", "First", show=False),
    Binding("G", "scroll_end", "Last", show=False),
    Binding("ctrl+d", "page_down", "Page down", show=False),
    Binding("ctrl+u", "page_up", "Page up", show=False),
)
"""Vim keys of a text that scrolls; the arrow keys come with it."""


class Reading(VerticalScroll):
    """A text that scrolls with arrow keys and vim keys; a bar at its edge says that it has the focus."""

    DEFAULT_CSS = """
    Reading { border-left: blank; padding: 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    Reading:focus { border-left: outer $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*SCROLLING]


class Fields(VerticalScroll, can_focus=False, inherit_bindings=False):
    """Fields that scroll along with the focus: once it overflows, a plain one would take the arrow keys away."""


class _Head(Words):
    """The name of one part; a click shows it."""

    DEFAULT_CSS = "_Head { width: auto; padding: 0 1; margin: 0 1 0 0; }"

    def __init__(self, number: int, name: str, label: str) -> None:
        super().__init__("", classes="section")
        self.number, self.part, self.label = number, name, label
        self.tell("")

    def tell(self, more: str) -> None:
        """Key, name, and what is said beside it."""
        count = safe(f" {more}", "$text-muted") if more else ""
        self.say(said(safe(f"{self.number}", "$accent bold"), " ", self.label, count))

    def on_click(self, event: Click) -> None:
        """Show this part."""
        event.stop()
        self.post_message(Sections.Picked(self.part))


class Sections(Horizontal, can_focus=True):
    """The names of the parts in a row: 1 2 3, arrow keys where it has the focus, or a click."""

    DEFAULT_CSS = """
    Sections {
        height: 1; padding: 0; color: $text-muted;
        .section:hover { background: $panel; }
        .section.-now { color: $foreground; background: $panel; text-style: bold; }
    }
    Sections:focus .section.-now { background: $primary 40%; text-style: bold underline; }
    Sections:nocolor .section.-now { text-style: underline; }
    Sections:nocolor:focus .section.-now { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Part before", show=False),
        Binding("right,l", "step(1)", "Next part", show=False),
    ]

    @dataclass
    class Picked(Message):
        """A part was asked for."""

        part: str
        stay: bool = False
        """Whether the focus stays on the names."""

    def __init__(self, parts: Sequence[tuple[str, str]], id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts = tuple(parts)
        self.now = self._parts[0][0]

    def compose(self) -> ComposeResult:
        """One name after the other."""
        for number, (name, label) in enumerate(self._parts, 1):
            yield _Head(number, name, label)

    def on_mount(self) -> None:
        """The first part is in sight."""
        self.mark(self.now)

    def mark(self, part: str) -> None:
        """Say which part is in sight."""
        self.now = part
        for head in self.query(_Head):
            head.set_class(head.part == part, "-now")

    def tell(self, part: str, more: str) -> None:
        """Say something beside a part's name: how much is in it."""
        for head in self.query(_Head):
            if head.part == part:
                head.tell(more)

    def action_step(self, by: int) -> None:
        """To the part beside."""
        names = [name for name, _ in self._parts]
        at = names.index(self.now) + by
        if 0 <= at < len(names):
            self.post_message(self.Picked(names[at], stay=True))
