"""JSONC as strict JSON of the same length: what only JSONC has becomes blanks, so every offset holds in both."""

from __future__ import annotations

import re
from typing import NamedTuple

# To the next comment: strings are passed over inside the pattern, a callback for each would cost six times as much.
_ANY_STRING = r'"[^"\\\n\r]*+(?:\\.[^"\\\n\r]*+)*+"'
_TO_COMMENT = re.compile(rf'[^"/]*+(?:{_ANY_STRING}[^"/]*+)*+')
# No `.*?`: it is not atomic, a look-ahead may make it swallow the end of the comment.
_COMMENT = re.compile(r"//[^\r\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/")
_TO_LAST_COMMA = re.compile(rf'[^",]*+(?:(?:{_ANY_STRING}|,(?![ \t\n\r]*+[}}\]]))[^",]*+)*+')
_LAST_COMMA = re.compile(r",[ \t\n\r]*+[}\]]")


class Broken(Exception):
    """The text is no JSON: why, and where."""

    def __init__(self, message: str, offset: int, code: str = "syntax", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.code = code
        self.hint = hint


class Clean(NamedTuple):
    """A text as strict JSON of the same length: comments and commas behind the last entry are blanks."""

    text: str
    commas: list[int]
    """Where commas were blanked, rising."""


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of a pattern that matches everywhere ends."""
    found = pattern.match(text, at)
    return found.end() if found else at


def clean(text: str, comments: bool) -> Clean:
    """The text without what only JSONC has.

    Raises:
        Broken: a block comment is not closed.
    """
    if not comments:
        return Clean(text, [])
    if "/*" in text or "//" in text:
        text = _without_comments(text)
    if not _LAST_COMMA.search(text):  # may be inside a string; asked because it is cheap
        return Clean(text, [])
    commas: list[int] = []
    pieces: list[str] = []
    at = done = 0
    while True:
        at = match_end(_TO_LAST_COMMA, text, at)
        if not text.startswith(",", at):
            break
        if not _ends_with_opener(text, at):  # `[,]` stays as it is, an error
            pieces += (text[done:at], " ")
            commas.append(at)
            done = at + 1
        at += 1
    return Clean("".join([*pieces, text[done:]]), commas) if commas else Clean(text, [])


def _without_comments(text: str) -> str:
    pieces: list[str] = []
    at = done = 0
    while True:
        at = match_end(_TO_COMMENT, text, at)
        found = _COMMENT.match(text, at)
        if found is None:
            if text.startswith("/*", at):
                raise Broken("the comment is not closed", at)
            break  # the end, or something that no JSON has: the decoder says so
        pieces += (text[done:at], " " * (found.end() - at))
        at = done = found.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _ends_with_opener(text: str, end: int) -> bool:
    """Whether what stands before `end` leaves no room for a comma."""
    at = end - 1
    while at >= 0 and text[at] in " \t\n\r":
        at -= 1
    return at < 0 or text[at] in "{[,:"
