"""The journal of one unfinished operation. Its state is its file name, so that a step forward is one rename.

`journal.staging`: nothing of the user was touched. `journal.prepared`: every new text
is on the disk, and the operation can be finished or taken back. `journal.undo`: it is
being taken back. `journal.done`: only cleaning is left. It holds paths and hashes,
never contents, and is written once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from os.path import basename, dirname, isabs, join, normpath
from typing import Any, Literal, NamedTuple

from hostconf.errors import RecordUnreadable
from hostconf.system import System

FORMAT = 1
MAX_BYTES = 4 << 20
PROJECT_STATE = ".hostconf"

Stage = Literal["staging", "prepared", "undo", "done"]
STAGES: tuple[Stage, ...] = ("staging", "prepared", "undo", "done")

_HASH = re.compile(r"[0-9a-f]{64}")
_OPERATION = re.compile(r"[0-9a-f]{12,32}")


class Entry(NamedTuple):
    """One file of the operation."""

    path: str
    """As named to the user."""
    real: str
    temp: str
    """Where the new text is staged, and the old one lies after the swap."""
    before: str | None
    """SHA-256, None for absent."""
    after: str | None
    mode: int | None

    @property
    def spare(self) -> str:
        """A third name, used only where the file system cannot exchange two."""
        return self.temp + ".old"


class Journal(NamedTuple):
    """One operation."""

    operation: str
    purpose: Mapping[str, Any]
    """Who and what, for people."""
    locks: tuple[tuple[str, str], ...]
    """Path and id of every lock, the scope's first."""
    make: tuple[str, ...]
    """Folders that were not there, outermost first."""
    drop: tuple[str, ...]
    """Folders to be removed at the end if empty, innermost first."""
    files: tuple[Entry, ...]

    @property
    def folders(self) -> tuple[str, ...]:
        """Every folder in which a name changes, sorted."""
        return tuple(sorted({dirname(path) for entry in self.files for path in (entry.real, entry.temp)}))


def found(system: System, state: str) -> tuple[Stage, ...]:
    """The journals in the state folder, by stage: none, or one; more is a question for a person."""
    return tuple(stage for stage in STAGES if system.status(file(state, stage)) is not None)


def text(system: System, state: str) -> bytes:
    """The bytes of whatever journal is there, to tell one from the next; empty if there is none."""
    for stage in STAGES:
        try:
            return system.read_bytes(file(state, stage), MAX_BYTES)
        except OSError:
            continue
    return b""


def file(state: str, stage: Stage) -> str:
    """The path of the journal in that stage."""
    return join(state, f"journal.{stage}")


def write(system: System, state: str, journal: Journal) -> None:
    """Begin: `journal.staging` is on the disk. OSError: it may be there, with nothing done."""
    value = {"format": FORMAT, **journal._asdict(), "files": [entry._asdict() for entry in journal.files]}
    data = json.dumps(value, indent=1).encode() + b"\n"
    temp = join(state, f"journal.{journal.operation}.tmp")
    descriptor = system.open_new(temp, 0o600)
    try:
        try:
            system.write(descriptor, data, temp)
            system.sync(descriptor, temp)
        finally:
            system.close(descriptor)
        system.rename_new(temp, file(state, "staging"))
    except BaseException:
        _forget(system, temp)
        raise
    system.sync_folder(state)


def move(system: System, state: str, old: Stage, new: Stage) -> None:
    """The next stage, durable."""
    system.replace(file(state, old), file(state, new))
    system.sync_folder(state)


def remove(system: System, state: str, stage: Stage) -> None:
    """The end: there is no unfinished operation."""
    system.remove(file(state, stage))
    system.sync_folder(state)


def sweep(system: System, state: str) -> None:
    """Remove journals that a kill left before they were born. Only for who holds the scope's lock."""
    for name in system.names(state):
        if re.fullmatch(r"journal\.[0-9a-f]{12}\.tmp", name):
            _forget(system, join(state, name))


def _forget(system: System, path: str) -> None:
    try:
        system.remove(path)
    except OSError:
        pass


# ------------------------------------------------------------------ reading


def read(system: System, state: str, stage: Stage) -> Journal:
    """The journal of that stage.

    Raises:
        RecordUnreadable: it is corrupt, of a newer version, or not such as this user's hostconf writes:
            a journal that came with a checkout must not move files. Nothing was changed.
    """
    path = file(state, stage)
    status = system.status(path)
    place = system.status(state)
    if status is None or place is None:
        raise RecordUnreadable(f"the journal `{path}` is gone", path=path)
    mine = system.user()
    if status.kind != "file" or status.owner[0] != mine or place.owner[0] != mine:
        raise _unreadable(path, "it is not this user's file")
    if status.mode & 0o077 or place.mode & 0o022:
        raise _unreadable(path, "others may read or write it, which hostconf's own never allow")
    try:
        value = json.loads(system.read_bytes(path, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        raise _unreadable(path, "it is corrupt") from None
    if isinstance(value, dict) and value.get("format") != FORMAT:
        raise _unreadable(path, "it is of a format that this version does not know")
    try:
        journal = _journal(value)
    except (KeyError, TypeError, ValueError):
        raise _unreadable(path, "it is corrupt") from None
    outside = strays(state, journal)
    if outside:
        raise _unreadable(path, f"it names `{outside[0]}`, which is outside of the project")
    return journal


def strays(state: str, journal: Journal) -> tuple[str, ...]:
    """Paths that an operation of this state folder may not touch: a project's own stay in it, and out of `.git`."""
    if basename(state) != PROJECT_STATE:
        return ()
    root = dirname(state).rstrip("/") + "/"
    named = [*journal.make, *journal.drop, *(path for path, _ in journal.locks)]
    named += [path for entry in journal.files for path in (entry.real, entry.temp)]
    return tuple(path for path in named if not path.startswith(root) or ".git" in path[len(root) :].split("/"))


def _unreadable(path: str, why: str) -> RecordUnreadable:
    return RecordUnreadable(f"the journal `{path}` is not used: {why}", hint="see `hostconf recover`", path=path)


def _journal(value: dict[str, Any]) -> Journal:
    purpose = value["purpose"]
    if not isinstance(purpose, dict) or not _OPERATION.fullmatch(value["operation"]):
        raise ValueError
    return Journal(
        operation=value["operation"],
        purpose=purpose,
        locks=tuple((_path(path), str(lock_id)) for path, lock_id in value["locks"]),
        make=tuple(map(_path, value["make"])),
        drop=tuple(map(_path, value["drop"])),
        files=tuple(_entry(item, value["operation"]) for item in value["files"]),
    )


def _entry(item: dict[str, Any], operation: str) -> Entry:
    mode = item["mode"]
    entry = Entry(
        str(item["path"]),
        _path(item["real"]),
        _path(item["temp"]),
        _hash(item["before"]),
        _hash(item["after"]),
        mode if mode is None else int(mode) & 0o7777,
    )
    if f".hostconf-{operation}" not in basename(entry.temp):
        raise ValueError
    return entry


def _path(value: Any) -> str:
    if not isinstance(value, str) or not isabs(value) or normpath(value) != value:
        raise ValueError
    return value


def _hash(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and _HASH.fullmatch(value)):
        raise ValueError
    return value
