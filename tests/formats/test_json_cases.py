"""JSON and JSONC by example: places, styles, refusals, limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostconf.errors import EditRefused, FormatError
from hostconf.formats import json_edit, json_scan
from hostconf.formats.base import MISSING, Document, Edit, Hunk, apply_hunks
from hostconf.formats.json_ import JsonDocument, parse_json, parse_jsonc
from hostconf.formats.text import MAX_BYTES


def strict(text: str) -> JsonDocument:
    return parse_json(text.encode(), name="t.json")


def loose(text: str) -> JsonDocument:
    return parse_jsonc(text.encode(), name="t.jsonc")


def checked(document: Document, edit: Edit) -> str:
    """The new text, once the way back is proved."""
    assert apply_hunks(edit.after.text, edit.inverse().hunks) == document.text
    assert edit.inverse().after.to_bytes() == document.to_bytes()
    return edit.after.text


# ------------------------------------------------------------------ empty files


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b'{\n  "a": {\n    "b": 1\n  }\n}\n'),
        (b" \n\n", b'{\n  "a": {\n    "b": 1\n  }\n}\n'),
        (b"\r\n", b'{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'),
        (b"\xef\xbb\xbf", b'\xef\xbb\xbf{\n  "a": {\n    "b": 1\n  }\n}\n'),
        (b"{}\n", b'{\n  "a": {\n    "b": 1\n  }\n}\n'),
    ],
)
def test_an_empty_file_is_an_empty_config(before: bytes, after: bytes) -> None:
    for parse in (parse_json, parse_jsonc):
        document = parse(before)
        assert document.get(()) == {} and document.to_bytes() == before and document.issues == ()
        assert document.get(("a",)) is MISSING and document.where(("a",)) is None
        edit = document.set(("a", "b"), 1)
        assert edit.after.to_bytes() == after
        assert edit.inverse().after.to_bytes() == before
        checked(document, edit)
        assert not document.delete(("a",)).changed and not document.remove(("a",), [1]).changed
        assert document.append(("l",), ["x"]).after.get(()) == {"l": ["x"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("// c\n", '// c\n{\n  "a": 1\n}\n'),
        ("// c", '// c\n{\n  "a": 1\n}'),
        ("/* c */\r\n\r\n", '/* c */\r\n\r\n{\r\n  "a": 1\r\n}\r\n'),
    ],
)
def test_comments_alone_stay_above_the_first_entry(before: str, after: str) -> None:
    document = loose(before)
    assert document.get(()) == {}
    assert checked(document, document.set(("a",), 1)) == after
    with pytest.raises(FormatError):
        strict(before)


# ------------------------------------------------------------------ last

RULES = (
    '{\n  "permission": {\n    "web_*": "deny", // ours @c1\n    // general @c2\n    "*": "ask" // all @c3\n  }\n}\n'
)


def test_last_moves_an_entry_with_the_comment_on_its_line() -> None:
    document = loose(RULES)
    at = ("permission", "web_*")
    edit = document.set(at, "deny", last=True)
    assert checked(document, edit) == (
        '{\n  "permission": {\n    // general @c2\n    "*": "ask", // all @c3\n'
        '    "web_*": "deny" // ours @c1\n  }\n}\n'
    )
    assert not edit.after.set(at, "deny", last=True).changed
    assert len(edit.hunks) == 3
    assert checked(document, document.set(at, "allow", last=True)).endswith('"web_*": "allow" // ours @c1\n  }\n}\n')


def test_last_leaves_a_comment_that_cannot_move() -> None:
    document = loose('{ "a": 1, /* about a @c1 */ "b": 2 }\n')
    assert checked(document, document.set(("a",), 1, last=True)) == '{ /* about a @c1 */ "b": 2, "a": 1 }\n'
    document = loose('{\n  "a": 1, // about a @c1\n  "b": 2 }\n')
    moved = checked(document, document.set(("a",), 3, last=True))
    assert "// about a @c1\n" in moved and json.loads(moved.replace("// about a @c1", "")) == {"b": 2, "a": 3}


def test_last_never_lets_a_moved_comment_run_into_the_bracket() -> None:
    for text in (
        '{\n  "a": 1 // @c1\n  , // @c2\n  "b": 2 // @c3\n  , }',
        '{\n  "z": 0\n  , "a": 1, // @c1\n  "b": 2\n}',
        '{\n  "a": 1, // @c1\n  "b": 2 /* @c2\n */ }',
    ):
        document = loose(text)
        moved = checked(document, document.set(("a",), 1, last=True))
        assert list(loose(moved).get(()))[-1] == "a"
        assert all(moved.count(f"@c{number}") == text.count(f"@c{number}") for number in (1, 2, 3))


def test_last_keeps_the_spelling_of_what_it_moves() -> None:
    document = strict('{"x": {"n": 1E+5, "\\u0061": [1.0,2]}, "y": 1e400,"z":0}')
    assert checked(document, document.set(("x",), {"n": 1e5, "a": [1.0, 2]}, last=True)) == (
        '{"y": 1e400,"z":0,"x": {"n": 1E+5, "\\u0061": [1.0,2]}}'
    )
    assert checked(document, document.set(("y",), float("inf"), last=True)).endswith('"z":0,"y": 1e400}')


def test_last_on_new_and_on_last_entries_is_an_ordinary_set() -> None:
    document = strict('{\n  "a": 1,\n  "b": 2\n}\n')
    assert checked(document, document.set(("c",), 3, last=True)) == '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'
    assert checked(document, document.set(("b",), 3, last=True)) == '{\n  "a": 1,\n  "b": 3\n}\n'
    assert not document.set(("b",), 2, last=True).changed


# ------------------------------------------------------------------ values and places


def test_numbers_keep_their_spelling_and_their_type() -> None:
    text = '{"a": 1E400, "b": 9007199254740993, "c": 1.0, "d": -0, "e": 0.10e-7, "f": ' + "9" * 5000 + "}"
    document = strict(text)
    assert checked(document, document.set(("new",), 1)) == text[:-1] + ', "new": 1}'
    assert document.get(("b",)) == 9007199254740993 and document.get(("a",)) == float("inf")
    assert document.get(("f",)) == float("inf")  # longer than Python reads; only its spelling counts
    assert not document.set(("c",), 1.0).changed
    assert document.set(("c",), 1).changed and document.set(("c",), True).changed
    assert document.set(("b",), 9007199254740992).changed


def test_strings_are_written_so_that_utf8_can_hold_them() -> None:
    document = strict("{}")
    edit = document.set(("k\ud800",), 'é "\\\n\u2028😀\udc00')
    assert json.loads(edit.after.to_bytes()) == {"k\ud800": 'é "\\\n\u2028😀\udc00'}
    assert "é" in edit.after.text and "\\ud800" in edit.after.text


def test_where_an_entry_stands() -> None:
    document = loose('\ufeff// x\n{\n\t"a": [1,\n  {"b": 2}] }')
    span = document.where(("a", 1, "b"))
    assert span and (span.line, span.column, document.text[span.start : span.end]) == (4, 4, '"b": 2')
    entry, root = document.where(("a",)), document.where(())
    assert entry and (entry.line, entry.column) == (3, 2)
    assert root and (root.line, root.column) == (2, 1)
    for absent in (("z",), ("a", 7), ("a", -1), ("a", "b"), ("a", 0, "x")):
        assert document.where(absent) is None and document.get(absent) is MISSING and document.get(absent, 5) == 5
    assert document.get(("a", 1)) == {"b": 2}


def test_arrays_at_the_root() -> None:
    document = strict('[\n  {"a": 1}\n]\n')
    assert checked(document, document.append((), [{"a": 2}])) == '[\n  {"a": 1},\n  {"a": 2}\n]\n'
    assert checked(document, document.set((1,), {"b": [1]})) == '[\n  {"a": 1},\n  {"b": [1]}\n]\n'
    assert checked(document, document.remove((), [{"a": 1}])) == "[]\n"
    assert checked(document, document.set((0, "a"), "x")) == '[\n  {"a": "x"}\n]\n'


def test_the_root_can_be_replaced() -> None:
    document = strict('{"a": 1}\n')
    assert checked(document, document.set((), {"b": 2})) == '{\n  "b": 2\n}\n'
    assert not document.set((), {"a": 1}).changed
    for value in (1, "x", None):
        with pytest.raises(EditRefused):
            document.set((), value)
    with pytest.raises(EditRefused):
        document.delete(())


def test_remove_takes_the_last_of_equal_items_for_each() -> None:
    document = loose('{"l": [1, /* @c1 */ 1.0, 1, "1", true, 1]}')
    assert checked(document, document.remove(("l",), [1, 1, 5])) == '{"l": [1, /* @c1 */ 1.0, "1", true]}'
    assert checked(document, document.remove(("l",), [1, 1.0, 1, "1", True, 1])) == '{"l": [ /* @c1 */ ]}'
    assert not document.remove(("l",), [None]).changed
    assert not document.remove(("x",), [1]).changed


def test_append_makes_the_array_and_its_parents() -> None:
    document = strict('{\n  "a": 1\n}\n')
    after = '{\n  "a": 1,\n  "b": {\n    "c": ["x", "y"]\n  }\n}\n'
    assert checked(document, document.append(("b", "c"), ["x", "y"])) == after
    assert not document.append(("b",), []).changed
    assert checked(strict('{"l": []}'), strict('{"l": []}').append(("l",), [1, 2])) == '{"l": [1, 2]}'


# ------------------------------------------------------------------ style

SERVER = {"command": "npx", "args": ["-y", "p"], "env": {"K": "v"}}


AS_STRINGIFY = """\
{
  "s": {
    "a": {
      "args": [
        "x"
      ]
    }
  }
}"""
AS_STRINGIFY_AFTER = """\
{
  "s": {
    "a": {
      "args": [
        "x"
      ]
    },
    "new": {
      "command": "npx",
      "args": [
        "-y",
        "p"
      ],
      "env": {
        "K": "v"
      }
    }
  }
}"""
ONE_A_LINE = """\
{
\t"s": {
\t\t"a": {"args": []}
\t}
}"""
ONE_A_LINE_AFTER = """\
{
\t"s": {
\t\t"a": {"args": []},
\t\t"new": {"command": "npx", "args": ["-y", "p"], "env": {"K": "v"}}
\t}
}"""
FOUR = """\
{
    "t": 1
}
"""
FOUR_EMPTY = """\
{
    "t": 1,
    "s": {}
}
"""
FOUR_AFTER = """\
{
    "t": 1,
    "s": {
        "new": {
            "command": "npx",
            "args": ["-y", "p"],
            "env": {
                "K": "v"
            }
        }
    }
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (AS_STRINGIFY, AS_STRINGIFY_AFTER),
        (ONE_A_LINE, ONE_A_LINE_AFTER),
        ('{"s":{}}', '{"s":{"new":{"command":"npx","args":["-y","p"],"env":{"K":"v"}}}}'),
        (FOUR, FOUR_AFTER),
        (FOUR_EMPTY, FOUR_AFTER),
        (FOUR_EMPTY.replace("\n", "\r\n"), FOUR_AFTER.replace("\n", "\r\n")),
    ],
)
def test_a_server_is_written_as_its_neighbours_are(before: str, after: str) -> None:
    document = strict(before)
    edit = document.set(("s", "new"), SERVER)
    assert checked(document, edit) == after
    assert not edit.after.set(("s", "new"), SERVER).changed


