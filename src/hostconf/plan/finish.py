"""From edits in memory to the files of a transaction: each config once, from the bytes on the disk to the planned ones.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hostconf import __version__
from hostconf.display import mask_command
from hostconf.hosts.schema import Host
from hostconf.model import Change, Environment, PlannedFile
from hostconf.plan.books import claim_changes, forget, owned, state_folders, write_record
from hostconf.plan.changes import action_of, config_change
from hostconf.plan.draft import Draft, document_of
from hostconf.plan.known import Known
from hostconf.plan.stack import TakenOut, moved_record, recorded_file
from hostconf.plan.tiers import Cell
from hostconf.prove import Ours, shortfalls
from hostconf.record import Record, RecordedFile, record_path
from hostconf.survey.survey import Field, field
from hostconf.survey.workspace import Workspace, expand


class Before(NamedTuple):
    """What was there when the plan began."""

    workspace: Workspace
    known: Known
    record: Record | None
    """Of the same installation."""
    stale: tuple[Record, ...]
    """Of installations that this one takes the place of."""
    others: tuple[Record, ...]
    """Of all that stay."""


class Finished(NamedTuple):
    """The files of one host's plan."""

    files: tuple[PlannedFile, ...]
    changes: tuple[Change, ...]
    field: Field
    known: Known
    """Records and claims as they are afterwards."""


def finish(cell: Cell, draft: Draft, ours: Ours, taken: TakenOut, before: Before) -> Finished:
    """The files of the transaction.

    Raises:
        Refused: one of them cannot be written.
    """
    old = {f.path: f for r in (before.record, *before.stale) if r is not None for f in r.files}
    recorded: list[RecordedFile] = []
    changes: list[Change] = []
    final = draft.workspace
    kept: set[str] = set()
    for path in dict.fromkeys([*old, *(p for files in taken.moved.values() for p in files), *draft.recorded]):
        row = _kept(path, old.get(path), draft, taken)
        if row is not None:
            row = row._replace(folders=_folders(path, row.folders, before))
            tried = final.with_document(path, document_of(before.workspace, path, row.format))
            if _holds(cell, tried, ours):
                final = tried
                recorded.append(row)
                kept.add(path)
                continue
        change, made = _one_file(path, cell, draft, taken, before, old.get(path))
        changes.append(change)
        if made is not None:
            recorded.append(made)
    files = tuple(
        PlannedFile(c, action_of(c), cell.host.id, tuple(draft.operations.get(c.path, ())))
        for c in changes
        if c.before != c.after
    )
    books, known = _books(cell, taken, before, recorded, kept)
    return Finished(files, (*changes, *books), field(cell.host, final, cell.catalogue), known)


def _holds(cell: Cell, workspace: Workspace, ours: Ours) -> bool:
    found = field(cell.host, workspace, cell.catalogue)
    choice = cell.choice
    return not any(shortfalls(tier, c, found, ours, choice.accept) for c, tier in choice.tiers.items())


def _kept(path: str, old: RecordedFile | None, draft: Draft, taken: TakenOut) -> RecordedFile | None:
    """The old record of a file that needs no change: the same operations, all of them still there."""
    new = draft.recorded.get(path)
    if old is None or not new or any(left.path == path for left in taken.leftovers):
        return None
    if any(f"`{path}`" in words for words in taken.gone):
        return None
    same = [(o.kind, o.at, o.written, o.items) for o in old.operations] == [
        (n.kind, n.at, n.written, n.items) for n in new
    ]
    return old if same else None


def _folders(path: str, made: Sequence[str], before: Before) -> tuple[str, ...]:
    """The folders above a file that hostconf made, for this file or for another: they go with the last one."""
    records = before.known.records.values()
    known = {d for r in records for f in r.files for d in f.folders if path.startswith(d + "/")}
    return tuple(sorted({*made, *known}, key=len))


