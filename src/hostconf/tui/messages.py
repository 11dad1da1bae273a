"""What screens tell one another and what work in the background brings back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.message import Message


@dataclass
class Failed(Message):
    """Work in the background failed."""

    code: str
    message: str
    hint: str = ""
    path: str = ""
    line: int = 0


@dataclass
class Step(Message):
    """Work that writes has come so far. A newer one takes the place of an older one that waits."""

    text: str

    def can_replace(self, message: Message) -> bool:
        """A flood of steps is shown as its newest."""
        return isinstance(message, Step)


@dataclass
class Stopped(Message):
    """Work that writes failed, and why."""

    failure: Failed


def first_of(errors: Sequence[Mapping[str, Any]]) -> Failed | None:
    """The first of some errors of a result, as a message to show."""
    if not errors:
        return None
    one = errors[0]
    more = f" (and {len(errors) - 1} more: `hostconf doctor` names all)" if len(errors) > 1 else ""
    return Failed(str(one["code"]), f"{one['message']}{more}", str(one["hint"] or ""))
