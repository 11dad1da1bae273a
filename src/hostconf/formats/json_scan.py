"""Where things stand in a JSON or JSONC text, and whether it is one.

The C decoder of the standard `json` does the reading: `raw_decode` jumps over a whole
value and tells its end, so Python walks only the containers on the way to an edit.
What the C decoder cannot tell (where exactly an error is, which key stands twice,
what is nested deeper than its stack) is found by `examine`, which is exact and slow.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from json import JSONDecoder
from typing import Any, NamedTuple

from hostconf.formats.base import KeyPath
from hostconf.formats.json_clean import Broken, Clean, match_end

MAX_DEPTH = 1_000
"""Containers inside each other, the root counted."""

MAX_ENTRIES = 200_000
"""Entries of one container that is walked in Python: each costs about 300 bytes and 5 microseconds then."""

# Down to this depth `examine` first tries the C decoder on a container, to jump over what is
# in order. Without the bound a deep file would be read as often as it is deep.
_TRIED_DEPTH = 32

_BLANK = frozenset(" \t\n\r")
_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_STRING_HEAD = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null")
_CLOSER = {"{": "}", "[": "]"}


class _Doubtful(ValueError):
    """The C decoder met what it would let pass: a key twice, or NaN."""


class Entry(NamedTuple):
    """One entry of an object, or one item of an array."""

    key: str | None
    start: int
    """Of the key; of the value in an array."""
    value: int
    end: int
    comma: int
    """The comma behind it, -1 without one."""


class Box(NamedTuple):
    """One object or array with the places of what it holds."""

    kind: str
    start: int
    end: int
    entries: list[Entry]

    def find(self, key: str | int) -> int:
        """The index of the entry: the last one of that key; -1 without one."""
        if isinstance(key, int):
            return key if self.kind == "[" and 0 <= key < len(self.entries) else -1
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index].key == key:
                return index
        return -1


class Duplicate(NamedTuple):
    """A key that stands for the second time in its object."""

    at: KeyPath
    offset: int
    first: int


# ------------------------------------------------------------------ values


def _no_constant(name: str) -> Any:
    raise _Doubtful(name)


def _no_duplicate(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) != len(pairs):
        raise _Doubtful


def _any_int(digits: str) -> int | float:
    """An int; above the 4,300 digits that Python reads a float, which is infinite."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


# Keeps no value: objects become None as soon as they are read, so 10 MB need no 80 MB of dicts.
_JUMP = JSONDecoder(object_pairs_hook=_no_duplicate, parse_int=len, parse_float=len, parse_constant=_no_constant)
# The same without a call into Python for each object, for text whose keys have been looked at.
_HOP = JSONDecoder(object_pairs_hook=len, parse_int=len, parse_float=len, parse_constant=_no_constant)
_VALUE = JSONDecoder(parse_constant=_no_constant)
_SLOW_VALUE = JSONDecoder(parse_int=_any_int, parse_constant=_no_constant)


def value_at(text: str, at: int) -> Any:
    """The plain value that starts at `at` of a text known to be JSON."""
    try:
        return _VALUE.raw_decode(text, at)[0]
    except (RecursionError, ValueError):  # deeper than the stack, or a number of thousands of digits
        return _built(text, at)


def _built(text: str, at: int) -> Any:
    """`value_at` without recursion."""
    stack: list[tuple[Any, str | None]] = []
    key: str | None = None
    while True:
        if text[at] in "{[":
            stack.append(({} if text[at] == "{" else [], key))
            key, at = None, skip_space(text, at + 1)
            if text[at] in "}]":
                value, at = None, at
            elif text[at] == '"' and isinstance(stack[-1][0], dict):
                key, at = _key(text, at)
                continue
            else:
                continue
        else:
            value, at = _SLOW_VALUE.raw_decode(text, at)
            if not stack:
                return value
            _put(stack[-1][0], key, value)
        at = skip_space(text, at)
        while text[at] in "}]":
            value, key = stack.pop()
            if not stack:
                return value
            _put(stack[-1][0], key, value)
            at = skip_space(text, at + 1)
        at = skip_space(text, at + 1)  # behind the comma
        if isinstance(stack[-1][0], dict):
            key, at = _key(text, at)


def _put(container: Any, key: str | None, value: Any) -> None:
    if key is None:
        container.append(value)
    else:
        container[key] = value


def _key(text: str, at: int) -> tuple[str, int]:
    """The key at `at`, and where its value starts."""
    key, end = _VALUE.raw_decode(text, at)
    return key, skip_space(text, skip_space(text, end) + 1)


