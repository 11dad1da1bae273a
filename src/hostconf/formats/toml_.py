"""TOML: `tomllib` says what the text means, the scan where it stands, and edits are spans cut from it.

After every edit the new text is read again and has to mean the old value with this
one edit; else the edit is refused. What is written is TOML 1.0.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from hostconf.errors import EditRefused, FormatError
from hostconf.formats.base import MISSING, Edit, KeyPath, Span, same_value
from hostconf.formats.text import Source, decode
from hostconf.formats.toml_cut import cut
from hostconf.formats.toml_draft import Draft
from hostconf.formats.toml_edit import append, insert, move_last, node_at, replace
from hostconf.formats.toml_scan import MAX_DEPTH, Layout, find_inside
from hostconf.formats.toml_write import check_key, checked

MAX_BYTES = 16 * 1024 * 1024
"""The largest TOML file that is read."""

_LONG_NUMBER_RE = re.compile(r"[0-9][0-9_]{4000,}")
_PLACE_RE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def parse(data: bytes, *, name: str = "<config>") -> TomlDocument:
    """The document that `data` holds; no bytes, or nothing but comments, is an empty one.

    Raises:
        FormatError: `syntax`, `duplicate-key`, `not-utf8`, `too-deep`, `too-large`, with the place.
    """
    return TomlDocument(decode(data, name=name, limit=MAX_BYTES))


class TomlDocument:
    """A TOML file. Implements `Document`; see there for what each method gives."""

    __slots__ = ("_layout", "_source", "_value", "bom", "issues", "name", "text")

    format: str = "toml"

    def __init__(self, source: Source) -> None:
        """Raises FormatError if the text is not TOML 1.0."""
        self._source = source
        self.text = source.text
        self.bom = source.bom
        self.name = source.name
        self.issues: tuple[FormatError, ...] = ()
        """Always empty: what is odd in TOML, as a duplicate key, is an error for every reader."""
        self._layout = Layout(source.text)
        self._value = _read(source, self._layout)

    def to_bytes(self) -> bytes:
        """The bytes that were parsed."""
        return self._source.encode()

    def get(self, at: KeyPath, default: Any = MISSING) -> Any:
        """The plain value at `at`, else `default`. Not to be changed."""
        return _walk(self._value, at, default)

    def where(self, at: KeyPath) -> Span | None:
        """The entry at `at`, key included. Of a table its header and keys, else the first line that makes it."""
        if not at:
            return self._source.span(0, len(self.text))
        found = self._layout.find(at)
        statements = self._layout.statements
        if found.owner is not None:
            owner = statements[found.owner]
            if not found.rest:
                return self._source.span(owner.start, owner.end)
            inside = find_inside(self._layout.value(found.owner), found.rest)
            if inside is None or not inside.items:
                return None
            item = inside.container.items[inside.items[0]]
            return self._source.span(item.start, item.node.end)
        home = next((section for section in found.sections if section.path == at), None)
        if home is None and found.entries:
            entry = statements[found.entries[0]]
            return self._source.span(entry.start, entry.end)
        for section in (home, *found.sections):
            if section is not None:
                return self._source.span(statements[section.header].start, statements[section.last - 1].end)
        return None

    def set(self, at: KeyPath, value: Any, *, last: bool = False) -> Edit:
        """Replace the value at `at`, or add it, its missing parents made on the way.

        With `last` the entry becomes the last key of its section, or its section the
        last among its siblings: a key behind all tables would be a key of the last one.
        A key takes the comment on its line along, a table that has to move does not.

        Raises:
            EditRefused: `wrong-type` if the way leads through something that is no table or TOML cannot
                say the value, `not-found` for an index out of range, `would-change-other`.
        """
        value = checked(value)
        old = self._way(at)
        if old is MISSING:
            if isinstance(at[-1], int):
                return self.append(at[:-1], [value])
            return self._edit(at, lambda draft: insert(draft, at, value), _with(self._value, at, value))

        def act(draft: Draft) -> None:
            replace(draft, at, old, value)
            if last and isinstance(at[-1], str):
                move_last(draft, at, value)

        return self._edit(at, act, _with(self._value, at, value))

    def delete(self, at: KeyPath) -> Edit:
        """Take the entry or item at `at` out, with the comment on its own line.

        Nothing there: nothing changes. Parents stay where they have a line of their
        own; one that is only implied by what goes is gone with it.
        """
        if not at or _walk(self._value, at, MISSING) is MISSING:
            return Edit(self, self, ())
        return self._edit(at, lambda draft: cut(draft, at), _without(self._value, at), implied=True)

    def append(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Put `items` behind the array at `at`; a missing array is made.

        Raises:
            EditRefused: as `set`; also for an item that is no table, in an array of tables.
        """
        new = checked(list(items))
        old = self._way(at)
        if not new:
            return Edit(self, self, ())
        if old is MISSING:
            return self.set(at, new)
        if not isinstance(old, list):
            raise self._refusal("this is no array", at, "wrong-type")
        tables = node_at(Draft(self.text, self._layout), at) is None
        if tables and not all(isinstance(item, dict) for item in new):
            raise self._refusal("an array of tables holds nothing but tables", at, "wrong-type")
        return self._edit(at, lambda draft: append(draft, at, new), _with(self._value, at, old + new))

    def remove(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Take out of the array at `at` the last item equal to each of `items`; what is not there is passed over.

        Raises:
            EditRefused: `wrong-type` if something else than an array stands there.
        """
        old = self._way(at)
        if old is MISSING:
            return Edit(self, self, ())
        if not isinstance(old, list):
            raise self._refusal("this is no array", at, "wrong-type")
        left = list(range(len(old)))
        for item in items:
            gone = next((index for index in reversed(left) if same_value(old[index], item)), None)
            if gone is not None:
                left.remove(gone)
        goes = [index for index in reversed(range(len(old))) if index not in set(left)]

        def act(draft: Draft) -> None:
            for index in goes:
                cut(draft, (*at, index))

        return self._edit((*at, 0), act, _with(self._value, at, [old[index] for index in left]), implied=True)

    def _way(self, at: KeyPath) -> Any:
        """The value at `at`, or MISSING where it could be added."""
        if not at:
            raise EditRefused("the root of a TOML file cannot be replaced", code="wrong-type", path=self.name)
        here: Any = self._value
        for depth, step in enumerate(at):
            if isinstance(here, list) and isinstance(step, int):
                if 0 <= step < len(here):
                    here = here[step]
                    continue
                if step == len(here) and depth == len(at) - 1:
                    return MISSING
                raise self._refusal(f"there is no item {step}", at[:depth], "not-found")
            if isinstance(here, list) or not isinstance(here, dict) or isinstance(step, int):
                kind = "array" if isinstance(step, int) else "table"
                raise self._refusal(f"this is no {kind}", at[:depth], "wrong-type")
            if step not in here:
                if any(isinstance(key, int) for key in at[depth:]):
                    raise self._refusal("there is no such array", at[:depth], "not-found")
                for key in at[depth:]:
                    check_key(key)
                return MISSING
            here = here[step]
        return here

    def _edit(self, at: KeyPath, act: Callable[[Draft], None], wanted: Any, *, implied: bool = False) -> Edit:
        """Carry `act` out, and make sure that it led to the value `wanted`.

        With `implied`, empty parents of `at` may be gone, too: nothing in the text stood for them.
        """
        draft = Draft(self.text, self._layout)
        act(draft)
        if not draft.hunks:
            return Edit(self, self, ())
        source = self._source._replace(text=draft.text)
        try:
            if len(source.encode()) > MAX_BYTES:
                raise FormatError("the file would become too large", code="too-large")
            after = TomlDocument(source)
        except FormatError as problem:
            raise self._refusal(f"the edit would break the file: {problem.message}", at) from problem
        while not same_value(after._value, wanted):
            parent, at = at[:-1], at[:-1]
            if not implied or not at or _walk(wanted, parent, MISSING) not in ({}, []):
                raise self._refusal("the edit would change more than itself", at)
            wanted = _without(wanted, parent)
        return Edit(self, after, draft.hunks)

    def _refusal(self, message: str, at: KeyPath, code: str = "would-change-other") -> EditRefused:
        for size in range(len(at), -1, -1):
            if span := self.where(at[:size]):
                return self._source.refusal(message, span.start, code=code)
        raise AssertionError("the root is always somewhere")


# ---------------------------------------------------------------- values


def _walk(value: Any, at: KeyPath, default: Any) -> Any:
    for step in at:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step, MISSING)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return default
        if value is MISSING:
            return default
    return value


def _with(value: Any, at: KeyPath, new: Any) -> Any:
    """`value` with `new` at `at`; copied along the way only."""
    if not at:
        return new
    step: Any = at[0]
    copy: Any = value.copy() if isinstance(value, (dict, list)) else {}
    copy[step] = _with(_walk(copy, at[:1], MISSING), at[1:], new)
    return copy


def _without(value: Any, at: KeyPath) -> Any:
    copy = value.copy()
    if len(at) == 1:
        del copy[at[0]]
    else:
        copy[at[0]] = _without(copy[at[0]], at[1:])
    return copy


# ---------------------------------------------------------------- reading and its errors


def _read(source: Source, layout: Layout) -> dict[str, Any]:
    if layout.too_deep is not None:
        raise source.error(f"nested more than {MAX_DEPTH} deep", layout.too_deep, code="too-deep")
    try:
        value = tomllib.loads(source.text)
    except RecursionError:
        raise source.error("nested too deep", layout.stopped or 0, code="too-deep") from None
    except ValueError as problem:
        raise _located(source, layout, str(problem)) from None
    if layout.stopped is not None:
        raise source.error("this statement cannot be followed", layout.stopped)
    return value


def _located(source: Source, layout: Layout, message: str) -> FormatError:
    """The error of `tomllib` with its place.

    A key or table that is there already is reported by it at the end of the statement,
    what is not closed at the end of the text; here at the start of the statement.
    """
    place = _PLACE_RE.search(message)
    if place is None:  # int() itself gave up
        long_number = _LONG_NUMBER_RE.search(source.text)
        return source.error("a number with too many digits", long_number.start() if long_number else 0)
    message = message[: place.start()]
    starts = [statement.start for statement in layout.statements]
    if layout.stopped is not None:
        starts.append(layout.stopped)
    if place[1] is None:
        offset = starts[-1] if starts else len(source.text)
    else:
        offset = _offset(source.text, int(place[1]), int(place[2]))
    index = max(bisect_right(starts, offset) - 1, 0)
    if message.startswith(("Cannot ", "Duplicate ")) and starts:
        known = index < len(layout.statements) and not message.startswith("Duplicate")
        hint = _first_place(source, layout, index) if known else ""
        return source.error("this key or table is there already", starts[index], code="duplicate-key", hint=hint)
    hint = ""
    if message == "Illegal character '\\n'":
        message = "this string is not closed on its line"
    elif message.startswith(("Unescaped", "Invalid hex", "Escaped")):
        hint = "In double quotes a backslash starts an escape; a path can stand in single quotes"
    elif layout.stopped is None and source.text[offset : offset + 1] in ("\n", "\r", "}", "#"):
        hint = "A line break, or a comma before `}`, in an inline table is TOML 1.1; most readers know 1.0"
    elif layout.stopped is not None and index == len(starts) - 1 and "\n" in source.text[starts[index] : offset]:
        hint = f"The statement starts in line {source.position(starts[index])[0]}"
    return source.error(message[:1].lower() + message[1:], offset, hint=hint)


def _offset(text: str, line: int, column: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    return at + column - 1


def _first_place(source: Source, layout: Layout, index: int) -> str:
    """Where that which `statements[index]` defines again was defined first, as a hint."""
    section = next(s for s in reversed(layout.sections) if s.header <= index)
    try:
        at = section.path if section.header == index else section.path + layout.keys(index)
        for size in range(len(at), 0, -1):
            found = layout.find(at[:size])
            first = [s.header for s in found.sections] + list(found.entries)
            first += [] if found.owner is None else [found.owner]
            if first and min(first) < index:
                return f"First in line {source.position(layout.statements[min(first)].start)[0]}"
    except ValueError:
        pass  # a wrong escape in a key further down
    return ""
