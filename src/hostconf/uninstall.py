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
from hostconf.plan.build import forget, in_order
from hostconf.plan.changes import action_of, config_change
from hostconf.plan.known import Known
from hostconf.record import Record
from hostconf.survey.survey import CAPABILITIES, field
from hostconf.survey.workspace import Workspace, expand
from hostconf.takeback import Leftover, take_back


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
    start = workspace
    leftovers: list[Leftover] = []
    gone: list[str] = []
    refusals: list[Refusal] = []
    changes: list[Change] = []
    touched: dict[str, tuple[str, str, str, tuple[str, ...]]] = {}
    removed: list[Record] = []
    for record in records:
        try:
            taken = take_back(record, workspace)
        except (FormatError, EditRefused) as error:
            refusals.append(
                Refusal(
                    record.host,
                    "",
                    "",
                    error.message,
                    "broken-file",
                    error.path or "",
                    error.line or 0,
                    "mend the file by hand, then uninstall again",
                )
            )
            continue
        workspace = taken.workspace
        leftovers += taken.leftovers
        gone += taken.gone
        removed.append(record)
        changes += forget(record, start, known)
        for file in record.files:
            touched[file.path] = (file.format, record.scope, record.host, () if file.existed else file.folders)
    files: list[PlannedFile] = []
    for path, (format_name, scope, host_id, folders) in touched.items():
        document = workspace.read(path, format_name)
        if isinstance(document, FormatError) or path not in workspace.edited:
            continue
        try:
            change = config_change(
                path,
                format_name,
                document,
                start,
                scope=scope,
                folders=folders if document is None else (),
                whole_folder=_whole(hosts.get(host_id), path, start),
            )
        except Refused as refused:
            refusals.append(
                Refusal(host_id, "", "", refused.message, refused.code, refused.path or "", 0, refused.hint)
            )
            continue
        if change.before != change.after:
            changes.append(change)
            files.append(PlannedFile(change, action_of(change), host_id, ()))
    surface = [
        SurfaceChange(
            host_id,
            c,
            "",
            field(hosts[host_id], start, catalogue).surface(c),
            field(hosts[host_id], workspace, catalogue).surface(c),
        )
        for host_id in dict.fromkeys(r.host for r in removed)
        if host_id in hosts
        for c in CAPABILITIES
    ]
    plan = Plan(
        choices=(),
        files=() if refusals else tuple(files),
        changes=() if refusals else in_order(changes, removal=True),
        surface=tuple(surface),
        conflicts=(),
        notes=tuple(gone),
        blast_radius=(),
        refusals=tuple(refusals),
    )
    return Removal(plan, tuple(leftovers), tuple(gone))


def _whole(host: Host | None, path: str, workspace: Workspace) -> str:
    for rules in host.rules if host is not None else ():
        for folder in (
            expand(rules.whole_folder, host, workspace.environment) if rules.whole_folder and host is not None else ()
        ):
            if path.startswith(folder + "/"):
                return folder
    return ""
