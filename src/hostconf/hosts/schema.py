"""The keys of a file in `hosts/`, as records, and the strict reader of one.

Pure. A key that is not named here is refused with the nearest one that is, so a
typo in a host file never passes for a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hostconf.errors import DataFileError
from hostconf.model import Strength


class Fact(NamedTuple):
    """How something is known: `run` (seen in the program), `read` (in its shipped code), `doc`, `unsure`."""

    text: str
    verified: str = "run"
    source: str = ""


class Layer(NamedTuple):
    """One place a host reads configuration from."""

    id: str
    scope: str
    """`managed`, `local`, `project`, `user` or `imported`."""
    rank: int
    """Higher wins."""
    group: str
    """Layers of one group hold the same kind of keys and are combined."""
    format: str
    path: str = ""
    """Template: `{config_home}`, `{home}`, `{project}`, `{folder}` (one file a folder from the project root
    down to the working folder), `{variable:NAME}`; may be a glob for drop-in folders."""
    variable: str = ""
    """The text itself stands in this environment variable."""
    under: tuple[str, ...] = ()
    """The text stands for the value at this key path, not for the whole document."""
    write: bool = True
    """Whether hostconf may write it: user and project layers, unless said otherwise."""
    create: bool = True
    """Whether it is the one to make when its group has no file yet."""
    trust: bool = False
    """Loaded only where the folder is trusted."""
    broken: str = ""
    """What the host does when the file cannot be read, as the end of a sentence."""
    stops: bool = False
    """Whether a broken file keeps the host from starting."""
    verified: str = "run"
    note: str = ""


class Check(NamedTuple):
    """A question to the layers of one group: does a value stand there?"""

    group: str
    at: tuple[str, ...]
    is_: tuple[Any, ...] = ()
    """Any of these; empty: anything that is there."""
    contains: str = ""
    """A list there holds this item (template)."""
    layers: tuple[str, ...] = ()
    """Only in these layers; empty: in all of the group."""
    trusted: bool = False
    """Counts only where the folder is trusted."""


class Trust(NamedTuple):
    """How the host knows that a folder is trusted."""

    checks: tuple[Check, ...]
    pending: str
    upwards: bool = True
    """Whether trust of a folder holds for those below it."""


class Approval(NamedTuple):
    """That registrations of some layers wait for the user's word."""

    layers: tuple[str, ...]
    checks: tuple[Check, ...]
    pending: str


class Reference(NamedTuple):
    """How an entry takes a variable from the environment."""

    text: str = ""
    """Value of the variable in the `env` table, with `{name}`."""
    list: str = ""
    """Key of a list of names instead."""
    pattern: str = ""
    """Regular expression that finds such references in a host's file; group 1 is the name, group 2 a default."""


class Registrations(NamedTuple):
    """How the host spells an MCP server."""

    group: str
    at: tuple[tuple[str, ...], ...]
    """Key paths of the tables that hold them, by layer where there are several."""
    command: str
    args: str = ""
    """Key of the arguments; empty: `command` is one list with them."""
    url: str = "url"
    environment: tuple[str, ...] = ()
    """Keys of tables (or lists) of variables and headers; the first is where ours go."""
    type: str = ""
    types: Mapping[str, str] = {}
    """`stdio`/`http`/`sse` to the word the host uses."""
    merge: str = "replace"
    """`deep`: entries of one name in several layers are merged key by key; `replace`: the strongest counts whole."""
    reference: Reference = Reference()
    tools_off: str = ""
    """Key of a list of raw tool names that the entry itself takes away."""
    tools_only: str = ""
    """Key of a list of raw tool names that alone are left."""
    with_tier: Mapping[str, Mapping[str, Any]] = {}
    """Keys an entry gets at a tier."""
    at_layer: Mapping[str, tuple[str, ...]] = {}
    """Layer id to the key path of its table, where it differs."""


