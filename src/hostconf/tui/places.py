"""The places of the wizard and the way through them. Loads nothing: the first picture is drawn from it."""

from __future__ import annotations

from collections.abc import Mapping

STEPS = (
    ("hosts", "Hosts"),
    ("conflicts", "Conflicts"),
    ("choice", "Choice"),
    ("preview", "Preview"),
    ("apply", "Apply"),
)
"""The way from what is here to what is written: place and its name in the bar."""

PLACES: Mapping[str, tuple[str, str]] = {
    "hosts": ("hosts", "Hosts"),
    "conflicts": ("conflicts", "Conflicts"),
    "choice": ("choice", "Choice"),
    "preview": ("preview", "Preview"),
    "apply": ("apply", "Apply"),
    "installed": ("installed", "Installed"),
    "recovery": ("recovery", "Recovery"),
}
"""Name of a place to module and class; loaded when one goes there."""

FIRST_QUESTION = "Which hosts are here, and which tool does the model get on each?"
READING = "reading the files of the hosts"
