"""One host's configuration as it takes effect: which layers count, and what its switches say.

Pure. A switch is asked here and nowhere else; the planner writes the same datum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hostconf.errors import FormatError
from hostconf.hosts.schema import Check, Host, Policy, Switch
from hostconf.model import Strength
from hostconf.survey.workspace import LayerFile, Workspace, layer_files

Names = Mapping[str, Any]
"""What a form is filled with: tool, server, name, command, url."""


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


class View:
    """A host over a workspace: its layers, strongest first, those that count, and its policies."""

    __slots__ = ("_regex", "dropped", "files", "host", "policies", "trusted", "workspace")

    def __init__(self, host: Host, workspace: Workspace) -> None:
        self.host = host
        self.workspace = workspace
        self.files = layer_files(host, workspace)
        self.dropped: dict[str, FormatError] = {}
        self._regex: dict[str, re.Pattern[str]] = {}
        for file in self.files:
            problem = self._wrong_type(file)
            if problem is not None:
                self.dropped[file.path] = problem
        self.trusted: dict[str, bool] = {}
        for folder in workspace.environment.folders:
            self.trusted[folder] = self._trusts(folder)
        self.policies: tuple[Policy, ...] = tuple(p for p in host.policies if self.check(p.when, {}) is not None)

    # ---------------------------------------------------------------- layers

    def _wrong_type(self, file: LayerFile) -> FormatError | None:
        """Why the host drops or refuses this file as a whole, though it parses."""
        document = file.document
        if document is None:
            return file.read if isinstance(file.read, FormatError) else None
        if document.issues and (file.layer.format == "toml" or not document.text.strip()):
            return document.issues[0]
        for typed in self.host.types:
            if typed.group != file.layer.group:
                continue
            value = document.get(typed.at)
            right = {"table": dict, "list": list, "string": str, "bool": bool}.get(typed.type)
            missing = _is_missing(value)
            if (missing and typed.type != "absent") or (not missing and right and isinstance(value, right)):
                continue
            if missing:
                continue
            span = document.where(typed.at)
            wants = "must not be there" if typed.type == "absent" else f"has to be a {typed.type}"
            text = f"`{'.'.join(typed.at)}` {wants}" + (f": {typed.text}" if typed.text else "")
            return FormatError(
                text,
                path=file.path,
                line=span.line if span else None,
                column=span.column if span else None,
                code="wrong-type",
            )
        if not isinstance(document.get(()), dict):
            return FormatError(
                "the file has to hold an object at its root", path=file.path, line=1, column=1, code="wrong-type"
            )
        return None

    def counts(self, file: LayerFile) -> bool:
        """Whether the host takes this layer into account."""
        if file.document is None or file.path in self.dropped:
            return False
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
        places = [folder]
        if trust.upwards:
            while "/" in places[-1].rstrip("/") and places[-1] != "/":
                places.append(places[-1].rpartition("/")[0] or "/")
        return any(self.check(check, {"folder": place}) is not None for check in trust.checks for place in places)

    # ---------------------------------------------------------------- checks

    def fill(self, at: tuple[str, ...], names: Names) -> tuple[str, ...] | None:
        """A key path with its names filled in; None where one is not known."""
        project = self.workspace.environment.project
        known = {"project": project, "folder": project, **names}
        filled = []
        for key in at:
            value = fill_form(key, known)
            if value is None:
                return None
            filled.append(str(value))
        return tuple(filled)

    def check(self, check: Check, names: Names) -> Decision | None:
        """The value that answers the question with yes, or None."""
        at = self.fill(check.at, names)
        if at is None:
            return None
        if check.trusted and not all(self._trust_known()):
            return None
        for file in self.group(check.group, check.layers):
            assert file.document is not None
            value = file.document.get(at)
            if _is_missing(value):
                continue
            if check.contains:
                wanted = fill_form(check.contains, names)
                right = isinstance(value, list) and wanted in value
            else:
                right = not check.is_ or any(value is w or (type(value) is type(w) and value == w) for w in check.is_)
            if right:
                return Decision(file.path, self.line(file, at), value)
        return None

    def _trust_known(self) -> list[bool]:
        folders = self.workspace.environment.folders
        return [self.trusted.get(folders[0], False)] if folders else [False]

    def line(self, file: LayerFile, at: tuple[str | int, ...]) -> int:
        """The line on which an entry stands; 0 where it does not."""
        span = file.document.where(at) if file.document is not None else None
        return span.line if span else 0

    # ---------------------------------------------------------------- switches

    def switch_files(self, switch: Switch) -> Iterator[LayerFile]:
        """The files in which a switch counts: not those that a managed policy voids."""
        only: tuple[str, ...] = ()
        for policy in self.policies:
            if policy.effect == "switch-only-from" and policy.switch == switch.id:
                only = policy.layers
        return self.group(switch.group, only)

    def off(self, switch: Switch, subject: str, names: Names) -> Off | None:
        """Whether the switch takes `subject` (`tool`, `server`, `server_tool`) out, and where it says so."""
        found: tuple[str, int] | None = None
        if switch.kind == "variable":
            environment = self.workspace.environment
            if environment.host_variables and environment.variables.get(switch.variable) == switch.off:
                found = (f"${switch.variable}", 0)
        elif switch.kind == "value":
            decision = self.value(switch, names)
            if decision is not None and decision.value is not None and _same(decision.value, switch.off):
                found = (decision.path, decision.line)
        elif subject not in switch.forms:
            return None
        elif switch.kind == "list":
            found = self._in_list(switch, switch.forms[subject], names)
        else:
            decision = self.last_match(switch, subject, names)
            if decision is not None and decision.value == switch.off:
                found = (decision.path, decision.line)
        if found is None:
            return None
        return Off(switch.id, found[0], found[1], switch.strength, switch.text)

    def value(self, switch: Switch, names: Names) -> Decision | None:
        """What the strongest layer that has the key says, and where."""
        at = self.fill(switch.at, names)
        if at is None:
            return None
        for file in self.switch_files(switch):
            assert file.document is not None
            value = file.document.get(at)
            if not _is_missing(value):
                return Decision(file.path, self.line(file, at), value)
        return None

    def _in_list(self, switch: Switch, forms: tuple[Any, ...], names: Names) -> tuple[str, int] | None:
        at = self.fill(switch.at, names)
        if at is None:
            return None
        wanted = [f for f in (fill_form(form, names) for form in forms) if f is not None]
        for file in self.switch_files(switch):
            assert file.document is not None
            items = file.document.get(at)
            for index, item in enumerate(items if isinstance(items, list) else ()):
                if switch.valid and not (isinstance(item, str) and self._matcher(switch.valid).search(item)):
                    continue
                if any(self._matches(item, form, switch.glob) for form in wanted):
                    return file.path, self.line(file, (*at, index))
        return None

    def _matches(self, item: Any, form: Any, glob: bool) -> bool:
        if isinstance(item, dict) and isinstance(form, dict):
            # a pattern for the address may hold stars
            return item.keys() == form.keys() and all(
                self._matches(item[k], form[k], k.lower().endswith("url")) for k in item
            )
        if isinstance(item, str) and isinstance(form, str):
            return glob_match(item, form) if glob else item == form
        return bool(type(item) is type(form) and item == form)

    def ordered(self, switch: Switch) -> list[tuple[str, Any, str, int]]:
        """The keys of an ordered switch over all layers, in the order in which the host reads them."""
        rows: list[tuple[str, Any, str, int]] = []
        for table in (*switch.first_at, switch.at, *switch.then_at):
            merged: dict[str, tuple[Any, str, int]] = {}
            for file in reversed(list(self.switch_files(switch))):
                assert file.document is not None
                value = file.document.get(table)
                if isinstance(value, str):
                    value = {"*": value}
                for key in value if isinstance(value, dict) else ():
                    # a key that a weaker layer has keeps its place, with the new value
                    merged[key] = (value[key], file.path, self.line(file, (*table, key)) or self.line(file, table))
            first = table in switch.first_at
            rows += [
                (key, _word(value, switch) if first else value, path, line)
                for key, (value, path, line) in merged.items()
            ]
        return rows

    def last_match(self, switch: Switch, subject: str, names: Names) -> Decision | None:
        """The key of an ordered switch that decides, with its value."""
        forms = [f for f in (fill_form(form, names) for form in switch.forms.get(subject, ())) if isinstance(f, str)]
        for key, value, path, line in reversed(self.ordered(switch)):
            if isinstance(value, str) and any(glob_match(key, form) for form in forms):
                return Decision(path, line, value)
        return None

    def _matcher(self, pattern: str) -> re.Pattern[str]:
        if pattern not in self._regex:
            self._regex[pattern] = re.compile(pattern)
        return self._regex[pattern]


def _word(value: Any, switch: Switch) -> Any:
    return switch.off if value is False else "allow" if value is True else value


def _is_missing(value: Any) -> bool:
    return type(value).__name__ == "_Missing"


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def fill_form(form: Any, names: Names) -> Any:
    """A form with its names filled in; a string that is one name alone takes its value as it is (a list, say).

    None where a name is not known or empty: such a form stands for nothing.
    """
    if isinstance(form, dict):
        filled = {key: fill_form(value, names) for key, value in form.items()}
        return None if None in filled.values() else filled
    if not isinstance(form, str) or "{" not in form:
        return form
    if form.startswith("{") and form.endswith("}") and form[1:-1] in names:
        return names[form[1:-1]] or None
    out = form
    for name in re.findall(r"\{(\w+)\}", form):
        value = names.get(name)
        if not isinstance(value, str) or not value:
            return None
        out = out.replace("{" + name + "}", value)
    return out


def glob_match(pattern: str, text: str) -> bool:
    """Whether the pattern, in which `*` alone is special, matches the whole text."""
    if "*" not in pattern:
        return pattern == text
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None
