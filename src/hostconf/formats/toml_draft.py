"""A TOML text while it is edited, and the lines, blanks and line ends around a place in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter

from hostconf.formats.base import Hunk, apply_hunks
from hostconf.formats.text import compose_hunks, eol_near
from hostconf.formats.toml_scan import Layout, Statement

_BLANK_LINE_RE = re.compile(r"[ \t]*\r?\n")
_COMMENT_LINE_RE = re.compile(r"[ \t]*#")
REST_OF_LINE_RE = re.compile(r"[ \t]*(?:#[^\n]*|\r)?\n")

# How many headers above a new one say how many blank lines belong between two tables.
_HEADERS_ASKED = 32


class Draft:
    """A text under edit: each `splice` is one step, `hunks` is all of them at once."""

    __slots__ = ("_layout", "_open_end", "before", "hunks", "text")

    def __init__(self, text: str, layout: Layout) -> None:
        self.before = text
        self.text = text
        self.hunks: tuple[Hunk, ...] = ()
        self._open_end = bool(text) and not text.endswith("\n")
        self._layout: Layout | None = layout

    @property
    def layout(self) -> Layout:
        """The layout of the text as it is now."""
        if self._layout is None:
            self._layout = Layout(self.text)
        return self._layout

    def splice(self, *cuts: tuple[int, int, str]) -> None:
        """Replace each `text[start:end]` by new text; the runs are in rising order and apart."""
        step = [Hunk(start, self.text[start:end], new) for start, end, new in cuts]
        self.text = apply_hunks(self.text, step)
        self.hunks = compose_hunks(self.before, self.hunks, step)
        self._layout = None

    # ------------------------------------------------------------ the surroundings of a place

    def eol(self, at: int) -> str:
        """The line end of the neighbouring line: the one above the line start `at`, else the one there."""
        if "\n" not in self.text:
            return eol_near(self.before, 0)
        return eol_near(self.text, self.line_start(at - 1) if at and self.text[at - 1] == "\n" else at)

    def line_start(self, at: int) -> int:
        """Where the line of `at` starts. In TOML only LF ends a line, so one look back is enough."""
        return self.text.rfind("\n", 0, at) + 1

    def indent(self, at: int) -> str | None:
        """What stands before `at` on its line, None if it is more than white space."""
        before = self.text[self.line_start(at) : at]
        return before if not before.strip(" \t") else None

    def block_start(self, header: Statement) -> int:
        """Where the comment block above a header starts, or the header's own line."""
        at = self.line_start(header.start)
        while self.comment_above(at):
            at = self.line_start(at - 1)
        return at

    def blanks_before(self, at: int) -> tuple[int, int]:
        """How many blank lines stand directly above the line start `at`, and where the first of them starts."""
        count = 0
        while at:
            above = self.line_start(at - 1)
            match = _BLANK_LINE_RE.match(self.text, above, at)
            if match is None or match.end() != at:
                break
            at = above
            count += 1
        return count, at

    def blanks_after(self, at: int) -> int:
        """Where the blank lines end that start at the line start `at`."""
        while match := _BLANK_LINE_RE.match(self.text, at):
            at = match.end()
        return at

    def comment_above(self, at: int) -> bool:
        """Whether the line above the line start `at` is a comment."""
        if not at or not _COMMENT_LINE_RE.match(self.text, self.line_start(at - 1), at):
            return False
        statements = self.layout.statements  # the last line of a long string may look like a comment, too
        index = bisect_left(statements, at, key=lambda statement: statement.start)
        return not index or statements[index - 1].next < at

    def blanks_between_tables(self, at: int) -> int:
        """How many blank lines stand above most tables before `at`; if none is there, above those behind it."""
        headers = [s for s in self.layout.statements if s.brackets]
        above = [s for s in headers if s.start < at][-_HEADERS_ASKED:]
        for asked in above, headers[len(above) :][:_HEADERS_ASKED]:
            counts: Counter[int] = Counter()
            for header in reversed(asked):
                count, first = self.blanks_before(self.block_start(header))
                if first:
                    counts[count] += 1
            if counts:
                return counts.most_common(1)[0][0]
        return 1

    def add_lines(self, at: int, lines: list[str]) -> None:
        """New lines at the line start `at`; a text without a final line end still has none afterwards."""
        eol = self.eol(at)
        if at < len(self.text) or not self._open_end:
            self.splice((at, at, "".join(line + eol for line in lines)))
        else:
            self.splice((at, at, (eol if at else "") + eol.join(lines)))

    def cut_lines(self, runs: list[tuple[int, int]]) -> None:
        """Take whole lines out; a text without a final line end has none afterwards."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted(runs):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        if merged[-1][1] == len(self.text) and self._open_end:
            start, end = merged.pop()
            while start := self.blanks_before(start)[1]:
                start -= len(self.eol(start))  # the line end above goes too, and what is cut right before it
                if not merged or merged[-1][1] < start:
                    break
                start = merged.pop()[0]
            merged.append((start, end))
        self.splice(*((start, end, "") for start, end in merged))