class Switch(NamedTuple):
    """One fact in a host's file that turns tools on or off; the same datum is read and written."""

    id: str
    kind: str
    """`value`: off when the strongest layer that has the key says so. `list`: off when a list of any layer holds
    it. `ordered`: the last matching key decides, over all layers. `allow`: off when a list is there and lacks it.
    `variable`: off when an environment variable is set."""
    group: str
    at: tuple[str, ...]
    off: Any = None
    forms: Mapping[str, tuple[Any, ...]] = {}
    """Subject (`tool`, `server`, `server_tool`) to what stands for it: the first is written, all are read."""
    glob: bool = False
    valid: str = ""
    """Items that do not match are ignored by the host."""
    first_at: tuple[tuple[str, ...], ...] = ()
    """`ordered`: tables read before `at`; false there means off."""
    then_at: tuple[tuple[str, ...], ...] = ()
    """`ordered`: tables read after `at`."""
    needs_entry: bool = False
    """May be written only into the layer that holds the registration itself."""
    strength: Strength = "removed"
    variable: str = ""
    text: str = ""
    """What it is, for people."""
    verified: str = "run"


class HostTool(NamedTuple):
    """A tool the host brings itself."""

    id: str
    capability: str
    also: tuple[str, ...] = ()
    """Further capabilities it covers: its switch takes these too."""
    off: tuple[str, ...] = ()
    """Ids of its switches; the first is the one hostconf writes."""
    seen_as: tuple[str, ...] = ()
    """Other names it has in the request to the model."""
    gate: tuple[str, ...] = ()
    """Variables of which one makes it offered; none set: possible."""
    note: str = ""
    verified: str = "run"


class Policy(NamedTuple):
    """A managed setting that voids what others write."""

    id: str
    when: Check
    effect: str
    """`registrations-only-from`, `switch-only-from`, `allow-list`, `allow-table`."""
    layers: tuple[str, ...] = ()
    switch: str = ""
    forms: tuple[Any, ...] = ()
    text: str = ""
    verified: str = "run"


class Rules(NamedTuple):
    """Instructions files of one scope: which the host loads, and where our block goes."""

    scope: str
    paths: tuple[str, ...] = ()
    pick: str = "all"
    """`all`; `first`: per folder the first that is there and not empty; `first-kind`: the first kind that is there anywhere."""
    unless: tuple[str, ...] = ()
    """Not loaded where one of these is there."""
    listed_group: str = ""
    listed_at: tuple[str, ...] = ()
    """Read: the files that this list names. Write: our file is appended to it."""
    write: str = ""
    write_listed: str = ""
    """The item that names our file in that list."""
    whole_folder: str = ""
    """A folder that is loaded whole: nothing but our file may stand in it."""
    cap: int = 0
    """Bytes over all of them that reach the model; our block goes to the top of a long file. 0: none."""
    excludes_group: str = ""
    excludes_at: tuple[str, ...] = ()
    """A list of globs of files that are not loaded."""
    verified: str = "run"


class Dead(NamedTuple):
    """A key that parses and does nothing. `*` in `at` stands for any key."""

    group: str
    at: tuple[str, ...]
    text: str
    is_: tuple[Any, ...] = ()
    verified: str = "run"


class Typed(NamedTuple):
    """A value that must be of a type, or the host drops or refuses the file."""

    group: str
    at: tuple[str, ...]
    type: str
    """`table`, `list`, `string`, `bool`; or `absent`."""
    text: str = ""


class Verify(NamedTuple):
    """How the host itself is asked what it loads."""

    run: tuple[str, ...]
    reads: str
    """`json` or `first-line` (JSON on the first line of the output)."""
    servers: tuple[str, ...] = ()
    """Where the registrations stand: a list of tables with a name, or a table by name."""
    name: str = "name"
    enabled: str = ""
    tools: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    seconds: int = 60
    starts_servers: bool = False


