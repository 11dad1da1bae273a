"""`hostconf uninstall`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli import diagnostics
from hostconf.cli.commands import Call, apply, plan
from hostconf.cli.text import Data, Style, leftover_text, section
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Take back what was installed, after a yes."""
    yes = call.may_write()

    def confirm(planned: OperationResult) -> bool:
        call.show({**planned.data, "preview": True})
        return diagnostics.ask("Take this back?")

    return workflow.uninstall(
        call.environment,
        call.line.words[0] if call.line.words else None,
        list(call.line.values("--host")),
        call.line.value("--scope") or None,
        yes=yes,
        confirm=None if yes else confirm,
    )


def lines(data: Data, style: Style) -> Iterator[str]:
    """What goes, as diffs, before the question; afterwards what went. What has to stay is told as errors then."""
    if data.get("preview"):
        yield from plan.lines(data, style)
        left = (f"  {leftover_text(one, style)}" for one in data.get("leftovers", ()))
        yield from section("stays, for it is not as hostconf wrote it", left, style)
    else:
        yield from apply.written(data, style)
        yield from plan.around(data, style)
