"""`hostconf conflicts`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, conflict_lines
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Find what stands against a wish."""
    return workflow.conflicts(call.environment, list(call.line.words))


def lines(data: Data, style: Style) -> Iterator[str]:
    """The findings, host by host."""
    conflicts = data.get("conflicts", ())
    if not conflicts:
        yield "No conflicts"
    host = None
    for conflict in conflicts:
        if conflict.get("host") != host:
            if host is not None:
                yield ""
            host = conflict.get("host")
            yield style.bold(style.text(host))
        yield from conflict_lines(conflict, style)
