"""Forms and patterns: what a switch's item stands for, and whether it means this server or tool.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any


def fill_form(form: Any, names: Mapping[str, Any]) -> Any:
    """A form with its names filled in; a string that is one name alone takes its value as it is (a list, say).

    None where a name is not known or empty: such a form stands for nothing.
    """
    if isinstance(form, dict):
        filled = {key: fill_form(value, names) for key, value in form.items()}
        return None if None in filled.values() else filled
    if not isinstance(form, str) or "{" not in form:
        return form
    if form.startswith("{") and form.endswith("}") and form[1:-1] in names:
        return names[form[1:-1]] or None
    out: list[str] = []
    for part in re.split(r"(\{\w+\})", form):
        value = names.get(part[1:-1]) if part.startswith("{") and part.endswith("}") else part
        if not isinstance(value, str) or (not value and part):
            return None
        out.append(value)
    return "".join(out)


def glob_match(pattern: str, text: str) -> bool:
    """Whether the pattern, in which `*` alone is special, matches the whole text."""
    if "*" not in pattern:
        return pattern == text
    return _pattern(pattern).fullmatch(text) is not None


@lru_cache(512)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def overlaps(pattern: str, form: str) -> bool:
    """Whether a pattern can match something that the form, with a `*` at its end, stands for."""
    start, mine = pattern.partition("*")[0], form.partition("*")[0]
    if "*" not in pattern:
        return glob_match(form, pattern)
    return start.startswith(mine) or mine.startswith(start)


def item_matches(
    item: Any, form: Any, glob: bool, keys: Collection[str] = (), globs: Mapping[str, str] | None = None
) -> bool:
    """Whether an item of a list in a file stands for what the filled form says.

    Args:
        glob: a text may hold stars.
        keys: for tables, the keys that mean something: exactly those of the form have to be there, others do not count.
        globs: key of a table whose value may hold stars, and what such a value has to match.
    """
    if isinstance(item, dict) and isinstance(form, dict):
        if {key for key in item if key in keys} != set(form):
            return False
        return all(_value_matches(key, item[key], form[key], globs or {}) for key in form)
    if isinstance(item, str) and isinstance(form, str):
        return glob_match(item, form) if glob else item == form
    return bool(type(item) is type(form) and item == form)


def _value_matches(key: str, value: Any, wanted: Any, globs: Mapping[str, str]) -> bool:
    if key in globs and isinstance(value, str) and isinstance(wanted, str):
        return value == wanted or (re.search(globs[key], value) is not None and glob_match(value, wanted))
    return bool(type(value) is type(wanted) and value == wanted)
