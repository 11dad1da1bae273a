"""A report of a fault of our own, in the folder for temporary files: the user's home is left alone."""

from __future__ import annotations

import os
import tempfile


def write_report(text: str) -> str:
    """Write it to a fresh file that only this user can read; gives the path, or nothing where that fails."""
    try:
        handle, path = tempfile.mkstemp(prefix="hostconf-report-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return ""
    return path
