"""The files of a host as documents: read lazily, edited in memory, never touched on the disk.

Pure. A workspace is a snapshot with an overlay; the planner edits the overlay and
asks the survey the same questions again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from hostconf.errors import FormatError
from hostconf.formats import format_named
from hostconf.formats.base import Document, KeyPath
from hostconf.hosts.schema import Host, Layer, Rules
from hostconf.model import Environment, FileState, Snapshot

T = TypeVar("T")

Read = Document | FormatError | None
"""A document, the reason why there is none, or None for an absent file."""


class Workspace:
    """A snapshot, with documents parsed once and an overlay of edited ones."""

    __slots__ = ("_overlay", "_parsed", "_told", "ours", "snapshot")

    def __init__(
        self,
        snapshot: Snapshot,
        overlay: Mapping[str, Document | None] | None = None,
        parsed: dict[tuple[str, str], Read] | None = None,
        told: dict[tuple[int, str], tuple[Document, Any]] | None = None,
        ours: Mapping[tuple[str, KeyPath], str] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.ours: Mapping[tuple[str, KeyPath], str] = ours or {}
        """Entries of which hostconf knows what they are, whatever command stands there: file and key path to id."""
        self._overlay = dict(overlay or {})
        self._parsed: dict[tuple[str, str], Read] = {} if parsed is None else parsed
        self._told: dict[tuple[int, str], tuple[Document, Any]] = {} if told is None else told

    @property
    def environment(self) -> Environment:
        """What the machine told us."""
        return self.snapshot.environment

    def state(self, path: str) -> FileState:
        """The file as it was read; absent where nobody asked for it."""
        return self.snapshot.files.get(path) or FileState(path, path, "absent")

    def read(self, path: str, format_name: str) -> Read:
        """The document at `path`; None if the file is absent, a FormatError if it cannot be read."""
        if path in self._overlay:
            return self._overlay[path]
        key = (path, format_name)
        if key not in self._parsed:
            read = self._parse(path, format_name)
            if read is None:
                # absent, or not asked for yet: that may change with the next step of the reading
                return None
            self._parsed[key] = read
        return self._parsed[key]

    def _parse(self, path: str, format_name: str) -> Read:
        state = self.state(path)
        if state.kind == "absent":
            return None
        if state.data is None:
            return FormatError(problem_of(state), path=path, code="unreadable")
        try:
            return format_named(format_name).parse(state.data, name=path)
        except FormatError as error:
            error.path = path
            return error

    def variable(self, layer: Layer, text: str) -> Read:
        """The document that stands in the variable of a layer."""
        key = (f"${layer.variable}", layer.format)
        if key not in self._parsed:
            self._parsed[key] = _variable(layer, text)
        return self._parsed[key]

    def blank(self, path: str, format_name: str) -> Document:
        """An empty document for a file that is to be made."""
        return format_named(format_name).parse(b"", name=path)

    def with_document(self, path: str, document: Document | None) -> Workspace:
        """A workspace in which `path` holds this document, or is absent; under each name that the file has."""
        state = self.state(path)
        names = {path}
        if state.kind == "file":
            # links: what is planned through one name is seen through the other
            names |= {p for p, s in self.snapshot.files.items() if s.real == state.real and s.kind == "file"}
        overlay = {**self._overlay, **dict.fromkeys(names, document)}
        return Workspace(self.snapshot, overlay, self._parsed, self._told, self.ours)

    def over(self, snapshot: Snapshot) -> Workspace:
        """The same documents over a snapshot in which more was read: nothing is parsed twice."""
        return Workspace(snapshot, self._overlay, self._parsed, self._told, self.ours)

    def with_ours(self, ours: Mapping[tuple[str, KeyPath], str]) -> Workspace:
        """A workspace that knows of further entries which integration they are."""
        return Workspace(self.snapshot, self._overlay, self._parsed, self._told, {**self.ours, **ours})

    def once(self, document: Document, question: str, answer: Callable[[], T]) -> T:
        """The answer to a question about a document, found out once: documents never change, and views come and go."""
        key = (id(document), question)
        if key not in self._told:
            # the document is kept with it: the id of one that is gone would be given out again
            self._told[key] = (document, answer())
        return cast("T", self._told[key][1])

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The files a glob finds, the overlay counted, sorted. `**` stands for any folders."""
        found = {p for p in self.snapshot.listings.get(pattern, ()) if self.exists(p)}
        regex = _glob(pattern)
        found |= {p for p, document in self._overlay.items() if document is not None and regex.fullmatch(p)}
        return tuple(sorted(found))

    def json(self, path: str) -> object:
        """The value of a JSON file that only tells where others are; None where there is none to be had."""
        read = self.read(path, "json")
        return None if read is None or isinstance(read, FormatError) else read.get(())

    @property
    def edited(self) -> Mapping[str, Document | None]:
        """The overlay: path to document, None for a file that is to go."""
        return self._overlay

    def exists(self, path: str) -> bool:
        """Whether a file stands there, the overlay counted."""
        if path in self._overlay:
            return self._overlay[path] is not None
        return self.state(path).kind != "absent"

    def text(self, path: str) -> str:
        """The text of a rules file; empty if absent or not to be read. Undecodable bytes are replaced."""
        if path in self._overlay:
            document = self._overlay[path]
            return document.text if document is not None else ""
        return (self.state(path).data or b"").decode("utf-8", "replace")


