"""What has to go so that an install is taken back: records and the present state to a plan.

Pure. Nothing is removed that no record covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hostconf.errors import EditRefused, FormatError, Refused
from hostconf.hosts.schema import Host
from hostconf.integrations.schema import Integration
from hostconf.model import Change, Plan, PlannedFile, Refusal, SurfaceChange
from hostconf.plan.books import claim_changes, forget, owned, write_record
from hostconf.plan.build import in_order
from hostconf.plan.changes import action_of, config_change
from hostconf.plan.finish import whole_folder
from hostconf.plan.known import Known
from hostconf.plan.say import broken_promises
from hostconf.plan.stack import TakenOut, moved_record, take_out
from hostconf.record import Record, RecordedFile
from hostconf.survey.survey import CAPABILITIES, field
from hostconf.survey.workspace import Workspace
from hostconf.takeback import Leftover


class Removal(NamedTuple):
    """A plan that takes installs back, and what it has to leave."""

    plan: Plan
    leftovers: tuple[Leftover, ...]
    gone: tuple[str, ...]


def build_removal(
    records: Sequence[Record],
    workspace: Workspace,
    hosts: Mapping[str, Host],
    catalogue: Sequence[Integration],
    known: Known,
) -> Removal:
    """The plan that takes these installs back.

    Where a file is as hostconf left it, the first bytes come back; else only our own
    entries go, each only if it is still what was written.
    """
    others = [r for r in known.records.values() if r not in records]
    try:
        taken = take_out(records, others, workspace, hosts)
    except (FormatError, EditRefused, Refused) as error:
        return _refused(records, error, hosts, workspace, catalogue)
    kept = {r.id: left for r in records if (left := _waiting(r, taken.leftovers))}
    changes = _books(records, others, kept, taken, workspace, known)
    try:
        files = _configs(records, others, taken, workspace, hosts)
    except Refused as error:
        return _refused(records, error, hosts, workspace, catalogue)
    plan = Plan(
        choices=(),
        files=tuple(f for f in files if f.change.before != f.change.after),
        changes=in_order([*changes, *(f.change for f in files)], removal=True),
        surface=_surface(records, hosts, workspace, taken.workspace, catalogue),
        conflicts=(),
        notes=(*taken.gone, *_promises(others, hosts, workspace, taken.workspace, catalogue)),
        blast_radius=(),
        refusals=(),
    )
    return Removal(plan, taken.leftovers, taken.gone)


def _refused(
    records: Sequence[Record],
    error: FormatError | EditRefused | Refused,
    hosts: Mapping[str, Host],
    workspace: Workspace,
    catalogue: Sequence[Integration],
) -> Removal:
    code = error.code if isinstance(error, Refused) or error.code == "unreadable" else "broken-file"
    hint = error.hint or "mend the file by hand, then uninstall again"
    touched = [r.host for r in records if any(f.path == error.path for f in r.files)] or [records[0].host]
    rows = tuple(
        Refusal(h, "", "", error.message, code, error.path or "", error.line or 0, hint, error.column or 0)
        for h in dict.fromkeys(touched)
    )
    surface = _surface(records, hosts, workspace, workspace, catalogue)
    return Removal(Plan((), (), (), surface, (), (), (), rows), (), ())


def _waiting(record: Record, leftovers: Sequence[Leftover]) -> Record | None:
    """What of a record has to stay: the user's own that waits behind an entry which was not ours to take out."""
    keeps = {(x.path, x.at) for x in leftovers if x.keeps}
    files = []
    for file in record.files:
        operations = tuple(o for o in file.operations if o.vaulted and (file.path, o.at) in keeps)
        if operations:
            files.append(file._replace(existed=True, before="", after="", folders=(), steps=(), operations=operations))
    return record._replace(files=tuple(files)) if files else None


def _books(
    records: Sequence[Record],
    others: Sequence[Record],
    kept: Mapping[str, Record],
    taken: TakenOut,
    workspace: Workspace,
    known: Known,
) -> list[Change]:
    """Records, vaults and claims that go, or are written anew."""
    changes: list[Change] = []
    owns = []
    going = [r for r in records if r.id not in kept]
    for record in records:
        after = kept.get(record.id)
        changes += forget(record, workspace, known, going) if after is None else write_record(after, workspace)
        rows = {f.path: f._replace(operations=()) for f in record.files}
        rows |= {f.path: f for f in (after.files if after else ())}
        owns += owned(record, rows.values(), workspace)
    for other in others:
        files: Mapping[str, RecordedFile | None] = taken.moved.get(other.id, {})
        if files:
            changes += write_record(moved_record(other, files), workspace)
            rows = {f.path: files[f.path] or f._replace(operations=()) for f in other.files if f.path in files}
            owns += owned(other, rows.values(), workspace)
    return changes + claim_changes(owns, workspace, known.claims, workspace.environment.now)


def _configs(
    records: Sequence[Record],
    others: Sequence[Record],
    taken: TakenOut,
    workspace: Workspace,
    hosts: Mapping[str, Host],
) -> list[PlannedFile]:
    """The user's files, each once. Raises Refused where one cannot be written."""
    rows = {f.path: (r, f) for r in (*others, *records) for f in r.files}
    made = {f.path: f.folders for r in (*others, *records) for f in r.files if not f.existed}
    found = []
    for path in taken.workspace.edited:
        if path not in rows:
            continue
        record, file = rows[path]
        document = taken.workspace.edited[path]
        change = config_change(
            path,
            file.format,
            document,
            workspace,
            scope=record.scope,
            folders=made.get(path, ()) if document is None else (),
            whole_folder=whole_folder(hosts.get(record.host), path, workspace.environment),
        )
        found.append(PlannedFile(change, action_of(change), record.host, ()))
    return found


def _surface(
    records: Sequence[Record],
    hosts: Mapping[str, Host],
    before: Workspace,
    after: Workspace,
    catalogue: Sequence[Integration],
) -> tuple[SurfaceChange, ...]:
    rows = []
    for host in [hosts[h] for h in dict.fromkeys(r.host for r in records) if h in hosts]:
        was, now = field(host, before, catalogue), field(host, after, catalogue)
        rows += [SurfaceChange(host.id, c, "", was.surface(c), now.surface(c)) for c in CAPABILITIES]
    return tuple(rows)


def _promises(
    others: Sequence[Record],
    hosts: Mapping[str, Host],
    before: Workspace,
    after: Workspace,
    catalogue: Sequence[Integration],
) -> list[str]:
    """What the removal does to installs that stay."""
    said = []
    for host in [hosts[h] for h in dict.fromkeys(r.host for r in others) if h in hosts]:
        rows = broken_promises(others, field(host, before, catalogue), field(host, after, catalogue), host)
        said += [
            f"{r.integration} on {host.name} no longer is `{tier}` for {capability.replace('_', ' ')}: apply it again"
            for r, capability, tier in rows
        ]
    return said
