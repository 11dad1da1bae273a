"""The first screen: which hosts are here, and which tool the model gets on each today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hostconf.model import OperationResult
from hostconf.tui.actions import bindings
from hostconf.tui.places import FIRST_QUESTION, READING
from hostconf.tui.screens.base import Room
from hostconf.tui.widgets.rows import Column, Row, Rows
from hostconf.tui.widgets.surface import capability, short_surface, surface_lines
from hostconf.tui.words import Words, lines, place, safe, said

Data = Mapping[str, Any]


class Hosts(Room):
    """Hosts found, with the surface of today at one look; below it the marked one in full."""

    PLACE = "hosts"
    QUESTION = FIRST_QUESTION
    OFFERS = ("next", "choose", "choose_all", "installed", "filter", "reload")
    BINDINGS = bindings(*OFFERS)
    CSS_PATH = "hosts.tcss"

    @dataclass
    class Read(Message):
        """The files were read."""

        result: OperationResult

    def __init__(self) -> None:
        super().__init__()
        self._hosts: dict[str, Data] = {}

    def body(self) -> Iterable[Widget]:
        """The table, and the host under the cursor."""
        yield Rows(
            Column("    Host", 15, 2),
            Column("Version", 7, 0, wide_from=100),
            Column("Web search", 13, 4),
            Column("Web fetch", 13, 4),
            Column("Servers", 7, 0),
            Column("Conflicts", 9, 0),
            Column("Installed", 9, 2),
            id="hosts-table",
            empty=READING,
        )
        yield VerticalScroll(Words(id="hosts-detail"), id="hosts-about")

    def on_mount(self) -> None:
        """Read once the screen is drawn."""
        self.query_one(Rows).listing.focus()
        self.call_after_refresh(self.action_reload)

    def action_reload(self) -> None:
        """Read the files anew."""
        self.query_one(Rows).listing.loading = not self._hosts
        self.fetch(self.wizard.bench.status, self.Read, "status")

    @on(Read)
    def _read(self, event: Read) -> None:
        self.say_trouble(None)
        rows = event.result.data["hosts"]
        self._hosts = {str(row["id"]): row for row in rows}
        if not self.wizard.chosen_once:
            self.wizard.wish = self.wizard.wish._replace(hosts=tuple(self._hosts))
            self.wizard.chosen_once = bool(self._hosts)
        self.query_one(Rows).listing.loading = False
        self._show()

    def _show(self) -> None:
        rows = [self._row(host) for host in self._hosts.values()]
        self.query_one(Rows).show(rows)

    def _row(self, host: Data) -> Row:
        chosen = host["id"] in self.wizard.wish.hosts
        installed = [tier for one in host["installed"] for tier in one["tiers"].values()]
        drift = any(one["drift"] for one in host["installed"])
        found = int(host["conflicts"])
        return Row(
            str(host["id"]),
            (
                said(
                    safe("[x] " if chosen else "[ ] ", "$primary bold" if chosen else "$text-muted"),
                    safe(host["name"], "bold" if chosen else ""),
                ),
                safe(host["version"] or "–", "$text-muted"),
                short_surface(host["surface"].get("web_search", ())),
                short_surface(host["surface"].get("web_fetch", ())),
                safe(len(host["registrations"])),
                safe(found, "$warning bold" if found else "$text-muted"),
                said(
                    safe("/".join(installed) or "–", "" if installed else "$text-muted"),
                    safe(" drift!", "$error bold") if drift else "",
                ),
            ),
        )

    @on(Rows.Marked)
    def _marked(self, event: Rows.Marked) -> None:
        host = self._hosts.get(event.id)
        if host is not None:
            self.query_one("#hosts-detail", Words).say(lines(about(host, self.home)))

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
        else:
            self.notify("take a host in first: Space", severity="warning", markup=False)

    def action_installed(self) -> None:
        """To what is installed."""
        self.wizard.go("installed")


def about(host: Data, home: str) -> list[Content]:
    """One host in full: what the model gets, the files that count, the servers."""
    rows: list[Content] = []
    for name, tools in host["surface"].items():
        rows.append(safe(f"{host['name']} · {capability(name)}", "$primary bold"))
        rows += surface_lines(tools, home)
    rows.append(safe("Files it reads", "$primary bold"))
    for layer in host["layers"]:
        if layer["exists"]:
            problem = safe(f"  {layer['problem']}", "$text-error") if layer["problem"] else ""
            counts = "" if layer["loaded"] else safe("  does not count", "$text-warning")
            rows.append(
                said(safe(f"  {layer['scope']:<8} ", "$text-muted"), place(layer["path"], home=home), counts, problem)
            )
    rows.append(safe("Servers and plugins", "$primary bold"))
    for one in host["registrations"]:
        on = "on" if one["enabled"] and one["wins"] else "off" if not one["enabled"] else "hidden by a stronger one"
        why = one["pending"] or one["why_off"]
        rows.append(
            said(
                "  ",
                safe(one["name"], "bold", 60),
                safe(f"  {on}", "$text-muted"),
                safe(f"  {', '.join(map(capability, one['capabilities']))}", "$warning") if one["capabilities"] else "",
                safe(f"  {place(one['path'], one['line'], home)}", "$secondary"),
                safe(f"  {why}", "$text-muted") if why else "",
            )
        )
    if not host["registrations"]:
        rows.append(safe("  none", "$text-muted"))
    return rows
