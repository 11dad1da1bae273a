"""The plan: what has to be written so that every wish holds, proved on the planned bytes, or refused with its reason.

Pure: equal arguments give an equal plan, and nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf import __version__
from hostconf.errors import EditRefused, FormatError, Refused
from hostconf.hosts.schema import Host, HostTool
from hostconf.integrations.schema import Integration
from hostconf.model import (
    CONFLICT_KINDS,
    Change,
    Choice,
    Conflict,
    Plan,
    PlannedFile,
    Refusal,
    Registration,
    SurfaceChange,
)
from hostconf.plan.blast import blast_radius
from hostconf.plan.changes import action_of, claim_change, config_change, missing_folders, state_change
from hostconf.plan.draft import Draft
from hostconf.plan.known import Known
from hostconf.plan.tiers import Cell, exclude_rivals, name_in_rules, register, remove_builtins, turn_off
from hostconf.prove import Ours, shortfalls
from hostconf.record import Record, RecordedFile, dump_record, record_id, record_path, sha, state_folder, vault_path
from hostconf.survey.conflicts import rows_key
from hostconf.survey.survey import Field, field
from hostconf.survey.workspace import Workspace
from hostconf.takeback import TakenBack, take_back

_NEW_KINDS = ("not-trusted", "unresolved-secret", "tool-name-collision", "name-shadowed")


class HostPlan(NamedTuple):
    """One choice planned: the parts that `build_plan` puts together."""

    workspace: Workspace
    files: tuple[PlannedFile, ...]
    changes: tuple[Change, ...]
    surface: tuple[SurfaceChange, ...]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]
    blast: tuple[str, ...]
    refusals: tuple[Refusal, ...]


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
        if not planned.refusals:
            workspace = planned.workspace
    refusals = tuple(r for p in plans for r in p.refusals)
    changes = () if refusals else in_order([c for p in plans for c in p.changes])
    return Plan(
        choices=tuple(c for c, _, _ in choices),
        files=() if refusals else tuple(f for p in plans for f in p.files),
        changes=changes,
        surface=tuple(s for p in plans for s in p.surface),
        conflicts=tuple({rows_key(c): c for p in plans for c in p.conflicts}.values()),
        notes=tuple(dict.fromkeys(n for p in plans for n in p.notes)),
        blast_radius=() if not changes and not refusals else tuple(dict.fromkeys(b for p in plans for b in p.blast)),
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
    environment = workspace.environment
    before = field(host, workspace, catalogue)
    own = known.own(host.id)
    findings = before.conflicts(catalogue, own)
    record = known.record(environment, choice.scope, host.id, integration.id)
    owner = record_id(state_folder(environment, choice.scope), host.id, choice.scope, integration.id)
    stale = _other_scope(choice, known, workspace)
    try:
        taken = _take_all([r for r in (record, *stale) if r is not None], workspace)
    except (FormatError, EditRefused) as error:
        refused = Refused(
            error.message,
            path=error.path,
            line=error.line,
            column=error.column,
            excerpt=error.excerpt,
            code="broken-file",
        )
        return _refused_all(choice, host, before, findings, refused, workspace)
    cell = Cell(
        host,
        integration,
        integration.paths[choice.path],
        choice,
        catalogue,
        owner,
        known.claims,
        tuple((left.path, left.at) for left in taken.leftovers),
    )
    work = _Work(cell, Draft(host, taken.workspace), before)
    work.run()
    after = cell.look(work.draft)
    if not work.refusals:
        after = work.prove(after)
    if work.refusals:
        return HostPlan(
            workspace,
            (),
            (),
            _surface(choice, host, integration, before, before),
            _conflicts(findings, (), host, work.refusals),
            tuple(work.notes),
            (),
            tuple(work.refusals),
        )
    assert work.ours is not None
    try:
        finished = _finish(cell, work, workspace, taken, record, stale, known, after)
    except Refused as refused:
        return _refused_all(choice, host, before, findings, refused, workspace)
    files, changes, after = finished
    own_after = own | {(work.ours.path, work.ours.at)}
    later = after.conflicts(catalogue, own_after)
    fresh = [c for c in later if c.kind in _NEW_KINDS]
    # lines move with the edits, so they do not tell one finding from another
    left = {(c.kind, c.path, c.text.partition(":")[0]) for c in later}
    findings = tuple(f._replace(resolved=(f.kind, f.path, f.text.partition(":")[0]) not in left) for f in findings)
    notes = [*work.notes, *_notes(choice, host, integration, changes, after, work.ours, known, workspace)]
    return HostPlan(
        after.view.workspace,
        files,
        changes,
        _surface(choice, host, integration, before, after),
        _conflicts(findings, (*fresh, *_merged(work.draft, host, taken.workspace)), host, ()),
        tuple(notes),
        tuple(blast_radius(cell, before.view, work.draft, work.builtins, work.rivals)),
        (),
    )


class _Work:
    """The steps of one host's plan, their refusals gathered."""

    def __init__(self, cell: Cell, draft: Draft, before: Field) -> None:
        self.cell = cell
        self.draft = draft
        self.before = before
        self.ours: Ours | None = None
        self.refusals: list[Refusal] = []
        self.notes: list[str] = []
        self.builtins: dict[str, HostTool] = {}
        self.rivals: list[Registration] = []

    def run(self) -> None:
        """Write what the tiers want, in memory."""
        cell, tiers = self.cell, self.cell.choice.tiers
        wanted = [c for c in cell.integration.capabilities if tiers[c] != "off"]
        try:
            self.ours = register(cell, self.draft, self.notes)
        except Refused as refused:
            self._refuse(wanted, refused)
            return
        for capability in cell.integration.capabilities:
            tier = tiers[capability]
            try:
                if tier == "off":
                    turn_off(cell, self.draft, capability)
                if tier == "forced":
                    if cell.host.forced.get(capability, "none") == "none":
                        raise Refused(
                            f"{cell.host.name} has no mechanism that would leave one tool alone for {capability}"
                        )
                    for tool in remove_builtins(cell, self.draft, capability):
                        self.builtins[tool.id] = tool
                    self.rivals += [
                        r for r in exclude_rivals(cell, self.draft, capability, self.ours) if r not in self.rivals
                    ]
            except Refused as refused:
                self._refuse([capability], refused)
        named = [c for c in cell.integration.capabilities if tiers[c] == "preferred"]
        if named and not self.refusals:
            try:
                name_in_rules(cell, self.draft, named, self.notes)
            except Refused as refused:
                self._refuse(named, refused)

    def prove(self, after: Field) -> Field:
        """Ask the planned bytes whether each tier holds."""
        for capability, tier in self.cell.choice.tiers.items():
            for problem in shortfalls(tier, capability, after, self.ours, self.cell.choice.accept):
                self.refusals.append(
                    Refusal(
                        self.cell.host.id,
                        capability,
                        tier,
                        problem.reason,
                        problem.code,
                        problem.path,
                        problem.line,
                        problem.fix,
                    )
                )
        return after

    def _refuse(self, capabilities: Sequence[str], refused: Refused) -> None:
        for capability in capabilities:
            self.refusals.append(
                Refusal(
                    self.cell.host.id,
                    capability,
                    self.cell.choice.tiers[capability],
                    refused.message,
                    refused.code,
                    refused.path or "",
                    refused.line or 0,
                    refused.hint,
                )
            )


