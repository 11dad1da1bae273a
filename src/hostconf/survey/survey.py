"""One host as it stands: the whole answer to what is on the field.

Pure: equal arguments give equal results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hostconf.hosts.schema import Host
from hostconf.integrations.schema import Integration
from hostconf.model import Conflict, Registration, RulesFile, Survey, Tool
from hostconf.survey.conflicts import Own, find_conflicts
from hostconf.survey.plugins import more_paths as plugin_paths
from hostconf.survey.registrations import registrations
from hostconf.survey.rules import more_rules, rules_files
from hostconf.survey.surface import surface
from hostconf.survey.view import View
from hostconf.survey.workspace import Workspace

CAPABILITIES = ("web_search", "web_fetch")


class Field(NamedTuple):
    """What the planner looks at again and again, without the findings."""

    view: View
    registrations: tuple[Registration, ...]

    def surface(self, capability: str) -> tuple[Tool, ...]:
        """The tools for a capability."""
        return surface(self.view, self.registrations, capability)

    def rules(self) -> tuple[RulesFile, ...]:
        """The rules files."""
        return rules_files(self.view)

    def conflicts(self, catalogue: Sequence[Integration], own: Own = ()) -> tuple[Conflict, ...]:
        """The findings."""
        surfaces = {c: self.surface(c) for c in CAPABILITIES}
        return find_conflicts(self.view, self.registrations, self.rules(), surfaces, catalogue, own)


def more_paths(host: Host, workspace: Workspace) -> list[str]:
    """Paths, and globs, that have to be read too by what the files read so far say.

    To be asked again after they are read, until nothing is left that was not asked for.
    """
    view = View(host, workspace)
    return [*more_rules(view), *plugin_paths(view)]


def field(host: Host, workspace: Workspace, catalogue: Sequence[Integration]) -> Field:
    """The field of a host over a workspace."""
    view = View(host, workspace)
    return Field(view, registrations(view, catalogue))


def survey(host: Host, workspace: Workspace, catalogue: Sequence[Integration], own: Own = ()) -> Survey:
    """Everything that the read-only commands show of a host."""
    found = field(host, workspace, catalogue)
    files = found.view.files
    layers = tuple(
        {
            "id": f.layer.id,
            "scope": f.layer.scope,
            "rank": f.layer.rank,
            "path": f.path,
            "format": f.layer.format,
            "exists": f.read is not None,
            "loaded": found.view.counts(f),
            "problem": found.view.dropped[f.path].message if f.path in found.view.dropped else "",
        }
        for f in files
        if f.layer.group
    )
    snapshot = workspace.snapshot
    present = host.id in snapshot.programs or any(f.read is not None and f.layer.scope != "managed" for f in files)
    return Survey(
        host=host.id,
        name=host.name,
        present=present,
        version=snapshot.versions.get(host.id, ""),
        layers=layers,
        registrations=found.registrations,
        rules=found.rules(),
        surface={c: found.surface(c) for c in CAPABILITIES},
        conflicts=found.conflicts(catalogue, own),
    )
