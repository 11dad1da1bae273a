"""Where things stand in a TOML text: statements, sections, paths, and the inside of values.

Knows no values and judges nothing: `tomllib` has the last word on what is TOML. The
scan is right for every text that `tomllib` reads; in any other it stops at the first
statement it cannot follow, and says where.
"""

from __future__ import annotations

import re
import tomllib
from typing import Literal, NamedTuple

from hostconf.formats.base import KeyPath

# Possessive quantifiers, and no falling back from a long string to a short one: an
# unclosed quote must not be looked for again and again.
_BASIC = r'(?!""")"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_LITERAL = r"(?!''')'[^'\n]*+'"
_LONG_BASIC = r'"""(?:[^"\\]++|\\[\s\S]|"{1,2}(?!"))*+"{3,5}'
_LONG_LITERAL = r"'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"
_STRING = rf"{_LONG_BASIC}|{_LONG_LITERAL}|{_BASIC}|{_LITERAL}"
_SCALAR = r"""\d{4}-\d\d-\d\d[ ]\d[\d:.+\-Zz]*+|[^\s,\#\[\]{}"'=]++"""
_KEY_PART = rf"[A-Za-z0-9_-]++|{_BASIC}|{_LITERAL}"
_KEY = rf"(?:{_KEY_PART})(?:[ \t]*+\.[ \t]*+(?:{_KEY_PART}))*+"
_BLANK = r"[ \t]*+"
_LINE_END = r"[ \t]*+(?:\#[^\n]*+|\r)?(?:\n|\Z)"

_TRIVIA_RE = re.compile(r"(?:[ \t]*+(?:\#[^\n]*+|\r)?\n)*+[ \t]*+(?:\#[^\n]*+\Z)?")
_HEAD_RE = re.compile(rf"(?P<key>{_KEY}){_BLANK}={_BLANK}|(?P<table>\[(?:\[)?){_BLANK}{_KEY}{_BLANK}\]\]?")
_VALUE_RE = re.compile(rf"{_STRING}|{_SCALAR}")
# One whole line with a value in one piece: nearly all lines, at the price of one match.
_LINE_RE = re.compile(rf"""({_KEY}){_BLANK}={_BLANK}()(?:{_BASIC}|{_LITERAL}|{_SCALAR})(){_LINE_END}""")
_LINE_END_RE = re.compile(_LINE_END)
_BETWEEN_BRACKETS_RE = re.compile(rf"""(?:[^\[\]{{}}"'\#]++|\#[^\n]*+|{_STRING})*+""")
_SPACE_RE = re.compile(r"(?:[ \t\r\n]++|\#[^\n]*+)*+")
_KEY_RE = re.compile(_KEY)
_KEY_PART_RE = re.compile(_KEY_PART)

MAX_DEPTH = 64


class Statement(NamedTuple):
    """One key with its value, or one header. Never shares a line with another."""

    brackets: int
    """0: a key with its value; 1: a `[table]`; 2: an item of an `[[array of tables]]`."""
    start: int
    key_end: int
    """Behind the key; of a header behind its last bracket."""
    value: int
    end: int
    next: int
    """Where the line below starts; the end of the text if there is none."""


class Section(NamedTuple):
    """A header and the keys below it; the root section has no header."""

    path: KeyPath
    header: int
    """Index of the statement, -1 for the root."""
    first: int
    last: int
    """Its keys are `statements[first:last]`."""


class Node(NamedTuple):
    """A value and, of an array or an inline table, what is in it."""

    kind: Literal["scalar", "array", "table"]
    start: int
    end: int
    items: tuple[Item, ...] = ()


class Item(NamedTuple):
    """An item of an array (no keys), or an entry of an inline table."""

    keys: tuple[str, ...]
    start: int
    node: Node
    comma: int
    """Where the comma behind it stands, or -1."""


class Found(NamedTuple):
    """Everything in the text that makes up the value at one path. All empty: nothing is there."""

    sections: tuple[Section, ...]
    """Sections at this path and below."""
    entries: tuple[int, ...]
    """Keys at this path and below, in sections above it."""
    owner: int | None
    """The one key whose value holds the path, or is the value itself."""
    rest: KeyPath
    """The way inside the owner's value."""

    def __bool__(self) -> bool:
        return bool(self.sections or self.entries or self.owner is not None)


