"""The conflict surface: what on this machine stands against a wish, by host, each with the line that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widget import Widget

from hostconf.errors import HostconfError
from hostconf.model import OperationResult
from hostconf.tui.actions import bindings
from hostconf.tui.messages import Failed, first_of
from hostconf.tui.places import READING
from hostconf.tui.screens.base import Room
from hostconf.tui.widgets.excerpt import AROUND, Excerpt
from hostconf.tui.widgets.findings import (
    TIER_INDENT,
    finding_text,
    in_order,
    kind_style,
    kind_words,
    short_place,
    tier_rows,
)
from hostconf.tui.widgets.hanging import Hanging
from hostconf.tui.widgets.planned import homely, several
from hostconf.tui.widgets.rows import Column, Row, Rows
from hostconf.tui.widgets.sections import Reading
from hostconf.tui.words import Words, lines, place, safe, said, sentence

Data = Mapping[str, Any]
Place = tuple[str, int]

WIDE, BROAD = 110, 170
"""Widths of the screen from which on the finding stands beside its lines, and all of it beside the table."""


class Conflicts(Room):
    """Findings grouped by host; the marked one in full, with its line in its file."""

    PLACE = "conflicts"
    QUESTION = "What stands in the way, and which line of which file says so?"
    OFFERS = ("next", "filter", "back", "reload")
    BINDINGS = bindings(*OFFERS)
    CSS_PATH = "conflicts.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (BROAD, "-broad")]

    @dataclass
    class Read(Message):
        """The findings are there, and the names of the hosts."""

        result: OperationResult
        names: Mapping[str, str]

    @dataclass
    class Fetched(Message):
        """The lines around one place are there."""

        at: Place
        data: Data

    def __init__(self) -> None:
        super().__init__()
        self._found: list[Data] = []
        self._names: Mapping[str, str] = {}
        self._fetched: dict[Place, Data] = {}
        self._asked: Place | None = None
        """The place whose lines are on their way. One at a time: a held key asks for the last one alone."""

    def body(self) -> Iterable[Widget]:
        """The table, the finding under the cursor, and a word for where there is none."""
        with Container(id="conflicts-body"):
            yield Rows(
                Column("Kind", 17, 0), Column("Finding", 20, 1), Column("Where", 48, 0), id="findings", empty=READING
            )
            with Reading(id="about"), Container(id="about-parts"):
                with Vertical(id="about-what"):
                    yield Words(id="about-text")
                    yield Hanging(TIER_INDENT, classes="tiers")
                with Vertical(id="about-where"):
                    yield Words(id="about-place")
                    yield Excerpt(id="about-lines")
                    yield Hanging(TIER_INDENT, classes="tiers")
            yield Reading(Words(id="nothing-text"), id="nothing")

    def on_mount(self) -> None:
        """Read once the screen is drawn."""
        self.query_one(Rows).listing.focus()
        self._lay_out()
        self.call_after_refresh(self.action_reload)

    # ---- reading

    def action_reload(self) -> None:
        """Read the files anew."""
        bench, hosts = self.wizard.bench, self.wizard.wish.hosts

        def job() -> tuple[OperationResult, Mapping[str, str]]:
            return bench.conflicts(hosts), {str(h["id"]): str(h["name"]) for h in bench.known_hosts()}

        self.fetch(job, lambda found: self.Read(*found), "conflicts")

    @on(Read)
    def _read(self, event: Read) -> None:
        marked = self._marked_finding()
        found: Sequence[Data] = event.result.data["conflicts"]
        hosts = dict.fromkeys(str(one["host"]) for one in found)
        self._names = event.names
        self._found = [one for host in hosts for one in in_order(c for c in found if c["host"] == host)]
        self._fetched.clear()
        self.say_trouble(first_of(event.result.errors))
        self.set_class(not self._found, "-calm")
        if not self._found:
            self._show_nothing()
            return
        again = next((n for n, one in enumerate(self._found) if marked is not None and _same(one, marked)), 0)
        self.query_one(Rows).show(self._rows(), at=str(again))

    def on_failed(self, event: Failed) -> None:
        """Reading failed: say it, and stay."""
        self._asked = None
        if not self._found:
            self.query_one(Rows).say_empty("the files could not be read")
        self.say_trouble(event)

    def _show_nothing(self) -> None:
        names = [self._names.get(host, host) for host in self.wizard.wish.hosts]
        where = f" on {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}" if names else ""
        self.query_one("#nothing-text", Words).say(
            lines(
                [
                    said(safe("✓ ", "$text-success bold"), safe(f"Nothing stands in the way{where}.", "bold")),
                    "",
                    "No rival tool, no rule that steers elsewhere, no broken file.",
                    sentence("Next you choose what is to be used, and how firmly: press `n`."),
                ]
            )
        )
        self.query_one("#nothing").focus()

    # ---- the table

    def _rows(self) -> list[Row]:
        rows: list[Row] = []
        host = ""
        for number, one in enumerate(self._found):
            if one["host"] != host:
                host = str(one["host"])
                count = sum(c["host"] == host for c in self._found)
                name = safe(self._names.get(host, host), "$primary bold")
                rows.append(
                    Row(f"host {host}", heading=said(name, safe(f"  {several(count, 'finding')}", "$text-muted")))
                )
            rows.append(self._row(number, one))
        return rows

    def _row(self, number: int, one: Data) -> Row:
        kind, path, line = str(one["kind"]), one["path"], one["line"]
        words, host = kind_words(kind), str(one["host"])
        text = homely(str(one["text"]), self.home)
        width = self.app.size.width
        room = 24 if width < WIDE else 36 if width < BROAD else 30
        return Row(
            str(number),
            (
                safe(words, kind_style(kind)),
                sentence(text),
                safe(short_place(path, line, self.home, room), "$secondary"),
            ),
            find=" ".join((words, kind, text.replace("`", ""), place(path, line, self.home), str(one["layer"]), host))
            + f" {self._names.get(host, host)}",
        )

    def _marked_finding(self) -> Data | None:
        marked = self.query_one(Rows).current
        return self._found[int(marked)] if marked.isdigit() and int(marked) < len(self._found) else None

    @on(Rows.Marked)
    def _marked(self, event: Rows.Marked) -> None:
        self._show_about()

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        self.action_next()

    # ---- the finding in full

    def _show_about(self) -> None:
        one = self._marked_finding()
        self.query_one("#about-parts").display = one is not None
        if one is None:
            return
        self.query_one("#about", Reading).scroll_home(animate=False)
        self.query_one("#about-text", Words).say(finding_text(one, self.home))
        for table in self.query(Hanging):
            table.tell(tier_rows(one, self.home))
        where = place(one["path"], one["line"], self.home)
        layer = safe(f"  layer {one['layer']}", "$text-muted not bold") if one["layer"] else ""
        self.query_one("#about-place", Words).say(said(safe(where or "no file says it"), layer))
        self._show_lines(one)

    def _show_lines(self, one: Data) -> None:
        shown, at = self.query_one(Excerpt), (str(one["path"]), int(one["line"] or 0))
        if not at[0]:
            shown.say("no file decides this, so there is no line to show")
        elif not at[1]:
            shown.say("this is about the file as a whole: no line to show")
        elif at not in self._fetched:
            shown.wait(at[1])
            self._ask(at)
        elif not shown.show(self._fetched[at], at[1], str(one.get("excerpt") or "")):
            shown.say("the file cannot be read any more: no line to show")

    def _ask(self, at: Place) -> None:
        if self._asked is not None:
            return
        self._asked = at
        bench = self.wizard.bench

        def job() -> Data:
            try:
                return bench.excerpt(*at, AROUND)
            except HostconfError:
                return {}

        self.fetch(job, lambda data: self.Fetched(at, data), "excerpt")

    @on(Fetched)
    def _here(self, event: Fetched) -> None:
        self._asked = None
        self._fetched[event.at] = event.data
        one = self._marked_finding()
        if one is not None:
            self._show_lines(one)

    # ---- widths

    def _lay_out(self) -> None:
        height = self.app.size.height
        broad = self.app.size.width >= BROAD
        self.query_one(Excerpt).around = 1 if height < 28 else 3 if height < 36 else AROUND if broad else 6

    def on_resize(self) -> None:
        """As many lines around the one in question as there is room for; places as long as there is room for."""
        self._lay_out()
        if self._found:
            self.query_one(Rows).show(self._rows())

    # ---- on

    def action_next(self) -> None:
        """To the choice."""
        self.wizard.go("choice")


def _same(one: Data, other: Data) -> bool:
    return all(one[key] == other[key] for key in ("kind", "host", "path", "text"))