# ------------------------------------------------------------------ walking


def skip_space(text: str, at: int) -> int:
    """The first offset from `at` on that holds no blank."""
    if text[at : at + 1] not in _BLANK:  # most often: a pattern costs four times as much
        return at
    return match_end(_SPACE, text, at)


def string_end(text: str, at: int) -> int:
    """Where the string that starts at `at` ends."""
    return match_end(_STRING, text, at)


def jump(text: str, at: int) -> int:
    """Where the value at `at` ends, by the C decoder alone.

    Raises:
        ValueError: it is no JSON, or holds a key twice.
        RecursionError: it is deeper than the C decoder reads.
    """
    return _JUMP.raw_decode(text, at)[1]


def hop(text: str, at: int) -> int:
    """Where the value at `at` ends; a key that stands twice is let pass.

    Raises:
        Broken: it is no JSON.
    """
    try:
        return _HOP.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return examine(text, at)[0]


def walk(
    cleaned: Clean,
    start: int,
    value_end: Callable[[str, int], int] = hop,
    *,
    way: KeyPath = (),
    boxes: dict[int, Box] | None = None,
) -> Box:
    """The container that starts at `start`, with all its entries; what they hold is passed over by `value_end`.

    With `boxes` the containers along `way` are walked on the same pass and put there.

    Raises:
        Broken: it is no JSON, or has more entries than are walked.
        ValueError, RecursionError: with `jump` as `value_end`, what `examine` has to look at.
    """
    text = cleaned.text
    kind = text[start]
    closer = _CLOSER[kind]
    entries: list[Entry] = []
    at = skip_space(text, start + 1)
    end = at if text.startswith(closer, at) else -1
    key: str | None = None
    while end < 0:
        value = at
        if kind == "{":
            key, value = _checked_key(text, at)
        if way and way[0] == (len(entries) if key is None else key) and text.startswith(("{", "["), value):
            stop = walk(cleaned, value, value_end, way=way[1:], boxes=boxes).end
        else:
            stop = value_end(text, value)
        comma = skip_space(text, stop)
        if text.startswith(",", comma):
            entries.append(Entry(key, at, value, stop, comma))
            if len(entries) > MAX_ENTRIES:
                raise Broken(f"more than {MAX_ENTRIES:,} entries in one container", start, "too-large")
            at = skip_space(text, comma + 1)
            continue
        if not text.startswith(closer, comma):
            raise Broken(f"a `,` or `{closer}` was expected", comma)
        entries.append(Entry(key, at, value, stop, _blanked_comma(cleaned.commas, stop, comma)))
        end = comma
    if value_end is jump and kind == "{" and len({entry.key for entry in entries}) != len(entries):
        raise _Doubtful
    box = Box(kind, start, end + 1, entries)
    if boxes is not None:
        boxes[start] = box
    return box


def _checked_key(text: str, at: int) -> tuple[str, int]:
    """The key at `at`, and where its value starts."""
    if not text.startswith('"', at):
        raise Broken("a key was expected", at)
    try:
        key, end = _VALUE.raw_decode(text, at)
    except ValueError:
        raise _bad_string(text, at) from None
    colon = skip_space(text, end)
    if not text.startswith(":", colon):
        raise Broken("a `:` was expected", colon)
    return key, skip_space(text, colon + 1)


def _blanked_comma(commas: list[int], start: int, end: int) -> int:
    """The blanked comma between two offsets, -1 without one."""
    index = bisect_left(commas, start)
    return commas[index] if index < len(commas) and commas[index] < end else -1


# ------------------------------------------------------------------ the exact scan


def examine(text: str, at: int) -> tuple[int, list[Duplicate]]:
    """Where the value at `at` ends, and every key in it that stands twice. Without recursion, in Python: slow.

    Raises:
        Broken: it is no JSON, with the place of the first thing wrong.
    """
    duplicates: list[Duplicate] = []
    # One frame a container: bracket, offsets of its keys, and the key or index at work.
    kinds: list[str] = []
    seen: list[dict[str, int]] = []
    path: list[str | int] = []
    while True:
        end = _passed(text, at, len(kinds))
        if end < 0:
            kinds.append(text[at])
            seen.append({})
            path.append(0)
            end = skip_space(text, at + 1)
            if not text.startswith(_CLOSER[text[at]], end):
                at = end
                if kinds[-1] == "{":
                    at = _next_key(text, at, at - 1, seen, path, duplicates)
                continue
        while kinds:  # a value ends at `end`, or an empty container closes there
            at = skip_space(text, end)
            kind = kinds[-1]
            if text.startswith(",", at):
                comma, at = at, skip_space(text, at + 1)
                if kind == "{":
                    at = _next_key(text, at, comma, seen, path, duplicates)
                else:
                    path[-1] = int(path[-1]) + 1
                    if text.startswith("]", at):
                        raise _last_comma(comma)
                break
            if not text.startswith(_CLOSER[kind], at):
                raise unexpected(text, at, f"a `,` or `{_CLOSER[kind]}`")
            kinds.pop()
            seen.pop()
            path.pop()
            end = at + 1
        else:
            return end, duplicates


