"""Taking one install out from under others that wrote into the same file after it.

Pure. Where hostconf alone wrote the file, the later installs are taken back, the one that
goes is taken back, and the later ones are done again: so each keeps its way back to the
byte, whatever the order in which they go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.formats.base import KeyPath
from hostconf.hosts.schema import Host
from hostconf.plan.draft import Draft, document_of
from hostconf.record import Record, RecordedFile, sha
from hostconf.survey.workspace import Workspace
from hostconf.takeback import Leftover, above, reverse, take_back


class TakenOut(NamedTuple):
    """A workspace without some installs, what of them could not be taken out, and what the others became by it."""

    workspace: Workspace
    leftovers: tuple[Leftover, ...] = ()
    gone: tuple[str, ...] = ()
    overwritten: tuple[tuple[str, KeyPath], ...] = ()
    """See `TakenBack`."""
    moved: Mapping[str, Mapping[str, RecordedFile | None]] = {}
    """Id of another record to its files as they have to be recorded now; None for one that is no longer its own."""


def take_out(
    records: Sequence[Record],
    others: Sequence[Record],
    workspace: Workspace,
    hosts: Mapping[str, Host],
    *,
    overwrite: bool = False,
) -> TakenOut:
    """The workspace without `records`, and with `others` as they were.

    Args:
        hosts: by id; of each record that is taken out at least.
        overwrite: see `take_back`.

    Raises:
        FormatError: a file can no longer be read.
        EditRefused: a record does not fit its file.
    """
    result = TakenOut(workspace)
    left = list(records)
    while left:
        record, left = left[0], left[1:]
        rest = [*left, *others]
        for file in reversed(record.files):
            standing = [_as_moved(r, result.moved) for r in rest]
            mine = next(f for f in _as_moved(record, result.moved).files if f.path == file.path)
            chain = above(record._replace(files=(mine,)), file.path, standing, result.workspace)
            if chain:
                result = _under(record, mine, chain, result, hosts)
                continue
            taken = take_back(record._replace(files=(mine,)), result.workspace, overwrite=overwrite)
            result = result._replace(
                workspace=taken.workspace,
                leftovers=result.leftovers + taken.leftovers,
                gone=result.gone + taken.gone,
                overwritten=result.overwritten + taken.overwritten,
            )
    ids = {r.id for r in others}
    return result._replace(moved={i: files for i, files in result.moved.items() if i in ids})


def moved_record(record: Record, moved: Mapping[str, RecordedFile | None]) -> Record:
    """A record with some of its files as they are recorded now."""
    files = (moved.get(f.path, f) for f in record.files)
    return record._replace(files=tuple(f for f in files if f is not None))


def _as_moved(record: Record, moved: Mapping[str, Mapping[str, RecordedFile | None]]) -> Record:
    return moved_record(record, moved[record.id]) if record.id in moved else record


def _under(
    going: Record,
    file: RecordedFile,
    chain: Sequence[tuple[Record, RecordedFile]],
    result: TakenOut,
    hosts: Mapping[str, Host],
) -> TakenOut:
    """One file from under the installs that wrote into it later."""
    workspace = result.workspace
    document = document_of(workspace, file.path, file.format)
    values: list[list[Any]] = []
    for _, later in chain:
        assert document is not None
        values.append([document.get(op.at) for op in later.operations])
        document = reverse(later, document)
    assert document is not None
    workspace = workspace.with_document(file.path, reverse(file, document))
    moved = {i: dict(files) for i, files in result.moved.items()}
    entries = [op.at for op in file.operations if op.kind == "set" and op.at[-1] == going.server]
    for (record, later), found in reversed(list(zip(chain, values, strict=True))):
        draft = Draft(hosts.get(record.host, hosts[going.host]), workspace)
        for op, value in zip(later.operations, found, strict=True):
            # what was done to the entry that goes, goes with it
            if not any(op.at != at and op.at[: len(at)] == at for at in entries):
                draft.redo(file.path, later.format, op, value)
        base, workspace = workspace, draft.workspace
        moved.setdefault(record.id, {})[file.path] = recorded_file(
            file.path, draft, base, workspace, later.folders or (() if file.existed else file.folders)
        )
    return result._replace(workspace=workspace, moved=moved)


def recorded_file(
    path: str, draft: Draft, base: Workspace, final: Workspace, folders: Sequence[str]
) -> RecordedFile | None:
    """What a draft did to one file, for the record; None for nothing."""
    operations = draft.recorded.get(path)
    if not operations:
        return None
    format_name = draft.formats[path]
    before, after = document_of(base, path, format_name), document_of(final, path, format_name)
    return RecordedFile(
        path=path,
        format=format_name,
        existed=before is not None,
        blank=before is not None and not before.to_bytes().strip(),
        folders=tuple(folders),
        before=sha(before.to_bytes() if before is not None else None),
        after=sha(after.to_bytes() if after is not None else None),
        steps=tuple(draft.steps[path]),
        operations=tuple(operations),
    )
