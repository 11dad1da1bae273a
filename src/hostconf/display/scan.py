"""Where a whole configuration text holds secrets: every value with what its place in the structure says.

Pure and tolerant: a text that no parser takes is scanned as far as it makes sense,
and a lone line as a piece of an unknown whole (`loose`). Only the wanted region is
looked at closely; what stands before it is passed over for its structure alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hostconf.display.secrets import (
    GIVEN,
    SECRET,
    Span,
    below,
    key_block_spans,
    merged,
    scalar_spans,
    secret_name,
    shape_spans,
    text_spans,
)

CAREFUL = 1 << 18
"""Texts up to this many characters are scanned whole; in longer ones the way to a region is passed over fast."""

_DOUBLE = r"\"(?:[^\"\\\n]|\\.)*+\"?"
_JSON = re.compile(
    rf"(?P<s>{_DOUBLE}|'(?:[^'\\\n]|\\.)*+'?)|(?P<c>//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<p>[{{}}\[\],:])|"
    r"(?P<w>[^\s{}\[\],:\"'/]+|/)",
    re.DOTALL,
)
_TOML = re.compile(
    rf"(?P<s>\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"+|\Z)|'''.*?(?:'''+|\Z)|{_DOUBLE}|'[^'\n]*'?)|(?P<c>\#[^\n]*)|"
    r"(?P<p>[{}\[\],=])|(?P<w>[^\s{}\[\],=\"'\#]+)",
    re.DOTALL,
)
_YAML = re.compile(
    r"(?P<s>\"(?:[^\"\\]|\\.)*+\"?|'(?:[^']|'')*+'?)|(?P<c>(?<=\s)\#[^\n]*)|(?P<p>[{}\[\],]|:(?=[\s,\[\]{}\"']|\Z)|(?<=[\"']):)|"
    r"(?P<w>(?:[^\s,\[\]{}:\"']|:(?![\s,\[\]{}]))(?:[^,\[\]{}:\n\#]|:(?![\s,\[\]{}])|(?<!\s)\#)*)",
    re.DOTALL,
)
_AFTER_KEY = {
    "json": re.compile(r"\s*:"),
    "toml": re.compile(r"[ \t]*[=.]"),
    "yaml": re.compile(r"\s*:(?=\s|\Z|[\"'{\[])"),
}
_TOKENS = {"json": _JSON, "toml": _TOML, "yaml": _YAML}
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))")


class Frame:
    """One open object or array: what its values are, and what stood before."""

    __slots__ = ("array", "before", "child", "key", "last", "state")

    def __init__(self, array: bool, state: str) -> None:
        self.array, self.state, self.child = array, state, state
        self.key = self.before = self.last = ""

    def name(self, key: str, loose: bool) -> None:
        """A key was read: what is its value?"""
        self.key = key
        self.child = below(self.state, key, loose)
        self.before = ""

    @property
    def scalar(self) -> str:
        """What a value that is no object is."""
        if self.state == GIVEN and not self.array and self.child in ("", GIVEN) and self.key and secret_name(self.key):
            return SECRET
        return self.child

    def done(self, text: str) -> None:
        """A value was read."""
        self.before = text
        self.child, self.key = self.state, ""


def unescaped(text: str) -> str:
    """A key without its escapes, as far as they matter here."""
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        return chr(int(code, 16)) if code and int(code, 16) <= 0x10FFFF else match[4] or ""

    return _ESCAPED.sub(one, text)


class Scanner:
    """What all formats share: the spans found, and how values, keys and comments are judged."""

    def __init__(self, text: str, dialect: str, loose: bool, depth: int = 0) -> None:
        self.text, self.dialect, self.loose, self.depth = text, dialect, loose, depth
        self.spans: list[Span] = []
        self.pos = self.since = 0
        self.frames = [Frame(False, "")]

    def value(self, start: int, end: int, frame: Frame, bare: bool = False) -> None:
        """One value that is no object and no array."""
        text = self.text[start:end]
        if end >= self.since:
            self.spans += scalar_spans(text, frame.scalar, start, bare=bare, before=frame.before, item=not frame.key)
        if self.dialect == "yaml":
            frame.last = text  # a plain value may go on in the next line: only a comma ends it
        else:
            frame.done(text)

    def word(self, start: int, end: int) -> None:
        """A key, or a word nobody expected: judged by its looks alone."""
        if end < self.since:
            return
        text = self.text[start:end]
        self.spans += text_spans(text, start, prose=True) if len(text) > 20 or "=" in text else shape_spans(text, start)

    def comment(self, start: int, end: int) -> None:
        """A comment may hold a piece of configuration that was taken out."""
        if end < self.since:
            return
        for line in re.finditer(r"[^\n]+", self.text[start:end]):
            marks = re.match(r"[\s/#*;]*", line.group())
            skip = marks.end() if marks else 0
            self.spans += piece_spans(line.group()[skip:], self.dialect, start + line.start() + skip, self.depth + 1)

    def flow(self, end: int, whole: bool = False) -> None:
        """Brackets, keys and values from `pos` to `end`; with `whole` no further than the value that begins here."""
        tokens, after_key, text = _TOKENS[self.dialect], _AFTER_KEY[self.dialect], self.text
        base = len(self.frames) if whole else 1
        while self.pos < end:
            match = tokens.search(text, self.pos)
            if match is None or match.start() >= end:
                self.pos = max(self.pos, end)
                return
            self.pos = match.end()
            frame = self.frames[-1]
            kind, token = match.lastgroup, match.group()
            if kind == "c":
                self.comment(match.start(), match.end())
                continue
            if token == "." and self.dialect == "toml":
                continue
            if kind == "p":
                self._bracket(token, frame, base)
            else:
                start, stop = _inside(match, kind or "w")
                if after_key.match(text, match.end()) and (not frame.array or self.dialect == "yaml"):
                    self._name(text[start:stop], frame, after_key, match.end())
                    self.word(start, stop)
                    continue
                self.value(start, stop, frame, bare=kind == "w")
            if whole and len(self.frames) <= base and token not in (",", ":", "="):
                return

    def _name(self, key: str, frame: Frame, after_key: re.Pattern[str], end: int) -> None:
        if self.dialect != "toml":
            return frame.name(unescaped(key), self.loose)
        parts = key.split(".") if self.text[end - 1] not in "\"'" else [unescaped(key)]
        state = frame.state
        for part in filter(None, parts):
            if frame.key:  # the part before the dot
                frame.state = frame.child
            frame.name(part, self.loose)
        frame.state = state

    def _bracket(self, token: str, frame: Frame, base: int) -> None:
        if token in "{[":
            self.frames.append(Frame(token == "[", frame.child if token == "{" else frame.scalar))
        elif token in "}]":
            if len(self.frames) > max(1, base):
                self.frames.pop()
            self.frames[-1].done("")
        elif token == "," and (self.dialect == "yaml" or not frame.array):
            frame.done(frame.last)
            frame.last = ""

    def run(self, start: int, end: int) -> None:
        """Looks at a region. Regions come in rising order."""
        raise NotImplementedError


def _inside(match: re.Match[str], kind: str) -> Span:
    """A string without its quotes; a bare word without the blanks behind it."""
    token, start = match.group(), match.start()
    if kind == "w":
        return start, start + len(token.rstrip())
    width = 3 if token[:3] in ('"""', "'''") else 1
    closed = len(token) >= 2 * width and token[-width:] == token[:width]
    return start + width, match.end() - (width if closed else 0)


