"""What was left unfinished, in the order in which it is settled: running, going on, what now, lock, a new plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hostconf.model import OperationResult
from hostconf.tui.actions import bindings
from hostconf.tui.messages import Step, Stopped
from hostconf.tui.screens.base import Writing
from hostconf.tui.widgets import planned, unfinished
from hostconf.tui.widgets.answers import Answers
from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.sections import Reading
from hostconf.tui.widgets.unfinished import State
from hostconf.tui.words import safe, said, sentence

Data = Mapping[str, Any]

WIDE = 110
"""Width of the screen from which on what is known and what may be done stand side by side."""
TALL = 50
"""Height from which on the place of every lock is shown."""
LOOKING = "looking what was left …"
STAY = "writing: this cannot be left half-way"
DRY = "this is a dry run: nothing is written. Start hostconf without `--dry-run` to settle it"
WORDS = {"finish": "Finish", "undo": "Take back", "forget": "Leave"}


class Recovery(Writing):
    """Locks and unfinished operations, and the choices that are left. Nothing is removed whose owner may live."""

    PLACE = "recovery"
    TITLE_SHOWN = "Recovery"
    QUESTION = "What was left unfinished here, and what now?"
    OFFERS = ("finish", "undo", "forget", "remove_lock", "next", "reload", "not_now")
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(*OFFERS),
        Binding("q,ctrl+q,ctrl+c,ctrl+p,colon,ctrl+z", "stay", show=False),
    ]
    CSS_PATH = "recovery.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]

    @dataclass
    class Read(Message):
        """What is unfinished was read."""

        result: OperationResult

    @dataclass
    class Surveyed(Message):
        """What the files say as they stand."""

        result: OperationResult

    @dataclass
    class Ended(Message):
        """It is settled, or a part of it."""

        result: OperationResult

    def __init__(self, result: OperationResult | None = None) -> None:
        super().__init__()
        self._given = result
        self.state: State | None = None
        self.working = False
        self.done: tuple[str, ...] = ()
        """What was done here, in sentences."""
        self._lock_named = ""
        """Id of the lock that goes with the next choice."""
        self._about: set[str] = set()
        """Hosts of all operations seen here, also of those that are settled by now."""
        self._hosts: Sequence[Data] = ()
        self._problems: Sequence[Data] = ()

    def body(self) -> Iterable[Widget]:
        """What is known, and beside or below it what may be done."""
        with Container(id="recovery-body"):
            with Reading(id="recovery-about"):
                yield Paragraphs(id="recovery-facts")
            with Vertical(id="recovery-now"):
                yield Paragraphs(id="recovery-told")
                yield Answers("finish", "undo", "forget", "remove_lock", "next", "reload", "not_now", id="answers")

    def on_mount(self) -> None:
        """Show what was handed in, or look."""
        self.query_one("#recovery-about").focus()
        if self._given is None:
            self.query_one("#recovery-facts", Paragraphs).say([safe(LOOKING, "$text-muted")])
            self._look()
        else:
            self.show(self._given.data)
            self._survey()

    # ---- what is known

    def action_reload(self) -> None:
        """Look anew."""
        self.say_trouble(None)
        self.done = ()
        self._look()

    def _look(self) -> None:
        self.fetch(self.wizard.bench.recovery, self.Read, "recovery")

    def _survey(self) -> None:
        self.fetch(self.wizard.bench.status, self.Surveyed, "status")

    @on(Read)
    def _read(self, event: Read) -> None:
        self.show(event.result.data)
        self._survey()

    @on(Surveyed)
    def _surveyed(self, event: Surveyed) -> None:
        self._hosts, self._problems = event.result.data["hosts"], event.result.errors
        self._say_facts()

    def show(self, data: Data) -> None:
        """Show this, as `recover` tells it."""
        state = self.state = State(data)
        self._about |= state.hosts
        if self._lock_named not in [str(lock["lock_id"]) for lock in state.removable]:
            self._lock_named = ""
        self.wizard.unfinished = state.badge
        self._say_facts()
        self._say_now()

    def _say_facts(self) -> None:
        state, home = self.state, self.home
        if state is None:
            return
        rows = unfinished.lock_lines(state, home, short=self.app.size.width < WIDE or self.app.size.height < TALL)
        rows += [Content(""), *unfinished.operation_lines(state, self._hosts, home)]
        rows += unfinished.now_lines(self._about, self._hosts, self._problems, home)
        self.query_one("#recovery-facts", Paragraphs).say(rows)

    def on_resize(self) -> None:
        """Another width, more or less of it."""
        self._say_facts()

    # ---- what may be done

    def _say_now(self) -> None:
        state, told = self.state, self.query_one("#recovery-told", Paragraphs)
        answers = self.query_one(Answers)
        self.refresh_bindings()
        if self.working or state is None:
            answers.tell([])
            told.say([planned.heading("Writing"), *self._step_lines()])
            return
        rows: list[Content] = []
        if self.done:
            rows.append(planned.heading("✓ Done", "$text-success"))
            rows += [planned.item("·", planned.homely(text, self.home)) for text in self.done]
            rows.append(Content(""))
        rows.append(unfinished.heading(*self._step(state)))
        rows += [said("  ", row) for row in unfinished.advice_lines(state, self.home, dry_run=self.wizard.dry_run)]
        if self._lock_named:
            text = f"The lock `{self._lock_named[:4]}…` goes together with what you choose now."
            rows.append(said("  ", sentence(text, "$text-warning")))
        told.say(rows)
        answers.tell(self._answers(state), disabled=self._unable())

    def _step(self, state: State) -> tuple[int, str]:
        if not state.needed:
            return 5, "A new plan?"
        if not state.operations and state.removable:
            return 4, "The lock: remove it?"
        return 3, "What now?"

    def _answers(self, state: State) -> list[tuple[str, str | Content, bool]]:
        rows: list[tuple[str, str | Content, bool]] = []
        for answer in state.answers:
            mark = safe("advised · ", "$accent bold") if answer.advised else ""
            rows.append((answer.decision, said(mark, answer.text), answer.advised))
        if state.removable and not self._lock_named:
            dead = not state.of("UNKNOWN")
            rows.append(("remove_lock", "It is left over" if dead else "Only if you are sure; asks for its id", dead))
        if state.needed:
            rows.append(("reload", "Look again", not state.choices and not state.removable))
            rows.append(("not_now", "To the hosts; nothing can be written until then", False))
        else:
            rows.append(("next", "To the hosts, read anew, and to a new plan", True))
        return rows

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what is possible, and nothing while it writes."""
        if action == "stay":
            return self.working
        state = self.state
        if self.working or state is None:
            return action in ("not_now", "reload") and not self.working
        if action in unfinished.DECISIONS:
            return action in state.choices
        return {"remove_lock": bool(state.removable), "next": not state.needed}.get(action, True)

    def action_stay(self) -> None:
        """Say that it cannot be left now."""
        self.notify(STAY, severity="warning", markup=False)

    def action_finish(self) -> None:
        """All files new."""
        self._ask("finish")

    def action_undo(self) -> None:
        """All files old."""
        self._ask("undo")

    def action_forget(self) -> None:
        """Files as they are; asks for the word."""
        self._ask("forget", typed="leave")

    def _unable(self) -> frozenset[str]:
        """Actions whose buttons do nothing here."""
        return frozenset({*unfinished.DECISIONS, "remove_lock"} if self.wizard.dry_run else ())

    def _may_write(self) -> bool:
        if self.wizard.dry_run:
            self.notify(DRY, severity="warning", markup=False)
        return not self.wizard.dry_run

    def _ask(self, decision: str, typed: str = "") -> None:
        state = self.state
        if state is None or decision not in state.choices or not self._may_write():
            return
        from hostconf.tui.screens.ask import Confirm

        does = next(a.text for a in state.answers if a.decision == decision)
        shown = [f"{does}."]
        if typed and any(o["stage"] in ("prepared", "undo") for o in state.operations):
            shown.append("Some files may be new and others old; hostconf will not bring them together later.")
        if self._lock_named:
            shown.append(f"The lock `{self._lock_named[:4]}…` is removed for it.")
        dialog = Confirm(f"{WORDS[decision]}?", shown, yes=WORDS[decision], no="Not yet", typed=typed)
        self.wizard.push_screen(dialog, lambda yes: self._settle(decision, self._lock_named) if yes else None)

    def action_remove_lock(self) -> None:
        """A dead one's lock on a yes; one that nobody can judge on its id."""
        state = self.state
        if state is None or not state.removable or not self._may_write():
            return
        if state.of("UNKNOWN"):
            from hostconf.tui.screens.name_lock import NameLock

            then = "It goes together with what you choose next." if state.choices else ""
            self.wizard.push_screen(NameLock(state.of("UNKNOWN"), self.home, then=then), self._lock_typed)
            return
        from hostconf.tui.screens.ask import Confirm

        first = str(state.removable[0]["lock_id"])
        shown = [row for lock in state.removable for row in unfinished.lock_facts(lock, self.home)]
        dialog = Confirm("Remove what is left over?", shown, yes="Remove", no="Not yet")
        self.wizard.push_screen(dialog, lambda yes: self._settle(None, first) if yes else None)

    def _lock_typed(self, lock_id: str | None) -> None:
        if not lock_id or self.state is None:
            return
        if self.state.choices:
            self._lock_named = lock_id
            self._say_now()
        else:
            self._settle(None, lock_id)

    # ---- doing it

    def _settle(self, action: str | None, lock_id: str) -> None:
        self.working, self.done = True, ()
        self.say_trouble(None)
        bench = self.wizard.bench
        self.write(lambda on_step: bench.recover(action, lock_id, on_step), self.Ended, "look again with `r`")
        self._say_now()

    @on(Step)
    def _stepped(self) -> None:
        if self.working:
            self._say_now()

    def _step_lines(self) -> list[Content]:
        steps = [planned.homely(text, self.home) for text in (*self._steps,)] or ["getting ready"]
        return [said(safe("  · ", "$accent bold"), sentence(text)) for text in steps]

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        self._end()
        result = event.result
        self.done = tuple(map(str, result.data.get("done") or result.messages)) or ("nothing was left to do",)
        self.show(result.data)
        self._survey()
        self.query_one("#recovery-about", Reading).scroll_home(animate=False)
        if self.state is not None and not self.state.needed:
            self.query_one(Answers).focus_on("next")

    @on(Stopped)
    def _stopped(self, event: Stopped) -> None:
        self._end()
        message, hint = (planned.homely(text, self.home) for text in (event.failure.message, event.failure.hint))
        self.say_trouble(replace(event.failure, message=message, hint=hint))
        self._say_now()
        self._look()

    def _end(self) -> None:
        self.working, self._lock_named = False, ""
        self.wizard.end_writing()
        self.refresh_bindings()

    # ---- away from here

    def action_next(self) -> None:
        """To the hosts, read anew, for a new plan."""
        self.wizard.start_over()

    def action_not_now(self) -> None:
        """To where one came from; what is unfinished stays so, and every screen says it."""
        if self.working:
            self.action_stay()
        elif self.state is not None and not self.state.needed:
            self.wizard.start_over()
        else:
            if self.state is not None:
                text = "nothing can be written until this is settled: `R` comes back to it"
                self.notify(text, severity="warning", markup=False)
            self.wizard.go_back()
