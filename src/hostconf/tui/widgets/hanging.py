"""Rows of a label and a text; where a text is broken, it goes on under itself."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.events import Resize

from hostconf.tui.words import Words, fit, lines, said


class Hanging(Words):
    """A small table whose texts are as long as they like."""

    def __init__(self, indent: int, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._indent = indent
        self._rows: Sequence[tuple[Content, Content]] = ()
        self._width = 0

    def tell(self, rows: Sequence[tuple[Content, Content]]) -> None:
        """Show these rows."""
        self._rows = tuple(rows)
        self._arrange()

    def on_resize(self, event: Resize) -> None:
        """Texts are broken anew."""
        if event.size.width != self._width:
            self._width = event.size.width
            self._arrange()

    def _arrange(self) -> None:
        room = max(10, (self._width or 80) - self._indent)
        shown: list[Content] = []
        for label, text in self._rows:
            for number, part in enumerate(text.wrap(room)):
                shown.append(said(fit(Content("") if number else label, self._indent), part))
        self.say(lines(shown))
