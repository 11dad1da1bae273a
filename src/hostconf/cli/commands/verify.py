"""`hostconf verify`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, bullets, table
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Ask the installed hosts."""
    return workflow.verify(call.environment, list(call.line.words))


def lines(data: Data, style: Style) -> Iterator[str]:
    """One line a host, and where its word differs from ours."""
    verdicts = {
        "agrees": style.good("agrees"),
        "differs": style.bad("differs"),
        "cannot": style.mark("cannot be asked"),
        "not-installed": style.dim("not installed"),
    }
    for host in data.get("hosts", ()):
        verdict = verdicts.get(host.get("verdict"), style.text(host.get("verdict")))
        message = f": {style.text(host['message'])}" if host.get("message") else ""
        yield f"{style.bold(style.text(host.get('name')))} ({style.text(host.get('id'))}): {verdict}{message}"
        if host.get("command"):
            yield f"  asked with `{' '.join(map(style.text, host['command']))}`"
        yield from bullets(host.get("differences", ()), style)
        if style.verbose:
            rows = (
                ("on" if one.get("enabled") else "off", style.text(one.get("name")))
                for one in host.get("registrations", ())
            )
            yield from table(rows)
            yield from bullets(host.get("tools", ()), style)
