"""What the machine tells us, asked once at the start: home, project, variables, platform.

Nothing else asks for a variable or for the working folder. All variables of our own
are declared in `VARIABLES`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from os.path import dirname, exists, isabs, isdir, join, realpath
from typing import NamedTuple

from hostconf.errors import UsageError
from hostconf.model import Environment


class Variable(NamedTuple):
    """One variable of our own."""

    name: str
    default: str
    meaning: str


LOCK_WAIT = Variable(
    "HOSTCONF_LOCK_WAIT", "2", "Seconds to wait for a lock that somebody else holds, 0 to 600, before giving up"
)
SYSTEM_ROOT = Variable(
    "HOSTCONF_SYSTEM_ROOT", "", "Folder put before the absolute paths of managed layers, to try them anywhere"
)
DEBUG = Variable(
    "HOSTCONF_DEBUG", "", "Show the whole trace of a failure nobody foresaw; it may hold values of your files"
)
VARIABLES = (LOCK_WAIT, SYSTEM_ROOT, DEBUG)
"""Every `HOSTCONF_*` variable there is, for help and documents."""


def setting(variables: Mapping[str, str], variable: Variable) -> str:
    """The variable's value, or its default where it is not set or empty."""
    return variables.get(variable.name) or variable.default


def lock_wait(variables: Mapping[str, str]) -> float:
    """How long to wait for a lock, in seconds.

    Raises:
        UsageError: it is no number from 0 to 600.
    """
    text = setting(variables, LOCK_WAIT)
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= 600:
        raise UsageError(f"`{LOCK_WAIT.name}` is not a number of seconds from 0 to 600")
    return seconds


def read_environment(
    *, home: str | None = None, project: str | None = None, cwd: str, variables: Mapping[str, str]
) -> Environment:
    """What the machine tells: see `Environment`. Reads the disk, writes nothing.

    `home` and `project` are what the command line says; relative ones count from
    `cwd`. A given home outranks every variable that moves files.

    Raises:
        UsageError: no usable home, no such project, or a variable of ours is off.
    """
    given = home is not None
    house = _home(home, cwd, variables)
    here = realpath(cwd)
    root = _given_project(project, cwd, house) if project is not None else _project(here, house)
    system_root = setting(variables, SYSTEM_ROOT)
    if system_root and not isabs(system_root):
        raise UsageError(f"`{SYSTEM_ROOT.name}` is not an absolute path")
    lock_wait(variables)
    return Environment(
        home=house,
        project=root,
        folders=_folders(root, here),
        variables=dict(variables),
        host_variables=not given,
        state=_state(house, given, variables),
        system_root=system_root.rstrip("/"),
        platform=_platform(),
        now=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )


def _home(home: str | None, cwd: str, variables: Mapping[str, str]) -> str:
    if home is not None:
        path = join(cwd, home)
        if not home or not isdir(path):
            raise UsageError(f"`--home {home}` is no folder", path=path)
        return realpath(path)
    path = variables.get("HOME", "")
    if not path and sys.platform == "win32":
        path = variables.get("USERPROFILE", "")
    if not isabs(path):
        # The user database is not asked: who set HOME wrong would have another home written.
        problem = "is not an absolute path" if path else "is not set"
        raise UsageError(f"`HOME` {problem}", hint="set it, or give `--home DIR`")
    if not isdir(path):
        raise UsageError(f"`HOME` is `{path}`, which is no folder", hint="set it, or give `--home DIR`", path=path)
    return realpath(path)


def _state(home: str, given: bool, variables: Mapping[str, str]) -> str:
    base = "" if given else variables.get("XDG_STATE_HOME", "")
    # A relative one is ignored, as the XDG specification says.
    return realpath(join(base if isabs(base) else join(home, ".local", "state"), "hostconf"))


def _given_project(project: str, cwd: str, home: str) -> str:
    path = realpath(join(cwd, project))
    if not project or not isdir(path):
        raise UsageError(f"`--project {project}` is no folder", path=path)
    if _holds(path, home):
        raise UsageError(f"`--project {project}` is the home folder, or holds it", path=path)
    return path


def _project(here: str, home: str) -> str | None:
    folder = here
    # The home, and what holds it, is never a project: a repository of dotfiles would swallow all others.
    while not _holds(folder, home) and folder != dirname(folder):
        if exists(join(folder, ".git")):
            return folder
        folder = dirname(folder)
    return None if _holds(here, home) else here


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _folders(project: str | None, here: str) -> tuple[str, ...]:
    if project is None:
        return ()
    found = [project]
    if _holds(project, here):
        for part in here[len(project) :].split(os.sep):
            if part:
                found.append(join(found[-1], part))
    return tuple(found)


def _platform() -> str:
    if sys.platform == "win32":
        return "windows"
    if sys.platform == "darwin":
        return "macos"
    try:
        with open("/proc/sys/kernel/osrelease", encoding="utf-8") as file:
            return "wsl" if "microsoft" in file.read().lower() else "linux"
    except OSError:
        return "linux"