def _key_before(text: str, pos: int, end: int) -> str:
    """The key whose value begins at `end`; empty when there is none."""
    tail = text[max(pos, end - 400) : end].rstrip()
    if tail[-1:] != ":":
        return ""
    tail = tail[:-1].rstrip()
    if tail[-1:] not in ("'", '"'):
        return re.split(r"[\s,{]", tail)[-1]
    first = tail.rfind(tail[-1], 0, -1)
    while first > 0 and tail[first - 1] == "\\":
        first = tail.rfind(tail[-1], 0, first)
    return tail[first + 1 : -1]


class JsonScanner(Scanner):
    """JSON, JSONC, JSON5."""

    _FLAT = re.compile(
        r"(?:[^\"'{}\[\]/]++|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|//[^\n]*+(?=\n)|/\*.*?\*/|/(?![/*]))*+[{}\[\]]",
        re.DOTALL,
    )

    def __init__(self, text: str, loose: bool = False, depth: int = 0) -> None:
        super().__init__(text, "json", loose, depth)

    def run(self, start: int, end: int) -> None:
        self.since = start
        if start - self.pos > CAREFUL:
            self._pass_over(start)
        self.flow(end)

    def _pass_over(self, to: int) -> None:
        """To a few lines before `to`: only brackets count, and of those only the ones that stay open."""
        text, pos, flat = self.text, self.pos, self._FLAT.match
        opened: list[tuple[int, int]] = []
        while (match := flat(text, pos, to)) is not None:
            stop = match.end() - 1
            if text[stop] in "{[":
                opened.append((pos, stop))
            elif opened:
                opened.pop()
            else:
                if len(self.frames) > 1:
                    self.frames.pop()
                self.frames[-1].done("")
            pos = stop + 1
        for start, stop in opened:
            frame = self.frames[-1]
            if not frame.array and (key := _key_before(text, start, stop)):
                frame.name(unescaped(key), self.loose)
            self.frames.append(Frame(text[stop] == "[", frame.child if text[stop] == "{" else frame.scalar))
        line = to
        for _ in range(20):
            line = text.rfind("\n", pos, line)
            if line < 0:
                break
        self.pos = max(pos, line)


