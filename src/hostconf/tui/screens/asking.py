"""What the small screens have in common that change a wish: fields, a try before it counts, two buttons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input

from hostconf.tui.messages import Failed
from hostconf.tui.screens.base import attempt
from hostconf.tui.widgets.sections import Fields
from hostconf.tui.wish import Wish
from hostconf.tui.words import Words, said, sentence

if TYPE_CHECKING:
    from hostconf.tui.app import Wizard

Data = Mapping[str, Any]


class Asking(ModalScreen[Wish | None]):
    """Fields over a wish. Once saved, the workflow is asked; what it says against it is shown at the field."""

    CSS_PATH = "asking.tcss"
    TITLE_SHOWN: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("enter,ctrl+s", "save", show=False),
        Binding("down,j", "app.focus_next", show=False),
        Binding("up,k", "app.focus_previous", show=False),
    ]

    @dataclass
    class Tried(Message):
        """The workflow was asked about what stands in the fields."""

        code: str
        problem: str
        hint: str

    def __init__(self, integration: Data, wish: Wish) -> None:
        super().__init__()
        self.integration, self.before = integration, wish
        self._new = wish

    def compose(self) -> ComposeResult:
        """Title, fields, what is wrong, buttons."""
        with Vertical(id="asking"):
            yield Words(self.TITLE_SHOWN, classes="heading")
            with Fields(id="asking-fields"):
                yield from self.fields()
            yield Words(id="asking-trouble")
            with Horizontal(id="asking-buttons"):
                yield Button("Take over", id="save", variant="primary")
                yield Button("Back", id="leave")

    def fields(self) -> Iterable[Widget]:
        """The fields."""
        return ()

    def gathered(self) -> Wish | None:
        """The wish as the fields have it; None where a field has to be filled first, which is said then."""
        return self.before

    def place_of(self, problem: Tried) -> str | None:
        """Id of the field that a problem belongs to; empty for none of them, None where it is not of this screen."""
        return None

    def action_leave(self) -> None:
        """As it was."""
        self.dismiss(None)

    def action_save(self) -> None:
        """Try it, and take it over if nothing is said against it."""
        found = self.gathered()
        if found is None:
            return
        self.complain("", "")
        self._new = found
        if found == self.before or not found.hosts:
            self.dismiss(found)
            return
        bench, host = cast("Wizard", self.app).bench, found.hosts[0]
        request = found.request((host,))

        def tried() -> None:
            self.post_message(attempt(lambda: bench.offer(request, host), self._told))

        self.run_worker(tried, thread=True, exclusive=True, group="try", exit_on_error=False)

    def _told(self, offer: Data) -> Message:
        return self.Tried(str(offer["code"]), str(offer["problem"]), str(offer["fix"]))

    @on(Tried)
    def _tried(self, event: Tried) -> None:
        where = self.place_of(event) if event.problem else None
        if where is None:
            self.dismiss(self._new._replace(touched=True))
        else:
            # the field says by itself which it is, and what it is for
            at_field = where.startswith("knob-")
            problem = event.problem.partition("`: ")[2] if at_field else event.problem
            at_field = at_field or where == "literal"
            self.complain(where, problem or event.problem, "" if at_field else event.hint)

    def on_failed(self, event: Failed) -> None:
        """Asking itself failed: say it, and stay."""
        self.complain("", event.message, event.hint)

    def complain(self, field: str, problem: str, hint: str = "") -> None:
        """Say at the field what is wrong with it; nothing where nothing is."""
        for line in self.query(".field-trouble").results(Words):
            mine = bool(problem) and line.id == f"trouble-{field}"
            line.display = mine
            line.say(sentence(f"✗ {problem}", "$text-error") if mine else "")
        general = bool(problem) and not (field and self.query(f"#trouble-{field}"))
        shown = self.query_one("#asking-trouble", Words)
        shown.display = general or bool(problem and hint)
        self.query_one("#asking").set_class(shown.display, "-trouble")
        more = said("\n" if general else "", sentence(hint, "$text-muted")) if hint else ""
        shown.say(said(sentence(f"✗ {problem}", "$text-error") if general else "", more))
        if problem and field and self.query(f"#{field}"):
            self.query_one(f"#{field}").focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "save":
            self.action_save()
        else:
            self.dismiss(None)


def trouble(field: str) -> Words:
    """The line under a field that says what is wrong with it."""
    line = Words(id=f"trouble-{field}", classes="field-trouble")
    line.display = False
    return line