def test_a_changed_table_keeps_its_layout() -> None:
    document = strict('{\n  "a": { "x": 1 },\n  "b": {\n    "x": 1\n  }\n}')
    assert '"a": { "y": 2 }' in checked(document, document.set(("a",), {"y": 2}))
    assert '"b": {\n    "y": 2\n  }' in checked(document, document.set(("b",), {"y": 2}))
    assert '"a": {}' in checked(document, document.set(("a",), {}))


def test_a_comma_behind_the_last_entry_is_written_only_where_there_was_one() -> None:
    assert loose('{"a": 1,}').set(("b",), 2).after.text == '{"a": 1, "b": 2,}'
    assert loose('{"a": 1}').set(("b",), 2).after.text == '{"a": 1, "b": 2}'
    assert loose('{\n  "a": 1, // c\n}').set(("b",), 2).after.text == '{\n  "a": 1, // c\n  "b": 2,\n}'


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize("text", ['{"a": 1} // c', "/* c */ {}", '{"a": 1,}', '{"a": [1,]}', '{"a": 1, // c\n}'])
def test_strict_json_takes_nothing_of_jsonc(text: str) -> None:
    with pytest.raises(FormatError, match="strict JSON"):
        strict(text)
    assert loose(text).to_bytes() == text.encode()


