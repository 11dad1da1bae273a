"""Two themes, and which one fits the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="hostconf-dark",
    dark=True,
    primary="#7aa2f7",
    secondary="#7dcfff",
    accent="#e0af68",
    foreground="#d5d9e8",
    background="#14161f",
    surface="#1a1d29",
    panel="#252a3b",
    success="#9ece6a",
    warning="#e0af68",
    error="#f7768e",
    variables={
        "footer-key-foreground": "#e0af68",
        "border": "#3b4261",
        "border-blurred": "#2b3045",
        "text-muted": "#969cb3",  # the framework's own is an `auto`, which comes out white in a Content
        "text-disabled": "#646b85",
        "scrollbar-background": "#1f2332",
    },
)
LIGHT = Theme(
    name="hostconf-light",
    dark=False,
    primary="#2757b8",
    secondary="#00647d",
    accent="#8a5a00",
    foreground="#1e2230",
    background="#fbfaf7",
    surface="#f2f0ea",
    panel="#e2dfd6",
    success="#356b12",
    warning="#8a5a00",
    error="#b3243f",
    variables={
        "footer-key-foreground": "#8a5a00",
        "border": "#b9b4a5",
        "border-blurred": "#d3cfc3",
        "text-muted": "#585d6b",
        "text-disabled": "#8d897d",
    },
)


def fitting(variables: Mapping[str, str]) -> str:
    """The theme for this terminal: light where COLORFGBG says that its background is light."""
    background = variables.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in ("7", "15") else DARK.name
