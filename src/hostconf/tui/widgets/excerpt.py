"""Some lines of a file with the one in question marked. Text of the file is text: never markup, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from hostconf.tui.widgets.diff import shown

AROUND = 12
"""Lines before and after the one in question that are asked for; how many are shown is the screen's business."""
_LONGEST = 2000
"""Characters of one line that are looked at."""

_STRING = r'"(?:[^"\\]|\\.)*"?' + r"|'[^']*'?"
_VALUE = r"(?<![\w.+-])(?:[+-]?\d[\d_.:eE+\-TZ]*|true|false|null)(?![\w-])"
_COMMENT = {
    "json": r"//.*|/\*.*?(?:\*/|$)",
    "toml": r"#.*",
    "yaml": r"(?:^|(?<=\s))#.*",
    "markdown": r"<!--.*?(?:-->|$)",
}
_REST = {
    "json": rf"(?P<string>{_STRING})|(?P<value>{_VALUE})",
    "toml": rf"(?P<head>^\s*\[[^#]*\])|(?P<string>{_STRING})|(?P<value>{_VALUE})|(?P<key>[\w.-]+(?=\s*=))",
    "yaml": rf"(?P<string>{_STRING})|(?P<value>{_VALUE})|(?P<key>[\w.$/-]+(?=\s*:(?:\s|$)))",
    "markdown": r"(?P<head>^#{1,6} .*)|(?P<string>`[^`]*`)|(?P<value>^\s*(?:[-*+]|\d+[.)])(?= ))",
}
_PATTERNS = {name: re.compile(f"(?P<comment>{_COMMENT[name]})|{_REST[name]}") for name in _REST}
_PATTERNS["jsonc"] = _PATTERNS["json"]
_IS_KEY = re.compile(r"\s*[:=]")


class Token(NamedTuple):
    """A piece of a line: from, to, and what it is (`key`, `string`, `value`, `comment`, `head`)."""

    start: int
    end: int
    kind: str


def tokens(text: str, format: str, *, inside: bool = False) -> tuple[list[Token], bool]:
    """The pieces of a line that are worth a colour, and whether a comment goes on below it.

    Args:
        inside: whether the line begins in such a comment.
    """
    pattern = _PATTERNS.get(format)
    if pattern is None:
        return [], False
    found: list[Token] = []
    at, opened, closes = 0, "<!--" if format == "markdown" else "/*", "-->" if format == "markdown" else "*/"
    if inside:
        end = text.find(closes)
        if end < 0:
            return [Token(0, len(text), "comment")], True
        at = end + len(closes)
        found.append(Token(0, at, "comment"))
    for match in pattern.finditer(text, at):
        kind = str(match.lastgroup)
        if kind == "string" and format != "markdown" and _IS_KEY.match(text, match.end()):
            kind = "key"
        found.append(Token(match.start(), match.end(), kind))
    last = text[found[-1].start : found[-1].end] if found else ""
    open_below = bool(found) and found[-1].kind == "comment" and last.startswith(opened) and not last.endswith(closes)
    return found, open_below


class _Line(NamedTuple):
    number: int
    """0: the line of the caret."""
    text: str
    tokens: tuple[Token, ...] = ()
    here: bool = False


