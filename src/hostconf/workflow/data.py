"""Records to the JSON data of the command line: one shape a thing, secrets masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hostconf.display import mask_command, mask_diff, mask_text, mask_url
from hostconf.errors import HostconfError
from hostconf.hosts.schema import Host
from hostconf.integrations.schema import Integration
from hostconf.model import Conflict, Plan, PlannedFile, Refusal, Registration, RulesFile, Survey, Tool
from hostconf.record import Record
from hostconf.takeback import Leftover


def tool_row(tool: Tool) -> dict[str, Any]:
    """One tool of a surface."""
    return {
        "tool": tool.tool,
        "provider": tool.provider,
        "registration": tool.registration,
        "state": tool.state,
        "strength": tool.strength,
        "path": tool.path,
        "line": tool.line,
        "note": tool.note,
    }


def registration_row(row: Registration) -> dict[str, Any]:
    """One registration; its command and address masked, of its environment the names alone."""
    return {
        "name": row.name,
        "transport": row.transport,
        "layer": row.layer,
        "scope": row.scope,
        "path": row.path,
        "line": row.line,
        "enabled": row.enabled,
        "why_off": row.why_off,
        "wins": row.wins,
        "state": row.state,
        "pending": row.pending,
        "command": mask_command(row.command),
        "url": mask_url(row.url) if row.url else "",
        "environment": list(row.environment),
        "capabilities": list(row.capabilities),
        "integration": row.integration,
        "evidence": row.evidence,
    }


def rules_row(row: RulesFile) -> dict[str, Any]:
    """One rules file."""
    return {"scope": row.scope, "path": row.path, "loaded": row.loaded, "why": row.why, "block": row.block}


def conflict_row(row: Conflict) -> dict[str, Any]:
    """One finding."""
    return {
        "kind": row.kind,
        "host": row.host,
        "layer": row.layer,
        "path": row.path,
        "line": row.line,
        "column": row.column,
        "text": row.text,
        "tiers": dict(row.tiers),
        "fix": row.fix,
        "resolved": row.resolved,
        "excerpt": mask_text(row.excerpt, "markdown") if row.kind == "rules-steer-elsewhere" else row.excerpt,
    }


def refusal_row(row: Refusal) -> dict[str, Any]:
    """One refusal."""
    return {
        "host": row.host,
        "capability": row.capability,
        "tier": row.tier,
        "code": row.code,
        "reason": row.reason,
        "path": row.path,
        "line": row.line,
        "fix": row.fix,
    }


def refusal_errors(rows: Sequence[Refusal]) -> tuple[dict[str, Any], ...]:
    """Refusals as errors of the envelope: one for each reason, with all that it keeps from being delivered."""
    found: dict[tuple[str, str, str, str, int], list[Refusal]] = {}
    for row in rows:
        found.setdefault((row.host, row.code, row.reason, row.path, row.line), []).append(row)
    return tuple(_refusal_error(same) for same in found.values())


def _refusal_error(rows: Sequence[Refusal]) -> dict[str, Any]:
    row = rows[0]
    what = ", ".join(f"{r.capability} {r.tier}" for r in rows if r.capability)
    return {
        "code": row.code,
        "message": f"{row.host}: {what}: {row.reason}" if what else f"{row.host}: {row.reason}",
        "hint": row.fix,
        "path": row.path or None,
        "line": row.line or None,
        "column": row.column or None,
    }


def error_row(error: HostconfError) -> dict[str, Any]:
    """A failure as an error of the envelope."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "path": error.path,
        "line": error.line,
        "column": error.column,
    }


def leftover_row(row: Leftover) -> dict[str, Any]:
    """An entry that stays."""
    return {"path": row.path, "at": list(row.at), "line": row.line, "reason": row.reason}


def installed_row(record: Record, drift: Sequence[Leftover]) -> dict[str, Any]:
    """One install, with what is no longer as it was written."""
    return {
        "integration": record.integration,
        "scope": record.scope,
        "path": record.path,
        "server": record.server,
        "tiers": dict(record.tiers),
        "package": record.package,
        "environment": list(record.environment),
        "knobs": dict(record.knobs),
        "installed": record.installed,
        "by": record.tool,
        "files": [f.path for f in record.files],
        "drift": [leftover_row(d) for d in drift],
    }


