"""The pictures of the README are what the wizard and the command line show today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "screenshots"


def test_the_pictures_are_fresh() -> None:
    done = subprocess.run([sys.executable, str(FOLDER / "make.py"), "--check"], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_the_check_names_what_is_stale(tmp_path: Path) -> None:
    """A drawing that differs, a painting of another drawing, one that is missing, one that nobody draws any more."""
    script = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import draw, make
folder = Path(sys.argv[2])
fresh = (make.HERE / "status.svg").read_text()
painted = (make.HERE / "status.png").read_bytes()
for name, text, data in (
    ("fresh", fresh, painted), ("drawn", fresh + " ", painted), ("painted", fresh + " ", painted), ("old", "x", b"x"),
):
    (folder / f"{name}.svg").write_text(text)
    (folder / f"{name}.png").write_bytes(data)
wanted = {"fresh": fresh, "drawn": fresh, "painted": fresh + " ", "missing": fresh}
print(*make.stale(folder, wanted))
"""
    done = subprocess.run([sys.executable, "-c", script, str(FOLDER), str(tmp_path)], capture_output=True, text=True)

    assert done.stdout.split() == ["drawn.svg", "painted.png", "missing.svg", "missing.png", "old.png", "old.svg"], (
        done.stderr
    )


def test_the_readme_shows_each_picture_once() -> None:
    shown = re.findall(r"\(screenshots/([\w-]+)\.(?:svg|png)\)", (ROOT / "README.md").read_text())

    assert len(shown) > 3
    assert sorted(shown) == sorted(path.stem for path in FOLDER.glob("*.svg"))


def test_no_picture_fetches_anything() -> None:
    """No font and no image of a foreign server."""
    for path in FOLDER.glob("*.svg"):
        addresses = set(re.findall(r"https?://[^\s\"'<)]+", re.sub(r"<text.*?</text>", "", path.read_text())))
        assert addresses == {"http://www.w3.org/2000/svg"}, path.name
