"""A unified diff as people read it: line numbers, signs, unified or side by side; long lines go on below.

Only the lines in sight are drawn, so a diff of thousands of lines scrolls as one of ten.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, zip_longest
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hostconf.display import display
from hostconf.tui.widgets.sections import SCROLLING

TAB = 4
"""Cells from one tab stop to the next."""
LONGEST = 1 << 17
"""Characters of one line that are shown; of longer ones the diff itself holds only a part."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class DiffLine(NamedTuple):
    """One line of a diff."""

    sign: str
    """Blank, `+` or `-`; `@` is the head of a hunk, `\\` a remark about the line before."""
    old: int
    """Its number in the old text; 0 where it is not there."""
    new: int
    text: str


Pair = tuple[DiffLine | None, DiffLine | None]


class _Shown(NamedTuple):
    text: str
    marks: tuple[int, ...]
    """Positions of signs of ours, which stand for what has no picture."""


def parse_diff(text: str) -> list[DiffLine]:
    """The lines of a unified diff of one file, numbered; its two head lines left out."""
    found: list[DiffLine] = []
    old = new = 0
    rows = text.split("\n")
    for row in rows[: -1 if rows[-1] == "" else None]:
        sign, rest = row[:1] or " ", row[1:]
        if head := _HUNK.match(row):
            old, new = int(head[1]), int(head[2])
            found.append(DiffLine("@", 0, 0, row))
        elif not found:
            continue
        elif sign == "\\":
            found.append(DiffLine("\\", 0, 0, "no newline at the end of the file"))
        else:
            found.append(DiffLine(sign, old if sign != "+" else 0, new if sign != "-" else 0, rest))
            old += sign != "+"
            new += sign != "-"
    return found


def pair_up(lines: Sequence[DiffLine]) -> list[Pair]:
    """The lines as rows of two columns: what was beside what is."""
    rows: list[Pair] = []
    gone: list[DiffLine] = []
    come: list[DiffLine] = []
    last = " "

    def flush() -> None:
        rows.extend(zip_longest(gone, come))
        gone.clear()
        come.clear()

    for line in lines:
        kind = last if line.sign == "\\" else line.sign
        if kind == "-":
            if come:
                flush()
            gone.append(line)
        elif kind == "+":
            come.append(line)
        else:
            flush()
            rows.append((line, line))
        last = kind
    flush()
    return rows


def count(text: str) -> tuple[int, int]:
    """How many lines a diff adds, and how many it takes away."""
    lines = parse_diff(text)
    return sum(line.sign == "+" for line in lines), sum(line.sign == "-" for line in lines)


def shown(text: str) -> tuple[str, tuple[int, ...]]:
    """A foreign line as it may be shown, and where signs of ours stand in it for a tab and a carriage return."""
    if text.isascii() and text.isprintable():
        return text, ()
    parts: list[str] = []
    marks: list[int] = []
    cells = length = 0
    pieces = text.removesuffix("\r").split("\t")
    for number, piece in enumerate(pieces):
        piece = display(piece, LONGEST)
        parts.append(piece)
        cells += cell_len(piece)
        length += len(piece)
        if number < len(pieces) - 1:
            width = TAB - cells % TAB
            marks.append(length)
            parts.append("→" + " " * (width - 1))
            cells += width
            length += width
    if text.endswith("\r"):
        marks.append(length)
        parts.append("␍")
    return "".join(parts), tuple(marks)


def broken(text: str, width: int) -> list[tuple[int, int]]:
    """Where a line is broken so that no part is wider than this: from and to of each part."""
    if text.isascii() or cell_len(text) == len(text):
        return [(at, min(at + width, len(text))) for at in range(0, max(1, len(text)), width)]
    parts: list[tuple[int, int]] = []
    start = cells = 0
    for at, char in enumerate(text):
        size = cell_len(char)
        if cells + size > width and at > start:
            parts.append((start, at))
            start, cells = at, 0
        cells += size
    return [*parts, (start, len(text))]


