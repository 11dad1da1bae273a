"""`hostconf apply`: show, ask, write."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli import diagnostics
from hostconf.cli.commands import Call, plan
from hostconf.cli.commands.choice import request_of
from hostconf.cli.text import Data, Style, table
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Carry the choice out, after a yes."""
    request = request_of(call.line)
    yes = call.may_write()

    def confirm(planned: OperationResult) -> bool:
        call.show(planned.data)
        return diagnostics.ask("Write these files?")

    def step(text: str) -> None:
        if not call.quiet and not call.json:
            diagnostics.show_step(text)

    return workflow.apply(call.environment, request, yes=yes, confirm=None if yes else confirm, on_step=step)


def lines(data: Data, style: Style) -> Iterator[str]:
    """The whole plan where nothing was written (yet); else what was written and what the model gets."""
    if not data.get("applied"):
        yield from plan.lines(data, style)
        return
    yield from written(data, style)
    yield from plan.around(data, style)


def written(data: Data, style: Style) -> Iterator[str]:
    """The files that were written."""
    past = {"create": "created", "modify": "changed", "delete": "removed"}
    rows = ((past.get(file.get("action"), ""), style.place(file.get("path"))) for file in data.get("files", ()))
    yield from table(rows, "")
