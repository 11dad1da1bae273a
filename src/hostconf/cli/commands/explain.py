"""`hostconf explain`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, bullets, conflict_lines, table, tool_rows
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Which tool the model gets, and why."""
    capability, *hosts = call.line.words
    return workflow.explain(call.environment, capability, hosts)


def lines(data: Data, style: Style) -> Iterator[str]:
    """Per host the tools, the lines that decide them, and what is not offered."""
    for number, host in enumerate(data.get("hosts", ())):
        if number:
            yield ""
        head = f"{style.text(host.get('name'))} ({style.text(host.get('id'))}): {style.text(data.get('capability'))}"
        yield style.bold(head)
        yield from table(tool_rows(host.get("tools", ()), style))
        yield from bullets(host.get("sentences", ()), style)
        for conflict in host.get("conflicts", ()) if style.verbose else ():
            yield from conflict_lines(conflict, style)
