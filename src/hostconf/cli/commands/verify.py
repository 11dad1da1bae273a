"""`hostconf verify`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, bullets
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Ask the installed hosts."""
    return workflow.verify(call.environment, list(call.line.words))


def lines(data: Data, style: Style) -> Iterator[str]:
    """One line a host, and where its word differs from ours."""
    hosts = data.get("hosts", ())
    if not hosts:
        yield "No host is here to be asked"
    for host in hosts:
        head = f"{style.text(host.get('name'))} ({style.text(host.get('id'))})"
        version = style.text(host.get("version"))
        head += f" {version}" if version else ""
        if not host.get("asked"):
            yield f"{style.bold(head)}: {style.dim('not asked')}: {style.text(host.get('reason'))}"
        elif host.get("ok"):
            yield f"{style.bold(head)}: {style.good('agrees')}"
        else:
            yield f"{style.bold(head)}: {style.bad('differs')}"
        if host.get("command"):
            yield f"  asked with `{style.text(host['command'])}`"
        yield from bullets(host.get("differs", ()), style)
        if style.verbose:
            yield from bullets(host.get("agrees", ()), style)
