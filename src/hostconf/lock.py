"""The operation lock: a folder beside the file it guards, born complete, held by the kernel's flock.

`<name>.hostconf.lock/owner.json` tells who holds it; the flock on that file tells
whether they live. A lock is taken away without a person on one proof alone: on a file
system of this kernel, the kernel says that nobody holds it. Age and process id are
never proof. What is not understood is UNKNOWN, and left alone.

Helpers of a lock stand beside it while it is born (`.<id>.tmp`) and while it goes
(`.<id>.gone`); a kill may leave one, and the next who wants the lock sweeps it.
"""

from __future__ import annotations

import errno
import json
import re
import time
from collections.abc import Callable, Mapping
from os.path import basename, dirname, join
from typing import Any, Literal, NamedTuple

from hostconf.errors import Locked
from hostconf.system import System

FORMAT = 1
SUFFIX = ".hostconf.lock"
OWNER = "owner.json"
MAX_OWNER = 64 * 1024

_ID = re.compile(r"[0-9a-f]{32}")
_PAUSE = 0.05
_TRIES = 50
# A rename that meets something: ENOTEMPTY where that is a folder.
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY}
# What may stand in a lock. No arguments, no variables: they hold secrets.
PURPOSE = ("op", "plan", "scope", "integration", "hosts", "tool", "started")

Kind = Literal["FREE", "LIVE", "DEAD", "UNKNOWN"]


class Verdict(NamedTuple):
    """What is known of one lock."""

    path: str
    kind: Kind
    reason: str = ""
    """Why, in words."""
    lock_id: str = ""
    """What a person is shown and has to type before an UNKNOWN one is removed."""
    owner: Mapping[str, Any] = {}
    """What `owner.json` says, as far as it is text or numbers of a sane size."""
    evidence: tuple[str, ...] = ()
    """Lines for people; no decision reads them."""

    @property
    def holder(self) -> str:
        """Who, in one phrase."""
        who = self.owner
        if "pid" not in who:
            return "somebody unknown"
        words = f"{who.get('tool', 'hostconf')} {who.get('op', '')}, {who.get('user')}@{who.get('host')}"
        return _shown(f"pid {who['pid']} ({words})")

    @property
    def since(self) -> str:
        """When it was taken, by the holder's clock; empty if it does not say."""
        return _shown(str(self.owner.get("started", "")))


def _shown(text: str) -> str:
    """Text of somebody's file, fit for a message: no control characters, no direction marks."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:200])


class Held(NamedTuple):
    """A lock that this process holds, by its open descriptor."""

    path: str
    lock_id: str
    descriptor: int
    identity: tuple[int, int]
    corpse: bool = False
    """Whether it is a dead one's, taken over."""


def lock_path(real: str, beside: str) -> str:
    """Where the lock of the file `real` stands, given the folder for such things."""
    return join(beside, basename(real) + SUFFIX)


def scope_lock(state: str) -> str:
    """The lock of a state folder: one operation a scope at a time."""
    return join(state, "apply" + SUFFIX)


def facts(system: System, purpose: Mapping[str, Any], state: str, op: str) -> dict[str, Any]:
    """What a lock says of its owner. Of `purpose` only known words are taken."""
    told = {key: purpose[key] for key in PURPOSE if _plain(purpose.get(key))}
    return {"format": FORMAT, **told, **system.process(), "state": state, "operation": op}


