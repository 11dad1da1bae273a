"""Snapshot to registrations: every server of every layer, the winner marked, what turns it off.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.hosts.dialect import Entry, normalise, read_entry, tool_id
from hostconf.hosts.schema import Host, Policy
from hostconf.integrations.schema import Integration
from hostconf.model import Registration, State
from hostconf.survey.classify import classify
from hostconf.survey.view import Off, View, fill_form
from hostconf.survey.workspace import LayerFile


class Found(NamedTuple):
    """One entry of one layer before anything is made of it."""

    file: LayerFile
    name: str
    at: tuple[str, ...]
    raw: Mapping[str, Any]
    counts: bool


def names_of(host: Host, name: str, entry: Entry) -> dict[str, Any]:
    """What the forms of switches are filled with for a server."""
    return {"name": name, "server": normalise(host, name), "command": list(entry.command), "url": entry.url}


def find_entries(view: View) -> tuple[Found, ...]:
    """The entries of all layers, the strongest layer first; also of layers that the host does not load."""
    found: list[Found] = []
    spelling = view.host.registrations
    for file in view.files:
        if file.layer.group != spelling.group or file.document is None:
            continue
        tables = (spelling.at_layer[file.layer.id],) if file.layer.id in spelling.at_layer else spelling.at
        for template in tables:
            at = view.fill(template, {})
            table = file.document.get(at) if at is not None else None
            if at is None or not isinstance(table, dict):
                continue
            for name, raw in table.items():
                if isinstance(raw, dict):
                    found.append(Found(file, name, (*at, name), raw, view.counts(file)))
    return tuple(found)


def registrations(view: View, catalogue: Sequence[Integration]) -> tuple[Registration, ...]:
    """All registrations of a host. Of one name at most one wins; entries that only switch another are none."""
    entries = find_entries(view)
    only = next((p for p in view.policies if p.effect == "registrations-only-from"), None)
    rows: list[Registration] = []
    winners: set[str] = set()
    for found in entries:
        effective = _effective(view.host, found, entries)
        entry = read_entry(view.host, effective)
        if entry.transport == "unknown" and not _is_own(view.host, found, entries):
            continue
        state, pending = _state(view, found)
        # an entry that waits for approval yields to the weaker one that is approved
        yields = state == "pending" and any(
            o.name == found.name and o is not found and o.counts and _state(view, o)[0] == "offered" for o in entries
        )
        wins = found.name not in winners and not yields and entry.transport != "unknown"
        if wins:
            winners.add(found.name)
        off = _policy_off(view, found, entry, only) or server_off(view, found.name, entry)
        rows.append(_row(view, catalogue, found, entry, effective, state, pending, wins, off))
    return tuple(rows)


def _is_own(host: Host, found: Found, entries: Sequence[Found]) -> bool:
    """Whether an entry without command and address stands alone, or only switches another of its name."""
    if host.registrations.merge != "deep":
        return True
    return all(o.name != found.name or o is found for o in entries)


def _effective(host: Host, found: Found, entries: Sequence[Found]) -> Mapping[str, Any]:
    """The entry as the host merges it: with the keys of weaker layers, and under those of stronger ones."""
    if host.registrations.merge != "deep" or not found.counts:
        return found.raw
    merged: dict[str, Any] = {}
    for other in entries:
        if other.name == found.name and other.counts:
            for key, value in other.raw.items():
                merged.setdefault(key, value)
    return merged


def _state(view: View, found: Found) -> tuple[State, str]:
    if not found.counts:
        trust = view.host.trust
        return "pending", trust.pending if trust and found.file.layer.trust else "mend the file first"
    for approval in view.host.approvals:
        if found.file.layer.id in approval.layers and not any(
            view.check(check, {"name": found.name}) is not None for check in approval.checks
        ):
            return "pending", approval.pending
    return "offered", ""


def server_off(view: View, name: str, entry: Entry) -> Off | None:
    """The switch that takes a whole server out, if one does."""
    names = names_of(view.host, name, entry)
    for switch in view.host.switches:
        if "server" in switch.forms:
            off = view.off(switch, "server", names)
            if off is not None and off.strength == "removed":
                return off
    return None


def _policy_off(view: View, found: Found, entry: Entry, only: Policy | None) -> Off | None:
    """The managed policy that keeps a server out."""
    if only is not None and found.file.layer.id not in only.layers:
        return _by_policy(view, only)
    names = names_of(view.host, found.name, entry)
    for policy in view.policies:
        if policy.effect == "allow-list":
            decision = view.check(policy.when, {})
            items = decision.value if decision and isinstance(decision.value, list) else []
            wanted = [fill_form(form, names) for form in policy.forms]
            if not any(item in wanted for item in items):
                return _by_policy(view, policy)
        elif policy.effect == "allow-table" and not _in_allow_table(view, policy, found.name, entry):
            return _by_policy(view, policy)
    return None


def _in_allow_table(view: View, policy: Policy, name: str, entry: Entry) -> bool:
    """Whether a table of identities by name lets the server in."""
    decision = view.check(policy.when, {})
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


def _by_policy(view: View, policy: Policy) -> Off:
    decision = view.check(policy.when, {})
    return Off(policy.id, decision.path if decision else "", decision.line if decision else 0, "removed", policy.text)


def _row(
    view: View,
    catalogue: Sequence[Integration],
    found: Found,
    entry: Entry,
    effective: Mapping[str, Any],
    state: State,
    pending: str,
    wins: bool,
    off: Off | None,
) -> Registration:
    known = classify(
        name=found.name,
        transport=entry.transport,
        command=entry.command,
        url=entry.url,
        env_names=tuple(entry.environment),
        catalogue=catalogue,
    )
    integration = next((i for i in catalogue if i.id == known.integration), None)
    gone = tuple(
        capability
        for capability, values in (integration.off if integration else {}).items()
        if values and all(str(entry.environment.get(k, "")).lower() == v for k, v in values.items())
    )
    tools = tuple(
        (c, t)
        for c, t in known.tools
        if c not in gone
        and t not in entry.tools_off
        and (entry.tools_only is None or t in entry.tools_only or t == "*")
    )
    where = f" (`{off.path}`:{off.line})" if off and off.path else ""
    return Registration(
        host=view.host.id,
        name=found.name,
        layer=found.file.layer.id,
        scope=found.file.layer.scope,
        path=found.file.path,
        line=view.line(found.file, found.at),
        at=found.at,
        transport=entry.transport,
        command=entry.command,
        url=entry.url,
        environment=tuple(sorted({*entry.environment, *entry.variables})),
        enabled=off is None,
        why_off=f"{off.text}{where}" if off else "",
        wins=wins,
        state=state,
        pending=pending,
        capabilities=tuple(c for c in known.capabilities if c not in gone),
        tools=tools,
        integration=known.integration,
        evidence=known.evidence,
        disabled_tools=entry.tools_off,
    )


def rows_for(view: View, registration: Registration, capability: str) -> Iterator[tuple[str, str, Off | None]]:
    """Tool id, raw name and the switch on it, for each tool of a registration that serves a capability."""
    entry = Entry(registration.transport, registration.command, registration.url, {}, (), (), None)
    for served, raw in registration.tools:
        if served != capability:
            continue
        spelled = tool_id(view.host, registration.name, raw)
        names = {**names_of(view.host, registration.name, entry), "tool": spelled, "raw_tool": raw}
        found: Off | None = None
        for switch in view.host.switches:
            if "server_tool" in switch.forms:
                found = view.off(switch, "server_tool", names)
                if found is not None:
                    break
        yield spelled, raw, found
