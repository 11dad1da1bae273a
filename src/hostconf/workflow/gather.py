"""Reading what a verb needs, once: catalogues, files of the hosts, records and claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hostconf.errors import FormatError, RecordUnreadable, UsageError
from hostconf.hosts.load import host_named, load_hosts, nearest_host
from hostconf.hosts.schema import Host
from hostconf.integrations.load import load_integrations
from hostconf.integrations.schema import Integration
from hostconf.model import Environment, Snapshot
from hostconf.plan.known import Known
from hostconf.record import Record, claim_path, load_claims, load_record, local, state_folder, vault_path
from hostconf.snapshot import find_programs, take_snapshot
from hostconf.survey.rules import listed_paths
from hostconf.survey.view import View
from hostconf.survey.workspace import Workspace, layer_paths
from hostconf.system import RealSystem, System


class House(NamedTuple):
    """What stands behind every verb: the machine, the door to its disk, the two catalogues."""

    environment: Environment
    system: System
    hosts: tuple[Host, ...]
    catalogue: tuple[Integration, ...]

    def named(self, names: Sequence[str]) -> tuple[Host, ...]:
        """The hosts of these ids or aliases; all when none is named.

        Raises:
            UsageError: there is no such host.
        """
        if not names:
            return self.hosts
        found = []
        for name in names:
            host = host_named(self.hosts, name)
            if host is None:
                raise UsageError(
                    f"there is no host `{name}`; the nearest is `{nearest_host(self.hosts, name)}`",
                    hint="`hostconf hosts` lists them",
                )
            found.append(host)
        return tuple({h.id: h for h in found}.values())


class Gathered(NamedTuple):
    """The files of some hosts, and what hostconf did to them before."""

    workspace: Workspace
    known: Known
    problems: tuple[RecordUnreadable, ...]
    """Records and claims that cannot be read: nothing is decided on them."""


def open_house(environment: Environment, system: System | None = None) -> House:
    """The house on this machine. Reads the two catalogues."""
    return House(environment, system or RealSystem(), load_hosts(), load_integrations())


def gather(house: House, hosts: Sequence[Host], records: bool = True) -> Gathered:
    """Everything that decides on these hosts, each file read once."""
    environment = house.environment
    paths: list[str] = []
    globs: list[str] = []
    for host in hosts:
        some, more = layer_paths(host, environment)
        paths += some
        globs += more
    scopes = ["user", *(["project"] if environment.project is not None else [])]
    for scope in scopes if records else ():
        folder = state_folder(environment, scope)
        globs.append(f"{folder}/records/*")
        paths.append(f"{folder}/.gitignore")
        paths.append(f"{folder}/records/any")
    snapshot = take_snapshot(environment, [*paths, *_folders(paths, environment)], globs, system=house.system)
    programs, versions = find_programs({h.id: (h.commands, h.package) for h in hosts}, environment, system=house.system)
    snapshot = snapshot._replace(programs=programs, versions=versions)
    found, problems = _records(snapshot) if records else ({}, [])
    later = _later(house, hosts, snapshot, found.values())
    if later:
        more_snapshot = take_snapshot(environment, [*later, *_folders(later, environment)], (), system=house.system)
        snapshot = snapshot._replace(files={**more_snapshot.files, **snapshot.files})
    claims = {}
    for path, state in snapshot.files.items():
        if path.endswith(".hostconf-owner.json") and state.data is not None:
            try:
                claims[path] = load_claims(state.data, path)
            except RecordUnreadable as error:
                problems.append(error)
    return Gathered(Workspace(snapshot), Known(found, claims), tuple(problems))


def _folders(paths: Iterable[str], environment: Environment) -> list[str]:
    """The folders above, down from home or project: a plan has to know which are missing."""
    roots = [r for r in (environment.home, environment.project) if r]
    found: dict[str, None] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found and any(folder.startswith(r.rstrip("/") + "/") for r in roots):
            found[folder] = None
            folder = folder.rpartition("/")[0]
    return list(found)


def _records(snapshot: Snapshot) -> tuple[dict[str, Record], list[RecordUnreadable]]:
    found: dict[str, Record] = {}
    problems: list[RecordUnreadable] = []
    for path, state in snapshot.files.items():
        if "/records/" not in path or not path.endswith(".json") or state.data is None:
            continue
        vault = snapshot.files.get(vault_path(path))
        try:
            found[path] = load_record(state.data, vault.data if vault else None, path, snapshot.environment)
        except RecordUnreadable as error:
            problems.append(error)
    return found, problems


def _later(house: House, hosts: Sequence[Host], snapshot: Snapshot, records: Iterable[Record]) -> list[str]:
    """Paths that only the first look tells of: listed rules files, recorded files, claims beside what links lead to."""
    workspace = Workspace(snapshot)
    wanted: list[str] = []
    for host in hosts:
        view = View(host, workspace)
        for rules in host.rules:
            if rules.listed_at:
                wanted += listed_paths(view, rules)
    for record in records:
        wanted += [local(f.path, house.environment) for f in record.files]
        wanted += [folder for f in record.files for folder in f.folders]
    for state in list(snapshot.files.values()):
        if state.kind in ("file", "absent") and "/records/" not in state.path:
            wanted.append(claim_path(state.real, state.real.rpartition("/")[0]))
            if state.real != state.path:
                wanted.append(state.real)
    return [p for p in dict.fromkeys(wanted) if p not in snapshot.files]


def record_problem(error: RecordUnreadable | FormatError) -> dict[str, object]:
    """An unreadable record as a row of the envelope."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "path": error.path,
        "line": error.line,
        "column": error.column,
    }
