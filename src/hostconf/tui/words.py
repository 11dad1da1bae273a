"""Text for the screen. All foreign text goes through `safe`: it is text, never markup, never a control sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from hostconf.display import display

MARK = {"offered": "", "possible": "perhaps", "pending": "waits"}


def safe(value: Any, style: str = "", limit: int = 400) -> Content:
    """A foreign value on one line as it may be shown."""
    text = display("" if value is None else str(value), limit)
    return Content.styled(text, style) if style else Content(text)


def said(*parts: str | Content) -> Content:
    """Parts put together; a `str` is text, not markup."""
    return Content("").join([part if isinstance(part, Content) else Content(part) for part in parts])


def sentence(text: str, style: str = "") -> Content:
    """A sentence of ours, its `backticked` parts set off; foreign text in it is made safe."""
    parts = display(text).split("`")
    if len(parts) % 2 == 0:  # an odd one out is text
        return safe(text, style)
    return said(
        *(
            Content.styled(p, f"{style} bold".strip()) if n % 2 else Content.styled(p, style)
            for n, p in enumerate(parts)
        )
    )


def lines(rows: Iterable[str | Content]) -> Content:
    """One row a line."""
    return Content("\n").join([row if isinstance(row, Content) else Content(row) for row in rows])


def fit(content: Content, width: int) -> Content:
    """Exactly so many cells: cut with an ellipsis, or filled up."""
    if content.cell_length > width:
        content = content.truncate(max(0, width), ellipsis=True)
    return content.pad_right(width - content.cell_length)


def place(path: Any, line: Any = 0, home: str = "") -> str:
    """A file with its line, the home folder shortened."""
    shown = "" if path is None else str(path)
    if home and (shown == home or shown.startswith(home + "/")):
        shown = "~" + shown[len(home) :]
    return display(f"{shown}:{line}" if line else shown)


class Words(Static):
    """A piece of text. The only widget for text in the wizard: it takes no markup."""

    DEFAULT_CSS = "Words { height: auto; width: 1fr; }"

    def __init__(self, text: str | Content = "", **options: Any) -> None:
        super().__init__(text if isinstance(text, Content) else Content(text), markup=False, **options)

    def say(self, text: str | Content) -> None:
        """Show this instead."""
        self.update(text if isinstance(text, Content) else Content(text))


def seen(widget: Widget, style: Style, names: Iterable[str]) -> Style:
    """The style of these parts; the framework forgets `reverse`, by which the cursor is seen without colours."""
    reverse = any(widget.get_component_styles(name).text_style.reverse for name in names)
    return style + Style(reverse=True) if reverse else style
