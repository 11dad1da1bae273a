"""Where the screens' work is done: the verbs of `workflow` for one machine, called from threads that may wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from hostconf import workflow
from hostconf.errors import Refused
from hostconf.model import Environment, OperationResult
from hostconf.workflow.request import Request

if TYPE_CHECKING:
    from hostconf.workflow.change import Prepared
    from hostconf.workflow.wishes import Wishes


class Bench:
    """One machine. What only looks may run side by side; what writes runs alone, and not at all in a dry run."""

    def __init__(self, environment: Environment, *, dry_run: bool = False) -> None:
        self.environment = environment
        self.dry_run = dry_run
        self._wishes: tuple[int, Wishes | None] = (0, None)
        """What was read, and at which `_time`."""
        self._turn = Lock()
        self._left = Event()
        self._pen = Lock()
        """Held by who writes."""
        self._asking = Lock()
        """Held by who has started a host's program."""
        self._time = 0
        """How often the files have changed."""

    def status(self, hosts: Sequence[str] = ()) -> OperationResult:
        """See `workflow.status`."""
        return workflow.status(self.environment, hosts)

    def conflicts(self, hosts: Sequence[str] = ()) -> OperationResult:
        """See `workflow.conflicts`."""
        return workflow.conflicts(self.environment, hosts)

    def explain(self, capability: str, hosts: Sequence[str] = ()) -> OperationResult:
        """See `workflow.explain`."""
        return workflow.explain(self.environment, capability, hosts)

    def excerpt(self, path: str, line: int, around: int = 4) -> Mapping[str, Any]:
        """See `workflow.excerpts`."""
        return workflow.excerpts(self.environment, [(path, line)], around)[0]

    def known_hosts(self) -> Sequence[Mapping[str, Any]]:
        """The hosts that hostconf knows, whether they are here or not."""
        rows: Sequence[Mapping[str, Any]] = workflow.hosts(self.environment).data["hosts"]
        return rows

    def integrations(self) -> Sequence[Mapping[str, Any]]:
        """The catalogue, those that can be installed first."""
        rows: Sequence[Mapping[str, Any]] = workflow.integrations(self.environment).data["integrations"]
        return rows

    def is_set(self, variable: str) -> bool:
        """Whether the environment has a value for it; the value itself is nobody's business."""
        return bool(self.environment.variables.get(variable))

    def offer(self, request: Request, host: str, *, anew: bool = False) -> Mapping[str, Any]:
        """See `Wishes.offer`; the files are read at the first call and when `anew` is asked for."""
        with self._turn:
            time, wishes = self._wishes
            if wishes is None or anew or time != self._time:
                time = self._time  # before it is read: what changes meanwhile counts as changed
                wishes = workflow.open_wishes(self.environment)
                self._wishes = (time, wishes)
            return wishes.offer(request, host)

    def forget_files(self) -> None:
        """The files have changed: the next offer reads them again. Waits for nobody: the screen calls it."""
        self._time += 1

    def prepare(self, request: Request) -> Prepared:
        """See `workflow.prepare`."""
        return workflow.prepare(self.environment, request)

    def prepare_uninstall(self, integration: str | None, hosts: Sequence[str], scope: str | None) -> Prepared:
        """See `workflow.prepare_uninstall`."""
        return workflow.prepare_uninstall(self.environment, integration, hosts, scope)

    def carry_out(self, prepared: Prepared, on_step: Callable[[str], None]) -> OperationResult:
        """See `workflow.carry_out`.

        Raises:
            Refused: this is a dry run. Nothing was touched.
        """
        with self._pen:
            self._may_write()
            try:
                return workflow.carry_out(prepared, on_step=on_step)
            finally:
                self.forget_files()

    def recovery(self) -> OperationResult:
        """What is unfinished and which locks are left; changes nothing."""
        return workflow.recover(self.environment)

    def recover(self, action: str | None, lock_id: str, on_step: Callable[[str], None]) -> OperationResult:
        """See `workflow.recover`.

        Raises:
            Refused: this is a dry run. Nothing was touched.
        """
        with self._pen:
            self._may_write()
            try:
                return workflow.recover(self.environment, action, lock_id, yes=True, on_step=on_step)
            finally:
                self.forget_files()

    def verify(self, hosts: Sequence[str]) -> OperationResult:
        """See `workflow.verify`; ends early where one leaves."""
        with self._asking:
            return workflow.verify(self.environment, hosts, self._left.is_set)

    def leave(self) -> None:
        """Nobody waits for an answer any more: programs that are being asked are ended."""
        self._left.set()

    def put_down(self) -> None:
        """Wait until nothing is being written, and until what was started is ended: nobody else would end it."""
        with self._pen, self._asking:
            pass

    def _may_write(self) -> None:
        if self._left.is_set():
            raise Refused("hostconf was left before it began to write", code="left", hint="start it again")
        if self.dry_run:
            raise Refused("this is a dry run: nothing is written", code="dry-run", hint="start hostconf without it")
