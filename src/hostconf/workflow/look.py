"""The verbs that only look: status, conflicts, explain, and the two catalogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hostconf.display import mask_lines
from hostconf.errors import FormatError, UsageError
from hostconf.hosts.schema import nearest
from hostconf.model import TIERS, Conflict, Environment, OperationResult, Survey
from hostconf.survey.survey import CAPABILITIES, survey
from hostconf.survey.workspace import layer_files
from hostconf.takeback import drift
from hostconf.workflow import data
from hostconf.workflow.gather import Gathered, House, gather, open_house, record_problem


def surveys(house: House, names: Sequence[str]) -> tuple[list[Survey], Gathered]:
    """The surveys of the hosts named; when none is, of those that are there or have an install of ours."""
    hosts = house.named(names)
    found = gather(house, hosts)
    rows = [survey(h, found.workspace, house.catalogue, found.known.own(h.id)) for h in hosts]
    rows = [row._replace(conflicts=(*row.conflicts, *drifted(found, row), *foreign(found, row))) for row in rows]
    ours = {r.host for r in found.known.records.values()}
    return [row for row in rows if names or row.present or row.host in ours], found


def drifted(found: Gathered, row: Survey) -> tuple[Conflict, ...]:
    """Entries of ours that are no longer as they were written."""
    layers = {str(layer["path"]): str(layer["id"]) for layer in row.layers}
    scopes = {rules.path: rules.scope for rules in row.rules}
    return tuple(
        Conflict(
            "drift",
            row.host,
            layers.get(d.path) or scopes.get(d.path) or r.scope,
            d.path,
            d.line,
            f"`{'.'.join(map(str, d.at)) or d.path}`: {d.reason}",
            dict.fromkeys(TIERS, "refused where it is in the way; `--replace` takes it"),
            "apply again, or uninstall: what is not as we wrote it stays",
        )
        for r in found.known.records.values()
        if r.host == row.host
        for d in drift(r, found.workspace, [*found.known.records.values()])
    )


def foreign(found: Gathered, row: Survey) -> tuple[Conflict, ...]:
    """Entries that another installation owns."""
    mine = {r.id for r in found.known.records.values()}
    layers = {found.workspace.state(str(layer["path"])).real: layer for layer in row.layers}
    rows = []
    for where, claims in found.known.claims.items():
        layer = layers.get(where.removesuffix(".hostconf-owner.json"))
        for claim in claims:
            if layer is None or claim.get("owner") in mine:
                continue
            path, at = str(layer["path"]), tuple(claim["at"])
            read = found.workspace.read(path, str(layer["format"]))
            span = None if read is None or isinstance(read, FormatError) else read.where(at)
            rows.append(
                Conflict(
                    "owned-by-another",
                    row.host,
                    str(layer["id"]),
                    path,
                    span.line if span else 0,
                    f"another installation owns `{'.'.join(map(str, at))}`",
                    dict.fromkeys(TIERS, "refused where it needs this entry"),
                    "uninstall it there",
                )
            )
    return tuple(rows)


def status(environment: Environment, names: Sequence[str]) -> OperationResult:
    """See `hostconf.workflow.status`."""
    house = open_house(environment)
    rows, found = surveys(house, names)
    hosts = []
    for row in rows:
        installed = [
            data.installed_row(r, drift(r, found.workspace, [*found.known.records.values()]))
            for r in found.known.records.values()
            if r.host == row.host
        ]
        hosts.append(data.survey_row(row, installed))
    messages = () if hosts else ("none of the known hosts is there",)
    return OperationResult(
        "status",
        0,
        {"hosts": hosts, "project": environment.project},
        messages,
        tuple(record_problem(p) for p in found.problems),
    )


def conflicts(environment: Environment, names: Sequence[str]) -> OperationResult:
    """See `hostconf.workflow.conflicts`."""
    house = open_house(environment)
    rows, found = surveys(house, names)
    return OperationResult(
        "conflicts",
        0,
        {"conflicts": [data.conflict_row(c) for row in rows for c in row.conflicts]},
        errors=tuple(record_problem(p) for p in found.problems),
    )


def explain(environment: Environment, capability: str, names: Sequence[str]) -> OperationResult:
    """See `hostconf.workflow.explain`."""
    if capability not in CAPABILITIES:
        raise UsageError(
            f"there is no capability `{capability}`; the nearest is `{nearest(capability, CAPABILITIES)}`",
            hint=f"one of {', '.join(CAPABILITIES)}",
        )
    house = open_house(environment)
    rows, found = surveys(house, names)
    hosts = []
    for row in rows:
        tools = row.surface[capability]
        against = [
            c
            for c in row.conflicts
            if c.kind
            in (
                "capable-registration",
                "outranked",
                "dead-switch",
                "broken-file",
                "explicit-choice",
                "rules-steer-elsewhere",
                "not-trusted",
                "name-shadowed",
            )
        ]
        off = [r for r in row.registrations if capability in r.capabilities and not (r.enabled and r.wins)]
        hosts.append(
            {
                "id": row.host,
                "name": row.name,
                "present": row.present,
                "tools": [data.tool_row(t) for t in tools],
                "sentences": _story(row, capability, len(tools)),
                "off": [data.registration_row(r) for r in off],
                "conflicts": [data.conflict_row(c) for c in against],
            }
        )
    return OperationResult(
        "explain",
        0,
        {"capability": capability, "hosts": hosts},
        errors=tuple(record_problem(p) for p in found.problems),
    )


def _story(row: Survey, capability: str, count: int) -> list[str]:
    """What the model gets, in sentences."""
    words = capability.replace("_", " ")
    tools = row.surface[capability]
    offered = [t for t in tools if t.state == "offered" and not t.strength]
    said = [
        f"`{c.path}`"
        + (f":{c.line}" if c.line else "")
        + f" cannot be used ({c.text}); what follows is what the other files say"
        for c in row.conflicts
        if c.kind == "broken-file" and "stands twice" not in c.text
    ]
    if not tools:
        said.append(f"{row.name} offers the model no tool for {words}")
    elif len(offered) == 1 and count == 1:
        said.append(f"{row.name} offers the model one tool for {words}: `{offered[0].tool}`")
    else:
        said.append(f"{row.name} has {count} tools for {words}, and the model chooses among those it sees")
    for tool in tools:
        where = (
            f", decided by `{tool.path}`:{tool.line}"
            if tool.path and tool.line
            else f", decided by `{tool.path}`"
            if tool.path
            else ", on by default: no file says otherwise"
        )
        whose = "the host's own" if not tool.registration else f"of the server `{tool.registration}`"
        how = {
            "offered": "",
            "possible": ", offered only under a condition that no file tells",
            "pending": ", once you approve it",
        }[tool.state]
        said.append(f"`{tool.tool}` is {whose}{how}{where}" + (f": {tool.note}" if tool.note else ""))
    for r in row.registrations:
        if capability in r.capabilities and not r.enabled:
            said.append(f"`{r.name}` (`{r.path}`:{r.line}) is off: {r.why_off}")
        elif capability in r.capabilities and not r.wins:
            said.append(f"`{r.name}` (`{r.path}`:{r.line}) does not count: a stronger entry has its name")
    return said


def excerpts(environment: Environment, places: Sequence[tuple[str, int]], around: int) -> list[Mapping[str, Any]]:
    """See `hostconf.workflow.excerpts`."""
    house = open_house(environment)
    found = gather(house, house.hosts)
    formats = {f.path: f.layer.format for h in house.hosts for f in layer_files(h, found.workspace)}
    rows: list[Mapping[str, Any]] = []
    for path, line in places:
        state = found.workspace.snapshot.files.get(path)
        format = formats.get(path) or ("markdown" if path.endswith((".md", ".mdc")) else "")
        lines: list[tuple[int, str]] = []
        if state is not None and state.data is not None:
            text = state.data.decode("utf-8", "surrogateescape")
            lines = mask_lines(text, format, max(1, line - around), max(line, 1) + around)
        shown = [{"number": number, "text": said} for number, said in lines]
        rows.append({"path": path, "line": line, "format": format, "lines": shown})
    return rows


def hosts(environment: Environment, names: Sequence[str]) -> OperationResult:
    """See `hostconf.workflow.hosts`."""
    house = open_house(environment)
    return OperationResult("hosts", 0, {"hosts": [data.host_row(h) for h in house.named(names)]})


def integrations(environment: Environment) -> OperationResult:
    """See `hostconf.workflow.integrations`."""
    house = open_house(environment)
    rows = sorted(house.catalogue, key=lambda i: not i.installable)
    return OperationResult("integrations", 0, {"integrations": [data.integration_row(i) for i in rows]})
