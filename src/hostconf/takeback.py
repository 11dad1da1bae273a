"""Taking an install back in memory: to the byte where the file is as we left it, else entry by entry.

Pure. Uninstall carries the result out; the planner starts a new plan from it, so that a
second apply inherits the first snapshots and never takes our own output for the user's.
"""

from __future__ import annotations

from typing import NamedTuple

from hostconf.errors import EditRefused, FormatError
from hostconf.formats import format_named
from hostconf.formats.base import MISSING, Document, KeyPath, apply_hunks, inverse_hunks, Hunk
from hostconf.record import Record, Recorded, RecordedFile, fingerprint, sha
from hostconf.survey.workspace import Workspace


class Leftover(NamedTuple):
    """An entry of ours that stays, because it is not as we wrote it."""

    path: str
    at: KeyPath
    line: int
    reason: str


class TakenBack(NamedTuple):
    """A workspace without the install, and what could not be taken out."""

    workspace: Workspace
    leftovers: tuple[Leftover, ...]
    gone: tuple[str, ...]
    """Files that somebody removed meanwhile, or entries that are gone already: in words."""
    exact: tuple[str, ...]
    """Paths given back to the byte."""


def take_back(record: Record, workspace: Workspace) -> TakenBack:
    """The workspace as it was before the install, as far as it is still ours.

    Raises:
        FormatError: a file can no longer be read; nothing is guessed.
    """
    leftovers: list[Leftover] = []
    gone: list[str] = []
    exact: list[str] = []
    for file in reversed(record.files):
        current = workspace.read(file.path, file.format)
        if current is None:
            if file.after:
                gone.append(f"`{file.path}` is gone already")
            continue
        state = workspace.state(file.path)
        if not isinstance(current, FormatError) and sha(current.to_bytes()) == file.after:
            workspace = workspace.with_document(file.path, _reversed(file, current))
            exact.append(file.path)
            continue
        if isinstance(current, FormatError):
            if state.data is None and state.kind != "absent":
                raise current
            raise current
        document, left, missing = _structural(file, current)
        leftovers += left
        gone += missing
        workspace = workspace.with_document(file.path, document)
    return TakenBack(workspace, tuple(leftovers), tuple(gone), tuple(exact))


def _reversed(file: RecordedFile, current: Document) -> Document | None:
    """The document before the install, by the steps in reverse; None where the file was ours."""
    if not file.existed:
        return None
    text = current.text
    for step in reversed(file.steps):
        # the record keeps lengths: what was written stands in the text
        shift = 0
        filled: list[Hunk] = []
        for hunk in step:
            start = hunk.start + shift
            filled.append(Hunk(hunk.start, hunk.old, text[start : start + len(hunk.new)]))
            shift += len(hunk.new) - len(hunk.old)
        text = apply_hunks(text, inverse_hunks(filled))
    data = text.encode("utf-8", "surrogatepass")
    data = (b"\xef\xbb\xbf" if current.bom else b"") + data
    if sha(data) != file.before and sha(text.encode("utf-8", "surrogatepass")) == file.before:
        data = text.encode("utf-8", "surrogatepass")
    if sha(data) != file.before:
        raise EditRefused(f"`{file.path}` cannot be given back to the byte: the record does not fit it", path=file.path)
    return format_named(file.format).parse(data, name=file.path)


def _structural(file: RecordedFile, document: Document) -> tuple[Document | None, list[Leftover], list[str]]:
    """Our entries taken out one by one, the last first, each only if it is still what we wrote."""
    left: list[Leftover] = []
    missing: list[str] = []
    for op in reversed(file.operations):
        try:
            document = _undo(file, op, document, left, missing)
        except EditRefused as refusal:
            left.append(Leftover(file.path, op.at, _line(document, op.at), refusal.message))
    value = document.get(())
    ours = not file.existed and not left
    if ours and (value in ({}, []) if file.format != "markdown" else not document.text.strip()):
        return None, left, missing
    return document, left, missing


def _undo(file: RecordedFile, op: Recorded, document: Document, left: list[Leftover], missing: list[str]) -> Document:
    if op.kind == "append":
        document = document.remove(op.at, op.items).after
    elif op.kind == "set":
        now = document.get(op.at)
        if now is MISSING:
            missing.append(f"`{_dotted(op.at)}` in `{file.path}` is gone already")
        elif fingerprint(now) != op.written:
            left.append(
                Leftover(
                    file.path, op.at, _line(document, op.at), "it was changed since, so it is not ours to take out"
                )
            )
        elif op.prior is MISSING:
            document = document.delete(op.at).after
        else:
            document = document.set(op.at, op.prior).after
    for prefix in reversed(op.created):
        if document.get(prefix) in ({}, []):
            document = document.delete(prefix).after
    return document


def _line(document: Document, at: KeyPath) -> int:
    span = document.where(at)
    return span.line if span else 0


def _dotted(at: KeyPath) -> str:
    return ".".join(str(k) for k in at)


def drift(record: Record, workspace: Workspace) -> tuple[Leftover, ...]:
    """Entries of a record that are no longer as they were written."""
    found: list[Leftover] = []
    for file in record.files:
        current = workspace.read(file.path, file.format)
        if current is None:
            found.append(Leftover(file.path, (), 0, "the file is gone"))
            continue
        if isinstance(current, FormatError):
            found.append(Leftover(file.path, (), current.line or 0, current.message))
            continue
        if sha(current.to_bytes()) == file.after:
            continue
        for op in file.operations:
            now = current.get(op.at)
            if op.kind == "append":
                items = now if isinstance(now, list) else []
                if any(item not in items for item in op.items):
                    found.append(Leftover(file.path, op.at, _line(current, op.at), "an item of ours is gone"))
            elif now is MISSING:
                found.append(Leftover(file.path, op.at, 0, "the entry is gone"))
            elif fingerprint(now) != op.written:
                found.append(Leftover(file.path, op.at, _line(current, op.at), "the entry was changed since"))
    return tuple(found)
