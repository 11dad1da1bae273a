"""Random JSON and JSONC texts whose value is known, and random edits with the value they should lead to.

The value is drawn by hypothesis, so it shrinks; its spelling (layout, line ends,
escapes, numbers, comments at every gap) by a `Random` from a drawn seed. Comments are
numbered `@c1` ... so that a test can tell which of them an edit lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from hostconf.formats.base import KeyPath

KEYS = [
    "a",
    "b",
    "mcp",
    "",
    "a b",
    "x.y",
    "#h",
    "k:v",
    "~",
    "/home/u/p",
    "C:\\p",
    'q"q',
    "日本",
    "//",
    "/*",
    "é",
    "\t",
    "\u2028",
]
WORDS = [
    "",
    "x",
    "https://a//b/*c*/",
    "// no",
    "/* no",
    "*/",
    'say "hi"',
    "a,]",
    ",}",
    "tab\t",
    "two\nlines",
    "😀",
    "\x7f",
    "\\",
]
NUMBERS = [
    "0",
    "-0",
    "1",
    "1.0",
    "1.10",
    "1E+5",
    "1e400",
    "-1E400",
    "0.10e-7",
    "9007199254740993",
    "123456789012345678901234567890",
]


LAYOUTS = ("tight", "spaced", "lines", "lines", "lines", "wild")


class Spelled(str):
    """A number in the spelling it has in the text; its value is what Python reads."""


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(NUMBERS).map(Spelled),
    st.sampled_from(WORDS),
    st.text(max_size=6),
)
keys = st.one_of(st.sampled_from(KEYS), st.text(max_size=4))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
roots = st.one_of(
    st.dictionaries(keys, values, max_size=5), st.dictionaries(keys, values, max_size=5), st.lists(values, max_size=4)
)


class Case(NamedTuple):
    """A text with its value."""

    format: str
    data: bytes
    value: Any


@st.composite
def cases(draw: st.DrawFn, format: str, layouts: Sequence[str] = LAYOUTS) -> Case:
    """A text of that format."""
    root = draw(roots)
    writer = _Writer(Random(draw(st.integers(0, 2**32))), format == "jsonc", layouts)
    return Case(format, writer.document(root), plain(root))


def plain(value: Any) -> Any:
    """The value as a reader gives it."""
    if isinstance(value, Spelled):
        return json.loads(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


class _Writer:
    def __init__(self, rng: Random, comments: bool, layouts: Sequence[str]) -> None:
        self.rng = rng
        self.comments = comments and rng.random() < 0.8
        self.last_commas = comments and rng.random() < 0.5
        self.layout = rng.choice(layouts)
        self.unit = rng.choice(["  ", "    ", "\t", " "])
        self.eols = rng.choice([["\n"], ["\n"], ["\r\n"], ["\n", "\r\n"]])
        self.colon = ":" if self.layout == "tight" else rng.choice([": ", ": ", ":", " : "])
        self.leading = self.layout == "lines" and rng.random() < 0.15
        self.count = 0

    def document(self, root: Any) -> bytes:
        rng = self.rng
        head = self.gap(0) if self.layout == "wild" or rng.random() < 0.2 else ""
        tail = rng.choice(["", "\n", "\n\n"]).replace("\n", self.eols[0])
        text = head + self.value(root, 0) + (self.comment(False) if rng.random() < 0.2 else "") + tail
        return (b"\xef\xbb\xbf" if rng.random() < 0.15 else b"") + text.encode()

    def eol(self) -> str:
        return self.rng.choice(self.eols)

    def comment(self, line: bool) -> str:
        """A comment, where comments are allowed: to the end of the line, or in a block."""
        if not self.comments:
            return ""
        self.count += 1
        text = self.rng.choice(["x", '"', "{", "]", ",", "// ", "/", "*", '"a": 1,', "'", "é"])
        if line:
            return f" // {text} @c{self.count}"
        inner = self.rng.choice([text, text, f"{text}{self.eol()} * y"])
        return f"/* {inner} @c{self.count} */"

    def gap(self, depth: int) -> str:
        """Anything that may stand between two tokens."""
        parts = []
        for _ in range(self.rng.randrange(3)):
            kind = self.rng.randrange(5)
            if kind == 0:
                parts.append(self.eol() + self.unit * self.rng.randrange(depth + 2))
            elif kind == 1:
                parts.append(self.rng.choice([" ", "\t", "  "]))
            elif kind == 2 and self.comments:
                parts.append(self.comment(False))
            elif kind == 3 and self.comments:
                parts.append(self.comment(True) + self.eol())
        return "".join(parts)

    def string(self, text: str) -> str:
        if self.rng.random() < 0.3:
            return json.dumps(text)
        quoted = json.dumps(text, ensure_ascii=False)
        if self.rng.random() < 0.1 and text[:1].isalpha() and text[0].isascii():
            quoted = f'"\\u{ord(text[0]):04x}{quoted[2:]}'
        return quoted.replace("/", "\\/") if self.rng.random() < 0.1 else quoted

    def value(self, value: Any, depth: int) -> str:
        if isinstance(value, Spelled):
            return str(value)
        if isinstance(value, str):
            return self.string(value)
        if not isinstance(value, (dict, list)):
            return json.dumps(value)
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        entries = []
        for key, item in pairs:
            wild = self.layout == "wild"
            colon = self.gap(depth) + ":" + self.gap(depth) if wild else self.colon
            entries.append(("" if key is None else self.string(key) + colon) + self.value(item, depth + 1))
        return self.container("{}" if isinstance(value, dict) else "[]", entries, depth)

    def container(self, brackets: str, entries: list[str], depth: int) -> str:
        rng = self.rng
        layout = self.layout
        if layout == "lines" and rng.random() < 0.25 and "//" not in "".join(entries):
            layout = "spaced"
        last_comma = "," if self.last_commas and entries and rng.random() < 0.7 else ""
        if layout == "wild":
            pieces = (self.gap(depth) + entry + self.gap(depth) for entry in entries)
            return brackets[0] + ",".join(pieces) + last_comma + self.gap(depth) + brackets[1]
        if layout == "tight":
            return brackets[0] + ",".join(entries) + last_comma + brackets[1]
        if layout == "spaced":
            pad = rng.choice(["", " "]) if entries else rng.choice(["", "", " "])
            return brackets[0] + pad + ", ".join(entries) + last_comma + pad + brackets[1]
        if not entries:
            return brackets if rng.random() < 0.7 else brackets[0] + self.eol() + self.unit * depth + brackets[1]
        return self.on_lines(brackets, entries, last_comma, depth)

    def on_lines(self, brackets: str, entries: list[str], last_comma: str, depth: int) -> str:
        rng = self.rng
        indent = self.unit * (depth + 1)
        out = brackets[0] + (self.comment(True) if rng.random() < 0.1 else "")
        for i, entry in enumerate(entries):
            more = i + 1 < len(entries)
            if rng.random() < 0.15:
                out += self.eol()
            if self.comments and rng.random() < 0.2:
                out += self.eol() + indent + (self.comment(True).strip() if rng.random() < 0.5 else self.comment(False))
            comma = "," if more else last_comma
            if self.leading:
                out += self.eol() + indent + (", " if i else "") + entry + ("" if more else last_comma)
            else:
                out += self.eol() + indent + (self.comment(False) + " " if rng.random() < 0.05 else "") + entry
                out += (self.comment(False) if rng.random() < 0.05 else "") + comma
            if rng.random() < 0.2:
                out += self.comment(True)
        if self.comments and rng.random() < 0.1:
            out += self.eol() + indent + self.comment(True).strip()
        return out + self.eol() + self.unit * depth + brackets[1]


# ------------------------------------------------------------------ edits


class Step(NamedTuple):
    """One edit, and the value that it should lead to."""

    op: str
    at: KeyPath
    argument: Any
    expected: Any


NEW = [
    1,
    2.5,
    "v // w",
    None,
    True,
    "\ud800",
    {},
    [],
    ["x", "y"],
    {"command": "npx", "args": ["-y", "p"], "env": {"K": "é"}},
]


def paths(value: Any, at: KeyPath = ()) -> list[KeyPath]:
    """Every place in the value."""
    out = [at]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        out += paths(item, (*at, key))
    return out


def lookup(value: Any, at: KeyPath) -> Any:
    """What stands at a place that is there."""
    for key in at:
        value = value[key]
    return value


@st.composite
def steps(draw: st.DrawFn, value: Any) -> Step:
    """An edit that fits the value."""
    everywhere = paths(value)
    tables = [at for at in everywhere if isinstance(lookup(value, at), dict)]
    arrays = [at for at in everywhere if isinstance(lookup(value, at), list)]
    inner = [at for at in everywhere if at]
    options = ["set-new"] * bool(tables) + ["set-last"] * bool(tables)
    options += ["replace", "delete", "delete"] if inner else []
    options += ["append", "remove"] if arrays else []
    op = draw(st.sampled_from(options))
    new = draw(st.sampled_from(NEW))
    after = plain(value)
    if op in ("replace", "delete"):
        at = draw(st.sampled_from(inner))
        parent = lookup(after, at[:-1])
        if op == "replace":
            parent[at[-1]] = plain(new)
        else:
            del parent[at[-1]]
        return Step(op, at, new, after)
    if op in ("append", "remove"):
        at = draw(st.sampled_from(arrays))
        array = lookup(after, at)
        if op == "append":
            items = draw(st.lists(st.sampled_from(NEW), min_size=1, max_size=2))
            array.extend(plain(items))
            return Step(op, at, items, after)
        items = draw(st.lists(st.sampled_from(array), max_size=2)) if array else []
        for item in items:
            _drop(array, item)
        return Step(op, at, items, after)
    at = draw(st.sampled_from(tables))
    table = lookup(after, at)
    if op == "set-last" and table:
        key = draw(st.sampled_from(list(table)))
        argument = draw(st.sampled_from([table[key], new]))
        del table[key]
        table[key] = plain(argument)
        return Step(op, (*at, key), argument, after)
    way = ["new"] if draw(st.booleans()) else ["new", "way"]
    table["new"] = plain(new) if len(way) == 1 else {"way": plain(new)}
    return Step("set-new", (*at, *way), new, after) if "new" not in lookup(value, at) else Step("none", at, None, value)


def _drop(array: list[Any], item: Any) -> None:
    from hostconf.formats.base import same_value

    for i in range(len(array) - 1, -1, -1):
        if same_value(array[i], item):
            del array[i]
            return


def marks(text: str) -> set[str]:
    """The numbered comments of a text."""
    return set(re.findall(r"@c\d+", text))


def eols(text: str) -> set[str]:
    """The kinds of line ends in a text."""
    return set(re.findall(r"\r\n|\n|\r", text))
