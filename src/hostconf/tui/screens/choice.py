"""What is to be installed, where and how: integration, scope, way; then a tier for each capability of each host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from hostconf.tui.actions import bindings
from hostconf.tui.messages import Failed
from hostconf.tui.screens.base import Room
from hostconf.tui.widgets import offered
from hostconf.tui.widgets.form import FormLine
from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.planned import homely
from hostconf.tui.widgets.sections import Reading
from hostconf.tui.widgets.surface import capability
from hostconf.tui.widgets.tiers import TierGrid, TierRow
from hostconf.tui.wish import Wish, from_installed
from hostconf.tui.words import Words, lines, safe, said, sentence

Data = Mapping[str, Any]
WHY_LINES = 3
READING = "reading what can be installed …"


class Choice(Room):
    """A form of one line each, the grid of tiers, and what the model gets before and after."""

    PLACE = "choice"
    QUESTION = "Which tool shall the model get for what, and on which host?"
    OFFERS = (
        "pick", "pick_all", "integration", "variables", "scope", "path", "options", "back", "next", "reload",
    )  # fmt: skip
    BINDINGS = bindings(*OFFERS)
    CSS_PATH = "choice.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]

    @dataclass
    class Read(Message):
        """The catalogue and what is installed were read."""

        integrations: Sequence[Data]
        hosts: Sequence[Data]

    @dataclass
    class Offered(Message):
        """It is known what could be had on one host."""

        turn: int
        host: str
        offer: Data

    def __init__(self) -> None:
        super().__init__()
        self._catalogue: dict[str, Data] = {}
        self._recognised = 0
        self._names: dict[str, str] = {}
        self._installed: dict[str, Sequence[Data]] = {}
        self._offers: dict[str, Data] = {}
        self._waiting: list[str] = []
        """Hosts whose offer is not as the wish is now, in the order in which they come."""
        self._turn = 0
        self._seen: Wish | None = None
        self._told: Content | None = None
        """Said under the grid until the cursor moves."""
        self._going = False
        """Whether `next` was asked for while something was still being worked out."""

    def body(self) -> Iterable[Widget]:
        """Form, grid, why, effect, the whole in one line."""
        with Vertical(id="choice-form"):
            yield FormLine("e", "integration", "Integration")
            yield FormLine("v", "variables", "Needs")
            yield FormLine("s", "scope", "Scope")
            yield FormLine("p", "path", "Way")
            yield FormLine("o", "options", "Options")
        with Horizontal(id="choice-main"):
            with Vertical(id="choice-left"):
                yield VerticalScroll(TierGrid(READING, id="tiers"), id="choice-tiers", can_focus=False)
                yield Words(id="choice-why")
            yield Reading(Paragraphs(id="choice-effect-text"), id="choice-effect")
        yield Words(id="choice-sum")

    def on_mount(self) -> None:
        """Read once the screen is drawn."""
        self.grid.focus()
        self.call_after_refresh(self._read_catalogue)

    def on_screen_resume(self) -> None:
        """Back here: the wish may be another one."""
        if self._catalogue and self.wish != self._seen:
            self._begin()

    @property
    def grid(self) -> TierGrid:
        """The grid."""
        return self.query_one(TierGrid)

    @property
    def wish(self) -> Wish:
        """What is wished now."""
        return self.wizard.wish

    @property
    def integration(self) -> Data | None:
        """The integration that is wished, as the catalogue has it."""
        return self._catalogue.get(self.wish.integration)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Those of the integration."""
        return tuple(self.integration["capabilities"]) if self.integration else ()

    # ---- what there is

    def _read_catalogue(self) -> None:
        bench = self.wizard.bench
        self.fetch(
            lambda: self.Read(bench.integrations(), bench.status().data["hosts"]), lambda read: read, "catalogue"
        )

    @on(Read)
    def _read(self, event: Read) -> None:
        self._catalogue = {str(i["id"]): i for i in event.integrations if i["installable"]}
        self._recognised = len(event.integrations) - len(self._catalogue)
        self._names = {str(h["id"]): str(h["name"]) for h in event.hosts}
        self._installed = {str(h["id"]): h["installed"] for h in event.hosts}
        going = self._going
        self._begin()
        self._going = going

    def _begin(self) -> None:
        """All anew, from the wish as it is."""
        wish = self.wish
        if wish.integration not in self._catalogue and self._catalogue:
            wish = wish.choosing(self._catalogue[self._first_choice()])
        self.wizard.wish = from_installed(wish, self._installed)
        self._told = None
        self._work_out(self.wish.hosts)

    def _first_choice(self) -> str:
        """The integration that is installed already, else the first."""
        there = [str(row["integration"]) for host in self.wish.hosts for row in self._installed.get(host, ())]
        return next((i for i in there if i in self._catalogue), next(iter(self._catalogue)))

    # ---- what could be had

    def _work_out(self, hosts: Sequence[str], *, anew: bool = False) -> None:
        """Ask what could be had on these hosts, the one under the cursor first."""
        self._going = False
        self._seen = self.wish
        self._turn += 1
        marked = self.grid.current
        wanted = [h for h in self.wish.hosts if h in hosts or h in self._waiting]
        self._waiting = sorted(wanted, key=lambda h: marked is None or h != marked[0].host)
        self.say_trouble(None)
        self._show()
        self._ask(anew)

    def _ask(self, anew: bool = False) -> None:
        if not (self._waiting and self.integration):
            return
        bench, turn, host = self.wizard.bench, self._turn, self._waiting[0]
        request = self.wish.request((host,))
        self.fetch(lambda: bench.offer(request, host, anew=anew), lambda o: self.Offered(turn, host, o), "offer")

    @on(Offered)
    def _offered(self, event: Offered) -> None:
        if event.turn != self._turn:
            return
        self._offers[event.host] = event.offer
        self._names[event.host] = str(event.offer["name"])
        self._waiting.remove(event.host)
        self._show()
        self._ask()
        if self._going and not self._waiting:
            self.action_next()

    def on_failed(self, event: Failed) -> None:
        """Say it, and that nothing more is to be waited for."""
        self._going = False
        self.say_trouble(event)

    def action_reload(self) -> None:
        """Read the files anew."""
        self._offers = {}
        self._work_out(self.wish.hosts, anew=True)

    # ---- what is shown

    def _show(self) -> None:
        wish, one, bench = self.wish, self.integration, self.wizard.bench
        if one is None:
            self._tell("integration", safe("none can be installed", "$text-warning"))
            return
        brings = safe(f"   {offered.brings(one)}", "$text-muted")
        self._tell("integration", said(safe(one["name"], "bold"), brings))
        self._tell("variables", offered.needs_line(wish, one, bench.is_set))
        self._tell("scope", offered.scope_line(wish, bench.environment.project or "", self.home))
        self._tell("path", offered.way_line(wish, one))
        self._tell("options", offered.options_line(wish))
        waits = self._waiting.__contains__
        self.grid.show(offered.tier_rows(wish, self.capabilities, self._offers, waits, self._names))
        self._show_marked()

    def _tell(self, name: str, value: Content) -> None:
        self.query_one(f"#form-{name}", FormLine).tell(value)

    def _show_marked(self) -> None:
        """What belongs to the cell under the cursor."""
        if self.grid.current is None:
            self.query_one("#choice-why", Words).say("no host is taken in: go back, and take one in with Space")
            return
        row, tier = self.grid.current
        offer = self._offers.get(row.host)
        beside = self.has_class("-wide")
        rows = [row, *(r for r in self.grid.rows if beside and r.host == row.host and r != row)]
        self.query_one("#choice-effect-text", Paragraphs).say(offered.effect_lines(rows, offer, self.home))
        self.query_one("#choice-sum", Words).say(offered.summary(row, offer, self.home))
        self._say_why(self._told or offered.why(row, tier, offer, self.home))

    def _say_why(self, text: Content) -> None:
        shown = self.query_one("#choice-why", Words)
        wide = max(20, shown.content_size.width or self.size.width - 4)
        rows = text.wrap(wide)
        most = WHY_LINES * (2 if self.has_class("-wide") else 1)
        if len(rows) > most:
            rows = [*rows[: most - 1], said(rows[most - 1], " …").truncate(wide, ellipsis=True)]
        shown.say(lines(rows))

    def on_resize(self) -> None:
        """The sentence under the grid is wrapped anew."""
        self.call_after_refresh(self._show_marked)

    # ---- tiers

    @on(TierGrid.Marked)
    def _marked(self, event: TierGrid.Marked) -> None:
        self._told = None
        self._show_marked()

    @on(TierGrid.Picked)
    def _picked(self, event: TierGrid.Picked) -> None:
        self._pick(event.row, event.tier)

    def action_pick(self) -> None:
        """Wish the marked tier."""
        if self.grid.current is not None:
            self._pick(*self.grid.current)

    def _able(self, host: str, capability: str, tier: str) -> bool:
        """Whether it can be had, as far as is known."""
        offer = self._offers.get(host)
        if offer is None or host in self._waiting:
            return True
        return bool(offer["cells"][capability]["tiers"][tier]["deliverable"])

    def _pick(self, row: TierRow, tier: str) -> None:
        self._told = None
        if tier != self.wish.tier(row.host, row.capability) and self._able(row.host, row.capability, tier):
            self.wizard.wish = self.wish.with_tier(row.host, row.capability, tier)
            self._work_out((row.host,))
        else:
            self._show_marked()

    def action_pick_all(self) -> None:
        """Wish the marked tier for this capability wherever it can be had; say where it cannot."""
        if self.grid.current is None:
            return
        row, tier = self.grid.current
        able = [h for h in self.wish.hosts if self._able(h, row.capability, tier)]
        wish = self.wish
        for host in able:
            wish = wish.with_tier(host, row.capability, tier)
        changed = [h for h in able if wish.tier(h, row.capability) != self.wish.tier(h, row.capability)]
        parts: list[str | Content] = [
            safe(f"{capability(row.capability)} {tier}", "bold"),
            f" on {self._listed(able) or 'no host'}",
        ]
        for host in self.wish.hosts:
            if host not in able:
                reason = str(self._offers[host]["cells"][row.capability]["tiers"][tier]["reason"])
                parts += [safe(f"; not on {self._called(host)}: ", "$text-warning bold")]
                parts += [sentence(homely(reason, self.home))]
        if changed:
            self.wizard.wish = wish
        self._told = said(*parts)
        self._work_out(changed)

    def _called(self, host: str) -> str:
        return self._names.get(host, host)

    def _listed(self, hosts: Sequence[str]) -> str:
        names = [self._called(h) for h in hosts]
        return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)

    # ---- the form

    @on(FormLine.Pressed)
    async def _pressed(self, event: FormLine.Pressed) -> None:
        if event.answer is None:
            await self.run_action(event.line)
        elif event.line == "scope":
            self._take_scope(event.answer)
        elif event.answer != self.wish.path:
            self._wish(self.wish._replace(path=event.answer, touched=True))

    def _wish(self, wish: Wish | None) -> None:
        """Another wish, where it is one: all hosts are asked again."""
        if wish is not None and wish != self.wish:
            self.wizard.wish = wish
            self._told = None
            self._work_out(wish.hosts)

    def action_scope(self) -> None:
        """User or project."""
        self._take_scope("user" if self.wish.scope == "project" else "project")

    def _take_scope(self, scope: str) -> None:
        if scope == "project" and not self.wizard.bench.environment.project:
            self._told = safe(offered.NO_PROJECT, "$text-warning")
            self._show_marked()
        else:
            self._wish(self.wish._replace(scope=scope, touched=True) if scope != self.wish.scope else None)

    def action_path(self) -> None:
        """The next of the ways that the integration has."""
        if self.integration:
            ways = ["", *map(str, self.integration["paths"])]
            at = ways.index(self.wish.path) if self.wish.path in ways else 0
            self._wish(self.wish._replace(path=ways[(at + 1) % len(ways)], touched=True))

    def action_integration(self) -> None:
        """Choose another integration."""
        from hostconf.tui.screens.pick import Pick

        def picked(name: str | None) -> None:
            if name is not None and name != self.wish.integration:
                chosen = self.wish.choosing(self._catalogue[name])._replace(touched=True)
                self._offers = {}
                self._wish(from_installed(chosen, self._installed))

        if self._catalogue:
            rows = list(self._catalogue.values())
            self.wizard.push_screen(Pick(rows, self._recognised, self.wish.integration), picked)

    def action_variables(self) -> None:
        """Say where each variable comes from."""
        from hostconf.tui.screens.variables import Variables

        if self.integration:
            self.wizard.push_screen(Variables(self.integration, self.wish), self._wish)

    def action_options(self) -> None:
        """Settings, package, what is accepted."""
        from hostconf.tui.screens.options import Options

        if self.integration:
            self.wizard.push_screen(Options(self.integration, self.wish), self._wish)

    # ---- on

    def action_next(self) -> None:
        """To the preview, if what is wished can be had."""
        if self.wish.hosts and not self._catalogue:
            self._going = True  # it is asked for again once it is known what there is
        elif not (self.wish.hosts and self.integration):
            self._refuse(safe("take a host in first: Esc, then Space", "$text-warning"))
        elif self._waiting:
            self._going = True
            self._refuse(safe("one moment: this is still being worked out …", "$text-muted"))
        elif not self._in_the_way():
            self.wizard.go("preview")

    def _in_the_way(self) -> bool:
        """Whether something wished cannot be had; then the cursor goes there and it is said why."""
        for host in self.wish.hosts:
            offer = self._offers[host]
            bad = [c for c in self.capabilities if not self._able(host, c, self.wish.tier(host, c))]
            problem = offered.host_problem(self.wish, host, self.capabilities, offer)
            if bad or problem or offer["refusals"]:
                where = bad[0] if bad else self.capabilities[0]
                self.grid.mark(host, where, self.wish.tier(host, where))
                self.grid.focus()
                self._refuse(self._reason(host, problem, offer))
                return True
        return False

    def _reason(self, host: str, problem: str, offer: Data) -> Content:
        refusal = offer["refusals"][0] if offer["refusals"] else {}
        text, fix = problem or str(refusal.get("reason", "")), str(offer["fix"] or refusal.get("fix", ""))
        row, tier = self.grid.current or (None, "")
        if problem == offered.NOTHING_HERE or row is None:
            fix = ""
        elif not problem:
            return said(safe("not yet: ", "$text-error bold"), offered.why(row, tier, offer, self.home))
        hint = said(". ", safe("What to do: ", "$text-muted"), sentence(homely(fix, self.home))) if fix else ""
        return said(
            safe(f"not yet: {self._called(host)}: ", "$text-error bold"), sentence(homely(text, self.home)), hint
        )

    def _refuse(self, text: Content) -> None:
        """Say why it does not go on."""
        self._told = text
        self._show_marked()
