"""`hostconf` without a verb, on a terminal. The one door to the screens; they are loaded when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style
from hostconf.model import Environment, OperationResult


def run(call: Call) -> OperationResult:
    """Open the wizard and stay until it is left."""
    with _signals_leave():
        if not call.line.has("--demo"):
            return _open(call, call.environment)
        from hostconf.demo import demo_home

        with demo_home(call.environment.variables) as environment:
            return _open(call, environment)


def lines(data: Data, style: Style) -> Iterator[str]:
    """Nothing: it was all on the screen."""
    yield from ()


def _open(call: Call, environment: Environment) -> OperationResult:
    from hostconf import tui

    code = tui.run(
        environment,
        dry_run=call.line.has("--dry-run"),
        demo=call.line.has("--demo"),
        colour=call.style.colour,
    )
    return OperationResult("wizard", code, {})


@contextmanager
def _signals_leave() -> Iterator[None]:
    """While the block runs, a signal that would end the program at once leaves it by way of its `finally`."""
    import signal

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
