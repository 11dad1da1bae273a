"""The first picture, drawn before Textual is loaded: a person sees at once that something comes."""

from __future__ import annotations

import os
import sys


def show_splash(*, dry_run: bool, demo: bool, colour: bool) -> None:
    """Enter the alternate screen and draw the head of the first screen; nothing where no terminal is."""
    stream = sys.__stderr__
    if stream is None or not stream.isatty():
        return
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        return
    badges = "".join(f"  {word}" for word, on in (("DRY RUN", dry_run), ("DEMO", demo)) if on)
    bold, plain = ("\x1b[1m", "\x1b[0m") if colour else ("", "")
    lines = (f" {bold}hostconf{plain}{badges}", "", " reading the hosts of this machine")
    shown = "\r\n".join(line[: width + 8] for line in lines)
    # Textual enters the alternate screen itself; entering it twice is entering it once
    stream.write(f"\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J{shown}")
    stream.flush()
