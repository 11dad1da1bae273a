"""What can go wrong, as one tree: a stable code, a message, a hint, and the place.

Knows nothing of screens and of files; the exit code of each class is the one of
the command line (design, section 9).
"""

from __future__ import annotations


class HostconfError(Exception):
    """A failure a person can do something about.

    `code` is stable and goes into the JSON envelope. `path`, `line` and `column`
    (1-based, code points) name the place, `excerpt` is the line there with a caret
    under it, already masked. None means that there is no such place.
    """

    code: str = "failed"
    exit_code: int = 1

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        excerpt: str = "",
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.line = line
        self.column = column
        self.excerpt = excerpt
        if code is not None:
            self.code = code


class UsageError(HostconfError):
    """The words of the command line are off. Nothing was read or written."""

    code = "usage"
    exit_code = 2


class DataFileError(HostconfError):
    """A file in `hosts/` or `integrations/` is not what the schema says."""

    code = "data-file"


class FormatError(HostconfError):
    """A document cannot be read. `code` says why: `syntax`, `duplicate-key`,
    `not-utf8`, `too-deep`, `too-large`, `wrong-type`."""

    code = "syntax"


class EditRefused(HostconfError):
    """An edit would be a guess, or change more than itself. The document is as it was.

    `code` says why: `wrong-type`, `duplicate-key`, `marker-damaged`,
    `would-change-other`, `alias`, `not-found`.
    """

    code = "edit-refused"


class UnreadableFile(HostconfError):
    """A path holds no readable regular file: a folder, a pipe, a link loop, no permission."""

    code = "unreadable"


class Refused(HostconfError):
    """A wish that cannot be honoured: nothing was written."""

    code = "refused"
    exit_code = 3


class Locked(HostconfError):
    """Somebody else holds the operation lock, or left one. Nothing was written."""

    code = "locked"
    exit_code = 4


class StalePlan(HostconfError):
    """A file is not as the plan saw it. Nothing was written."""

    code = "stale-plan"
    exit_code = 4


class RecoveryNeeded(HostconfError):
    """An operation is unfinished. Each file is whole, old or new; the journal tells which."""

    code = "recovery-needed"
    exit_code = 5


class WriteFailed(HostconfError):
    """A write failed and was taken back: every file is as it was before."""

    code = "write-failed"


class RecordUnreadable(HostconfError):
    """An install record, claim or journal is corrupt or from a newer hostconf. Nothing was written."""

    code = "record-unreadable"
