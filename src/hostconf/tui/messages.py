"""What screens tell one another and what work in the background brings back."""

from __future__ import annotations

from dataclasses import dataclass

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
class WishChanged(Message):
    """What the person wishes is another now."""


@dataclass
class Step(Message):
    """Work that writes has come so far. A newer one takes the place of an older one that waits."""

    text: str

    def can_replace(self, message: Message) -> bool:
        """A flood of steps is shown as its newest."""
        return isinstance(message, Step)
