"""Secrets in the formats that go by lines: YAML by indentation, Markdown by paragraphs and fences."""

from __future__ import annotations

import re

from hostconf.display.scan import CAREFUL, Frame, Scanner, scanner_for, unescaped
from hostconf.display.secrets import POSITION, after_option, below, scalar_spans, text_spans

_KEY = re.compile(
    r"(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'|<<|(?:[^\s#\-?{}\[\],&*!|>'\"%@`]|[\-?](?=\S))[^\n#]*?)"
    r"[ \t]*:(?=[ \t\r\n]|\Z)"
)
_DRESS = re.compile(r"(?:[ \t]+|&(?P<anchor>[^\s,\[\]{}]+)(?=\s|\Z)|![^\s,\[\]{}]*(?=\s|\Z))+")
_ALIAS = re.compile(r"[:\-\[,][ \t]+\*[\w]|\[\*")
_ANCHOR = re.compile(r"[:\-][ \t]+&\w")
_BLOCK = re.compile(r"[|>][+\-\d]*[ \t]*(?:\#[^\n]*)?(?=\r?\n|\Z)")
_BLANKS = ("", " ", "\t", "\r", "\n")
_PLAIN = re.compile(r"[^\n]*?(?=[ \t]+\#|[ \t]*\r?(?:\n|\Z))")


class _Level(Frame):
    """One open key or dash of a YAML text."""

    __slots__ = ("indent", "text")

    def __init__(self, indent: int, array: bool, state: str) -> None:
        super().__init__(array, state)
        self.indent = indent
        self.text = False
        """Whether the lines further in go on with a value that began on the key's line."""


class YamlScanner(Scanner):
    """YAML: what a line belongs to is told by its indentation."""

    def __init__(self, text: str, loose: bool = False, depth: int = 0) -> None:
        super().__init__(text, "yaml", loose, depth)
        self.levels = [_Level(-1, False, "")]
        self.anchors: dict[str, int] = {}
        self.wanted = _anchors_in_position(text) if _ALIAS.search(text) and _ANCHOR.search(text) else frozenset()

    def run(self, start: int, end: int) -> None:
        self.since = start
        if start - self.pos > CAREFUL and not self.wanted and self.text.lstrip("\ufeff \t\r\n")[:1] not in "{[\"'":
            self._pass_over(start)
        while self.pos < end:
            self._line()

    def _pass_over(self, to: int) -> None:
        """To `to`, or to the line above it whose value is still open, by the lines further out alone."""
        text = self.text
        chain: list[int] = []
        shallower, line = r"^ *[^\s#]", to
        while shallower and (line := _last(shallower, text, line)) >= 0:
            chain.append(line)
            indent = len(text[line : line + 256]) - len(text[line : line + 256].lstrip(" "))
            shallower = rf"^ {{0,{indent - 1}}}[^\s#]" if indent else ""
            if re.match(r"-\s", text[line + indent : line + indent + 2]):
                beside = rf"^ {{{indent}}}(?!-\s)[^\s#]"  # the key of a list may stand no further out than its dashes
                shallower = f"{shallower}|{beside}" if shallower else beside
        self.levels = [_Level(-1, False, "")]
        for line in reversed(chain):
            self.pos = line
            end = text.find("\n", line)
            if (
                re.search(r"(?:[:\-][ \t]+|^[ ]*)[\[{\"']", text[line:end])
                and text[line:end].rstrip()[-1:] not in "]}\"'"
            ):
                return
            self._line(skim=True)
        self.pos = to

    def _line(self, skim: bool = False) -> None:
        text = self.text
        end = text.find("\n", self.pos)
        end = len(text) if end < 0 else end
        start = self.pos
        while start < end and text[start] in " \ufeff":
            start += 1
        body = text[start:end].strip()
        indent = start - self.pos
        if not body:
            self.pos = end + 1
            return
        dashed = text[start] == "-" and text[start + 1 : start + 2] in _BLANKS
        while len(self.levels) > 1 and self.levels[-1].indent >= indent + dashed:
            self.levels.pop()
        top = self.levels[-1]
        if body[0] == "#":
            self.comment(start, end)
        if top.text and indent > top.indent:
            self.spans += scalar_spans(self.text[start:end].rstrip(), top.state, start)
        elif body[0] not in "#%" and not (indent == 0 and body in ("---", "...")):
            self._content(start, end, indent, skim)
            return
        self.pos = end + 1

    def _content(self, start: int, end: int, indent: int, skim: bool) -> None:
        text = self.text
        while text[start : start + 1] == "-" and text[start + 1 : start + 2] in _BLANKS:
            while len(self.levels) > 1 and self.levels[-1].text and self.levels[-1].indent == indent:
                self.levels.pop()
            top = self.levels[-1]
            if not (top.array and top.indent == indent):
                top = _Level(indent, True, top.state)
                self.levels.append(top)
            step = 1
            while start + step < end and text[start + step] in " \t":
                step += 1
            start, indent = start + step, indent + step
            if start >= end or text[start] == "\r":
                self.pos = end + 1
                return
        dressed = _DRESS.match(text, start, end)
        key = _KEY.match(text, dressed.end() if dressed else start, end)
        if key is None:
            level = self.levels[-1]
            self._value(start, end, level, level.indent, skim)
            return
        parent = self.levels[-1]
        frame = Frame(False, parent.state)
        name = unescaped(key[1][1:-1]) if key[1][0] == '"' else key[1].strip("'")
        frame.name(name, self.loose)
        self.word(key.start(1), key.end(1))
        level = _Level(indent, False, frame.child)
        self.levels.append(level)
        self._value(key.end(), end, frame, indent, skim, level)

    def _value(self, start: int, end: int, frame: Frame, indent: int, skim: bool, level: _Level | None = None) -> None:
        text = self.text
        dress = _DRESS.match(text, start, end)
        if dress:
            start = dress.end()
            if dress["anchor"] in self.wanted:
                frame.child = frame.state if frame.array else POSITION
                if level is not None:
                    level.state = level.child = POSITION
        if start >= end or text[start] in "\r#":
            if "#" in text[start:end]:
                self.comment(text.index("#", start), end)
            self.pos = end + 1
            return
        if level is not None:
            level.text = True
            level.state = level.child = frame.scalar
        if _BLOCK.match(text, start, end):
            self.pos = end + 1
            if frame.array:
                self._goes_on(frame, indent)
            return
        if text[start] in "\"'{[" and not skim:
            self.pos = start
            if level is not None:
                level.text = False
            self.frames = [frame]
            self.flow(len(text), whole=True)
            end = text.find("\n", self.pos)
            end = len(text) if end < 0 else end
            if "#" in text[self.pos : end]:
                self.comment(text.index("#", self.pos), end)
            if level is None:
                frame.done(frame.last)
        else:
            plain = _PLAIN.match(text, start, end)
            stop = plain.end() if plain else end
            if frame.array:
                self._goes_on(frame, indent)
            if not skim:
                self.value(start, stop, frame, bare=True)
                if "#" in text[stop:end]:
                    self.comment(text.index("#", stop), end)
            if level is None:
                frame.done(text[start:stop])
        self.pos = end + 1

    def _goes_on(self, frame: Frame, indent: int) -> None:
        """An item of a list may take more lines, further in than its dash."""
        level = _Level(indent, False, frame.scalar)
        if frame.before and after_option(frame.before, "-x") != after_option("", "-x"):
            level.state = level.child = POSITION
        level.text = True
        self.levels.append(level)