@pytest.mark.parametrize(
    "text", ["{,}", "[,]", '{"a": 1,,}', "[1,,]", '{"a":,}', "{} /* x", '{"a": 1 /* x } */', "{} x", "{}{}"]
)
def test_jsonc_is_no_free_for_all(text: str) -> None:
    with pytest.raises(FormatError):
        loose(text)


@pytest.mark.parametrize(
    "text", ["nul", "1", '"x"', "null", "NaN", '{"a": NaN}', "[Infinity]", "[-Infinity]", '{"a": -}', "[01]"]
)
def test_what_is_no_config(text: str) -> None:
    with pytest.raises(FormatError) as refused:
        strict(text)
    assert refused.value.line == 1 and refused.value.code in ("syntax", "wrong-type")


def test_an_error_shows_its_line_and_no_value() -> None:
    with pytest.raises(FormatError) as refused:
        strict('{\n\t"token": "sk-12345", "b": "c"\n\t"key": hunter2\n}')
    error = refused.value
    assert (error.line, error.column, error.path) == (3, 2, "t.json")
    assert error.excerpt == '\t"key": •••••••\n\t^'
    with pytest.raises(FormatError) as refused:
        strict('{"token": "sk-12345" "b": 1}')
    assert refused.value.excerpt == '{"token": "••••••••" "b": 1}\n                     ^'