class Excerpt(Widget):
    """Lines with their numbers, `>` at the one in question, a caret under its column where there is one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "excerpt--number",
        "excerpt--sign",
        "excerpt--here",
        "excerpt--key",
        "excerpt--string",
        "excerpt--value",
        "excerpt--comment",
        "excerpt--head",
        "excerpt--caret",
        "excerpt--said",
    }
    DEFAULT_CSS = """
    Excerpt {
        height: auto; width: 1fr;
        .excerpt--number { color: $text-muted; }
        .excerpt--sign { color: $warning; text-style: bold; }
        .excerpt--here { color: $foreground; background: $warning 18%; }
        .excerpt--key { color: $text-primary; }
        .excerpt--string { color: $text-success; }
        .excerpt--value { color: $text-warning; }
        .excerpt--comment { color: $text-muted; text-style: italic; }
        .excerpt--head { color: $text-secondary; text-style: bold; }
        .excerpt--caret { color: $text-error; text-style: bold; }
        .excerpt--said { color: $text-muted; text-style: italic; }
    }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._all: Sequence[tuple[int, str]] = ()
        self._line, self._caret, self._format = 0, -1, ""
        self._around = 3
        self._lines: list[_Line] = []
        self._said = ""

    # ---- what is shown

    @property
    def around(self) -> int:
        """Lines shown before and after the one in question."""
        return self._around

    @around.setter
    def around(self, number: int) -> None:
        if number != self._around:
            self._around = number
            self._arrange()

    def wait(self, line: int) -> None:
        """The lines are on their way: as much room as they will take, so that nothing jumps."""
        first = max(1, line - self._around)
        self._all = [(number, "") for number in range(first, line + self._around + 1)]
        self._line, self._caret, self._format, self._said = line, -1, "", ""
        self._arrange()

    def show(self, data: Mapping[str, Any], line: int, own: str = "") -> bool:
        """Show these lines of `workflow.excerpts`; gives whether there are any.

        Args:
            own: the finding's own copy of the line, masked, with a caret below it where a column is known.
        """
        text, _, below = own.partition("\n")
        rows = [(int(row["number"]), str(row["text"])) for row in data.get("lines", ())]
        if own and line:  # masked by itself, so that the caret stands right
            rows = [(n, text if n == line and "^" in below else said) for n, said in rows] or [(line, text)]
        self._all, self._line, self._format = rows, line, str(data.get("format") or "")
        self._caret, self._said = below.find("^"), ""
        self._arrange()
        return bool(rows)

    def say(self, why: str) -> None:
        """No line can be shown: say why, in words of ours."""
        self._all, self._line, self._caret, self._said = (), 0, -1, why
        self._arrange()

    def _arrange(self) -> None:
        self._lines = []
        inside = False
        for number, foreign in self._all:
            text = shown(foreign[:_LONGEST])[0]
            found, inside = tokens(text, self._format, inside=inside)
            if abs(number - self._line) > self._around:
                continue
            here = number == self._line
            self._lines.append(_Line(number, text, tuple(found), here))
            if here and self._caret >= 0:
                caret = cell_len(shown(foreign[: self._caret] + ".")[0]) - 1
                self._lines.append(_Line(0, " " * caret + "^"))
        self.refresh(layout=True)

    # ---- drawing

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row a line."""
        return max(1, len(self._lines)) if self._lines or self._said else 0

    def render_line(self, y: int) -> Strip:
        """One line, cut to the width, never broken."""
        width = self.size.width
        if not self._lines:
            cells = [Segment(self._said if y == 0 else "", self._style("said"))]
            return Strip(cells).adjust_cell_length(width, self.rich_style)
        if y >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[y]
        digits = max(3, max(len(str(one.number)) for one in self._lines))
        room = max(1, width - digits - 3)
        base = self._style("here") if line.here else self.rich_style
        on = Style(bgcolor=base.bgcolor)
        sign = "> " if line.here else "  "
        number = f"{line.number:>{digits}} " if line.number else " " * (digits + 1)
        head = [
            Segment(sign, self._style("sign") + on),
            Segment(number, (self._style("sign") if line.here else self._style("number")) + on),
        ]
        start = self._start(room)
        body = Strip(self._pieces(line, base)).crop(start)
        if start:
            body = Strip([Segment("…" if line.number else " ", base), *body.crop(1)])
        if body.cell_length > room:
            body = Strip([*body.crop(0, room - 1), Segment("…", base)])
        return Strip([*head, *body.adjust_cell_length(room, base)]).adjust_cell_length(width, self.rich_style)

    def _start(self, room: int) -> int:
        """Cells left out at the front, so that the caret is in sight."""
        caret = next((cell_len(one.text) for one in self._lines if not one.number), 0)
        return caret - room * 2 // 3 if caret > room - 1 else 0

    def _pieces(self, line: _Line, base: Style) -> list[Segment]:
        if not line.number:
            return [Segment(line.text, self._style("caret"))]
        found: list[Segment] = []
        at = 0
        for token in line.tokens:
            own = self._style(token.kind)
            style = base + Style(color=own.color, bold=own.bold or None, italic=own.italic or None)
            found += [Segment(line.text[at : token.start], base), Segment(line.text[token.start : token.end], style)]
            at = token.end
        found.append(Segment(line.text[at:], base))
        return [piece for piece in found if piece.text]

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"excerpt--{name}")
