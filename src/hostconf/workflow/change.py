"""The verbs that change something: plan, apply, uninstall. Deciding is the planner's, writing is `apply`'s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hostconf import __version__
from hostconf.apply import carry_out
from hostconf.environment import lock_wait
from hostconf.errors import HostconfError, Refused, UsageError
from hostconf.hosts.schema import Host
from hostconf.model import Environment, OperationResult, Plan
from hostconf.plan.build import build_plan
from hostconf.record import Record, record_path, state_folder, vault_path
from hostconf.survey.survey import survey
from hostconf.takeback import Leftover, drift
from hostconf.uninstall import build_removal
from hostconf.workflow import data
from hostconf.workflow.choices import choices_of
from hostconf.workflow.gather import Gathered, House, gather, open_house
from hostconf.workflow.request import Request


def make_plan(house: House, request: Request) -> tuple[Plan, Gathered]:
    """The plan for a request. Reads only.

    Raises:
        UsageError, Refused: the request itself is off.
        RecordUnreadable: a record or claim that matters cannot be read.
    """
    gathered: Gathered | None = None

    def present(host: Host) -> bool:
        nonlocal gathered
        if gathered is None:
            gathered = gather(house, house.hosts)
        return survey(host, gathered.workspace, house.catalogue).present

    from hostconf.workflow.ask import newest_version

    choices = choices_of(house, request, present, lambda package: newest_version(package, house.environment))
    if gathered is None:
        gathered = gather(house, [h for _, h, _ in choices])
    _trust_records(gathered, [h for _, h, _ in choices])
    return build_plan(choices, gathered.workspace, house.catalogue, gathered.known), gathered


def _trust_records(gathered: Gathered, hosts: Sequence[Host]) -> None:
    """Raises what cannot be read of these hosts: on what is not known nothing is decided."""
    for problem in gathered.problems:
        name = (problem.path or "").rpartition("/")[2]
        if problem.path not in gathered.known.unread or any(name.startswith(f"{h.id}.") for h in hosts):
            raise problem


def plan(environment: Environment, request: Request, *, exit_code: bool) -> OperationResult:
    """See `hostconf.workflow.plan`."""
    made, _ = make_plan(open_house(environment), request)
    return _planned("plan", made, exit_code)


def _planned(command: str, made: Plan, exit_code: bool = False) -> OperationResult:
    errors = data.refusal_errors(made.refusals)
    code = 3 if made.refusals else 6 if exit_code and not made.empty else 0
    messages = ("nothing to do: it is so already",) if made.empty and not made.refusals else ()
    return OperationResult(command, code, data.plan_data(made), messages, errors)


class Prepared(NamedTuple):
    """A plan as it was shown, kept to be carried out as it is: what a person approved, and nothing else."""

    house: House
    result: OperationResult
    """What is shown of it: as `plan`, or `uninstall` before its question, gives it."""
    plan: Plan
    scope: str = ""
    """Of an install; a removal may span both."""
    integration: str = ""
    records: tuple[Record, ...] = ()
    """Of a removal: the installs that go."""
    leftovers: tuple[Leftover, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether there is something to carry out: nothing is refused, and something would be done."""
        return not self.plan.refusals and bool(self.records or not self.plan.empty)


def prepare(environment: Environment, request: Request, command: str = "apply") -> Prepared:
    """See `hostconf.workflow.prepare`."""
    house = open_house(environment)
    made, _ = make_plan(house, request)
    return Prepared(house, _planned(command, made), made, request.scope, request.integration)


def apply(
    environment: Environment,
    request: Request,
    *,
    yes: bool,
    confirm: Callable[[OperationResult], bool] | None,
    on_step: Callable[[str], None] | None,
) -> OperationResult:
    """See `hostconf.workflow.apply`."""
    _writable_platform(environment)
    prepared = prepare(environment, request)
    if not prepared.ready:
        shown = prepared.result
        return shown._replace(data={**shown.data, "applied": False, "restart": []})
    _asked(prepared.result, yes, confirm)
    return carry_out_prepared(prepared, on_step)


