"""Hard inputs, each edited in every way the corpus lists; and real files, where they lie beside the project.

An edit passes when the value is right (by another reader), nothing outside of it is
touched, no comment is lost but those it may take along, the inverse gives the bytes
back, and doing it twice is doing it once.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostconf.errors import EditRefused, FormatError
from hostconf.formats import format_named
from hostconf.formats.base import MISSING, Document, Edit, KeyPath, apply_hunks, same_value
from hostconf.formats.second import read_second, same_meaning

HERE = Path(__file__).parent / "corpus"
CASES: dict[str, Any] = json.loads((HERE / "cases.json").read_text())
REAL = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"

VALID = [(kind, case) for kind in ("json", "toml") for case in CASES[kind]["ok"]]
BROKEN = [(kind, case) for kind in ("json", "toml") for case in CASES[kind]["bad"]]

TAKEN = {
    "BAD-empty-file.json": "an empty file is an empty config (design, decision 8)",
    "BAD-whitespace-only.json": "a blank file is an empty config (design, decision 8)",
    "BAD-comments-only.jsonc": "nothing but comments: an empty config, the object goes below them",
}
"""Files that the corpus calls broken and that are read on purpose."""


def named(items: list[tuple[str, Any]]) -> list[Any]:
    return [pytest.param(kind, case, id=case["file"]) for kind, case in items]


def format_of(file: str) -> str:
    return Path(file).suffix[1:]


def read(kind: str, file: str) -> tuple[bytes, Document]:
    data = (HERE / kind / file).read_bytes()
    return data, format_named(format_of(file)).parse(data, name=file)


def carried_out(document: Document, op: dict[str, Any]) -> Edit:
    at = tuple(op["path"])
    if op["op"] == "delete":
        return document.delete(at)
    if op["op"] == "append":
        return document.append(at, [op["value"]])
    if op["op"] == "remove":
        return document.delete((*at, op["index"]))
    return document.set(at, op["value"])


def expected(value: Any, op: dict[str, Any]) -> Any:
    """The value after the edit, by plain Python."""
    *way, last = op["path"] if op["op"] not in ("append", "remove") else [*op["path"], op.get("index", -1)]
    holder = value
    for key in way:
        holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
    if op["op"] == "append":
        holder.append(op["value"])
    elif op["op"] in ("delete", "remove"):
        del holder[last]
    else:
        holder[last] = op["value"]
    return value


def without_empty(value: Any) -> Any:
    """TOML: a table that only its sub-tables made is gone with the last of them, so empty and absent are the same."""
    if isinstance(value, dict):
        inner = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item != {}}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def by_another(format_name: str, data: bytes) -> Any:
    if format_name == "toml":
        return tomllib.loads(data.decode("utf-8-sig"))
    return json.loads(data.decode("utf-8-sig")) if format_name == "json" else read_second(format_name, data)


def marks(text: str) -> set[str]:
    return set(re.findall(r"@c\d+", text))


@pytest.mark.parametrize(("kind", "case"), named(VALID))
def test_every_edit(kind: str, case: dict[str, Any]) -> None:
    file = case["file"]
    data, document = read(kind, file)
    assert document.to_bytes() == data
    assert document.issues == ()
    for op in case["ops"]:
        edit = carried_out(document, op)
        after = edit.after
        where = f"{file}: {op['op']} {op['path'][:4]}"
        assert edit.changed, where
        assert document.to_bytes() == data, where

        want = expected(copy_of(document.get(())), op)
        got = by_another(format_of(file), after.to_bytes())
        if kind == "toml" and op["op"] in ("delete", "remove"):
            got, want = without_empty(got), without_empty(want)
        assert same_meaning(got, want), where

        assert apply_hunks(document.text, edit.hunks) == after.text, where
        assert after.to_bytes().startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf"), where
        kinds = set(re.findall(r"\r\n|\r|\n", document.text)) or {"\n"}
        assert set(re.findall(r"\r\n|\r|\n", after.text)) <= kinds, where
        assert marks(document.text) - marks(after.text) <= set(op.get("lose", ())), where
        if op["op"] in ("set_new", "append", "insert_table"):
            assert all(not hunk.old.strip(" \t\r\n") for hunk in edit.hunks), where

        back = edit.inverse()
        assert back.after.to_bytes() == data, where
        assert apply_hunks(after.text, back.hunks) == document.text, where
        once_is_enough(op, after, where)


def copy_of(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return value  # nine hundred levels: made for each call anyway


def once_is_enough(op: dict[str, Any], after: Document, where: str) -> None:
    at: KeyPath = tuple(op["path"])
    if op["op"] in ("append", "remove"):
        return  # by position: twice is two items; what is missing or there decides whoever calls
    assert not carried_out(after, op).changed, where
    again = format_named(after.format).parse(after.to_bytes())
    assert not carried_out(again, op).changed, where
    if op["op"] == "delete":
        assert after.get(at) is MISSING, where


@pytest.mark.parametrize(("kind", "case"), named(VALID))
def test_items_are_found_by_value(kind: str, case: dict[str, Any]) -> None:
    data, document = read(kind, case["file"])
    for op in case["ops"]:
        if op["op"] == "append":
            at = tuple(op["path"])
            after = document.append(at, [op["value"]]).after
            back = after.remove(at, [op["value"]]).after
            assert same_value(back.get(at), document.get(at))
        if op["op"] == "remove":
            at = tuple(op["path"])
            item = document.get((*at, op["index"]))
            edit = document.remove(at, [item, "not there"])
            left = edit.after.get(at, [])
            assert len(left) == len(document.get(at)) - 1
            assert edit.inverse().after.to_bytes() == data


@pytest.mark.parametrize(("kind", "case"), named(BROKEN))
def test_broken_files_are_refused_with_their_line(kind: str, case: dict[str, Any]) -> None:
    file, pos = case["file"], case["pos"]
    try:
        data, document = read(kind, file)
    except FormatError as error:
        assert file not in TAKEN
        assert error.path == file and error.line and error.column and error.excerpt
        assert pos is None or error.line == pos[0]
        return
    if file in TAKEN:
        assert document.get(()) == {} and document.to_bytes() == data
        edit = document.set(("new",), 1)
        assert edit.after.get(()) == {"new": 1} and edit.inverse().after.to_bytes() == data
        return
    (issue,) = document.issues
    assert issue.code == "duplicate-key" and [issue.line, issue.column] == pos
    twice: KeyPath = ("m", "x") if "nested" in file else ("a",)
    with pytest.raises(EditRefused) as refused:
        document.set(twice, "new")
    assert refused.value.code == "duplicate-key" and refused.value.line == pos[0]


def test_the_corpus_is_whole() -> None:
    edits = Counter(op["op"] for _, case in VALID for op in case["ops"])
    totals = (len(VALID), len(BROKEN), sum(edits.values()))
    print(f"{totals[0]} valid files, {totals[1]} broken ones, {totals[2]} edits: {dict(edits)}")
    assert totals == (89, 45, 661)
    assert {case["file"] for _, case in BROKEN} >= TAKEN.keys()


# ------------------------------------------------------------------ files of others: read where they lie, never shown

SUFFIXES = {".json": "json", ".jsonc": "jsonc", ".toml": "toml", ".md": "markdown", ".mdc": "markdown"}


def real_files() -> Iterator[tuple[str, str, bytes]]:
    for path in sorted(REAL.rglob("*")):
        if path.suffix in SUFFIXES and path.parent != REAL:
            yield path.relative_to(REAL).as_posix(), SUFFIXES[path.suffix], path.read_bytes()


def one_real_file(name: str, format_name: str, data: bytes, totals: Counter[str]) -> None:
    """All checks on one file. Messages name the file and nothing from it."""
    try:
        document = format_named(format_name).parse(data, name=name)
    except FormatError as error:
        assert error.line and error.column, f"{name}: a refusal without a line"
        totals[f"{format_name} refused"] += 1
        if format_name == "json":
            one_real_file(name, "jsonc", data, totals)
        return
    totals[f"{format_name} read"] += 1
    assert document.to_bytes() == data, f"{name}: other bytes"
    if document.issues:
        totals[f"{format_name} with issues"] += 1
        assert all(issue.line for issue in document.issues), f"{name}: an issue without a line"
    at: KeyPath = ("hostconf-test",) if format_name == "markdown" else ("hostconf-test", "server")
    value: Any = (
        "two\nlines" if format_name == "markdown" else {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}}
    )
    if isinstance(document.get(()), list):
        edit = document.append((), [value])
    else:
        edit = document.set(at, value)
        assert same_value(edit.after.get(at), value), f"{name}: another value"
        assert not edit.after.set(at, value).changed, f"{name}: twice is not once"
        assert len(edit.after.issues) == len(document.issues), f"{name}: other issues"
    assert edit.after.to_bytes() != data and edit.inverse().after.to_bytes() == data, f"{name}: not restored"
    assert apply_hunks(edit.after.text, edit.inverse().hunks) == document.text, f"{name}: hunks do not lead back"
    if format_name == "markdown":
        assert edit.after.delete(at).after.to_bytes() == data, f"{name}: not restored without the hunks"
    if len(data) < 2_000:
        agreed = same_meaning(read_second(format_name, edit.after.to_bytes()), edit.after.get(()))
        assert agreed, f"{name}: the readers disagree"
        totals[f"{format_name} read twice"] += 1


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files of others (shared/corpus) do not lie beside the project")
def test_real_files() -> None:
    totals: Counter[str] = Counter()
    failed = []
    for name, format_name, data in real_files():
        try:
            one_real_file(name, format_name, data, totals)
        except AssertionError as problem:
            failed.append(str(problem).splitlines()[0])
        except Exception as problem:  # its words could quote the file
            failed.append(f"{name}: {type(problem).__name__}")
    print(dict(sorted(totals.items())))
    assert failed == []
    assert sum(count for what, count in totals.items() if what.endswith(" read")) > 400