def _plain(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= 4096
    if isinstance(value, bool | int):
        return True
    return isinstance(value, list | tuple) and all(isinstance(item, str) and len(item) <= 4096 for item in value)


# ------------------------------------------------------------------ looking


def examine(system: System, path: str) -> Verdict:
    """What is known of the lock at `path`. Changes nothing; holds its flock for a moment if nobody does."""
    verdict, descriptor = _look(system, path)
    if descriptor is not None:
        system.close(descriptor)
    return verdict._replace(evidence=_evidence(system, verdict.owner))


def adopt(system: System, path: str) -> tuple[Verdict, Held | None]:
    """As `examine`, without evidence; but a DEAD lock is held from now on, so that nobody else can bury it."""
    verdict, descriptor = _look(system, path)
    if descriptor is None:
        return verdict, None
    return verdict, Held(path, verdict.lock_id, descriptor, system.descriptor_status(descriptor).identity, True)


def _look(system: System, path: str) -> tuple[Verdict, int | None]:
    """The verdict, and with DEAD the descriptor that holds the flock."""
    verdict = Verdict(path, "UNKNOWN", "it changes while it is looked at")
    for _ in range(5):
        try:
            found = system.status(path)
            if found is None:
                return Verdict(path, "FREE"), None
            if found.kind != "folder":
                return Verdict(path, "UNKNOWN", "it is not a folder", _mark(repr(found.identity))), None
            descriptor = system.open_old(join(path, OWNER))
        except FileNotFoundError:
            # Between the two looks it may have gone as a whole.
            verdict = Verdict(path, "UNKNOWN", f"it holds no `{OWNER}`", _mark(path))
            continue
        except OSError as error:
            reason = f"its `{OWNER}` cannot be opened: {error.strerror}"
            return Verdict(path, "UNKNOWN", reason, _mark(repr(path))), None
        kept = False
        try:
            seen = _judge(system, path, descriptor)
            kept = seen is not None and seen.kind == "DEAD"
            if seen is not None:
                return seen, descriptor if kept else None
        finally:
            if not kept:
                system.close(descriptor)
    return verdict, None


def _judge(system: System, path: str, descriptor: int) -> Verdict | None:
    """The verdict from an open owner file; None if the file is no longer the one at the path."""
    found = system.descriptor_status(descriptor)
    if found.kind != "file" or found.size > MAX_OWNER:
        return Verdict(path, "UNKNOWN", f"its `{OWNER}` is no small file", _mark(repr(found.identity)))
    data = system.descriptor_read(descriptor, MAX_OWNER)
    owner, problem = _owner(data)
    lock_id = str(owner.get("lock_id", "")) if _ID.fullmatch(str(owner.get("lock_id", ""))) else _mark(repr(data))
    got = system.try_lock(descriptor, path)
    if got is False:
        return Verdict(path, "LIVE", "the kernel says that a process holds it", lock_id, owner)
    if not problem:
        problem = _doubt(system, descriptor, owner, found.identity, got)
    if problem:
        return Verdict(path, "UNKNOWN", problem, lock_id, owner)
    now = system.status(join(path, OWNER))
    if now is None or now.identity != found.identity:
        return None
    return Verdict(path, "DEAD", "the kernel says that nobody holds it", lock_id, owner)


def _doubt(
    system: System, descriptor: int, owner: Mapping[str, Any], identity: tuple[int, int], got: bool | None
) -> str:
    if owner.get("flock") is not True or got is None:
        return "it was made where the kernel keeps no locks, so nobody can tell whether its owner lives"
    if not system.is_local(descriptor):
        host = _shown(str(owner.get("host")))
        return f"another machine may hold it: it is on a shared file system, last seen on `{host}`"
    if owner.get("inode") != identity[1]:
        return "it looks like a copy of a lock"
    return ""


def _owner(data: bytes) -> tuple[dict[str, Any], str]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}, f"its `{OWNER}` cannot be read"
    if not isinstance(value, dict):
        return {}, f"its `{OWNER}` cannot be read"
    owner = {str(key)[:64]: item for key, item in value.items() if _plain(item)}
    if owner.get("format") != FORMAT or isinstance(owner.get("format"), bool):
        return owner, f"it is of format {str(owner.get('format'))[:20]!r}, which this version does not know"
    if not _ID.fullmatch(str(owner.get("lock_id", ""))):
        return owner, "it has no lock id"
    return owner, ""


