"""Lines of a terminal as SVG and as PNG, both from the same cells.

Lines and blocks are drawn as shapes, so that they join whatever the font is; letters are
set one by one into their cells. The SVG names fonts and fetches none. The PNG says in a
text chunk which SVG it belongs to, so that it can be checked without drawing it.
"""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from rich.segment import Segment
    from rich.terminal_theme import TerminalTheme

WIDE, HIGH, SIZE, BASE = 12, 24, 20, 18
"""A cell, the size of the letters, and how far down their base line is."""
EDGE = 14
"""Room around the screen."""
LINE = 2
"""How thick a light line is."""
FONTS = "'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,monospace"
FILES = {
    (False, False): ("JetBrainsMono-Regular.ttf", "DejaVuSansMono.ttf"),
    (True, False): ("JetBrainsMono-Bold.ttf", "DejaVuSansMono-Bold.ttf"),
    (False, True): ("JetBrainsMono-Italic.ttf", "DejaVuSansMono-Oblique.ttf"),
    (True, True): ("JetBrainsMono-BoldItalic.ttf", "DejaVuSansMono-BoldOblique.ttf"),
}
"""Bold and italic to the fonts that the PNG is drawn with: the second has what the first lacks."""
CHUNK = "svg-sha256"
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
ARMS = {
    "─": LEFT | RIGHT,
    "│": UP | DOWN,
    "┌": DOWN | RIGHT,
    "┐": DOWN | LEFT,
    "└": UP | RIGHT,
    "┘": UP | LEFT,
    "├": UP | DOWN | RIGHT,
    "┤": UP | DOWN | LEFT,
    "┬": DOWN | LEFT | RIGHT,
    "┴": UP | LEFT | RIGHT,
    "┼": UP | DOWN | LEFT | RIGHT,
    "╭": DOWN | RIGHT,
    "╮": DOWN | LEFT,
    "╰": UP | RIGHT,
    "╯": UP | LEFT,
    "━": LEFT | RIGHT,
    "┃": UP | DOWN,
}
HEAVY = "━┃"


class Look(NamedTuple):
    """How a cell is drawn."""

    ink: str
    ground: str
    bold: bool
    italic: bool
    under: bool
    struck: bool


class Cell(NamedTuple):
    """One letter and its place."""

    x: int
    y: int
    text: str
    wide: int
    look: Look


class Picture(NamedTuple):
    """A screen."""

    columns: int
    rows: int
    ground: str
    cells: Sequence[Cell]

    @property
    def size(self) -> tuple[int, int]:
        """Of the whole, with its edge."""
        return self.columns * WIDE + 2 * EDGE, self.rows * HIGH + 2 * EDGE


Box = tuple[int, int, int, int]


def picture(lines: Iterable[Sequence[Segment]], columns: int, ground: str, theme: TerminalTheme) -> Picture:
    """The lines of a terminal as cells."""
    from rich.cells import cell_len

    cells: list[Cell] = []
    y = 0
    for y, line in enumerate(lines):
        x = 0
        for text, style, _ in line:
            look = _look(style, ground, theme)
            for letter in text:
                wide = cell_len(letter)
                if wide:
                    cells.append(Cell(x, y, letter, wide, look))
                x += wide
    return Picture(columns, y + 1, ground, cells)


def _look(style: Any, ground: str, theme: TerminalTheme) -> Look:
    from rich.color import blend_rgb
    from rich.color_triplet import ColorTriplet
    from rich.style import Style

    style = style or Style()
    none = ColorTriplet(*bytes.fromhex(ground[1:]))
    ink = style.color.get_truecolor(theme) if style.color and not style.color.is_default else theme.foreground_color
    back = style.bgcolor.get_truecolor(theme) if style.bgcolor and not style.bgcolor.is_default else none
    if style.reverse:
        ink, back = back, ink
    if style.dim:
        ink = blend_rgb(ink, back, 0.4)
    flags = (style.bold, style.italic, style.underline, style.strike)
    return Look(ink.hex, back.hex, *map(bool, flags))


