"""Carries out a plan's changes: all of them, or none. It decides nothing.

The order, and what a kill or a power cut after each step leaves:

1. locks, the scope's first, then the files' in sorted order: nothing, or a DEAD lock
2. `journal.staging`: nothing was touched
3. folders made, bytes compared with the plan's: as 2
4. every new text staged beside its file, durable, read back: as 2
5. `journal.prepared`, the commit point: each file old or new, both directions open
6. per file an exchange that verifies what it displaced: as 5
7. `journal.done`: all new
8. displaced texts looked at once more and removed, locks given back, folders, journal
"""

from __future__ import annotations

import errno
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from os.path import basename, dirname, join
from typing import Any

from hostconf import journal as journals
from hostconf import lock, preflight, swap
from hostconf.errors import HostconfError, RecoveryNeeded, Refused, StalePlan, WriteFailed
from hostconf.journal import Entry, Journal, Stage
from hostconf.lock import Held, Verdict
from hostconf.model import Change
from hostconf.system import System

HOST_LOCK = ".lock"
HOST_WAIT = 2.0
"""Seconds to wait for the hosts' own locks, in all. They are left behind often, and never taken by us."""

_SIGNALS = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP") if hasattr(signal, name)}
_TURNS = 50

Tell = Callable[[str], None]


def carry_out(
    changes: Sequence[Change],
    *,
    system: System,
    state: str,
    purpose: Mapping[str, Any],
    wait_seconds: float,
    on_step: Tell | None = None,
) -> tuple[str, ...]:
    """Write all the changes, in their order, or none; gives what the user has to be told afterwards.

    `state` is the scope's folder for journal and lock, made if absent. `purpose` says
    who and what, for people who meet the lock or the journal: `op`, `plan`, `scope`,
    `integration`, `hosts`, `tool`, `started`; other keys are passed over. `on_step` is
    called with a phrase as the work goes on, and while waiting with who is waited for.
    SIGINT, SIGTERM, SIGHUP and SIGTSTP wait until the end, if this is the main thread.

    Raises:
        Refused: the platform is only read; a file has several names, is a mount of its own, or is outside of the
            project. Nothing was touched.
        UnreadableFile: at a path stands something that is no readable file. Nothing was touched.
        WriteFailed: a file cannot be written (`not-writable`, `no-space`, `write-failed`), or the second reader
            finds another meaning (`readers-disagree`). Every file is as it was.
        StalePlan: a file is not as the plan saw it. Every file is as it was, or as somebody else just wrote it.
        Locked: somebody else is at it, or nobody can tell. Every file is as it was.
        RecoveryNeeded: an earlier operation is unfinished, and nothing was touched; or this one could be neither
            finished nor taken back: each file is whole, old or new, and the journal tells which.
    """
    if not hasattr(signal, "pthread_sigmask"):
        raise Refused("this platform is only read: writing is not proved on it", code="platform")
    wanted = tuple(change for change in changes if change.before != change.after)
    if not wanted:
        return ()
    preflight.check_meaning(wanted)
    state = system.resolve(state).real
    at: list[str] = []
    try:
        _check_places(system, state, wanted)
        with _signals_held():
            return _Operation(system, state, wanted, purpose, wait_seconds, on_step or (lambda text: None), at).run()
    except OSError as error:
        raise _failed(error, at[-1] if at else "") from error


def _check_places(system: System, state: str, changes: Sequence[Change]) -> None:
    try:
        preflight.check_places(system, state, changes)
    except StalePlan:
        # An interrupted operation may be why: then that is what has to be told. A running one holds the lock
        # for as long as its journal is there; so one journal, with no holder in between, is an interrupted one's.
        found = journals.text(system, state)
        held = bool(found) and lock.examine(system, lock.scope_lock(state)).kind == "LIVE"
        if found and not held and journals.text(system, state) == found:
            _check_question(system, state)
        raise


def _check_question(system: System, state: str) -> None:
    stages = journals.found(system, state)
    if stages:
        raise RecoveryNeeded(
            f"an earlier operation is unfinished; its journal is `{journals.file(state, stages[0])}`",
            hint="run `hostconf recover`",
            path=journals.file(state, stages[0]),
        )


@contextmanager
def _signals_held() -> Iterator[None]:
    old = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def _interrupted() -> bool:
    return bool(signal.sigpending() & _SIGNALS)


# ------------------------------------------------------------------ the operation


