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
    paints = {"ok": style.good, "warn": style.mark, "fail": style.bad}
    for check in data.get("checks", ()):
        status = style.text(check.get("status"))
        yield f"{paints.get(status, style.dim)(status.ljust(4))}  {style.text(check.get('text'))}"
        if check.get("hint"):
            yield f"      hint: {style.text(check['hint'])}"