def _one_file(
    path: str, cell: Cell, draft: Draft, taken: TakenOut, before: Before, old: RecordedFile | None
) -> tuple[Change, RecordedFile | None]:
    format_name = draft.formats.get(path) or _format_of(path, old, taken)
    final = document_of(draft.workspace, path, format_name)
    whole = draft.folders.get(path, "") or whole_folder(cell.host, path, before.workspace.environment)
    change = config_change(
        path,
        format_name,
        final,
        before.workspace,
        scope=cell.choice.scope,
        whole_folder=whole,
        folders=_folders(path, (), before) if final is None else (),
        secret=format_name != "markdown",
    )
    made = _folders(path, change.make_folders, before)
    return change, recorded_file(path, draft, taken.workspace, draft.workspace, made)


def _format_of(path: str, old: RecordedFile | None, taken: TakenOut) -> str:
    rows = [old, *(files.get(path) for files in taken.moved.values())]
    return next((row.format for row in rows if row is not None), "")


def whole_folder(host: Host | None, path: str, environment: Environment) -> str:
    """The folder that the host loads whole and that `path` stands in; empty if there is none."""
    for rules in host.rules if host is not None else ():
        for folder in expand(rules.whole_folder, host, environment) if rules.whole_folder and host else ():
            if path.startswith(folder + "/"):
                return folder
    return ""


def _books(
    cell: Cell, taken: TakenOut, before: Before, recorded: Sequence[RecordedFile], kept: set[str]
) -> tuple[list[Change], Known]:
    """Records, vaults and claims that go with the files, and what is known afterwards."""
    choice, workspace, known = cell.choice, before.workspace, before.known
    environment = workspace.environment
    changes: list[Change] = []
    owns = []
    records = dict(known.records)

    def path_of(record: Record) -> str:
        return record_path(environment, record.scope, record.host, record.integration)

    for gone in before.stale:
        changes += forget(gone, workspace, known)
        owns += owned(gone, [f._replace(operations=()) for f in gone.files], workspace)
        records.pop(path_of(gone), None)
    for other in before.others:
        files = {p: f for p, f in taken.moved.get(other.id, {}).items() if p not in kept}
        if files:
            changes += write_record(moved := moved_record(other, files), workspace)
            before_files = [f for f in other.files if f.path in files]
            owns += owned(other, [files[f.path] or f._replace(operations=()) for f in before_files], workspace)
            records[path_of(moved)] = moved
    path = record_path(environment, choice.scope, cell.host.id, cell.integration.id)
    made = _made(cell, recorded, state_folders(choice.scope, path, workspace, known), environment.now)
    old_files = [f._replace(operations=()) for f in before.record.files] if before.record is not None else []
    if not recorded:
        if before.record is not None:
            changes += forget(before.record, workspace, known)
            owns += owned(made, old_files, workspace)
            records.pop(path, None)
    elif (
        before.record is None
        or made._replace(installed=before.record.installed, tool=before.record.tool) != before.record
    ):
        changes += write_record(made, workspace)
        new = {f.path for f in recorded}
        owns += owned(made, [*recorded, *(f for f in old_files if f.path not in new)], workspace)
        records[path] = made
    claims = claim_changes(owns, workspace, known.claims, environment.now)
    return changes + claims, known.after(records, claims)


def _made(cell: Cell, recorded: Sequence[RecordedFile], folders: Sequence[str], now: str) -> Record:
    choice = cell.choice
    return Record(
        id=cell.record_id,
        integration=cell.integration.id,
        host=cell.host.id,
        scope=choice.scope,
        path=choice.path,
        tiers=dict(choice.tiers),
        server=cell.integration.server,
        package=masked_reference(choice.package),
        environment=(*choice.env_names, *choice.env_values),
        knobs=dict(choice.knobs),
        accepted=tuple(choice.accept),
        installed=now,
        tool=f"hostconf {__version__}",
        files=tuple(recorded),
        folders=tuple(folders),
    )


def masked_reference(package: str) -> str:
    """A reference to a package as it is recorded: it may be an address with a password in it."""
    return mask_command((package,))[0] if package else ""