def prepare_uninstall(
    environment: Environment, integration: str | None, hosts: Sequence[str], scope: str | None
) -> Prepared:
    """See `hostconf.workflow.prepare_uninstall`."""
    house = open_house(environment)
    wanted = house.named(hosts)
    if integration is not None:
        from hostconf.workflow.choices import integration_of

        integration = integration_of(house, integration).id
    gathered = gather(house, wanted)
    _trust_records(gathered, wanted)
    known = gathered.known
    records = [
        r
        for r in known.records.values()
        if r.host in {h.id for h in wanted}
        and (integration is None or r.integration == integration)
        and (scope is None or r.scope == scope)
    ]
    if not records:
        nothing = OperationResult(
            "uninstall",
            0,
            {**data.plan_data(_NOTHING), "removed": [], "leftovers": [], "restart": []},
            ("nothing of hostconf is installed there",),
        )
        return Prepared(house, nothing, _NOTHING)
    removal = build_removal(records, gathered.workspace, {h.id: h for h in house.hosts}, house.catalogue, known)
    made = removal.plan
    details = {
        **data.plan_data(made),
        "removed": [data.installed_row(r, drift(r, gathered.workspace, [*known.records.values()])) for r in records],
        "leftovers": [data.leftover_row(x) for x in removal.leftovers],
        "restart": [],
    }
    if made.refusals:
        shown = OperationResult("uninstall", 3, {**details, "removed": []}, (), data.refusal_errors(made.refusals))
    else:
        shown = OperationResult("uninstall", 0, details)
    one = records[0].integration
    return Prepared(house, shown, made, "", one, tuple(records), tuple(removal.leftovers))


def uninstall(
    environment: Environment,
    integration: str | None,
    hosts: Sequence[str],
    scope: str | None,
    *,
    yes: bool,
    confirm: Callable[[OperationResult], bool] | None,
    on_step: Callable[[str], None] | None,
) -> OperationResult:
    """See `hostconf.workflow.uninstall`."""
    _writable_platform(environment)
    prepared = prepare_uninstall(environment, integration, hosts, scope)
    if not prepared.ready:
        return prepared.result
    _asked(prepared.result, yes, confirm)
    return carry_out_prepared(prepared, on_step)


def carry_out_prepared(prepared: Prepared, on_step: Callable[[str], None] | None) -> OperationResult:
    """See `hostconf.workflow.carry_out`."""
    _writable_platform(prepared.house.environment)
    if not prepared.ready:
        raise Refused("there is nothing to carry out", code="not-ready")
    if prepared.records:
        return _remove(prepared, on_step)
    house, made, shown = prepared.house, prepared.plan, prepared.result
    hosts = [c.host for c in made.choices]
    purpose = _purpose("apply", prepared.scope, house.environment, hosts, prepared.integration)
    told = _carry_out(house, made, prepared.scope, purpose, on_step)
    details = {**shown.data, "applied": True, "restart": _restart(house, hosts)}
    said = (*told, "done: `hostconf verify` asks the hosts themselves")
    return OperationResult("apply", 0, details, said)


def _restart(house: House, hosts: Sequence[str]) -> list[dict[str, str]]:
    """What a person has to do on each host so that a running session gets its new tools."""
    return [{"host": h.id, "name": h.name, "text": h.reload} for h in house.hosts if h.id in hosts]


