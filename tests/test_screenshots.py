"""The pictures of the README are what the command line prints today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_pictures_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "screenshots" / "make.py"), "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_readme_shows_each_picture_that_is_there() -> None:
    shown = (ROOT / "README.md").read_text()

    pictures = sorted(path.name for path in (ROOT / "screenshots").glob("*.svg"))
    assert pictures
    assert [name for name in pictures if f"screenshots/{name}" not in shown] == []
