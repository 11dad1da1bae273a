"""`hostconf explain`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, bullets, table, tool_rows
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Which tool the model gets, and why."""
    capability, *hosts = call.line.words
    return workflow.explain(call.environment, capability, hosts)


def lines(data: Data, style: Style) -> Iterator[str]:
    """Per host the tools and the lines that decide them."""
    capability = data.get("capability", "")
    hosts = data.get("hosts", ())
    if not hosts:
        yield "No host is here. `hostconf hosts` lists the ones that are known"
    for number, host in enumerate(hosts):
        if number:
            yield ""
        yield style.bold(f"{style.text(host.get('name'))} ({style.text(host.get('id'))}): {style.text(capability)}")
        tools = (host.get("surface") or {}).get(capability, ())
        yield from table(tool_rows(tools, style))
        if not tools:
            yield "  none: the model is offered no tool for it"
        yield from bullets(host.get("reasons", ()), style)