def _remove(prepared: Prepared, on_step: Callable[[str], None] | None) -> OperationResult:
    """A removal: what is the user's own first, then the project's."""
    house, records, leftovers = prepared.house, prepared.records, prepared.leftovers
    environment = house.environment
    details = {**prepared.result.data, "restart": _restart(house, sorted({r.host for r in records}))}
    told: list[str] = []
    for one in ("user", "project"):
        try:
            told += _remove_scope(house, prepared.plan, records, one, on_step)
        except HostconfError as error:
            if one == "user" or not any(r.scope == "user" for r in records):
                raise
            # the user's own part is a transaction of its own, and done
            rows = (data.error_row(error), *_left(leftovers, records, environment))
            said = (*told, "done in part: what the project holds is as it was")
            return OperationResult("uninstall", error.exit_code, details, said, rows, partial=True)
    if leftovers:
        rows = _left(leftovers, records, environment)
        said = (*told, "done in part: what is not as hostconf wrote it stays")
        return OperationResult("uninstall", 1, details, said, rows, partial=True)
    return OperationResult("uninstall", 0, details, (*told, "done"))


def _left(
    leftovers: Sequence[Leftover], records: Sequence[Record], environment: Environment
) -> tuple[dict[str, Any], ...]:
    """What stays, as errors of the envelope."""
    rows = []
    for x in leftovers:
        vault = next(
            (
                vault_path(record_path(environment, r.scope, r.host, r.integration))
                for r in records
                if any(f.path == x.path and o.at == x.at for f in r.files for o in f.operations)
            ),
            "",
        )
        hint = "take it out by hand if you do not want it"
        if x.keeps:
            hint = f"what you had there waits in `{vault}`: take ours out, then uninstall again, and it comes back"
        message = f"`{'.'.join(map(str, x.at))}` in `{x.path}` stays: {x.reason}"
        place = {"path": x.path, "line": x.line or None, "column": None}
        rows.append({"code": "drift", "message": message, "hint": hint, **place})
    return tuple(rows)


_NOTHING = Plan((), (), (), (), (), (), (), ())


def _remove_scope(
    house: House, made: Plan, records: Sequence[Record], scope: str, on_step: Callable[[str], None] | None
) -> tuple[str, ...]:
    """The part of a removal that one state folder's journal covers: user and project are transactions of their own."""
    paths = {f.path for r in records if r.scope == scope for f in r.files}
    if not any(r.scope == scope for r in records):
        return ()
    folder = state_folder(house.environment, scope)
    chosen = [
        c
        for c in made.changes
        if c.path in paths or c.path.startswith(folder + "/") or (scope == "user" and c.role == "claim")
    ]
    if not chosen:
        return ()
    purpose = _purpose("uninstall", scope, house.environment, sorted({r.host for r in records}), records[0].integration)
    return _carry_out(house, made._replace(changes=tuple(chosen)), scope, purpose, on_step)


def _purpose(op: str, scope: str, environment: Environment, hosts: Sequence[str], integration: str) -> dict[str, Any]:
    """Who and what, for people who meet the lock or the journal."""
    return {
        "op": op,
        "scope": scope,
        "integration": integration,
        "hosts": list(hosts),
        "tool": f"hostconf {__version__}",
        "started": environment.now,
    }


def _carry_out(
    house: House, made: Plan, scope: str, purpose: dict[str, Any], on_step: Callable[[str], None] | None
) -> tuple[str, ...]:
    return carry_out(
        made.changes,
        system=house.system,
        state=state_folder(house.environment, scope),
        purpose=purpose,
        wait_seconds=lock_wait(house.environment.variables),
        on_step=on_step,
    )


def _asked(shown: OperationResult, yes: bool, confirm: Callable[[OperationResult], bool] | None) -> None:
    """Raises UsageError where nobody can be asked, Refused where the answer is no."""
    if yes:
        return
    if confirm is None:
        raise UsageError(
            f"`{shown.command}` writes, and there is no terminal to ask on", hint="`--yes` says yes beforehand"
        )
    if not confirm(shown):
        raise Refused("not approved: nothing was written", code="not-approved")


def _writable_platform(environment: Environment) -> None:
    if environment.platform in ("windows", "wsl"):
        raise Refused(
            f"writing is not proved on {environment.platform} yet, so hostconf only reads there", code="platform"
        )


def failure(command: str, error: HostconfError) -> OperationResult:
    """An error as the result of a verb."""
    return OperationResult(command, error.exit_code, {}, (), (data.error_row(error),))
