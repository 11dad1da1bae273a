"""How a host spells a registration and a tool id, driven by its description.

Pure. The only place that knows the keys of an entry; reading and writing use the
same description.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.hosts.schema import Host


class Entry(NamedTuple):
    """One server entry, whatever its host's spelling."""

    transport: str
    """`stdio`, `http`, `sse`, or `unknown` where neither a command nor an address is there."""
    command: tuple[str, ...]
    url: str
    environment: Mapping[str, Any]
    """Variables and headers: values may be secrets."""
    variables: tuple[str, ...]
    """Names of variables the entry takes from the environment."""
    tools_off: tuple[str, ...]
    tools_only: tuple[str, ...] | None


def normalise(host: Host, name: str) -> str:
    """A server or tool name as it stands in a tool id."""
    return re.sub(f"[^{host.keep}]", "_", name)


def tool_id(host: Host, server: str, tool: str) -> str:
    """The id under which the model sees a tool of a server. `*` stays: tools that nobody named."""
    return host.tool_id.format(server=normalise(host, server), tool=tool if tool == "*" else normalise(host, tool))


def read_entry(host: Host, entry: Mapping[str, Any]) -> Entry:
    """What an entry says, wrong types passed over: a host's file may hold anything."""
    spelling = host.registrations
    raw = entry.get(spelling.command)
    words: list[Any] = raw if isinstance(raw, list) else [raw] if isinstance(raw, str) and raw else []
    if spelling.args and isinstance(entry.get(spelling.args), list):
        words = [*words, *entry[spelling.args]] if words else []
    url = entry.get(spelling.url)
    url = url if isinstance(url, str) else ""
    environment: dict[str, Any] = {}
    for key in spelling.environment:
        table = entry.get(key)
        if isinstance(table, dict):
            environment.update(table)
    only = entry.get(spelling.tools_only) if spelling.tools_only else None
    off = entry.get(spelling.tools_off) if spelling.tools_off else None
    return Entry(
        transport="unknown" if entry_fault(host, entry) else _transport(host, entry, bool(words), bool(url)),
        command=tuple(str(w) for w in words),
        url=url,
        environment=environment,
        variables=variables_of(host, entry),
        tools_off=tuple(t for t in off if isinstance(t, str)) if isinstance(off, list) else (),
        tools_only=tuple(t for t in only if isinstance(t, str)) if isinstance(only, list) else None,
    )


def variables_of(host: Host, entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of variables that the entry takes from the environment by keys of its own."""
    found: list[str] = []
    reference = host.registrations.reference
    for key in (reference.list, *reference.names):
        value = entry.get(key) if key else None
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, dict):
                item = item.get("name")
            if isinstance(item, str) and item:
                found.append(item)
    return tuple(dict.fromkeys(found))


class Fault(NamedTuple):
    """Why the host makes no server of an entry."""

    key: str
    """The key that is wrong; empty: the entry as a whole."""
    text: str


def entry_fault(host: Host, entry: Mapping[str, Any]) -> Fault | None:
    """What is wrong with an entry by the host's own rules; None when it is a server."""
    spelling = host.registrations
    for key, wanted in spelling.shape.items():
        if key in entry and not is_of(entry[key], wanted):
            return Fault(key, f"`{key}` has to be {TYPE_WORDS[wanted]}")
    for pair in spelling.clash:
        if all(key in entry for key in pair):
            return Fault(pair[-1], f"{' and '.join(f'`{key}`' for key in pair)} must not stand in one entry")
    command, url = entry.get(spelling.command), entry.get(spelling.url)
    said = entry.get(spelling.type) if spelling.type else None
    if isinstance(said, str):
        transport = _words(host).get(said)
        if transport is None:
            return Fault(spelling.type, f"`{spelling.type}` is `{said}`, which the host does not know")
        needed = spelling.command if transport == "stdio" else spelling.url
        return None if needed in entry else Fault("", f"it is of the type `{said}` and has no `{needed}`")
    for key in spelling.wants_type:
        if key in entry and not (key == spelling.url and spelling.command in entry):
            return Fault(key, f"it has a `{key}` but no `{spelling.type}`")
    if command is None and url is None:
        return Fault("", f"it has no `{spelling.command}` and no `{spelling.url}`")
    return None


TYPE_WORDS = {
    "table": "a table",
    "list": "a list",
    "string": "a string",
    "bool": "true or false",
    "number": "a number",
    "strings": "a list of strings",
    "texts": "a table of strings",
    "absent": "left out",
}
"""The words of `types` and `shape`, for people."""


def is_of(value: Any, wanted: str) -> bool:
    """Whether a value is of one of the types, named as a host file names them, with `|` between."""
    for word in wanted.split("|"):
        if word == "table" and isinstance(value, dict):
            return True
        if word == "list" and isinstance(value, list):
            return True
        if word == "string" and isinstance(value, str):
            return True
        if word == "bool" and isinstance(value, bool):
            return True
        if word == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
            return True
        if word == "strings" and isinstance(value, list) and all(isinstance(x, str) for x in value):
            return True
        if word == "texts" and isinstance(value, dict) and all(isinstance(x, str) for x in value.values()):
            return True
    return False


def _words(host: Host) -> dict[str, str]:
    """The host's words for a transport, and which of ours each means."""
    spelling = host.registrations
    return {**{word: transport for transport, word in spelling.types.items()}, **spelling.also_types}


def _transport(host: Host, entry: Mapping[str, Any], command: bool, url: bool) -> str:
    spelling = host.registrations
    said = entry.get(spelling.type) if spelling.type else None
    if isinstance(said, str):
        transport = _words(host).get(said, "unknown")
        return transport if (command if transport == "stdio" else url) else "unknown"
    if command:
        return "stdio"
    return "http" if url else "unknown"


def write_entry(
    host: Host,
    *,
    command: Sequence[str] = (),
    url: str = "",
    references: Sequence[str] = (),
    literals: Mapping[str, str] | None = None,
    tools_off: Sequence[str] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """An entry in the host's own spelling.

    Args:
        command: for a local server; else `url`.
        references: names of variables that come from the environment.
        literals: variables with their values: may be secrets.
        tools_off: raw tool names the entry itself takes away.
        extra: further keys, as a tier wants them.
    """
    spelling = host.registrations
    transport = "stdio" if command else "http"
    entry: dict[str, Any] = {}
    if spelling.type and transport in spelling.types:
        entry[spelling.type] = spelling.types[transport]
    if command and spelling.args:
        entry[spelling.command] = command[0]
        entry[spelling.args] = list(command[1:])
    elif command:
        entry[spelling.command] = list(command)
    else:
        entry[spelling.url] = url
    table: dict[str, str] = {}
    if spelling.reference.list:
        if references:
            entry[spelling.reference.list] = list(references)
    else:
        table.update({name: spelling.reference.text.format(name=name) for name in references})
    table.update(literals or {})
    if table:
        entry[spelling.environment[0]] = table
    if tools_off:
        entry[spelling.tools_off] = list(tools_off)
    return {**entry, **(extra or {})}


def references_in(host: Host, value: Any) -> set[tuple[str, bool]]:
    """Variables that a value of the host's file refers to, and whether a default stands beside each."""
    pattern = host.registrations.reference.pattern
    found: set[tuple[str, bool]] = set()
    if not pattern:
        return found
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item
        elif isinstance(item, str):
            found |= {(m[1], bool(m[2])) for m in re.finditer(pattern, item)}
    return found
