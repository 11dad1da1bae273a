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
    names: list[str] = []
    if spelling.reference.list and isinstance(entry.get(spelling.reference.list), list):
        names = [n for n in entry[spelling.reference.list] if isinstance(n, str)]
    only = entry.get(spelling.tools_only) if spelling.tools_only else None
    off = entry.get(spelling.tools_off) if spelling.tools_off else None
    return Entry(
        transport=_transport(host, entry, bool(words), bool(url)),
        command=tuple(str(w) for w in words),
        url=url,
        environment=environment,
        variables=tuple(names),
        tools_off=tuple(t for t in off if isinstance(t, str)) if isinstance(off, list) else (),
        tools_only=tuple(t for t in only if isinstance(t, str)) if isinstance(only, list) else None,
    )


def _transport(host: Host, entry: Mapping[str, Any], command: bool, url: bool) -> str:
    spelling = host.registrations
    said = entry.get(spelling.type) if spelling.type else None
    if isinstance(said, str):
        for transport, word in spelling.types.items():
            if said == word and (command if transport == "stdio" else url):
                return transport
        if said in ("streamable-http", "ws") and url:
            return "http"
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