def problem_of(state: FileState) -> str:
    """Why a path holds nothing to read, in words."""
    words = {
        "folder": "is a folder, not a file",
        "special": "is a pipe, socket or device, not a file",
        "loop": "is a link that goes in a circle",
        "dangling": "is a link that leads nowhere",
        "unreadable": "cannot be read",
    }
    said = f"`{state.path}` {words.get(state.kind, 'cannot be read')}"
    return f"{said}: {state.problem}" if state.problem else said


@lru_cache(256)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*)", pattern)
    return re.compile("".join("(?:.*/)?" if p == "**/" else "[^/]*" if p == "*" else re.escape(p) for p in parts))


# ------------------------------------------------------------------ places

_known: dict[tuple[int, int], tuple[Host, Environment, dict[str, str]]] = {}
"""The places asked for lately: a plan asks thousands of times. Host and environment are kept with their ids."""


def places(host: Host, environment: Environment) -> Mapping[str, str]:
    """Template names of a host's paths and what they stand for on this machine."""
    key = (id(host), id(environment))
    if key not in _known:
        if len(_known) >= 64:
            _known.clear()
        _known[key] = (host, environment, _places(host, environment))
    return _known[key][2]


def _places(host: Host, environment: Environment) -> dict[str, str]:
    found = {"home": environment.home}
    if environment.project is not None:
        found["project"] = environment.project
        found["working"] = environment.folders[-1] if environment.folders else environment.project
    variable = host.config_home_variable
    moved = environment.variables.get(variable, "") if variable and environment.host_variables else ""
    home = host.config_home
    if moved:
        home = host.moved.get("config_home", f"{{variable:{variable}}}")
    found["config_home"] = _fill(home, found, environment) or home
    for name, template in ({**host.variables, **host.moved} if moved else host.variables).items():
        if name != "config_home":
            found[name] = _fill(template, found, environment) or ""
    return found


def _fill(template: str, known: Mapping[str, str], environment: Environment) -> str | None:
    """The template with its names filled in; None where one of them is not there."""
    out: list[str] = []
    rest = template
    while True:
        before, brace, rest = rest.partition("{")
        out.append(before)
        if not brace:
            return "".join(out)
        name, _, rest = rest.partition("}")
        if name.startswith("variable:"):
            value = environment.variables.get(name[9:]) if environment.host_variables else None
        else:
            value = known.get(name)
        if not value:
            return None
        out.append(value)


def expand(template: str, host: Host, environment: Environment) -> tuple[str, ...]:
    """The paths a template stands for: one a folder where it says `{folder}`, none where a name is unset."""
    known = places(host, environment)
    folders = environment.folders if "{folder}" in template else ("",)
    found = []
    for folder in folders:
        path = _fill(template, {**known, "folder": folder}, environment)
        if path is not None:
            found.append(rooted(path, environment) if template.startswith("/") else path)
    return tuple(found)


def rooted(path: str, environment: Environment) -> str:
    """An absolute path of the machine, below the root that is given for it."""
    return environment.system_root + path


def fill_template(template: str, host: Host, environment: Environment, names: Mapping[str, str]) -> str | None:
    """A template with the names of the machine and these filled in; None where one is not there."""
    return _fill(template, {**places(host, environment), **names}, environment)


class LayerFile(NamedTuple):
    """One file of one layer, as it stands."""

    layer: Layer
    path: str
    """`$NAME` for a layer whose text stands in a variable."""
    depth: int
    """Of its folder below the project root: the deeper one is stronger."""
    read: Read
    folder: str

    @property
    def document(self) -> Document | None:
        """The document, if there is one."""
        return None if isinstance(self.read, FormatError) else self.read