@pytest.mark.parametrize(
    ("at", "code", "line"),
    [
        (("s", "x"), "wrong-type", 2),
        (("s", "x", "y"), "wrong-type", 2),
        (("l", "x"), "wrong-type", 3),
        (("l", 5), "not-found", 3),
        (("o", 0), "wrong-type", 4),
        (("n", "x"), "wrong-type", 5),
        (("o", "k", 1), "not-found", None),
    ],
)
def test_a_way_that_leads_nowhere(at: tuple[str | int, ...], code: str, line: int | None) -> None:
    document = strict('{\n  "s": "text",\n  "l": [1],\n  "o": {},\n  "n": null\n}')
    with pytest.raises(EditRefused) as refused:
        document.set(at, 1)
    assert (refused.value.code, refused.value.line) == (code, line)
    assert not document.delete(at).changed


def test_only_arrays_are_appended_to() -> None:
    document = strict('{\n  "s": "text",\n  "o": {}\n}')
    for at, line in ((("s",), 2), (("o",), 3), ((), 1)):
        for attempt in (document.append, document.remove):
            with pytest.raises(EditRefused) as refused:
                attempt(at, [1])
            assert (refused.value.code, refused.value.line) == ("wrong-type", line)
    with pytest.raises(EditRefused):
        strict("").append((), [1])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 2}, b"x", {"a": [{1, 2}]}])
def test_values_that_json_does_not_have(value: Any) -> None:
    with pytest.raises(EditRefused) as refused:
        strict("{}").set(("a",), value)
    assert refused.value.code == "wrong-type"


def test_a_number_longer_than_python_writes() -> None:
    with pytest.raises(EditRefused) as refused:
        strict("{}").set(("a",), 10**5000)
    assert refused.value.code == "wrong-type"


