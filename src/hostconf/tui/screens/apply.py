"""Carrying an approved plan out: the steps while it writes, then what came of it, then the hosts' own word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hostconf.model import OperationResult
from hostconf.tui.actions import bindings
from hostconf.tui.messages import Failed, Step, Stopped
from hostconf.tui.screens.base import Room, Writing
from hostconf.tui.widgets import planned
from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.sections import Reading
from hostconf.tui.widgets.surface import capability, surface_lines
from hostconf.tui.words import place, safe, said, sentence

if TYPE_CHECKING:
    from hostconf.workflow.change import Prepared

Data = Mapping[str, Any]
State = Literal["writing", "done", "partial", "failed"]

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
STAY = "writing: this cannot be left half-way"
NOT_ASKED = "  Not asked: no program is started in the demo. At home each host is asked here what it loads."
UNFINISHED = ("recovery-needed", "cleaning-unfinished")
"""Codes of failures after which an operation is left open."""
VERDICTS = {
    "agrees": ("✓", "$text-success", "agrees: it loads what its files say"),
    "differs": ("≠", "$text-error", "differs"),
    "cannot": ("?", "$text-warning", "cannot be asked"),
    "not-installed": ("–", "$text-muted", "not installed here"),
}


class Apply(Writing):
    """One transaction from its first step to the hosts' own word. While it writes, nothing leaves."""

    PLACE = "apply"
    QUESTION = "What has been done, and what do the hosts say to it?"
    OFFERS = ("done", "replan", "mend", "verify", "back")
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(*OFFERS),
        Binding("escape,q,ctrl+q,ctrl+c,ctrl+p,colon,ctrl+z", "stay", show=False),
    ]
    CSS_PATH = "apply.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]

    @dataclass
    class Ended(Message):
        """All is written."""

        result: OperationResult

    @dataclass
    class Asked(Message):
        """The hosts have answered."""

        result: OperationResult

    def __init__(self, prepared: Prepared) -> None:
        super().__init__()
        self.prepared = prepared
        self.state: State = "writing"
        self._failure: Failed | None = None
        self._frame = 0
        self._asking = False

    def body(self) -> Iterable[Widget]:
        """Steps or result on one side, the hosts' own word on the other."""
        with Reading(id="apply-body"):
            yield Horizontal(
                Vertical(Paragraphs(id="apply-told"), Paragraphs(id="apply-hosts"), id="apply-left"),
                Paragraphs(id="apply-surface"),
                id="apply-columns",
            )

    def on_mount(self) -> None:
        """Begin at once: it was approved."""
        self.query_one("#apply-body").focus()
        bench, prepared = self.wizard.bench, self.prepared
        self.write(lambda on_step: bench.carry_out(prepared, on_step), self.Ended, "`hostconf recover`")
        self._say_steps()
        if self.app.animation_level != "none":
            self.set_interval(0.1, self._turn)

    @property
    def names(self) -> Mapping[str, str]:
        """The hosts by id."""
        return {h.id: h.name for h in self.prepared.house.hosts}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that this is about."""
        prepared = self.prepared
        found = [r.host for r in prepared.records] or [c.host for c in prepared.plan.choices]
        return tuple(dict.fromkeys(found))

    # ---- while it writes

    def _turn(self) -> None:
        if self.state == "writing" or self._asking:
            self._frame = (self._frame + 1) % len(SPINNER)
            self._say_steps() if self.state == "writing" else self._say_asking()

    @on(Step)
    def _step(self) -> None:
        self._say_steps()

    def _say_steps(self) -> None:
        if self.state != "writing":
            return
        rows = [planned.heading("Writing: all files or none")]
        rows += self._step_lines(safe(f"  {SPINNER[self._frame]} ", "$accent bold"))
        rows += [Content(""), safe(f"{STAY}; it takes a moment", "$text-muted italic")]
        self.query_one("#apply-told", Paragraphs).say(rows)

    def _step_lines(self, last: Content) -> list[Content]:
        steps = [self._short(text) for text in (*self._steps,)] or ["getting ready"]
        rows = [said(safe("  ✓ ", "$text-success bold"), sentence(text, "$text-muted")) for text in steps[:-1]]
        return [*rows, said(last, sentence(steps[-1]))]

    def _short(self, text: str) -> str:
        return planned.homely(text, self.home)

    # ---- what came of it

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        result = event.result
        self.state = "partial" if result.partial else "done"
        if self.prepared.result.command != "uninstall":
            self.wizard.wish = self.wizard.wish._replace(touched=False)
        self.query_one("#apply-told", Paragraphs).say(self._written(result))
        self.query_one("#apply-surface", Paragraphs).say(self._surface(result))
        self._settle()
        self.action_verify()

    @on(Stopped)
    def _stopped(self, event: Stopped) -> None:
        failure = event.failure
        self.state, self._failure = "failed", failure
        open_still = failure.code in UNFINISHED or failure.code in ("bug", "interrupted")
        head = "It stopped, and is not finished" if open_still else "Nothing was written: every file is as it was"
        if failure.code == "cleaning-unfinished":
            head = "Written, but not cleaned up"
        row = {"message": failure.message, "hint": failure.hint, "path": failure.path, "line": failure.line}
        rows = [planned.heading(head, "$text-error"), *planned.error_lines(row, self.home)]
        if failure.code == "stale-plan":
            rows += [
                Content(""),
                said("  A file moved on since the plan was made. Press ", _key("p"), " to plan again."),
            ]
        elif open_still:
            rows += [Content(""), said("  Press ", _key("R"), " to see what is unfinished, and to settle it.")]
        else:
            rows += [Content(""), said("  Press ", _key("Esc"), " for the plan, then try again.")]
        if self._steps:
            rows += [Content(""), planned.heading("How far it came")]
            rows += self._step_lines(safe("  ✗ ", "$text-error bold"))
        self.query_one("#apply-told", Paragraphs).say(rows)
        self._settle()

    def _settle(self) -> None:
        """From here on one may leave."""
        self.query_one("#apply-body", Reading).scroll_home(animate=False)
        self.wizard.end_writing()
        self.wizard.bench.forget_files()
        self.refresh_bindings()

    def _written(self, result: OperationResult) -> list[Content]:
        removal = result.command == "uninstall"
        data = result.data
        head = "Taken back" if removal else "Written"
        if result.partial:
            head = "Taken back in part: some of it stays"
        rows = [planned.heading(f"✓ {head}" if not result.partial else f"! {head}", self._head_style())]
        rows += [
            said("  ", planned.action_word(str(f["action"])), "  ", safe(place(f["path"], 0, self.home), "bold"))
            for f in data.get("files", ())
        ]
        for error in result.errors:
            rows += planned.error_lines(error, self.home)
        told = [text for text in result.messages if not text.startswith("done")]
        if told:
            rows += [Content(""), planned.heading("Worth knowing")]
            rows += [planned.item("·", self._short(text)) for text in told]
        if data.get("restart"):
            rows += [Content(""), planned.heading("So that running sessions get it")]
            rows += [
                planned.item("↻", said(safe(r.get("name"), "bold"), ": ", sentence(str(r.get("text") or ""))))
                for r in data["restart"]
            ]
        return rows

    def _surface(self, result: OperationResult) -> list[Content]:
        rows = [planned.heading("What the model gets now")]
        for change in result.data.get("surface", ()):
            host = str(change.get("host"))
            rows.append(safe(f"  {self.names.get(host, host)} · {capability(str(change.get('capability')))}", "bold"))
            rows += surface_lines(change.get("after", ()), self.home, "    ")
        return rows

    def _head_style(self) -> str:
        return "$text-success" if self.state == "done" else "$text-warning"

    # ---- the hosts' own word

    def action_verify(self) -> None:
        """Ask the hosts what they load."""
        if self.state not in ("done", "partial") or self._asking:
            return
        if self.wizard.demo:
            rows = [planned.heading("The hosts' own word"), sentence(NOT_ASKED)]
            self.query_one("#apply-hosts", Paragraphs).say(rows)
            return
        bench, hosts = self.wizard.bench, self.hosts
        self._asking = True
        self._say_asking()
        self.fetch(lambda: bench.verify(hosts), self.Asked, "verify")

    def _say_asking(self) -> None:
        sign = safe(f"  {SPINNER[self._frame]} ", "$accent bold")
        rows = [planned.heading("The hosts' own word"), said(sign, "asking the hosts; you may go on meanwhile")]
        self.query_one("#apply-hosts", Paragraphs).say(rows)

    @on(Asked)
    def _asked(self, event: Asked) -> None:
        self._asking = False
        rows = [planned.heading("The hosts' own word")]
        for answer in event.result.data["hosts"]:
            rows += _answer_lines(answer)
        rows += [planned.item("·", text) for text in event.result.messages]
        rows += [Content(""), said("  ", _key("v"), safe(" asks again", "$text-muted"))]
        self.query_one("#apply-hosts", Paragraphs).say(rows)

    def on_failed(self, event: Failed) -> None:
        """The hosts could not be asked; what is written is written."""
        self._asking = False
        row = {"message": event.message, "hint": event.hint, "path": event.path, "line": event.line}
        rows = [planned.heading("The hosts' own word"), *planned.error_lines(row, self.home)]
        self.query_one("#apply-hosts", Paragraphs).say(rows)

    # ---- away from here

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What can be done depends on what came of it."""
        code = self._failure.code if self._failure else ""
        written = self.state in ("done", "partial")
        offered = {
            "stay": self.state == "writing",
            "back": self.state != "writing",
            "done": written,
            "verify": written and not self.wizard.demo,
            "replan": self.state == "failed",
            "mend": code in (*UNFINISHED, "bug", "interrupted"),
        }
        return offered.get(action, True)

    def action_stay(self) -> None:
        """Say that it cannot be left now."""
        self.notify(STAY, severity="warning", markup=False)

    def action_back(self) -> None:
        """After a failure to the plan; after a success there is no plan to go back to."""
        if self.state == "failed":
            self.wizard.go_back()
        else:
            self.action_done()

    def action_done(self) -> None:
        """To the hosts, read anew."""
        self.wizard.start_over()

    def action_replan(self) -> None:
        """Back to the plan, made anew."""
        self.wizard.go_back()
        behind = self.wizard.screen
        if isinstance(behind, Room) and behind.PLACE == "preview":
            self.wizard.call_next(behind.run_action, "reload")

    def action_mend(self) -> None:
        """To what was left unfinished."""
        self.wizard.go("recovery")


def _key(name: str) -> Content:
    return safe(name, "$accent bold")


def _answer_lines(answer: Data) -> list[Content]:
    """One host: its verdict, and what it said."""
    sign, style, words = VERDICTS.get(str(answer.get("verdict")), ("?", "$text-warning", "unknown"))
    rows = [said(safe(f"  {sign} ", f"{style} bold"), safe(answer.get("name"), "bold"), ": ", safe(words, style))]
    if answer.get("message"):
        rows.append(said("    ", sentence(str(answer["message"]), "$text-muted")))
    rows += [said("    - ", sentence(str(text))) for text in answer.get("differences", ())]
    if answer.get("command"):
        rows.append(said("    ", safe("asked: ", "$text-muted"), safe(" ".join(answer["command"]), "$text-muted")))
    return rows