class Diff(ScrollView, can_focus=True):
    """The diff of one file. `show` gives it another one, `split` puts old and new beside each other."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "diff--same",
        "diff--added",
        "diff--removed",
        "diff--hunk",
        "diff--number",
        "diff--mark",
        "diff--absent",
    }
    DEFAULT_CSS = """
    Diff {
        height: 1fr; background: transparent;
        overflow-x: hidden; overflow-y: auto; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
        .diff--same { color: $foreground; }
        .diff--added { color: $foreground; background: $success 18%; }
        .diff--removed { color: $foreground; background: $error 18%; }
        .diff--hunk { color: $secondary; background: $panel; }
        .diff--number { color: $text-muted; }
        .diff--mark { color: $text-muted; text-style: italic; }
        .diff--absent { color: $text-disabled; background: $panel 40%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*SCROLLING]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[DiffLine] = []
        self._rows: list[Pair] = []
        self._split = False
        self._cache: dict[int, _Shown] = {}
        self._starts: list[int] = [0]
        self._digits = 3
        self._empty = ""

    # ---- what is shown

    @property
    def split(self) -> bool:
        """Whether old and new stand beside each other."""
        return self._split

    @split.setter
    def split(self, on: bool) -> None:
        if on != self._split:
            top = self._top()
            self._split = on
            self._arrange(top)

    def show(self, text: str, empty: str = "no line of the text changes") -> None:
        """Show this unified diff, from its beginning; `empty` where it has no lines."""
        self._lines, self._empty = parse_diff(text), empty
        self._cache.clear()
        highest = max((max(line.old, line.new) for line in self._lines), default=0)
        self._digits = max(3, len(str(highest)))
        self._arrange(None)

    def _top(self) -> DiffLine | None:
        """The line at the upper edge."""
        if not self._rows:
            return None
        left, right = self._rows[self._row_at(self.scroll_offset.y)]
        return left or right

    def _row_at(self, y: int) -> int:
        return max(0, min(bisect_right(self._starts, y) - 1, len(self._rows) - 1))

    def _arrange(self, top: DiffLine | None) -> None:
        """Break all lines for this width, and keep `top` at the upper edge."""
        self._rows = pair_up(self._lines) if self._split else [(line, line) for line in self._lines]
        heights = [self._height(pair) for pair in self._rows]
        self._starts = [0, *accumulate(heights)]
        self.virtual_size = Size(self.size.width, max(1, self._starts[-1]))
        at = 0
        if top is not None:
            number = next((n for n, pair in enumerate(self._rows) if top is pair[0] or top is pair[1]), 0)
            at = self._starts[number]
        self.scroll_to(y=at, animate=False, immediate=True)
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        """Lines are broken anew."""
        if event.size.width != self.virtual_size.width:
            self._arrange(self._top())

    # ---- widths

    def _room(self) -> int:
        """Cells for the text of one line."""
        width = max(self.size.width, 30)
        if self._split:
            return max(8, (width - 1) // 2 - self._digits - 3)
        return max(8, width - 2 * self._digits - 5)

    def _text(self, line: DiffLine) -> _Shown:
        key = id(line)
        if key not in self._cache:
            self._cache[key] = _Shown(*shown(line.text))
        return self._cache[key]

    def _height(self, pair: Pair) -> int:
        room = self._room()
        lines = {id(line): line for line in pair if line is not None}
        if any(line.sign == "@" for line in lines.values()):
            return 1
        return max(len(broken(self._text(line).text, room)) for line in lines.values())

    # ---- drawing

    def render_line(self, y: int) -> Strip:
        """One line of what is in sight."""
        width = self.size.width
        y += self.scroll_offset.y
        if not self._rows:
            said = self._empty if y == 0 else ""
            return Strip([Segment(f" {said}", self._style("diff--mark"))]).adjust_cell_length(width, self.rich_style)
        if y >= self._starts[-1]:
            return Strip.blank(width, self.rich_style)
        number = self._row_at(y)
        left, right = self._rows[number]
        part = y - self._starts[number]
        first = left or right
        if first is not None and first.sign == "@":
            text = f" {first.text}"
            return Strip([Segment(text, self._style("diff--hunk"))]).adjust_cell_length(
                width, self._style("diff--hunk")
            )
        if not self._split:
            assert first is not None
            numbers = f"{self._digit(first.old, part)} {self._digit(first.new, part)} "
            return Strip(self._cells(first, part, numbers, width)).adjust_cell_length(width, self.rich_style)
        half = (width - 1) // 2
        cells = self._half(left, part, half, old=True)
        cells.append(Segment("│", self._style("diff--number")))
        cells += self._half(right, part, width - 1 - half, old=False)
        return Strip(cells).adjust_cell_length(width, self.rich_style)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name)

    def _digit(self, number: int, part: int) -> str:
        return f"{number if number and not part else '':>{self._digits}}"

    def _half(self, line: DiffLine | None, part: int, width: int, *, old: bool) -> list[Segment]:
        if line is None:
            return [Segment(" " * width, self._style("diff--absent"))]
        numbers = f"{self._digit(line.old if old else line.new, part)} "
        return self._cells(line, part, numbers, width)

    def _cells(self, line: DiffLine, part: int, numbers: str, width: int) -> list[Segment]:
        """Numbers, sign, and one part of the text, filled up to the width."""
        kind = {"+": "diff--added", "-": "diff--removed", "\\": "diff--mark"}.get(line.sign, "diff--same")
        style = self._style(kind)
        number_style = self._style("diff--number")
        text = self._text(line)
        parts = broken(text.text, self._room())
        sign = " " if line.sign == "\\" else line.sign
        if part >= len(parts):  # the other side is longer
            sign, start, end = " ", 0, 0
        else:
            start, end = parts[part]
        if part:
            sign = "↪" if end > start else " "
        bold = Style(bold=line.sign in "+-")
        segments = [Segment(numbers, number_style), Segment(f"{sign} ", style + bold)]
        mark = style + Style(dim=True, italic=False)
        at = start
        for place in text.marks:
            if start <= place < end:
                segments += [Segment(text.text[at:place], style), Segment(text.text[place], mark)]
                at = place + 1
        segments.append(Segment(text.text[at:end], style))
        fill = width - sum(cell_len(s.text) for s in segments)
        segments.append(Segment(" " * max(0, fill), style))
        return segments
