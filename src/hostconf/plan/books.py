"""The files of our own that go with a change: records, vaults and claims.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hostconf.formats.base import KeyPath
from hostconf.model import Change
from hostconf.plan.changes import missing_folders, state_change
from hostconf.plan.known import Known
from hostconf.record import (
    Record,
    RecordedFile,
    claim_path,
    dump_claims,
    dump_record,
    record_path,
    state_folder,
    vault_path,
)
from hostconf.survey.workspace import Workspace

_IGNORE = b"# records of hostconf: of this machine, not of the project\n*\n"


def write_record(made: Record, workspace: Workspace) -> list[Change]:
    """The changes that write a record, and the vault beside it."""
    environment = workspace.environment
    path = record_path(environment, made.scope, made.host, made.integration)
    data, vault = dump_record(made, environment)
    changes: list[Change] = []
    roles: tuple[tuple[str, bytes | None, Literal["record", "vault"]], ...] = (
        (path, data, "record"),
        (vault_path(path), vault, "vault"),
    )
    for where, content, role in roles:
        state = workspace.state(where)
        before = state.data if state.kind == "file" else None
        if before != content:
            changes.append(state_change(where, before, content, workspace, role))
    ignore = f"{state_folder(environment, 'project')}/.gitignore"
    if made.scope == "project" and workspace.state(ignore).kind == "absent":
        changes.append(state_change(ignore, None, _IGNORE, workspace, "record"))
    return changes


def state_folders(scope: str, path: str, workspace: Workspace, known: Known) -> tuple[str, ...]:
    """The folders that are made for a record; a second record inherits them: they go with the last one."""
    near = [r for p, r in known.records.items() if p.startswith(state_folder(workspace.environment, scope) + "/")]
    return next((r.folders for r in near if r.folders), ()) or missing_folders(path, workspace)


def forget(record: Record, workspace: Workspace, known: Known, going: Collection[Record] = ()) -> list[Change]:
    """The changes that take a record and its vault away; its claims are `owned`'s.

    Args:
        going: records that go in the same transaction.
    """
    environment = workspace.environment
    path = record_path(environment, record.scope, record.host, record.integration)
    folder = state_folder(environment, record.scope)
    ids = {record.id, *(r.id for r in going)}
    stay = [*known.unread, *(p for p, r in known.records.items() if p.startswith(folder + "/") and r.id not in ids)]
    changes: list[Change] = []
    drop = tuple(dict.fromkeys((f"{folder}/records", folder, *reversed(record.folders))))
    roles: tuple[tuple[str, Literal["record", "vault"]], ...] = ((path, "record"), (vault_path(path), "vault"))
    for where, role in roles:
        state = workspace.state(where)
        if state.kind == "file":
            changes.append(state_change(where, state.data, None, workspace, role, drop))
    ignore = workspace.state(f"{folder}/.gitignore")
    # only the one we made: a checkout may bring its own
    if record.scope == "project" and not stay and ignore.kind == "file" and ignore.data == _IGNORE:
        changes.append(state_change(ignore.path, ignore.data, None, workspace, "record", drop))
    return changes


class Owned(NamedTuple):
    """Which entries of one config file an installation owns from now on."""

    real: str
    owner: str
    integration: str
    entries: Sequence[KeyPath] = ()


def owned(record: Record, files: Iterable[RecordedFile], workspace: Workspace) -> list[Owned]:
    """What a record owns in the files as they are recorded. Claims are for files that installations share."""
    if record.scope == "project":
        return []
    return [
        Owned(
            workspace.state(f.path).real,
            record.id,
            record.integration,
            [o.at for o in f.operations if o.kind == "set"],
        )
        for f in files
        if f.format != "markdown"
    ]


def claim_changes(
    rows: Iterable[Owned], workspace: Workspace, claims: Mapping[str, Sequence[Mapping[str, Any]]], now: str
) -> list[Change]:
    """The changes of the claims beside the config files: each owner's added, kept or taken out."""
    after: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        where = claim_path(row.real, row.real.rpartition("/")[0])
        held = after[where] if where in after else [dict(c) for c in claims.get(where, ())]
        mine = [c for c in held if c.get("owner") == row.owner]
        if [tuple(c["at"]) for c in mine] == [tuple(at) for at in row.entries]:
            continue
        since = next((c.get("since") for c in mine), None) or now
        after[where] = [c for c in held if c.get("owner") != row.owner] + [
            {"owner": row.owner, "at": list(at), "integration": row.integration, "since": since} for at in row.entries
        ]
    changes = []
    for where, held in after.items():
        state = workspace.state(where)
        data = state.data if state.kind == "file" else None
        content = dump_claims(held) if held else None
        if data != content:
            changes.append(state_change(where, data, content, workspace, "claim"))
    return changes