def _mark(text: str) -> str:
    """An id for what has none: what is shown and what is there can be compared by it."""
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _evidence(system: System, owner: Mapping[str, Any]) -> tuple[str, ...]:
    pid = owner.get("pid")
    if not isinstance(pid, int) or isinstance(pid, bool):
        return ()
    mine = system.process()
    if owner.get("boot_id") != mine["boot_id"]:
        return ("it was taken before the machine was started, or on another one",)
    if owner.get("pid_ns") != mine["pid_ns"]:
        return (f"pid {pid} was in another container",)
    started = system.process_start(pid)
    if started is None:
        return (f"there is no process {pid} now",)
    same = started == owner.get("pid_start")
    return (f"process {pid} is the one that took it" if same else f"process {pid} is another one, started later",)


# ------------------------------------------------------------------ taking and giving back


def acquire(
    system: System,
    path: str,
    lock_facts: Mapping[str, Any],
    *,
    deadline: float,
    lock_id: str = "",
    tell: Callable[[str], None] = lambda text: None,
    question: Callable[[Verdict], None] = lambda verdict: None,
    stop: Callable[[], bool] = lambda: False,
    keep_dead: bool = False,
) -> Held:
    """Take the lock at `path`, waiting for a living holder until `deadline` (of the monotonic clock).

    A DEAD lock is buried first, unless `question` raises because its owner left an
    unfinished operation; or with `keep_dead` it is taken over as it is. `stop` ends
    the waiting early.

    Raises:
        Locked: somebody lives, or nobody can tell. Nothing was changed.
        OSError: the lock cannot be made. Nothing of it is left.
    """
    sweep(system, path)
    told, lost = False, 0
    while True:
        verdict, corpse = adopt(system, path)
        if corpse is not None:
            if keep_dead:
                return corpse
            try:
                question(verdict)
            except BaseException:
                leave(system, corpse)
                raise
            if not release(system, corpse) and examine(system, path).kind == "DEAD":
                raise PermissionError(errno.EPERM, "a lock left behind cannot be removed", path)
        elif verdict.kind == "FREE":
            held = _be_born(system, path, lock_id or system.new_id(), lock_facts)
            if held is not None:
                return held
            lost += 1
            if lost > _TRIES:
                raise _busy(verdict)
        elif verdict.kind == "UNKNOWN":
            raise unknown(verdict)
        elif time.monotonic() >= deadline or stop():
            raise _busy(verdict)
        else:
            if not told:
                tell(f"waiting for {verdict.holder}")
            told = True
            time.sleep(_PAUSE)


def unknown(verdict: Verdict) -> Locked:
    """The error for a lock that nobody can judge."""
    return Locked(
        f"there is a lock at `{verdict.path}`, and nobody can tell whether it is held: {verdict.reason}",
        hint=f"see `hostconf recover`; its lock id is {verdict.lock_id}",
        path=verdict.path,
    )


def _busy(verdict: Verdict) -> Locked:
    since = f" since {verdict.since}" if verdict.since else ""
    return Locked(
        f"`{verdict.path}` is held by {verdict.holder}{since}",
        hint="wait until it is done; `hostconf recover` shows what is known of it",
        path=verdict.path,
    )


