"""Text in lines, where a line that is too long goes on below under its own beginning, not at the edge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from textual.content import Content
from textual.css.styles import RulesMap
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Static

_HEAD = re.compile(r" *(?:[^\w\s`\"'(\[{<] )?")
"""Blanks, and the sign of a list after them."""
_DEEP = re.compile(r"    |  [+-] ")


def wrapped(row: Content, width: int) -> list[Content]:
    """One line as lines of at most this width."""
    found = _HEAD.match(row.plain)
    indent = min(found.end() if found else 0, max(0, width - 12))
    deeper = indent + (2 if indent and _DEEP.match(row.plain) else 0)
    if row.cell_length <= width:
        return [row]
    first, *rest = row[indent:].wrap(max(8, width - deeper))
    return [row[:indent] + first, *(Content(" " * deeper) + more for more in rest)]


class _Hanging(Visual):
    """The lines for any width; the last width's are kept."""

    def __init__(self, rows: Sequence[Content]) -> None:
        self._rows = rows
        self._made: tuple[int, Content] | None = None

    def at(self, width: int) -> Content:
        """The text for this width."""
        if self._made is None or self._made[0] != width:
            self._made = width, Content("\n").join([part for row in self._rows for part in wrapped(row, width)])
        return self._made[1]

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        return self.at(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return max((row.cell_length for row in self._rows), default=0)

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self.at(width).get_height(rules, width) if self._rows and width else 0


class Paragraphs(Static):
    """Lines of text, each with its hanging indent. As `Words`, it takes no markup."""

    DEFAULT_CSS = "Paragraphs { height: auto; width: 1fr; }"

    def __init__(self, **options: Any) -> None:
        self._hanging = _Hanging(())
        super().__init__(self._hanging, markup=False, **options)

    def say(self, rows: Sequence[Content]) -> None:
        """Show these lines instead."""
        self._hanging = _Hanging(tuple(rows))
        self.update(self._hanging)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text between two points, as it stands on the screen."""
        return selection.extract(self._hanging.at(self.size.width).plain), "\n"
