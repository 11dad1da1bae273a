"""The plan: what has to be written so that every wish holds, proved on the planned bytes, or refused with its reason.

Pure: equal arguments give an equal plan, and nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hostconf.errors import EditRefused, FormatError, Refused
from hostconf.hosts.schema import Host, HostTool
from hostconf.integrations.schema import Integration
from hostconf.model import Change, Choice, Conflict, Plan, PlannedFile, Refusal, Registration, SurfaceChange
from hostconf.plan.blast import blast_radius
from hostconf.plan.draft import Draft
from hostconf.plan.finish import Before, finish, masked_reference
from hostconf.plan.known import Known
from hostconf.plan.say import broken_promises, notes, planned_conflicts, refused_conflicts, surface_change
from hostconf.plan.stack import TakenOut, take_out
from hostconf.plan.tiers import Cell, exclude_rivals, name_in_rules, register, remove_builtins, turn_off
from hostconf.prove import Ours, shortfalls
from hostconf.record import record_id, state_folder
from hostconf.survey.conflicts import rows_key
from hostconf.survey.survey import field
from hostconf.survey.workspace import Workspace


class HostPlan(NamedTuple):
    """One choice planned: the parts that `build_plan` puts together."""

    workspace: Workspace
    known: Known
    surface: tuple[SurfaceChange, ...]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...] = ()
    files: tuple[PlannedFile, ...] = ()
    changes: tuple[Change, ...] = ()
    blast: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def build_plan(
    choices: Sequence[tuple[Choice, Host, Integration]],
    workspace: Workspace,
    catalogue: Sequence[Integration],
    known: Known,
) -> Plan:
    """The operations that make every choice hold.

    Args:
        choices: what is wished, one a host, with the host's and the integration's description.
        workspace: a snapshot that holds every layer, rules file, record and claim of these hosts.
        known: the records and claims among them.

    Returns:
        A complete plan. With a refusal it has no changes at all: all or nothing.
    """
    plans: list[HostPlan] = []
    for choice, host, integration in choices:
        planned = _plan_host(choice, host, integration, workspace, catalogue, known)
        plans.append(planned)
        workspace, known = planned.workspace, planned.known
    refusals = tuple(r for p in plans for r in p.refusals)
    changes = () if refusals else in_order([c for p in plans for c in p.changes])
    return Plan(
        choices=tuple(c for c, _, _ in choices),
        files=() if refusals else tuple(f for p in plans for f in p.files),
        changes=changes,
        surface=tuple(s for p in plans for s in p.surface),
        conflicts=tuple({rows_key(c): c for p in plans for c in p.conflicts}.values()),
        notes=tuple(dict.fromkeys(n for p in plans for n in p.notes)),
        blast_radius=tuple(dict.fromkeys(b for p in plans for b in p.blast)) if changes else (),
        refusals=refusals,
    )


_ORDER = {"claim": 0, "record": 1, "vault": 1, "config": 2}


def in_order(changes: Sequence[Change], *, removal: bool = False) -> tuple[Change, ...]:
    """One change a file, claims and records first: what is left after a kill claims at most too much.

    An uninstall goes the other way round.
    """
    merged: dict[str, Change] = {}
    for change in changes:
        old = merged.get(change.real)
        if old is not None:
            # two hosts share the file: from the first bytes to the last
            change = change._replace(
                before=old.before, make_folders=old.make_folders or change.make_folders, mode=old.mode
            )
        merged[change.real] = change
    kept = [c for c in merged.values() if c.before != c.after]
    return tuple(sorted(kept, key=lambda c: -_ORDER[c.role] if removal else _ORDER[c.role]))


def _plan_host(
    choice: Choice,
    host: Host,
    integration: Integration,
    workspace: Workspace,
    catalogue: Sequence[Integration],
    known: Known,
) -> HostPlan:
    found = field(host, workspace, catalogue)
    own = known.own(host.id)
    findings = found.conflicts(catalogue, own)

    def refuse(rows: Sequence[Refusal], said: Sequence[str] = ()) -> HostPlan:
        surface = surface_change(host.id, choice.tiers, found, found)
        return HostPlan(
            workspace, known, surface, refused_conflicts(findings, host, rows), tuple(said), refusals=tuple(rows)
        )

    before = _before(choice, workspace, known)
    going = [r for r in (before.record, *before.stale) if r is not None]
    try:
        taken = take_out(going, before.others, workspace, {host.id: host}, overwrite=choice.replace)
    except (FormatError, EditRefused, Refused) as error:
        return refuse(_every(choice, _broken(error)))
    cell = _cell(choice, host, integration, catalogue, before, taken)
    if taken.moved and _is_so(cell, before):
        return HostPlan(
            workspace, known, surface_change(host.id, choice.tiers, found, found), refused_conflicts(findings, host, ())
        )
    work = _Work(cell, Draft(host, taken.workspace, found.view.dropped))
    work.run()
    if not work.refusals:
        work.prove()
    if work.refusals or work.ours is None:
        return refuse(work.refusals, work.notes)
    try:
        done = finish(work.cell, work.draft, work.ours, taken, before)
    except Refused as refused:
        return refuse(_every(choice, refused))
    later = done.field.conflicts(catalogue, own | {(work.ours.path, work.ours.at)})
    touched = {(path, op.at) for path, rows in work.draft.recorded.items() for op in rows}
    left = [x for x in taken.leftovers if (x.path, x.at) not in touched]
    broken = broken_promises(before.others, found, done.field, host)
    return HostPlan(
        done.field.view.workspace,
        done.known,
        surface_change(host.id, choice.tiers, found, done.field),
        planned_conflicts(findings, later, work.draft, taken.workspace),
        (*work.notes, *notes(choice, host, integration, done.changes, done.field, work.ours, left, known)),
        done.files,
        done.changes,
        tuple(blast_radius(work.cell, found.view, work.draft, work.builtins, work.rivals, broken)),
    )


def _before(choice: Choice, workspace: Workspace, known: Known) -> Before:
    environment = workspace.environment
    record = known.record(environment, choice.scope, choice.host, choice.integration)
    # The other way round the install stays: a project-scope plan never writes the user's files.
    stale = known.record(environment, "project", choice.host, choice.integration) if choice.scope == "user" else None
    going = [r for r in (record, stale) if r is not None]
    others = tuple(r for r in known.records.values() if r not in going)
    return Before(workspace, known, record, () if stale is None else (stale,), others)


def _cell(
    choice: Choice,
    host: Host,
    integration: Integration,
    catalogue: Sequence[Integration],
    before: Before,
    taken: TakenOut,
) -> Cell:
    environment = before.workspace.environment
    record = before.record
    # an id that was given stays, also where home or project moved since
    owner = (
        record.id
        if record
        else record_id(state_folder(environment, choice.scope), host.id, choice.scope, integration.id)
    )
    return Cell(
        host,
        integration,
        integration.paths[choice.path],
        choice,
        catalogue,
        owner,
        before.known.claims,
        frozenset((x.path, x.at) for x in taken.leftovers),
        frozenset((f.path, o.at) for f in (record.files if record else ()) for o in f.operations if o.vaulted),
        taken.overwritten,
    )


def _is_so(cell: Cell, before: Before) -> bool:
    """Whether the wish is what is recorded, and holds as everything stands, with other installs on top of it."""
    record, choice = before.record, cell.choice
    wished = (choice.path, dict(choice.tiers), masked_reference(choice.package), dict(choice.knobs))
    if record is None or before.stale or wished != (record.path, record.tiers, record.package, record.knobs):
        return False
    if (*choice.env_names, *choice.env_values) != record.environment or choice.accept != record.accepted:
        return False
    work = _Work(cell, Draft(cell.host, before.workspace))
    work.run()
    if not work.refusals:
        work.prove()
    return not work.refusals and not work.draft.operations


def _broken(error: FormatError | EditRefused | Refused) -> Refused:
    return Refused(
        error.message,
        hint=error.hint,
        path=error.path,
        line=error.line,
        column=error.column,
        excerpt=error.excerpt,
        code=error.code if isinstance(error, Refused) else "broken-file",
    )


def _every(choice: Choice, refused: Refused) -> list[Refusal]:
    return [_refusal(choice, capability, refused) for capability in choice.tiers]


def _refusal(choice: Choice, capability: str, refused: Refused) -> Refusal:
    return Refusal(
        choice.host,
        capability,
        choice.tiers[capability],
        refused.message,
        refused.code,
        refused.path or "",
        refused.line or 0,
        refused.hint,
        refused.column or 0,
    )


class _Work:
    """The steps of one host's plan, their refusals gathered."""

    def __init__(self, cell: Cell, draft: Draft) -> None:
        self.cell = cell
        self.draft = draft
        self.ours: Ours | None = None
        self.refusals: list[Refusal] = []
        self.notes: list[str] = []
        self.builtins: dict[str, HostTool] = {}
        self.rivals: list[Registration] = []

    def run(self) -> None:
        """Write what the tiers want, in memory."""
        cell, tiers = self.cell, self.cell.choice.tiers
        try:
            self.ours = register(cell, self.draft, self.notes)
            known = {(self.ours.path, self.ours.at): cell.integration.id}
            self.draft.workspace = self.draft.workspace.with_ours(known)
        except Refused as refused:
            self._refuse([c for c in cell.integration.capabilities if tiers[c] != "off"], refused)
            return
        for capability in cell.integration.capabilities:
            try:
                if tiers[capability] == "off":
                    turn_off(cell, self.draft, capability)
                if tiers[capability] == "forced":
                    self._force(capability, self.ours)
            except Refused as refused:
                self._refuse([capability], refused)
        named = [c for c in cell.integration.capabilities if tiers[c] == "preferred"]
        if named and not self.refusals:
            try:
                name_in_rules(cell, self.draft, named, self.notes)
            except Refused as refused:
                self._refuse(named, refused)

    def _force(self, capability: str, ours: Ours) -> None:
        cell = self.cell
        if cell.host.forced.get(capability, "none") == "none":
            raise Refused(f"{cell.host.name} has no mechanism that would leave one tool alone for {capability}")
        for tool in remove_builtins(cell, self.draft, capability):
            self.builtins[tool.id] = tool
        self.rivals += [r for r in exclude_rivals(cell, self.draft, capability, ours) if r not in self.rivals]

    def prove(self) -> None:
        """Ask the planned bytes whether each tier holds."""
        after, choice = self.cell.look(self.draft), self.cell.choice
        for capability, tier in choice.tiers.items():
            for x in shortfalls(tier, capability, after, self.ours, choice.accept):
                self.refusals.append(Refusal(choice.host, capability, tier, x.reason, x.code, x.path, x.line, x.fix))

    def _refuse(self, capabilities: Sequence[str], refused: Refused) -> None:
        self.refusals += [_refusal(self.cell.choice, capability, refused) for capability in capabilities]
