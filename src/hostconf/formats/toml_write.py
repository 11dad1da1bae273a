"""Plain values as TOML 1.0 text, on one line."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from hostconf.errors import EditRefused
from hostconf.formats.toml_scan import MAX_DEPTH

_BARE_KEY_RE = re.compile(r"[A-Za-z0-9_-]+")
# U+2028 and its kin are legal in TOML, but some line-based tools break lines there.
_ESCAPED_RE = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]')
_SURROGATE_RE = re.compile(r"[\ud800-\udfff]")
_SHORT = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def checked(value: Any, depth: int = 0) -> Any:
    """`value` with tuples as lists, if TOML can say it.

    Raises EditRefused (`wrong-type`) for null, for integers beyond 64 bits, for a key
    that is no string, for lone surrogates and for what is nested too deep.
    """
    if depth > MAX_DEPTH:
        raise EditRefused("this value is nested too deep", code="wrong-type")
    if isinstance(value, dict):
        for key in value:
            check_key(key)
        return {key: checked(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [checked(item, depth + 1) for item in value]
    if type(value) is str:
        _check_text(value)
    elif type(value) is int:
        if not -(2**63) <= value < 2**63:
            raise EditRefused("TOML has no integers beyond 64 bits", code="wrong-type")
    elif type(value) is datetime.time:
        if value.tzinfo is not None:
            raise EditRefused("TOML has no time with a time zone but without a date", code="wrong-type")
    elif type(value) not in (bool, float, datetime.datetime, datetime.date):
        what = "null" if value is None else f"a value of type `{type(value).__name__}`"
        raise EditRefused(f"TOML cannot say {what}", code="wrong-type")
    return value


def check_key(key: Any) -> None:
    """Raises EditRefused (`wrong-type`) if `key` cannot be a key in TOML."""
    if type(key) is not str:
        raise EditRefused(f"a key in TOML is a string, not `{key!r}`", code="wrong-type")
    _check_text(key)


def _check_text(text: str) -> None:
    if _SURROGATE_RE.search(text):
        raise EditRefused("a lone surrogate cannot be written in TOML", code="wrong-type")


def write_key(key: str) -> str:
    """One key, quoted if it is no bare key."""
    return key if _BARE_KEY_RE.fullmatch(key) else write_string(key)


def write_string(text: str) -> str:
    """A basic string."""
    return '"' + _ESCAPED_RE.sub(lambda m: _SHORT.get(m[0]) or f"\\u{ord(m[0]):04X}", text) + '"'


def write_value(value: Any) -> str:
    """A value that `checked` has passed; dicts as inline tables."""
    if isinstance(value, dict):
        inside = ", ".join(f"{write_key(key)} = {write_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return str(value)
    return str(value.isoformat())