class _Operation:
    """One run of the steps. `stage` is how far the journal is; None before it."""

    def __init__(
        self,
        system: System,
        state: str,
        changes: Sequence[Change],
        purpose: Mapping[str, Any],
        wait: float,
        tell: Tell,
        at: list[str],
    ) -> None:
        self.system, self.state, self.changes, self.tell = system, state, changes, tell
        self.at = at
        """The user's file at hand, last; for messages."""
        self.deadline = time.monotonic() + wait
        self.operation = system.new_id()[:12]
        self.facts = lock.facts(system, purpose, state, self.operation)
        self.held: list[Held] = []
        self.stage: Stage | None = None
        self.journal = self._plan()

    def _plan(self) -> Journal:
        paths = sorted({lock.lock_path(change.real, change.beside) for change in self.changes})
        make = {folder for change in self.changes for folder in change.make_folders}
        drop = {folder for change in self.changes for folder in change.drop_folders}
        journal = Journal(
            self.operation,
            {key: value for key, value in self.facts.items() if key in lock.PURPOSE},
            tuple((path, self.system.new_id()) for path in (lock.scope_lock(self.state), *paths)),
            tuple(sorted((folder for folder in make if self.system.status(folder) is None), key=len)),
            tuple(sorted(drop, key=len, reverse=True)),
            tuple(self._entry(number, change) for number, change in enumerate(self.changes)),
        )
        strays = journals.strays(self.state, journal)
        if strays:
            raise Refused(f"`{strays[0]}` is outside of the project", code="outside-project", path=strays[0])
        return journal

    def _entry(self, number: int, change: Change) -> Entry:
        # Begins with a dot and ends like no config file; the name is cut, for the whole may have 255 bytes.
        name = f".{basename(change.real)[:60]}{swap.MARK}{self.operation}-{number}"
        hashes = [None if data is None else sha256(data).hexdigest() for data in (change.before, change.after)]
        return Entry(change.path, change.real, join(change.beside, name), hashes[0], hashes[1], change.mode)

    def run(self) -> tuple[str, ...]:
        """All of it. See `carry_out`."""
        made: list[str] = []
        try:
            self._enter(made)
        except BaseException:
            self._without_empty(made)
            raise
        try:
            _check_question(self.system, self.state)
            journals.sweep(self.system, self.state)
            try:
                self._up_to_new()
            except BaseException as error:
                self._take_back(error)
                raise
            return self._finish()
        finally:
            self._give_back(made)

    # -- forward

    def _enter(self, made: list[str]) -> None:
        """The scope's lock, in the state folder made for it."""
        for turn in range(_TURNS):
            try:
                self._make_state(made)
                self._take(*self.journal.locks[0])
                return
            except FileNotFoundError:
                # Another one that made the folder, and found nothing to keep in it, has just removed it.
                if turn == _TURNS - 1:
                    raise

    def _make_state(self, made: list[str]) -> None:
        missing = []
        folder = self.state
        while self.system.status(folder) is None:
            missing.append(folder)
            folder = dirname(folder)
        for folder in reversed(missing):
            if swap.make_folder(self.system, folder, 0o700):
                made.append(folder)

    def _take(self, path: str, lock_id: str) -> None:
        held = lock.acquire(
            self.system,
            path,
            self.facts,
            deadline=self.deadline,
            lock_id=lock_id,
            tell=self.tell,
            question=self._question,
            stop=_interrupted,
        )
        self.held.append(held)

    def _question(self, verdict: Verdict) -> None:
        """Raises RecoveryNeeded where a dead lock belongs to an unfinished operation."""
        folder = str(verdict.owner.get("state", ""))
        if verdict.path == self.journal.locks[0][0]:
            _check_question(self.system, self.state)
        elif folder and "\0" not in folder and folder != self.state and self._named_in(folder, verdict.path):
            raise RecoveryNeeded(
                f"an operation on `{self.at[-1]}` is unfinished; its journal is in `{folder}`",
                hint="run `hostconf recover` for that scope",
                path=verdict.path,
            )

    def _named_in(self, folder: str, path: str) -> bool:
        for stage in journals.found(self.system, folder):
            try:
                named = journals.read(self.system, folder, stage).locks
            except HostconfError:
                return True
            if path in [other for other, _ in named]:
                return True
        return False

    def _up_to_new(self) -> None:
        system, journal = self.system, self.journal
        self.stage = "staging"
        journals.write(system, self.state, journal)
        for folder in journal.make:
            inside = folder == self.state or folder.startswith(self.state + "/")
            swap.make_folder(system, folder, 0o700 if inside else 0o755)
        for path, lock_id in journal.locks[1:]:
            self.at.append(path.removesuffix(lock.SUFFIX))
            self._take(path, lock_id)
        self._wait_for_hosts()
        if _interrupted():
            raise KeyboardInterrupt
        for change in self.changes:
            self.at.append(change.path)
            found = system.read(change.real)
            if found.real != change.real:
                raise StalePlan(f"`{change.path}` leads elsewhere than when the plan was made", path=change.path)
            preflight.compare(change, found)
        for change, entry in zip(self.changes, journal.files, strict=True):
            if change.after is not None:
                self.at.append(change.path)
                self.tell(f"staging `{change.path}`")
                like = None if change.before is None else change.real
                swap.stage(system, entry.temp, change.after, like=like, mode=change.mode)
        self.at.clear()
        swap.sync_folders(system, journal)
        self.stage = "prepared"
        journals.move(system, self.state, "staging", "prepared")
        for entry in journal.files:
            self.at.append(entry.path)
            self.tell(f"writing `{entry.path}`")
            self._still_ours()
            swap.put_new(system, entry)
        self.at.clear()
        swap.sync_folders(system, journal)

    def _still_ours(self) -> None:
        for held in self.held:
            if not lock.still_ours(self.system, held):
                raise StalePlan(f"the lock `{held.path}` was removed by somebody", path=held.path)

    def _wait_for_hosts(self) -> None:
        until = time.monotonic() + HOST_WAIT
        for change in self.changes:
            for path in sorted({change.path + HOST_LOCK, change.real + HOST_LOCK}):
                told = False
                while (found := self._peek(path)) and time.monotonic() < until and not _interrupted():
                    if not told:
                        self.tell(f"waiting for the host's own lock `{path}`")
                    told = True
                    time.sleep(0.05)
                if found:
                    # The exchange notices a host that writes all the same.
                    self.tell(f"going on although `{path}` is still there")

    def _peek(self, path: str) -> bool:
        found = self.system.status(path)
        return found is not None and found.kind == "folder"

    def _finish(self) -> tuple[str, ...]:
        """From all new to clean. A failure here leaves all new, and a journal for the rest."""
        system, journal = self.system, self.journal
        swapped = time.monotonic()
        try:
            self.stage = "done"
            journals.move(system, self.state, "prepared", "done")
            self.tell("cleaning up")
            time.sleep(max(0.0, swap.LATE - (time.monotonic() - swapped)))
            told = swap.clean(system, journal)
            self._wind_up(journal.drop)
        except BaseException as error:
            self._abandon()
            raise RecoveryNeeded(
                f"the changes are applied, but cleaning up failed: {_cause(error)}",
                code="cleaning-unfinished",
                hint="run `hostconf recover`",
            ) from error
        return told

    # -- back

    def _take_back(self, error: BaseException) -> None:
        """From anywhere before `done` to all old."""
        system, journal = self.system, self.journal
        try:
            if self.stage == "prepared":
                self.tell("taking it back")
                # Which of the two names is there is not known if this very step failed.
                at: Stage = "prepared" if "prepared" in journals.found(system, self.state) else "staging"
                # First, so that a kill from here on leads back too.
                journals.move(system, self.state, at, "undo")
                self.stage = "undo"
                for entry in reversed(journal.files):
                    seen = swap.look(system, entry)
                    if seen.fate == "new":
                        swap.put_old(system, entry)
                    elif not seen.can_undo:
                        raise StalePlan(f"`{entry.path}` was changed by somebody else meanwhile", path=entry.path)
                swap.sync_folders(system, journal)
                journals.move(system, self.state, "undo", "done")
                self.stage = "done"
                swap.clean(system, journal)
            else:
                swap.clean(system, journal, ours=True)
            self._wind_up(journal.make)
        except BaseException as second:
            self._abandon()
            raise RecoveryNeeded(
                f"it failed ({_cause(error)}), and taking it back failed too: {_cause(second)}",
                hint="run `hostconf recover`",
                path=self.at[-1] if self.at else None,
            ) from error

    # -- the end, either way

    def _wind_up(self, folders: Sequence[str]) -> None:
        while len(self.held) > 1:
            swap.give_back(self.system, self.held.pop())
        # Locks stood in them: only now they may be empty.
        swap.remove_folders(self.system, folders)
        for stage in journals.found(self.system, self.state):
            journals.remove(self.system, self.state, stage)

    def _abandon(self) -> None:
        while self.held:
            lock.leave(self.system, self.held.pop())

    def _give_back(self, made: Sequence[str]) -> None:
        if self.held:
            while self.held:
                lock.release(self.system, self.held.pop())
            # Removed only if empty: after an uninstall, or where nothing was written.
            around = [folder for folder in self.journal.drop if (self.state + "/").startswith(folder + "/")]
            self._without_empty({*made, *around})

    def _without_empty(self, folders: Collection[str]) -> None:
        try:
            swap.remove_folders(self.system, folders)
        except OSError:
            pass  # an empty state folder harms nobody


def _failed(error: OSError, at: str) -> WriteFailed:
    """The error as the caller is promised it; `at` is the user's file that was at hand."""
    path = at or error.filename
    what = f"`{path}`" if path else "what is laid beside the files first"  # a write that fails names no file
    text = f"cannot write {what}: {_cause(error)}; nothing was changed"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "look at the permissions of the file and of its folder"
        return WriteFailed(text, code="not-writable", hint=hint, path=path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return WriteFailed(text, code="no-space", hint="make room on that disk, then try again", path=path)
    if error.errno == errno.EBUSY:
        hint = "a file that is mounted by itself, as in a container, cannot be replaced whole"
        return WriteFailed(text, hint=hint, path=path)
    return WriteFailed(text, path=path)


def _cause(error: BaseException) -> str:
    if isinstance(error, OSError):
        words = (error.strerror or "the system gives no reason").lower()
        return f"{words} (`{error.filename}`)" if error.filename else words
    return str(error) or type(error).__name__
