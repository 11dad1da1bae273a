"""What was left unfinished, in words: locks, operations, their files, and what may be done. Data in, text out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from textual.content import Content

from hostconf.tui.widgets import planned
from hostconf.tui.widgets.installs import when
from hostconf.tui.widgets.surface import capability, short_surface
from hostconf.tui.words import place, safe, said, sentence

Data = Mapping[str, Any]
CLAIM = ".hostconf-owner.json"
DECISIONS = ("finish", "undo", "forget")

VERDICTS = {
    "LIVE": ("▶", "$text-warning", "at work right now: its process is alive"),
    "DEAD": ("✗", "$text-success", "not running any more: its process is gone"),
    "UNKNOWN": ("?", "$text-error", "nobody can tell whether it is running"),
}
DOING = {"apply": "Installing", "uninstall": "Taking back", "recover": "Recovering"}
STAGES = {
    "staging": "no file of yours was touched; the new texts were being laid beside the files",
    "prepared": "every new text was on the disk, and the files were being exchanged one by one",
    "undo": "it was being taken back, file by file",
    "done": "all files are new; only cleaning up was left",
}
FATES = {
    "old": ("·", "", "as before"),
    "new": ("✓", "$text-success", "new"),
    "missing": ("!", "$text-error", "missing"),
    "other": ("!", "$text-error", "changed by somebody else"),
}


class Answer(NamedTuple):
    """Something that may be done now."""

    decision: str
    """`finish`, `undo`, `forget`."""
    text: str
    """What it does."""
    advised: bool = False
    """Whether hostconf would take this one."""


class State:
    """What `recover` tells, with the questions that a screen asks of it."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.operations: Sequence[Data] = data.get("operations", ())
        self.locks: Sequence[Data] = data.get("locks", ())

    @property
    def needed(self) -> bool:
        """Whether there is anything to settle."""
        return bool(self.data.get("needed"))

    def of(self, verdict: str) -> list[Data]:
        """The locks of this verdict."""
        return [lock for lock in self.locks if lock["verdict"] == verdict]

    def running(self, operation: Data) -> bool:
        """Whether a living process is at this operation: then it is not unfinished, but under way."""
        return any(str(lock["path"]).rpartition("/")[0] == operation["state_folder"] for lock in self.of("LIVE"))

    @property
    def choices(self) -> tuple[str, ...]:
        """What all operations allow; nothing while somebody is at one of them."""
        if not self.operations or any(self.running(o) for o in self.operations):
            return ()
        return tuple(d for d in DECISIONS if all(d in o["choices"] for o in self.operations))

    @property
    def differ(self) -> bool:
        """Whether one operation allows what another does not."""
        return len({tuple(o["choices"]) for o in self.operations}) > 1

    @property
    def decision(self) -> str:
        """What hostconf would do with all of them; empty where a person has to say."""
        found = {str(o["decision"]) for o in self.operations}
        one = found.pop() if len(found) == 1 else ""
        return one if one in self.choices else ""

    @property
    def removable(self) -> list[Data]:
        """Locks that may go on a person's word: those nobody can judge; without an operation the dead ones too."""
        if self.operations and not self.choices:
            return []
        return self.of("UNKNOWN") or ([] if self.operations else self.of("DEAD"))

    @property
    def hosts(self) -> set[str]:
        """Ids of the hosts that the operations are about."""
        return {str(h) for o in self.operations for h in o["purpose"].get("hosts", ())}

    @property
    def badge(self) -> str:
        """One word for the bar."""
        if any(not self.running(o) for o in self.operations):
            return "UNFINISHED"
        return "LOCKED" if self.locks else ""

    @property
    def answers(self) -> list[Answer]:
        """The choices, each with what it does."""
        return [Answer(d, _does(d, self.operations), d == self.decision) for d in self.choices]


