"""What every format gives: immutable documents, edits as values with their inverse.

Pure: text in, text out. A document is the old text and the spans found in it; an
edit is a list of hunks and the document they lead to. Bytes outside the hunks are
slices of the old text, so they cannot change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from hostconf.errors import EditRefused, FormatError

KeyPath = tuple[str | int, ...]
"""Where a value stands: keys, and indexes of array items. Never a dotted string."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""No value there: told apart from null."""


class Span(NamedTuple):
    """A run of the text: offsets in code points of the text without its BOM; line and column 1-based."""

    start: int
    end: int
    line: int
    column: int


class Hunk(NamedTuple):
    """One replacement: at `start` (code points, in the text before) `old` becomes `new`."""

    start: int
    old: str
    new: str


class Edit(NamedTuple):
    """What happened: two documents and the hunks between them, in rising order, not touching."""

    before: Document
    after: Document
    hunks: tuple[Hunk, ...]

    @property
    def changed(self) -> bool:
        """Whether a byte differs."""
        return bool(self.hunks)

    def inverse(self) -> Edit:
        """The edit that leads back, to the byte."""
        return Edit(self.after, self.before, inverse_hunks(self.hunks))


class Document(Protocol):
    """One text of one format, parsed. Immutable: every edit gives a new document.

    `issues` are oddities that do not stop reading (a duplicate key, say) with their
    places; an edit whose way leads through one is refused.
    """

    format: str
    name: str
    text: str
    bom: bool
    issues: tuple[FormatError, ...]

    def to_bytes(self) -> bytes:
        """The bytes that `text` and `bom` stand for; equal to what was parsed."""

    def get(self, at: KeyPath, default: Any = MISSING) -> Any:
        """The plain value at `at` (dict, list, str, int, float, bool, None ...), else `default`. Not to be changed."""

    def where(self, at: KeyPath) -> Span | None:
        """The span of the entry at `at`, key included, for messages; None where nothing stands."""

    def set(self, at: KeyPath, value: Any, *, last: bool = False) -> Edit:
        """Replace the value at `at`, or add it, its missing parents made on the way.

        An equal value changes nothing. With `last` the entry ends up behind all of
        its siblings, as hosts want it that take the last matching key.

        Raises:
            EditRefused: the way leads through something that is no table, or through a duplicate key.
        """

    def delete(self, at: KeyPath) -> Edit:
        """Take the entry or item at `at` out, with the comment on its own line.

        Nothing there: nothing changes. Parents stay.
        """

    def append(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Put `items` behind the array at `at`; a missing array is made."""

    def remove(self, at: KeyPath, items: Sequence[Any]) -> Edit:
        """Take out of the array at `at` the last item equal to each of `items`; what is not there is passed over."""


class Format(NamedTuple):
    """A format by name: how to read bytes into a document, and what an empty file of it means."""

    name: str
    parse: Callable[..., Document]
    """`parse(data: bytes, *, name: str = "<config>") -> Document`; raises FormatError."""
    empty: bytes
    """The smallest file of this format that the hosts read as empty."""


def apply_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    """`text` with the hunks applied. Raises EditRefused where an `old` does not stand at its place."""
    out: list[str] = []
    at = 0
    for hunk in hunks:
        end = hunk.start + len(hunk.old)
        if hunk.start < at or text[hunk.start : end] != hunk.old:
            raise EditRefused("the text is not as the edit saw it", code="would-change-other")
        out += (text[at : hunk.start], hunk.new)
        at = end
    out.append(text[at:])
    return "".join(out)


def inverse_hunks(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """The hunks that lead back."""
    shift = 0
    back: list[Hunk] = []
    for hunk in hunks:
        back.append(Hunk(hunk.start + shift, hunk.new, hunk.old))
        shift += len(hunk.new) - len(hunk.old)
    return tuple(back)


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are the same with their types: 1, 1.0 and True differ, key order does not count."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same_value(v, b[k]) for k, v in a.items())
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same_value, a, b))
    return type(a) is type(b) and bool(a == b or (a != a and b != b))
