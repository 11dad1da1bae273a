"""The keys of a file in `integrations/`, as records, and the strict reader of one.

Pure: text in, a record out. A key that is not named here is refused with the
nearest one that is, and with its line, so a typo never passes for a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from hostconf.errors import DataFileError

CAPABILITIES = ("web_search", "web_fetch")
ANY_TOOL = "*"
"""Stands for tools that nobody named."""
KNOB_TYPES = ("int", "number", "bool", "text")
TRANSPORTS = ("stdio", "http", "sse")
PATHS = ("mcp", "extension", "plugin")


class Recognise(NamedTuple):
    """By what a registration of this integration is known. All are compared without regard to case."""

    packages: tuple[str, ...] = ()
    """Names in a registry, without version: npm, PyPI, or the end of a git address."""
    commands: tuple[str, ...] = ()
    """Names of programs, without folder and ending."""
    images: tuple[str, ...] = ()
    """Container images, without tag."""
    urls: tuple[str, ...] = ()
    """`host` or `host/path-prefix`; `*.host` stands for every host below it."""
    builtins: tuple[str, ...] = ()
    """Names of registrations that have neither command nor address, for the host brings them."""


class Variable(NamedTuple):
    """One environment variable of the integration."""

    name: str
    doc: str
    secret: bool = False
    required: bool = False
    default: str = ""


class Knob(NamedTuple):
    """One setting at the level of the deployment, never a tool parameter."""

    name: str
    type: str
    """`int`, `number`, `bool` or `text`."""
    variable: str
    """The environment variable that carries it."""
    doc: str
    default: Any = None
    """What holds when nothing is set; None: off."""
    min: float | None = None
    max: float | None = None

    def problem(self, text: str) -> str:
        """Why `text` is no value for it; empty when it is one."""
        if self.type == "bool":
            return "" if text in ("true", "false") else "has to be `true` or `false`"
        if self.type == "text":
            return "" if text else "may not be empty"
        if not re.fullmatch(r"[+-]?[0-9.eE+-]+", text):
            return "has to be a whole number" if self.type == "int" else "has to be a number"
        try:
            value = int(text) if self.type == "int" else float(text)
        except ValueError:
            return "has to be a whole number" if self.type == "int" else "has to be a number"
        if value != value or value in (float("inf"), float("-inf")):
            return "has to be a number"
        if self.min is not None and value < self.min:
            return f"may not be below {self.min:g}"
        if self.max is not None and value > self.max:
            return f"may not be above {self.max:g}"
        return ""


class Slot(NamedTuple):
    """How a plugin takes the place of a tool that the host brings itself."""

    option: str
    tool: str


class Path(NamedTuple):
    """One way in which the integration comes into a host."""

    id: str
    """`mcp`, `extension` or `plugin`."""
    package: str = ""
    transport: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    """With `{package}` for the reference."""
    url: str = ""
    reference: str = "{package}"
    """How a package is named in the host's list."""
    hosts: tuple[str, ...] = ()
    """Hosts that have this path; empty: every host that can."""
    default_on: tuple[str, ...] = ()
    """Hosts on which it is the one to take."""
    tools: Mapping[str, tuple[str, ...]] = {}
    """Raw tool names by capability, where they differ from those of the integration."""
    slots: Mapping[str, Slot] = {}
    """By capability: how the host's own tool is replaced."""
    namespace: str = ""
    """Table of the host's settings that takes the switches and knobs on this path."""
    doc: str = ""

    def reference_to(self, package: str = "") -> str:
        """The entry of a host's package list for that package, or for the usual one."""
        return self.reference.replace("{package}", package or self.package)

    def words(self, package: str = "") -> tuple[str, ...]:
        """The command with its arguments for that package, or for the usual one."""
        if not self.command:
            return ()
        return (self.command, *(word.replace("{package}", package or self.package) for word in self.args))


class Integration(NamedTuple):
    """What a user may want to have used, or what is only recognised when it stands there."""

    id: str
    name: str
    capabilities: Mapping[str, tuple[str, ...]]
    """Raw tool names by capability."""
    recognise: Recognise
    installable: bool = False
    server: str = ""
    """Suggested name of the registration."""
    doc: str = ""
    names: tuple[str, ...] = ()
    """What people call it in a rules file, besides `name`."""
    paths: Mapping[str, Path] = {}
    older: Mapping[str, tuple[str, ...]] = {}
    """Raw tool names of earlier versions, by capability: still found in rules files and tool lists."""
    environment: tuple[Variable, ...] = ()
    off: Mapping[str, Mapping[str, str]] = {}
    """By capability: variables and values that turn it off in the integration itself."""
    knobs: tuple[Knob, ...] = ()
    config: str = ""
    """The integration's own file of settings, below its environment in rank."""
    source: tuple[str, ...] = ()
    checked: str = ""
    note: str = ""

    def tools(self, capability: str, path: str = "") -> tuple[str, ...]:
        """Raw tool names for a capability on a path."""
        way = self.paths.get(path)
        if way is not None and capability in way.tools:
            return way.tools[capability]
        return self.capabilities.get(capability, ())

    def capability_of(self, tool: str, path: str = "") -> str:
        """Which capability a raw tool name belongs to; empty when it is none of ours."""
        for capability in self.capabilities:
            if tool in self.tools(capability, path):
                return capability
        return ""

    def knob(self, name: str) -> Knob | None:
        """The knob of that name."""
        return next((knob for knob in self.knobs if knob.name == name), None)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like `word`; empty when none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return near[0] if near else ""


