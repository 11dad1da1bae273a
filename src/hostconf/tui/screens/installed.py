"""What hostconf has installed: where, how, whether it is still as it was written; and the ways back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hostconf.errors import HostconfError
from hostconf.model import OperationResult
from hostconf.tui.actions import bindings
from hostconf.tui.screens.base import Room
from hostconf.tui.widgets import installs, planned
from hostconf.tui.widgets.installs import Foretold, Install
from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.rows import Column, Rows
from hostconf.tui.widgets.sections import Reading

if TYPE_CHECKING:
    from hostconf.workflow.change import Prepared

READING = "reading what is installed …"
WIDE = 110
"""Width of the screen from which on facts and drift stand side by side."""


class Installed(Room):
    """All installs in a table; below it the marked one in full, with what drifted and what an uninstall would leave."""

    PLACE = "installed"
    TITLE_SHOWN = "Installed"
    QUESTION = "What has hostconf written here, and is it still as it was written?"
    OFFERS = ("uninstall", "uninstall_all", "change", "filter", "reload", "back")
    BINDINGS = bindings(*OFFERS)
    CSS_PATH = "installed.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]

    @dataclass
    class Read(Message):
        """The records were read."""

        result: OperationResult

    @dataclass
    class Foreseen(Message):
        """What an uninstall of a drifted install would come to."""

        id: str
        told: Foretold

    @dataclass
    class Made(Message):
        """The plan of an uninstall is there."""

        prepared: Prepared

    def __init__(self) -> None:
        super().__init__()
        self._installs: dict[str, Install] = {}
        self._foretold: dict[str, Foretold] = {}

    def body(self) -> Iterable[Widget]:
        """What cannot be read, the table, the marked one."""
        yield Paragraphs(id="installed-problems")
        yield Rows(
            Column("Host", 11, 2),
            Column("Integration", 11, 3),
            Column("Scope", 7, 0),
            Column("Search", 9, 0),
            Column("Fetch", 9, 0),
            Column("When", 16, 0, wide_from=100),
            Column("State", 10, 0),
            id="installed-table",
            empty=READING,
        )
        with Reading(id="installed-about"):
            yield Horizontal(Paragraphs(id="installed-facts"), Paragraphs(id="installed-drift"), id="installed-columns")

    def on_mount(self) -> None:
        """Read once the screen is drawn."""
        self.query_one(Rows).listing.focus()
        self.query_one("#installed-problems").display = False
        self.call_after_refresh(self.action_reload)

    # ---- what is there

    def action_reload(self) -> None:
        """Read the records anew."""
        self._foretold.clear()
        self.fetch(self.wizard.bench.status, self.Read, "status")

    @on(Read)
    def _read(self, event: Read) -> None:
        self.say_trouble(None)
        result = event.result
        self._installs = {one.id: one for one in installs.installs_of(result.data["hosts"])}
        problems = self.query_one("#installed-problems", Paragraphs)
        problems.display = bool(result.errors)
        rows = [row for error in result.errors for row in planned.error_lines(error, self.home)]
        problems.say([planned.heading("Records that cannot be read", "$text-error"), *rows])
        table = self.query_one(Rows)
        table.display = bool(self._installs)
        table.show([installs.install_row(one) for one in self._installs.values()])
        if not self._installs:
            self._say(installs.nothing_lines(), [])
            self.query_one("#installed-about").focus()
        self.refresh_bindings()

    @property
    def marked(self) -> Install | None:
        """The install under the cursor."""
        return self._installs.get(self.query_one(Rows).current)

    @on(Rows.Marked)
    def _marked(self) -> None:
        one = self.marked
        if one is None:
            return
        if one.drifted and one.id not in self._foretold:
            self._foresee(one)
        self._show(one)
        self.query_one("#installed-about", Reading).scroll_home(animate=False)

    def _show(self, one: Install) -> None:
        drift = installs.drift_lines(one, self._foretold.get(one.id), self.home)
        self._say(installs.facts(one, self.home), drift)

    def _say(self, facts: Sequence[Content], drift: Sequence[Content]) -> None:
        self.query_one("#installed-facts", Paragraphs).say(facts)
        self.query_one("#installed-drift", Paragraphs).say(drift)
        self._arrange()

    def _arrange(self) -> None:
        """Where one stands below the other, what is wrong comes first."""
        one = self.marked
        first = one is not None and one.drifted and self.app.size.width < WIDE
        columns = self.query_one("#installed-columns")
        if first != (columns.children[0].id == "installed-drift"):
            columns.move_child(1, before=0)

    def on_resize(self) -> None:
        """Another width, another order."""
        self._arrange()

    def _foresee(self, one: Install) -> None:
        bench = self.wizard.bench

        def look() -> Foretold:
            try:
                prepared = bench.prepare_uninstall(one.data["integration"], [one.host], one.data["scope"])
            except HostconfError as error:
                return Foretold(refused=error.message)
            refused = next((str(e["message"]) for e in prepared.result.errors), "")
            return Foretold(tuple(prepared.result.data["leftovers"]), refused)

        self.fetch(look, lambda told: self.Foreseen(one.id, told), "foresee")

    @on(Foreseen)
    def _foreseen(self, event: Foreseen) -> None:
        self._foretold[event.id] = event.told
        one = self.marked
        if one is not None and one.id == event.id:
            self._show(one)

    @on(Rows.Chosen)
    def _chosen(self) -> None:
        self.query_one("#installed-about").focus()

    # ---- ways back

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where nothing is installed there is nothing to take back."""
        return action not in ("uninstall", "uninstall_all", "change", "filter") or bool(self._installs)

    def action_uninstall(self) -> None:
        """The plan of taking this one back."""
        one = self.marked
        if one is not None:
            self._prepare(str(one.data["integration"]), [one.host], str(one.data["scope"]))

    def action_uninstall_all(self) -> None:
        """The plan of taking all back."""
        self._prepare(None, (), None)

    def _prepare(self, integration: str | None, hosts: Sequence[str], scope: str | None) -> None:
        bench = self.wizard.bench
        self.say_trouble(None)
        self.fetch(lambda: bench.prepare_uninstall(integration, hosts, scope), self.Made, "plan")

    @on(Made)
    def _made(self, event: Made) -> None:
        from hostconf.tui.screens.preview import Preview

        if self.is_current:
            self.wizard.push_screen(Preview(event.prepared))

    def action_change(self) -> None:
        """To the choice, as this install was made; asks first where another choice would be lost."""
        one = self.marked
        if one is None:
            return
        if not self.wizard.wish.touched:
            self._change(one)
            return
        from hostconf.tui.screens.ask import Confirm

        said = ["What you chose so far is not written anywhere, and is gone then."]
        dialog = Confirm("Choose anew, from this install?", said, yes="Choose anew", no="Stay")
        self.wizard.push_screen(dialog, lambda yes: self._change(one) if yes else None)

    def _change(self, one: Install) -> None:
        from hostconf.tui.wish import Wish

        self.wizard.wish = Wish.changing(one.host, one.data)
        self.wizard.go("choice")