def _passed(text: str, at: int, depth: int) -> int:
    """The end of the value at `at`, or -1 where it is a container to be entered."""
    first = text[at : at + 1]
    if first in ("{", "["):
        if depth >= MAX_DEPTH:
            raise Broken(f"nested deeper than {MAX_DEPTH:,}", at, "too-deep")
        if 0 < depth < _TRIED_DEPTH:
            try:
                return jump(text, at)
            except (ValueError, RecursionError):
                pass
        return -1
    if first == '"':
        found = _STRING.match(text, at)
        if found is None:
            raise _bad_string(text, at)
        return found.end()
    found = _SCALAR.match(text, at)
    if found is None:
        raise unexpected(text, at, "a value")
    return found.end()


def _next_key(
    text: str, at: int, comma: int, seen: list[dict[str, int]], path: list[str | int], duplicates: list[Duplicate]
) -> int:
    """Note the key at `at`; give where its value starts. `comma` is what stands before it."""
    if not text.startswith('"', at):
        if text.startswith("}", at):
            raise _last_comma(comma)
        raise unexpected(text, at, "a key in double quotes")
    if _STRING.match(text, at) is None:
        raise _bad_string(text, at)
    key, end = _VALUE.raw_decode(text, at)
    path[-1] = key
    first = seen[-1].setdefault(key, at)
    if first != at:
        duplicates.append(Duplicate(tuple(path), at, first))
    colon = skip_space(text, end)
    if not text.startswith(":", colon):
        raise unexpected(text, colon, "a `:`")
    return skip_space(text, colon + 1)


def _bad_string(text: str, at: int) -> Broken:
    """What is wrong with the string that starts at `at`."""
    end = match_end(_STRING_HEAD, text, at)
    wrong = text[end : end + 1]
    if wrong == "\\":
        return Broken("an escape that JSON does not have", end)
    if wrong in ("", "\n", "\r"):
        return Broken("the string is not closed on its line", at)
    return Broken("a control character in a string has to be escaped", end)


def _last_comma(comma: int) -> Broken:
    return Broken("a comma behind the last entry, which strict JSON does not have", comma)


def unexpected(text: str, at: int, expected: str) -> Broken:
    """Something else than `expected` stands at `at`."""
    if at >= len(text):
        return Broken(f"the text ends where {expected} was expected", at)
    if text.startswith(("//", "/*"), at):
        return Broken("a comment, which strict JSON does not have", at)
    word = re.compile(r"[-\w]*").match(text, at)
    name = word.group() if word else ""
    if name in ("NaN", "Infinity", "-Infinity"):
        return Broken(f"`{name}` is no JSON value", at)
    if text[at] == "'":
        return Broken(f"{expected} was expected; JSON has double quotes only", at)
    return Broken(f"{expected} was expected", at)


# ------------------------------------------------------------------ depth

_TO_ROUND = bytes.maketrans(b"{[}]", b"(())")
_NO_BRACKET = bytes(set(range(256)) - set(b'{}[]"'))


def depth_of(data: bytes) -> int:
    """How deep the containers of a text known to be JSON go; at most `MAX_DEPTH` + 1 is counted.

    The C decoder follows 1,000 levels on one Python and 10,000 on another, so the limit
    has to be held here. All of it is bytes methods: 5 ms a MB, and none where there are
    too few brackets.
    """
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        return 0
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Joining two strings that touch (`""`) leaves brackets inside of quotes where they were.
    data = data.translate(_TO_ROUND, _NO_BRACKET).replace(b'""', b"")
    data = b"".join(data.split(b'"')[::2])
    levels = 0
    while data and levels <= MAX_DEPTH:
        data = data.replace(b"()", b"")  # takes exactly the innermost level of each branch away
        levels += 1
    return levels
