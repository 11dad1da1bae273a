"""What to do about an interrupted operation: a pure decision over the journal's stage and the files.

Files are told apart by content alone, so it does not matter which process, kernel or
person moved them.

| stage    | files                      | by itself | a person may choose      |
|----------|----------------------------|-----------|--------------------------|
| staging  | any: none was touched      | undo      | undo, forget             |
| prepared | all old or new             | finish    | finish, undo, forget     |
| prepared | some are neither           | ask       | what is possible, forget |
| undo     | all old or new             | undo      | undo, forget             |
| undo     | some are neither           | ask       | undo if possible, forget |
| done     | any: they are all new      | finish    | finish, forget           |
"""

from __future__ import annotations

from typing import Literal, NamedTuple

FileFate = Literal["old", "new", "missing", "other"]
Decision = Literal["finish", "undo", "forget"]
DECISIONS: tuple[Decision, ...] = ("finish", "undo", "forget")


class Seen(NamedTuple):
    """One file of the operation, as it is."""

    path: str
    before: str | None
    """Hash before the operation; None for absent."""
    after: str | None
    now: str | None
    """Hash now; None for absent, empty for what is no regular file."""
    staged: bool
    """Whether the new text lies beside it."""
    kept: bool
    """Whether the old text lies beside it."""

    @property
    def fate(self) -> FileFate:
        """Old, new, missing, or changed by somebody else."""
        if self.now == self.before:
            return "old"
        if self.now == self.after:
            return "new"
        return "missing" if self.now is None else "other"

    @property
    def can_finish(self) -> bool:
        """Whether the new text can be had without a loss."""
        return self.fate == "new" or (self.fate == "old" and (self.after is None or self.staged))

    @property
    def can_undo(self) -> bool:
        """Whether our doing is out of it, or can be taken out without a loss."""
        if self.fate == "new":
            return self.before is None or self.kept
        return self.fate == "old" or self.never_ours

    @property
    def never_ours(self) -> bool:
        """Changed by somebody else, and not by us: what we would have put there still lies beside it."""
        if self.fate in ("old", "new"):
            return False
        return self.staged if self.after is not None else not self.kept


class Advice(NamedTuple):
    """What would be right, and what a person may choose."""

    decision: Decision | None
    """None: a person has to say."""
    choices: tuple[Decision, ...]
    reason: str


def advise(stage: str, files: tuple[Seen, ...]) -> Advice:
    """The table above."""
    odd = [seen.path for seen in files if seen.fate in ("missing", "other")]
    if stage == "staging":
        return Advice("undo", ("undo", "forget"), "it was interrupted before any file was changed")
    if stage == "done":
        return Advice("finish", ("finish", "forget"), "it is done; only cleaning is left")
    finish = stage == "prepared" and all(seen.can_finish for seen in files)
    undo = all(seen.can_undo for seen in files)
    choices: tuple[Decision, ...] = (*(("finish",) if finish else ()), *(("undo",) if undo else ()), "forget")
    if odd:
        return Advice(None, choices, f"somebody else changed `{odd[0]}` meanwhile")
    if stage == "prepared" and finish:
        return Advice("finish", choices, "every new text is on the disk")
    if stage == "undo" and undo:
        return Advice("undo", choices, "it was being taken back")
    return Advice(None, choices, "a text that it needs is gone")
