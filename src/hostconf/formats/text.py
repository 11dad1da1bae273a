"""Bytes to text and back, places in it, and lines fit to be shown: what every format stands on.

Offsets are code points of the text without its BOM. A line ends with LF, CR LF or a
lone CR; lines and columns count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hostconf.errors import EditRefused, FormatError
from hostconf.formats.base import Hunk, Span

MAX_BYTES = 64 * 1024 * 1024
"""The largest file any format reads."""

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LINE_END = re.compile(r"\r\n|\n|\r")
_CHUNK = 1 << 16
_LONGEST_LINE = 4_000
_WINDOW = 48


class Source(NamedTuple):
    """The text of a file, with its BOM kept aside, and where in it things stand."""

    text: str
    bom: bool = False
    name: str = "<config>"

    def encode(self) -> bytes:
        """The bytes the text came from."""
        # In chunks: the encoder takes four bytes a character for a text that holds one emoji.
        chunks = (self.text[at : at + _CHUNK].encode() for at in range(0, len(self.text), _CHUNK))
        return (_BOM if self.bom else b"") + b"".join(chunks)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`."""
        return position(self.text, offset)

    def span(self, start: int, end: int) -> Span:
        """The run from `start` to `end`, with its place."""
        return Span(start, end, *position(self.text, start))

    def excerpt(self, offset: int) -> str:
        """The masked line of `offset`, and a line with a caret under it."""
        return excerpt(self.text, offset)

    def eol(self, offset: int) -> str:
        """The line end in use near `offset`."""
        return eol_near(self.text, offset)

    def error(self, message: str, offset: int, *, code: str = "syntax", hint: str = "") -> FormatError:
        """A FormatError that names the place `offset`."""
        line, column = position(self.text, offset)
        return FormatError(
            message,
            hint=hint,
            path=self.name,
            line=line,
            column=column,
            excerpt=excerpt(self.text, offset),
            code=code,
        )

    def refusal(self, message: str, offset: int, *, code: str, hint: str = "") -> EditRefused:
        """An EditRefused that names the place `offset`."""
        line, column = position(self.text, offset)
        return EditRefused(
            message,
            hint=hint,
            path=self.name,
            line=line,
            column=column,
            excerpt=excerpt(self.text, offset),
            code=code,
        )


