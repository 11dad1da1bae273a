"""`hostconf recover`: what is unfinished, who left a lock, and ending it."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli import diagnostics
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, bullets, table
from hostconf.errors import Refused, UsageError
from hostconf.model import OperationResult

MEANING = {
    "finish": "carries it through, all files new",
    "undo": "takes it back, all files old",
    "forget": "leaves the files as they are",
}


def run(call: Call) -> OperationResult:
    """Show; or, with an action, show, ask and do it."""
    action = next((name for name in MEANING if call.line.has(f"--{name}")), None)
    lock_id = call.line.value("--lock-id")
    if action is None and not lock_id:
        if call.line.has("--yes"):
            raise UsageError(
                "`--yes` to what?", hint="`--finish`, `--undo` or `--forget`; `hostconf recover` shows the state"
            )
        return workflow.recover(call.environment, None, "", yes=False)
    if not call.may_write():
        call.show(workflow.recover(call.environment, None, lock_id, yes=False).data)
        if not diagnostics.ask(f"{(action or 'remove the lock').capitalize()}?"):
            raise Refused("not approved: nothing was done", code="not-approved")
    return workflow.recover(call.environment, action, lock_id, yes=True)


def lines(data: Data, style: Style) -> Iterator[str]:
    """What is unfinished with the state of each file, the locks with their evidence, and the ways out."""
    for one in data.get("operations", ()):
        purpose = one.get("purpose") or {}
        words = [purpose.get("op"), purpose.get("integration"), *purpose.get("hosts", ()), purpose.get("scope")]
        yield style.bold("unfinished") + f"  {' '.join(style.text(word) for word in words if word)}"
        yield f"  {style.text(one.get('stage'))} since {style.text(purpose.get('started') or 'unknown')}, " + (
            f"journal in {style.place(one.get('state_folder'))}"
        )
        yield from table(
            ((style.text(file.get("state")), style.place(file.get("path"))) for file in one.get("files", ())), "  "
        )
        yield f"  {style.text(one.get('reason'))}"
        for choice in one.get("choices", ()):
            best = "  (what hostconf would do)" if choice == one.get("decision") else ""
            yield f"  `hostconf recover --{style.text(choice)}`: {MEANING.get(choice, '')}{best}"
    for lock in data.get("locks", ()):
        yield style.bold("lock") + f"  {style.place(lock.get('path'))}"
        yield f"  {style.text(lock.get('verdict'))}: {style.text(lock.get('reason'))}"
        who = [style.text(lock.get(key)) for key in ("holder", "since") if lock.get(key)]
        if who:
            yield f"  made by {', since '.join(who)}"
        yield from bullets(lock.get("evidence", ()), style)
        if lock.get("lock_id"):
            yield f"  id {style.text(lock['lock_id'])}"