class _Table:
    """One table of the file: hands out typed values and refuses what nobody asked for."""

    def __init__(self, data: Any, where: str, name: str, text: str, nth: int = 0) -> None:
        self.where, self.name, self.text, self.nth = where, name, text, nth
        if not isinstance(data, dict):
            self.fail(where.rpartition(".")[2], f"`{where}` has to be a table")
        self.data: dict[str, Any] = data
        self.asked: set[str] = set()

    def fail(self, key: str, message: str, hint: str = "") -> NoReturn:
        raise DataFileError(message, hint=hint, path=self.name, line=_line_of(self.text, self.where, key, self.nth))

    def path(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = None, required: bool = False) -> Any:
        self.asked.add(key)
        if key not in self.data:
            if required:
                near = nearest(key, self.data)
                if near and nearest(near, [key, *self.asked]) == key and near not in self.asked:
                    self.fail(near, f"unknown key `{self.path(near)}` in `{self.name}`", f"did you mean `{key}`?")
                self.fail(key, f"`{self.path(key)}` is missing in `{self.name}`")
            return default
        value = self.data[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            self.fail(key, f"`{self.path(key)}` has to be {_kind_words(kinds)}")
        return value

    def text_of(self, key: str, default: str = "", required: bool = False) -> str:
        value: str = self.get(key, str, default, required)
        if required and not value:
            self.fail(key, f"`{self.path(key)}` is empty")
        return value

    def texts(self, key: str, required: bool = False) -> tuple[str, ...]:
        value = self.get(key, list, [], required)
        if not all(isinstance(item, str) and item for item in value):
            self.fail(key, f"`{self.path(key)}` has to be a list of texts")
        return tuple(value)

    def one_of(self, key: str, allowed: tuple[str, ...], default: str = "", required: bool = False) -> str:
        value = self.text_of(key, default, required)
        if value and value not in allowed:
            self.fail(key, f"`{self.path(key)}` is `{value}`", f"one of {', '.join(allowed)}")
        return value

    def table(self, key: str, required: bool = False) -> _Table:
        return _Table(self.get(key, dict, {}, required), self.path(key), self.name, self.text)

    def tables(self, key: str) -> list[_Table]:
        items = self.get(key, list, [])
        return [_Table(item, self.path(key), self.name, self.text, nth) for nth, item in enumerate(items)]

    def done(self) -> None:
        for key in self.data:
            if key not in self.asked:
                near = nearest(key, self.asked)
                hint = f"did you mean `{near}`?" if near else f"known here: {', '.join(sorted(self.asked))}"
                self.fail(key, f"unknown key `{self.path(key)}` in `{self.name}`", hint)


def _kind_words(kinds: tuple[type, ...]) -> str:
    words = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}
    return " or ".join(words.get(kind, "a table" if kind is dict else kind.__name__) for kind in kinds)


def _line_of(text: str, where: str, key: str, nth: int = 0) -> int | None:
    """The line of a key: below the `nth` header of its table if there is one, else its first; None if not found."""
    import re

    lines = text.split("\n")
    start, end = 0, len(lines)
    if where:
        header = re.compile(r"\s*\[+\s*" + re.escape(where) + r"\s*\]+\s*(#.*)?$")
        headers = [n for n, line in enumerate(lines) if header.match(line)]
        if nth < len(headers):
            start = headers[nth]
            end = next((n for n in range(start + 1, end) if lines[n].startswith("[")), end)
    wanted = re.compile(r"(?:^|[\s{,.\[])[\"']?" + re.escape(key) + r"[\"']?\s*[=\].]")
    found = next((n for n in range(start, end) if wanted.search(lines[n])), None)
    if found is None:
        return start + 1 if where else None
    return found + 1


