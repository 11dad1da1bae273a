"""The strict reader of one file in `hosts/`: a key that the records do not name is refused with the nearest one.

Pure. Keys and types come from the annotations in `schema`, so a record that gets a
field needs no line here; a typo in a host file never passes for a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hostconf.errors import DataFileError
from hostconf.hosts import schema
from hostconf.hosts.schema import Host, nearest

EVIDENCE = ("run", "read", "doc", "unsure")
PLATFORMS = ("linux", "macos", "windows", "wsl")
TYPES = ("table", "list", "string", "bool", "number", "strings", "texts", "absent")
MECHANISMS = ("replacement", "exclusion", "de-facto", "none")

WORDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("Layer", "scope"): ("managed", "local", "project", "user", "imported"),
    ("Layer", "format"): ("json", "jsonc", "toml", "yaml"),
    ("Switch", "kind"): ("value", "list", "ordered", "allow"),
    ("Switch", "strength"): ("removed", "call-denied", "session"),
    ("Registrations", "merge"): ("deep", "replace"),
    ("Registrations", "invalid"): ("skipped", "stops"),
    ("Policy", "effect"): ("registrations-only-from", "switch-only-from", "allow-list", "allow-table"),
    ("Rules", "scope"): ("managed", "local", "project", "user", "imported"),
    ("Rules", "pick"): ("all", "first", "first-kind"),
    ("Verify", "reads"): ("json", "first-line"),
    ("Host", "evidence"): ("run", "read", "doc"),
}
"""Record and key to the only words that may stand there."""

SUBJECTS = ("tool", "server", "server_tool")


class _Kind:
    """One type of a value in TOML: how to know it, what it is called, what it becomes."""

    def __init__(self, words: str, right: Callable[[Any], bool], make: Callable[[Any], Any] = lambda v: v) -> None:
        self.words, self.right, self.make = words, right, make


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


_TABLE = _Kind("a table", lambda v: isinstance(v, dict))
_KINDS: Mapping[str, _Kind] = {
    "str": _Kind("a string", lambda v: isinstance(v, str)),
    "Strength": _Kind("a string", lambda v: isinstance(v, str)),
    "int": _Kind("a whole number", lambda v: isinstance(v, int) and not isinstance(v, bool)),
    "bool": _Kind("true or false", lambda v: isinstance(v, bool)),
    "Any": _Kind("something", lambda v: True),
    "tuple[Any, ...]": _Kind("a list", lambda v: isinstance(v, list), tuple),
    "tuple[str, ...]": _Kind("a list of strings", _strings, tuple),
    "tuple[tuple[str, ...], ...]": _Kind(
        "a list of lists of strings",
        lambda v: isinstance(v, list) and all(map(_strings, v)),
        lambda v: tuple(map(tuple, v)),
    ),
    "Mapping[str, Any]": _TABLE,
    "Mapping[str, str]": _Kind(
        "a table of strings", lambda v: isinstance(v, dict) and all(isinstance(x, str) for x in v.values())
    ),
    "Mapping[str, Mapping[str, Any]]": _Kind(
        "a table of tables", lambda v: isinstance(v, dict) and all(isinstance(x, dict) for x in v.values())
    ),
    "Mapping[str, tuple[Any, ...]]": _Kind(
        "a table of lists",
        lambda v: isinstance(v, dict) and all(isinstance(x, list) for x in v.values()),
        lambda v: {k: tuple(x) for k, x in v.items()},
    ),
    "Mapping[str, tuple[str, ...]]": _Kind(
        "a table of lists of strings",
        lambda v: isinstance(v, dict) and all(map(_strings, v.values())),
        lambda v: {k: tuple(x) for k, x in v.items()},
    ),
}


class _File:
    """The file that is read: its name, and the evidence of all that does not speak for itself."""

    def __init__(self, name: str, evidence: Any) -> None:
        self.name, self.evidence = name, evidence

    def error(self, text: str, hint: str = "") -> DataFileError:
        return DataFileError(f"`{self.name}`: {text}", path=self.name, hint=hint)


def parse_host(data: Mapping[str, Any], file: str) -> Host:
    """The host that a file's table describes.

    Args:
        data: the parsed TOML.
        file: name of the file, for messages.

    Raises:
        DataFileError: a key is unknown (the nearest known one is named), missing or of a wrong type; an id is
            used that nothing defines, or defined twice; or `id` is not the file's name.
    """
    source = _File(file, data.get("evidence", ""))
    host = _record("Host", data, source, "")
    assert isinstance(host, Host)
    if file != f"{host.id}.toml":
        raise source.error(f"`id` is `{host.id}`, and the file has to be named `{host.id}.toml`")
    _references(host, source)
    _patterns(host, source)
    return host


def _record(name: str, data: Any, file: _File, where: str) -> Any:
    cls = getattr(schema, name)
    shape: Mapping[str, str] = {field.rstrip("_"): kind for field, kind in _annotations(cls).items()}
    if not isinstance(data, Mapping):
        raise file.error(f"`{where}` has to be a table, not {type(data).__name__}")
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key not in shape:
            raise file.error(
                f"unknown key `{_join(where, key)}`; the nearest known one is `{nearest(key, shape)}`",
                "the keys of a host file are listed in `hosts/README.md`",
            )
        field = key if key in cls._fields else f"{key}_"
        found[field] = _value(name, key, shape[key], value, file, _join(where, key))
    missing = [f.rstrip("_") for f in cls._fields if f not in found and f not in cls._field_defaults]
    if missing:
        raise file.error(f"`{where or name}` lacks {', '.join(f'`{m}`' for m in missing)}")
    if "verified" in cls._fields:
        found.setdefault("verified", file.evidence)
    return cls(**found)


def _annotations(cls: Any) -> Mapping[str, str]:
    """Field to its annotation, as it is written in `schema`."""
    found = {}
    for field, hint in cls.__annotations__.items():
        # a NamedTuple wraps the text of an annotation in a ForwardRef
        found[field] = hint if isinstance(hint, str) else getattr(hint, "__forward_arg__", "Any")
    return found


def _value(record: str, key: str, kind: str, value: Any, file: _File, where: str) -> Any:
    if kind in _KINDS:
        known = _KINDS[kind]
        if not known.right(value):
            raise file.error(f"`{where}` has to be {known.words}, not {type(value).__name__}")
        words = WORDS.get((record, key), EVIDENCE if key == "verified" else None)
        if words and value not in words:
            raise file.error(
                f"`{where}` is `{value}`, and has to be one of {', '.join(words)}",
                f"the nearest is `{nearest(value, words)}`",
            )
        return known.make(value)
    many = re.fullmatch(r"tuple\[(\w+), \.\.\.\]", kind)
    if many is None:
        return _record(kind.removesuffix(" | None"), value, file, where)
    if not isinstance(value, list):
        raise file.error(f"`{where}` has to be a list of tables, not {type(value).__name__}")
    return tuple(_record(many[1], item, file, f"{where}[{n}]") for n, item in enumerate(value))


# ------------------------------------------------------------------ ids, words and patterns


def _references(host: Host, file: _File) -> None:
    """Ids that are used must be defined, once: a typo there would be a switch that is never read."""
    for what, ids in (("layer", [x.id for x in host.layers]), ("switch", [x.id for x in host.switches])):
        twice = next((i for n, i in enumerate(ids) if i in ids[:n]), None)
        if twice is not None:
            raise file.error(f"there are two {what}s `{twice}`")
    known = {
        "switch": {s.id for s in host.switches},
        "layer": {*(layer.id for layer in host.layers), *(["plugin"] if host.plugins else [])},
        "group": {layer.group for layer in host.layers},
        "subject": set(SUBJECTS),
        "platform": set(PLATFORMS),
        "type": set(TYPES),
        "mechanism": set(MECHANISMS),
        "transport": {"stdio", "http", "sse"},
        "capability": set(host.forced),
        "tier": {"off", "optional", "preferred", "forced"},
    }
    for what, name in _used(host):
        if name not in known[what]:
            raise file.error(f"there is no {what} `{name}`; the nearest is `{nearest(name, known[what])}`")
    for layer in host.layers:
        if bool(layer.path) == bool(layer.variable):
            raise file.error(f"layer `{layer.id}` needs either a `path` or a `variable`")
    _subjects(host, file)


def _used(host: Host) -> Iterator[tuple[str, str]]:
    """What the file refers to: kind of thing and its id."""
    entries = host.registrations
    for tool in host.tools:
        yield from (("switch", s) for s in tool.off)
        yield from (("capability", c) for c in (tool.capability, *tool.also))
    yield from (("switch", s) for s in (*host.exclusion, *host.own_off) if s != "entry")
    yield from (("switch", p.switch) for p in host.policies if p.switch)
    owners: Sequence[Any] = (*host.switches, *host.types, *host.policies, *host.approvals, *_checks(host))
    yield from (("layer", i) for owner in owners for i in owner.layers)
    yield from (("layer", i) for s in host.switches for i in s.of)
    yield from (("layer", i) for i in entries.at_layer)
    groups: Sequence[Any] = (*host.switches, *host.dead, *host.types, *_checks(host), entries)
    yield from (("group", x.group) for x in groups)
    named = [entries.reference.given_group, *(host.plugins.group for _ in [0] if host.plugins)]
    for rules in host.rules:
        named += [rules.names_group, rules.listed_group, rules.cap_group, rules.excludes_group]
    yield from (("group", g) for g in named if g)
    yield from (("subject", s) for switch in host.switches for s in switch.forms)
    placed: Sequence[Any] = (*host.layers, *host.rules)
    yield from (("platform", p) for x in placed for p in x.elsewhere)
    yield from (("type", t) for x in host.types if x.type for t in x.type.split("|"))
    yield from (("type", t) for t in entries.shape.values())
    yield from (("mechanism", m) for m in host.forced.values())
    yield from (("transport", t) for t in (*entries.types, *entries.also_types.values()))
    yield from (("tier", t) for t in (*host.blast, *entries.with_tier))


def _checks(host: Host) -> Iterator[schema.Check]:
    """Every question in the file."""
    if host.trust:
        yield from host.trust.checks
    for approval in host.approvals:
        yield from approval.checks
    for policy in host.policies:
        yield policy.when
        if policy.narrow:
            yield policy.narrow
    for tool in host.tools:
        yield from tool.chosen
    for switch in host.switches:
        yield from switch.else_at


def _subjects(host: Host, file: _File) -> None:
    """A switch that is to take something out must have a form for it."""
    wanted = [(s, "server") for s in host.exclusion] + [(s, "server_tool") for s in host.own_off if s != "entry"]
    wanted += [(s, "tool") for tool in host.tools for s in tool.off]
    for switch_id, subject in wanted:
        switch = host.switch(switch_id)
        if switch.kind != "value" and subject not in switch.forms:
            raise file.error(f"switch `{switch_id}` is to take a {subject} out, and has no form for it")
    if "entry" in host.own_off and not host.registrations.tools_off:
        raise file.error("`own_off` says `entry`, and `registrations` has no `tools_off`")


def _patterns(host: Host, file: _File) -> None:
    """Regular expressions must be some."""
    patterns = [
        host.registrations.reference.pattern,
        *(s.valid for s in host.switches),
        *(d.matches for d in host.dead),
    ]
    patterns += [g for s in host.switches for g in s.globs.values()]
    patterns += [g for p in host.policies for g in p.globs.values()]
    for pattern in filter(None, patterns):
        try:
            re.compile(pattern)
        except re.error as error:
            raise file.error(f"`{pattern}` is no regular expression: {error}") from None


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