def decode(data: bytes, *, name: str = "<config>", limit: int = MAX_BYTES) -> Source:
    """The text of `data`, which has to be UTF-8, with or without a BOM.

    Raises:
        FormatError: `too-large` above `limit` bytes, `not-utf8` with the place of the first wrong byte.
    """
    if len(data) > limit:
        raise FormatError(f"{len(data):,} bytes, more than the {limit:,} that are read", path=name, code="too-large")
    bom = data.startswith(_BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        start = problem.start
        before = Source(data[:start].decode().removeprefix("\ufeff"), name=name)
        line_rest = _LINE_END.split(data[start:][:200].decode("utf-8", "replace"), maxsplit=1)[0]
        shown = Source(before.text + line_rest, name=name)
        kind = "UTF-16" if data.startswith(_UTF16) else "not UTF-8"
        hint = "Save the file as UTF-8" if kind == "UTF-16" else ""
        raise shown.error(f"the text is {kind}", len(before.text), code="not-utf8", hint=hint) from None
    return Source(text[1:] if bom else text, bom, name)


# ------------------------------------------------------------------ places


def line_start(text: str, offset: int) -> int:
    """Where the line that holds `offset` begins."""
    start = text.rfind("\n", 0, offset) + 1
    cr = text.rfind("\r", start, offset)  # from `start`, or each call would cost a pass
    if cr >= 0 and text.startswith("\n", cr + 1):  # `offset` is between CR and LF, still on the line
        cr = text.rfind("\r", start, cr)
    return max(start, cr + 1)


def line_end(text: str, offset: int) -> int:
    """Where the line that holds `offset` ends, its line end not counted."""
    found = _LINE_END.search(text, offset)
    return found.start() if found else len(text)


def after_line_end(text: str, offset: int) -> int:
    """The offset behind the line end that stands at `offset`; `offset` itself where there is none."""
    found = _LINE_END.match(text, offset)
    return found.end() if found else offset


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of `offset`, from 1, in code points."""
    offset = min(offset, len(text))
    start = line_start(text, offset)
    line = text.count("\n", 0, start) + 1
    if "\r" in text:  # counting CR is for the rare file that has one: a call costs a pass
        line += text.count("\r", 0, start) - text.count("\r\n", 0, start)
    return line, offset - start + 1


def eol_near(text: str, offset: int) -> str:
    """The line end of the line that holds `offset`, else of the line before, else LF."""
    found = _LINE_END.search(text, line_start(text, offset))
    if found:
        return found.group()
    start = line_start(text, offset)
    for eol in ("\r\n", "\n", "\r"):
        if start and text.endswith(eol, 0, start):
            return eol
    return "\n"


def indent_at(text: str, offset: int) -> str:
    """The blanks that the line of `offset` begins with, up to `offset`."""
    start = line_start(text, offset)
    end = start
    while end < offset and text[end] in " \t":
        end += 1
    return text[start:end]


def same_run(a: str, a_start: int, a_end: int, b: str, b_start: int, b_end: int) -> bool:
    """Whether two runs of text are equal, compared in chunks: a slice of 10 MB with one emoji would cost 40."""
    size = a_end - a_start
    if size != b_end - b_start:
        return False
    if size <= _CHUNK:
        return a[a_start:a_end] == b[b_start:b_end]
    for at in range(a_start, a_end, _CHUNK):
        to = min(at + _CHUNK, a_end)
        if not b.startswith(a[at:to], b_start + at - a_start):
            return False
    return True


# ------------------------------------------------------------------ hunks


def spliced(text: str, hunks: Sequence[Hunk]) -> str:
    """The text with the hunks applied, as `apply_hunks`, at less cost for a large one.

    By way of UTF-8, in chunks: one emoji makes four bytes of every character in a text
    and in a slice of it, and two copies of those at a time are too many.

    Raises:
        EditRefused: an `old` does not stand at its place (`would-change-other`).
    """
    pieces: list[bytes] = []
    at = 0
    for start, old, new in [*hunks, Hunk(len(text), "", "")]:
        if start < at or not text.startswith(old, start):
            raise EditRefused("the text is not as the edit saw it", code="would-change-other")
        pieces.extend(text[i : min(i + _CHUNK, start)].encode() for i in range(at, start, _CHUNK))
        pieces.append(new.encode())
        at = start + len(old)
    data = b"".join(pieces)
    del pieces
    return data.decode()


def compose_hunks(text: str, first: Sequence[Hunk], second: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """One list of hunks on `text` that does what `first` and then `second` (on the text after it) do."""
    pieces = _cut(_cut([(0, len(text), "")], first), second)
    hunks: list[Hunk] = []
    at = 0
    new: list[str] = []
    for start, end, literal in [*pieces, (len(text), len(text), "")]:
        if start < 0:
            new.append(literal)
            continue
        if start == end < len(text):
            continue
        if start > at or new:
            hunks.append(Hunk(at, text[at:start], "".join(new)))
        at, new = end, []
    return tuple(trimmed for hunk in hunks if (trimmed := _trim(hunk)).old or trimmed.new)


def _cut(pieces: list[tuple[int, int, str]], hunks: Sequence[Hunk]) -> list[tuple[int, int, str]]:
    """Apply hunks to a text given as pieces: runs of the old text (start, end, ""), or (-1, length, literal)."""
    out: list[tuple[int, int, str]] = []
    queue = list(reversed(pieces))
    at = 0

    def take(until: int, keep: bool) -> None:
        nonlocal at
        while at < until:
            start, end, literal = queue.pop()
            size = end if start < 0 else end - start
            used = min(size, until - at)
            head = (-1, used, literal[:used]) if start < 0 else (start, start + used, "")
            if used < size:
                queue.append((-1, size - used, literal[used:]) if start < 0 else (start + used, end, ""))
            if keep:
                out.append(head)
            at += used

    for hunk in hunks:
        take(hunk.start, True)
        take(hunk.start + len(hunk.old), False)
        out.append((-1, len(hunk.new), hunk.new))
    out.extend(reversed(queue))
    return out


def _trim(hunk: Hunk) -> Hunk:
    """The hunk without what `old` and `new` share at their ends, so that it says no more than what changes."""
    start, old, new = hunk
    size = 0
    while size < min(len(old), len(new)) and old[size] == new[size]:
        size += 1
    start, old, new = start + size, old[size:], new[size:]
    size = 0
    while size < min(len(old), len(new)) and old[-1 - size] == new[-1 - size]:
        size += 1
    return Hunk(start, old[: len(old) - size], new[: len(new) - size])


# ------------------------------------------------------------------ lines to show

_TOKEN = re.compile(
    r"""
      (?P<string> "(?:[^"\\]|\\.)*(?:"|\\?$) | '[^']*(?:'|$) )
    | (?P<word> [^\s"'{}\[\]():,=]+ )
    """,
    re.VERBOSE,
)
_KEY_FOLLOWS = re.compile(r"\s*[:=](?!//)")
_PLAIN = re.compile(
    r"true|false|null|True|False|None|NaN|-?Infinity|[-+]?(?:inf|nan)|[-+0-9.eE_]{1,8}|//|/\*|\*/|#|<!--|-->"
)
_HEADER = re.compile(r"\s*\[\[?[^\[\]=:,{}]+\]\]?\s*(?:\#|$)")


def masked_line(line: str) -> str:
    """The line with every value in it replaced by dots, one a character: a line of a config file may hold a secret.

    Kept are quotes and punctuation, keys (what `:` or `=` follows), bare literals,
    short numbers, words below four letters, and the keys of a table header below 24.
    Control characters become dots, too.
    """
    header = _HEADER.match(line)
    header_end = header.end() if header else 0

    def mask(found: re.Match[str]) -> str:
        token = found.group()
        is_string = found.lastgroup == "string"
        is_value = line[: found.start()].rstrip().endswith((":", "="))  # in a broken line another `:` may follow
        if not is_value and _KEY_FOLLOWS.match(line, found.end()):
            return token
        if not is_string:
            if found.end() <= header_end:
                return re.sub(r"[^.]{24,}", lambda part: "•" * len(part.group()), token)
            return token if len(token) < 4 or _PLAIN.fullmatch(token) else "•" * len(token)
        closed = len(token) > 1 and token[-1] == token[0]
        return token[0] + "•" * (len(token) - 1 - closed) + (token[-1] if closed else "")

    shown = _TOKEN.sub(mask, line)
    return "".join(c if c == "\t" or c.isprintable() else "•" for c in shown)


def excerpt(text: str, offset: int) -> str:
    """The masked line of `offset` with a caret line under it that copies tabs; a window of it where it is long."""
    offset = min(offset, len(text))
    start, end = line_start(text, offset), line_end(text, offset)
    column = offset - start
    if end - start <= _LONGEST_LINE:
        shown = masked_line(text[start:end])
    else:  # cut before masking, quotes cannot be paired: then every letter goes
        cut = max(start, offset - _WINDOW)
        shown = re.sub(r"[^\s{}\[\]:,]", "•", text[cut : min(end, offset + _WINDOW)])
        shown = "".join(c if c.isprintable() else "•" for c in shown)
        return f"…{shown}…\n{' ' * (offset - cut + 1)}^"
    left = max(0, column - _WINDOW) if len(shown) > 2 * _WINDOW else 0
    lead, cut_line = ("…" if left else ""), shown[left : left + 2 * _WINDOW]
    tail = "…" if left + 2 * _WINDOW < len(shown) else ""
    blanks = "".join("\t" if c == "\t" else " " for c in shown[left:column])
    return f"{lead}{cut_line}{tail}\n{' ' if lead else ''}{blanks}^"