def _other_scope(choice: Choice, known: Known, workspace: Workspace) -> tuple[Record, ...]:
    """An install at project scope that this one at user scope takes the place of.

    The other way round it stays: a project-scope plan never writes the user's files.
    """
    if choice.scope != "user":
        return ()
    other = known.record(workspace.environment, "project", choice.host, choice.integration)
    return (other,) if other is not None else ()


def _take_all(records: Sequence[Record], workspace: Workspace) -> TakenBack:
    result = TakenBack(workspace, (), (), ())
    for record in records:
        taken = take_back(record, result.workspace)
        result = TakenBack(
            taken.workspace, result.leftovers + taken.leftovers, result.gone + taken.gone, result.exact + taken.exact
        )
    return result


def _refused_all(
    choice: Choice, host: Host, before: Field, findings: Sequence[Conflict], refused: Refused, workspace: Workspace
) -> HostPlan:
    rows = tuple(
        Refusal(host.id, c, t, refused.message, refused.code, refused.path or "", refused.line or 0, refused.hint)
        for c, t in choice.tiers.items()
    )
    surface = tuple(SurfaceChange(host.id, c, t, before.surface(c), before.surface(c)) for c, t in choice.tiers.items())
    return HostPlan(workspace, (), (), surface, _conflicts(findings, (), host, rows), (), (), rows)