class Layout:
    """The statements of a text, and where in them a path leads."""

    __slots__ = ("_headers", "_sections", "statements", "stopped", "text", "too_deep")

    def __init__(self, text: str) -> None:
        self.text = text
        self.statements: list[Statement] = []
        self.stopped: int | None = None
        """Start of the statement that could not be followed, if any."""
        self.too_deep: int | None = None
        """Start of the first statement that nests deeper than MAX_DEPTH, if any; nothing behind it was scanned."""
        self._headers: list[tuple[int, tuple[str, ...]]] = []
        self._sections: tuple[Section, ...] | None = None
        self._scan()

    def _scan(self) -> None:
        text, statements = self.text, self.statements
        trivia, line = _TRIVIA_RE.match, _LINE_RE.match
        at, above, size = 0, 0, len(text)
        while True:
            at = trivia(text, at).end()  # type: ignore[union-attr]  # it matches the empty string too
            if at >= size:
                return
            if match := line(text, at):
                statement = Statement(0, at, match.end(1), match.start(2), match.start(3), match.end())
                depth = 0
            else:
                found = _statement(text, at)
                if found is None:
                    self.stopped = at
                    return
                statement, depth = found
            if statement.brackets:
                try:
                    names = split_key(text[at + statement.brackets : statement.key_end - statement.brackets])
                except ValueError:
                    self.stopped = at
                    return
                self._headers.append((len(statements), names))
                above = len(names)
            # Dots inside quotes count too, so only a key that looks deep is looked at closely.
            elif above + depth + text.count(".", at, statement.key_end) > MAX_DEPTH:
                depth += len(key_parts(text[at : statement.key_end])) - 1
            if above + depth > MAX_DEPTH:
                self.too_deep = at
                return
            statements.append(statement)
            at = statement.next

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections, the root first, their paths with the indexes of arrays of tables."""
        if self._sections is None:
            counts: dict[KeyPath, int] = {}
            out: list[Section] = []
            path: KeyPath = ()
            header = -1
            for index, names in [*self._headers, (len(self.statements), ())]:
                out.append(Section(path, header, header + 1, index))
                if index == len(self.statements):
                    break
                header = index
                path = ()
                for name in names[:-1]:
                    path += (name,)
                    if path in counts:
                        path += (counts[path],)
                path += names[-1:]
                if self.statements[index].brackets == 2:
                    counts[path] = counts.get(path, -1) + 1
                if path in counts:
                    path += (counts[path],)
            self._sections = tuple(out)
        return self._sections

    def keys(self, index: int) -> tuple[str, ...]:
        """The keys of the entry `statements[index]`, from its section on."""
        statement = self.statements[index]
        return split_key(self.text[statement.start : statement.key_end])

    def find(self, at: KeyPath) -> Found:
        """All that stands at `at`. Reads the keys of the sections above it only."""
        size = len(at)
        sections: list[Section] = []
        entries: list[int] = []
        for section in self.sections:
            depth = len(section.path)
            if section.path[:size] == at:
                sections.append(section)
            elif depth < size and section.path == at[:depth]:
                for index in range(section.first, section.last):
                    keys = self.keys(index)
                    end = depth + len(keys)
                    if at[depth:end] == keys:
                        return Found((), (), index, at[end:])
                    if keys[: size - depth] == at[depth:]:
                        entries.append(index)
        return Found(tuple(sections), tuple(entries), None, ())

    def value(self, index: int) -> Node:
        """The value of the entry `statements[index]`, with all that is in it."""
        return read_value(self.text, self.statements[index].value)


def _statement(text: str, at: int) -> tuple[Statement, int] | None:
    """The statement at `at` and how deep its value nests; None if it cannot be followed."""
    head = _HEAD_RE.match(text, at)
    if head is None:
        return None
    end, depth = head.end(), 0
    if not head["key"]:
        key_end, brackets = end, len(head["table"])
        if text[end - brackets : end] != "]" * brackets:
            return None
    else:
        key_end, brackets = head.end("key"), 0
        measured = _measure(text, end)
        if measured is None:
            return None
        end, depth = measured
    line_end = _LINE_END_RE.match(text, end)
    if line_end is None:
        return None
    return Statement(brackets, at, key_end, head.end(), end, line_end.end()), depth


def _measure(text: str, at: int) -> tuple[int, int] | None:
    """Where the value at `at` ends, and how deep it nests. Not recursive: it stands before the depth limit."""
    if text[at : at + 1] not in ("[", "{"):
        match = _VALUE_RE.match(text, at)
        return (match.end(), 0) if match else None
    depth = deepest = 0
    while True:
        bracket = text[at : at + 1]
        if bracket == "[" or bracket == "{":
            depth += 1
            deepest = max(deepest, depth)
            if depth > MAX_DEPTH:
                return len(text), depth
        elif bracket == "]" or bracket == "}":
            depth -= 1
            if depth == 0:
                return at + 1, deepest
        else:
            return None
        at = _BETWEEN_BRACKETS_RE.match(text, at + 1).end()  # type: ignore[union-attr]  # matches the empty string


def key_parts(raw: str) -> list[str]:
    """The parts of a dotted key as they are spelled."""
    return _KEY_PART_RE.findall(raw)


def split_key(raw: str) -> tuple[str, ...]:
    """The keys that `raw` spells. Raises ValueError where an escape is wrong."""
    if '"' not in raw and "'" not in raw:
        if "." not in raw:
            return (raw.strip(" \t"),)
        return tuple(part.strip(" \t") for part in raw.split("."))
    return tuple(_unquote(part) for part in key_parts(raw))


def _unquote(part: str) -> str:
    if part[0] not in "\"'":
        return part
    if part[0] == '"' and "\\" in part:
        return next(iter(tomllib.loads(f"{part} = 0")))
    return part[1:-1]


def read_value(text: str, at: int) -> Node:
    """The value that starts at `at`. Only for a text that `tomllib` has read."""
    opener = text[at]
    if opener not in "[{":
        match = _VALUE_RE.match(text, at)
        assert match is not None
        return Node("scalar", at, match.end())
    items: list[Item] = []
    closer = "]" if opener == "[" else "}"
    here = _space(text, at + 1)
    while text[here] != closer:
        start = here
        keys: tuple[str, ...] = ()
        if opener == "{":
            key = _KEY_RE.match(text, here)
            assert key is not None
            keys = split_key(key[0])
            here = _space(text, _space(text, key.end()) + 1)
        node = read_value(text, here)
        here = _space(text, node.end)
        comma = here if text[here] == "," else -1
        if comma >= 0:
            here = _space(text, here + 1)
        items.append(Item(keys, start, node, comma))
    return Node("array" if opener == "[" else "table", at, here + 1, tuple(items))


def _space(text: str, at: int) -> int:
    return _SPACE_RE.match(text, at).end()  # type: ignore[union-attr]  # it matches the empty string too


class Inside(NamedTuple):
    """Where a way inside a value leads: the container last seen, and what of it is meant."""

    container: Node
    items: tuple[int, ...]
    """Indexes into the container's items that make up the value; empty: nothing is there."""
    used: int
    """How many steps of the way lead to the container itself."""
    exact: bool
    """Whether one item is the value, so that it has a node of its own."""


def find_inside(node: Node, rest: KeyPath) -> Inside | None:
    """Where `rest` leads below `node`; None where it leads through a scalar, or from one kind into the other."""
    used = 0
    while True:
        way = rest[used:]
        if not way or node.kind == "scalar" or (node.kind == "array") is not isinstance(way[0], int):
            return None
        inner: Item | None = None
        if node.kind == "array":
            index = int(way[0])
            if index >= len(node.items):
                return Inside(node, (), used, False)
            inner, step = node.items[index], 1
            if len(way) == 1:
                return Inside(node, (index,), used, True)
        else:
            for number, item in enumerate(node.items):
                if item.keys == way:
                    return Inside(node, (number,), used, True)
                if item.keys == way[: len(item.keys)]:
                    inner, step = item, len(item.keys)
            if inner is None:
                below = tuple(n for n, item in enumerate(node.items) if item.keys[: len(way)] == way)
                return Inside(node, below, used, False)
        used += step
        node = inner.node
