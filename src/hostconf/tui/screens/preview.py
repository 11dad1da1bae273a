"""The plan before it is approved: what changes for the model, the exact files, the conflicts. A value, shown whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from hostconf.tui.actions import bindings
from hostconf.tui.messages import Failed
from hostconf.tui.screens.base import Room
from hostconf.tui.widgets import planned
from hostconf.tui.widgets.diff import Diff, count
from hostconf.tui.widgets.paragraphs import Paragraphs
from hostconf.tui.widgets.rows import Column, Rows
from hostconf.tui.widgets.sections import Reading, Sections
from hostconf.tui.words import Words, safe, said, sentence

if TYPE_CHECKING:
    from hostconf.workflow.change import Prepared

SIDE_BY_SIDE = 120
"""Width of the screen from which on diffs are shown side by side, until a person says otherwise."""
PARTS = (("changes", "What changes"), ("files", "Files"), ("conflicts", "Conflicts"))
MAKING = "making the plan …"
TAKEN_BACK = "What is taken back, what comes back, and what stays?"


class Preview(Room):
    """A plan in three parts. Exactly the `Prepared` that is shown here is carried out once it is approved."""

    PLACE = "preview"
    QUESTION = "What exactly is written, and what is different then?"
    OFFERS = (
        "apply",
        "layout",
        "command",
        "back",
        "show_changes",
        "show_files",
        "show_conflicts",
        "next_file",
        "previous_file",
        "reload",
    )
    BINDINGS = bindings(*OFFERS)
    CSS_PATH = "preview.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (180, "-broad")]

    @dataclass
    class Made(Message):
        """The plan is there."""

        prepared: Prepared

    def __init__(self, prepared: Prepared | None = None) -> None:
        super().__init__()
        self.prepared = prepared
        self._given = prepared
        self._split: bool | None = None
        """What the person chose; None: as the width is."""
        self._file = 0

    def body(self) -> Iterable[Widget]:
        """The names of the parts, the part in sight, the plan in one line."""
        yield Sections(PARTS, id="preview-parts")
        with ContentSwitcher(initial="changes", id="preview-body"):
            with Reading(id="changes"):
                yield Paragraphs(id="changes-head")
                yield Horizontal(
                    Paragraphs(id="changes-surface"), Paragraphs(id="changes-beyond"), id="changes-columns"
                )
            with Vertical(id="files"):
                yield Rows(
                    Column("", 8, 0),
                    Column("File", 20, 4),
                    Column("Host", 8, 1),
                    Column("Lines", 6, 0),
                    id="files-list",
                    empty="no file is written",
                )
                with Vertical(id="files-diff"):
                    yield Words(id="files-title")
                    yield Diff(id="diff")
            yield Reading(Paragraphs(id="conflicts-text"), id="conflicts")
        yield Words(MAKING, id="summary")

    def on_mount(self) -> None:
        """Show the plan that was handed in, or make one."""
        self.query_one("#changes").focus()
        if self._given is None:
            self.action_reload()
        else:
            self._show(self._given)

    # ---- the plan

    def action_reload(self) -> None:
        """Make the plan anew, from the files as they are now."""
        self.prepared = None
        self.say_trouble(None)
        self._clear(MAKING)
        self.query_one("#summary", Words).say(MAKING)
        self.fetch(self._job(), self.Made, "plan")

    def _job(self) -> Callable[[], Prepared]:
        bench, given = self.wizard.bench, self._given
        if given is None:
            request = self.wizard.wish.request()
            return lambda: bench.prepare(request)
        records = given.records
        integrations, scopes = {r.integration for r in records}, {r.scope for r in records}
        one = integrations.pop() if len(integrations) == 1 else None
        scope = scopes.pop() if len(scopes) == 1 else None
        hosts = sorted({r.host for r in records})
        return lambda: bench.prepare_uninstall(one, hosts, scope)

    @on(Made)
    def _made(self, event: Made) -> None:
        self._show(event.prepared)

    def on_failed(self, event: Failed) -> None:
        """No plan can be made: say why, and stay."""
        self.say_trouble(event)
        self.query_one("#summary", Words).say(safe("no plan could be made", "$text-error bold"))
        self._clear()

    def _clear(self, text: str = "") -> None:
        """Nothing but this text: what stood there is no plan any more."""
        for name in ("changes-head", "changes-surface", "changes-beyond", "conflicts-text"):
            first = name in ("changes-head", "conflicts-text")
            self.query_one(f"#{name}", Paragraphs).say([safe(f"  {text}", "$text-muted")] if text and first else [])
        self.query_one("#changes-head").display = bool(text)
        self.query_one("#files-list", Rows).show([])
        self._show_file(0)

    @property
    def _data(self) -> Mapping[str, Any]:
        return {} if self.prepared is None else self.prepared.result.data

    @property
    def removal(self) -> bool:
        """Whether this takes an install back."""
        return self.prepared is not None and self.prepared.result.command == "uninstall"

    @property
    def names(self) -> Mapping[str, str]:
        """The hosts by id."""
        return {} if self.prepared is None else {h.id: h.name for h in self.prepared.house.hosts}

    def _show(self, prepared: Prepared) -> None:
        self.prepared = prepared
        data, names, home = self._data, self.names, self.home
        conflicts, files = data.get("conflicts", ()), data.get("files", ())
        settled = sum(bool(c.get("resolved")) for c in conflicts)
        if self.removal:
            self.query_one("#question", Words).say(TAKEN_BACK)
        self._show_changes(settled)
        self.query_one("#conflicts-text", Paragraphs).say(planned.conflict_lines(conflicts, names, home))
        table = self.query_one("#files-list", Rows)
        table.show([planned.file_row(n, f, count(str(f.get("diff") or "")), names, home) for n, f in enumerate(files)])
        self._show_file(min(self._file, max(0, len(files) - 1)))
        parts = self.query_one(Sections)
        parts.tell("files", f"({len(files)})")
        parts.tell("conflicts", f"({settled} settled, {len(conflicts) - settled} left)")
        summary = planned.summary(data, len(prepared.result.errors))
        messages = [said(" · ", sentence(text)) for text in prepared.result.messages]
        self.query_one("#summary", Words).say(said(summary, *messages))
        self.refresh_bindings()

    def _show_changes(self, settled: int) -> None:
        assert self.prepared is not None
        data, names, home = self._data, self.names, self.home
        head: list[Content] = []
        errors = self.prepared.result.errors
        if errors:
            head.append(planned.heading("Refused: nothing can be written", "$text-error"))
            head += [row for error in errors for row in planned.error_lines(error, home)]
        if self.removal:
            head += planned.removal_lines(data, [r.host for r in self.prepared.records], names, home)
        head += [sentence(text) for text in self.prepared.result.messages]
        shown = self.query_one("#changes-head", Paragraphs)
        shown.say(head)
        shown.display = bool(head)
        surface = planned.surface_change_lines(data.get("surface", ()), names, home)
        self.query_one("#changes-surface", Paragraphs).say(surface)
        self.query_one("#changes-beyond", Paragraphs).say(planned.beyond_lines(data, settled, home))

    # ---- files

    def _show_file(self, number: int) -> None:
        files = self._data.get("files", ())
        self._file = number
        diff = self.query_one(Diff)
        self._lay_out()
        if number < len(files):
            self.query_one("#files-title", Words).say(planned.file_title(files[number], self.names, self.home))
            diff.show(str(files[number].get("diff") or ""))
        else:
            self.query_one("#files-title", Words).say("")
            diff.show("", "no file is written")

    @on(Rows.Marked, "#files-list")
    def _marked(self, event: Rows.Marked) -> None:
        if event.id and int(event.id) != self._file:
            self._show_file(int(event.id))

    @on(Rows.Chosen, "#files-list")
    def _chosen(self, event: Rows.Chosen) -> None:
        self.query_one(Diff).focus()

    def _lay_out(self) -> None:
        wide = self.app.size.width >= SIDE_BY_SIDE
        self.query_one(Diff).split = wide if self._split is None else self._split

    def on_resize(self) -> None:
        """Side by side or not, as the width is, until a person has said it."""
        self._lay_out()

    def action_layout(self) -> None:
        """Unified or side by side."""
        self._split = not self.query_one(Diff).split
        self._lay_out()

    def action_next_file(self) -> None:
        """The next file."""
        self._step(1)

    def action_previous_file(self) -> None:
        """The file before."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if self.query_one(Sections).now != "files":
            self.show_part("files")
        number = self._file + by
        if 0 <= number < len(self._data.get("files", ())):
            self.query_one("#files-list", Rows).listing.highlighted = number

    # ---- parts

    @on(Sections.Picked)
    def _picked(self, event: Sections.Picked) -> None:
        self.show_part(event.part, keep_focus=event.stay)

    def show_part(self, part: str, *, keep_focus: bool = False) -> None:
        """Bring one part into sight, and the focus into it."""
        self.query_one("#preview-body", ContentSwitcher).current = part
        self.query_one(Sections).mark(part)
        self.refresh_bindings()
        if not keep_focus:
            self._enter(part)

    def _enter(self, part: str) -> None:
        if part == "files":
            self.query_one("#files-list", Rows).listing.focus()
        else:
            self.query_one(f"#{part}").focus()

    def action_show_changes(self) -> None:
        """What changes."""
        self.show_part("changes")

    def action_show_files(self) -> None:
        """The files."""
        self.show_part("files")

    def action_show_conflicts(self) -> None:
        """The conflicts."""
        self.show_part("conflicts")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The layout of diffs is offered where there are some in sight."""
        if action == "layout":
            return self.query_one("#preview-body", ContentSwitcher).current == "files"
        return True

    # ---- on

    def action_command(self) -> None:
        """Show the command line that does the same."""
        from hostconf.tui import command
        from hostconf.tui.screens.command import Commands

        prepared = self.prepared
        if prepared is None:
            self._not_yet()
            return
        environment = prepared.house.environment
        if prepared.records:
            self.wizard.push_screen(Commands(command.uninstall_commands(prepared.records, environment)))
        else:
            choices = prepared.plan.choices
            found = command.apply_commands(choices, environment)
            self.wizard.push_screen(Commands(found, command.hidden_values(choices)))

    def action_apply(self) -> None:
        """Ask for approval, and carry the plan out."""
        prepared = self.prepared
        if prepared is None:
            self._not_yet()
        elif prepared.plan.refusals or prepared.result.errors:
            self.show_part("changes")
            self.query_one("#changes", Reading).scroll_home(animate=False)
            self.notify("refused: the reasons stand above", severity="error", markup=False)
        elif not prepared.ready:
            self.notify("there is nothing to do: it is so already", markup=False)
        elif self.wizard.dry_run:
            self.notify(
                "this is a dry run: nothing is written. Start hostconf without `--dry-run` to apply",
                severity="warning",
                markup=False,
            )
        else:
            self._ask(prepared)

    def _not_yet(self) -> None:
        self.notify("there is no plan yet", severity="warning", markup=False)

    def _ask(self, prepared: Prepared) -> None:
        from hostconf.tui.screens.apply import Apply
        from hostconf.tui.screens.ask import Confirm

        blast, left = self._data.get("blast_radius", ()), self._data.get("leftovers", ())
        word = "uninstall" if self.removal else "apply"
        files = planned.several(len(self._data.get("files", ())), "file")
        question = f"Take this back? {files} change" if self.removal else f"Write {files}, all or none?"
        shown: list[str | Content] = []
        if blast:
            shown.append(planned.heading("What else changes for you", "$text-warning"))
            shown += [planned.item("!", planned.homely(str(text), self.home), "$text-warning") for text in blast]
        if left:
            shown += planned.removal_lines({"leftovers": left}, (), self.names, self.home)
        if not shown:
            shown.append("Nothing beyond this choice. `hostconf uninstall` takes it back." if not self.removal else "")

        def answered(yes: bool | None) -> None:
            if yes:
                self.wizard.push_screen(Apply(prepared))

        dialog = Confirm(question, [s for s in shown if s], yes=word.capitalize(), typed=word if blast or left else "")
        self.wizard.push_screen(dialog, answered)
