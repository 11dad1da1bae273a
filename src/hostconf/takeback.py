"""Taking an install back in memory: to the byte where the file is as we left it, else entry by entry.

Pure. Uninstall carries the result out; the planner starts a new plan from it, so that a
second apply inherits the first snapshots and never takes our own output for the user's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from hostconf.errors import EditRefused, FormatError
from hostconf.formats import format_named
from hostconf.formats.base import MISSING, Document, Hunk, KeyPath, apply_hunks, inverse_hunks
from hostconf.record import Record, Recorded, RecordedFile, fingerprint, sha
from hostconf.survey.workspace import Workspace


class Leftover(NamedTuple):
    """An entry of ours that stays, because it is not as we wrote it."""

    path: str
    at: KeyPath
    line: int
    reason: str
    keeps: bool = False
    """Whether something of the user's that we put aside waits behind it: then the record of it stays as well."""


class TakenBack(NamedTuple):
    """A workspace without the install, and what could not be taken out."""

    workspace: Workspace
    leftovers: tuple[Leftover, ...]
    gone: tuple[str, ...]
    """Files that somebody removed meanwhile, or entries that are gone already: in words."""
    overwritten: tuple[tuple[str, KeyPath], ...] = ()
    """Entries of ours that somebody changed, and in whose place the user's own was put back all the same."""


def take_back(record: Record, workspace: Workspace, *, overwrite: bool = False) -> TakenBack:
    """The workspace as it was before the install, as far as it is still ours.

    Args:
        overwrite: where an entry that took the user's own was changed since, the user's own comes back all the same.

    Raises:
        FormatError: a file can no longer be read; nothing is guessed.
        EditRefused: the record does not fit the file.
    """
    leftovers: list[Leftover] = []
    gone: list[str] = []
    overwritten: list[tuple[str, KeyPath]] = []
    for file in reversed(record.files):
        current = workspace.read(file.path, file.format)
        if current is None:
            if file.after:
                gone.append(f"`{file.path}` is gone already")
            leftovers += [Leftover(file.path, o.at, 0, "its file is gone", True) for o in file.operations if o.vaulted]
            continue
        if isinstance(current, FormatError):
            raise current
        if sha(current.to_bytes()) == file.after:
            workspace = workspace.with_document(file.path, reverse(file, current))
            continue
        if overwrite:
            overwritten += [(file.path, o.at) for o in file.operations if o.vaulted and _changed(o, current)]
        document, left, missing = _structural(file, current, overwrite)
        leftovers += left
        gone += missing
        workspace = workspace.with_document(file.path, document)
    return TakenBack(workspace, tuple(leftovers), tuple(gone), tuple(overwritten))


def reverse(file: RecordedFile, current: Document) -> Document | None:
    """The document before the install, by the steps in reverse; None where the file was ours.

    Raises:
        EditRefused: the record does not fit the file.
    """
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


def _structural(
    file: RecordedFile, document: Document, overwrite: bool
) -> tuple[Document | None, list[Leftover], list[str]]:
    """Our entries taken out one by one, the last first, each only if it is still what we wrote."""
    left: list[Leftover] = []
    missing: list[str] = []
    for op in reversed(file.operations):
        try:
            document = _undo(file, op, document, left, missing, overwrite)
        except EditRefused as refusal:
            left.append(Leftover(file.path, op.at, _line(document, op.at), refusal.message, op.vaulted))
    # a comment that somebody put into a file of ours is theirs: then the file stays
    if not file.existed and not left and document.text.strip() in ("", "{}", "[]"):
        return None, left, missing
    return document, left, missing


def _undo(
    file: RecordedFile, op: Recorded, document: Document, left: list[Leftover], missing: list[str], overwrite: bool
) -> Document:
    now = document.get(op.at)
    if op.kind == "append":
        have = now if isinstance(now, list) else []
        missing += [
            f"`{json.dumps(item, ensure_ascii=False)}` of `{_dotted(op.at)}` in `{file.path}` is gone already"
            for item in op.items
            if item not in have
        ]
        if now is not MISSING:
            document = document.remove(op.at, op.items).after
    elif now is MISSING and not op.vaulted:
        missing.append(f"`{_dotted(op.at)}` in `{file.path}` is gone already")
    elif _changed(op, document) and not (overwrite and op.vaulted):
        why = "it was changed since, so it is not ours to take out"
        left.append(Leftover(file.path, op.at, _line(document, op.at), why, op.vaulted))
    elif op.prior is MISSING:
        document = document.delete(op.at).after
    else:
        # also where ours is gone: what was put aside was promised back
        document = document.set(op.at, op.prior).after
    for prefix in reversed(op.created):
        if document.get(prefix) in ({}, []):
            document = document.delete(prefix).after
    return document


def _changed(op: Recorded, document: Document) -> bool:
    """Whether something else stands where we set a value."""
    now = document.get(op.at)
    return now is not MISSING and fingerprint(now) != op.written


def _line(document: Document, at: KeyPath) -> int:
    span = document.where(at)
    return span.line if span else 0


def _dotted(at: KeyPath) -> str:
    return ".".join(str(k) for k in at)


def drift(record: Record, workspace: Workspace, others: Sequence[Record] = ()) -> tuple[Leftover, ...]:
    """Entries of a record that are no longer as they were written.

    Args:
        others: the records of other installs: what they wrote on top of ours is no drift.
    """
    found: list[Leftover] = []
    for file in record.files:
        current = workspace.read(file.path, file.format)
        if current is None:
            found.append(Leftover(file.path, (), 0, "the file is gone"))
            continue
        if isinstance(current, FormatError):
            found.append(Leftover(file.path, (), current.line or 0, current.message))
            continue
        if above(record, file.path, others, workspace) is not None:
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


def above(
    record: Record, path: str, others: Sequence[Record], workspace: Workspace
) -> list[tuple[Record, RecordedFile]] | None:
    """What other installs wrote into a file after this one, the last first; empty when this one was the last.

    None where somebody else wrote in between or after: then no bytes lead back.
    """
    mine = next((f for f in record.files if f.path == path), None)
    state = workspace.read(path, mine.format) if mine else None
    if mine is None or state is None or isinstance(state, FormatError):
        return None
    now = sha(state.to_bytes())
    rows = [(r, f) for r in others if r.id != record.id for f in r.files if f.path == path]
    chain: list[tuple[Record, RecordedFile]] = []
    while now != mine.after:
        top = next((row for row in rows if row[1].after == now and row not in chain), None)
        if top is None:
            return None
        chain.append(top)
        now = top[1].before
    return chain