def layer_path(layer: Layer, environment: Environment) -> str:
    """The template of a layer on this platform."""
    return layer.elsewhere.get(environment.platform, layer.path)


def rules_paths(rules: Rules, environment: Environment) -> tuple[str, ...]:
    """The templates of rules files on this platform."""
    there = rules.elsewhere.get(environment.platform)
    return (there,) if there else rules.paths


def layer_paths(host: Host, environment: Environment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths and globs of everything that decides on this host: layers, rules files, where plugins are told of."""
    paths: list[str] = []
    globs: list[str] = []
    templates = [layer_path(layer, environment) for layer in host.layers if layer.path]
    for rules in host.rules:
        templates += [*rules_paths(rules, environment), *rules.unless, *([rules.write] if rules.write else [])]
    if host.plugins:
        templates += [t for t in (host.plugins.inventory, host.plugins.markets) if t] + [*host.plugins.loose]
        templates += [
            re.sub(r"\{(plugin|market)\}", "*", f"{root}/{file}")
            for root in host.plugins.roots
            for file in (*host.plugins.manifests, *host.plugins.files)
        ]
    for template in templates:
        for path in expand(template, host, environment):
            (globs if "*" in path else paths).append(path)
    return tuple(dict.fromkeys(paths)), tuple(dict.fromkeys(globs))


def layer_files(host: Host, workspace: Workspace) -> tuple[LayerFile, ...]:
    """The files of a host's layers, the strongest first; absent ones too."""
    environment = workspace.environment
    found: list[LayerFile] = []
    for layer in host.layers:
        if layer.unless_variable and set_variable(environment, layer.unless_variable):
            continue
        if layer.variable:
            text = environment.variables.get(layer.variable) if environment.host_variables else None
            if text:
                found.append(LayerFile(layer, f"${layer.variable}", 0, workspace.variable(layer, text), ""))
            continue
        template = layer_path(layer, environment)
        folders = environment.folders if "{folder}" in template else ("",)
        for depth, pattern in enumerate(expand(template, host, environment)):
            paths = workspace.matching(pattern) if "*" in pattern else (pattern,)
            folder = folders[depth] if depth < len(folders) else ""
            # of drop-in files the later name is read later
            for path in reversed(paths):
                found.append(LayerFile(layer, path, depth, workspace.read(path, layer.format), folder))
    return tuple(sorted(found, key=_strength))


def _strength(file: LayerFile) -> tuple[int, int, int]:
    layer = file.layer
    return -layer.rank, file.depth if layer.outer_wins else -file.depth, -layer.within


def loose(host: Host, workspace: Workspace) -> tuple[tuple[str, str], ...]:
    """The files each of which is a plugin or a tool of its own, with their scope."""
    found: dict[str, str] = {}
    for template in host.plugins.loose if host.plugins else ():
        scope = "project" if template.startswith(("{folder}", "{project}", "{working}")) else "user"
        for pattern in expand(template, host, workspace.environment):
            found |= dict.fromkeys(workspace.matching(pattern), scope)
    return tuple(found.items())


def loose_files(host: Host, workspace: Workspace) -> tuple[LayerFile, ...]:
    """These files as a layer of their own, so that whatever is found in one has a place. They are not read."""
    return tuple(
        LayerFile(Layer("plugin", scope, -1, "", "", path=path, write=False), path, 0, None, "")
        for path, scope in loose(host, workspace)
    )


def set_variable(environment: Environment, names: Sequence[str], values: Sequence[str] = ()) -> str:
    """The first of these variables that is set to something, and to one of the values where some are given."""
    if not environment.host_variables:
        return ""
    for name in names:
        value = environment.variables.get(name, "")
        if value and (not values or value.lower() in values):
            return name
    return ""


def _variable(layer: Layer, text: str) -> Read:
    """The document that stands in a variable; wrapped so that its paths are those of a whole file."""
    import json

    for key in reversed(layer.under):
        text = "{" + json.dumps(key) + ": " + text + "}"
    try:
        return format_named(layer.format).parse(text.encode(), name=f"${layer.variable}")
    except FormatError as error:
        return FormatError(
            f"`${layer.variable}` cannot be read: {error.message}", path=f"${layer.variable}", line=error.line
        )
