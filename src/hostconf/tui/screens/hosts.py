"""The first screen: which hosts are here, and which tool the model gets on each today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hostconf.model import OperationResult
from hostconf.tui.actions import bindings
from hostconf.tui.messages import Failed, first_of
from hostconf.tui.places import FIRST_QUESTION, READING
from hostconf.tui.screens.base import Room
from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.planned import heading, homely
from hostconf.tui.widgets.rows import Column, Row, Rows
from hostconf.tui.widgets.sections import Reading
from hostconf.tui.widgets.surface import capability, surface_lines, who_answers
from hostconf.tui.words import place, safe, said, sentence

Data = Mapping[str, Any]

WIDE, BROAD = 110, 170
"""Widths of the screen from which on the parts of a host stand side by side, and all of it beside the table."""
PATIENCE = 0.4
"""Seconds of reading after which a sign says that it goes on."""


class Hosts(Room):
    """Hosts found, with the surface of today at one look; below it the marked one in full."""

    PLACE = "hosts"
    QUESTION = FIRST_QUESTION
    OFFERS = ("next", "choose", "choose_all", "installed", "filter", "reload")
    BINDINGS = bindings(*OFFERS)
    CSS_PATH = "hosts.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (BROAD, "-broad")]

    @dataclass
    class Read(Message):
        """The files were read."""

        result: OperationResult

    @dataclass
    class Looked(Message):
        """No host is there: where hostconf looked for those it knows."""

        hosts: Sequence[Data]

    def __init__(self) -> None:
        super().__init__()
        self._hosts: dict[str, Data] = {}
        self._reading = False

    def body(self) -> Iterable[Widget]:
        """The table, the host under the cursor, and what is said where no host is."""
        with Container(id="hosts-body"):
            yield Rows(
                Column("    Host", 15, 1),
                Column("Version", 7, 0, wide_from=100),
                Column("Web search", 19, 2),
                Column("Web fetch", 17, 2),
                Column("Servers", 7, 0, wide_from=100),
                Column("Conflicts", 9, 0),
                Column("Tier", 9, 9),
                id="hosts-table",
                empty=READING,
            )
            with Reading(id="hosts-about"), Container(id="hosts-parts"):
                yield Paragraphs(id="hosts-surface")
                yield Paragraphs(id="hosts-more")
            yield Reading(Paragraphs(id="hosts-none-text"), id="hosts-none")

    def on_mount(self) -> None:
        """Read once the screen is drawn."""
        self.query_one(Rows).listing.focus()
        self.call_after_refresh(self.action_reload)

    # ---- reading

    def action_reload(self) -> None:
        """Read the files anew."""
        self._reading = True
        if not self._hosts:  # what is read fast comes without a flicker
            self.set_timer(PATIENCE, self._still_reading)
        self.fetch(self.wizard.bench.status, self.Read, "status")

    def _still_reading(self) -> None:
        self.query_one(Rows).listing.loading = self._reading

    def _stop_reading(self) -> None:
        self._reading = False
        self.query_one(Rows).listing.loading = False

    @on(Read)
    def _read(self, event: Read) -> None:
        self._stop_reading()
        self.say_trouble(first_of(event.result.errors))
        rows = event.result.data["hosts"]
        self._hosts = {str(row["id"]): row for row in rows}
        if not self.wizard.chosen_once:
            here = tuple(name for name, host in self._hosts.items() if host["present"])
            self.wizard.wish = self.wizard.wish._replace(hosts=here)
            self.wizard.chosen_once = bool(self._hosts)
        if not self._hosts:
            bench = self.wizard.bench
            self.fetch(
                lambda: bench.status([str(h["id"]) for h in bench.known_hosts()]),
                lambda result: self.Looked(result.data["hosts"]),
                "status",
            )
            return
        self.set_class(False, "-none")
        self._show()

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        self.set_class(True, "-none")
        self.query_one("#hosts-none-text", Paragraphs).say(nowhere(event.hosts, self.home))
        self.query_one("#hosts-none").focus()

    def on_failed(self, event: Failed) -> None:
        """Reading failed: say it, and stay."""
        self._stop_reading()
        if not self._hosts:
            self.query_one(Rows).say_empty("the files could not be read")
        self.say_trouble(event)

    # ---- the table

    def _show(self) -> None:
        self.query_one(Rows).show([self._row(host) for host in self._hosts.values()])

    def _row(self, host: Data) -> Row:
        chosen = host["id"] in self.wizard.wish.hosts
        surface = host["surface"]
        return Row(
            str(host["id"]),
            (
                said(
                    safe("[x] " if chosen else "[ ] ", "$primary bold" if chosen else "$text-muted"),
                    safe(host["name"], "bold" if chosen else ""),
                ),
                safe(host["version"] or ("–" if host["present"] else "gone"), "$text-muted", 20),
                who_answers(surface.get("web_search", ())),
                who_answers(surface.get("web_fetch", ())),
                safe(len(host["registrations"])),
                _conflicts(host),
                _tiers(host),
            ),
        )

    @on(Rows.Marked)
    def _marked(self, event: Rows.Marked) -> None:
        host = self._hosts.get(event.id)
        self.query_one("#hosts-parts").display = host is not None
        if host is not None:
            self.query_one("#hosts-about").scroll_home(animate=False)
            self.query_one("#hosts-surface", Paragraphs).say(about_tools(host, self.home))
            self.query_one("#hosts-more", Paragraphs).say(about_files(host, self.home))

    @on(Rows.Clicked)
    def _clicked(self, event: Rows.Clicked) -> None:
        if event.x <= 4:
            self.action_choose()

    @on(Rows.Chosen)
    def _chosen(self, event: Rows.Chosen) -> None:
        self.action_next()

    def action_choose(self) -> None:
        """Take the marked host in, or leave it out."""
        marked = self.query_one(Rows).current
        if marked not in self._hosts:
            return
        now = set(self.wizard.wish.hosts) ^ {marked}
        self._take(now)

    def action_choose_all(self) -> None:
        """All, or none where all are in."""
        everything = set(self._hosts)
        self._take(set() if everything <= set(self.wizard.wish.hosts) else everything)

    def _take(self, chosen: set[str]) -> None:
        self.wizard.wish = self.wizard.wish._replace(hosts=tuple(h for h in self._hosts if h in chosen), touched=True)
        self._show()

    def action_next(self) -> None:
        """To the conflicts of the hosts taken in."""
        if self.wizard.wish.hosts:
            self.wizard.go("conflicts")
        elif not self._hosts:
            said = "the hosts are still being read" if self._reading else "no host was found here"
            self.notify(said, severity="warning", markup=False)
        else:
            self.notify("take a host in first: Space", severity="warning", markup=False)

    def action_installed(self) -> None:
        """To what is installed."""
        self.wizard.go("installed")


def _broken(host: Data) -> list[Data]:
    return [layer for layer in host["layers"] if layer["problem"]]


def _conflicts(host: Data) -> Content:
    found = int(host["conflicts"])
    return said(
        safe(found, "$text-warning bold" if found else "$text-muted"),
        safe(" broken" if _broken(host) else "", "$text-error bold"),
    )


def _tiers(host: Data) -> Content:
    """What is installed: each tier once."""
    tiers = dict.fromkeys(str(tier) for one in host["installed"] for tier in one["tiers"].values())
    drift = any(one["drift"] for one in host["installed"])
    return said(
        safe("drift! " if drift else "", "$text-error bold"),
        safe("/".join(tiers) or "–", "" if tiers else "$text-muted"),
    )


def about_tools(host: Data, home: str) -> list[Content]:
    """What is broken, what the model gets, what is installed."""
    rows: list[Content] = []
    broken = _broken(host)
    if not host["present"]:
        rows.append(heading("Not here any more", "$text-warning"))
        rows.append(said("  ", sentence("what hostconf installed for it is still on record: `i` takes it back")))
    if broken:
        rows.append(heading("Cannot be used", "$text-error"))
        rows += [
            said(
                safe("  ✗ ", "$text-error bold"),
                safe(place(layer["path"], home=home), "bold"),
                ": ",
                sentence(homely(str(layer["problem"]), home)),
            )
            for layer in broken
        ]
        rows.append(said("    ", safe("what follows is what the other files say", "$text-muted")))
    for name, tools in host["surface"].items():
        sure = sum(tool["state"] == "offered" for tool in tools)
        several = safe(f"  {sure} tools: the model chooses", "$text-warning") if sure > 1 else ""
        rows.append(said(heading(f"{host['name']} · {capability(name)}"), several))
        rows += surface_lines(tools, home)
    if host["installed"]:
        rows.append(heading("Installed by hostconf"))
    for one in host["installed"]:
        tiers = ", ".join(f"{capability(c)} {tier}" for c, tier in one["tiers"].items())
        rows.append(
            said("  ", safe(one["integration"], "bold"), safe(f"  {one['scope']}", "$text-muted"), safe(f"  {tiers}"))
        )
        rows += [
            said(
                safe("  ! drift ", "$text-error bold"),
                safe(place(left["path"], left["line"], home), "$secondary"),
                "  ",
                sentence(homely(str(left["reason"]), home)),
            )
            for left in one["drift"]
        ]
    return rows


def about_files(host: Data, home: str) -> list[Content]:
    """The files that count, and the servers."""
    rows: list[Content] = [heading("Files it reads")]
    for layer in host["layers"]:
        if layer["exists"]:
            counts = "" if layer["loaded"] or layer["problem"] else safe("  does not count", "$text-warning")
            broken = safe("  ✗ broken", "$text-error bold") if layer["problem"] else ""
            where = place(layer["path"], home=home)
            rows.append(said("  ", safe(f"{layer['scope']:<8} ", "$text-muted"), where, counts, broken))
    rows.append(heading("Servers and plugins"))
    for one in host["registrations"]:
        on = "on" if one["enabled"] and one["wins"] else "off" if not one["enabled"] else "hidden by a stronger one"
        why = one["pending"] or one["why_off"]
        rows.append(
            said(
                "  ",
                safe(one["name"], "bold", 60),
                safe(f"  {on}", "$text-muted"),
                safe(f"  {', '.join(map(capability, one['capabilities']))}", "$text-warning")
                if one["capabilities"]
                else "",
                safe(f"  {place(one['path'], one['line'], home)}", "$secondary"),
                said("  ", sentence(homely(str(why), home), "$text-muted")) if why else "",
            )
        )
    if not host["registrations"]:
        rows.append(safe("  none", "$text-muted"))
    return rows


def nowhere(hosts: Iterable[Data], home: str) -> list[Content]:
    """No host is there: which ones are known, and where was looked for them."""
    shown = [
        safe("No coding-agent host was found on this machine.", "bold"),
        Content(""),
        sentence("To see the whole job on a throwaway home with sample hosts: `hostconf --demo`"),
        Content(""),
        safe("These are the hosts that hostconf knows. It looked for their program, and for these files:"),
    ]
    for host in hosts:
        shown.append(said("  ", heading(str(host["name"]))))
        files = dict.fromkeys(str(x["path"]) for x in host["layers"] if x["scope"] in ("user", "project") and x["path"])
        shown += [said("    ", place(path, home=home)) for path in files]
    return [*shown, Content(""), sentence("Installed one meanwhile? `r` reads again.")]
