"""The laws of the formats (design, section 7) on generated JSON and JSONC."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hostconf.errors import EditRefused, FormatError
from hostconf.formats import format_named
from hostconf.formats.base import MISSING, Document, Edit, apply_hunks, same_value
from hostconf.formats.second import read_second, same_meaning
from tests.formats.json_docs import Case, Step, cases, eols, keys, lookup, marks, steps

FORMATS = pytest.mark.parametrize("format_name", ["json", "jsonc"])


def parsed(format_name: str, data: bytes) -> Document:
    return format_named(format_name).parse(data, name="t")


def carried_out(document: Document, step: Step) -> Edit:
    match step.op:
        case "set-new" | "replace":
            return document.set(step.at, step.argument)
        case "set-last":
            return document.set(step.at, step.argument, last=True)
        case "delete":
            return document.delete(step.at)
        case "append":
            return document.append(step.at, step.argument)
        case "remove":
            return document.remove(step.at, step.argument)
    return Edit(document, document, ())


def ordered(value: Any) -> Any:
    """The value with its key order, for comparison."""
    if isinstance(value, dict):
        return [(key, ordered(item)) for key, item in value.items()]
    return [ordered(item) for item in value] if isinstance(value, list) else value


@FORMATS
@given(data=st.data())
def test_parse_then_write_gives_the_same_bytes(format_name: str, data: st.DataObject) -> None:
    case = data.draw(cases(format_name))
    document = parsed(format_name, case.data)
    assert document.to_bytes() == case.data
    assert same_value(document.get(()), case.value)
    assert same_meaning(read_second(format_name, case.data), case.value)


@FORMATS
@given(data=st.data())
def test_an_edit_changes_itself_alone(format_name: str, data: st.DataObject) -> None:
    case: Case = data.draw(cases(format_name))
    step: Step = data.draw(steps(case.value))
    document = parsed(format_name, case.data)
    edit = carried_out(document, step)
    after = edit.after
    written = after.to_bytes()
    # the value, by three readers, and the order of the keys
    assert same_value(after.get(()), step.expected)
    assert ordered(after.get(())) == ordered(step.expected)
    assert same_value(parsed(format_name, written).get(()), step.expected)
    assert same_meaning(read_second(format_name, written), step.expected)
    # the bytes: only the hunks differ, and they say how to get back
    assert apply_hunks(document.text, edit.hunks) == after.text
    back = edit.inverse()
    assert back.after is document and apply_hunks(after.text, back.hunks) == document.text
    ends = [(hunk.start, hunk.start + len(hunk.old)) for hunk in edit.hunks]
    assert all(a[1] < b[0] for a, b in pairwise(ends))
    assert after.bom == document.bom and eols(after.text) <= (eols(document.text) or {"\n"})
    check_local(case, step, document, edit)


def check_local(case: Case, step: Step, document: Document, edit: Edit) -> None:
    """No more is taken out than the entry and the comments on its lines."""
    lost = marks(document.text) - marks(edit.after.text)
    if step.op in ("set-new", "append", "none"):
        assert not lost and all(not hunk.old.strip() for hunk in edit.hunks)
    elif step.op in ("replace", "set-last"):
        span = document.where(step.at)
        assert span and lost <= marks(document.text[span.start : span.end])
    elif step.op == "delete":
        span = document.where(step.at)
        assert span
        # what may go: comments on its first line, and down to where the next entry, or the bracket, stands
        line = span.start - span.column + 1
        around = lookup(case.value, step.at[:-1])
        inner = list(around) if isinstance(around, dict) else list(range(len(around)))
        rest = inner[inner.index(step.at[-1]) + 1 :]
        stop = document.where((*step.at[:-1], rest[0]) if rest else step.at[:-1])
        assert stop and lost <= marks(document.text[line : stop.start if rest else stop.end])


@FORMATS
@given(data=st.data())
def test_twice_is_once(format_name: str, data: st.DataObject) -> None:
    case = data.draw(cases(format_name))
    step = data.draw(steps(case.value))
    assume(step.op != "append" and not (step.op == "delete" and isinstance(step.at[-1], int)))
    once = carried_out(parsed(format_name, case.data), step).after
    if step.op == "remove":
        left = lookup(step.expected, step.at)
        assume(not any(same_value(item, there) for item in step.argument for there in left))
    assert not carried_out(once, step).changed
    assert not carried_out(parsed(format_name, once.to_bytes()), step).changed


@FORMATS
@given(data=st.data())
def test_edits_in_a_row_and_all_the_way_back(format_name: str, data: st.DataObject) -> None:
    case = data.draw(cases(format_name))
    document = parsed(format_name, case.data)
    done: list[Edit] = []
    value = case.value
    for _ in range(4):
        step = data.draw(steps(value))
        done.append(carried_out(document, step))
        document, value = done[-1].after, step.expected
        assert same_value(document.get(()), value)
    text = document.text
    for edit in reversed(done):
        text = apply_hunks(text, edit.inverse().hunks)
    assert parsed(format_name, case.data).text == text


@FORMATS
@given(data=st.data())
def test_an_entry_put_in_and_taken_out_by_name_leaves_the_rest_as_it_was(format_name: str, data: st.DataObject) -> None:
    # By name alone, without the hunks: a promise for files as people and programs lay them out.
    case = data.draw(cases(format_name, ("tight", "spaced", "lines")))
    assume(isinstance(case.value, dict) and case.value)
    document = parsed(format_name, case.data)
    assume("new" not in case.value)
    back = document.set(("new",), {"a": [1]}).after.delete(("new",)).after
    assert back.to_bytes() == case.data


@FORMATS
@given(data=st.data())
def test_a_changed_byte_is_refused_with_its_place_or_read_as_it_is(format_name: str, data: st.DataObject) -> None:
    case = data.draw(cases(format_name))
    raw = bytearray(case.data)
    at = data.draw(st.integers(0, max(0, len(raw) - 1)))
    byte = data.draw(st.sampled_from(list(b'{}[],:"\\/* \n\r019.eE-tnN\x00\xff')))
    if data.draw(st.booleans()):
        raw[at : at + 1] = [byte]
    else:
        del raw[at:]
    try:
        document = parsed(format_name, bytes(raw))
    except FormatError as error:
        assert error.line and error.column and error.path == "t"
        lines = bytes(raw).decode("utf-8", "replace").count("\n") + bytes(raw).count(b"\r") + 1
        assert 1 <= error.line <= lines
        if format_name == "json" and error.code == "syntax":
            with pytest.raises(ValueError):
                strict(bytes(raw))
        return
    assert document.to_bytes() == bytes(raw)
    if format_name == "json" and raw.strip(b"\xef\xbb\xbf \n\r\t"):
        assert same_value(strict(bytes(raw)), document.get(()))


def strict(data: bytes) -> Any:
    def no(name: str) -> Any:
        raise ValueError(name)

    return json.loads(data.decode("utf-8-sig"), parse_constant=no)


@given(data=st.data())
def test_a_key_that_stands_twice_stops_its_own_edits_alone(data: st.DataObject) -> None:
    names = data.draw(st.lists(keys, min_size=2, max_size=4, unique=True))
    twice = names[0]
    entries = [json.dumps(name) + ": {}" for name in names]
    entries.insert(
        data.draw(st.integers(1, len(entries))), json.dumps(twice, ensure_ascii=data.draw(st.booleans())) + ": 2"
    )
    text = '{\n  "in": {\n' + ",\n".join(entries) + '\n}, "other": [1]\n}\n'
    document = parsed("json", text.encode())
    second = 3 + next(i for i, entry in enumerate(entries) if entry.endswith(": 2"))
    assert [issue.line for issue in document.issues] == [second]
    assert document.issues[0].code == "duplicate-key"
    attempts: list[Callable[[], Edit]] = [
        lambda: document.set(("in", twice), 5),
        lambda: document.set(("in", twice, "x"), 5),
        lambda: document.delete(("in", twice)),
        lambda: document.append(("in", twice), [5]),
        lambda: document.remove(("in", twice), [5]),
    ]
    for attempt in attempts:
        with pytest.raises(EditRefused) as refused:
            attempt()
        assert (refused.value.code, refused.value.line) == ("duplicate-key", second)
    assert document.set(("in", names[1], "x"), 1).after.get(("in", names[1])) == {"x": 1}
    assert document.append(("other",), [2]).after.get(("other",)) == [1, 2]
    assert document.delete(("in",)).after.get(("in",)) is MISSING
    assert document.set(("in", "new"), 1).after.issues[0].line == second
