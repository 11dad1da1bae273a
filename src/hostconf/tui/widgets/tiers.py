"""The grid of tiers: a row for each capability of each host, and the four tiers to choose from in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from hostconf.model import TIERS
from hostconf.tui.widgets.surface import capability
from hostconf.tui.words import Words, fit, lines, safe, said, seen, sentence

GAP = "  "
WIDEST_NAME = 24


class TierRow(NamedTuple):
    """One capability on one host."""

    host: str
    name: str
    capability: str
    wished: str
    open: Mapping[str, bool] = {}
    """Tier to whether it can be delivered; what is missing is not known yet."""
    waiting: bool = True
    """Whether it is still being worked out."""
    problem: str = ""
    """Why nothing can be had on this host; the same in each of its rows."""


class TierGrid(Words, can_focus=True):
    """Choices in text: `●` is wished, `○` can be had, `×` cannot, `!` is wished and cannot."""

    DEFAULT_CSS = """
    TierGrid { padding: 0 1; height: auto; width: 1fr; }
    TierGrid > .tiers--marked { background: $panel; }
    TierGrid:focus > .tiers--marked { background: $primary 55%; color: $foreground; text-style: bold; }
    TierGrid:nocolor > .tiers--marked { text-style: underline; }
    TierGrid:nocolor:focus > .tiers--marked { text-style: reverse; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"tiers--marked"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1, 0)", "Up", show=False),
        Binding("down,j", "step(1, 0)", "Down", show=False),
        Binding("left,h", "step(0, -1)", "Left", show=False),
        Binding("right,l", "step(0, 1)", "Right", show=False),
        Binding("home,g", "step(-99, 0)", "First", show=False),
        Binding("end,G", "step(99, 0)", "Last", show=False),
    ]

    @dataclass
    class Marked(Message):
        """The cursor stands on another tier."""

        row: TierRow
        tier: str

    @dataclass
    class Picked(Marked):
        """A click on a tier."""

    def __init__(self, empty: str, id: str | None = None) -> None:
        super().__init__(safe(empty, "$text-muted"), id=id)
        self.rows: tuple[TierRow, ...] = ()
        """What is shown."""
        self._at = (0, 1)
        self._row_at: list[int] = []
        """The row that stands in each line; a problem's line belongs to the row above."""
        self._starts: list[tuple[int, int]] = []
        """Where each tier begins in a line, and its width."""

    @property
    def current(self) -> tuple[TierRow, str] | None:
        """Row and tier under the cursor."""
        return (self.rows[self._at[0]], TIERS[self._at[1]]) if self.rows else None

    def show(self, rows: Sequence[TierRow]) -> None:
        """Show these rows; the cursor stays on its host, capability and tier."""
        before = self.current
        self.rows = tuple(rows)
        if before is None and rows:
            self._at = (0, TIERS.index(rows[0].wished))
        elif before is not None:
            same = [n for n, r in enumerate(rows) if (r.host, r.capability) == (before[0].host, before[0].capability)]
            self._at = (same[0] if same else 0, self._at[1])
        self._draw()

    def mark(self, host: str, capability: str, tier: str) -> None:
        """Put the cursor there, without a message."""
        for number, row in enumerate(self.rows):
            if (row.host, row.capability) == (host, capability):
                self._at = (number, TIERS.index(tier))
                self._draw()
                self._in_sight()

    def action_step(self, down: int, right: int) -> None:
        """To another row, another tier."""
        if self.rows:
            row = min(max(self._at[0] + down, 0), len(self.rows) - 1)
            self._go(row, min(max(self._at[1] + right, 0), len(TIERS) - 1))

    def _go(self, row: int, tier: int) -> None:
        if (row, tier) != self._at:
            self._at = (row, tier)
            self._draw()
            self.post_message(self.Marked(self.rows[row], TIERS[tier]))
        self._in_sight()

    def _in_sight(self) -> None:
        """The line under the cursor, and a problem that stands below it."""
        mine = [y for y, row in enumerate(self._row_at) if row == self._at[0]]
        if mine and isinstance(self.parent, Widget):
            region = Region(0, mine[0], max(1, self.size.width), len(mine))
            self.parent.scroll_to_region(region, animate=False, force=True)

    def on_click(self, event: Click) -> None:
        """Pick what was clicked; a click beside a tier only marks the row."""
        event.stop()
        self.focus()
        y, x = event.y, event.x - self.gutter.left
        if not 0 <= y < len(self._row_at):
            return
        row = self._row_at[y]
        hit = [n for n, (start, width) in enumerate(self._starts) if start <= x < start + width]
        self._go(row, hit[0] if hit else self._at[1])
        if hit:
            self.post_message(self.Picked(self.rows[row], TIERS[hit[0]]))

    def on_focus(self) -> None:
        """The cursor is seen at once."""
        self._draw()

    def on_blur(self) -> None:
        """The cursor is paler."""
        self._draw()

    def on_resize(self) -> None:
        """Names are made to fit anew."""
        self._draw()

    def _draw(self) -> None:
        if not self.rows:
            return
        wide = max(self.size.width - 2, 40)
        names = min(max(safe(r.name).cell_length for r in self.rows), WIDEST_NAME)
        words = max(len(capability(r.capability)) for r in self.rows)
        needed = sum(len(t) + 2 for t in TIERS) + (len(TIERS) + 1) * len(GAP) + words
        names = max(4, min(names, wide - needed))
        at = names + len(GAP) + words + len(GAP)
        self._starts = []
        for tier in TIERS:
            self._starts.append((at, len(tier) + 2))
            at += len(tier) + 2 + len(GAP)
        self._row_at = []
        shown: list[Content] = []
        for number, row in enumerate(self.rows):
            first = number == 0 or self.rows[number - 1].host != row.host
            last = number + 1 == len(self.rows) or self.rows[number + 1].host != row.host
            shown.append(self._line(number, row, first, names, words))
            self._row_at.append(number)
            if last and row.problem:
                shown.append(fit(said(safe("! ", "$text-error bold"), sentence(row.problem, "$text-error")), wide))
                self._row_at.append(number)
        self.say(lines(shown))

    def _line(self, number: int, row: TierRow, first: bool, names: int, words: int) -> Content:
        name = fit(safe(row.name, "bold", 80), names) if first else Content(" " * names)
        cells = [self._cell(row, tier, (number, n) == self._at) for n, tier in enumerate(TIERS)]
        waiting = safe("…", "$text-warning bold") if row.waiting else ""
        return said(GAP).join([name, fit(safe(capability(row.capability)), words), *cells, said(waiting)])

    def _cell(self, row: TierRow, tier: str, marked: bool) -> Content:
        able = row.open.get(tier, True)
        if tier == row.wished:
            sign, style = ("●", "$text-success bold") if able else ("!", "$text-error bold")
        else:
            sign, style = ("○", "") if able else ("×", "$text-disabled")
        cell = safe(f"{sign} {tier}", style)
        if not marked:
            return cell
        return cell.stylize(seen(self, self.get_visual_style("tiers--marked", partial=True), ("tiers--marked",)))
