"""The first picture, drawn before Textual is loaded: the frame of the first screen, so that nothing jumps later."""

from __future__ import annotations

import os
import sys

from hostconf.tui.actions import ACTIONS, key_name
from hostconf.tui.places import FIRST_QUESTION, READING, STEPS

_KEYS = ("next", "choose", "choose_all", "installed", "filter", "help", "quit")


def show_splash(*, dry_run: bool, demo: bool, colour: bool) -> None:
    """Enter the alternate screen and draw the frame; nothing where there is no terminal."""
    stream = sys.__stderr__
    if stream is None or not stream.isatty():
        return
    try:
        width, height = os.get_terminal_size(stream.fileno())
    except OSError:
        return
    # Textual enters the alternate screen itself; entering it twice is entering it once
    stream.write("\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J" + picture(width, height, dry_run, demo, colour))
    stream.flush()


def leave_splash() -> None:
    """Out of the alternate screen, the cursor shown; nothing where there is no terminal."""
    stream = sys.__stderr__
    if stream is not None and stream.isatty():
        stream.write("\x1b[?1049l\x1b[?25h")
        stream.flush()


def picture(width: int, height: int, dry_run: bool, demo: bool, colour: bool) -> str:
    """The frame for a terminal of this size."""
    steps = " › ".join(label for _, label in STEPS)
    badges = "".join(f"  {word} " for word, on in (("DEMO", demo), ("DRY RUN", dry_run)) if on)[:width]
    keys = " ".join(f"{key_name(ACTIONS[i].keys.split(',')[0])} {ACTIONS[i].label}" for i in _KEYS)
    bold, plain = ("\x1b[1m", "\x1b[0m") if colour else ("", "")
    head = f" hostconf {steps}"[: width - len(badges)]
    room = max(0, width - len(head) - len(badges))
    rows = {1: f"{bold}{head}{plain}{' ' * room}{badges}", 2: f" {FIRST_QUESTION}"[:width], 5: f" {READING} …"[:width]}
    rows[height] = keys[:width]
    return "".join(f"\x1b[{row};1H{text}" for row, text in rows.items() if row <= height)
