"""A table of rows that always fits its width: columns are cut, never scrolled away. Keyboard, mouse, filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hostconf.tui.words import Words, fit, said, seen

GAP = "  "


class Column(NamedTuple):
    """One column. Width left over goes to columns by weight, each up to what it needs."""

    title: str
    least: int = 4
    weight: int = 1
    wide_from: int = 0
    """Width of the table from which on it is shown at all."""


class Row(NamedTuple):
    """One row. Without cells it is a heading that cannot be chosen."""

    id: str
    cells: tuple[Content, ...] = ()
    heading: Content | None = None
    find: str = ""
    """What the filter looks in; empty: the cells."""


class RowList(OptionList):
    """The list itself: a click marks a row, a second one chooses it; Enter chooses."""

    BINDINGS = [
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
        Binding("g", "first", "First", show=False),
        Binding("G", "last", "Last", show=False),
        Binding("ctrl+d", "page_down", "Page down", show=False),
        Binding("ctrl+u", "page_up", "Page up", show=False),
    ]

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        """See `seen`."""
        return seen(self, super().get_visual_style(*component_classes, partial=partial), component_classes)

    async def _on_click(self, event: Click) -> None:
        event.prevent_default()
        number = event.style.meta.get("option")
        if number is None or self.get_option_at_index(number).disabled:
            return
        again = event.chain > 1
        self.highlighted = number
        if again:
            self.action_select()
        elif isinstance(self.parent, Rows):
            self.parent.post_message(Rows.Clicked(self.parent, self.get_option_at_index(number).id or "", event.x))


class Rows(Vertical):
    """Head, list, and the field for the filter while it is used."""

    DEFAULT_CSS = """
    Rows {
        height: auto;
        .rows-head { height: 1; color: $text-muted; padding: 0 1; }
        RowList { height: auto; border: none; padding: 0; background: transparent; scrollbar-size-vertical: 1; }
        RowList:focus { border: none; }
        RowList > .option-list--option { padding: 0 1; }
        RowList > .option-list--option-highlighted { background: $panel; }
        RowList:focus > .option-list--option-highlighted {
            background: $primary 35%; color: $foreground; text-style: bold;
        }
        RowList:nocolor > .option-list--option-highlighted { text-style: underline; }
        RowList:nocolor:focus > .option-list--option-highlighted { text-style: reverse; }
        Input, Input:focus { display: none; dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; }
        Input.-on { display: block; }
    }
    """

    BINDINGS = [Binding("escape", "all_rows", "All rows", key_display="Esc")]

    @dataclass
    class Marked(Message):
        """The cursor stands on another row."""

        rows: Rows
        id: str

        @property
        def control(self) -> Rows:
            """The table."""
            return self.rows

    @dataclass
    class Chosen(Marked):
        """Enter or a double click."""

    @dataclass
    class Clicked(Marked):
        """One click, at this column of the list."""

        x: int = 0

    def __init__(self, *columns: Column, id: str | None = None, empty: str = "nothing here") -> None:
        super().__init__(id=id)
        self._columns, self._empty = columns, empty
        self._rows: tuple[Row, ...] = ()
        self._needle = ""
        self._width = 0

    def compose(self) -> ComposeResult:
        """Head, list, filter."""
        head = Words(classes="rows-head")
        head.display = any(column.title for column in self._columns)
        yield head
        yield RowList()
        yield Input(placeholder="only rows with …", id="filter")

    @property
    def listing(self) -> RowList:
        """The list, to give it the focus."""
        return self.query_one(RowList)

    @property
    def current(self) -> str:
        """Id of the row under the cursor; empty where there is none."""
        number = self.listing.highlighted
        return "" if number is None else self.listing.get_option_at_index(number).id or ""

    def show(self, rows: Sequence[Row], *, at: str = "") -> None:
        """Show these rows; the cursor stays on its row, or goes to `at`."""
        self._rows = tuple(rows)
        self._draw(at or self.current)

    def say_empty(self, text: str) -> None:
        """Say this where there is no row."""
        self._empty = text
        self._draw(self.current)

    def start_filter(self) -> None:
        """Let the person type what rows have to contain."""
        field = self.query_one(Input)
        field.add_class("-on")
        field.focus()
        self.refresh_bindings()

    def action_all_rows(self) -> None:
        """End the filter: all rows again."""
        field = self.query_one(Input)
        field.value = ""
        field.remove_class("-on")
        self.listing.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The filter can be ended only where there is one: else Esc goes back."""
        return action != "all_rows" or self.query_one(Input).has_class("-on")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._needle = event.value.casefold()
        self._draw(self.current)

    @on(Input.Submitted)
    def _typed_to_end(self, event: Input.Submitted) -> None:
        event.stop()
        self.listing.focus()

    @on(OptionList.OptionHighlighted)
    def _marked(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        listing, above = event.option_list, event.option_index - 1
        if 0 <= above < listing.scroll_offset.y and listing.get_option_at_index(above).disabled:
            listing.scroll_to(y=above, animate=False, force=True)  # its heading comes into sight with it
        self.post_message(self.Marked(self, event.option_id or ""))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(self, event.option_id or ""))

    def on_resize(self, event: Resize) -> None:
        """Columns are made to fit anew."""
        if event.size.width != self._width:
            self._width = event.size.width
            self._draw(self.current)

    def _draw(self, at: str) -> None:
        shown = self._filtered()
        widths = self._widths(shown)
        head = self._joined([Content(column.title) for column in self._columns], widths)
        self.query_one(".rows-head", Words).say(head)
        options = [Option(self._line(row, widths), id=row.id, disabled=not row.cells) for row in shown]
        self.listing.clear_options()
        empty = "no row contains this" if self._needle and self._rows else self._empty
        self.listing.add_options(options or [Option(said(empty), disabled=True)])
        ids = [row.id for row in shown if row.cells]
        if ids:
            self.listing.highlighted = self.listing.get_option_index(at if at in ids else ids[0])
        else:
            self.post_message(self.Marked(self, ""))

    def _filtered(self) -> list[Row]:
        found: list[Row] = []
        for row in self._rows:
            if row.heading is not None and not row.cells:
                if found and not found[-1].cells:
                    found.pop()  # a heading with nothing under it
                found.append(row)
            elif self._needle in (row.find or " ".join(cell.plain for cell in row.cells)).casefold():
                found.append(row)
        if found and not found[-1].cells and self._needle:
            found.pop()
        return found

    def _line(self, row: Row, widths: Sequence[int]) -> Content:
        if row.heading is not None and not row.cells:
            return row.heading
        return self._joined(row.cells, widths)

    def _joined(self, cells: Sequence[Content], widths: Sequence[int]) -> Content:
        shown = [fit(cell, width) for cell, width in zip(cells, widths, strict=False) if width]
        return said(GAP).join(shown)

    def _widths(self, shown: Sequence[Row]) -> list[int]:
        """Each column what it needs where there is room; else the least, and the rest by weight."""
        needs = [len(column.title) for column in self._columns]
        for row in shown:
            for number, cell in enumerate(row.cells[: len(needs)]):
                needs[number] = max(needs[number], cell.cell_length)
        needs = [need if self.size.width >= c.wide_from else 0 for need, c in zip(needs, self._columns, strict=True)]
        room = max(self.size.width, 20) - 3 - len(GAP) * (len([need for need in needs if need]) - 1)
        widths = [min(need, column.least) for need, column in zip(needs, self._columns, strict=True)]
        while (left := room - sum(widths)) > 0:
            hungry = [n for n in range(len(widths)) if widths[n] < needs[n] and self._columns[n].weight]
            if not hungry:
                break
            weights = sum(self._columns[n].weight for n in hungry)
            for n in hungry:
                share = max(1, left * self._columns[n].weight // weights)
                widths[n] += min(share, needs[n] - widths[n], max(0, room - sum(widths)))
        return widths
