"""The laws of the formats (design, section 7) on generated TOML: odd keys, trivia everywhere, every spelling.

A plain value is drawn first and then spelled at random: tables as headers, dotted
keys or inline tables, lists of tables as `[[x]]` or inline. The second opinion on
every text we write is tomlkit's.
"""

from __future__ import annotations

import copy
import datetime
import re
import string
import tomllib
from itertools import pairwise
from random import Random
from typing import Any

import pytest
import tomlkit
from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st

from hostconf.errors import EditRefused, FormatError
from hostconf.formats.base import MISSING, Edit, KeyPath, apply_hunks, same_value
from hostconf.formats.toml_ import TomlDocument, parse

KEYS = [
    "a",
    "b",
    "c",
    "name",
    "args",
    "1",
    "on",
    "-",
    "",
    "a b",
    "x.y",
    "#h",
    "k:v",
    "[t]",
    "日本",
    'q"q',
    "it's",
    "C:\\p",
]
WORDS = [
    "",
    "x",
    "a b",
    "#no",
    "[no]",
    'say "hi"',
    "C:\\dir",
    "tab\there",
    "two\nlines",
    "no\n# comment",
    "\n\n[t]\n",
    "値 😀",
    "\x07",
    "{k = 1}",
    "'",
]
COMMENTS = ["#", "# plain", "# it's", '# "open', "# [x]", "# a = 1", "#{", "# ünï", '# """', "# ]]", "#\ttab"]
DATES: list[Any] = [
    datetime.datetime(1979, 5, 27, 7, 32, tzinfo=datetime.UTC),
    datetime.datetime(1979, 5, 27, 0, 32, 0, 999000),
    datetime.date(1979, 5, 27),
    datetime.time(7, 32, 0, 500000),
]
BARE = set(string.ascii_letters + string.digits + "-_")
LAWS = settings(
    max_examples=80,
    deadline=None,
    # Shrinking takes minutes here, and what is drawn is short enough to be read.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def scalar(rnd: Random) -> Any:
    numbers = [0, -1, 1_000, 2**63 - 1, 1.0, -0.5, 6.626e-34, float("inf"), True, False]
    return rnd.choice([rnd.choice(WORDS), rnd.choice(WORDS), rnd.choice(numbers), rnd.choice(DATES)])


def plain(rnd: Random, depth: int = 0) -> Any:
    """A value with up to three levels below it."""
    kind = rnd.random()
    if depth > 2 or kind < 0.5:
        return scalar(rnd)
    if kind < 0.8:
        return table(rnd, depth + 1)
    if kind < 0.9:
        return [table(rnd, depth + 2) for _ in range(rnd.randrange(1, 3))]
    return [plain(rnd, depth + 1) for _ in range(rnd.randrange(4))]


def table(rnd: Random, depth: int) -> dict[str, Any]:
    return {key: plain(rnd, depth) for key in rnd.sample(KEYS, rnd.randrange(0, 5))}


class Spelling:
    """Spells a plain value as TOML, each time another way."""

    def __init__(self, rnd: Random) -> None:
        self.rnd = rnd
        self.lines: list[str] = []
        self.starts: list[int] = []

    def maybe(self, chance: float, text: str) -> str:
        return text if self.rnd.random() > 1 - chance else ""

    def text(self, root: dict[str, Any]) -> str:
        self.body((), root)
        if self.rnd.random() > 0.7 and not any("[[" in self.lines[start] for start in self.starts):
            cuts = [0, *self.starts, len(self.lines)]
            parts = [self.lines[a:b] for a, b in pairwise(cuts)]
            below = parts[1:]
            self.rnd.shuffle(below)
            self.lines = [line for part in (parts[0], *below) for line in part]
        eol = self.rnd.choice(["\n", "\n", "\r\n"])
        text = "\n".join(self.lines) + self.maybe(0.8, "\n")
        return text.replace("\r\n", "\n").replace("\n", eol)

    def trivia(self) -> None:
        while self.rnd.random() > 0.75:
            indent = self.maybe(0.2, "  ")
            self.lines.append(self.rnd.choice(["", "", indent, indent + self.rnd.choice(COMMENTS)]))

    def add(self, line: str) -> None:
        self.trivia()
        self.lines.append(self.maybe(0.1, " \t") + line + self.maybe(0.2, " " + self.rnd.choice(COMMENTS)))

    def header(self, line: str) -> None:
        self.add(line)
        self.starts.append(len(self.lines) - 1)

    def body(self, path: tuple[str, ...], value: dict[str, Any]) -> None:
        below: list[tuple[str, Any]] = []
        for key, item in value.items():
            tables = isinstance(item, list) and item and all(isinstance(part, dict) for part in item)
            way = self.rnd.random()
            if (isinstance(item, dict) or tables) and way < 0.6:
                below.append((key, item))
            elif isinstance(item, dict) and item and way < 0.8:
                self.dotted((key,), item)
            else:
                self.add(f"{self.key(key)}{self.equals()}{self.value(item)}")
        self.rnd.shuffle(below)
        for key, item in below:
            name = (*path, key)
            if isinstance(item, list):
                for part in item:
                    self.header(f"[[{self.name(name)}]]")
                    self.body(name, part)
            else:
                implied = item and all(isinstance(part, dict) for part in item.values()) and self.rnd.random() < 0.5
                if not implied:
                    self.header(f"[{self.name(name)}]")
                    self.body(name, item)
                for inner, part in item.items() if implied else ():
                    self.header(f"[{self.name((*name, inner))}]")
                    self.body((*name, inner), part)
        self.trivia()

    def dotted(self, keys: tuple[str, ...], value: dict[str, Any]) -> None:
        for key, item in value.items():
            if isinstance(item, dict) and item and self.rnd.random() < 0.5:
                self.dotted((*keys, key), item)
            else:
                self.add(f"{self.name((*keys, key))}{self.equals()}{self.value(item)}")

    def equals(self) -> str:
        return self.rnd.choice([" = ", " = ", "=", " =  ", "\t= "])

    def name(self, keys: tuple[str, ...]) -> str:
        return self.rnd.choice([".", ".", " . "]).join(map(self.key, keys))

    def key(self, key: str) -> str:
        if key and set(key) <= BARE and self.rnd.random() < 0.8:
            return key
        if not set(key) & set("'\n\x07") and self.rnd.random() < 0.3:
            return f"'{key}'"
        return self.basic(key)

    def basic(self, text: str) -> str:
        short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
        return '"' + "".join(short.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            return self.inline(value)
        if isinstance(value, list):
            return self.array(value)
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return self.rnd.choice([f"{value}", f"{value:_}", f"{value:#x}" if value >= 0 else f"{value}"])
        if isinstance(value, datetime.datetime):
            return value.isoformat(self.rnd.choice(["T", " "]))
        return repr(value) if isinstance(value, float) else str(value.isoformat())

    def string(self, text: str) -> str:
        way = self.rnd.random()
        if way < 0.2 and not set(text) & set("'\n\x07"):
            return f"'{text}'"
        if way < 0.3 and not set(text) & set("'\x07"):
            return f"'''\n{text}'''"
        if way < 0.4:
            return f'"""{self.maybe(0.5, chr(10))}{self.basic(text)[1:-1]}"""'
        return self.basic(text)

    def inline(self, value: dict[str, Any]) -> str:
        parts: list[str] = []
        for key, item in value.items():
            if isinstance(item, dict) and item and self.rnd.random() < 0.3:
                parts += (f"{self.name((key, inner))}{self.equals()}{self.value(part)}" for inner, part in item.items())
            else:
                parts.append(f"{self.key(key)}{self.equals()}{self.value(item)}")
        pad = self.maybe(0.7, " ")
        return "{" + pad + self.rnd.choice([", ", ",", " , "]).join(parts) + pad + "}"

    def array(self, value: list[Any]) -> str:
        space = self.array_space if self.rnd.random() < 0.4 else lambda: self.maybe(0.3, " ")
        parts = [space() + self.value(item) + space() for item in value]
        return "[" + ",".join(parts) + ("," + space() if parts and self.rnd.random() < 0.3 else "") + space() + "]"

    def array_space(self) -> str:
        comment = self.maybe(0.3, self.rnd.choice(COMMENTS))
        return self.rnd.choice([" ", "\n", "\n  ", f" {comment}\n  ", f"\n {comment}\n"])


@st.composite
def documents(draw: st.DrawFn) -> tuple[Random, TomlDocument]:
    rnd = draw(st.randoms(use_true_random=False))
    value = table(rnd, 0)
    text = ("\ufeff" if rnd.random() < 0.1 else "") + Spelling(rnd).text(value)
    note(text)
    document = parse(text.encode())
    assert same_value(document.get(()), value), "the test spelled it wrong"
    return rnd, document


def places(value: Any, at: KeyPath = ()) -> list[KeyPath]:
    """Every path in the value, the root not counted."""
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for step, item in steps for place in [(*at, step), *places(item, (*at, step))]]


def changed(value: Any, at: KeyPath, new: Any) -> Any:
    """A copy of `value` with `new` at `at`; MISSING takes it out."""
    value = copy.deepcopy(value)
    here = value
    for step in at[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    if new is MISSING:
        del here[at[-1]]
    else:
        here[at[-1]] = new
    return value


def without_hollows(value: Any) -> Any:
    """Without empty tables and lists: TOML cannot tell an implied one from none."""
    if isinstance(value, dict):
        return {k: v for k, v in ((k, without_hollows(v)) for k, v in value.items()) if v not in ({}, [])}
    return [without_hollows(item) for item in value] if isinstance(value, list) else value


def second_opinion(text: str) -> Any:
    return tomlkit.parse(text).unwrap()


def tomlkit_reads(document: TomlDocument) -> bool:
    """Whether tomlkit reads this text as tomllib does: it has faults with tables out of order."""
    try:
        return same_value(second_opinion(document.text), document.get(()))
    except Exception:
        return False


def check(document: TomlDocument, edit: Edit, wanted: Any, *, hollows: bool = False) -> None:
    """Laws 2 and 3, and that new lines end as the others do."""
    text = edit.after.text
    assert edit.before is document
    assert edit.after.to_bytes() == (b"\xef\xbb\xbf" if document.bom else b"") + text.encode()
    assert apply_hunks(document.text, edit.hunks) == text
    back = edit.inverse()
    assert apply_hunks(text, back.hunks) == document.text
    assert back.after is document
    for one, other in zip(edit.hunks, edit.hunks[1:], strict=False):
        assert one.start + len(one.old) < other.start
    found = tomllib.loads(text)
    assert same_value(found, edit.after.get(()))
    if hollows:
        assert same_value(without_hollows(found), without_hollows(wanted))
    else:
        assert same_value(found, wanted)
    if tomlkit_reads(document):
        assert same_value(second_opinion(text), found)
    crlf = document.text.count("\r\n")
    if crlf in (0, document.text.count("\n")):  # all line ends are of one kind
        assert text.count("\r\n") == (text.count("\n") if crlf else 0)
    if text and document.text:
        assert text.endswith("\n") == document.text.endswith("\n")


@LAWS
@given(documents())
def test_reading_and_writing_gives_the_same_bytes(drawn: tuple[Random, TomlDocument]) -> None:
    _, document = drawn
    assert parse(document.to_bytes()).to_bytes() == document.to_bytes()
    for place in places(document.get(())):
        span = document.where(place)
        assert span is not None and 0 <= span.start < span.end <= len(document.text)
        assert document.text.split("\n")[span.line - 1][span.column - 1] == document.text[span.start]


@LAWS
@given(documents())
def test_a_new_entry_is_the_only_change(drawn: tuple[Random, TomlDocument]) -> None:
    rnd, document = drawn
    value = document.get(())
    parent = rnd.choice([(), *(place for place in places(value) if isinstance(document.get(place), dict))])
    at = (*parent, *rnd.sample(KEYS, rnd.choice([1, 1, 1, 2, 3])))
    assume(document.get(at[: len(parent) + 1]) is MISSING)
    new = rnd.choice([scalar(rnd), plain(rnd, 1), table(rnd, 1)])
    edit = document.set(at, new)
    check(document, edit, changed(value, at, new))
    assert all(not hunk.old for hunk in edit.hunks)
    assert not edit.after.set(at, new).changed
    check_taken_out(edit, at)


def check_taken_out(edit: Edit, at: KeyPath) -> None:
    """Taking the entry out again leaves what was there, if not always its blank lines."""
    after = edit.after.delete(at).after
    assert same_value(without_hollows(after.get(())), without_hollows(edit.before.get(())))
    kept = [line.strip() for line in edit.before.text.splitlines() if line.strip()]
    left = iter([line.strip() for line in after.text.splitlines() if line.strip()])
    if "}" not in edit.before.text and "[]" not in edit.before.text:
        assert all(line in left for line in kept)


@LAWS
@given(documents())
def test_a_new_value_is_the_only_change(drawn: tuple[Random, TomlDocument]) -> None:
    rnd, document = drawn
    value = document.get(())
    assume(value)
    at = rnd.choice(places(value))
    new = rnd.choice([scalar(rnd), plain(rnd, 1)])
    try:
        edit = document.set(at, new)
    except EditRefused as problem:
        assert problem.code == "wrong-type" and isinstance(at[-1], int)
        return
    check(document, edit, changed(value, at, new))
    assert not edit.after.set(at, new).changed
    assert same_value(edit.after.set(at, document.get(at)).after.get(()), value)
    moved = document.set(at, new, last=True)
    check(document, moved, changed(value, at, new))
    assert not moved.after.set(at, new, last=True).changed


@LAWS
@given(documents())
def test_what_is_taken_out_is_the_only_change(drawn: tuple[Random, TomlDocument]) -> None:
    rnd, document = drawn
    value = document.get(())
    assume(value)
    at = rnd.choice(places(value))
    edit = document.delete(at)
    check(document, edit, changed(value, at, MISSING), hollows=True)
    assert all(not hunk.new for hunk in edit.hunks)
    if isinstance(at[-1], str):
        assert edit.after.get(at) is MISSING
        assert not edit.after.delete(at).changed


@LAWS
@given(documents())
def test_items_come_and_go_alone(drawn: tuple[Random, TomlDocument]) -> None:
    rnd, document = drawn
    value = document.get(())
    lists = [place for place in places(value) if isinstance(document.get(place), list)]
    assume(lists)
    at = rnd.choice(lists)
    old = document.get(at)
    only_tables = old and all(isinstance(item, dict) for item in old)
    new = [table(rnd, 2) if only_tables else plain(rnd, 2) for _ in range(rnd.randrange(1, 4))]
    edit = document.append(at, new)
    check(document, edit, changed(value, at, old + new))
    assert all(not hunk.old for hunk in edit.hunks)
    assert same_value(edit.after.remove(at, new[::-1]).after.get(at), old)
    goes = [rnd.choice(old) for _ in range(rnd.randrange(3))] if old else []
    left = list(old)
    for item in goes:
        places_of = [index for index, other in enumerate(left) if same_value(other, item)]
        if places_of:
            del left[places_of[-1]]
    check(document, document.remove(at, [*goes, "not there"]), changed(value, at, left), hollows=True)


@LAWS
@given(documents(), st.data())
def test_a_damaged_text_is_read_as_tomllib_reads_it_or_refused_with_its_place(
    drawn: tuple[Random, TomlDocument], data: st.DataObject
) -> None:
    _, document = drawn
    text = document.text
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(at + 2, len(text))))
    text = text[:at] + data.draw(st.sampled_from(["", "", *"\"'[]{}#=.,\n\r\\ \x00a1"])) + text[end:]
    try:
        value = tomllib.loads(text)
    except ValueError:
        with pytest.raises(FormatError) as caught:
            parse(text.encode(), name="x.toml")
        problem = caught.value
        assert problem.code in ("syntax", "duplicate-key") and problem.path == "x.toml"
        lines = re.split(r"\r\n|\n|\r", text)
        assert problem.line is not None and 1 <= problem.line <= len(lines)
        assert problem.column is not None and 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        assert problem.excerpt.count("\n") == 1 and problem.excerpt.endswith("^")
        return
    again = parse(text.encode())
    assert same_value(again.get(()), value) and again.to_bytes() == text.encode()
    edit = again.set(("neu",), 1)
    check(again, edit, {**value, "neu": 1})


def test_the_second_opinion_counts_in_nearly_all_documents() -> None:
    rnd = Random(7)
    agreed = sum(tomlkit_reads(parse(Spelling(rnd).text(table(rnd, 0)).encode())) for _ in range(200))
    assert agreed > 180
