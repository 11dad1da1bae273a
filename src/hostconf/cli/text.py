"""How lines for people are made: places, tables, colour. Writes nothing.

Every text that came from a file goes through `Style.text` or `Style.place` before
it is put beside anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.display import display

Data = Mapping[str, Any]


class Style(NamedTuple):
    """What the reader wants and what his terminal can do."""

    colour: bool = False
    home: str = ""
    """Shortened to `~` in places; empty: shown whole."""
    verbose: bool = False
    piped: bool = False
    """Nobody looks: a program reads on, and a diff has to be one that `patch` takes."""

    def text(self, value: Any) -> str:
        """A foreign value on one line, safe to show."""
        return display("" if value is None else str(value))

    def place(self, path: Any, line: Any = 0) -> str:
        """A file, with its line where there is one."""
        if not path:
            return ""
        shown = str(path)
        if self.home and (shown == self.home or shown.startswith(self.home + "/")):
            shown = "~" + shown[len(self.home) :]
        return display(f"{shown}:{line}" if line else shown)

    def bold(self, text: str) -> str:
        """A heading."""
        return self._sgr("1", text)

    def dim(self, text: str) -> str:
        """What may be passed over."""
        return self._sgr("2", text)

    def good(self, text: str) -> str:
        """Added, on, right."""
        return self._sgr("32", text)

    def bad(self, text: str) -> str:
        """Removed, refused, wrong."""
        return self._sgr("31", text)

    def mark(self, text: str) -> str:
        """To be looked at."""
        return self._sgr("33", text)

    def _sgr(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def table(rows: Iterable[Sequence[str]], indent: str = "  ") -> Iterator[str]:
    """Rows with aligned columns, those left out that are empty in every row. Cells hold no colour."""
    listed = list(rows)
    count = max((len(row) for row in listed), default=0)
    widths = [max((len(row[i]) for row in listed if i < len(row)), default=0) for i in range(count)]
    for row in listed:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False) if width)
        yield (indent + "  ".join(cells)).rstrip()


def section(title: str, lines: Iterable[str], style: Style) -> Iterator[str]:
    """A heading and its lines; nothing where there are none."""
    listed = list(lines)
    if listed:
        yield style.bold(title)
        yield from listed


def bullets(items: Iterable[Any], style: Style, indent: str = "  ") -> Iterator[str]:
    """One item a line."""
    for item in items:
        yield f"{indent}- {style.text(item)}"


def tool_rows(tools: Iterable[Data], style: Style) -> Iterator[tuple[str, ...]]:
    """Tools of a surface: id, who brings it, how sure it is, and the line that decides it."""
    for tool in tools:
        provider = style.text(tool.get("provider"))
        registration = style.text(tool.get("registration"))
        by = provider if registration in ("", provider) else f"{provider} ({registration})"
        how = [word for word in (tool.get("state"), tool.get("strength")) if word and word != "offered"]
        note = style.text(tool.get("note"))
        place = style.place(tool.get("path"), tool.get("line")) or "built in"
        yield (style.text(tool.get("tool")), by, style.text(", ".join(how)), place + (f"  ({note})" if note else ""))


def surface_lines(surface: Data, style: Style, indent: str = "  ") -> Iterator[str]:
    """Per capability the tools the model would be offered."""
    for capability, tools in surface.items():
        yield f"{indent}{style.text(capability)}"
        if tools:
            yield from table(tool_rows(tools, style), indent + "  ")
        else:
            yield f"{indent}  none"


def leftover_text(one: Data, style: Style) -> str:
    """An entry of ours that is not as it was written: its place and what is the matter."""
    at = ".".join(style.text(key) for key in one.get("at", ()))
    return f"{style.place(one.get('path'), one.get('line'))} {at}".strip() + f": {style.text(one.get('reason'))}"


def conflict_lines(conflict: Data, style: Style, indent: str = "  ") -> Iterator[str]:
    """One finding: kind and sentence, its place, the line there, what each tier would do, the way out."""
    yield f"{indent}{style.mark(style.text(conflict.get('kind')))}: {style.text(conflict.get('text'))}"
    if conflict.get("path"):
        layer = style.text(conflict.get("layer"))
        yield f"{indent}  at {style.place(conflict['path'], conflict.get('line'))}" + (f" ({layer})" if layer else "")
    for line in str(conflict.get("excerpt") or "").splitlines():
        yield f"{indent}  | {style.text(line)}"
    tiers = conflict.get("tiers") or {}
    yield from table(((style.text(tier), style.text(text)) for tier, text in tiers.items()), indent + "  ")
    if conflict.get("fix"):
        yield f"{indent}  fix: {style.text(conflict['fix'])}"


def diff_lines(diff: str, style: Style, indent: str = "  ") -> Iterator[str]:
    """A unified diff, each line made safe. A carriage return at its end is kept for `patch`, not for people."""
    for number, raw in enumerate(diff.split("\n")[: -1 if diff.endswith("\n") else None]):
        if style.piped:
            start = raw[:2] if raw[1:2] == "\ufeff" else ""  # of a file that begins with one
            end = "\r" if raw.endswith("\r") else ""
            yield start + "\t".join(map(style.text, raw[len(start) :].removesuffix("\r").split("\t"))) + end
            continue
        # A tab moves the cursor and nothing else; its picture would make indented text hard to read.
        shown = indent + "\t".join(map(style.text, raw.removesuffix("\r").split("\t")))
        if number < 2 and raw.startswith(("--- ", "+++ ")):
            yield style.bold(shown)
        elif raw.startswith("+"):
            yield style.good(shown)
        elif raw.startswith("-"):
            yield style.bad(shown)
        elif raw.startswith("@@"):
            yield style.dim(shown)
        else:
            yield shown.rstrip()
