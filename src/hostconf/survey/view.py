"""One host's configuration as it takes effect: which layers count, and what its switches say.

Pure. A switch is asked here and nowhere else; the planner writes the same datum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.errors import FormatError
from hostconf.formats.base import MISSING
from hostconf.hosts.schema import Check, Host, Policy, Switch
from hostconf.model import KeyPath, Strength
from hostconf.survey.match import fill_form, glob_match, item_matches, overlaps
from hostconf.survey.types import Entry, broken_entries, find_entries, wrong_types
from hostconf.survey.workspace import LayerFile, Workspace, layer_files, loose_files

__all__ = ["Decision", "Names", "Off", "View", "fill_form", "glob_match"]

Names = Mapping[str, Any]
"""What a form is filled with: tool, server, name, command, url; of a registration its `layer`, its `entries`,
and its `own` file where the host does not read that yet: what it says of itself will hold with it."""


class Off(NamedTuple):
    """That a switch takes something out, and which line says so."""

    switch: str
    path: str
    line: int
    strength: Strength
    text: str


class Decision(NamedTuple):
    """The line that leaves something on."""

    path: str
    line: int
    value: Any
    layer: str = ""
    scope: str = ""
    key: str = ""
    """`ordered`: the key that matches."""


class View:
    """A host over a workspace: its layers, strongest first, those that count, and its policies."""

    __slots__ = (
        "_entries", "_lines", "_ordered", "_values",
        "dropped", "faults", "files", "host", "policies", "trusted", "void", "workspace",
    )  # fmt: skip

    def __init__(self, host: Host, workspace: Workspace) -> None:
        self.host = host
        self.workspace = workspace
        self.files = (*layer_files(host, workspace), *loose_files(host, workspace))
        self.dropped: dict[str, FormatError] = {f.path: f.read for f in self.files if isinstance(f.read, FormatError)}
        """Files that the host drops or refuses as a whole, and why."""
        self.faults: list[tuple[LayerFile, FormatError, str]] = []
        """Values that are void by themselves, and what the host does about them."""
        self.void: set[tuple[str, KeyPath]] = set()
        """Where they stand."""
        # one look at a host asks for the same value for each tool of each server
        self._values: dict[tuple[int, KeyPath], Any] = {}
        self._lines: dict[tuple[int, KeyPath], int] = {}
        self._ordered: dict[str, list[Decision]] = {}
        self._entries: tuple[Entry, ...] | None = None
        self.trusted: dict[str, bool] = {}
        for folder in workspace.environment.folders:
            self.trusted[folder] = self._trusts(folder)
        wrong_types(self)
        broken_entries(self)
        self.policies: tuple[Policy, ...] = tuple(p for p in host.policies if self.policy(p) is not None)

    # ---------------------------------------------------------------- layers

    def counts(self, file: LayerFile) -> bool:
        """Whether the host takes this layer into account."""
        return file.document is not None and file.path not in self.dropped and self.loads(file)

    def loads(self, file: LayerFile) -> bool:
        """Whether the host would read this layer: not one of a folder that is not trusted."""
        return not file.layer.trust or self.trusted.get(file.folder, False)

    def group(self, group: str, layers: tuple[str, ...] = ()) -> Iterator[LayerFile]:
        """The files of a group that count, the strongest first."""
        for file in self.files:
            if file.layer.group == group and (not layers or file.layer.id in layers) and self.counts(file):
                yield file

    def _trusts(self, folder: str) -> bool:
        trust = self.host.trust
        if trust is None:
            return True
        project = self.workspace.environment.project
        places = [{"{folder}": folder, "{project}": project or folder}.get(place, place) for place in trust.asked]
        if trust.upwards:
            while "/" in places[-1].rstrip("/") and places[-1] != "/":
                places.append(places[-1].rpartition("/")[0] or "/")
        for place in dict.fromkeys(places):
            for check in trust.checks:
                said = self.check(check._replace(is_=()), {"folder": place})
                if said is not None:
                    return not check.is_ or any(_same(said.value, w) for w in check.is_)
        return False

    # ---------------------------------------------------------------- checks

    def fill(self, at: tuple[str, ...], names: Names) -> tuple[str, ...] | None:
        """A key path with its names filled in; None where one is not known."""
        return next(iter(self.fill_all(at, names)), None)

    def fill_all(self, at: tuple[str, ...], names: Names) -> tuple[tuple[str, ...], ...]:
        """The key paths that a template stands for: several where `{entry}` may stand in several tables."""
        if "{entry}" in at:
            entries: Sequence[KeyPath] = names.get("entries") or self.places_of(names)
            return tuple(
                tuple(str(k) for key in at for k in (entry if key == "{entry}" else (key,))) for entry in entries
            )
        project = self.workspace.environment.project
        known = {"project": project, "folder": project, **names}
        filled = []
        for key in at:
            value = fill_form(key, known)
            if value is None:
                return ()
            filled.append(str(value))
        return (tuple(filled),)

    def places_of(self, names: Names) -> tuple[KeyPath, ...]:
        """Where the server of this name stands, a plugin's included; else where it would."""
        from hostconf.survey.plugins import brought  # it looks at views

        name = names.get("name")
        if not isinstance(name, str):
            return ()
        found = [entry.at for entry in self.entries() if entry.name == name]
        mine = [one for one in brought(self) if one.name == name and not found]
        if mine:
            return tuple(one.at for one in mine if one.raw is not None)
        tables = [self.fill(at, {}) for at in self.host.registrations.at]
        found = found or [(*at, name) for at in tables if at is not None]
        return tuple(dict.fromkeys(found))

    def check(self, check: Check, names: Names) -> Decision | None:
        """The value that answers the question with yes, or None."""
        at = self.fill(check.at, names)
        if at is None or (check.trusted and not self._trusts_project()):
            return None
        if check.exists:
            for file in self.files:
                if file.layer.id in check.layers and file.read is not None:
                    return Decision(file.path, 1, None, file.layer.id, file.layer.scope)
            return None
        for file in self.group(check.group, check.layers):
            assert file.document is not None
            value = self.get(file, at)
            if value is MISSING or (file.path, at) in self.void:
                continue
            line_at: KeyPath = at
            if check.contains:
                wanted = fill_form(check.contains, names)
                right = isinstance(value, list) and wanted in value
                line_at = (*at, value.index(wanted)) if right else at
            else:
                right = not check.is_ or any(_same(value, w) for w in check.is_)
            if right:
                return Decision(file.path, self.line(file, line_at), value, file.layer.id, file.layer.scope)
        return None

    def policy(self, policy: Policy) -> Decision | None:
        """The line that puts a policy in force."""
        return self.check(policy.when._replace(layers=self.policy_layers(policy)), {})

    def policy_layers(self, policy: Policy) -> tuple[str, ...]:
        """The layers in which a policy is looked for."""
        narrowed = policy.narrow is not None and self.check(policy.narrow, {}) is not None
        return policy.narrow_to if narrowed else policy.when.layers

    def _trusts_project(self) -> bool:
        folders = self.workspace.environment.folders
        return bool(folders) and self.trusted.get(folders[0], False)

    def line(self, file: LayerFile, at: KeyPath) -> int:
        """The line on which an entry stands; 0 where it does not."""
        key = (id(file.read), at)
        if key not in self._lines:
            span = file.document.where(at) if file.document is not None else None
            self._lines[key] = span.line if span else 0
        return self._lines[key]

    def get(self, file: LayerFile, at: KeyPath) -> Any:
        """The value at a key path of a file; MISSING where none stands. Not to be changed."""
        key = (id(file.read), at)
        if key not in self._values:
            self._values[key] = file.document.get(at) if file.document is not None else MISSING
        return self._values[key]

    def entries(self) -> tuple[Entry, ...]:
        """The entries of servers in all layers, the strongest first; also of layers that the host does not load."""
        if self._entries is None:
            self._entries = find_entries(self)
        return self._entries

    # ---------------------------------------------------------------- switches

    def voided(self, switch: Switch) -> Policy | None:
        """The policy that lets a switch count in some layers alone."""
        found = (p for p in self.policies if p.effect == "switch-only-from" and p.switch == switch.id)
        return next(found, None)

    def switch_files(self, switch: Switch) -> Iterator[LayerFile]:
        """The files in which a switch counts: not those that a managed policy voids."""
        policy = self.voided(switch)
        only = policy.layers if policy else ()
        for file in self.group(switch.group, switch.layers):
            if not only or file.layer.id in only:
                yield file

    def off(self, switch: Switch, subject: str, names: Names) -> Off | None:
        """Whether the switch takes `subject` (`tool`, `server`, `server_tool`) out, and where it says so."""
        found: tuple[str, int] | None = None
        if switch.of and names.get("layer") not in switch.of:
            return None
        if switch.kind == "value":
            decision = self.value(switch, names)
            if decision is not None and _means_off(switch, decision.value):
                found = (decision.path, decision.line)
        elif subject not in switch.forms:
            return None
        elif switch.kind == "list":
            found = self._in_list(switch, switch.forms[subject], names)
        elif switch.kind == "allow":
            found = self._not_allowed(switch, switch.forms[subject], names)
        else:
            found = self._last_off(switch, subject, names)
        if found is None:
            return None
        return Off(switch.id, found[0], found[1], switch.strength, switch.text)

    def value(self, switch: Switch, names: Names) -> Decision | None:
        """What the strongest layer that has the key says, and where; else the variable that stands for it."""
        places = self.fill_all(switch.at, names)
        own: LayerFile | None = names.get("own")
        for file in (*([own] if own else []), *self.switch_files(switch)):
            assert file.document is not None
            for at in places:
                value = self.get(file, at)
                if value is not MISSING:
                    return Decision(file.path, self.line(file, at), value, file.layer.id, file.layer.scope)
            for other in switch.else_at:
                for at in self.fill_all(other.at, names):
                    value = self.get(file, at)
                    if value is not MISSING:
                        off = switch.off if any(_same(value, w) for w in other.is_) else MISSING
                        return Decision(file.path, self.line(file, at), off, file.layer.id, file.layer.scope)
        environment = self.workspace.environment
        if switch.variable and environment.host_variables and environment.variables.get(switch.variable):
            return Decision(f"${switch.variable}", 0, environment.variables[switch.variable], "", "local")
        return None

    def _in_list(self, switch: Switch, forms: tuple[Any, ...], names: Names) -> tuple[str, int] | None:
        at = self.fill(switch.at, names)
        if at is None:
            return None
        wanted = [f for f in (fill_form(form, names) for form in forms) if f is not None]
        keys = {key for form in forms if isinstance(form, dict) for key in form}
        for file in self.switch_files(switch):
            assert file.document is not None
            items = self.get(file, at)
            for index, item in enumerate(items if isinstance(items, list) else ()):
                if switch.valid and not (isinstance(item, str) and re.search(switch.valid, item)):
                    continue
                if any(item_matches(item, form, switch.glob, keys, switch.globs) for form in wanted):
                    return file.path, self.line(file, (*at, index))
        return None

    def _not_allowed(self, switch: Switch, forms: tuple[Any, ...], names: Names) -> tuple[str, int] | None:
        """An allow-list of the strongest layer that has one, which lacks the item."""
        decision = self.value(switch, names)
        if decision is None or not isinstance(decision.value, list):
            return None
        wanted = [f for f in (fill_form(form, names) for form in forms) if f is not None]
        keys = {key for form in forms if isinstance(form, dict) for key in form}
        for item in decision.value:
            if any(item_matches(item, form, switch.glob, keys, switch.globs) for form in wanted):
                return None
        return decision.path, decision.line

    def ordered(self, switch: Switch) -> list[tuple[str, Any, str, int]]:
        """The keys of an ordered switch over all layers, in the order in which the host reads them."""
        return [(d.key, d.value, d.path, d.line) for d in self.ordered_rows(switch)]

    def ordered_rows(self, switch: Switch) -> list[Decision]:
        """The same with the layer of each."""
        if switch.id not in self._ordered:
            self._ordered[switch.id] = self._read_ordered(switch)
        return self._ordered[switch.id]

    def _read_ordered(self, switch: Switch) -> list[Decision]:
        rows: list[Decision] = []
        # older tables are read as weaker layers of the same table, so a key of theirs keeps its place
        for tables in ((*switch.first_at, switch.at), switch.then_at):
            merged: dict[str, Decision] = {}
            for table in tables:
                for file in reversed(list(self.switch_files(switch))):
                    assert file.document is not None
                    value = self.get(file, table)
                    if isinstance(value, str):
                        value = {"*": value}
                    for key in value if isinstance(value, dict) else ():
                        line = self.line(file, (*table, key)) or self.line(file, table)
                        said = _word(value[key], switch)
                        merged[key] = Decision(file.path, line, said, file.layer.id, file.layer.scope, key)
            rows += merged.values()
        return rows

    def last_match(self, switch: Switch, subject: str, names: Names) -> Decision | None:
        """The key of an ordered switch that decides, with its value."""
        forms = [f for f in (fill_form(form, names) for form in switch.forms.get(subject, ())) if isinstance(f, str)]
        rows = reversed(self.ordered_rows(switch))
        found = next((row for row in rows if any(glob_match(row.key, form) for form in forms)), None)
        return None if found is None else found._replace(value=_plain(found.value))

    def _last_off(self, switch: Switch, subject: str, names: Names) -> tuple[str, int] | None:
        decision = self.last_match(switch, subject, names)
        if decision is None or decision.value != switch.off:
            return None
        if subject == "server":
            # a later key may leave one of its tools on: then each tool is asked by itself
            forms = [f for f in (fill_form(form, names) for form in switch.forms[subject]) if isinstance(f, str)]
            for row in reversed(self.ordered_rows(switch)):
                if (row.key, row.path) == (decision.key, decision.path):
                    break
                if _plain(row.value) != switch.off and any(overlaps(row.key, form) for form in forms):
                    return None
        return decision.path, decision.line


def _word(value: Any, switch: Switch) -> Any:
    return switch.off if value is False else "allow" if value is True else value


def _plain(value: Any) -> Any:
    """The action of a rule: of a table of patterns the last one counts, and only where it is for everything."""
    if not isinstance(value, dict):
        return value
    last = next(reversed(value.items()), ("", ""))
    return last[1] if last[0] == "*" else "in part"


def _means_off(switch: Switch, value: Any) -> bool:
    if value is MISSING or value is None:
        return False
    wanted = (switch.off, *switch.also_off)
    if switch.as_text:
        return str(value).strip().lower() in {str(w).lower() for w in wanted}
    return any(_same(value, w) for w in wanted)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)