class Host(NamedTuple):
    """One agent host: everything hostconf knows of it."""

    id: str
    name: str
    checked_version: str
    checked_on: str
    evidence: str
    commands: tuple[str, ...]
    tool_id: str
    """`{server}` and `{tool}` as the model sees them."""
    keep: str
    """Characters of names that stay; every other becomes `_`."""
    layers: tuple[Layer, ...]
    registrations: Registrations
    switches: tuple[Switch, ...]
    tools: tuple[HostTool, ...]
    forced: Mapping[str, str]
    """Capability to mechanism: `replacement`, `exclusion`, `de-facto` or `none`."""
    exclusion: tuple[str, ...]
    """Switches that take another registration out, best first."""
    own_off: tuple[str, ...]
    """Switches that take one of our own tools out, best first; `entry` stands for `registrations.tools_off`."""
    aliases: tuple[str, ...] = ()
    package: str = ""
    config_home: str = ""
    config_home_variable: str = ""
    variables: Mapping[str, str] = {}
    """Template name to a path that depends on whether `config_home_variable` is set: see `place`."""
    moved: Mapping[str, str] = {}
    """Template name to its path once the variable is set."""
    trust: Trust | None = None
    approvals: tuple[Approval, ...] = ()
    policies: tuple[Policy, ...] = ()
    rules: tuple[Rules, ...] = ()
    dead: tuple[Dead, ...] = ()
    types: tuple[Typed, ...] = ()
    new_file: Mapping[str, Any] = {}
    """Keys that a file we make begins with, so that the host does not add them itself."""
    verify: Verify | None = None
    blast: Mapping[str, tuple[str, ...]] = {}
    """Tier to sentences that belong into the blast radius."""
    traps: tuple[Fact, ...] = ()
    server_tools_note: str = ""

    def switch(self, switch_id: str) -> Switch:
        """The switch of that id. Raises KeyError: the schema check makes it a bug."""
        for switch in self.switches:
            if switch.id == switch_id:
                return switch
        raise KeyError(switch_id)


# ------------------------------------------------------------------ reading

_TEXT, _NUMBER, _BOOL, _ANY = "string", "number", "bool", "any"
_TEXTS, _PATHS, _ANYS, _TABLE, _FORMS = "strings", "paths", "list", "table", "forms"
_RENAME = {"is": "is_"}