def _does(decision: str, operations: Sequence[Data]) -> str:
    stages = {str(o["stage"]) for o in operations}
    count = sum(len(o["files"]) for o in operations)
    files = planned.several(count, "file")
    if decision == "finish":
        return (
            "Clean up: the files are new already" if stages == {"done"} else f"Carry it through: {files} new, recorded"
        )
    if decision == "undo":
        if stages == {"staging"}:
            return "Remove what was laid aside; no file changes"
        return f"Take it back: {files} as before"
    if not count:
        return "Put the journal aside; no file changes"
    if stages <= {"staging", "done"}:
        return "Forget the operation; no file changes"
    return "Leave each file as it is, and forget the operation"


# ------------------------------------------------------------------ the screen's parts


def heading(number: int, text: str) -> Content:
    """A question of the way through."""
    return said(safe(f"{number} ", "$accent bold"), safe(text, "$primary bold"))


def lock_lines(state: State, home: str, *, short: bool = False) -> list[Content]:
    """Is anything running? Where it has to be `short`, of locks that are alike one place is shown."""
    rows = [heading(1, "Is anything running?")]
    if not state.locks:
        rows.append(said(safe("  ✓ ", "$text-success bold"), "No: no lock is left."))
    alike: dict[tuple[Any, ...], list[Data]] = {}
    for lock in state.locks:
        own = lock["path"] if lock["verdict"] == "UNKNOWN" else ""
        alike.setdefault((lock["verdict"], lock["holder"], lock["since"], lock["reason"], own), []).append(lock)
    for locks in alike.values():
        verdict = str(locks[0]["verdict"])
        sign, style, words = VERDICTS.get(verdict, ("?", "$text-error", ""))
        count = f", {len(locks)} locks" if len(locks) > 1 else ""
        rows.append(said(safe(f"  {sign} {verdict} ", f"{style} bold"), safe(words), safe(count, "$text-muted")))
        paths = [str(lock["path"]) for lock in locks]
        shown = paths[:1] if short and len(paths) > 2 and state.operations else paths
        rows += lock_facts(locks[0], home, shown)
        if shown != paths:
            rows.append(safe(f"    and {len(paths) - 1} more, each beside a file below", "$text-muted"))
    return rows


def lock_facts(lock: Data, home: str, paths: Sequence[str] = ()) -> list[Content]:
    """Who made one lock and when, how that is known, and where it is; or where all those are that are alike."""
    since = f", since {when(lock['since'])}" if lock["since"] else ""
    rows = [said("    ", safe(place(path, 0, home), "$secondary")) for path in paths or [str(lock["path"])]]
    if lock["verdict"] == "UNKNOWN":
        rows.append(said("    ", safe("id ", "$text-muted"), safe(lock["lock_id"], "bold")))
    rows.append(said("    ", safe(f"{lock['holder']}{since}")))
    known = [str(lock["reason"]), *map(str, lock["evidence"])]
    rows += [said("    · ", sentence(planned.homely(text, home), "$text-muted")) for text in known]
    return rows


def operation_lines(state: State, hosts: Sequence[Data], home: str) -> list[Content]:
    """What was going on?"""
    rows = [heading(2, "What was going on?")]
    if not state.operations:
        rows.append(said(safe("  ✓ ", "$text-success bold"), "Nothing: no operation is unfinished."))
    for number, operation in enumerate(state.operations):
        rows += [Content("")] if number else []
        rows += _operation(operation, state.running(operation), hosts, home)
    return rows


def _operation(operation: Data, running: bool, hosts: Sequence[Data], home: str) -> list[Content]:
    purpose: Data = operation["purpose"]
    names = {str(h["id"]): str(h["name"]) for h in hosts}
    on = ", ".join(names.get(str(h), str(h)) for h in purpose.get("hosts", ()))
    what = DOING.get(str(purpose.get("op")), "An operation that cannot be read")
    rows = [
        said(
            safe(f"  {what} "),
            safe(purpose.get("integration") or "", "bold"),
            safe(f" on {on}" if on else ""),
            safe("  under way" if running else "  interrupted", "$text-warning bold"),
        )
    ]
    told = [
        f"{purpose['scope']} scope" if purpose.get("scope") else "",
        str(purpose.get("tool") or ""),
        f"begun {when(purpose['started'])}" if purpose.get("started") else "",
        f"operation {operation['operation']}" if operation["operation"] else "",
    ]
    rows.append(said("    ", safe(" · ".join(t for t in told if t), "$text-muted")))
    rows.append(
        said("    ", safe("journal in ", "$text-muted"), safe(place(operation["state_folder"], 0, home), "$secondary"))
    )
    if operation["stage"] in STAGES:
        rows.append(said("    ", safe("how far: ", "$text-muted"), STAGES[operation["stage"]]))
    if not operation["decision"]:
        rows.append(planned.item("!", planned.homely(str(operation["reason"]), home), "$text-warning"))
    return rows + [_file(file, str(operation["state_folder"]), home) for file in operation["files"]]


