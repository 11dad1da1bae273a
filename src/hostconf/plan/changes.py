"""From edited documents to the files of a transaction: what may be written, and how.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hostconf.errors import Refused
from hostconf.formats.base import Document
from hostconf.model import Action, Change, Environment, FileState
from hostconf.survey.workspace import Workspace


def missing_folders(path: str, workspace: Workspace) -> tuple[str, ...]:
    """The folders above `path` that are not there, outermost first."""
    found: list[str] = []
    folder = path.rpartition("/")[0]
    while folder and workspace.state(folder).kind == "absent" and folder in workspace.snapshot.files:
        found.insert(0, folder)
        folder = folder.rpartition("/")[0]
    return tuple(found)


def config_change(
    path: str,
    format_name: str,
    document: Document | None,
    workspace: Workspace,
    *,
    scope: str,
    whole_folder: str = "",
    folders: Sequence[str] = (),
    secret: bool = True,
) -> Change:
    """The change of one of the user's files.

    Raises:
        Refused: the file cannot be written, or is a link out of the project.
    """
    state = workspace.state(path)
    check_target(state, workspace.environment, scope)
    made = missing_folders(state.real, workspace)
    folder = state.real.rpartition("/")[0]
    beside = folder
    if whole_folder:
        # a host that loads a folder whole would load a lock or a staged text as well
        beside = whole_folder.rpartition("/")[0] if path == state.real else folder
    return Change(
        path=path,
        real=state.real,
        before=state.data if state.kind == "file" else None,
        after=document.to_bytes() if document is not None else None,
        mode=None if state.kind == "file" else 0o600 if scope == "user" and secret else 0o644,
        role="config",
        beside=beside,
        make_folders=made if document is not None else (),
        drop_folders=tuple(reversed(folders)),
        format=format_name,
        expect=document.get(()) if document is not None else None,
    )


def check_target(state: FileState, environment: Environment, scope: str) -> None:
    """Refuse a file that cannot be written safely. Nothing is read or written."""
    if state.kind == "dangling":
        raise Refused(
            f"`{state.path}` is a link that leads to `{state.problem or state.real}`, and nothing is there",
            path=state.path,
            code="unreadable",
            hint="make that file, or take the link out",
        )
    if state.kind not in ("file", "absent"):
        raise Refused(
            f"`{state.path}` cannot be written: {state.problem or state.kind}", path=state.path, code="unreadable"
        )
    if state.links > 1:
        raise Refused(
            f"`{state.path}` has {state.links} names (hard links), and writing it would part them",
            path=state.path,
            code="hard-linked",
            hint="make a copy of its own of it, or a symbolic link",
        )
    if not state.writable:
        raise Refused(
            f"`{state.path}` cannot be written by this user",
            path=state.path,
            code="not-writable",
            hint="give yourself the right to write the file and its folder",
        )
    root = environment.project
    if scope == "project" and root and state.real != state.path:
        inside = state.real == root or state.real.startswith(root.rstrip("/") + "/")
        if not inside or "/.git/" in state.real[len(root) :]:
            raise Refused(
                f"`{state.path}` is a link that leaves the project for `{state.real}`",
                path=state.path,
                code="leaves-project",
                hint="a checkout may not make hostconf write elsewhere",
            )


def state_change(
    path: str, before: bytes | None, after: bytes | None, workspace: Workspace, role: Any, drop: Sequence[str] = ()
) -> Change:
    """The change of a file of our own: a record, a vault, a claim."""
    return Change(
        path=path,
        real=path,
        before=before,
        after=after,
        mode=0o600,
        role=role,
        beside=path.rpartition("/")[0],
        make_folders=missing_folders(path, workspace) if after is not None else (),
        drop_folders=tuple(drop),
    )


def action_of(change: Change) -> Action:
    """`create`, `modify` or `delete`."""
    if change.before is None:
        return "create"
    return "delete" if change.after is None else "modify"
