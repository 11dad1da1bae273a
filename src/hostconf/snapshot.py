"""Reads the disk once: every file that was asked for, with its state. Who asks decides which.

Nothing is run and nothing is written. A version is what the program's own package says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os.path import dirname, join

from hostconf.model import Environment, FileState, Snapshot
from hostconf.system import System

_LEVELS = 8

Programs = Mapping[str, tuple[Sequence[str], str]]
"""Host id to the names of its program, in order, and the name of its package."""


def take_snapshot(
    environment: Environment,
    paths: Iterable[str],
    globs: Iterable[str] = (),
    *,
    system: System,
    hosts: Programs | None = None,
) -> Snapshot:
    """The state of these absolute paths and of what the patterns find, each read once.

    Never raises for what is on the disk: an unreadable file is a state. With `hosts`
    their programs and versions too.
    """
    listings = {pattern: system.glob(pattern) for pattern in dict.fromkeys(globs)}
    files: dict[str, FileState] = {}
    for path in (*paths, *(path for found in listings.values() for path in found)):
        if path not in files:
            files[path] = system.read(path)
    programs, versions = find_programs(hosts or {}, environment, system=system)
    return Snapshot(environment, files, listings, programs, versions)


def find_programs(
    hosts: Programs, environment: Environment, *, system: System
) -> tuple[dict[str, str], dict[str, str]]:
    """Which hosts are installed, and their versions: host id to path on PATH, host id to version.

    A host that is not on PATH is in neither; the version is empty where no package
    around the program says it.
    """
    programs: dict[str, str] = {}
    versions: dict[str, str] = {}
    path = environment.variables.get("PATH", "")
    for host, (commands, package) in hosts.items():
        found = next((file for command in commands if (file := system.which(command, path))), "")
        if found:
            programs[host] = found
            versions[host] = version_of(found, package, system=system)
    return programs, versions


def version_of(program: str, package: str, *, system: System) -> str:
    """The version of the npm package that the program belongs to, without running it; empty if none says so.

    The nearest `package.json` upwards counts whose name is the package's, or begins
    with it, as the platform packages' do.
    """
    if not package:
        return ""
    folder = dirname(system.resolve(program).real)
    for _ in range(_LEVELS):
        text = system.read_text(join(folder, "package.json"))
        try:
            found = json.loads(text) if text else None
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            name, version = found.get("name"), found.get("version")
            if (
                isinstance(name, str)
                and isinstance(version, str)
                and (name == package or name.startswith(package + "-"))
            ):
                return version if len(version) <= 64 and version.isprintable() else ""
        if folder == dirname(folder):
            break
        folder = dirname(folder)
    return ""
