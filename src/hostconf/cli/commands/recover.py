"""`hostconf recover`: what is unfinished, who left a lock, and ending it."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli import diagnostics
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, bullets, table
from hostconf.errors import UsageError
from hostconf.model import OperationResult

ACTIONS = ("finish", "undo", "forget")


def run(call: Call) -> OperationResult:
    """Show; or, with an action, show, ask and do it."""
    action = next((name for name in ACTIONS if call.line.has(f"--{name}")), None)
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
            return OperationResult("recover", 0, {}, messages=("Nothing was done",))
    return workflow.recover(call.environment, action, lock_id, yes=True)


def lines(data: Data, style: Style) -> Iterator[str]:
    """The unfinished operations, the locks, and what was done about them."""
    done = data.get("done", ())
    yield from bullets(done, style, "")
    for one in data.get("unfinished", ()):
        words = (one.get("command"), one.get("started"), one.get("state"))
        yield (
            style.bold(f"unfinished {style.text(one.get('id'))}")
            + "  "
            + "  ".join(style.text(word) for word in words if word)
        )
        rows = ((style.text(file.get("state")), style.place(file.get("path"))) for file in one.get("files", ()))
        yield from table(rows, "  ")
        if one.get("problem"):
            yield f"  {style.bad(style.text(one['problem']))}"
        for way in ("finish", "undo", "forget"):
            if one.get(way):
                yield f"  `hostconf recover --{way}`: {style.text(one[way])}"
    for lock in data.get("locks", ()):
        yield style.bold(f"lock {style.text(lock.get('id'))}") + f"  {style.place(lock.get('path'))}"
        yield f"  {style.text(lock.get('verdict'))}: {style.text(lock.get('who'))}"
    if not done and not data.get("unfinished") and not data.get("locks"):
        yield "Nothing is unfinished, and no lock is left"
