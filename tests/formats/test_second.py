"""The second reader: what it reads, what it refuses, and when two readings mean the same."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostconf.errors import FormatError
from hostconf.formats import format_named
from hostconf.formats.second import JSON5_LIMIT, TOML_LIMIT, read_second, same_meaning
from tests.formats.json_docs import Case, cases

JSONC = """// head
{
  "a": [1, 2.5, "x // y", "/* z */", null,], /* block
  of two */ "b": {"c": true, }, // tail
  "d": "\\ud83d\\ude00 \\ud800", "e,]": ",}",
}
"""


def test_jsonc_below_and_above_the_limit_means_the_same() -> None:
    small = read_second("jsonc", JSONC.encode())
    large = read_second("jsonc", (JSONC + "//" + "x" * JSON5_LIMIT).encode())
    assert same_meaning(small, large)
    assert large["a"] == [1, 2.5, "x // y", "/* z */", None] and large["e,]"] == ",}"
    assert same_meaning(small, format_named("jsonc").parse(JSONC.encode()).get(()))


def test_strict_json_stays_strict() -> None:
    for text in ("{} // c", '{"a": 1,}', "{'a': 1}", "{a: 1}", '{"a": 0x1}'):
        with pytest.raises(FormatError):
            read_second("json", text.encode())


def test_large_json_is_read_by_the_standard_library() -> None:
    big = {"a": ["x" * 50] * (JSON5_LIMIT // 50), "b": 1.0}
    assert read_second("json", json.dumps(big).encode()) == big


@pytest.mark.parametrize("format_name", ["json", "jsonc"])
def test_deep_files(format_name: str) -> None:
    text = '{"k":' * 400 + "1" + "}" * 400
    document = format_named(format_name).parse(text.encode())
    assert same_meaning(read_second(format_name, text.encode()), document.get(()))


@pytest.mark.parametrize("format_name", ["json", "jsonc", "toml", "markdown"])
@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_blank_files_are_empty_tables(format_name: str, data: bytes) -> None:
    assert read_second(format_name, data) == {}


def test_comments_alone_are_an_empty_table() -> None:
    assert read_second("jsonc", b"// x\n/* y */") == {}


@pytest.mark.parametrize(
    ("format_name", "data"),
    [
        ("json", b'{"a": sk-secret}'),
        ("jsonc", b'{"a": sk-secret}'),
        ("toml", b"a = sk-secret"),
        ("toml", b"[a]\nx = 1\n[a]\nkey-secret = 1\n"),
        ("json", b"\xff"),
        ("toml", b"a = '" + b"x" * TOML_LIMIT + b"'"),
    ],
)
def test_refusals_quote_nothing(format_name: str, data: bytes) -> None:
    with pytest.raises(FormatError) as refused:
        read_second(format_name, data)
    assert "secret" not in str(refused.value)


def test_toml_agrees_with_the_standard_library() -> None:
    text = (
        'a = 1979-05-27T07:32:00Z\nb = 1979-05-27\nc = 07:32:00.5\nd = 1.0\ne = inf\nf = nan\ng = 0xff\nh = "x"\n'
        "[t.u]\nv = [[1], {w = 2}]\n[[p]]\nn = 1\n[[p]]\nn = 2\n[t]\nx.y = true\n"
    )
    assert same_meaning(read_second("toml", text.encode()), tomllib.loads(text))


def test_an_unknown_format_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="yaml"):
        read_second("yaml", b"")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (0, False, False),
        (1.5, 1.5, True),
        (float("inf"), float("inf"), True),
        (float("inf"), float("-inf"), False),
        (float("nan"), float("nan"), True),
        (10**30, 10**30 + 1, False),
        ("1", 1, False),
        (None, False, False),
        (None, None, True),
        (None, {}, False),
        ("\ud83d\ude00", "\U0001f600", True),
        ("\ud800", "\ud800", True),
        ({"\ud83d\ude00": 1}, {"\U0001f600": 1}, True),
        ([1, 2], [1], False),
        ([], {}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        (datetime.date(2026, 1, 1), datetime.date(2026, 1, 1), True),
        (datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1), False),
        (datetime.date(2026, 1, 1), "2026-01-01", False),
    ],
)
def test_same_meaning(a: Any, b: Any, same: bool) -> None:
    assert same_meaning(a, b) is same
    assert same_meaning(b, a) is same
    assert same_meaning({"k": [a]}, {"k": [b]}) is same


def test_same_meaning_of_what_is_deep() -> None:
    deep: Any = 1
    other: Any = 2
    for _ in range(5_000):
        deep, other = [deep], {"k": other}
    assert same_meaning(deep, deep)
    assert not same_meaning(deep, other)


@given(cases("jsonc"))
def test_the_scanner_for_large_files_reads_as_the_first_reader_does(case: Case) -> None:
    padded = case.data + b"\n//" + b" " * JSON5_LIMIT
    assert same_meaning(read_second("jsonc", padded), case.value)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for format_name in ("json", "jsonc", "toml", "markdown"):
        try:
            read_second(format_name, data)
        except FormatError:
            pass


def test_the_formats_load_nothing_before_it_is_asked_for() -> None:
    code = (
        "import sys; from hostconf.formats import format_named, NAMES\n"
        "assert 'hostconf.formats.json_' not in sys.modules and 'json' not in sys.modules\n"
        "for name in NAMES: format_named(name).parse(b'')\n"
        "import hostconf.formats.second\n"
        "bad = {'json5', 'tomlkit', 'dataclasses', 'inspect', 'pathlib', 'io5'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
