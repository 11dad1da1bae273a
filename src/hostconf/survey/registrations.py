"""Snapshot to registrations: every server of every layer and plugin, the winner marked, what turns it off.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.hosts.dialect import Entry, normalise, read_entry, tool_id
from hostconf.hosts.schema import Host, Policy
from hostconf.integrations.schema import Integration
from hostconf.model import KeyPath, Registration, State
from hostconf.survey.classify import Classification, classify
from hostconf.survey.match import fill_form, item_matches
from hostconf.survey.plugins import Brought, brought
from hostconf.survey.types import Entry as Found
from hostconf.survey.types import find_entries, merge
from hostconf.survey.view import Off, View
from hostconf.survey.workspace import LayerFile

__all__ = ["Found", "find_entries", "names_of", "registrations", "rows_for", "server_off"]

PLUGIN = "plugin"
"""The layer of what a plugin brings."""


class _Row(NamedTuple):
    """One server wherever it comes from."""

    name: str
    layer: str
    scope: str
    path: str
    line: int
    at: KeyPath
    raw: Mapping[str, Any] | None
    state: State
    pending: str
    own: LayerFile | None = None
    """Its file, where the host does not read that yet."""

    def names(self, host: Host, entry: Entry) -> dict[str, Any]:
        """What forms and key paths are filled with."""
        entries = {"entries": (self.at,)} if self.layer == PLUGIN else {}
        return {**names_of(host, self.name, entry), "layer": self.layer, "own": self.own, **entries}


def names_of(host: Host, name: str, entry: Entry) -> dict[str, Any]:
    """What the forms of switches are filled with for a server."""
    return {"name": name, "server": normalise(host, name), "command": list(entry.command), "url": entry.url}


def registrations(view: View, catalogue: Sequence[Integration]) -> tuple[Registration, ...]:
    """All registrations of a host. Of one name at most one wins; entries that only switch another are none."""
    entries = view.entries()
    states = [_state(view, found) for found in entries]
    # an entry that waits for approval yields to the weaker one that is approved
    approved = {e.name for e, (state, _) in zip(entries, states, strict=True) if e.counts and state == "offered"}
    rows: list[Registration] = []
    winners: set[str] = set()
    for found, (state, pending) in zip(entries, states, strict=True):
        if not _is_own(view.host, found, entries):
            continue
        deep = view.host.registrations.merge == "deep" and found.counts
        raw = merge(entries, found.name) if deep else found.raw
        entry = read_entry(view.host, raw)
        wins = entry.transport != "unknown" and found.name not in winners
        wins = wins and (state == "offered" or found.name not in approved)
        if wins:
            winners.add(found.name)
        line = view.line(found.file, found.at)
        layer, path = found.file.layer, found.file.path
        own = None if found.counts else found.file
        row = _Row(found.name, layer.id, layer.scope, path, line, found.at, raw, state, pending, own)
        rows.append(_registration(view, catalogue, row, entry, wins))
    for one in brought(view):
        rows.append(_of_plugin(view, catalogue, one, winners))
    return tuple(rows)


def _of_plugin(view: View, catalogue: Sequence[Integration], one: Brought, winners: set[str]) -> Registration:
    """The registration that a plugin brings: a server, or what a plugin of that name may bring."""
    plugin = one.plugin
    raw = None if one.raw is None else {**one.raw, **_overlay(view, one)}
    state: State = "possible" if raw is None else "offered"
    row = _Row(one.name, PLUGIN, plugin.scope, plugin.path, plugin.line, one.at, raw, state, "")
    entry = read_entry(view.host, raw or {})
    wins = one.name not in winners and (raw is None or entry.transport != "unknown")
    if wins:
        winners.add(one.name)
    return _registration(view, catalogue, row, entry, wins)


def _overlay(view: View, one: Brought) -> dict[str, Any]:
    """What the user's own files say of a plugin's server: the stronger layer last."""
    found: dict[str, Any] = {}
    said = view.host.plugins
    for file in reversed(list(view.group(said.group))) if said else ():
        value = file.document.get(one.at) if file.document is not None else None
        found |= value if isinstance(value, dict) else {}
    return found


def _is_own(host: Host, found: Found, entries: Sequence[Found]) -> bool:
    """Whether an entry is a server, and does not only switch or change another of its name."""
    spelling = host.registrations
    if spelling.merge != "deep" or spelling.command in found.raw or spelling.url in found.raw:
        return True
    if spelling.inert and isinstance(found.raw.get(spelling.inert), bool):
        return False
    return all(o.name != found.name or o is found for o in entries)


def _state(view: View, found: Found) -> tuple[State, str]:
    if not found.counts:
        trust = view.host.trust
        return "pending", trust.pending if trust and not view.loads(found.file) else "mend the file first"
    for approval in view.host.approvals:
        if found.file.layer.id in approval.layers and not any(
            view.check(check, {"name": found.name}) is not None for check in approval.checks
        ):
            return "pending", approval.pending
    return "offered", ""


# ------------------------------------------------------------------ what keeps a server out


def server_off(view: View, names: Mapping[str, Any]) -> Off | None:
    """The switch that takes a whole server out, if one does."""
    for switch in view.host.switches:
        if "server" in switch.forms:
            off = view.off(switch, "server", names)
            if off is not None and off.strength == "removed":
                return off
    return None


def _policy_off(view: View, row: _Row, entry: Entry) -> Off | None:
    """The managed policy that keeps a server out."""
    for policy in view.policies:
        if policy.effect == "registrations-only-from":
            out = row.layer not in policy.layers
        elif row.layer in policy.layers:
            continue
        elif policy.effect == "allow-list":
            out = not _in_allow_list(view, policy, row, entry)
        else:
            out = policy.effect == "allow-table" and not _in_allow_table(view, policy, row.name, entry)
        if out:
            decision = view.policy(policy)
            path, line = (decision.path, decision.line) if decision else ("", 0)
            return Off(policy.id, path, line, "removed", policy.text)
    return None


def _in_allow_list(view: View, policy: Policy, row: _Row, entry: Entry) -> bool:
    """Whether one of the lists, all of them taken together, lets the server in."""
    at = view.fill(policy.when.at, {})
    items: list[Any] = []
    for file in view.group(policy.when.group, view.policy_layers(policy)):
        value = file.document.get(at) if file.document is not None and at is not None else None
        items += value if isinstance(value, list) else []
    keys = {key for form in policy.forms for key in form}
    kind = policy.by.get(entry.transport, "")
    alone = any(isinstance(item, dict) and kind in item for item in items)
    names = row.names(view.host, entry)
    if row.layer == PLUGIN and view.host.plugins and not view.host.plugins.allowed_by_name:
        names["name"] = ""
    for form in policy.forms:
        filled = fill_form(form, names)
        if filled is None or (alone and kind not in form):
            continue
        if any(item_matches(item, filled, False, keys, policy.globs) for item in items):
            return True
    return False


def _in_allow_table(view: View, policy: Policy, name: str, entry: Entry) -> bool:
    """Whether a table of identities by name lets the server in."""
    decision = view.policy(policy)
    table = decision.value.get(name) if decision and isinstance(decision.value, dict) else None
    said = {"command": entry.command[0] if entry.command else "", "url": entry.url}
    for form in policy.forms:
        for key, at in form.items():
            value: Any = table
            for step in at:
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None and value == said[key]:
                return True
    return False


# ------------------------------------------------------------------ rows


def _registration(view: View, catalogue: Sequence[Integration], row: _Row, entry: Entry, wins: bool) -> Registration:
    known = classify(
        name=row.name,
        transport=entry.transport,
        command=entry.command,
        url=entry.url,
        env_names=tuple(entry.environment),
        catalogue=catalogue,
    )
    installed = view.workspace.ours.get((row.path, row.at))
    if installed and installed != known.integration:
        known = _installed(catalogue, installed) or known
    integration = next((i for i in catalogue if i.id == known.integration), None)
    gone = tuple(
        capability
        for capability, values in (integration.off if integration else {}).items()
        if values and all(str(entry.environment.get(k, "")).lower() == v for k, v in values.items())
    )
    tools = tuple((c, t) for c, t in known.tools if c not in gone and _is_left(entry, t))
    off = None
    # of a plugin that no file describes nothing is known to turn off what it may bring
    if row.raw is not None:
        off = _policy_off(view, row, entry) or server_off(view, row.names(view.host, entry))
    where = f" (`{off.path}`:{off.line})" if off and off.path else ""
    evidence = known.evidence
    if row.raw is None:
        evidence = f"a plugin, and no file tells what it brings: {known.evidence}"
    return Registration(
        host=view.host.id,
        name=row.name,
        layer=row.layer,
        scope=row.scope,
        path=row.path,
        line=row.line,
        at=row.at,
        transport="plugin" if row.raw is None else entry.transport,
        command=entry.command,
        url=entry.url,
        environment=tuple(sorted({*entry.environment, *entry.variables})),
        enabled=off is None,
        why_off=f"{off.text}{where}" if off else "",
        wins=wins,
        state=row.state,
        pending=row.pending,
        capabilities=tuple(c for c in known.capabilities if any(served == c for served, _ in tools)),
        tools=tools,
        integration=known.integration,
        evidence=evidence,
        disabled_tools=entry.tools_off,
    )


def _installed(catalogue: Sequence[Integration], name: str) -> Classification | None:
    """What an entry of ours is, by what was installed: `--package` may have put any reference there."""
    one = next((i for i in catalogue if i.id == name), None)
    if one is None:
        return None
    tools = tuple((capability, tool) for capability in one.capabilities for tool in one.tools(capability, "mcp"))
    return Classification(tuple(one.capabilities), tools, one.id, f"hostconf installed {one.name} there", "catalogue")


def _is_left(entry: Entry, tool: str) -> bool:
    """Whether the entry itself leaves a tool in; of tools that nobody named only an empty list takes all."""
    if tool in entry.tools_off:
        return False
    only = entry.tools_only
    return only is None or tool in only or (tool == "*" and bool(only))


def rows_for(view: View, registration: Registration, capability: str) -> Iterator[tuple[str, str, Off | None]]:
    """Tool id, raw name and the switch on it, for each tool of a registration that serves a capability."""
    entry = Entry(registration.transport, registration.command, registration.url, {}, (), (), None)
    for served, raw in registration.tools:
        if served != capability:
            continue
        spelled = tool_id(view.host, registration.name, raw)
        names = {
            **names_of(view.host, registration.name, entry),
            "tool": spelled,
            "raw_tool": raw,
            "layer": registration.layer,
        }
        found: Off | None = None
        for switch in view.host.switches:
            if "server_tool" in switch.forms and registration.state != "possible":
                found = view.off(switch, "server_tool", names)
                if found is not None:
                    break
        yield spelled, raw, found
