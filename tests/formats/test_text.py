"""Places, line ends, hunks, and lines that show no secret."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostconf.errors import FormatError
from hostconf.formats.base import Hunk, apply_hunks
from hostconf.formats.text import (
    compose_hunks,
    decode,
    eol_near,
    excerpt,
    line_start,
    masked_line,
    position,
    same_run,
    spliced,
)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('  "apiKey": "sk-123", // old sk-456789', '  "apiKey": "••••••", // old •••••••••'),
        ('{"a": {"b": "c\\"d", "e": [1, true, 12345678901]}}', '{"a": {"b": "••••", "e": [1, true, •••••••••••]}}'),
        ('{"a": "sk-123" : 1, "b": x', '{"a": "••••••" : 1, "b": x'),
        ("password = hunter2", "password = •••••••"),
        ("a.b = 'it is' # note", "a.b = '•••••' # ••••"),
        ('key = "not closed', 'key = "••••••••••'),
        ("[mcp_servers.context7]", "[mcp_servers.context7]"),
        ("[[" + "x" * 24 + ".short]]", "[[" + "•" * 24 + ".short]]"),
        ("url = https://u:pw12345@h", "url = •••••://u:•••••••••"),
        ("\tx\x1b[31m: 日本語の", "\tx•[31m: ••••"),
        ("", ""),
    ],
)
def test_masked_line(line: str, shown: str) -> None:
    assert len(masked_line(line)) == len(line)
    assert masked_line(line) == shown


@given(st.text(alphabet="abc\"'\\:=,{}[]# \t/-_.1x\x1b😀", max_size=60))
def test_masking_keeps_columns_and_lets_nothing_unprintable_through(line: str) -> None:
    shown = masked_line(line)
    assert len(shown) == len(line)
    assert all(char == "\t" or char.isprintable() for char in shown)


@given(
    st.text(alphabet="abcdefgh0123456789", min_size=4, max_size=30),
    st.sampled_from(['"k": "{}"', "k = '{}'", "k = {}", '["x", "{}"]']),
)
def test_a_value_is_never_shown(secret: str, form: str) -> None:
    if not secret.isdigit() and "e" not in secret:  # short numbers are shown
        assert secret not in masked_line(form.replace("{}", secret))


def test_excerpt_points_at_the_column_behind_tabs() -> None:
    line, caret = excerpt('a\n\t"k":\tx y', 8).split("\n")
    assert line == '\t"k":\tx y' and caret == "\t    \t^"
    assert excerpt("", 0) == "\n^"
    assert excerpt("ab", 99) == "ab\n  ^"


def test_excerpt_of_a_long_line_is_a_window() -> None:
    line, caret = excerpt('{"key": "' + "s" * 200 + '", oops}', 213).split("\n")
    assert len(line) <= 98 and "s" not in line.replace("oops", "") and line[len(caret) - 1] == "•"
    line, caret = excerpt('{"key": "' + "secret " * 10_000 + '"}', 30_000).split("\n")
    assert len(line) < 110 and "secret" not in line and line.startswith("…") and line.endswith("…")


def test_decode() -> None:
    source = decode(b"\xef\xbb\xbfa\r\nb", name="x")
    assert (source.text, source.bom, source.name) == ("a\r\nb", True, "x")
    assert source.encode() == b"\xef\xbb\xbfa\r\nb"
    assert source.span(3, 4) == (3, 4, 2, 1)
    with pytest.raises(FormatError) as refused:
        decode(b"12345", limit=4)
    assert refused.value.code == "too-large"


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"\xff\xfe{\x00", 1, 1),
        (b"\xfe\xff\x00{", 1, 1),
        (b"a\nb\xc3(", 2, 2),
        (b"\xef\xbb\xbf\r\n\xe9\xe9x\xff", 2, 1),
        ("é\n日本".encode() + b"\x80 rest\nmore", 2, 3),
        (b"ab\xe2\x82", 1, 3),
    ],
)
def test_what_is_not_utf8_is_placed(data: bytes, line: int, column: int) -> None:
    with pytest.raises(FormatError) as refused:
        decode(data, name="x")
    error = refused.value
    assert (error.code, error.line, error.column, error.path) == ("not-utf8", line, column, "x")
    assert error.excerpt.endswith(" " * (column - 1) + "^")


@given(st.text(alphabet="a\r\n", max_size=12), st.integers(0, 12))
def test_places_agree_with_a_plain_count(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    # an offset between CR and LF belongs to the line that they end
    on = offset - 1 if text[offset - 1 : offset + 1] == "\r\n" and offset else offset
    before = (text[:on] + "|").splitlines()
    line, column = position(text, offset)
    assert line == len(before)
    assert column == len(before[-1]) + offset - on
    assert line_start(text, offset) == offset - column + 1
    assert eol_near(text, offset) in ("\n", "\r\n", "\r")


@pytest.mark.parametrize(
    ("text", "offset", "eol"),
    [
        ("", 0, "\n"),
        ("a", 1, "\n"),
        ("a\r\nb\nc", 0, "\r\n"),
        ("a\r\nb\nc", 3, "\n"),
        ("a\nb\r\nc", 5, "\r\n"),
        ("a\r", 2, "\r"),
    ],
)
def test_eol_near(text: str, offset: int, eol: str) -> None:
    assert eol_near(text, offset) == eol


def test_same_run_looks_at_every_chunk() -> None:
    long = "x" * 200_000
    assert same_run(long, 0, 200_000, "ab" + long, 2, 200_002)
    assert not same_run(long[:-1] + "y", 0, 200_000, long, 0, 200_000)
    assert not same_run(long, 0, 10, long, 0, 11)


@st.composite
def hunks_on(draw: st.DrawFn, text: str) -> list[Hunk]:
    """Hunks in rising order, each at least one character behind the last."""
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    out: list[Hunk] = []
    at = 0
    for cut in cuts:
        if out and cut <= at:
            continue
        end = draw(st.integers(cut, min(len(text), cut + 3)))
        out.append(Hunk(cut, text[cut:end], draw(st.text(alphabet="XYZab", max_size=3))))
        at = end
    return out


@given(st.text(alphabet="abc", max_size=14), st.data())
def test_composed_hunks_do_what_the_two_did(text: str, data: st.DataObject) -> None:
    first = data.draw(hunks_on(text))
    middle = apply_hunks(text, first)
    second = data.draw(hunks_on(middle))
    assert spliced(text, first) == middle
    both = compose_hunks(text, first, second)
    assert apply_hunks(text, both) == apply_hunks(middle, second)
    assert all(a.start + len(a.old) < b.start for a, b in pairwise(both))
    assert all(hunk.old != hunk.new for hunk in both)