def _be_born(system: System, path: str, lock_id: str, lock_facts: Mapping[str, Any]) -> Held | None:
    """The lock, or None if somebody was faster. Built aside and renamed: it is never seen without its owner."""
    aside = f"{path}.{lock_id}.tmp"
    system.make_folder(aside, 0o700)
    descriptor = -1
    try:
        file = join(aside, OWNER)
        descriptor = system.open_new(file, 0o600)
        got = system.try_lock(descriptor, file)
        identity = system.descriptor_status(descriptor).identity
        owner = {**lock_facts, "lock_id": lock_id, "flock": got is True, "inode": identity[1]}
        system.write(descriptor, json.dumps(owner, indent=1).encode() + b"\n", file)
        system.sync(descriptor, file)
        # Else a power cut may leave a lock without its owner.
        system.sync_folder(aside)
        if got is False:
            raise FileExistsError(errno.EEXIST, "a sweeper was faster", aside)
        system.rename_new(aside, path)
    except BaseException as error:
        _take_apart(system, aside)
        if descriptor >= 0:
            system.close(descriptor)
        # ENOENT: a sweeper took the folder between two of our steps; the next round makes a new one.
        swept = isinstance(error, FileNotFoundError) and system.status(dirname(path)) is not None
        if isinstance(error, OSError) and (error.errno in _TAKEN or swept):
            return None
        raise
    held = Held(path, lock_id, descriptor, identity)
    try:
        system.sync_folder(dirname(path))
    except BaseException:
        release(system, held)
        raise
    return held


def still_ours(system: System, held: Held) -> bool:
    """Whether the lock at the path is the one that we hold: a person may have removed it by hand."""
    found = system.status(join(held.path, OWNER))
    return found is not None and found.identity == held.identity


def release(system: System, held: Held) -> bool:
    """Give it back; one rename makes it free. Whether nothing of it is left: no error of the disk is raised.

    What cannot be cleaned is swept by the next; a lock that stays is DEAD from now on.
    """
    gone = f"{held.path}.{held.lock_id}.gone"
    try:
        if still_ours(system, held):
            system.rename_new(held.path, gone)
            system.sync_folder(dirname(held.path))
            return _take_apart(system, gone)
        return True
    except OSError:
        return False
    finally:
        system.close(held.descriptor)


def leave(system: System, held: Held) -> None:
    """Give up without giving back: the lock stays for recovery, and is DEAD from now on."""
    system.close(held.descriptor)


def sweep(system: System, path: str) -> None:
    """Remove what a kill left of births and burials beside `path`, where the kernel proves that nobody is at it."""
    folder, name = dirname(path), basename(path)
    pattern = re.compile(re.escape(name) + r"\.[0-9a-f]{32}\.(tmp|gone)")
    for entry in system.names(folder):
        if not pattern.fullmatch(entry):
            continue
        litter = join(folder, entry)
        try:
            descriptor = system.open_old(join(litter, OWNER))
        except FileNotFoundError:
            _take_apart(system, litter)
            continue
        except OSError:
            continue
        try:
            if system.is_local(descriptor) and system.try_lock(descriptor, litter):
                _take_apart(system, litter)
        except OSError:
            pass
        finally:
            system.close(descriptor)


def dismiss(system: System, path: str, lock_id: str) -> None:
    """Remove a lock that nobody can judge, on a person's word: `lock_id` is what they were shown, or its first 4 signs.

    Raises:
        Locked: it is held, it is another one by now, or it holds what is not ours. Nothing was changed.
    """
    verdict = examine(system, path)
    if verdict.kind == "LIVE":
        raise _busy(verdict)
    if verdict.kind == "FREE":
        return
    if len(lock_id) < 4 or not verdict.lock_id.startswith(lock_id):
        raise unknown(verdict)
    found = system.status(path)
    if found is not None and found.kind != "folder":
        system.remove(path)
        return
    if set(system.names(path)) - {OWNER}:
        raise Locked(f"`{path}` holds more than `{OWNER}`: it is left alone", hint="look into it", path=path)
    gone = f"{path}.{system.new_id()}.gone"
    system.rename_new(path, gone)
    _take_apart(system, gone)


def _take_apart(system: System, folder: str) -> bool:
    """Remove a lock's folder that is no lock any more; whether nothing of it is left."""
    for remove, path in ((system.remove, join(folder, OWNER)), (system.remove_folder, folder)):
        try:
            remove(path)
        except OSError:
            continue
    try:
        return system.status(folder) is None
    except OSError:
        return False