_LAYER = {
    "id": _TEXT,
    "scope": _TEXT,
    "rank": _NUMBER,
    "group": _TEXT,
    "format": _TEXT,
    "path": _TEXT,
    "variable": _TEXT,
    "under": _TEXTS,
    "write": _BOOL,
    "create": _BOOL,
    "trust": _BOOL,
    "broken": _TEXT,
    "stops": _BOOL,
    "verified": _TEXT,
    "note": _TEXT,
}
_CHECK = {"group": _TEXT, "at": _TEXTS, "is": _ANYS, "contains": _TEXT, "layers": _TEXTS, "trusted": _BOOL}
_SHAPES: dict[type, dict[str, Any]] = {
    Fact: {"text": _TEXT, "verified": _TEXT, "source": _TEXT},
    Layer: _LAYER,
    Check: _CHECK,
    Trust: {"checks": [Check], "pending": _TEXT, "upwards": _BOOL},
    Approval: {"layers": _TEXTS, "checks": [Check], "pending": _TEXT},
    Reference: {"text": _TEXT, "list": _TEXT, "pattern": _TEXT},
    Registrations: {
        "group": _TEXT,
        "at": _PATHS,
        "command": _TEXT,
        "args": _TEXT,
        "url": _TEXT,
        "environment": _TEXTS,
        "type": _TEXT,
        "types": _TABLE,
        "merge": _TEXT,
        "reference": Reference,
        "tools_off": _TEXT,
        "tools_only": _TEXT,
        "with_tier": _TABLE,
        "at_layer": _FORMS,
    },
    Switch: {
        "id": _TEXT,
        "kind": _TEXT,
        "group": _TEXT,
        "at": _TEXTS,
        "off": _ANY,
        "forms": _FORMS,
        "glob": _BOOL,
        "valid": _TEXT,
        "first_at": _PATHS,
        "then_at": _PATHS,
        "needs_entry": _BOOL,
        "strength": _TEXT,
        "variable": _TEXT,
        "text": _TEXT,
        "verified": _TEXT,
    },
    HostTool: {
        "id": _TEXT,
        "capability": _TEXT,
        "also": _TEXTS,
        "off": _TEXTS,
        "seen_as": _TEXTS,
        "gate": _TEXTS,
        "note": _TEXT,
        "verified": _TEXT,
    },
    Policy: {
        "id": _TEXT,
        "when": Check,
        "effect": _TEXT,
        "layers": _TEXTS,
        "switch": _TEXT,
        "forms": _ANYS,
        "text": _TEXT,
        "verified": _TEXT,
    },
    Rules: {
        "scope": _TEXT,
        "paths": _TEXTS,
        "pick": _TEXT,
        "unless": _TEXTS,
        "listed_group": _TEXT,
        "listed_at": _TEXTS,
        "write": _TEXT,
        "write_listed": _TEXT,
        "whole_folder": _TEXT,
        "cap": _NUMBER,
        "excludes_group": _TEXT,
        "excludes_at": _TEXTS,
        "verified": _TEXT,
    },
    Dead: {"group": _TEXT, "at": _TEXTS, "text": _TEXT, "is": _ANYS, "verified": _TEXT},
    Typed: {"group": _TEXT, "at": _TEXTS, "type": _TEXT, "text": _TEXT},
    Verify: {
        "run": _TEXTS,
        "reads": _TEXT,
        "servers": _TEXTS,
        "name": _TEXT,
        "enabled": _TEXT,
        "tools": _TEXTS,
        "environment": _TABLE,
        "seconds": _NUMBER,
        "starts_servers": _BOOL,
    },
    Host: {
        "id": _TEXT,
        "name": _TEXT,
        "checked_version": _TEXT,
        "checked_on": _TEXT,
        "evidence": _TEXT,
        "commands": _TEXTS,
        "tool_id": _TEXT,
        "keep": _TEXT,
        "layers": [Layer],
        "registrations": Registrations,
        "switches": [Switch],
        "tools": [HostTool],
        "forced": _TABLE,
        "exclusion": _TEXTS,
        "own_off": _TEXTS,
        "aliases": _TEXTS,
        "package": _TEXT,
        "config_home": _TEXT,
        "config_home_variable": _TEXT,
        "variables": _TABLE,
        "moved": _TABLE,
        "trust": Trust,
        "approvals": [Approval],
        "policies": [Policy],
        "rules": [Rules],
        "dead": [Dead],
        "types": [Typed],
        "new_file": _TABLE,
        "verify": Verify,
        "blast": _FORMS,
        "traps": [Fact],
        "server_tools_note": _TEXT,
    },
}
_WORDS: dict[tuple[type, str], tuple[str, ...]] = {
    (Layer, "scope"): ("managed", "local", "project", "user", "imported"),
    (Layer, "format"): ("json", "jsonc", "toml", "yaml"),
    (Switch, "kind"): ("value", "list", "ordered", "allow", "variable"),
    (Switch, "strength"): ("removed", "call-denied", "session"),
    (Registrations, "merge"): ("deep", "replace"),
    (Policy, "effect"): ("registrations-only-from", "switch-only-from", "allow-list", "allow-table"),
    (Rules, "pick"): ("all", "first", "first-kind"),
    (Verify, "reads"): ("json", "first-line"),
    (Host, "evidence"): ("run", "read", "doc"),
}
_EVIDENCE = ("run", "read", "doc", "unsure")


def parse_host(data: Mapping[str, Any], file: str) -> Host:
    """The host that a file's table describes.

    Args:
        data: the parsed TOML.
        file: name of the file, for messages.

    Raises:
        DataFileError: a key is unknown (the nearest known one is named), missing or of a wrong type; an id is
            used that nothing defines; or `id` is not the file's name.
    """
    host = _record(Host, data, file, "")
    assert isinstance(host, Host)
    if file != f"{host.id}.toml":
        raise DataFileError(f"`{file}`: `id` is `{host.id}`, and the file has to be named `{host.id}.toml`", path=file)
    _references(host, file)
    return host


