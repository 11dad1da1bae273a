"""Reading what a verb needs, once: catalogues, files of the hosts, records and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hostconf.errors import FormatError, RecordUnreadable, UsageError
from hostconf.hosts.load import host_named, load_hosts, nearest_host
from hostconf.hosts.schema import Host
from hostconf.integrations.load import load_integrations
from hostconf.integrations.schema import Integration
from hostconf.model import Environment, Snapshot
from hostconf.plan.known import Known
from hostconf.record import CLAIM, Record, claim_path, load_claims, load_record, state_folder, vault_path
from hostconf.snapshot import find_programs, take_snapshot
from hostconf.survey.survey import more_paths
from hostconf.survey.workspace import Workspace, layer_files, layer_paths, problem_of
from hostconf.system import RealSystem, System

_STEPS = 6
"""So often the files are asked what else to read: a plugin's market, its folder, its description, what that names."""


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
    places = {f"{state_folder(environment, scope)}/records": scope for scope in (scopes if records else ())}
    for folder in places:
        globs.append(f"{folder}/*")
        paths.append(f"{folder.rpartition('/')[0]}/.gitignore")
        paths.append(f"{folder}/any")
    snapshot = _with_folders(take_snapshot(environment, paths, globs, system=house.system), paths, house.system)
    programs, versions = find_programs({h.id: (h.commands, h.package) for h in hosts}, environment, system=house.system)
    snapshot = snapshot._replace(programs=programs, versions=versions)
    workspace = _told_of(hosts, Workspace(snapshot), house.system)
    snapshot = workspace.snapshot
    found, problems = _records(snapshot, places)
    later = _later(hosts, workspace, found.values(), house.system)
    if later:
        more_snapshot = _with_folders(take_snapshot(environment, later, (), system=house.system), later, house.system)
        snapshot = snapshot._replace(files={**more_snapshot.files, **snapshot.files})
    claims = {}
    for path, state in snapshot.files.items():
        if path.endswith(CLAIM) and state.kind != "absent":
            config = snapshot.files.get(path.removesuffix(CLAIM))
            if state.data is None and config is not None and config.kind == "unreadable":
                continue  # that is said of the file itself
            try:
                if state.data is None:
                    raise RecordUnreadable(f"the owner claim {problem_of(state)}", path=path)
                claims[path] = load_claims(state.data, path)
            except RecordUnreadable as error:
                problems.append(error)
    ours = {
        (f.path, o.at): r.integration
        for r in found.values()
        for f in r.files
        for o in f.operations
        if o.kind == "set" and o.at[-1:] == (r.server,)
    }
    unread = tuple(p.path for p in problems if p.path and p.path.rpartition("/")[0] in places)
    return Gathered(workspace.over(snapshot).with_ours(ours), Known(found, claims, unread), tuple(problems))


def _told_of(hosts: Sequence[Host], workspace: Workspace, system: System) -> Workspace:
    """The workspace with what the files read so far tell of, step by step: listed rules files, what plugins bring."""
    for _ in range(_STEPS):
        snapshot = workspace.snapshot
        wanted = dict.fromkeys(path for host in hosts for path in more_paths(host, workspace))
        globs = [path for path in wanted if "*" in path and path not in snapshot.listings]
        paths = [path for path in wanted if "*" not in path and path not in snapshot.files]
        if not (globs or paths):
            break
        more = _with_folders(take_snapshot(snapshot.environment, paths, globs, system=system), paths, system)
        files, listings = {**more.files, **snapshot.files}, {**more.listings, **snapshot.listings}
        workspace = workspace.over(snapshot._replace(files=files, listings=listings))
    return workspace


def _with_folders(snapshot: Snapshot, paths: Iterable[str], system: System) -> Snapshot:
    """The snapshot with the folders above what is absent, up to one that is there: a plan has to know what to make.

    Both where a path is named and where it leads.
    """
    files = dict(snapshot.files)
    for path in paths:
        state = files[path]
        for folder in {path.rpartition("/")[0], state.real.rpartition("/")[0]} if state.kind == "absent" else ():
            while folder:
                if folder not in files:
                    files[folder] = system.read(folder)
                if files[folder].kind != "absent":
                    break
                folder = folder.rpartition("/")[0]
    return snapshot._replace(files=files)


def _records(snapshot: Snapshot, places: Mapping[str, str]) -> tuple[dict[str, Record], list[RecordUnreadable]]:
    """The records in these folders, folder to scope."""
    found: dict[str, Record] = {}
    problems: list[RecordUnreadable] = []
    for path, state in snapshot.files.items():
        scope = places.get(path.rpartition("/")[0])
        if scope is None or not path.endswith(".json"):
            continue
        try:
            if state.data is None:
                if state.kind == "absent":
                    continue
                raise RecordUnreadable(f"the install record {problem_of(state)}", path=path)
            vault = snapshot.files.get(vault_path(path))
            found[path] = load_record(state.data, vault.data if vault else None, path, snapshot.environment, scope)
        except RecordUnreadable as error:
            problems.append(error)
    return found, problems


def _later(hosts: Sequence[Host], workspace: Workspace, records: Iterable[Record], system: System) -> list[str]:
    """Paths that only the first look tells of: recorded files, claims beside what links lead to."""
    snapshot = workspace.snapshot
    wanted: list[str] = []
    configs: list[str] = []
    for host in hosts:
        configs += [f.path for f in layer_files(host, workspace) if not f.path.startswith("$")]
    for record in records:
        configs += [f.path for f in record.files]
        wanted += [folder for f in record.files for folder in f.folders]
    for path in configs:
        real = snapshot.files[path].real if path in snapshot.files else system.resolve(path).real
        wanted += [path, real, claim_path(real, real.rpartition("/")[0])]
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