def _surface(
    choice: Choice, host: Host, integration: Integration, before: Field, after: Field
) -> tuple[SurfaceChange, ...]:
    return tuple(
        SurfaceChange(host.id, c, choice.tiers[c], before.surface(c), after.surface(c))
        for c in integration.capabilities
    )


def _conflicts(
    findings: Sequence[Conflict], fresh: Sequence[Conflict], host: Host, refusals: Sequence[Refusal]
) -> tuple[Conflict, ...]:
    said = [
        Conflict(r.code, host.id, "", r.path, r.line, r.reason, {r.tier: "refused"}, r.fix)
        for r in refusals
        if r.code in CONFLICT_KINDS
    ]
    return tuple({rows_key(c): c for c in (*findings, *fresh, *said)}.values())


def _merged(draft: Draft, host: Host, base: Workspace) -> list[Conflict]:
    """Arrays that hold something already and get ours appended."""
    found = []
    for path, operations in draft.operations.items():
        for op in operations:
            if op.kind != "append":
                continue
            document = base.read(path, draft.formats[path])
            if document is None or isinstance(document, FormatError):
                continue
            have = document.get(op.at, [])
            if have:
                span = document.where(op.at)
                found.append(
                    Conflict(
                        "array-must-merge",
                        host.id,
                        "",
                        path,
                        span.line if span else 0,
                        f"`{'.'.join(map(str, op.at))}` holds {len(have)} of yours: ours are appended, once, and only ours go at uninstall",
                    )
                )
    return found


def _finish(
    cell: Cell,
    work: _Work,
    workspace: Workspace,
    taken: TakenBack,
    record: Record | None,
    stale: Sequence[Record],
    known: Known,
    after: Field,
) -> tuple[tuple[PlannedFile, ...], tuple[Change, ...], Field]:
    """The files of the transaction. Raises Refused where one of them cannot be written."""
    draft, choice, environment = work.draft, cell.choice, workspace.environment
    old = {f.path: f for r in (record, *stale) if r is not None for f in r.files}
    recorded: list[RecordedFile] = []
    changes: list[Change] = []
    final = draft.workspace
    for path in dict.fromkeys([*old, *draft.recorded]):
        kept = _kept(path, old.get(path), draft, taken)
        if kept is not None:
            tried = final.with_document(path, _document(workspace, path, kept.format))
            if not any(
                shortfalls(t, c, field(cell.host, tried, cell.catalogue), work.ours, choice.accept)
                for c, t in choice.tiers.items()
            ):
                final = tried
                recorded.append(kept)
                continue
        change, row = _one_file(path, cell, draft, workspace, taken, old.get(path))
        changes.append(change)
        if row is not None:
            recorded.append(row)
    planned = tuple(
        PlannedFile(c, action_of(c), cell.host.id, tuple(draft.operations.get(c.path, ())))
        for c in changes
        if c.before != c.after
    )
    changes += _bookkeeping(cell, work, workspace, record, stale, known, recorded, changes, environment.now)
    return planned, tuple(changes), field(cell.host, final, cell.catalogue)


