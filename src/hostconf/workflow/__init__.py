"""The verbs: each takes what the machine told us and what is asked, and gives an `OperationResult`.

Nothing is printed here. Each verb's own room is loaded when the verb is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hostconf.model import Environment, OperationResult
from hostconf.workflow.request import Request

if TYPE_CHECKING:
    from hostconf.workflow.change import Prepared
    from hostconf.workflow.wishes import Wishes

Confirm = Callable[[OperationResult], bool]
"""Shown the plan, says whether to go on."""
OnStep = Callable[[str], None]


def status(environment: Environment, hosts: Sequence[str] = ()) -> OperationResult:
    """Hosts, layers, registrations, rules, surface, what is installed. Reads only."""
    from hostconf.workflow.look import status as run

    return run(environment, hosts)


def conflicts(environment: Environment, hosts: Sequence[str] = ()) -> OperationResult:
    """The conflict surface. Reads only."""
    from hostconf.workflow.look import conflicts as run

    return run(environment, hosts)


def explain(environment: Environment, capability: str, hosts: Sequence[str] = ()) -> OperationResult:
    """Which tool the model gets for a capability and which line decides it. Reads only."""
    from hostconf.workflow.look import explain as run

    return run(environment, capability, hosts)


def plan(environment: Environment, request: Request, *, exit_code: bool = False) -> OperationResult:
    """What `apply` would do. Takes no lock and writes nothing."""
    from hostconf.workflow.change import plan as run

    return run(environment, request, exit_code=exit_code)


def apply(
    environment: Environment,
    request: Request,
    *,
    yes: bool = False,
    confirm: Confirm | None = None,
    on_step: OnStep | None = None,
) -> OperationResult:
    """Plan, ask, carry out: all files or none."""
    from hostconf.workflow.change import apply as run

    return run(environment, request, yes=yes, confirm=confirm, on_step=on_step)


def uninstall(
    environment: Environment,
    integration: str | None = None,
    hosts: Sequence[str] = (),
    scope: str | None = None,
    *,
    yes: bool = False,
    confirm: Confirm | None = None,
    on_step: OnStep | None = None,
) -> OperationResult:
    """Take back what a record covers, and nothing else."""
    from hostconf.workflow.change import uninstall as run

    return run(environment, integration, hosts, scope, yes=yes, confirm=confirm, on_step=on_step)


def prepare(environment: Environment, request: Request) -> Prepared:
    """The plan of an install as a value: `result` is what a person is shown, `carry_out` does exactly that.

    Reads only.

    Raises:
        UsageError, Refused, RecordUnreadable: as `plan`.
    """
    from hostconf.workflow.change import prepare as run

    return run(environment, request)


def prepare_uninstall(
    environment: Environment, integration: str | None = None, hosts: Sequence[str] = (), scope: str | None = None
) -> Prepared:
    """The plan of a removal as a value, for `carry_out`. Reads only; raises as `uninstall`."""
    from hostconf.workflow.change import prepare_uninstall as run

    return run(environment, integration, hosts, scope)


def carry_out(prepared: Prepared, *, on_step: OnStep | None = None) -> OperationResult:
    """Carry out a plan that a person has approved: all files or none, and only if each is still as the plan saw it.

    Raises:
        Refused: it is not `ready`, or the platform is only read. Nothing was touched.
        StalePlan, Locked, WriteFailed, RecoveryNeeded: as `hostconf.apply.carry_out` says.
    """
    from hostconf.workflow.change import carry_out_prepared as run

    return run(prepared, on_step)


def open_wishes(environment: Environment) -> Wishes:
    """Everything that answers what could be had here, read once: see `Wishes`. Reads only."""
    from hostconf.workflow.wishes import open_wishes as run

    return run(environment)


def excerpts(environment: Environment, places: Sequence[tuple[str, int]], around: int = 4) -> list[Mapping[str, Any]]:
    """Lines of files that the hosts read, each with those around it, secrets masked. Reads only.

    Args:
        places: path and line, as a finding or a tool of a surface names them.

    Returns:
        One object a place: `path`, `line`, `format`, `lines[]` with `number` and `text`; no lines where the file
        cannot be read, or is not one that a known host reads.
    """
    from hostconf.workflow.look import excerpts as run

    return run(environment, places, around)


def recover(
    environment: Environment,
    action: str | None = None,
    lock_id: str | None = None,
    *,
    yes: bool = False,
    on_step: OnStep | None = None,
) -> OperationResult:
    """Unfinished operations and stale locks: shown, or brought to an end."""
    from hostconf.workflow.mend import recover as run

    return run(environment, action, lock_id, yes=yes, on_step=on_step)


def verify(
    environment: Environment, hosts: Sequence[str] = (), unless: Callable[[], bool] = lambda: False
) -> OperationResult:
    """The hosts' own word on what they load. Starts their programs, and ends them once `unless` says yes."""
    from hostconf.workflow.ask import verify as run

    return run(environment, hosts, unless)


def doctor(environment: Environment) -> OperationResult:
    """State, permissions, hosts whose facts are older than the program. Reads only."""
    from hostconf.workflow.mend import doctor as run

    return run(environment)


def hosts(environment: Environment, names: Sequence[str] = ()) -> OperationResult:
    """The catalogue of hosts, with evidence."""
    from hostconf.workflow.look import hosts as run

    return run(environment, names)


def integrations(environment: Environment) -> OperationResult:
    """The catalogue of integrations."""
    from hostconf.workflow.look import integrations as run

    return run(environment)


def write_report(text: str) -> str:
    """Put a report of a fault of our own into a fresh file beside no file of the user; gives its path, or nothing."""
    from hostconf.system.report import write_report as run

    return run(text)
