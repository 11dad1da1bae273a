"""Two disks for a purpose: one that must not be written, and one that fails where it is told to."""

from __future__ import annotations

import errno
import os

from hostconf.system.real import RealSystem

CHANGING = frozenset(
    {
        "open_new",
        "write",
        "copy_metadata",
        "set_mode",
        "sync",
        "make_folder",
        "remove_folder",
        "sync_folder",
        "remove",
        "link",
        "replace",
        "rename_new",
        "exchange",
    }
)
"""The calls that change the disk: those that a read-only run refuses."""


class ReadOnlySystem(RealSystem):
    """The disk for commands that only look: a call that would change it is a fault of the program."""

    def before(self, call: str, *paths: str) -> None:
        """Raises RuntimeError for every call in CHANGING; nothing was written."""
        if call in CHANGING:
            raise RuntimeError(f"`{call}` in a command that only reads")


class FailingSystem(RealSystem):
    """The disk with one fault, for the sweeps: at its `at`-th call (1 is the first) an errno, or the end.

    Without `error` the process ends there as by a kill, before the call. `calls` is
    what was called so far; with `at` 0 nothing fails, and the list is the plan of a sweep.
    """

    def __init__(self, at: int = 0, error: int | None = None, *, for_ever: bool = False) -> None:
        self.at, self.error, self.for_ever = at, error, for_ever
        self.calls: list[tuple[str, ...]] = []

    def before(self, call: str, *paths: str) -> None:
        """Counts; at the chosen call raises OSError, or kills this process."""
        self.calls.append((call, *paths))
        count = len(self.calls)
        if not self.at or count < self.at or (count > self.at and not self.for_ever):
            return
        if self.error is None:
            import signal

            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(self.error or errno.EIO, os.strerror(self.error or errno.EIO), paths[0])
