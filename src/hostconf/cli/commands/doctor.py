"""`hostconf doctor`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Look over state, permissions and facts."""
    return workflow.doctor(call.environment)


def lines(data: Data, style: Style) -> Iterator[str]:
    """One line a check; the way out beneath it."""
    colours = {"ok": style.good, "warning": style.mark, "error": style.bad}
    for check in data.get("checks", ()):
        status = style.text(check.get("status"))
        paint = colours.get(status, style.dim)
        place = style.place(check.get("path"))
        yield f"{paint(status.ljust(7))}  {style.text(check.get('text'))}" + (f"  `{place}`" if place else "")
        if check.get("fix"):
            yield f"         fix: {style.text(check['fix'])}"
