"""Interrupted operations and locks left behind: what is known of them, and carrying out what a person decides.

`describe` looks; `carry_out_recovery` does it. Both may be killed anywhere: doing it
again ends the same. What is decided stands in `recover`, as a table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from os.path import dirname, join
from typing import Any

from hostconf import journal as journals
from hostconf import lock, swap
from hostconf.errors import RecordUnreadable, RecoveryNeeded, StalePlan, UsageError, WriteFailed
from hostconf.journal import Journal, Stage
from hostconf.lock import Held, Verdict
from hostconf.recover import Advice, Decision, Seen, advise
from hostconf.system import System

Tell = Callable[[str], None]


# ------------------------------------------------------------------ looking


def describe(system: System, states: Sequence[str], locks: Iterable[str] = ()) -> dict[str, Any]:
    """What is unfinished in these state folders, and which locks there are: fit for JSON.

    `locks` are paths to look at besides the scopes' and those that journals name, as
    `lock.lock_path` gives them for config files. Changes nothing.

    `needed`: whether there is anything to do. `operations[]`: `state_folder`, `stage`,
    `operation`, `purpose`, `files[]` with `path`, `state` (`old`, `new`, `missing`,
    `other`), `staged`, `kept`; `decision` (`finish`, `undo`, or empty where a person
    has to say), `choices[]`, `reason`. `locks[]`, of those that are not free: `path`,
    `verdict` (`LIVE`, `DEAD`, `UNKNOWN`), `reason`, `holder`, `since`, `lock_id`,
    `evidence[]`.
    """
    operations: list[dict[str, Any]] = []
    paths: list[str] = []
    for state in (system.resolve(state).real for state in states):
        paths.append(lock.scope_lock(state))
        stages: tuple[Stage, ...] = ()
        try:
            stages = journals.found(system, state)
            if not stages:
                continue
            if len(stages) > 1:
                raise RecordUnreadable("there are two journals, and hostconf makes but one")
            journal = journals.read(system, state, stages[0])
            seen = tuple(swap.look(system, entry) for entry in journal.files)
        except RecordUnreadable as error:
            operations.append(_unreadable(state, stages, error.message, ("forget",)))
            continue
        except OSError as error:
            operations.append(_unreadable(state, stages, f"`{error.filename}`: {error.strerror}", ()))
            continue
        paths += [path for path, _ in journal.locks]
        operations.append(_operation(state, stages[0], journal, seen, advise(stages[0], seen)))
    paths += locks
    verdicts = [lock.examine(system, path) for path in dict.fromkeys(paths)]
    left = [_lock(verdict) for verdict in verdicts if verdict.kind != "FREE"]
    return {"needed": bool(operations or left), "operations": operations, "locks": left}


def _unreadable(state: str, stages: Sequence[Stage], reason: str, choices: Sequence[Decision]) -> dict[str, Any]:
    return {
        "state_folder": state,
        "stage": stages[0] if stages else "",
        "operation": "",
        "purpose": {},
        "files": [],
        "decision": "",
        "choices": list(choices),
        "reason": reason,
    }


def _operation(state: str, stage: Stage, journal: Journal, seen: Sequence[Seen], advice: Advice) -> dict[str, Any]:
    return {
        "state_folder": state,
        "stage": stage,
        "operation": journal.operation,
        "purpose": dict(journal.purpose),
        "files": [{"path": s.path, "state": s.fate, "staged": s.staged, "kept": s.kept} for s in seen],
        "decision": advice.decision or "",
        "choices": list(advice.choices),
        "reason": advice.reason,
    }


def _lock(verdict: Verdict) -> dict[str, Any]:
    return {
        "path": verdict.path,
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "holder": verdict.holder,
        "since": verdict.since,
        "lock_id": verdict.lock_id,
        "evidence": list(verdict.evidence),
    }


# ------------------------------------------------------------------ doing


def carry_out_recovery(
    system: System,
    states: Sequence[str],
    decision: Decision | None = None,
    *,
    purpose: Mapping[str, Any],
    wait_seconds: float,
    lock_id: str = "",
    locks: Iterable[str] = (),
    on_step: Tell | None = None,
) -> tuple[str, ...]:
    """Bring every unfinished operation to an end, and remove locks left behind; gives what was done, in sentences.

    Without a `decision` each gets what the table says, and one that needs a person is
    refused. `lock_id` is what a person was shown of a lock that nobody can judge (its
    first four signs are enough): that lock is removed, and no other one of its kind.
    `purpose` is as for `carry_out`. Nothing left to do is no error.

    Raises:
        Locked: somebody is at it, or a lock that nobody can judge stands in the way. That operation was not touched.
        RecoveryNeeded: a person has to say, or it was interrupted by an error: each file is whole, and doing it
            again goes on.
        UsageError: that decision is not possible for this operation, or no lock has that id. Nothing was touched.
        WriteFailed: a lock cannot be removed. Operations before it are at their end.
        RecordUnreadable: the journal cannot be used, and the decision is not `forget`. Nothing was touched.
    """
    run = _Recovery(system, purpose, wait_seconds, lock_id, on_step or (lambda text: None))
    for state in states:
        run.operation(system.resolve(state).real, decision)
    for path in dict.fromkeys(locks):
        try:
            run.stray_lock(path)
        except OSError as error:
            why = (error.strerror or "no reason given").lower()
            raise WriteFailed(f"the lock `{path}` cannot be removed: {why}", code="not-writable", path=path) from error
    if lock_id and not run.named:
        run.done.append(f"there is no lock with the id `{lock_id}`")
        if len(run.done) == 1:
            raise UsageError(run.done[0], hint="`hostconf recover` shows the locks and their ids")
    return tuple(run.done)


class _Recovery:
    def __init__(self, system: System, purpose: Mapping[str, Any], wait: float, lock_id: str, tell: Tell) -> None:
        self.system, self.purpose, self.lock_id, self.tell = system, purpose, lock_id, tell
        self.deadline = time.monotonic() + wait
        self.done: list[str] = []
        self.named = False
        self.held: list[Held] = []

    def operation(self, state: str, decision: Decision | None) -> None:
        """The scope of one state folder."""
        system = self.system
        if system.status(state) is None:
            return
        ended = False
        try:
            verdict = lock.examine(system, lock.scope_lock(state))
            if verdict.kind == "DEAD":
                self.done.append(f"removed the lock `{verdict.path}`, whose owner is dead")
            elif verdict.kind == "FREE" and not journals.found(system, state) and not self._litter(state):
                return
            self._take(verdict.path, state)
            journals.sweep(system, state)
            stages = journals.found(system, state)
            if len(stages) == 1:
                self._one(state, stages[0], decision)
            elif stages:
                self._unusable(state, stages, decision, "there are two journals, and hostconf makes but one")
            ended = True
        except (OSError, StalePlan) as error:
            path = (error.path if isinstance(error, StalePlan) else error.filename) or state
            why = error.message if isinstance(error, StalePlan) else f"{error.strerror} (`{path}`)"
            hint = "mend that, then run `hostconf recover` again"
            raise RecoveryNeeded(f"it could not be brought to an end: {why}", hint=hint, path=path) from error
        finally:
            while self.held:
                held = self.held.pop()
                if held.corpse and not ended:
                    # Not brought to an end: a dead one's lock stays as it was found.
                    lock.leave(system, held)
                else:
                    lock.release(system, held)

    def _litter(self, state: str) -> bool:
        return any(name.endswith((".tmp", ".gone")) for name in self.system.names(state))

    def stray_lock(self, path: str) -> None:
        """A lock of a file: buried if its owner is dead and left no journal, removed if a person named its id."""
        self._dismiss_if_named(path)
        verdict = lock.examine(self.system, path)
        if verdict.kind == "DEAD" and not self._belongs(verdict):
            verdict, held = lock.adopt(self.system, path)
            if held is not None and lock.release(self.system, held):
                self.done.append(f"removed the lock `{path}`, whose owner is dead")
        if verdict.kind in ("FREE", "DEAD"):
            lock.sweep(self.system, path)

    def _belongs(self, verdict: Verdict) -> bool:
        state = str(verdict.owner.get("state", ""))
        return bool(state) and "\0" not in state and bool(journals.found(self.system, state))

    def _take(self, path: str, state: str) -> None:
        """Hold the lock: a new one, or the dead one's own, which is then given back in its stead."""
        self._dismiss_if_named(path)
        told = lock.facts(self.system, self.purpose, state, "")
        self.held.append(lock.acquire(self.system, path, told, deadline=self.deadline, tell=self.tell, keep_dead=True))

    def _dismiss_if_named(self, path: str) -> None:
        """Remove an UNKNOWN lock whose id a person gave. Locked if that id is one of a living holder."""
        verdict = lock.examine(self.system, path) if len(self.lock_id) >= 4 else Verdict(path, "FREE")
        if verdict.kind == "FREE" or not verdict.lock_id.startswith(self.lock_id):
            return
        self.named = True
        if verdict.kind != "DEAD":
            lock.dismiss(self.system, path, self.lock_id)
            self.done.append(f"removed the lock `{path}`")

    def _free_for(self, path: str, state: str, stage: Stage) -> bool:
        """Whether the lock is to be taken: not one that another scope's unfinished operation left."""
        verdict = lock.examine(self.system, path)
        other = str(verdict.owner.get("state", ""))
        if verdict.kind != "DEAD" or other == state or not self._belongs(verdict):
            return True
        if stage == "staging":
            return False  # nothing was touched, so its file does not matter
        raise RecoveryNeeded(
            f"another operation on `{path.removesuffix(lock.SUFFIX)}` is unfinished; its journal is in `{other}`",
            hint="run `hostconf recover` for that scope first",
            path=path,
        )

    def _unusable(self, state: str, stages: Sequence[Stage], decision: Decision | None, why: str) -> None:
        """A journal that cannot be used is put aside on a person's word, never removed."""
        path = journals.file(state, stages[0])
        if decision != "forget":
            raise RecordUnreadable(why, hint="`hostconf recover --forget` puts it aside", path=path)
        for stage in stages:
            aside = join(state, f"unusable-journal-{stage}-{self.system.new_id()[:12]}")
            self.system.rename_new(journals.file(state, stage), aside)
            self.done.append(f"put the journal aside as `{aside}`; no file was changed")
        self.system.sync_folder(state)

    def _one(self, state: str, stage: Stage, decision: Decision | None) -> None:
        system = self.system
        try:
            journal = journals.read(system, state, stage)
        except RecordUnreadable as error:
            self._unusable(state, (stage,), decision, error.message)
            return
        self._choose(stage, journal, decision)
        for path, _ in journal.locks:
            absent = system.status(dirname(path)) is None
            if not absent and path not in [held.path for held in self.held] and self._free_for(path, state, stage):
                self._take(path, state)
        # Again, under the locks: this look is the one that counts.
        choice = self._choose(stage, journal, decision)
        self.tell({"finish": "finishing it", "undo": "taking it back", "forget": "forgetting it"}[choice])
        if choice == "forget" and stage != "staging":
            self._forget(journal)
        stage = self._settle(state, stage, journal, choice)
        kept = swap.clean(system, journal, ours=stage == "staging")
        while len(self.held) > 1:
            swap.give_back(system, self.held.pop())
        for path, _ in journal.locks[1:]:
            lock.sweep(system, path)
        # Either of them only if empty: those that hold a file stay.
        swap.remove_folders(system, {*journal.make, *journal.drop})
        journals.remove(system, state, stage)
        what = {"finish": "finished", "undo": "took back", "forget": "forgot"}[choice]
        self.done += [f"{what} the interrupted operation of {len(journal.files)} files", *kept]

    def _choose(self, stage: Stage, journal: Journal, decision: Decision | None) -> Decision:
        advice = advise(stage, tuple(swap.look(self.system, entry) for entry in journal.files))
        choice = decision or advice.decision
        if choice is None:
            raise RecoveryNeeded(
                f"the interrupted operation needs a decision: {advice.reason}",
                hint="choose one: " + ", ".join(f"`hostconf recover --{name}`" for name in advice.choices),
            )
        if choice not in advice.choices:
            raise UsageError(
                f"`--{choice}` is not possible: {advice.reason}",
                hint="possible: " + ", ".join(f"`--{name}`" for name in advice.choices),
            )
        return choice

    def _settle(self, state: str, stage: Stage, journal: Journal, choice: Decision) -> Stage:
        """All files new, or all old, or left; gives the stage from which only cleaning is left."""
        system = self.system
        if stage in ("staging", "done"):
            return stage
        if choice == "undo":
            if stage == "prepared":
                # First, so that a kill from here on leads back too.
                journals.move(system, state, stage, "undo")
                stage = "undo"
            for entry in reversed(journal.files):
                if swap.look(system, entry).fate == "new":
                    swap.put_old(system, entry)
        elif choice == "finish":
            for entry in journal.files:
                if swap.look(system, entry).fate == "old":
                    swap.put_new(system, entry)
        swap.sync_folders(system, journal)
        journals.move(system, state, stage, "done")
        return "done"

    def _forget(self, journal: Journal) -> None:
        """Files stay as they are. The old text of one that somebody changed is nowhere else: it is kept."""
        for entry in journal.files:
            swap.settle(self.system, entry)
            seen = swap.look(self.system, entry)
            if seen.fate in ("missing", "other") and swap.digest(self.system, entry.temp) not in (None, entry.after):
                self.done.append(swap.set_aside(self.system, entry))