def _last(pattern: str, text: str, end: int) -> int:
    """Where the last line before `end` begins that matches; -1 when there is none."""
    lines, size = re.compile(pattern, re.MULTILINE), 4096
    while True:
        begin = text.rfind("\n", 0, max(0, end - size)) + 1
        found = -1
        for match in lines.finditer(text, begin, end):
            found = match.start()
        if found >= 0 or begin == 0:
            return found
        size *= 8


def _anchors_in_position(text: str) -> frozenset[str]:
    """Anchors whose alias stands where every value is masked: `env: *common`, or `<<: *common` below `env`."""
    found: set[str] = set()
    stack: list[tuple[int, str]] = []
    for line in text.split("\n"):
        match = re.match(r"([ \-]*)(?:[\"']?([\w.\-]+|<<)[\"']?[ \t]*:)?[ \t]*(.*)", line)
        if match is None or not line.strip():
            continue
        indent = len(match[1])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        state = stack[-1][1] if stack else ""
        if match[2] and match[2] != "<<":
            state = below(state, match[2])
            stack.append((indent, state))
        if state == POSITION:
            found.update(re.findall(r"\*([^\s,\[\]{}]+)", match[3]))
    return frozenset(found)


class ProseScanner(Scanner):
    """Markdown and everything else: line by line, and configuration in fences by its format."""

    _FENCE = re.compile(r"^[ \t>]*(```+|~~~+)[ \t]*([A-Za-z0-9]*)[^\n]*", re.MULTILINE)
    _FORMATS = {"json": "json", "jsonc": "json", "json5": "json", "toml": "toml", "yaml": "yaml", "yml": "yaml"}

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, "json", True, depth)
        self.fence: tuple[str, str, int] | None = None

    def run(self, start: int, end: int) -> None:
        text = self.text
        begin = max(text.rfind("\n", 0, start) + 1, start - 4096)  # a region may begin inside a long line
        self.spans += text_spans(text[begin:end], begin, prose=True)
        for mark in self._FENCE.finditer(text, self.pos, end):
            if self.fence is None:
                self.fence = (mark[1], self._FORMATS.get(mark[2].lower(), ""), mark.end())
            elif mark[1].startswith(self.fence[0]) and not mark[2]:
                if mark.start() > start:
                    self._fenced(mark.start())
                self.fence = None
        self.pos = end
        if self.fence is not None:
            self._fenced(end)

    def _fenced(self, end: int) -> None:
        _, dialect, start = self.fence or ("", "", 0)
        if dialect and self.depth < 2:
            body = self.text[start:end]
            scanner = scanner_for(body, dialect, loose=True, depth=self.depth + 1)
            scanner.run(0, len(body))
            self.spans += [(a + start, b + start) for a, b in scanner.spans]