def _record(cls: type, data: Any, file: str, where: str) -> Any:
    shape = _SHAPES[cls]
    if not isinstance(data, Mapping):
        raise DataFileError(f"`{file}`: `{where}` has to be a table", path=file)
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key not in shape:
            raise DataFileError(
                f"`{file}`: unknown key `{_join(where, key)}`; the nearest known one is `{nearest(key, shape)}`",
                hint="the keys of a host file are listed in `hosts/README.md`",
                path=file,
            )
        found[_RENAME.get(str(key), str(key))] = _value(cls, key, shape[key], value, file, _join(where, key))
    try:
        return cls(**found)
    except TypeError:
        fields: tuple[str, ...] = getattr(cls, "_fields")  # noqa: B009
        defaults: Mapping[str, Any] = getattr(cls, "_field_defaults")  # noqa: B009
        missing = [f.rstrip("_") for f in fields if f not in found and f not in defaults]
        raise DataFileError(f"`{file}`: `{where or cls.__name__}` lacks {', '.join(missing)}", path=file) from None


def _value(cls: type, key: str, kind: Any, value: Any, file: str, where: str) -> Any:
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise DataFileError(f"`{file}`: `{where}` has to be a list of tables", path=file)
        return tuple(_record(kind[0], item, file, f"{where}[{n}]") for n, item in enumerate(value))
    if isinstance(kind, type):
        return _record(kind, value, file, where)
    checks: dict[str, Callable[[Any], bool]] = {
        _TEXT: lambda v: isinstance(v, str),
        _NUMBER: lambda v: isinstance(v, int) and not isinstance(v, bool),
        _BOOL: lambda v: isinstance(v, bool),
        _ANY: lambda v: True,
        _ANYS: lambda v: isinstance(v, list),
        _TABLE: lambda v: isinstance(v, dict),
        _TEXTS: lambda v: isinstance(v, list) and all(isinstance(x, str) for x in v),
        _PATHS: lambda v: isinstance(v, list) and all(isinstance(x, list) for x in v),
        _FORMS: lambda v: isinstance(v, dict) and all(isinstance(x, list) for x in v.values()),
    }
    if not checks[kind](value):
        raise DataFileError(f"`{file}`: `{where}` has to be {_A[kind]}, not {type(value).__name__}", path=file)
    words = _WORDS.get((cls, key), _EVIDENCE if key == "verified" else None)
    if words and value not in words:
        raise DataFileError(f"`{file}`: `{where}` is `{value}`, and has to be one of {', '.join(words)}", path=file)
    if kind in (_TEXTS, _ANYS):
        return tuple(value)
    if kind == _PATHS:
        return tuple(tuple(x) for x in value)
    if kind == _FORMS:
        return {k: tuple(v) for k, v in value.items()}
    return value


_A = {
    _TEXT: "a string",
    _NUMBER: "a whole number",
    _BOOL: "true or false",
    _ANYS: "a list",
    _TABLE: "a table",
    _TEXTS: "a list of strings",
    _PATHS: "a list of lists",
    _FORMS: "a table of lists",
    _ANY: "something",
}


def _references(host: Host, file: str) -> None:
    """Ids that are used must be defined: a typo there would be a switch that is never read."""
    switches = {s.id for s in host.switches}
    layers = {layer.id for layer in host.layers}
    groups = {layer.group for layer in host.layers}
    used = [
        *((switches, s, "switch") for t in host.tools for s in t.off),
        *((switches, s, "switch") for s in (*host.exclusion, *(o for o in host.own_off if o != "entry"))),
        *((switches, p.switch, "switch") for p in host.policies if p.switch),
        *((layers, i, "layer") for p in host.policies for i in p.layers),
        *((layers, i, "layer") for a in host.approvals for i in a.layers),
        *((layers, i, "layer") for i in host.registrations.at_layer),
        *((groups, s.group, "group") for s in host.switches if s.kind != "variable"),
        *((groups, d.group, "group") for d in host.dead),
        *((groups, t.group, "group") for t in host.types),
    ]
    for known, name, what in used:
        if name not in known:
            raise DataFileError(
                f"`{file}`: there is no {what} `{name}`; the nearest is `{nearest(name, known)}`", path=file
            )


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def nearest(word: str, known: Any) -> str:
    """The known word that is most like this one."""
    from difflib import get_close_matches

    words = sorted(known)
    found = get_close_matches(word, words, 1, 0.0)
    return found[0] if found else ""