class TomlScanner(Scanner):
    """TOML: statements, whose values are flow."""

    _PART = r"(?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[A-Za-z0-9_\-]+)"
    _PATH = rf"[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART})*[ \t]*"
    _HEADER = re.compile(rf"[ \t]*\[\[?({_PATH})\]\]?[ \t]*(?=\#|\r?\n|\Z)")
    _STATEMENT = re.compile(rf"({_PATH})=[ \t]*")
    _PARTS = re.compile(_PART)
    _ONE = r"\"(?!\"\")[^\"\\\n]*+\"|'(?!'')[^'\n]*+'"
    _SIMPLE = re.compile(
        rf"(?:(?:[ \t]*+(?:[A-Za-z0-9_\-.]++|\"[^\"\\\n]*+\")[ \t]*+=[ \t]*+"
        rf"(?:{_ONE}|[^\s\"'\[{{#,]++|\[(?:{_ONE}|[^\[\]\"'#\n]++)*+\])|\[\[?(?:\"[^\"\\\n]*+\"|[\w \t.\-])++\]\]?)?"
        r"[ \t]*+(?:\#[^\n]*+)?\r?\n)*+"
    )

    def __init__(self, text: str, loose: bool = False, depth: int = 0) -> None:
        super().__init__(text, "toml", loose, depth)
        self.state = ""

    def run(self, start: int, end: int) -> None:
        self.since = start
        while self.pos < end:
            if start > self.pos and len(self.text) > CAREFUL:
                self._pass_over(start)
            self._statement()

    def _pass_over(self, to: int) -> None:
        """Over statements of one line; of their headers only the last counts."""
        text, begin = self.text, self.pos
        match = self._SIMPLE.match(text, begin, to)
        self.pos = match.end() if match else begin
        header = text.rfind("\n[", max(0, begin - 1), self.pos)
        if header >= 0 or (begin == 0 and text[:1] == "["):
            after, self.pos = self.pos, header + 1
            self._statement()
            self.pos = after

    def _keys(self, path: str) -> list[str]:
        parts = self._PARTS.findall(path)
        return [unescaped(part[1:-1]) if part[:1] == '"' else part.strip("'") for part in parts]

    def _statement(self) -> None:
        text = self.text
        if header := self._HEADER.match(text, self.pos):
            self.word(header.start(1), header.end(1))
            self.state = ""
            for key in self._keys(header[1]):
                self.state = below(self.state, key, self.loose)
            self.pos = header.end()
        elif statement := self._STATEMENT.match(text, self.pos):
            self.word(statement.start(1), statement.end(1))
            frame = Frame(False, self.state)
            for nth, key in enumerate(self._keys(statement[1])):
                if nth:
                    frame.state = frame.child
                frame.name(key, self.loose)
            self.frames = [frame]
            self.pos = statement.end()
            if self.pos < len(text) and text[self.pos] not in "\r\n#":
                self._value(frame)
        self._rest_of_line()

    def _value(self, frame: Frame) -> None:
        bare = re.compile(r"[^\s\"'\[{][^\n#]*").match(self.text, self.pos)
        if bare:
            self.value(self.pos, self.pos + len(bare.group().rstrip()), frame, bare=True)
            self.pos = bare.end()
        else:
            self.flow(len(self.text), whole=True)

    def _rest_of_line(self) -> None:
        end = self.text.find("\n", self.pos)
        end = len(self.text) if end < 0 else end
        rest = self.text[self.pos : end]
        hash_ = rest.find("#")
        if hash_ >= 0 and not rest[:hash_].strip():
            self.comment(self.pos + hash_, end)
        elif rest.strip():
            self.frames = [Frame(True, self.state)]
            self.flow(end)
        self.pos = end + 1


def piece_spans(text: str, dialect: str, at: int, depth: int = 1) -> list[Span]:
    """Secrets in a piece of a configuration whose surroundings are not known: a comment, a lone line."""
    spans = text_spans(text, at, prose=True)
    if depth <= 2 and any(mark in text for mark in ":=["):
        scanner = scanner_for(text, dialect, loose=True, depth=depth)
        scanner.run(0, len(text))
        spans += [(start + at, end + at) for start, end in scanner.spans]
    return spans


def scanner_for(text: str, dialect: str, loose: bool = False, depth: int = 0) -> Scanner:
    """The scanner of a format; everything that is none is prose."""
    if dialect in ("json", "jsonc", "json5"):
        return JsonScanner(text, loose, depth)
    if dialect == "toml":
        return TomlScanner(text, loose, depth)
    if dialect == "yaml":
        from hostconf.display.scan_lines import YamlScanner

        return YamlScanner(text, loose, depth)
    from hostconf.display.scan_lines import ProseScanner

    return ProseScanner(text, depth)


def secret_spans(text: str, dialect: str, regions: Sequence[Span], loose: bool = False) -> list[Span]:
    """Secrets in the regions of a text (more may be given), in rising order."""
    scanner = scanner_for(text, dialect, loose)
    for start, end in regions:
        scanner.run(start, end)
    return merged([*scanner.spans, *key_block_spans(text)])
