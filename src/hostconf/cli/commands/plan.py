"""`hostconf plan`, and how a plan is said to a person wherever one is shown."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.commands.choice import request_of
from hostconf.cli.text import Data, Style, bullets, conflict_lines, diff_lines, section, table, tool_rows
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Make the plan; write nothing."""
    request = request_of(call.line)
    return workflow.plan(call.environment, request, exit_code=call.line.has("--exit-code"))


def lines(data: Data, style: Style) -> Iterator[str]:
    """Files with their diffs, the surface before and after, and all that is said before approval.

    Refusals are errors, and are told as such.
    """
    for file in data.get("files", ()):
        yield f"{style.bold(_action(file, style))} {style.place(file.get('path'))}"
        if style.verbose:
            yield from bullets(map(operation_text, file.get("operations", ())), style)
        yield from diff_lines(str(file.get("diff") or ""), style)
        yield ""
    yield from around(data, style)


def around(data: Data, style: Style) -> Iterator[str]:
    """What a plan says beside its files."""
    yield from section("surface", surface_changes(data.get("surface", ()), style), style)
    conflicts = data.get("conflicts", ())
    settled = (c.get("text") for c in conflicts if c.get("resolved"))
    yield from section("conflicts that this settles", bullets(settled, style), style)
    left = (line for c in conflicts if not c.get("resolved") for line in conflict_lines(c, style))
    yield from section("conflicts left", left, style)
    yield from section("notes", bullets(data.get("notes", ()), style), style)
    yield from section("what else changes for you", bullets(data.get("blast_radius", ()), style), style)


def surface_changes(changes: list[Data], style: Style) -> Iterator[str]:
    """Per host and capability the tools before and after; once where nothing changes."""
    for change in changes:
        tier = style.text(change.get("tier"))
        head = f"  {style.text(change.get('host'))} {style.text(change.get('capability'))}"
        yield head + (f": {tier}" if tier else "")
        before, after = list(change.get("before", ())), list(change.get("after", ()))
        moments = (("now", after),) if before == after else (("before", before), ("after", after))
        rows: list[tuple[str, ...]] = []
        for moment, tools in moments:
            shown = list(tool_rows(tools, style)) or [("none",)]
            rows += ((moment if number == 0 else "", *row) for number, row in enumerate(shown))
        yield from table(rows, "    ")


def operation_text(operation: Data) -> str:
    """One edit in a sentence: what is done where, and what for."""
    at = ".".join(str(key) for key in operation.get("at", ()))
    why = operation.get("why")
    return f"{operation.get('kind')} {at}" + (f": {why}" if why else "")


def _action(file: Data, style: Style) -> str:
    host = style.text(file.get("host"))
    return style.text(file.get("action")) + (f" ({host})" if host else "")