def _document(workspace: Workspace, path: str, format_name: str) -> Any:
    read = workspace.read(path, format_name)
    return None if isinstance(read, FormatError) else read


def _kept(path: str, old: RecordedFile | None, draft: Draft, taken: TakenBack) -> RecordedFile | None:
    """The old record of a file that needs no change: the same operations, all of them still there."""
    new = draft.recorded.get(path)
    if (
        old is None
        or not new
        or any(left.path == path for left in taken.leftovers)
        or any(f"`{path}`" in g for g in taken.gone)
    ):
        return None
    same = [(o.kind, o.at, o.written, o.items) for o in old.operations] == [
        (n.kind, n.at, n.written, n.items) for n in new
    ]
    return old if same else None


def _one_file(
    path: str, cell: Cell, draft: Draft, workspace: Workspace, taken: TakenBack, old: RecordedFile | None
) -> tuple[Change, RecordedFile | None]:
    format_name = draft.formats.get(path) or (old.format if old else "")
    base = _document(taken.workspace, path, format_name)
    final = _document(draft.workspace, path, format_name)
    ours_before = old.folders if old is not None and not old.existed else ()
    change = config_change(
        path,
        format_name,
        final,
        workspace,
        scope=cell.choice.scope,
        whole_folder=draft.folders.get(path, "") or _whole(cell, path, workspace),
        folders=ours_before if final is None else (),
        secret=format_name != "markdown",
    )
    operations = draft.recorded.get(path)
    if not operations:
        return change, None
    row = RecordedFile(
        path=path,
        format=format_name,
        existed=base is not None,
        blank=base is not None and not base.to_bytes().strip(),
        folders=tuple(change.make_folders) or tuple(ours_before),
        before=sha(base.to_bytes() if base is not None else None),
        after=sha(change.after),
        steps=tuple(draft.steps[path]),
        operations=tuple(operations),
    )
    return change, row


def _whole(cell: Cell, path: str, workspace: Workspace) -> str:
    """The folder that the host loads whole and that `path` stands in."""
    from hostconf.survey.workspace import expand

    for rules in cell.host.rules:
        for folder in expand(rules.whole_folder, cell.host, workspace.environment) if rules.whole_folder else ():
            if path.startswith(folder + "/"):
                return folder
    return ""


def _bookkeeping(
    cell: Cell,
    work: _Work,
    workspace: Workspace,
    record: Record | None,
    stale: Sequence[Record],
    known: Known,
    recorded: Sequence[RecordedFile],
    configs: Sequence[Change],
    now: str,
) -> list[Change]:
    """Record, vault and claims that go with the changed files."""
    choice, environment = cell.choice, workspace.environment
    path = record_path(environment, choice.scope, cell.host.id, cell.integration.id)
    changes: list[Change] = []
    for gone in stale:
        changes += forget(gone, workspace, known)
    # a second record inherits them: they go with the last one
    near = [r for p, r in known.records.items() if p.startswith(state_folder(environment, choice.scope) + "/")]
    folders = next((r.folders for r in near if r.folders), ()) or missing_folders(path, workspace)
    made = Record(
        id=cell.record_id,
        integration=cell.integration.id,
        host=cell.host.id,
        scope=choice.scope,
        path=choice.path,
        tiers=dict(choice.tiers),
        server=cell.integration.server,
        package=choice.package,
        environment=(*choice.env_names, *choice.env_values),
        knobs=dict(choice.knobs),
        accepted=choice.accept,
        installed=now,
        tool=f"hostconf {__version__}",
        files=tuple(recorded),
        folders=folders,
    )
    if record is not None and made._replace(installed=record.installed, tool=record.tool) == record:
        return changes
    if not recorded and record is None:
        return changes
    data, vault = dump_record(made, environment)
    for where, bytes_, role in ((path, data, "record"), (vault_path(path), vault, "vault")):
        state = workspace.state(where)
        before = state.data if state.kind == "file" else None
        if before is not None or bytes_ is not None:
            changes.append(state_change(where, before, bytes_, workspace, role))
    if choice.scope == "project":
        ignore = f"{state_folder(environment, 'project')}/.gitignore"
        if workspace.state(ignore).kind == "absent":
            changes.append(
                state_change(
                    ignore,
                    None,
                    b"# records of hostconf: of this machine, not of the project\n*\n",
                    workspace,
                    "record",
                )
            )
    else:
        changes += _claims(cell, workspace, known, recorded, configs, now)
    return changes


