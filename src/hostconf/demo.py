"""A throwaway home with sample hosts and conflicts: made, handed out, removed.

The sample files lie in `demo/`. Nothing is read from the user's own home and nothing
is written outside the folder that was made here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from hostconf.environment import SYSTEM_ROOT, read_environment
from hostconf.model import Environment

PROJECT = "site"
"""The sample project, a folder of the sample home."""
KEPT = frozenset({"PATH", "LANG", "TERM", "COLORTERM", "NO_COLOR", "TMPDIR"})
"""The user's variables that the demo sees, with every `LC_*`; any other may be a secret or move a file."""
PLACEHOLDER = "demo-not-a-real-key"
SET = ("DEEPSEEK_API_KEY", "EXA_API_KEY", "FIRECRAWL_API_KEY", "GITHUB_TOKEN")
"""Variables that the demo sets: what the sample files count on, but for the one that is meant to be missing."""


def demo_folder() -> str:
    """The folder with the sample files: in the installed package, else in the checkout beside `src/`."""
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(here, "_data", "demo")
    if os.path.isdir(installed):
        return installed
    return os.path.normpath(os.path.join(here, "..", "..", "demo"))


@contextmanager
def demo_home(variables: Mapping[str, str]) -> Iterator[Environment]:
    """A fresh sample home, which only this user can read; gone when the block is left, however it is left.

    Args:
        variables: the user's own; of them only `KEPT` comes through.
    """
    folder = os.path.realpath(tempfile.mkdtemp(prefix="hostconf-demo-"))
    made = _identity(folder)
    try:
        yield _fill(folder, variables)
    finally:
        # Another folder may have come to this name by now: that one is not ours to remove.
        if _identity(folder) == made:
            shutil.rmtree(folder, ignore_errors=True)


def _fill(folder: str, variables: Mapping[str, str]) -> Environment:
    home = os.path.join(folder, "home")
    project = os.path.join(home, PROJECT)
    _copy(os.path.join(demo_folder(), "home"), home)
    os.mkdir(os.path.join(project, ".git"))
    given = {name: value for name, value in variables.items() if name in KEPT or name.startswith("LC_")}
    given |= dict.fromkeys(SET, PLACEHOLDER)
    # Managed layers of this machine would make another demo of it.
    given |= {"HOME": home, SYSTEM_ROOT.name: os.path.join(folder, "system")}
    return read_environment(home=home, project=project, cwd=project, variables=given)


def _copy(source: str, target: str) -> None:
    """Bytes and names, but no modes: an installed package may be read-only, its copy may not."""
    os.mkdir(target)
    with os.scandir(source) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            path = os.path.join(target, entry.name)
            if entry.is_dir():
                _copy(entry.path, path)
            else:
                shutil.copyfile(entry.path, path)
                os.chmod(path, 0o600)


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        state = os.lstat(folder)
    except OSError:
        return None
    return state.st_dev, state.st_ino
