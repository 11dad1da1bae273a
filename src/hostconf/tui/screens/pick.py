"""Choosing an integration: those that can be installed, with what each brings and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button

from hostconf.tui.widgets.offered import brings
from hostconf.tui.widgets.planned import several
from hostconf.tui.widgets.rows import Column, Row, Rows
from hostconf.tui.words import Words, lines, safe, said, sentence

Data = Mapping[str, Any]


class Pick(ModalScreen[str | None]):
    """A list with a filter; gives the id of the integration, or None."""

    CSS_PATH = "pick.tcss"
    BINDINGS = [
        Binding("escape", "leave", "Back", show=False),
        Binding("slash", "filter", "Filter", show=False),
    ]

    def __init__(self, integrations: Sequence[Data], recognised: int, now: str) -> None:
        super().__init__()
        self._rows = {str(i["id"]): i for i in integrations}
        self._recognised, self._now = recognised, now

    def compose(self) -> ComposeResult:
        """The list, the marked one in full, those that are only recognised as a count."""
        with Vertical(id="pick"):
            yield Words("Which integration?", classes="heading")
            yield Rows(Column("  Name", 16, 2), Column("Brings", 12, 1), Column("Needs", 10, 2), id="pick-list")
            yield Words(id="pick-about")
            if self._recognised:
                more = several(self._recognised, "other is", "others are")
                yield Words(safe(f"{more} recognised where found, and cannot be installed", "$text-muted"))
            with Horizontal(id="pick-buttons"):
                yield Button("Choose", id="choose", variant="primary")
                yield Button("Back", id="leave")

    def on_mount(self) -> None:
        """The one that is chosen now is marked."""
        self.query_one(Rows).show([self._row(i) for i in self._rows.values()], at=self._now)
        self.query_one(Rows).listing.focus()

    def _row(self, one: Data) -> Row:
        now = str(one["id"]) == self._now
        needs = ", ".join(str(v["name"]) for v in one["environment"] if v["required"])
        name = said(safe("● " if now else "○ ", "$primary bold" if now else "$text-muted"), safe(one["name"], "bold"))
        return Row(str(one["id"]), (name, safe(brings(one)), safe(needs or "–", "" if needs else "$text-muted")))

    @on(Rows.Marked)
    def _marked(self, event: Rows.Marked) -> None:
        if event.id in self._rows:
            self.query_one("#pick-about", Words).say(lines(about(self._rows[event.id])))

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        self.dismiss(event.id)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(self.query_one(Rows).current or None if event.button.id == "choose" else None)

    def action_filter(self) -> None:
        """Only rows that contain what is typed."""
        self.query_one(Rows).start_filter()

    def action_leave(self) -> None:
        """As it was."""
        self.dismiss(None)


def about(one: Data) -> list[Content]:
    """An integration in full: what it is, how it comes in, what it needs."""
    rows = [sentence(str(one["doc"]))]
    for name, way in one["paths"].items():
        hosts = f" on {', '.join(way['hosts'])}" if way["hosts"] else ""
        transport = f"  {way['transport']}" if way["transport"] else ""
        what = way["url"] or way["package"] or " ".join(way["command"])
        rows.append(said("  ", safe(f"{name}{hosts}"), safe(transport, "$text-muted"), safe(f"  {what}", "$secondary")))
    for variable in one["environment"]:
        kind = "required" if variable["required"] else "optional"
        rows.append(
            said("  ", safe(variable["name"], "bold"), safe(f"  {kind}  ", "$text-muted"), sentence(variable["doc"]))
        )
    return rows
