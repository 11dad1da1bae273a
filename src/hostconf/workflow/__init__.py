"""The verbs: each takes what the machine told us and what is asked, and gives an `OperationResult`.

Nothing is printed here. Each verb's own room is loaded when the verb is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hostconf.model import Environment, OperationResult
from hostconf.workflow.request import Request

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


def recover(
    environment: Environment, action: str | None = None, lock_id: str | None = None, *, yes: bool = False
) -> OperationResult:
    """Unfinished operations and stale locks: shown, or brought to an end."""
    from hostconf.workflow.mend import recover as run

    return run(environment, action, lock_id, yes=yes)


def verify(environment: Environment, hosts: Sequence[str] = ()) -> OperationResult:
    """The hosts' own word on what they load. Starts their programs."""
    from hostconf.workflow.ask import verify as run

    return run(environment, hosts)


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
