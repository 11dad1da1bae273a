"""Which hunks put an entry into a JSON text, change it, or take it out.

Knows text and boxes, no documents; judges nothing: whoever calls reads the new text
again and compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hostconf.formats.base import Hunk
from hostconf.formats.json_scan import Box, Entry
from hostconf.formats.json_write import WIDTH, Style, Token, gap, inline, on_lines, one_line, scalar, style_at
from hostconf.formats.text import eol_near, indent_at, line_start


class Line(NamedTuple):
    """How the line begins on which an entry does."""

    begin: int
    comma: bool
    """A comma stands before the entry on this line."""
    comments: tuple[Token, ...]
    """Comments before the entry on this line."""
    ragged: bool
    """One of them began on a line above, so that the line cannot be cut out."""


class Tail(NamedTuple):
    """How the line goes on on which an entry ends."""

    whole: bool
    """Nothing but blanks, comments and the comma follow on it."""
    comma: bool
    """The comma behind the entry is among them."""
    comments: tuple[Token, ...]
    end: int
    """Behind the last of them; blanks not counted."""
    next: int
    """Where the line below begins."""


def line_of(text: str, box: Box, index: int) -> Line | None:
    """How the line of an entry begins; None where another entry or the bracket stands before it."""
    before = box.entries[index - 1].end if index else box.start + 1
    tokens = gap(text, before, box.entries[index].start)
    last = max((i for i, token in enumerate(tokens) if token.kind == "eol"), default=-1)
    if last < 0:
        return None
    rest = tokens[last + 1 :]
    comments = tuple(token for token in rest if token.kind in ("line", "block"))
    ragged = any("\n" in text[t.start : t.end] or "\r" in text[t.start : t.end] for t in comments)
    return Line(tokens[last].end, any(token.kind == "comma" for token in rest), comments, ragged)


def tail_of(text: str, box: Box, index: int) -> Tail:
    """How the line of an entry goes on behind it."""
    entry = box.entries[index]
    stop = box.entries[index + 1].start if index + 1 < len(box.entries) else box.end - 1
    comments: list[Token] = []
    comma, end = False, entry.end
    for token in gap(text, entry.end, stop):
        if token.kind == "eol":
            return Tail(True, comma, tuple(comments), end, token.end)
        if token.kind == "comma":
            comma, end = True, token.end
        elif token.kind != "blank":
            if "\n" in text[token.start : token.end] or "\r" in text[token.start : token.end]:
                break
            comments.append(token)
            end = token.end
    return Tail(False, comma, tuple(comments), end, end)


def _blank(text: str, start: int, end: int) -> bool:
    return not text[start:end].strip(" \t\r\n")


# ------------------------------------------------------------------ put in


def insertion(text: str, boxes: Sequence[Box], items: Sequence[tuple[str | None, Any]], tail: str = "") -> list[Hunk]:
    """Hunks that put `items` (key and value; no keys in an array) behind all entries of the last of `boxes`.

    `tail` is a comment to stand behind the last of them; the caller has seen `takes_comment`.
    """
    box = boxes[-1]
    if not box.entries:
        return _into_empty(text, boxes, items)
    last = box.entries[-1]
    line = line_of(text, box, len(box.entries) - 1)
    at = _line_tail_end(text, box)
    style = style_at(text, boxes, eol_near(text, at))
    if line is None:
        style = style._replace(comma=_separator(text, box, style))
        written = [_entry(key, inline(value, style), style) for key, value in items]
        if last.comma >= 0:
            lead = style.comma[1:]
            return [Hunk(last.comma + 1, "", "".join(f"{lead}{entry}," for entry in written))]
        return [Hunk(last.end, "", "".join(style.comma + entry for entry in written))]
    indent = _indent_of_last(text, boxes, style)
    written = [_entry(key, _like_sibling(text, box, value, indent, style), style) for key, value in items]
    if line.comma and last.comma < 0:
        between = text[box.entries[-2].comma + 1 : last.start]
        lead = f"{style.eol}{indent},{between if not between.strip(' ') else ' '}"
        return [Hunk(at, "", "".join(lead + entry for entry in written) + tail)]
    lines = f",{style.eol}{indent}".join(written)
    new = f"{style.eol}{indent}{lines}{',' if last.comma >= 0 else ''}{tail}"
    if last.comma >= 0:
        return [Hunk(at, "", new)]
    if at == last.end:
        return [Hunk(at, "", "," + new)]
    return [Hunk(last.end, "", ","), Hunk(at, "", new)]


def takes_comment(text: str, box: Box) -> bool:
    """Whether an entry added to the box gets a line of its own that ends behind it."""
    if not box.entries or line_of(text, box, len(box.entries) - 1) is None:
        return False
    at = _line_tail_end(text, box)
    return text.startswith(("\n", "\r"), at)


def _entry(key: str | None, value: str, style: Style) -> str:
    return value if key is None else f"{scalar(key)}{style.colon}{value}"


def _separator(text: str, box: Box, style: Style) -> str:
    """What stands between two entries on the last line of the box: comma and blanks."""
    if len(box.entries) < 2:
        return style.comma
    between = text[box.entries[-2].comma + 1 : box.entries[-1].start]
    return "," + between if not between.strip(" \t") else ", "


def _indent_of_last(text: str, boxes: Sequence[Box], style: Style) -> str:
    """The indentation of the last entry; of one before it where a comment from above runs into its line."""
    box = boxes[-1]
    for index in range(len(box.entries) - 1, max(-1, len(box.entries) - 9), -1):
        line = line_of(text, box, index)
        if line and not line.ragged:
            return indent_at(text, box.entries[index].start)
    return indent_at(text, box.start) + style.unit


def _line_tail_end(text: str, box: Box) -> int:
    """Where the line of the last entry ends; behind the comments on it, where the bracket follows on it."""
    last = box.entries[-1]
    at = last.comma + 1 if last.comma >= 0 else last.end
    for token in gap(text, at, box.end - 1):
        if token.kind == "eol":
            return token.start
        if token.kind != "blank":
            at = token.end
    return at


def _like_sibling(text: str, box: Box, value: Any, indent: str, style: Style) -> str:
    """The value on one line if the last sibling of its kind is, else on lines."""
    if isinstance(value, (dict, list)) and value:
        bracket = "{" if isinstance(value, dict) else "["
        for entry in reversed(box.entries[-16:]):
            if text[entry.value] == bracket and not _blank(text, entry.value + 1, entry.end - 1):
                return _as(text, entry, value, indent, style)
    return on_lines(value, indent, style)


def _as(text: str, entry: Entry, value: Any, indent: str, style: Style) -> str:
    """The container `value`, laid out as the container of `entry` is."""
    model = text[entry.value : entry.end]
    if "\n" in model or "\r" in model:
        if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
            style = style._replace(short_arrays=False)
        return on_lines(value, indent, style)
    if isinstance(value, dict):
        style = style._replace(pad=" " if model[1] in " \t" else "")
    short = inline(value, style)
    return short if len(indent) + len(short) <= WIDTH else on_lines(value, indent, style)


def _into_empty(text: str, boxes: Sequence[Box], items: Sequence[tuple[str | None, Any]]) -> list[Hunk]:
    box = boxes[-1]
    inner, close = box.start + 1, box.end - 1
    tokens = gap(text, inner, close)
    comments = [token for token in tokens if token.kind in ("line", "block")]
    has_lines = any(token.kind == "eol" for token in tokens)
    style = style_at(text, boxes, eol_near(text, box.start))
    if not has_lines and not _expands(text, boxes, items):
        written = style.comma.join(_entry(key, inline(value, style), style) for key, value in items)
        if comments:
            return [Hunk(comments[-1].end, "", " " + written)]
        pad = style.pad if box.kind == "{" and inner == close else text[inner:close]
        return [Hunk(inner, text[inner:close], pad + written + pad)]
    outer = indent_at(text, box.start)
    indent = outer + style.unit
    own_line = [t for t in comments if not text[line_start(text, t.start) : t.start].strip(" \t")]
    if own_line:
        indent = indent_at(text, own_line[-1].start)
    written = f",{style.eol}{indent}".join(_entry(key, on_lines(value, indent, style), style) for key, value in items)
    at = comments[-1].end if comments else inner
    closes_line = any(token.kind == "eol" and token.start >= at for token in tokens)
    if closes_line:
        return [Hunk(at, "", f"{style.eol}{indent}{written}")]
    return [Hunk(at, text[at:close], f"{style.eol}{indent}{written}{style.eol}{outer}")]


def _expands(text: str, boxes: Sequence[Box], items: Sequence[tuple[str | None, Any]]) -> bool:
    """Whether an empty container on one line becomes one of several lines."""
    box = boxes[-1]
    nested = any(isinstance(value, (dict, list)) and value for _, value in items)
    if len(boxes) > 1:
        above = boxes[-2]
        index = next(i for i, entry in enumerate(above.entries) if entry.value == box.start)
        if line_of(text, above, index) is None:
            return False
    if box.kind == "{":
        return True
    if nested:
        return True
    style = style_at(text, boxes, "\n")
    size = len(inline([value for _, value in items], style)) + box.start - line_start(text, box.start)
    return not style.short_arrays or size > WIDTH


# ------------------------------------------------------------------ change


def replacement(text: str, boxes: Sequence[Box], index: int, value: Any) -> list[Hunk]:
    """Hunks that put another value at an entry of the last of `boxes`."""
    box = boxes[-1]
    entry = box.entries[index]
    style = style_at(text, boxes, eol_near(text, entry.value))
    old = text[entry.value : entry.end]
    indent = indent_at(text, entry.start)
    if not isinstance(value, (dict, list)) or not value:
        new = scalar(value)
    elif old[0] in "{[" and not _blank(old, 1, len(old) - 1):
        new = _as(text, entry, value, indent, style)
    elif line_of(text, box, index) is None and one_line(text, box):
        new = inline(value, style)
    else:
        others = [other for i, other in enumerate(box.entries) if i != index]
        new = _like_sibling(text, box._replace(entries=others), value, indent, style)
    return [Hunk(entry.value, old, new)]


# ------------------------------------------------------------------ take out


def removal(text: str, box: Box, index: int) -> list[Hunk]:
    """Hunks that take an entry out, with the comments on its own lines, as far as the lines are its own."""
    entries = box.entries
    entry = entries[index]
    line, tail = line_of(text, box, index), tail_of(text, box, index)
    if len(entries) == 1:
        after = tail.next if line and tail.whole else entry.comma + 1 if entry.comma >= 0 else entry.end
        before = line.begin if line and tail.whole and not line.ragged else entry.start
        if _blank(text, box.start + 1, before) and _blank(text, max(after, entry.end), box.end - 1):
            return [Hunk(box.start + 1, text[box.start + 1 : box.end - 1], "")]
    if line and tail.whole and not line.ragged:
        cut = Hunk(line.begin, text[line.begin : tail.next], "")
        if _fills_lines(line, tail):
            return [cut]
        if not line.comma and index == len(entries) - 1 and entry.comma < 0:
            return [Hunk(entries[index - 1].comma, ",", ""), cut] if index else [cut]
    if index < len(entries) - 1:
        return [_removal_before(text, box, index)]
    return _removal_last(text, box, index)


def _fills_lines(line: Line, tail: Tail) -> bool:
    """Whether an entry has its lines for itself, with one of the commas beside it."""
    return tail.whole and not line.ragged and line.comma != tail.comma


def _removal_before(text: str, box: Box, index: int) -> Hunk:
    """The hunk for an entry that shares its line, with others behind it."""
    entry, following = box.entries[index], box.entries[index + 1]
    tokens = gap(text, entry.comma + 1, following.start)
    if index:
        comma = box.entries[index - 1].comma
        if tokens and any(token.kind == "eol" for token in tokens) and _blank(text, comma + 1, entry.start):
            return Hunk(comma, text[comma : entry.end], "")
    if all(token.kind in ("blank", "eol") for token in tokens):
        end = following.start
    else:
        end = tokens[0].end if tokens[0].kind == "blank" and tokens[1].kind == "block" else entry.comma + 1
    return Hunk(entry.start, text[entry.start : end], "")


def _removal_last(text: str, box: Box, index: int) -> list[Hunk]:
    """The hunks for the last entry, where it shares its line."""
    entries = box.entries
    entry = entries[index]
    end = entry.comma + 1 if entry.comma >= 0 else entry.end
    if not index:
        return [Hunk(entry.start, text[entry.start : end], "")]
    comma = entries[index - 1].comma
    lonely = _blank(text, comma + 1, entry.start)
    if entry.comma >= 0:
        start = comma + 1 if lonely else entry.start
        return [Hunk(start, text[start:end], "")]
    if lonely:
        above = entries[index - 1].end
        start = above if _blank(text, above, comma) else comma
        return [Hunk(start, text[start:end], "")]
    return [Hunk(comma, ",", ""), Hunk(entry.start, text[entry.start : end], "")]


# ------------------------------------------------------------------ move


def move_last(text: str, boxes: Sequence[Box], index: int, item: tuple[str | None, Any]) -> list[Hunk]:
    """Hunks that take an entry that is not the last one out and put `item` behind the others.

    The comments on its line go along where it gets a line of its own; else they stay.
    """
    box = boxes[-1]
    entry = box.entries[index]
    line, tail = line_of(text, box, index), tail_of(text, box, index)
    if line and _fills_lines(line, tail):
        comments = (*line.comments, *tail.comments)
        if not comments or takes_comment(text, box):
            # In this order: a line comment comes last, it ends only with the line.
            moved = "".join(" " + text[token.start : token.end] for token in comments)
            return removal(text, box, index) + insertion(text, boxes, [item], moved)
    elif _blank(text, entry.end, entry.comma):
        return removal(text, box, index) + insertion(text, boxes, [item])
    end = entry.comma + 1
    while text[end] in " \t":
        end += 1
    out = [Hunk(entry.start, text[entry.start : entry.end], ""), Hunk(entry.comma, text[entry.comma : end], "")]
    if entry.comma == entry.end:
        out = [Hunk(entry.start, text[entry.start : end], "")]
    return out + insertion(text, boxes, [item])
