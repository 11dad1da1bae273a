"""Plans to be tried, the worlds that they are tried in, and what has to hold afterwards."""

from __future__ import annotations

import errno
import os
import pwd  # noqa: F401  loaded late by the program: an ordinary user may not reach the interpreter's own files
import signal
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hostconf.apply import carry_out
from hostconf.lock import lock_path
from hostconf.model import Change
from hostconf.recover import Decision
from hostconf.recovery import carry_out_recovery
from hostconf.system import (
    FailingSystem,
    RealSystem,
    System,
    kernel,  # noqa: F401  as above
)

PURPOSE = {"op": "apply", "scope": "user", "hosts": ["codex"], "tool": "hostconf 0", "started": "2026-01-01T00:00:00Z"}

Tree = dict[str, tuple[str, int, bytes]]


class File(NamedTuple):
    """One file of a plan, by its path in the world; None is absent."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int = 0o644
    above: bool = False
    """Whether its folder is loaded whole, so that lock and staged text stand in the one above."""


class World(NamedTuple):
    """A folder with the files of a plan as they are before it."""

    root: Path
    changes: tuple[Change, ...]

    @property
    def state(self) -> str:
        """The state folder of the scope."""
        return str(self.root / "state")

    @property
    def locks(self) -> tuple[str, ...]:
        """Where the locks of the files stand."""
        return tuple(lock_path(change.real, change.beside) for change in self.changes)


PLANS: dict[str, tuple[File, ...]] = {
    "edit": (File("home/.codex/config.toml", b"old\n", b"new\n", 0o640),),
    "create": (File("home/.new/deep/config.json", None, b"{}\n"),),
    "delete": (File("home/made/config.json", b"ours\n", None),),
    "three": (
        File("state/records/codex.json", None, b"record\n", 0o600),
        File("home/.codex/config.toml", b"old\n", b"new\n", 0o640),
        File("home/.cursor/rules/ours.mdc", b"ours\n", None, above=True),
    ),
    "back": (
        File("home/.codex/config.toml", b"new\n", b"old\n", 0o600),
        File("home/.claude/settings.json", b"ours\n", None),
        File("state/records/codex.json", b"record\n", None, 0o600),
    ),
}


def world(root: Path, plan: Sequence[File]) -> World:
    """Lay the files down."""
    (root / "home").mkdir(parents=True)
    (root / "home" / "bystander").write_bytes(b"not ours\n")
    changes = []
    for file in plan:
        path = root / file.path
        if file.before is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.before)
            path.chmod(file.mode)
        missing = [str(folder) for folder in reversed(path.parents) if not folder.exists()]
        beside = path.parent.parent if file.above else path.parent
        drop = (str(path.parent), str(path.parent.parent)) if file.after is None else ()
        mode = file.mode if file.before is None else None
        made = tuple(missing)
        changes.append(Change(str(path), str(path), file.before, file.after, mode, "config", str(beside), made, drop))
    return World(root, tuple(changes))


def apply(
    system: System, here: World, wait: float = 0, on_step: Callable[[str], None] | None = None
) -> tuple[str, ...]:
    """Carry the plan out."""
    return carry_out(here.changes, system=system, state=here.state, purpose=PURPOSE, wait_seconds=wait, on_step=on_step)


def recover(system: System, here: World, decision: Decision | None = None) -> tuple[str, ...]:
    """Bring it to an end."""
    return carry_out_recovery(system, [here.state], decision, purpose=PURPOSE, wait_seconds=0, locks=here.locks)


def fate(here: World) -> str:
    """`old` or `new` if all files are so; `mixed` if each is one of them; else what is torn."""
    fates = set()
    for change in here.changes:
        path = Path(change.real)
        now = path.read_bytes() if path.exists() else None
        if now not in (change.before, change.after):
            return f"torn: {change.path} holds {now!r}"
        fates.add("old" if now == change.before else "new")
    return fates.pop() if len(fates) == 1 else "mixed"


def tree(root: Path) -> Tree:
    """Everything below: kind, mode and content or link."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            entry = ("link", 0, os.fsencode(os.readlink(path)))
        elif path.is_file():
            entry = ("file", path.stat().st_mode & 0o7777, path.read_bytes())
        else:
            entry = ("folder", path.stat().st_mode & 0o7777, b"")
        found[str(path.relative_to(root))] = entry
    return found


def litter(here: World) -> list[str]:
    """What hostconf should not have left."""
    return [
        name
        for name in tree(here.root)
        if ".hostconf-" in name or ".hostconf.lock" in name or "journal" in os.path.basename(name)
    ]


def wanted(root: Path, plan: Sequence[File]) -> tuple[Tree, Tree]:
    """The tree before the plan, and the one after it, from a run without a fault."""
    here = world(root, plan)
    before = tree(here.root)
    apply(RealSystem(), here)
    assert fate(here) == "new"
    assert not litter(here)
    return before, tree(here.root)


def without_state(found: Tree) -> Tree:
    """A kill may leave the state folder, made but empty: no host looks there."""
    return {name: entry for name, entry in found.items() if name != "state"}


def in_child(work: Callable[[], object]) -> int:
    """Do it in a process of its own: 0, minus the signal that ended it, or 1 for an exception."""
    return os.waitstatus_to_exitcode(os.waitpid(start(work), 0)[1])


def start(work: Callable[[], object]) -> int:
    """A process of its own that does it; its id."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def killed_at(system: FailingSystem, work: Callable[[System], object]) -> bool:
    """Do it in a process of its own that is killed at the system's chosen call; False if it never came to that."""
    code = in_child(lambda: work(system))
    assert code in (0, -signal.SIGKILL), f"it neither ended well nor was killed: {code}"
    return code != 0


class PlainSystem(FailingSystem):
    """A file system that cannot exchange names, nor rename without replacing, as FUSE and NFS."""

    def exchange(self, path: str, other: str) -> None:
        """Not here."""
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)

    def rename_new(self, path: str, new: str) -> None:
        """By link and unlink."""
        self._rename_new_slowly(path, new)


class LinklessSystem(PlainSystem):
    """And without hard links, as exFAT."""

    def link(self, path: str, new: str) -> None:
        """Not here."""
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), path)