def _claims(
    cell: Cell,
    workspace: Workspace,
    known: Known,
    recorded: Sequence[RecordedFile],
    configs: Sequence[Change],
    now: str,
) -> list[Change]:
    found = []
    entries = {f.path: [o.at for o in f.operations if o.kind == "set"] for f in recorded if f.format != "markdown"}
    by_path = {c.path: c for c in configs}
    for path in dict.fromkeys([*entries, *by_path]):
        change = by_path.get(path) or Change(
            path, workspace.state(path).real, None, None, None, "config", workspace.state(path).real.rpartition("/")[0]
        )
        if change.format == "markdown":
            continue
        from hostconf.record import claim_path

        claims = known.claims.get(claim_path(change.real, change.beside), ())
        row = claim_change(change, workspace, cell.record_id, entries.get(path, ()), cell.integration.id, now, claims)
        if row is not None:
            found.append(row)
    return found


def forget(record: Record, workspace: Workspace, known: Known) -> list[Change]:
    """The changes that take a record, its vault and its claims away."""
    from hostconf.record import claim_path

    environment = workspace.environment
    path = record_path(environment, record.scope, record.host, record.integration)
    folder = state_folder(environment, record.scope)
    others = [p for p in known.records if p != path and p.startswith(folder + "/")]
    changes: list[Change] = []
    drop = tuple(dict.fromkeys((f"{folder}/records", folder, *reversed(record.folders))))
    for where, role in ((path, "record"), (vault_path(path), "vault")):
        state = workspace.state(where)
        if state.kind == "file":
            changes.append(state_change(where, state.data, None, workspace, role, drop))
    ignore = workspace.state(f"{folder}/.gitignore")
    if record.scope == "project" and not others and ignore.kind == "file":
        changes.append(state_change(ignore.path, ignore.data, None, workspace, "record", drop))
    for file in record.files:
        real = workspace.state(file.path).real
        where = claim_path(real, real.rpartition("/")[0])
        claims = known.claims.get(where)
        if claims:
            stub = Change(file.path, real, None, None, None, "config", real.rpartition("/")[0])
            row = claim_change(stub, workspace, record.id, (), record.integration, "", claims)
            if row is not None:
                changes.append(row)
    return changes


def _notes(
    choice: Choice,
    host: Host,
    integration: Integration,
    changes: Sequence[Change],
    after: Field,
    ours: Ours,
    known: Known,
    workspace: Workspace,
) -> list[str]:
    said: list[str] = []
    for change in changes:
        if change.role == "config" and change.real != change.path and change.before != change.after:
            said.append(f"`{change.path}` is a link: the file behind it, `{change.real}`, is edited and the link stays")
    row = next((r for r in after.registrations if (r.path, r.at) == (ours.path, ours.at)), None)
    if row is not None and row.state == "pending":
        said.append(
            f"the host will not use `{row.name}` until you {_lower(row.pending)}: it has to be approved or trusted by you"
        )
    if choice.scope == "project":
        other = known.record(workspace.environment, "user", choice.host, choice.integration)
        if other is not None:
            said.append(
                f"the install at user scope stays: `hostconf uninstall {integration.id} --host {host.id} --scope user` takes it back"
            )
    if any(c.role == "config" and c.before != c.after for c in changes):
        said.append(f"{host.name} reads its files at start: start it anew")
    return said


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
