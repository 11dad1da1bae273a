"""Markdown documents: text of the user's own, and blocks of ours between two marker lines.

    <!-- hostconf:begin ID -->
    body
    <!-- hostconf:end ID -->

A marker is a whole line outside of code fences. A block that is added brings one blank
line with it and takes it away again, so taking it out gives back the bytes without a
journal; `nl=0` in the begin marker says that the text above ended without a line end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hostconf.errors import EditRefused, FormatError
from hostconf.formats.base import MISSING, Edit, Hunk, KeyPath, Span, apply_hunks
from hostconf.formats.text import Source, after_line_end, decode, eol_near, line_end, line_start

_ID = r"[A-Za-z0-9][\w.:/@+-]*"
_MARKER = re.compile(rf" {{0,3}}<!-- hostconf:(begin|end) ({_ID})( nl=0)? -->[ \t]*")
_ID_ONLY = re.compile(_ID)
# At any depth of lists and quotes: a fence in a list item is indented as far as the item is.
_OPENS = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_CLOSES = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")
_FRONT = re.compile(r"---[ \t]*(?:\r\n|\n)(?:(?!---[ \t]*(?:\r\n|\n|$))[^\n]*\n)*---[ \t]*(?:\r\n|\n|$)")


class _Marker(NamedTuple):
    kind: str
    name: str
    bare: bool
    """The text above it had no line end of its own."""
    start: int
    end: int
    """Behind its line end."""


class _Block(NamedTuple):
    begin: _Marker
    close: _Marker


def parse(data: bytes, *, name: str = "<config>") -> MarkdownDocument:
    """The document that the bytes hold; every text is one.

    Raises:
        FormatError: `not-utf8` or `too-large`.
    """
    return MarkdownDocument(decode(data, name=name))


class MarkdownDocument:
    """A Markdown text and its blocks. See `Document`: `at` is `(ID,)`, the value is the body.

    A body is its lines joined by LF, without the line end before the end marker.
    """

    __slots__ = ("_blocks", "_damaged", "_source", "bom", "format", "issues", "name", "text")

    def __init__(self, source: Source) -> None:
        self.format = "markdown"
        self.name = source.name
        self.text = source.text
        self.bom = source.bom
        self._source = source
        self._blocks: dict[str, _Block] = {}
        self._damaged: dict[str, FormatError] = {}
        self.issues: tuple[FormatError, ...] = tuple(self._pair_up())

    def _pair_up(self) -> list[FormatError]:
        """Pair the markers, and tell which of them do not pair."""
        issues: list[FormatError] = []
        opened: _Marker | None = None

        def damaged(marker: _Marker, why: str, *names: str) -> None:
            issue = self._source.error(f"{why} `{marker.name}`", marker.start, code="marker-damaged")
            issues.append(issue)
            for name in names:
                self._damaged.setdefault(name, issue)

        for marker in _markers(self.text):
            if marker.kind == "begin":
                if opened:
                    damaged(opened, "no end marker for the block", opened.name, marker.name)
                opened = marker
            elif opened is None:
                damaged(marker, "no begin marker for the block", marker.name)
            elif opened.name != marker.name:
                damaged(marker, f"the block `{opened.name}` is closed as", opened.name, marker.name)
                opened = None
            elif marker.name in self._blocks:
                damaged(opened, "a second block", marker.name)
                opened = None
            else:
                self._blocks[marker.name] = _Block(opened, marker)
                opened = None
        if opened:
            damaged(opened, "no end marker for the block", opened.name)
        return issues

    # -------------------------------------------------------------- reading

    def to_bytes(self) -> bytes:
        """The bytes of the document."""
        return self._source.encode()

    def get(self, at: KeyPath, default: Any = MISSING) -> Any:
        """The body of the block `at` names, else `default`; for `()` all blocks, id to body."""
        if not at:
            return {name: self._body(block) for name, block in self._blocks.items()}
        block = self._blocks.get(str(at[0])) if len(at) == 1 else None
        return self._body(block) if block else default

    def where(self, at: KeyPath) -> Span | None:
        """The span of the block, its marker lines included; None where there is none."""
        if not at:
            return self._source.span(0, len(self.text))
        block = self._blocks.get(str(at[0])) if len(at) == 1 else None
        return self._source.span(block.begin.start, block.close.end) if block else None

    def _body(self, block: _Block) -> str:
        lines = [line for line, _ in _lines(self.text[block.begin.end : block.close.start])]
        return "\n".join(lines)

    # -------------------------------------------------------------- editing

    def set(self, at: KeyPath, value: Any, *, last: bool = False, first: bool = False) -> Edit:
        """Give the block `at` names the body `value`; a new block comes last, or with `first` on top.

        On top is behind a front matter. A block that is there stays where it is.

        Raises:
            EditRefused: `marker-damaged`, or `wrong-type` for a name or body that cannot be one.
        """
        name = self._name(at)
        _check_body(value)
        block = self._blocks.get(name)
        if block and self._body(block) == value:
            return Edit(self, self, ())
        if block:
            eol = eol_near(self.text, block.begin.start)
            start, end = block.begin.end, block.close.start
            hunk = Hunk(start, self.text[start:end], value.replace("\n", eol) + eol)
        else:
            hunk = self._new_block(name, value, first)
        return self._edit(hunk, {**self.get(()), name: value})

    def _new_block(self, name: str, body: str, first: bool) -> Hunk:
        at = 0
        if first:
            front = _FRONT.match(self.text)
            at = front.end() if front else 0
            if front and not self.text[:at].endswith("\n"):
                first = False  # nothing but the front matter, without a line end: the end is the top
        eol = eol_near(self.text, at if first else len(self.text))
        bare = not first and self.text != "" and not self.text.endswith(("\n", "\r"))
        lines = (
            f"<!-- hostconf:begin {name}{' nl=0' if bare else ''} -->",
            *body.split("\n"),
            f"<!-- hostconf:end {name} -->",
            "",
        )
        block = eol.join(lines)
        if not self.text:
            return Hunk(0, "", block)
        if first:
            return Hunk(at, "", block + eol)
        return Hunk(len(self.text), "", (eol + eol if bare else eol) + block)

    def delete(self, at: KeyPath) -> Edit:
        """Take the block out, with the blank line that came with it.

        Raises:
            EditRefused: `marker-damaged`.
        """
        name = self._name(at)
        block = self._blocks.get(name)
        if block is None:
            return Edit(self, self, ())
        text = self.text
        start, end = block.begin.start, block.close.end
        above = line_start(text, start - 1) if start else 0
        if start and not text[above:start].strip():
            start = above
            if block.begin.bare and end == len(text) and start:  # the line end above came with the block, too
                start = line_end(text, line_start(text, start - 1))
        else:
            below = after_line_end(text, line_end(text, end))
            if not text[end:below].strip():
                end = below
        rest = {key: body for key, body in self.get(()).items() if key != name}
        return self._edit(Hunk(start, text[start:end], ""), rest)

    def append(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Refused: there are no arrays."""
        raise EditRefused("a Markdown block is no array", code="wrong-type", path=self.name)

    def remove(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Refused: there are no arrays."""
        raise EditRefused("a Markdown block is no array", code="wrong-type", path=self.name)

    def _name(self, at: KeyPath) -> str:
        """The name of the block, once it is one that can be edited."""
        if len(at) != 1 or not isinstance(at[0], str) or not _ID_ONLY.fullmatch(at[0]):
            raise EditRefused(f"`{at}` names no Markdown block", code="wrong-type", path=self.name)
        issue = self._damaged.get(at[0])
        if issue:
            raise _marker_damaged(issue)
        return at[0]

    def _edit(self, hunk: Hunk, bodies: dict[str, str]) -> Edit:
        """The edit, once the new text has been read and holds these blocks and no new damage."""
        source = Source(apply_hunks(self.text, (hunk,)), self.bom, self.name)
        after = MarkdownDocument(source)
        if after.get(()) != bodies or after._damaged.keys() != self._damaged.keys():
            if self.issues:
                raise _marker_damaged(self.issues[0])
            raise self._source.refusal(
                "the edit would change more than itself",
                hunk.start,
                code="would-change-other",
                hint="Is a code fence left open in the file?",
            )
        return Edit(self, after, (hunk,))


def _marker_damaged(issue: FormatError) -> EditRefused:
    return EditRefused(
        issue.message,
        hint="Restore or remove the marker lines, then try again",
        path=issue.path,
        line=issue.line,
        column=issue.column,
        excerpt=issue.excerpt,
        code="marker-damaged",
    )


def _check_body(value: Any) -> None:
    """Refuse what could not be read back as the body of a block."""
    if not isinstance(value, str):
        raise EditRefused("the body of a Markdown block is text", code="wrong-type")
    if "\r" in value or any(map(_MARKER.fullmatch, value.split("\n"))):
        raise EditRefused("the body holds a marker or a CR", code="wrong-type")
    fence = ""
    for line in value.split("\n"):
        fence = _fence_after(line, fence)
    if fence:
        raise EditRefused("the body leaves a code fence open", code="wrong-type")


# ------------------------------------------------------------------ lines


def _lines(text: str) -> list[tuple[str, int]]:
    """The lines without their line ends, and where the next one starts."""
    found = [(m.group(1), m.end()) for m in _LINE.finditer(text)]
    return found if found[-1][0] else found[:-1]


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open behind the line, where `fence` was open before; empty for none."""
    if not fence:
        opens = _OPENS.match(line)
        return opens.group(1) if opens else ""
    closes = _CLOSES.fullmatch(line)
    return "" if closes and closes.group(1).startswith(fence) else fence


def _markers(text: str) -> list[_Marker]:
    """The marker lines outside of code fences. A fence that nothing closes is none, and so is one in a front matter."""
    if "hostconf:" not in text:
        return []
    lines = _lines(text)
    front = _FRONT.match(text)
    front_end = front.end() if front else 0
    markers: list[_Marker] = []
    fence, opened, kept = "", 0, 0
    index = 0
    while index < len(lines) or fence:
        if index == len(lines):  # never closed: read on behind its first line as plain text
            fence, index = "", opened + 1
            del markers[kept:]
            continue
        line, end = lines[index]
        before = fence
        fence = _fence_after(line, fence) if end > front_end else ""
        if fence and not before:
            opened, kept = index, len(markers)
        found = None if before or fence else _MARKER.fullmatch(line)
        if found:
            start = lines[index - 1][1] if index else 0
            markers.append(_Marker(found.group(1), found.group(2), bool(found.group(3)), start, end))
        index += 1
    return markers
