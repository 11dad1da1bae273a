"""What would fail later is told now, while nothing is touched. Reads, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import dirname, join

from hostconf.errors import HostconfError, Refused, StalePlan, UnreadableFile, WriteFailed
from hostconf.model import Change, FileState
from hostconf.system import System


def check_meaning(changes: Sequence[Change]) -> None:
    """New bytes mean what the plan says, by a reader that had no part in writing them."""
    for change in changes:
        if not change.format or change.after is None:
            continue
        try:
            from hostconf.formats.second import read_second, same_meaning  # costs three libraries

            agreed = same_meaning(read_second(change.format, change.after), change.expect)
            why = "means something else to the second reader"
        except (HostconfError, ImportError, ValueError, RecursionError) as error:
            agreed = False
            why = f"cannot be read by the second reader: {error}"
        if not agreed:
            raise WriteFailed(
                f"the new text of `{change.path}` {why}; nothing was written",
                code="readers-disagree",
                hint="this is a fault of hostconf: please report it with the file, secrets taken out",
                path=change.path,
            )


def check_places(system: System, state: str, changes: Sequence[Change]) -> None:
    """What would fail later is told now, while nothing is touched."""
    mounts = system.mount_points()
    seen: dict[object, str] = {}
    for change in changes:
        found = _check_file(system, change)
        if change.real in mounts:
            raise _refused(change, "mounted", "is a mount of its own, as in a container, and cannot be replaced whole")
        for key in (change.real, found.identity):
            if key is not None and seen.setdefault(key, change.path) != change.path:
                raise _refused(change, "same-file", f"and `{seen[key]}` are one file")
        here = system.status(change.beside)
        if not (found.writable and system.may_make(join(change.beside, "x"))):
            raise _not_writable(change.path)
        there = system.status(dirname(change.real))
        if here and there and here.identity[0] != there.identity[0]:
            raise _refused(change, "mounted", f"is on another file system than `{change.beside}`")
    if not system.may_make(join(state, "x")):
        raise _not_writable(state)


def _check_file(system: System, change: Change) -> FileState:
    found = system.read(change.real)
    if found.kind not in ("file", "absent"):
        raise UnreadableFile(f"`{change.path}` {_why(found)}", path=change.path)
    if found.real != change.real or system.resolve(change.path).real != change.real:
        raise StalePlan(f"`{change.path}` leads elsewhere than when the plan was made", path=change.path)
    compare(change, found)
    status = system.status(change.real)
    if status is not None and status.links > 1:
        raise _refused(change, "hard-linked", f"has {status.links} names (hard links): replacing one would part them")
    mine = system.user()
    if status is not None and mine != 0 and status.owner[0] != mine:
        raise WriteFailed(
            f"`{change.path}` belongs to another user, and would belong to you afterwards",
            code="not-writable",
            hint="give it to the user who runs hostconf",
            path=change.path,
        )
    return found


def compare(change: Change, found: FileState) -> None:
    """Whether the file is still as the plan saw it. Raises StalePlan; nothing was written."""
    if found.kind not in ("file", "absent") or found.data != change.before:
        raise StalePlan(
            f"`{change.path}` is not as it was when the plan was made", hint="make a new plan", path=change.path
        )


def _why(found: FileState) -> str:
    if found.kind == "dangling":
        return f"is a link that leads to `{found.problem}`, where nothing is"
    return found.problem if found.kind in ("folder", "special") else f"cannot be read: {found.problem}"


def _refused(change: Change, code: str, why: str) -> Refused:
    return Refused(f"`{change.path}` {why}", code=code, path=change.path)


def _not_writable(path: str) -> WriteFailed:
    return WriteFailed(
        f"`{path}` cannot be written by this user; nothing was written",
        code="not-writable",
        hint="look at the permissions of the file and of its folder",
        path=path,
    )
