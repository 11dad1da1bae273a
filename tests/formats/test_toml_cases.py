"""What an edit of a TOML file looks like: each policy once, with the text before and after."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from hostconf.errors import EditRefused, FormatError
from hostconf.formats.base import MISSING, Document, Edit, Span, apply_hunks, same_value
from hostconf.formats.toml_ import MAX_BYTES, TomlDocument, parse
from hostconf.formats.toml_scan import MAX_DEPTH

Act = Callable[[Document], Edit]
SERVER = {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}}
LINES = 'command = "npx"\nargs = ["-y", "x"]\nenv = { K = "v" }\n'


def read(text: str) -> TomlDocument:
    return parse(text.encode(), name="config.toml")


def edited(text: str, act: Act) -> str:
    """The text after the edit, once its inverse has been seen to lead back."""
    document = read(text)
    edit = act(document)
    assert apply_hunks(text, edit.hunks) == edit.after.text
    assert apply_hunks(edit.after.text, edit.inverse().hunks) == text
    assert edit.changed is (edit.after.text != text)
    return edit.after.text


def case(name: str, before: str, act: Act, after: str) -> Any:
    return pytest.param(before, act, after, id=name)


KEYS = [
    case("root key behind the last one", "a = 1 # x\n\n[t]\n", lambda d: d.set(("b",), 2), "a = 1 # x\nb = 2\n\n[t]\n"),
    case(
        "root key above the comment block of the first header",
        "# --- servers\n[t]\nx = 1\n",
        lambda d: d.set(("b",), 2),
        "b = 2\n\n# --- servers\n[t]\nx = 1\n",
    ),
    case(
        "root key below the heading of the file",
        "# my file\n\n# servers\n[t]\n",
        lambda d: d.set(("b",), 2),
        "# my file\n\nb = 2\n\n# servers\n[t]\n",
    ),
    case("key in an empty file", "", lambda d: d.set(("b",), 2), "b = 2\n"),
    case("key in a file of comments", "# one\n", lambda d: d.set(("b",), 2), "# one\n\nb = 2\n"),
    case("key in a file of comments, open end", "# one", lambda d: d.set(("b",), 2), "# one\n\nb = 2"),
    case(
        "key with the indent of the last one",
        "[t]\n\tx = [\n  1,\n] # c\n# tail\n",
        lambda d: d.set(("t", "y"), "v"),
        '[t]\n\tx = [\n  1,\n] # c\n\ty = "v"\n# tail\n',
    ),
    case("key without blanks as its neighbour", "x=1\n", lambda d: d.set(("y",), 2), "x=1\ny=2\n"),
    case(
        "key in an empty table",
        "[t] # c\n# in t\n[u]\n",
        lambda d: d.set(("t", "x"), 1),
        "[t] # c\nx = 1\n# in t\n[u]\n",
    ),
    case("open end stays open", '[t]\nx = "a"  # c', lambda d: d.set(("t", "y"), 1), '[t]\nx = "a"  # c\ny = 1'),
    case("key of an implied table", "[a.b]\nx = 1\n", lambda d: d.set(("a", "k"), 1), "[a]\nk = 1\n\n[a.b]\nx = 1\n"),
    case(
        "key behind dotted keys",
        "a . 'b'.c = 1\nz = 0\n",
        lambda d: d.set(("a", "b", "n"), 2),
        "a . 'b'.c = 1\na . 'b'.n = 2\nz = 0\n",
    ),
    case("key in an inline table", "p = { x = 1 } # c\n", lambda d: d.set(("p", "y"), 2), "p = { x = 1, y = 2 } # c\n"),
    case("dotted key in an inline table", "p={a.b=1}\n", lambda d: d.set(("p", "a", "c"), 2), "p={a.b=1, a.c=2}\n"),
    case("parents in an inline table", "p = {}\n", lambda d: d.set(("p", "a", "b"), 1), "p = { a = { b = 1 } }\n"),
    case("parents as a table", "x = 1\n", lambda d: d.set(("a", "b", "c"), 2), "x = 1\n\n[a.b]\nc = 2\n"),
    case(
        "key in an item of an array of tables",
        "[[p]]\nx = 1\n[[p]]\nx = 2\n",
        lambda d: d.set(("p", 0, "y"), 3),
        "[[p]]\nx = 1\ny = 3\n[[p]]\nx = 2\n",
    ),
    case(
        "keys that are no bare keys",
        "",
        lambda d: d.set(("a.b",), {"": 1, 'q"\\': 2, "ключ": 3, "\x07": 4, "-_9": 5}),
        '["a.b"]\n"" = 1\n"q\\"\\\\" = 2\n"ключ" = 3\n"\\u0007" = 4\n-_9 = 5\n',
    ),
    case("last moves", "[t]\na = 1 # c\nb = 2\n", lambda d: d.set(("t", "a"), 1, last=True), "[t]\nb = 2\na = 1 # c\n"),
    case("last is last", "a = 1\nb = 2\n[t]\n", lambda d: d.set(("b",), 2, last=True), "a = 1\nb = 2\n[t]\n"),
]

VALUES = [
    case("comment and blanks stay", "a   = true   # why\n", lambda d: d.set(("a",), False), "a   = false   # why\n"),
    case("equal changes nothing", "a = 1_000\n", lambda d: d.set(("a",), 1000), "a = 1_000\n"),
    case("not equal by type", "a = 1.0\n", lambda d: d.set(("a",), 1), "a = 1\n"),
    case("many lines to one", "a = '''\nx\n''' # c\nb = 1\n", lambda d: d.set(("a",), "x"), 'a = "x" # c\nb = 1\n'),
    case(
        "dates",
        "",
        lambda d: d.set(
            ("t",),
            {
                "a": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
                "b": datetime.datetime(2026, 1, 2, 3, 4, 5, 600000),
                "c": datetime.date(2026, 1, 2),
                "d": datetime.time(3, 4),
            },
        ),
        "[t]\na = 2026-01-02T03:04:05+00:00\nb = 2026-01-02T03:04:05.600000\nc = 2026-01-02\nd = 03:04:00\n",
    ),
    case(
        "numbers",
        "",
        lambda d: d.set(("t",), {"a": 1e22, "b": float("-inf"), "c": float("nan"), "d": -0.5, "e": True}),
        "[t]\na = 1e+22\nb = -inf\nc = nan\nd = -0.5\ne = true\n",
    ),
    case(
        "strings are escaped",
        "a = 1\n",
        lambda d: d.set(("a",), 'C:\\x "q"\n\t\x00\x7f é😀'),
        'a = "C:\\\\x \\"q\\"\\n\\t\\u0000\\u007F é😀"\n',
    ),
    case(
        "a table for a table changes what differs",
        "[t] # c\na = 0x1 # one\nb = 2\n[t.s]\nk = 1\n",
        lambda d: d.set(("t",), {"a": 1, "n": 3}),
        "[t] # c\na = 0x1 # one\nn = 3\n",
    ),
    case("a table emptied stays a table", "[a.b]\nx = 1\n", lambda d: d.set(("a",), {}), "[a]\n"),
    case(
        "dotted keys of an inline table emptied",
        "p = [{ a.b = 1 }]\n",
        lambda d: d.set(("p", 0, "a"), {}),
        "p = [{ a = {} }]\n",
    ),
    case("a scalar for a table", "x = 1\n\n[t]\na = 1\n", lambda d: d.set(("t",), 5), "x = 1\nt = 5\n"),
    case("a table for a scalar", "x = 1 # c\n", lambda d: d.set(("x",), {"a": {}}), "x = { a = {} } # c\n"),
    case(
        "a longer array grows",
        "x = [ 0x1, # one\n  2 ]\n",
        lambda d: d.set(("x",), [1, 2, 3]),
        "x = [ 0x1, # one\n  2,\n  3 ]\n",
    ),
    case(
        "items of an array of tables one by one",
        "[[p]]\na = 0x1\n[[p]]\na = 2\n",
        lambda d: d.set(("p",), [{"a": 1}]),
        "[[p]]\na = 0x1\n",
    ),
]

TABLES = [
    case("in an empty file", "", lambda d: d.set(("mcp_servers", "x"), SERVER), "[mcp_servers.x]\n" + LINES),
    case("open end", "a = 1", lambda d: d.set(("s", "x"), {"k": 1}), "a = 1\n\n[s.x]\nk = 1"),
    case(
        "behind the last of its kind, with blank lines as elsewhere",
        "[s.a]\nx = 1\n\n\n[s.a.env]\nK = 1\n\n\n# other\n[o]\n",
        lambda d: d.set(("s", "b"), {"k": 1}),
        "[s.a]\nx = 1\n\n\n[s.a.env]\nK = 1\n\n\n[s.b]\nk = 1\n\n\n# other\n[o]\n",
    ),
    case(
        "no blank lines where there are none",
        "[s.a]\nx = 1\n[o]\ny = 1\n",
        lambda d: d.set(("s", "b"), {"k": 1}),
        "[s.a]\nx = 1\n[s.b]\nk = 1\n[o]\ny = 1\n",
    ),
    case(
        "not below a comment as if that were its heading",
        "[a]\nx = 1\n[b]\ny = 1\n# end",
        lambda d: d.set(("c",), {}),
        "[a]\nx = 1\n[b]\ny = 1\n# end\n\n[c]",
    ),
    case(
        "a line of a long string is no comment",
        "[a]\nx = '''\n# no\n# comment'''\n[b]\n",
        lambda d: d.set(("a", "c"), {}),
        "[a]\nx = '''\n# no\n# comment'''\n[a.c]\n[b]\n",
    ),
    case("trailing blank lines are used", "[a]\nx = 1\n\n\n", lambda d: d.set(("b",), {}), "[a]\nx = 1\n\n\n[b]\n"),
    case(
        "CRLF", "[a]\r\nx = 1\r\n", lambda d: d.set(("b",), {"k": "1\n2"}), '[a]\r\nx = 1\r\n\r\n[b]\r\nk = "1\\n2"\r\n'
    ),
    case(
        "beside dotted tables in dotted lines",
        "s.a.command = 1\nmodel = 2 # stays a root key\n[t]\n",
        lambda d: d.set(("s", "b"), {"command": 3, "env": {"K": 1}}),
        "s.a.command = 1\ns.b.command = 3\ns.b.env = { K = 1 }\nmodel = 2 # stays a root key\n[t]\n",
    ),
    case(
        "beside dotted keys inline",
        "s.a = {}\nm = 1\n",
        lambda d: d.set(("s", "b"), {"c": 1}),
        "s.a = {}\ns.b = { c = 1 }\nm = 1\n",
    ),
    case(
        "into an inline table",
        "s = { a = { c = 1 } } # c\n[t]\n",
        lambda d: d.set(("s", "b"), {"c": 2}),
        "s = { a = { c = 1 }, b = { c = 2 } } # c\n[t]\n",
    ),
    case(
        "below the right item of an array of tables",
        "[[p]]\nx = 1\n\n[[p]]\nx = 2\n",
        lambda d: d.set(("p", 0, "s"), {"k": 1}),
        "[[p]]\nx = 1\n\n[p.s]\nk = 1\n\n[[p]]\nx = 2\n",
    ),
    case(
        "one more item of an array of tables",
        "[[ p ]]\n  x = 1\n[p.s]\n\n[t]\n",
        lambda d: d.append(("p",), [{"x": 2}, {}]),
        "[[ p ]]\n  x = 1\n[p.s]\n\n[[ p ]]\n  x = 2\n\n[[ p ]]\n\n[t]\n",
    ),
    case(
        "a quoted header is the same path",
        '[s."x"]\na = 1\n',
        lambda d: d.set(("s", "x", "b"), 2),
        '[s."x"]\na = 1\nb = 2\n',
    ),
]

DELETIONS = [
    case(
        "its own comment goes, the one above stays",
        "# a\na = 1 # one\nb = 2\n",
        lambda d: d.delete(("a",)),
        "# a\nb = 2\n",
    ),
    case("the last line, open end", "a = 1\nb = 2", lambda d: d.delete(("b",)), "a = 1"),
    case("the only line", "a = 1", lambda d: d.delete(("a",)), ""),
    case("a key behind a blank line, open end", "[t]\na = 1\n\nb = 2", lambda d: d.delete(("t", "b")), "[t]\na = 1"),
    case(
        "a table with the blank lines above it",
        "[a]\nx = 1\n\n[b]\ny = 1\n\n# c\n[c]\n",
        lambda d: d.delete(("b",)),
        "[a]\nx = 1\n\n# c\n[c]\n",
    ),
    case("the first table", "[a]\nx = 1\n\n[b]\n", lambda d: d.delete(("a",)), "[b]\n"),
    case(
        "a table in pieces",
        "[a]\nx = 1\n\n[b]\n\n# keep\n[a.c]\nz = 1 # c\n",
        lambda d: d.delete(("a",)),
        "[b]\n\n# keep\n",
    ),
    case("dotted keys", "a.b.c = 1\nx = 1\na.b.d = 2\n", lambda d: d.delete(("a", "b")), "x = 1\n"),
    case("from an inline table", "p = { x = 1, y = 2 }\n", lambda d: d.delete(("p", "y")), "p = { x = 1 }\n"),
    case(
        "all dotted keys of an inline table",
        "p = { a.b = 1, c = 2, a.d = 3 }\n",
        lambda d: d.delete(("p", "a")),
        "p = { c = 2 }\n",
    ),
    case("the last of an inline table", "p = { x = 1 }\n", lambda d: d.delete(("p", "x")), "p = {}\n"),
    case(
        "an item of an array of tables",
        "[[p]]\nx = 1\n[p.s]\n[[p]]\nx = 2\n",
        lambda d: d.delete(("p", 0)),
        "[[p]]\nx = 2\n",
    ),
    case("nothing there", "a = 1\n", lambda d: d.delete(("b", "c")), "a = 1\n"),
]

ARRAYS = [
    case("one line", "a = [ 1, 2 ]\n", lambda d: d.append(("a",), [3, 4]), "a = [ 1, 2, 3, 4 ]\n"),
    case("close together", "a = [1,2]\n", lambda d: d.append(("a",), [3]), "a = [1,2,3]\n"),
    case("trailing comma", "a = [1, 2, ]\n", lambda d: d.append(("a",), [3]), "a = [1, 2, 3, ]\n"),
    case("empty", "a = []\nb = [ ]\n", lambda d: d.append(("a",), [1]), "a = [1]\nb = [ ]\n"),
    case(
        "empty with a comment",
        "a = [\n    # none\n]\n",
        lambda d: d.append(("a",), [1]),
        "a = [\n    # none\n    1,\n]\n",
    ),
    case("missing", "[t]\n", lambda d: d.append(("t", "a"), [1]), "[t]\na = [1]\n"),
    case(
        "the comma goes before the comment",
        "a = [\n  1, # one\n  2 # two\n  # end\n]\n",
        lambda d: d.append(("a",), [3, 4]),
        "a = [\n  1, # one\n  2, # two\n  3,\n  4\n  # end\n]\n",
    ),
    case("a line each", "a = [\r\n  1,\r\n]\r\n", lambda d: d.append(("a",), [2]), "a = [\r\n  1,\r\n  2,\r\n]\r\n"),
    case("comma first", "a = [\n    1\n  , 2\n]\n", lambda d: d.append(("a",), [3]), "a = [\n    1\n  , 2, 3\n]\n"),
    case(
        "remove takes the last equal one, in any order",
        "a = [1, 2, 1, 3]\n",
        lambda d: d.remove(("a",), [3, 1, 9, True, None]),
        "a = [1, 2]\n",
    ),
    case(
        "remove a line", "a = [\n  1, # one\n  2, # two\n]\n", lambda d: d.remove(("a",), [1]), "a = [\n  2, # two\n]\n"
    ),
    case(
        "remove the last line and the comma before it",
        "a = [\n  1, # one\n  2 # two\n]\n",
        lambda d: d.remove(("a",), [2]),
        "a = [\n  1 # one\n]\n",
    ),
    case("remove the only one", "a = [ 1 ]\n", lambda d: d.remove(("a",), [1]), "a = []\n"),
    case("remove all tables", "x = 1\n\n[[p]]\na = 1\n", lambda d: d.remove(("p",), [{"a": 1}]), "x = 1\n"),
    case("remove from nothing", "x = 1\n", lambda d: d.remove(("p",), [1]), "x = 1\n"),
]


@pytest.mark.parametrize(("before", "act", "after"), [*KEYS, *VALUES, *TABLES, *DELETIONS, *ARRAYS])
def test_edit(before: str, act: Act, after: str) -> None:
    assert edited(before, act) == after


@pytest.mark.parametrize("text", ["", "\n\n", "# only this", "# one\n\n# two\n", "\ufeff", "\ufeff# c\n", "  \t"])
def test_empty_documents_come_back_to_the_byte(text: str) -> None:
    document = read(text)
    assert document.get(()) == {} and document.to_bytes() == text.encode()
    first = document.set(("web_search",), "disabled")
    second = first.after.set(("mcp_servers", "x"), SERVER)
    assert second.after.get(()) == {"web_search": "disabled", "mcp_servers": {"x": SERVER}}
    back = apply_hunks(apply_hunks(second.after.text, second.inverse().hunks), first.inverse().hunks)
    assert back == document.text
    assert second.inverse().after.to_bytes() == first.after.to_bytes()


def test_a_bom_is_kept_and_not_counted() -> None:
    document = read("\ufeffa = 1\n")
    assert document.bom and document.text == "a = 1\n"
    assert document.where(("a",)) == Span(0, 5, 1, 1)
    assert document.set(("a",), 2).after.to_bytes() == b"\xef\xbb\xbfa = 2\n"


@pytest.mark.parametrize(
    ("at", "shown", "line"),
    [
        (("a",), "a = 1", 1),
        (("d",), "d.x = 1", 2),
        (("d", "y"), "d.y = { k = [1, 2] }", 3),
        (("d", "y", "k"), "k = [1, 2]", 3),
        (("d", "y", "k", 1), "2", 3),
        (("t",), "[t.'s']\nz = 1", 5),
        (("t", "s"), "[t.'s']\nz = 1", 5),
        (("p",), "[[p]]\nn = 1", 8),
        (("p", 1), "[[p]]", 10),
        (("p", 0, "n"), "n = 1", 9),
    ],
)
def test_where(at: tuple[str | int, ...], shown: str, line: int) -> None:
    document = read("a = 1\nd.x = 1\n  d.y = { k = [1, 2] }\n\n[t.'s']\nz = 1\n\n[[p]]\nn = 1\n[[p]]\n")
    span = document.where(at)
    assert span is not None
    assert document.text[span.start : span.end] == shown and span.line == line
    assert span.column == (3 if shown.startswith("d.y") else span.column)
    assert document.where((*at, "nowhere")) is None


def test_get_tells_null_from_nothing() -> None:
    document = read("a = [1, { b = 2 }]\n")
    assert document.get(("a", 1, "b")) == 2
    assert document.get(("a", 2)) is MISSING
    assert document.get(("a", "b"), None) is None
    assert document.get(("a", 0, "b"), 5) == 5


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("a = 1\na = 2 x\n", "duplicate-key", (2, 1), ""),
        ("a = 1\nb = 2\na = 3\n", "duplicate-key", (3, 1), "First in line 1"),
        ("[a]\n[b]\n  [a] # again\n", "duplicate-key", (3, 3), "First in line 1"),
        ('a.b = 1\n\n"a".b = 2', "duplicate-key", (3, 1), "First in line 1"),
        ("[a.b]\nx = 1\n[a]\nb.c = 2", "duplicate-key", (4, 1), "First in line 1"),
        ("x = 0\na = [\n  { b = 1, b = 2 },\n]\n", "duplicate-key", (2, 1), ""),
        ("'é' = 'ü' x\n", "syntax", (1, 11), ""),
        ("a = [1,\n\nb = 2\n", "syntax", (3, 1), "The statement starts in line 1"),
        ('x = 1\ny = """\nlong\n', "syntax", (2, 1), ""),
        ("a = { b = 1,\n  c = 2 }\n", "syntax", (1, 13), "TOML 1.1"),
        ("a = " + "9" * 5000, "syntax", (1, 5), ""),
        ('a = "C:\\Users"\n', "syntax", (1, 10), "single quotes"),
        ("# fine\n# \x01\na = 1\n", "syntax", (2, 3), ""),
        ("x = 1\na = " + "[" * 70 + "]" * 70, "too-deep", (2, 1), ""),
        ("a = " + "[" * 100_000, "too-deep", (1, 1), ""),
        ("\n[" + ".".join("k" * 70) + "]\n", "too-deep", (2, 1), ""),
        (".".join("k" * 70) + " = 1\n", "too-deep", (1, 1), ""),
    ],
)
def test_an_error_names_the_place_where_the_trouble_starts(
    text: str, code: str, place: tuple[int, int], hint: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    problem = caught.value
    assert (problem.code, (problem.line, problem.column), problem.path) == (code, place, "config.toml")
    assert hint in problem.hint if hint else not problem.hint
    line, caret = problem.excerpt.split("\n")
    assert caret.endswith("^") and (len(line) > 200 or len(caret) == place[1] or "…" in line)


def test_dots_in_quotes_are_not_depth() -> None:
    path = ".".join("k" * 100)
    document = read(f'[projects."{path}"]\n"{path}" = 1\n')
    assert document.get(("projects", path, path)) == 1
    assert document.set(("projects", path, "b"), 2).after.get(("projects", path, "b")) == 2


def test_bytes_that_are_no_text_and_files_that_are_too_large() -> None:
    with pytest.raises(FormatError) as caught:
        parse(b'a = 1\nb = "\xff"\n')
    assert (caught.value.code, caught.value.line, caught.value.column) == ("not-utf8", 2, 6)
    with pytest.raises(FormatError) as caught:
        parse(b"#" * (MAX_BYTES + 1))
    assert caught.value.code == "too-large"


@pytest.mark.parametrize("text", ['a = """x', "a = [\n" + '"""\n' * 30_000, "a = '" + "'" * 60_000, "a." * 30_000])
def test_broken_texts_are_refused_quickly(text: str) -> None:
    with pytest.raises(FormatError):
        read(text)


@pytest.mark.parametrize(
    ("text", "act", "code"),
    [
        ("a = 1\n", lambda d: d.set(("a", "b"), 1), "wrong-type"),
        ("a = 1\n", lambda d: d.set(("a", 0), 1), "wrong-type"),
        ("a = [1]\n", lambda d: d.set(("a", "b"), 1), "wrong-type"),
        ("[[a]]\n", lambda d: d.set(("a", "b"), 1), "wrong-type"),
        ("[[a]]\n", lambda d: d.set(("a", 0), 1), "wrong-type"),
        ("[[a]]\n", lambda d: d.append(("a",), [1]), "wrong-type"),
        ("a = 1\n", lambda d: d.append(("a",), [1]), "wrong-type"),
        ("a = 1\n", lambda d: d.remove(("a",), [1]), "wrong-type"),
        ("a = [1]\n", lambda d: d.set(("a", 5), 1), "not-found"),
        ("", lambda d: d.set(("a", 0), 1), "not-found"),
        ("", lambda d: d.set((), {}), "wrong-type"),
        ("", lambda d: d.set(("a",), None), "wrong-type"),
        ("", lambda d: d.set(("a",), 2**63), "wrong-type"),
        ("", lambda d: d.set(("a",), "\ud800"), "wrong-type"),
        ("", lambda d: d.set(("a",), {1: 2}), "wrong-type"),
        ("", lambda d: d.set(("\ud800",), 1), "wrong-type"),
        ("", lambda d: d.set(("a",), datetime.time(1, tzinfo=datetime.UTC)), "wrong-type"),
        ("", lambda d: d.set(("k",) * (MAX_DEPTH + 2), 1), "would-change-other"),
    ],
)
def test_refused(text: str, act: Act, code: str) -> None:
    with pytest.raises(EditRefused) as caught:
        act(read(text))
    assert caught.value.code == code


def test_a_refusal_names_the_entry_in_the_way() -> None:
    with pytest.raises(EditRefused) as caught:
        read('x = 1\nmcp_servers = "secret-thing"\n').set(("mcp_servers", "a"), {})
    assert (caught.value.path, caught.value.line, caught.value.column) == ("config.toml", 2, 1)
    assert "secret" not in caught.value.excerpt


def test_an_edit_that_would_change_more_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    document = read("[a]\nx = 1\n")
    monkeypatch.setattr("hostconf.formats.toml_.insert", lambda draft, at, value: draft.splice((0, 0, "[b]\n")))
    with pytest.raises(EditRefused) as caught:
        document.set(("c",), 1)
    assert caught.value.code == "would-change-other"
    monkeypatch.setattr("hostconf.formats.toml_.insert", lambda draft, at, value: draft.splice((0, 0, "[b\n")))
    with pytest.raises(EditRefused) as caught:
        document.set(("c",), 1)
    assert caught.value.code == "would-change-other" and "break the file" in caught.value.message


def test_many_edits_and_all_the_way_back() -> None:
    document = read("# top\n[mcp_servers.a]\ncommand = 'x'\n\n[mcp_servers.a.env]\nK = '1'\n\n[[hooks]]\nrun = 'y'")
    edits = [document.set(("web_search",), "disabled")]
    acts: list[Act] = [
        lambda d: d.set(("mcp_servers", "b"), SERVER),
        lambda d: d.set(("mcp_servers", "a", "enabled"), False),
        lambda d: d.append(("hooks",), [{"run": "z"}]),
        lambda d: d.append(("mcp_servers", "b", "args"), ["z"]),
        lambda d: d.set(("mcp_servers", "b", "env", "L"), "w"),
        lambda d: d.delete(("mcp_servers", "a", "env")),
        lambda d: d.remove(("hooks",), [{"run": "y"}]),
    ]
    for act in acts:
        edits.append(act(edits[-1].after))
    assert same_value(
        edits[-1].after.get(()),
        {
            "web_search": "disabled",
            "mcp_servers": {
                "a": {"command": "x", "enabled": False},
                "b": {"command": "npx", "args": ["-y", "x", "z"], "env": {"K": "v", "L": "w"}},
            },
            "hooks": [{"run": "z"}],
        },
    )
    text = edits[-1].after.text
    assert not text.endswith("\n")
    for edit in reversed(edits):
        text = apply_hunks(text, edit.inverse().hunks)
    assert text == document.text
