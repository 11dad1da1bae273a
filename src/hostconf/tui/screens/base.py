"""What every screen of the wizard has: the bar, a question, a body, the footer, and work in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer
from textual.worker import get_current_worker

from hostconf.errors import HostconfError
from hostconf.tui.messages import Failed, Step, Stopped
from hostconf.tui.widgets.bar import Bar
from hostconf.tui.widgets.rows import Rows
from hostconf.tui.words import Words, said, sentence

if TYPE_CHECKING:
    from hostconf.tui.app import Wizard

T = TypeVar("T")


class Room(Screen[Any]):
    """One screen. A subclass names its place, what it offers, and makes its body in `body`."""

    PLACE: ClassVar[str] = ""
    """Its name: of the step in the bar, and of the action `go_<place>`."""
    TITLE_SHOWN: ClassVar[str] = ""
    """In the bar, where it is no step."""
    QUESTION: ClassVar[str] = ""
    """The sentence under the bar: what this screen answers."""
    OFFERS: ClassVar[tuple[str, ...]] = ()
    """Ids of its actions; `BINDINGS = bindings(*OFFERS)` stands beside it."""

    DEFAULT_CSS = """
    Room { layout: vertical; }
    Room > #question { height: 1; padding: 0 1; color: $text-muted; text-style: italic; }
    Room > #trouble { display: none; height: auto; max-height: 5; padding: 0 1; border-left: thick $error; }
    Room > #trouble.-on { display: block; }
    """

    @property
    def wizard(self) -> Wizard:
        """The app, typed."""
        return cast("Wizard", self.app)

    @property
    def home(self) -> str:
        """The home folder, to shorten paths by."""
        return self.wizard.bench.environment.home

    def compose(self) -> ComposeResult:
        """Bar, question, body, what went wrong, footer."""
        environment = self.wizard.bench.environment
        yield Bar(
            self.PLACE,
            self.TITLE_SHOWN,
            dry_run=self.wizard.dry_run,
            demo=self.wizard.demo,
            project=environment.project or "",
            home=environment.home,
        )
        yield Words(self.QUESTION, id="question")
        yield from self.body()
        yield Words("", id="trouble")
        yield Footer(show_command_palette=False, compact=True)

    def body(self) -> Iterable[Widget]:
        """The widgets between question and footer."""
        return ()

    def fetch(self, job: Callable[[], T], message: Callable[[T], Message], group: str) -> None:
        """Do work that may wait in a thread; `message(result)` comes back to this screen, or `Failed`.

        A newer piece of the same group takes the place of an older one. Never for work that writes.
        """

        def work() -> None:
            worker = get_current_worker()
            answer = attempt(job, message)
            if not worker.is_cancelled:
                self.post_message(answer)

        self.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def on_failed(self, event: Failed) -> None:
        """Work in the background failed: say it here, and stay."""
        self.say_trouble(event)

    def say_trouble(self, event: Failed | None) -> None:
        """Show a failure with its hint under the body; None takes it away."""
        shown = self.query_one("#trouble", Words)
        shown.set_class(event is not None, "-on")
        if event is not None:
            hint = said("\n", sentence(event.hint, "$text-muted")) if event.hint else ""
            shown.say(said(sentence(event.message, "$text-error"), hint))

    # ---- what most screens offer

    def action_back(self) -> None:
        """To where one came from."""
        self.wizard.go_back()

    def action_filter(self) -> None:
        """Filter the table that has the focus, or the first one."""
        tables = list(self.query(Rows))
        with_focus = [rows for rows in tables if rows.has_focus_within]
        for rows in (with_focus or tables)[:1]:
            rows.start_filter()


class Writing(Room):
    """A screen that writes: in one thread, which nothing cancels; its steps come in as it goes."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[str] = []
        """Filled by the thread that writes, read by the screen."""

    def write(self, job: Callable[[Callable[[str], None]], T], ended: Callable[[T], Message], hint: str) -> None:
        """Begin: `ended` or `Stopped` comes at the end, whatever happens. The job is given what it tells its steps."""
        self._steps.clear()
        self.wizard.begin_writing()

        def on_step(text: str) -> None:
            self._steps.append(text)
            self.post_message(Step(text))

        def work() -> None:
            answer: Message
            try:
                answer = attempt(lambda: job(on_step), ended)
            except BaseException as error:  # whatever it was, the screen must hear that nobody writes any more
                answer = Failed("interrupted", f"it was interrupted: {type(error).__name__}", hint)
            self.post_message(Stopped(answer) if isinstance(answer, Failed) else answer)

        # not exclusive, and nothing looks at whether it is cancelled: what was begun is brought to an end
        self.run_worker(work, thread=True, exclusive=False, group="writing", exit_on_error=False)


def attempt(job: Callable[[], T], message: Callable[[T], Message]) -> Message:
    """The message with what the job gives, or what failed, in words that hold no value of a file."""
    try:
        return message(job())
    except HostconfError as error:
        return Failed(error.code, error.message, error.hint, error.path or "", error.line or 0)
    except Exception as error:
        from hostconf.tui.crash import place_of

        hint = "every file is whole, old or new; `hostconf doctor` looks over the state"
        return Failed("bug", f"this failed in a way nobody foresaw: {type(error).__name__}{place_of(error)}", hint)