def shapes(cell: Cell) -> list[Box] | None:
    """The boxes of a line or block, in pixels from the corner of its cell; None for a letter."""
    sign = cell.text
    number = ord(sign)
    if 0x2581 <= number <= 0x2588:  # from below
        return [(0, HIGH - HIGH * (number - 0x2580) // 8, WIDE, HIGH)]
    if 0x2589 <= number <= 0x258F:  # from the left
        return [(0, 0, round(WIDE * (0x2590 - number) / 8), HIGH)]
    blocks = {
        "▀": (0, 0, WIDE, HIGH // 2),
        "▔": (0, 0, WIDE, HIGH // 8),
        "▐": (WIDE // 2, 0, WIDE, HIGH),
        "▕": (WIDE - 2, 0, WIDE, HIGH),
    }
    if sign in blocks:
        return [blocks[sign]]
    if sign not in ARMS:
        return None
    arms, thick = ARMS[sign], LINE * 2 if sign in HEAVY else LINE
    left, top = (WIDE - thick) // 2, (HIGH - thick) // 2
    right, bottom = left + thick, top + thick
    found = []
    if arms & (LEFT | RIGHT):
        found.append((0 if arms & LEFT else left, top, WIDE if arms & RIGHT else right, bottom))
    if arms & (UP | DOWN):
        found.append((left, 0 if arms & UP else top, right, HIGH if arms & DOWN else bottom))
    return found


def _runs(cells: Iterable[Cell], key: Any) -> Iterator[list[Cell]]:
    """Neighbours on one line that look the same."""
    for _, same in groupby(enumerate(cells), lambda one: (one[1].y, key(one[1]))):
        yield [cell for _, cell in same]


def _corner(cell: Cell) -> tuple[int, int]:
    return EDGE + cell.x * WIDE, EDGE + cell.y * HIGH


# ------------------------------------------------------------------ SVG


def svg(shown: Picture) -> str:
    """The picture as SVG."""
    width, height = shown.size
    classes: dict[Look, str] = {}
    rows = [f'<rect width="{width}" height="{height}" rx="8" fill="{shown.ground}"/>']
    for run in _runs(shown.cells, lambda c: c.look.ground):
        if run[0].look.ground != shown.ground:
            x, y = _corner(run[0])
            wide = sum(c.wide for c in run) * WIDE
            rows.append(f'<rect x="{x}" y="{y}" width="{wide}" height="{HIGH}" fill="{run[0].look.ground}"/>')
    for run in _runs(shown.cells, lambda c: (c.look, c.text if shapes(c) is not None else "")):
        boxes = shapes(run[0])
        if boxes is not None:
            rows += _drawn(run, boxes)
        elif run[0].look.under or run[0].look.struck or not all(c.text.isspace() for c in run):
            rows.append(_written(run, classes))
    styles = "".join(f".{name}{{{_css(look)}}}" for look, name in classes.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f"<style>text{{font:{SIZE}px {FONTS};font-variant-ligatures:none;white-space:pre}}\n"
        "rect{shape-rendering:crispEdges}\n" + styles + "</style>\n" + "\n".join(rows) + "\n</svg>\n"
    )


def _drawn(run: Sequence[Cell], boxes: Sequence[Box]) -> Iterator[str]:
    """A row of the same sign: one long box where it fills its cells from side to side, else one for each."""
    for x1, y1, x2, y2 in boxes:
        whole = (x1, x2) == (0, WIDE)
        for cell in run[:1] if whole else run:
            x, y = _corner(cell)
            wide = WIDE * len(run) if whole else x2 - x1
            yield f'<rect x="{x + x1}" y="{y + y1}" width="{wide}" height="{y2 - y1}" fill="{cell.look.ink}"/>'


def _written(run: Sequence[Cell], classes: dict[Look, str]) -> str:
    name = classes.setdefault(run[0].look._replace(ground=""), f"c{len(classes)}")
    if not run[0].look.under:
        while run[0].text.isspace():
            run = run[1:]
        while run[-1].text.isspace():
            run = run[:-1]
    x, y = _corner(run[0])
    text = escape("".join(c.text for c in run)).replace(" ", "\u00a0")
    return f'<text class="{name}" x="{x}" y="{y + BASE}" textLength="{sum(c.wide for c in run) * WIDE}">{text}</text>'


def _css(look: Look) -> str:
    lines = [word for word, on in (("underline", look.under), ("line-through", look.struck)) if on]
    rules = [f"fill:{look.ink}"]
    rules += ["font-weight:bold"] if look.bold else []
    rules += ["font-style:italic"] if look.italic else []
    rules += [f"text-decoration:{' '.join(lines)}"] if lines else []
    return ";".join(rules)


# ------------------------------------------------------------------ PNG


def png(shown: Picture, svg_text: str) -> bytes:
    """The picture as PNG; it says that it belongs to this SVG.

    Raises:
        ImportError: Pillow is not there.
        OSError: a font is not there.
    """
    from PIL import Image, ImageDraw
    from PIL.PngImagePlugin import PngInfo

    fonts = _Fonts()
    image = Image.new("RGB", shown.size, shown.ground)
    brush = ImageDraw.Draw(image)
    for cell in shown.cells:
        if cell.look.ground != shown.ground:
            x, y = _corner(cell)
            brush.rectangle((x, y, x + cell.wide * WIDE - 1, y + HIGH - 1), cell.look.ground)
    for cell in shown.cells:
        x, y = _corner(cell)
        boxes = shapes(cell)
        for x1, y1, x2, y2 in boxes or ():
            brush.rectangle((x + x1, y + y1, x + x2 - 1, y + y2 - 1), cell.look.ink)
        if boxes is None and not cell.text.isspace():
            brush.text((x, y + BASE), cell.text, cell.look.ink, fonts.of(cell), anchor="ls")
        for on, down in ((cell.look.under, BASE + 2), (cell.look.struck, BASE - 6)):
            if on:
                brush.rectangle((x, y + down, x + cell.wide * WIDE - 1, y + down), cell.look.ink)
    told = PngInfo()
    told.add_text(CHUNK, digest(svg_text))
    file = io.BytesIO()
    image.quantize(256, dither=Image.Dither.NONE).save(file, "PNG", optimize=True, pnginfo=told)
    return file.getvalue()


class _Fonts:
    """The fonts, with another one for what one lacks."""

    def __init__(self) -> None:
        from PIL import ImageFont

        basic = ImageFont.Layout.BASIC
        self._fonts = {
            key: [ImageFont.truetype(name, SIZE, layout_engine=basic) for name in names] for key, names in FILES.items()
        }

    def of(self, cell: Cell) -> Any:
        """The font that has this letter."""
        first, second = self._fonts[cell.look.bold, cell.look.italic]
        return second if bytes(first.getmask(cell.text)) == bytes(first.getmask("\uffff")) else first


def digest(text: str) -> str:
    """What the PNG says of its SVG."""
    return hashlib.sha256(text.encode()).hexdigest()


def belongs_to(data: bytes) -> str:
    """The digest of the SVG that a PNG says it belongs to; empty if it says nothing."""
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        name, _, text = data[at + 8 : at + 8 + length].partition(b"\0")
        if kind == b"tEXt" and name == CHUNK.encode():
            return text.decode("latin-1")
        at += 12 + length
    return ""