def test_duplicate_keys_are_reported_all_and_stop_only_their_own_edits() -> None:
    text = '{\n  "//": 1,\n  "m": [{"x": 1,\n    "x": 2, "\\u0078": 3, "y": {}}],\n  "//": 2\n}\n'
    document = strict(text)
    assert [(i.code, i.line, i.column) for i in document.issues] == [
        ("duplicate-key", 4, 5),
        ("duplicate-key", 4, 13),
        ("duplicate-key", 5, 3),
    ]
    assert "line 3" in document.issues[0].message and document.issues[0].path == "t.json"
    assert document.get(("m", 0, "x")) == 3
    with pytest.raises(EditRefused) as refused:
        document.set(("m", 0, "x"), 9)
    assert (refused.value.code, refused.value.line) == ("duplicate-key", 4)
    for edit in (
        document.set(("m", 0, "y", "z"), 1),
        document.set(("m", 0, "new"), 1),
        document.set(("new",), 1),
        document.append(("m",), [1]),
    ):
        checked(document, edit)
        assert len(edit.after.issues) == 3
    assert len(document.delete(("m", 0)).after.issues) == 1


@pytest.mark.parametrize(("opener", "closer"), [("[", "]"), ('{"k":', "}")])
@pytest.mark.parametrize("parse", [parse_json, parse_jsonc])
def test_a_thousand_levels_and_no_more(opener: str, closer: str, parse: Any) -> None:
    inner = "[]" if opener == "[" else '{"k":{}}'[5:-1]
    document = parse((opener * 999 + inner + closer * 999).encode())
    assert document.to_bytes().startswith(opener.encode() * 999)
    assert isinstance(document.get(()), (dict, list))
    with pytest.raises(FormatError) as refused:
        parse((opener * 1000 + inner + closer * 1000).encode())
    assert refused.value.code == "too-deep"
    with pytest.raises(FormatError) as refused:
        parse((opener * 100_000).encode())
    assert refused.value.code == "too-deep"


def test_an_edit_does_not_lead_below_the_limit() -> None:
    document = strict('{"k":' * 999 + "{}" + "}" * 999)
    at = ("k",) * 999
    assert document.set((*at, "x"), 1).after.get((*at, "x")) == 1
    with pytest.raises(EditRefused) as refused:
        document.set((*at, "x"), {})
    assert refused.value.code == "too-deep"
    assert document.set(("top",), [1]).after.get(("top",)) == [1]
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(EditRefused):
        strict("{}").set(("a",), deep)


def test_depth_is_counted_outside_of_strings() -> None:
    many = ["[" * 400 + '\\"', "\\\\", '{"[{', "", "\\"] * 5
    text = json.dumps({"a": many, "b": [[[{}]]], "c": [{}] * 600})
    assert json_scan.depth_of(text.encode()) == 5
    assert json_scan.depth_of(b"[" * 2000 + b"]" * 2000) == 1001
    assert json_scan.depth_of(b"[]") == 0


def test_limits_of_size() -> None:
    with pytest.raises(FormatError) as refused:
        parse_json(b" " * (MAX_BYTES + 1))
    assert refused.value.code == "too-large"


def test_too_many_entries_to_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_scan, "MAX_ENTRIES", 10)
    with pytest.raises(FormatError) as refused:
        strict(json.dumps(dict.fromkeys(map(str, range(20)))))
    assert refused.value.code == "too-large"
    document = strict(json.dumps({"l": list(range(20)), "x": 1}))
    with pytest.raises(EditRefused) as stopped:
        document.append(("l",), [1])
    assert stopped.value.code == "too-large"
    assert document.set(("x",), 2).changed


def test_a_wrong_edit_does_not_get_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{\n  "a": 1,\n  "b": {"c": [1, 2]},\n  "d": 1.0\n}\n'
    document = strict(text)
    for hunk in (
        Hunk(9, "1", "2"),  # another value
        Hunk(text.index("1.0"), "1.0", "1.00"),  # another spelling
        Hunk(2, "", "x"),  # no JSON
        Hunk(len(text) - 3, "", ', "new": 1, "e": 2'),  # one too many
        Hunk(len(text) - 3, "", ', "other": 1'),  # another key
        Hunk(len(text) - 1, "", "x"),
        Hunk(0, "{", "[{"),
    ):
        wrong = [hunk]
        monkeypatch.setattr(json_edit, "insertion", lambda *_, wrong=wrong: wrong)
        with pytest.raises(EditRefused) as refused:
            document.set(("new",), 1)
        assert refused.value.code == "would-change-other"
    assert document.to_bytes() == text.encode()
