"""Values as JSON text in the style of the place they go to.

Style is copied from the neighbours: the last sibling first, then the containers
above, then the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.errors import EditRefused
from hostconf.formats.json_scan import MAX_DEPTH, Box, string_end
from hostconf.formats.text import indent_at, line_start

MAX_VALUE_DEPTH = 200
"""Containers inside each other in a value to be written: it is written with recursion."""

WIDTH = 100
"""What is written on one line is at most this long, unless all of the container is on one line."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_GAP = re.compile(
    r"(?P<eol>\r\n|\n|\r)|(?P<blank>[ \t]++)|(?P<comma>,)"
    r"|(?P<line>//[^\r\n]*+)|(?P<block>/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)"
)
_ARRAY = re.compile(r":[ \t]*\[[ \t]*(?:([\r\n])|[^\s\]])")
_SAMPLE = 8_192


class Raw(str):
    """Text of the file that is to stand elsewhere as it is."""


class Token(NamedTuple):
    """A piece of what stands between two entries: `eol`, `blank`, `line` or `block` comment, `comma`."""

    kind: str
    start: int
    end: int


class Style(NamedTuple):
    """How a value is written at one place."""

    eol: str
    unit: str
    """One step of indentation."""
    colon: str
    comma: str
    """Between two entries on one line."""
    pad: str
    """Inside the braces of an object on one line."""
    short_arrays: bool
    """Whether an array of scalars stands on one line."""


def gap(text: str, start: int, end: int) -> list[Token]:
    """What stands between two offsets, where no value does."""
    return [Token(str(m.lastgroup), m.start(), m.end()) for m in _GAP.finditer(text, start, end)]


def plain(value: Any, above: int) -> Any:
    """A copy of the value as JSON can hold it, to be put below `above` containers.

    Raises:
        EditRefused: something in it that JSON does not have (`wrong-type`), or it gets `too-deep`.
    """
    return _plain(value, min(MAX_VALUE_DEPTH, MAX_DEPTH - above))


def _plain(value: Any, room: int) -> Any:
    if isinstance(value, (Mapping, list, tuple)) and room <= 0:
        raise EditRefused("the value is nested too deep", code="too-deep")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise EditRefused("a key of the value is no string", code="wrong-type")
        return {key: _plain(item, room - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, room - 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass (an enum, a string of some parser) only the text
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)  # an infinite one may stand there as 1E400; writing it is refused
    raise EditRefused(f"JSON has no {type(value).__name__}", code="wrong-type")


# ------------------------------------------------------------------ style


def style_at(text: str, boxes: Sequence[Box], eol: str) -> Style:
    """The style inside the last of `boxes`, which lead there from the root."""
    box = boxes[-1]
    colon = _colon(text, boxes)
    padded = [text[b.start + 1] in " \t" for b in reversed(boxes) if b.kind == "{" and b.entries and one_line(text, b)]
    return Style(
        eol=eol,
        unit=_unit(text, boxes),
        colon=colon,
        comma=_comma(text, box) if one_line(text, box) and len(box.entries) > 1 else "," if colon == ":" else ", ",
        pad=" " if (padded[0] if padded else colon != ":") else "",
        short_arrays=_short_arrays(text, boxes),
    )


def one_line(text: str, box: Box) -> bool:
    """Whether the container begins and ends on one line."""
    return line_start(text, box.start) == line_start(text, box.end)


def _comma(text: str, box: Box) -> str:
    between = text[box.entries[-2].comma + 1 : box.entries[-1].start]
    return "," + between if not between.strip(" \t") else ", "


def _colon(text: str, boxes: Sequence[Box]) -> str:
    """How the nearest object writes what stands between key and value."""
    for box in reversed(boxes):
        if box.kind == "{" and box.entries:
            entry = box.entries[-1]
            between = text[string_end(text, entry.start) : entry.value]
            if between in (":", ": ", " : ", " :"):
                return between
            return ": "
    return ": "


def _unit(text: str, boxes: Sequence[Box]) -> str:
    """One step of indentation, from the nearest container whose entries stand on lines of their own."""
    for box in reversed(boxes):
        for entry in reversed(box.entries):
            inner = indent_at(text, entry.start)
            outer = indent_at(text, box.start)
            starts_line = line_start(text, entry.start) + len(inner) == entry.start
            if starts_line and len(inner) > len(outer) and inner.startswith(outer):
                return inner[len(outer) :]
    return "  "


def _short_arrays(text: str, boxes: Sequence[Box]) -> bool:
    """Whether arrays nearby stand on one line. A guess at what is only style: strings are not told apart."""
    for box in reversed(boxes):
        last = box.entries[-1].start if box.entries else box.start
        found = _ARRAY.search(text, last, min(box.end, last + _SAMPLE))
        found = found or _ARRAY.search(text, box.start, min(box.end, box.start + _SAMPLE))
        if found:
            return found.group(1) is None
    return True


# ------------------------------------------------------------------ text


def scalar(value: Any) -> str:
    """A scalar, or a key, as JSON.

    Raises:
        EditRefused: an integer longer than Python writes, or no finite number.
    """
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str):  # a surrogate by itself cannot be UTF-8, only an escape
        return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", json.dumps(value, ensure_ascii=False))
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        raise EditRefused("JSON cannot hold the number", code="wrong-type") from None


def inline(value: Any, style: Style) -> str:
    """The value on one line."""
    if isinstance(value, dict) and value:
        entries = (f"{scalar(key)}{style.colon}{inline(item, style)}" for key, item in value.items())
        return f"{{{style.pad}{style.comma.join(entries)}{style.pad}}}"
    if isinstance(value, list) and value:
        return f"[{style.comma.join(inline(item, style) for item in value)}]"
    return scalar(value)


def on_lines(value: Any, indent: str, style: Style) -> str:
    """The value with every entry on its own line; `indent` is that of the line it begins on."""
    if not isinstance(value, (dict, list)) or not value:
        return scalar(value)
    deeper = indent + style.unit
    if isinstance(value, dict):
        entries = [f"{scalar(key)}{style.colon}{on_lines(item, deeper, style)}" for key, item in value.items()]
        opener, closer = "{}"
    else:
        if style.short_arrays and not any(isinstance(item, (dict, list)) for item in value):
            short = inline(value, style)
            if len(indent) + len(short) <= WIDTH:
                return short
        entries = [on_lines(item, deeper, style) for item in value]
        opener, closer = "[]"
    lines = f",{style.eol}{deeper}".join(entries)
    return f"{opener}{style.eol}{deeper}{lines}{style.eol}{indent}{closer}"
