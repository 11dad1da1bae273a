"""The second opinion: what new bytes mean to a reader that had no part in writing them.

json5 reads JSON and JSONC, tomlkit TOML; each is imported when it is needed. json5
costs 15 ms a KB, so above `JSON5_LIMIT` the standard json stands in, for JSONC behind a
scanner of its own. Nothing here is shared with the first readers.
"""

from __future__ import annotations

import re
from typing import Any

from hostconf.errors import FormatError

JSON5_LIMIT = 64 * 1024
"""json5 needs a second for this much."""

TOML_LIMIT = 1024 * 1024
"""tomlkit needs ten seconds for this much, and nothing independent is faster."""

_NAMED = re.compile(r".*hostconf:(?:begin|end) [A-Za-z0-9][\w.:/@+-]* ")
_STRING = r'"(?:[^"\\]|\\.)*"'
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING_OR_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])", re.DOTALL)


def read_second(format: str, data: bytes) -> Any:
    """The plain value of the bytes; for `markdown` the blocks, id to body. Blank bytes are an empty table.

    Raises:
        FormatError: the second reader cannot read them.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8 to the second reader", code="not-utf8") from None
    try:
        match format:
            case "json":
                return _json(text)
            case "jsonc":
                return _jsonc(text)
            case "toml":
                return _toml(text)
            case "markdown":
                return _blocks(text)
    except RecursionError:
        raise FormatError("too deep for the second reader", code="too-deep") from None
    except ValueError as problem:  # of json, of json5, and what tomlkit raises: their words may quote a secret
        raise FormatError(f"the second reader cannot read this ({type(problem).__name__})") from None
    raise ValueError(f"no second reader for `{format}`")


def _json(text: str) -> Any:
    import json

    if not text.strip():
        return {}
    value = json.loads(text)  # json5 would let a comment pass
    return value if len(text) > JSON5_LIMIT else _json5(text, value)


def _json5(text: str, otherwise: Any) -> Any:
    """What json5 reads; `otherwise` where the text is deeper than the hundred levels it follows."""
    import json5

    try:
        return json5.loads(text)
    except RecursionError:
        return otherwise


def _jsonc(text: str) -> Any:
    import json

    bare = _STRING_OR_COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else " ", text)
    if not bare.strip():
        return {}
    if len(text) <= JSON5_LIMIT:
        import json5

        try:
            return json5.loads(text)
        except RecursionError:
            pass
    return json.loads(_STRING_OR_COMMA.sub(lambda m: m.group() if m.group()[0] == '"' else " ", bare))


def _toml(text: str) -> Any:
    if len(text) > TOML_LIMIT:
        raise FormatError(f"TOML of more than {TOML_LIMIT:,} characters is not written", code="too-large")
    # TOML lets a reader fold the line ends of a long string; tomlkit keeps them, tomllib folds
    text = text.replace("\r\n", "\n")
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text).unwrap()
    except TOMLKitError as problem:
        raise FormatError(f"the second reader cannot read this ({type(problem).__name__})") from None


def _blocks(text: str) -> dict[str, str]:
    """The blocks by their marker lines. Simple on purpose: the first reader worries about damage."""
    blocks: dict[str, str] = {}
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fence, name, start = "", "", 0
    front = -1
    if lines[0].rstrip(" \t") == "---":  # a front matter holds no fences
        front = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip(" \t") == "---"), -1)
    for number, line in enumerate(lines):
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        bare = re.sub(r"^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])+", "", line)
        run = bare[: len(bare) - len(bare.lstrip(bare[:1]))] if bare[:1] in ("`", "~") else ""
        if number > front and len(run) >= 3 and not (run[0] == "`" and "`" in bare[len(run) :]):
            fence = run if any(_closes(later, run) for later in lines[number + 1 :]) else ""
            continue
        words = line.strip(" \t").split(" ")
        if words[0] != "<!--" or words[-1] != "-->" or not re.match(" {0,3}<", line) or not _NAMED.match(line):
            continue
        match words[1:-1]:
            case ["hostconf:begin", name] | ["hostconf:begin", name, "nl=0"]:
                start = number + 1
            case ["hostconf:end", closed]:
                if closed == name:
                    blocks.setdefault(name, "\n".join(lines[start:number]))
                name = ""
    return blocks


def _closes(line: str, fence: str) -> bool:
    bare = line.lstrip(" \t>").rstrip()
    return bare.startswith(fence) and not bare.strip(fence[0])


# ------------------------------------------------------------------ agreement


def same_meaning(a: Any, b: Any) -> bool:
    """Whether two readers mean the same, typed: 1, 1.0, True and "1" differ.

    Allowed for is what they differ in by nature: how an escaped pair of surrogates is
    held, and the class of a time zone. Not a number is equal to itself.
    """
    waiting = [(a, b)]
    while waiting:  # no recursion: a thousand levels are allowed
        a, b = waiting.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            left = {_whole(key): item for key, item in a.items()}
            right = {_whole(key): item for key, item in b.items()}
            if left.keys() != right.keys():
                return False
            waiting += [(item, right[key]) for key, item in left.items()]
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return False
            waiting += zip(a, b, strict=True)
        elif not _same_scalar(a, b):
            return False
    return True


def _same_scalar(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return bool(a == b) or _whole(a) == _whole(b)
    for kind in (bool, int, float):
        if isinstance(a, kind) or isinstance(b, kind):
            return isinstance(a, kind) and isinstance(b, kind) and bool(a == b or (a != a and b != b))
    if hasattr(a, "isoformat") and hasattr(b, "isoformat"):  # dates and times
        return bool(a.isoformat() == b.isoformat())
    return a is None and b is None


def _whole(text: Any) -> Any:
    """The string with pairs of surrogates joined."""
    if not isinstance(text, str) or text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