def _file(file: Data, state_folder: str, home: str) -> Content:
    path = str(file["path"])
    sign, style, words = FATES.get(str(file["state"]), ("?", "$text-error", str(file["state"])))
    ours = "claim" if path.endswith(CLAIM) else "record" if path.startswith(state_folder + "/") else ""
    about = [ours, "new text beside it" if file["staged"] else "", "old text kept" if file["kept"] else ""]
    return said(
        safe(f"    {sign} {words:<9} ", style),
        safe(place(path, 0, home), "bold" if not ours else ""),
        safe("  " + ", ".join(text for text in about if text), "$text-muted"),
    )


def now_lines(about: Collection[str], hosts: Sequence[Data], problems: Sequence[Data], home: str) -> list[Content]:
    """What config and records say as they stand, of the hosts that it was about."""
    chosen = [h for h in hosts if h["id"] in about]
    rows = [safe("  As the files stand now", "$primary bold")] if chosen or problems else []
    for host in chosen:
        for name, tools in host["surface"].items():
            rows.append(
                said(safe(f"    {host['name']} · {capability(str(name))}: ", "$text-muted"), short_surface(tools))
            )
        found = [f"{i['integration']}, {i['scope']} scope, {'/'.join(i['tiers'].values())}" for i in host["installed"]]
        drift = any(i["drift"] for i in host["installed"])
        rows.append(
            said(
                safe(f"    {host['name']} · recorded: ", "$text-muted"),
                safe("; ".join(found) or "nothing"),
                safe("  not as it was written", "$text-error") if drift else "",
            )
        )
    for problem in problems:
        rows += planned.error_lines(problem, home)
    return rows


def advice_lines(state: State, home: str, *, dry_run: bool) -> list[Content]:
    """What now: what hostconf would do and why, or that a person has to say."""
    rows: list[Content] = []
    live = state.of("LIVE")
    word = {"finish": "finish it", "undo": "take it back", "forget": "leave it"}
    if not state.needed:
        rows.append(sentence("Nothing is left to settle. Press `n` to make a new plan."))
    elif live and not state.choices:
        rows.append(sentence("Somebody is at work right now. Wait until it is done, then look again with `r`."))
        rows.append(sentence("A lock whose owner is alive is never removed.", "$text-muted"))
    elif state.decision:
        reason = planned.homely(str(state.operations[0]["reason"]), home)
        rows.append(sentence(f"hostconf would {word[state.decision]}: {reason}."))
    elif state.choices:
        rows.append(sentence("hostconf cannot know what is right here: it is yours to say."))
    elif state.operations:
        rows.append(sentence("Nothing can be done from here: the reason stands above. Mend that, then press `r`."))
    if state.differ:
        rows.append(
            sentence("The operations are settled together: only what all of them allow is offered.", "$text-muted")
        )
    unknown = state.of("UNKNOWN")
    if unknown and state.choices:
        rows.append(sentence("The lock that nobody can judge may stand in the way: `x` names it first.", "$text-muted"))
    elif unknown and not state.operations:
        rows.append(sentence("Be sure that no hostconf runs on it, here or on another machine; then remove it."))
    elif state.removable:
        rows.append(sentence("The lock is left over: nothing was interrupted. It can go."))
    if dry_run and state.needed:
        rows.append(sentence("This is a dry run: all is shown, nothing is written.", "$text-warning"))
    return rows
