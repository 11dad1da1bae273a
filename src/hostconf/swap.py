"""The steps on files that apply and recovery share: putting a text in place, taking it back, cleaning.

Nothing here trusts a look that lies behind. A text is exchanged for the one in place,
and what came out is compared with what should have: if it differs, somebody wrote in
between, and theirs is put back at once. After every step each file is whole.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Iterable
from hashlib import sha256
from os.path import basename, dirname, join

from hostconf import lock
from hostconf.errors import StalePlan
from hostconf.journal import Entry, Journal
from hostconf.lock import Held
from hostconf.recover import Seen
from hostconf.system import MAX_BYTES, System

MARK = ".hostconf-"
"""Behind it, in the name of a staged text, stand the operation and the number of the file."""
CONFLICT = ".hostconf-conflict-"
LATE = 0.004
"""Seconds after which an `open` that began before a swap has reached the file."""

_WRITER_WAIT = 0.2
_TURNS = 40
_BUSY = "busy"
_NO_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
_NO_LINK = _NO_EXCHANGE | {errno.EPERM, errno.EMLINK}
_STAYS = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}


def digest(system: System, path: str) -> str | None:
    """SHA-256 of the regular file; None where nothing is, empty for anything else."""
    status = system.status(path)
    if status is None:
        return None
    if status.kind != "file" or status.size > MAX_BYTES:
        return ""
    try:
        return sha256(system.read_bytes(path, MAX_BYTES + 1)).hexdigest()
    except FileNotFoundError:
        return None


def look(system: System, entry: Entry) -> Seen:
    """The file as it is, and which texts lie beside it."""
    beside = {digest(system, entry.temp), digest(system, entry.spare)} - {None}
    now = digest(system, entry.real)
    return Seen(entry.path, entry.before, entry.after, now, entry.after in beside, entry.before in beside)


def put_new(system: System, entry: Entry) -> None:
    """From old to new, as `_put` does it."""
    _put(system, entry, entry.before, entry.after)


def put_old(system: System, entry: Entry) -> None:
    """From new to old, as `_put` does it."""
    _put(system, entry, entry.after, entry.before)


def _put(system: System, entry: Entry, have: str | None, want: str | None) -> None:
    """Let `want`, which lies at `temp`, take the place of `have`.

    Raises:
        StalePlan: the file is not `have`, or is being written. It holds the newest foreign text.
        OSError: the file is `have` or `want`, whole.
    """
    settle(system, entry)
    if have is None:
        try:
            system.rename_new(entry.temp, entry.real)
        except FileExistsError:
            raise _stale(entry) from None
        return
    if digest(system, entry.real) != have:
        raise _stale(entry)
    _wait_for_writer(system, entry)
    if want is None:
        _move_out(system, entry, have)
        return
    _swap(system, entry, have)
    # What came out must be what was read. If it is not, it goes back in, and what comes out then must be ours;
    # and so on, until nobody wrote in between: the newest foreign text ends in place.
    expected, placed = have, want
    for _ in range(_TURNS):
        out = _came_out(system, entry.temp)
        if out == expected:
            break
        _swap(system, entry, placed)
        expected, placed = placed, out
    if placed != want:
        raise _stale(entry)


def _move_out(system: System, entry: Entry, have: str) -> None:
    system.rename_new(entry.real, entry.temp)
    if _came_out(system, entry.temp) == have:
        return
    try:
        system.rename_new(entry.temp, entry.real)
    except FileExistsError:
        pass  # a newer one is in place already; this one is kept aside by `clean`
    raise _stale(entry)


def _came_out(system: System, path: str) -> str:
    out = digest(system, path)
    if not out:
        return ""
    return _BUSY if system.being_written(path) else out


def _swap(system: System, entry: Entry, have: str) -> None:
    try:
        system.exchange(entry.temp, entry.real)
        return
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
    # No exchange here (FUSE, NFS, old kernels): the old one gets a second name, for some microseconds unguarded.
    try:
        system.link(entry.real, entry.spare)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        _copy(system, entry)
    if digest(system, entry.spare) != have and have != _BUSY:
        system.remove(entry.spare)
        raise _stale(entry)
    # A power cut may keep a later rename and forget an earlier one: each is made durable first.
    system.sync_folder(dirname(entry.spare))
    system.replace(entry.temp, entry.real)
    system.sync_folder(dirname(entry.real))
    system.replace(entry.spare, entry.temp)


def _copy(system: System, entry: Entry) -> None:
    stage(system, entry.spare, system.read_bytes(entry.real), like=entry.real, mode=None)


def stage(system: System, path: str, data: bytes, *, like: str | None, mode: int | None) -> None:
    """A new file with these bytes, durable and read back; metadata of `like`, or else `mode`.

    Raises:
        OSError: also where the bytes read back differ. There may be a part of it.
    """
    descriptor = system.open_new(path, 0o600)
    try:
        if like is not None:
            system.copy_metadata(descriptor, like, path)
        else:
            system.set_mode(descriptor, 0o600 if mode is None else mode, path)
        system.write(descriptor, data, path)
        system.sync(descriptor, path)
    finally:
        system.close(descriptor)
    # Through a descriptor of its own: some file systems say yes to everything.
    if system.read_bytes(path, len(data) + 1) != data:
        raise OSError(errno.EIO, "the bytes read back differ from those written", path)


def settle(system: System, entry: Entry) -> None:
    """Tidy up where a kill fell into a step by links: no `spare` is left, and `temp` holds nothing that is in place."""
    temp = digest(system, entry.temp)
    if temp and temp == digest(system, entry.real):
        system.remove(entry.temp)
        temp = None
    if system.status(entry.spare) is None:
        return
    if temp is None:
        system.replace(entry.spare, entry.temp)
    else:
        system.remove(entry.spare)


def _wait_for_writer(system: System, entry: Entry) -> None:
    until = time.monotonic() + _WRITER_WAIT
    try:
        while system.being_written(entry.real):
            if time.monotonic() > until:
                raise StalePlan(
                    f"`{entry.path}` is open for writing by another program",
                    hint="close that program, or try again",
                    path=entry.path,
                )
            time.sleep(0.01)
    except FileNotFoundError:
        raise _stale(entry) from None


def _stale(entry: Entry) -> StalePlan:
    return StalePlan(f"`{entry.path}` was changed by somebody else meanwhile", hint="make a new plan", path=entry.path)


# ------------------------------------------------------------------ afterwards


def sync_folders(system: System, journal: Journal) -> None:
    """Every name that the operation changed is on the disk; folders that are not there are passed over."""
    for folder in journal.folders:
        try:
            system.sync_folder(folder)
        except FileNotFoundError:
            continue


def clean(system: System, journal: Journal, *, ours: bool = False) -> tuple[str, ...]:
    """Remove what lies beside the files. What is neither the old nor the new text is kept, and told.

    Somebody who had the old file open before the swap may have written into it since.
    With `ours` nothing was swapped yet, and whatever lies there is a part of a new text.
    """
    kept: list[str] = []
    for entry in journal.files:
        settle(system, entry)
        now = digest(system, entry.temp)
        if now is None:
            continue
        if ours or (now in (entry.before, entry.after) and not _still_written(system, entry.temp)):
            system.remove(entry.temp)
        else:
            kept.append(set_aside(system, entry))
    sync_folders(system, journal)
    return tuple(kept)


def _still_written(system: System, path: str) -> bool:
    until = time.monotonic() + _WRITER_WAIT
    while system.being_written(path):
        if time.monotonic() > until:
            return True
        time.sleep(0.01)
    return False


def set_aside(system: System, entry: Entry) -> str:
    """Keep what lies at `temp` under a name that says so; gives the sentence to tell."""
    name = basename(entry.real) + CONFLICT + basename(entry.temp).rpartition(MARK)[2]
    new = join(dirname(entry.temp), name)
    system.rename_new(entry.temp, new)
    status = system.status(new)
    if status is not None and status.kind == "file":
        descriptor = system.open_old(new)
        try:
            system.set_mode(descriptor, 0o600, new)
        finally:
            system.close(descriptor)
    return f"somebody wrote into `{entry.path}` while it was replaced; their text is kept in `{new}`"


def give_back(system: System, held: Held) -> None:
    """Release the lock; OSError if it stays."""
    if not lock.release(system, held):
        raise OSError(errno.EIO, "the lock cannot be removed", held.path)


def remove_folders(system: System, folders: Iterable[str]) -> None:
    """Remove those that are empty, innermost first. OSError if an empty one stays."""
    removed: list[str] = []
    for folder in sorted(folders, key=len, reverse=True):
        try:
            system.remove_folder(folder)
            removed.append(folder)
        except OSError as error:
            if error.errno not in _STAYS:
                raise
    for parent in sorted({dirname(folder) for folder in removed} - set(removed)):
        system.sync_folder(parent)


def make_folder(system: System, folder: str, mode: int) -> bool:
    """Make it, durable; False if it is there already."""
    try:
        system.make_folder(folder, mode)
    except FileExistsError:
        return False
    system.sync_folder(dirname(folder))
    return True
