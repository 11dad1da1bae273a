"""Standard output: data and nothing else. The only writer of it.

What a program reads is one JSON envelope; what a person reads are lines that a
verb made. Neither lets a character through that would drive a terminal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from hostconf.model import OperationResult

SCHEMA = 1

# Inside JSON these stand in strings alone, where an escape means the same: delete and C1,
# soft hyphen, letter and line marks, directions, zero width, tags, halves of pairs, private use.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)


def envelope(result: OperationResult) -> dict[str, Any]:
    """The JSON envelope of a result, as docs/json.md describes it."""
    return {
        "schema": SCHEMA,
        "command": result.command,
        "status": result.status,
        "data": result.data,
        "messages": list(result.messages),
        "errors": [dict(error) for error in result.errors],
    }


def json_text(value: Any) -> str:
    """A value as JSON for people and programs: readable letters, no character that acts on a terminal."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2, default=_plain)
    return _UNSAFE.sub(_escaped, text)


def show_envelope(result: OperationResult) -> None:
    """Write the envelope."""
    import json

    text = json_text(envelope(result))
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if encoding.lower().replace("-", "").replace("_", "") != "utf8":
        text = json.dumps(json.loads(text), ensure_ascii=True, indent=2)
    _write(text + "\n")


def show_lines(lines: Iterable[str]) -> None:
    """Write lines that were made for a person; each is whole, and foreign text in it was made safe."""
    text = "".join(f"{line}\n" for line in lines)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write(text: str) -> None:
    # None where it was closed before the start: then nobody is to read it
    if sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()


def is_terminal() -> bool:
    """Whether a person is likely to read standard output as it comes."""
    return sys.stdout is not None and sys.stdout.isatty()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"not data: {type(value).__name__}")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
