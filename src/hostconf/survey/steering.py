"""Placeholder until the room for steering lines is finished."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Steer(NamedTuple):
    """A line that steers."""

    line: int
    text: str
    tools: tuple[str, ...]
    direction: str


def steering_lines(
    text: str,
    *,
    own_tools: Sequence[str],
    rival_tools: Sequence[str],
    rival_names: Sequence[str],
    host_tools: Sequence[str],
) -> tuple[Steer, ...]:
    """Lines that name a rival tool beside a directive word."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        named = tuple(t for t in (*rival_tools, *host_tools) if t in line)
        if named and re.search(r"\b(use|always|never|prefer|instead|must)\b", line, re.I):
            found.append(Steer(number, line, named, "to"))
    return tuple(found)
