"""What a plan says beside its files: the surface, the findings, the notes.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hostconf.formats.base import KeyPath
from hostconf.hosts.schema import Host
from hostconf.integrations.schema import Integration
from hostconf.model import CONFLICT_KINDS, Change, Choice, Conflict, Refusal, SurfaceChange
from hostconf.plan.draft import Draft, document_of
from hostconf.plan.known import Known
from hostconf.prove import Ours, shortfalls
from hostconf.record import Record
from hostconf.survey.conflicts import rows_key
from hostconf.survey.survey import Field
from hostconf.survey.workspace import Workspace
from hostconf.takeback import Leftover

_NEW_KINDS = ("not-trusted", "unresolved-secret", "tool-name-collision", "name-shadowed")


def surface_change(host: str, tiers: Mapping[str, str], before: Field, after: Field) -> tuple[SurfaceChange, ...]:
    """The tools for each capability before and after."""
    return tuple(SurfaceChange(host, c, tier, before.surface(c), after.surface(c)) for c, tier in tiers.items())


def refused_conflicts(findings: Sequence[Conflict], host: Host, refusals: Sequence[Refusal]) -> tuple[Conflict, ...]:
    """The findings, and what was refused for one of their kinds."""
    said = [
        Conflict(r.code, host.id, "", r.path, r.line, r.reason, {r.tier: "refused"}, r.fix)
        for r in refusals
        if r.code in CONFLICT_KINDS
    ]
    return _once([*findings, *said])


def planned_conflicts(
    findings: Sequence[Conflict], later: Sequence[Conflict], draft: Draft, base: Workspace
) -> tuple[Conflict, ...]:
    """The findings, marked where the plan does away with them, and those that it brings.

    Args:
        later: the findings on the planned bytes.
        base: the workspace that the draft began from.
    """
    left = {_gist(c) for c in later}
    known = {_gist(c) for c in findings}
    marked = [f._replace(resolved=_gist(f) not in left) for f in findings]
    fresh = [c for c in later if c.kind in _NEW_KINDS and _gist(c) not in known]
    return _once([*marked, *fresh, *_merged(draft, base)])


def _gist(row: Conflict) -> tuple[str, str, str]:
    """What tells one finding from another although lines move with the edits."""
    return (row.kind, row.path, row.text.partition(":")[0])


def _once(rows: Sequence[Conflict]) -> tuple[Conflict, ...]:
    return tuple({rows_key(c): c for c in rows}.values())


def _merged(draft: Draft, base: Workspace) -> list[Conflict]:
    """Arrays that hold something already and get ours appended."""
    found = []
    for path, operations in draft.operations.items():
        document = document_of(base, path, draft.formats[path])
        for op in operations:
            have = document.get(op.at, []) if document is not None and op.kind == "append" else []
            if document is None or not have:
                continue
            span = document.where(op.at)
            text = (
                f"`{_dotted(op.at)}` holds {len(have)} of yours: ours are appended, once, and only ours go at uninstall"
            )
            found.append(Conflict("array-must-merge", draft.host.id, "", path, span.line if span else 0, text))
    return found


def notes(
    choice: Choice,
    host: Host,
    integration: Integration,
    changes: Sequence[Change],
    after: Field,
    ours: Ours,
    leftovers: Sequence[Leftover],
    known: Known,
) -> list[str]:
    """What the user has to know of a plan, beside its blast radius."""
    said: list[str] = []
    written = [c for c in changes if c.role == "config" and c.before != c.after]
    for change in written:
        if change.real != change.path:
            said.append(f"`{change.path}` is a link: the file behind it, `{change.real}`, is edited and the link stays")
    row = next((r for r in after.registrations if (r.path, r.at) == (ours.path, ours.at)), None)
    if row is not None and row.state == "pending":
        todo = f"until you {row.pending[:1].lower()}{row.pending[1:]}"
        said.append(f"the host will not use `{row.name}` {todo}: it has to be approved or trusted by you")
    said += _variables(choice, host, integration)
    said += [f"`{_dotted(x.at)}` in `{x.path}` was changed since hostconf wrote it, and stays" for x in leftovers]
    if choice.scope == "project":
        other = known.record(after.view.workspace.environment, "user", choice.host, choice.integration)
        if other is not None:
            command = f"hostconf uninstall {integration.id} --host {host.id} --scope user"
            said.append(f"the install at user scope stays: `{command}` takes it back")
    if written:
        said.append(f"{host.name} reads its files at start: start it anew")
    return said


def _variables(choice: Choice, host: Host, integration: Integration) -> list[str]:
    """Variables that the integration cannot do without, and that this host hands on only when they are named."""
    named = {*choice.env_names, *choice.env_values}
    if not host.registrations.reference.list:
        return []
    return [
        f"{integration.name} needs `{v.name}`, and {host.name} hands a server only what is named: `--env {v.name}`"
        for v in integration.environment
        if v.required and v.name not in named
    ]


def broken_promises(others: Sequence[Record], before: Field, after: Field, host: Host) -> list[tuple[Record, str, str]]:
    """Tiers of other installs on this host that hold now and would not hold any more: record, capability, tier."""
    found = []
    for record in others:
        rows = ((f.path, o) for f in record.files for o in f.operations if f.format != "markdown")
        at = next(((path, o.at) for path, o in rows if o.kind == "set" and o.at[-1] == record.server), None)
        if record.host != host.id or at is None:
            continue
        ours = Ours(record.server, *at)
        for capability, tier in record.tiers.items():
            held = not shortfalls(tier, capability, before, ours, record.accepted)
            if held and shortfalls(tier, capability, after, ours, record.accepted):
                found.append((record, capability, tier))
    return found


def _dotted(at: KeyPath) -> str:
    return ".".join(map(str, at))
