"""A plan under way: edits in memory, each with what its inverse needs.

Pure. The draft knows files and edits; which edits a tier needs is decided in `tiers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.errors import EditRefused, FormatError, Refused
from hostconf.formats.base import MISSING, Document, Edit, Hunk, KeyPath
from hostconf.hosts.schema import Host
from hostconf.model import Operation
from hostconf.record import Recorded, fingerprint
from hostconf.survey.workspace import LayerFile, Workspace, problem_of


class Draft:
    """The workspace as planned so far, and per file what was done to it."""

    __slots__ = ("dropped", "folders", "formats", "host", "operations", "recorded", "steps", "workspace")

    def __init__(self, host: Host, workspace: Workspace, dropped: Mapping[str, FormatError] | None = None) -> None:
        self.host = host
        self.dropped = dropped or {}
        """Files that the host does not take as they are, though they can be read: what is written there is void."""
        self.workspace = workspace
        self.operations: dict[str, list[Operation]] = {}
        self.recorded: dict[str, list[Recorded]] = {}
        self.steps: dict[str, list[tuple[Hunk, ...]]] = {}
        self.formats: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        """Path to the folder that the host loads whole, where the file stands in one."""

    def copy(self) -> Draft:
        """A draft of its own that stands where this one stands: to try an edit and look at what it does."""
        other = Draft(self.host, self.workspace, self.dropped)
        other.operations = {path: list(rows) for path, rows in self.operations.items()}
        other.recorded = {path: list(rows) for path, rows in self.recorded.items()}
        other.steps = {path: list(rows) for path, rows in self.steps.items()}
        other.formats = dict(self.formats)
        other.folders = dict(self.folders)
        return other

    def document(self, path: str, format_name: str) -> tuple[Document, bool]:
        """The document to edit, and whether its file is new.

        Raises:
            Refused: the file is broken, dropped by the host, no regular file, or a link that leads nowhere.
        """
        read = self.dropped.get(path) or self.workspace.read(path, format_name)
        if isinstance(read, FormatError):
            kind = "unreadable" if read.code == "unreadable" else "broken-file"
            raise Refused(
                read.message if kind == "unreadable" else f"`{path}` cannot be edited: {read.message}",
                path=path,
                line=read.line,
                column=read.column,
                excerpt=read.excerpt,
                code=kind,
                hint="mend the file by hand: hostconf never repairs one",
            )
        if read is not None:
            return read, False
        state = self.workspace.state(path)
        if state.kind not in ("absent", "file"):
            raise Refused(problem_of(state), path=path, code="unreadable")
        return self.workspace.blank(path, format_name), True

    def set(
        self,
        path: str,
        format_name: str,
        at: KeyPath,
        value: Any,
        why: str,
        *,
        last: bool = False,
        vault: bool = False,
        first: bool = False,
    ) -> bool:
        """Set a value; True if that changes something.

        Raises:
            Refused: the edit would be a guess (see EditRefused), or the file is not to be edited.
        """
        document = self._begun(path, format_name)
        prior = document.get(at)
        # only a Markdown document knows `first`
        place: dict[str, bool] = {"first": True} if first else {"last": last}
        edit = self._try(path, lambda: document.set(at, value, **place))
        return self._do(path, format_name, edit, Operation("set", at, value, why, last), prior, vault)

    def redo(self, path: str, format_name: str, done: Recorded, value: Any) -> None:
        """Do once more what was recorded, with the value that stood there."""
        if done.kind == "append":
            self.append(path, format_name, done.at, done.items, done.why)
        elif value is not MISSING:
            above, key = done.at[:-1], done.at[-1]
            plain = self.document(path, format_name)[0].get(above) if above else None
            if isinstance(plain, str):
                # the table was made of one word by the install that went: see `flip`
                self.set(path, format_name, above, {"*": plain, str(key): value}, done.why)
            else:
                self.set(path, format_name, done.at, value, done.why, last=done.last, vault=done.vaulted)

    def append(self, path: str, format_name: str, at: KeyPath, items: Sequence[Any], why: str) -> bool:
        """Append what is missing of `items` to a list."""
        document = self._begun(path, format_name)
        have = document.get(at, [])
        missing = [item for item in items if not isinstance(have, list) or item not in have]
        if not missing:
            return False
        edit = self._try(path, lambda: document.append(at, missing))
        return self._do(path, format_name, edit, Operation("append", at, missing, why), MISSING, False)

    def _begun(self, path: str, format_name: str) -> Document:
        """The document; where it is new, with the keys that a new file of this host begins with."""
        document, new = self.document(path, format_name)
        if new and format_name in ("json", "jsonc"):
            for key, fixed in self.host.new_file.items():
                begin = Operation("set", (key,), fixed, "a new file begins so")
                self._do(path, format_name, document.set((key,), fixed), begin, MISSING, False)
                document, _ = self.document(path, format_name)
        return document

    def _try(self, path: str, edit: Callable[[], Edit]) -> Edit:
        try:
            return edit()
        except EditRefused as refusal:
            raise Refused(
                f"`{path}`: {refusal.message}",
                path=path,
                line=refusal.line,
                column=refusal.column,
                excerpt=refusal.excerpt,
                code=refusal.code,
                hint=refusal.hint,
            ) from None

    def _do(self, path: str, format_name: str, edit: Edit, operation: Operation, prior: Any, vault: bool) -> bool:
        if not edit.changed:
            return False
        before = edit.before
        prefixes = [operation.at[:n] for n in range(1, len(operation.at) + (operation.kind == "append"))]
        created = tuple(p for p in prefixes if before.get(p) is MISSING)
        appended = tuple(operation.value) if operation.kind == "append" else ()
        self.recorded.setdefault(path, []).append(
            Recorded(
                kind=operation.kind,
                at=operation.at,
                written="" if appended else fingerprint(edit.after.get(operation.at)),
                items=appended,
                prior=prior,
                vaulted=prior is not MISSING and (vault or not _plain(prior)),
                created=created,
                last=operation.last,
                why=operation.why,
            )
        )
        self.operations.setdefault(path, []).append(operation)
        self.steps.setdefault(path, []).append(edit.hunks)
        self.formats[path] = format_name
        self.workspace = self.workspace.with_document(path, edit.after)
        return True


def document_of(workspace: Workspace, path: str, format_name: str) -> Document | None:
    """The document at `path`; None where there is none, or none that can be read."""
    read = workspace.read(path, format_name)
    return None if isinstance(read, FormatError) else read


def _plain(value: Any) -> bool:
    """Whether a value can be no secret: a switch, a number, one short word."""
    return value is None or isinstance(value, (bool, int, float)) or bool(_WORD.fullmatch(str(value)))


_WORD = re.compile(r"[A-Za-z][a-z_-]{0,15}")


class Target(NamedTuple):
    """Where something is written."""

    path: str
    format: str
    layer: str


def write_target(host: Host, files: Sequence[LayerFile], group: str, scope: str, key: str) -> Target:
    """The file of a scope to write a key into.

    The strongest that has it, else the strongest there, else the one to make.

    Raises:
        Refused: the host has no file for that scope.
    """
    own = [
        f
        for f in files
        if f.layer.group == group and f.layer.scope == scope and f.layer.write and not f.layer.variable and f.depth == 0
    ]
    there = [f for f in own if f.read is not None]
    having = [f for f in there if f.document is not None and f.document.get((key,)) is not MISSING]
    chosen = (having or there or [f for f in own if f.layer.create])[:1]
    if not chosen:
        raise Refused(
            f"{host.name} has no file that hostconf could write at {scope} scope",
            code="no-layer",
            hint="" if scope == "user" else "run it inside a project, or give `--project`",
        )
    return Target(chosen[0].path, chosen[0].layer.format, chosen[0].layer.id)