def survey_row(survey: Survey, installed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One host of `status`."""
    return {
        "id": survey.host,
        "name": survey.name,
        "version": survey.version,
        "present": survey.present,
        "layers": [dict(layer) for layer in survey.layers],
        "registrations": [registration_row(r) for r in survey.registrations],
        "rules": [rules_row(r) for r in survey.rules],
        "surface": {c: [tool_row(t) for t in tools] for c, tools in survey.surface.items()},
        "installed": [dict(i) for i in installed],
        "conflicts": len(survey.conflicts),
    }


def file_row(file: PlannedFile) -> dict[str, Any]:
    """One file of a plan with its diff, secrets masked."""
    change = file.change
    # `patch` puts a file in the place of a link, so the file behind it is named
    diff = mask_diff(change.before, change.after, change.format, change.real)
    return {
        "path": change.path,
        "real": change.real,
        "host": file.host,
        "action": file.action,
        "diff": diff.text,
        "masked": diff.masked,
        "mode": None if change.mode is None else f"{change.mode:04o}",
        "operations": [{"kind": o.kind, "at": list(o.at), "why": o.why} for o in file.operations],
    }


def plan_data(plan: Plan) -> dict[str, Any]:
    """The data of `plan`, as the design says."""
    files = [file_row(f) for f in plan.files]
    masked = [f"secrets are masked in the diff of `{f['path']}`: `patch` cannot use it" for f in files if f["masked"]]
    return {
        "files": files,
        "surface": [
            {
                "host": s.host,
                "capability": s.capability,
                "tier": s.tier,
                "before": [tool_row(t) for t in s.before],
                "after": [tool_row(t) for t in s.after],
            }
            for s in plan.surface
        ],
        "conflicts": [conflict_row(c) for c in plan.conflicts],
        "notes": [*plan.notes, *masked],
        "blast_radius": list(plan.blast_radius),
        "refusals": [refusal_row(r) for r in plan.refusals],
        "empty": plan.empty,
    }


def host_row(host: Host) -> dict[str, Any]:
    """One host of the catalogue, with the evidence of its facts."""
    return {
        "id": host.id,
        "name": host.name,
        "aliases": list(host.aliases),
        "package": host.package,
        "checked": {"version": host.checked_version, "on": host.checked_on},
        "evidence": host.evidence,
        "layers": [
            {
                "id": x.id,
                "scope": x.scope,
                "rank": x.rank,
                "path": x.path or f"${x.variable}",
                "format": x.format,
                "trust": x.trust,
                "verified": x.verified,
                "broken": x.broken,
            }
            for x in host.layers
        ],
        "tools": [
            {
                "id": t.id,
                "capability": t.capability,
                "also": list(t.also),
                "off": list(t.off),
                "note": t.note,
                "verified": t.verified,
            }
            for t in host.tools
        ],
        "switches": [
            {
                "id": s.id,
                "kind": s.kind,
                "at": list(s.at),
                "off": s.off,
                "strength": s.strength,
                "text": s.text,
                "verified": s.verified,
            }
            for s in host.switches
        ],
        "tool_id": host.tool_id,
        "mechanism": dict(host.forced),
        "tiers": {
            c: {t: _tier_words(host, c, t) for t in ("off", "optional", "preferred", "forced")} for c in host.forced
        },
        "rules": [
            {
                "scope": r.scope,
                "paths": list(r.paths) or list(r.listed_at),
                "pick": r.pick,
                "writes": r.write,
                "verified": r.verified,
            }
            for r in host.rules
        ],
        "policies": [{"id": p.id, "text": p.text, "verified": p.verified} for p in host.policies],
        "dead": [{"at": list(d.at), "text": d.text, "verified": d.verified} for d in host.dead],
        "traps": [{"text": f.text, "verified": f.verified} for f in host.traps],
        "verify": list(host.verify.run) if host.verify else [],
    }


def _tier_words(host: Host, capability: str, tier: str) -> str:
    if tier == "optional":
        return "a registration"
    if tier == "preferred":
        return "a registration, and a block in a rules file"
    if tier == "off":
        return (
            "the entry itself leaves the tool out"
            if host.own_off[:1] == ("entry",)
            else f"`{host.own_off[0]}`"
            if host.own_off
            else "the integration's own switch"
        )
    mechanism = host.forced.get(capability, "none")
    if mechanism == "none":
        return "not deliverable on this host"
    tools = [t for t in host.tools if capability in (t.capability, *t.also)]
    joint = [t.capability for t in tools if t.capability != capability]
    return mechanism + (f"; only together with {joint[0]}" if joint else "")


def integration_row(one: Integration) -> dict[str, Any]:
    """One integration of the catalogue."""
    return {
        "id": one.id,
        "name": one.name,
        "installable": one.installable,
        "server": one.server,
        "doc": one.doc,
        "capabilities": {c: list(t) for c, t in one.capabilities.items()},
        "paths": {
            p: {
                "transport": w.transport,
                "command": list(w.words()),
                "url": w.url,
                "package": w.package,
                "hosts": list(w.hosts),
            }
            for p, w in one.paths.items()
        },
        "environment": [
            {"name": v.name, "secret": v.secret, "required": v.required, "doc": v.doc} for v in one.environment
        ],
        "knobs": [
            {
                "name": k.name,
                "type": k.type,
                "default": k.default,
                "min": k.min,
                "max": k.max,
                "variable": k.variable,
                "doc": k.doc,
            }
            for k in one.knobs
        ],
        "recognise": {
            "packages": list(one.recognise.packages),
            "commands": list(one.recognise.commands),
            "urls": list(one.recognise.urls),
        },
    }