def parse(text: str, name: str) -> Integration:
    """One file, by its name (`tavily.toml`). Raises DataFileError naming file, line and the nearest known key."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataFileError(f"`{name}` is not valid TOML: {error}", path=name) from None
    return parse_data(data, name, text)


def parse_data(data: Mapping[str, Any], name: str, text: str = "") -> Integration:
    """The same for a file that was read already; `text` serves to name lines."""
    top = _Table(dict(data), "", name, text)
    id_ = top.text_of("id", required=True)
    stem = name.rpartition("/")[2].removesuffix(".toml")
    if id_ != stem:
        top.fail("id", f"`id` is `{id_}`, but the file is `{stem}.toml`")
    installable = top.get("installable", bool, required=True)
    recognise = _recognise(top.table("recognise", required=True))
    source = top.table("source")
    checked = source.get("checked", object)
    found = Integration(
        id=id_,
        name=top.text_of("name", required=True),
        capabilities=_capabilities(top.table("capabilities", required=True)),
        recognise=recognise,
        installable=installable,
        server=top.text_of("server", required=installable),
        doc=top.text_of("doc", required=installable),
        names=top.texts("names"),
        paths=_paths(top.table("paths", required=installable)),
        older=_capabilities(top.table("older"), required=False),
        environment=tuple(_variable(item) for item in top.tables("environment")),
        off=_off(top.table("off")),
        knobs=tuple(_knob(item) for item in top.tables("knobs")),
        config=top.text_of("config"),
        source=source.texts("where"),
        checked="" if checked is None else str(checked),
        note=top.text_of("note"),
    )
    source.done()
    top.done()
    if not any(recognise):
        top.fail("recognise", f"`recognise` in `{name}` names nothing to be known by")
    return found


def _capabilities(table: _Table, required: bool = True) -> dict[str, tuple[str, ...]]:
    found = {key: table.texts(key) for key in CAPABILITIES if key in table.data}
    table.asked.update(CAPABILITIES)
    table.done()
    if required and not found:
        table.fail("", f"`{table.where}` in `{table.name}` names no capability")
    for key, tools in found.items():
        if not tools:
            table.fail(key, f"`{table.path(key)}` is empty", 'write ["*"] where the tools are not known')
    return found


def _recognise(table: _Table) -> Recognise:
    found = Recognise(
        packages=table.texts("packages"),
        commands=table.texts("commands"),
        images=table.texts("images"),
        urls=table.texts("urls"),
        builtins=table.texts("builtins"),
    )
    table.done()
    for url in found.urls:
        if "://" in url or url != url.strip("/"):
            table.fail("urls", f"`{table.path('urls')}` holds `{url}`", "write `host` or `host/path`, nothing before")
    return found


def _paths(table: _Table) -> dict[str, Path]:
    paths = {id_: _path(table.table(id_), id_) for id_ in PATHS if id_ in table.data}
    table.asked.update(PATHS)
    table.done()
    return paths


def _path(table: _Table, id_: str) -> Path:
    path = Path(
        id=id_,
        package=table.text_of("package"),
        transport=table.one_of("transport", TRANSPORTS, required=id_ == "mcp"),
        command=table.text_of("command"),
        args=table.texts("args"),
        url=table.text_of("url"),
        reference=table.text_of("reference", "{package}"),
        hosts=table.texts("hosts"),
        default_on=table.texts("default_on"),
        tools=_capabilities(table.table("tools"), required=False),
        slots=_slots(table.table("slots")),
        namespace=table.text_of("namespace"),
        doc=table.text_of("doc"),
    )
    table.done()
    if id_ == "mcp" and not (path.command if path.transport == "stdio" else path.url):
        table.fail("transport", f"`{table.where}` has no {'command' if path.transport == 'stdio' else 'url'}")
    if any("{package}" in word for word in (*path.args, path.reference)) and not path.package and id_ != "mcp":
        table.fail("package", f"`{table.where}` has no package")
    return path


def _slots(table: _Table) -> dict[str, Slot]:
    found = {}
    for key in CAPABILITIES:
        if key in table.data:
            slot = table.table(key)
            found[key] = Slot(slot.text_of("option", required=True), slot.text_of("tool", required=True))
            slot.done()
    table.asked.update(CAPABILITIES)
    table.done()
    return found


def _variable_name(table: _Table, key: str) -> str:
    name = table.text_of(key, required=True)
    if not name.isascii() or not name.replace("_", "a").isalnum() or name[0].isdigit():
        table.fail(key, f"`{name}` is no name of an environment variable")
    return name


def _variable(table: _Table) -> Variable:
    found = Variable(
        name=_variable_name(table, "name"),
        doc=table.text_of("doc", required=True),
        secret=table.get("secret", bool, False),
        required=table.get("required", bool, False),
        default=table.text_of("default"),
    )
    table.done()
    return found


def _off(table: _Table) -> dict[str, dict[str, str]]:
    found = {}
    for key in CAPABILITIES:
        if key in table.data:
            one = table.table(key)
            found[key] = {name: one.text_of(name, required=True) for name in one.data}
    table.asked.update(CAPABILITIES)
    table.done()
    return found


def _knob(table: _Table) -> Knob:
    knob = Knob(
        name=table.text_of("name", required=True),
        type=table.one_of("type", KNOB_TYPES, required=True),
        variable=_variable_name(table, "variable"),
        doc=table.text_of("doc", required=True),
        default=table.get("default", (int, float, bool, str)),
        min=table.get("min", (int, float)),
        max=table.get("max", (int, float)),
    )
    table.done()
    if knob.default is not None:
        text = str(knob.default).lower() if isinstance(knob.default, bool) else str(knob.default)
        if problem := knob.problem(text):
            table.fail("default", f"the default of the knob `{knob.name}` {problem}")
    return knob
