"""Foreign text made fit to be shown: control characters visible, secrets masked, changes as a diff.

Pure. `display` is here, for everything needs it; the rest is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hostconf.display.diff import Diff, mask_diff, mask_lines, mask_text
    from hostconf.display.secrets import MASK, is_reference, mask_command, mask_url, mask_value

__all__ = [
    "MASK", "Diff", "display", "is_reference", "mask_command", "mask_diff", "mask_lines", "mask_text", "mask_url",
    "mask_value",
]  # fmt: skip

LIMIT = 4096
"""Characters of one text that are shown."""


def display(text: str, limit: int = LIMIT) -> str:
    """A foreign text as one that no terminal obeys, at most `limit` characters long.

    C0 becomes its picture (`␛`), DEL `␡`; every other control, format, surrogate,
    private or unassigned character and every line separator becomes `<U+202E>`.
    What can be printed stays, in every script. What is cut ends with `…`.
    """
    if text.isprintable() and len(text) <= limit:
        return text
    import unicodedata

    shown: list[str] = []
    room = limit
    for char in text:
        code = ord(char)
        if code < 0x20:
            char = chr(0x2400 + code)
        elif code == 0x7F:
            char = "\u2421"
        elif code > 0x7F and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            char = f"<U+{code:04X}>"
        shown.append(char)
        room -= len(char)
        if room < 0:
            break
    if room >= 0:
        return "".join(shown)
    while shown and room < 1:
        room += len(shown.pop())
    return "".join(shown) + "…" if limit > 0 else ""


def __getattr__(name: str) -> Any:
    if name in ("Diff", "mask_diff", "mask_lines", "mask_text"):
        from hostconf.display import diff as module
    elif name in ("MASK", "is_reference", "mask_command", "mask_url", "mask_value"):
        from hostconf.display import secrets as module  # type: ignore[no-redef]
    else:
        raise AttributeError(name)
    return getattr(module, name)
