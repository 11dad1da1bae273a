"""The tiers as predicates on the surface: does the wish hold on these bytes, and if not, which line is against it.

Pure. The planner's edits are believed only after the surface, computed anew from the
planned bytes, satisfies these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hostconf.formats.base import KeyPath
from hostconf.model import Registration, RulesFile, Tool
from hostconf.survey.registrations import rows_for
from hostconf.survey.survey import Field


class Ours(NamedTuple):
    """Which registration is the one the plan writes."""

    name: str
    path: str
    at: KeyPath


class Shortfall(NamedTuple):
    """Why a tier does not hold."""

    reason: str
    code: str = "refused"
    path: str = ""
    line: int = 0
    fix: str = ""


def shortfalls(
    tier: str, capability: str, field: Field, ours: Ours | None, accept: Sequence[str] = ()
) -> tuple[Shortfall, ...]:
    """Why the tier does not hold for the capability on this field; empty when it does.

    Args:
        ours: the registration of the integration; None where it is not installed.
        accept: `call-denied` takes a tool whose call is refused for one that is gone.
    """
    surface = field.surface(capability)
    mine = tuple(t for t in surface if ours is not None and t.registration == ours.name and _is_ours(field, ours, t))
    others = tuple(t for t in surface if t not in mine)
    if tier == "off":
        return tuple(
            Shortfall(f"`{t.tool}` is still offered", "refused", t.path, t.line) for t in mine if t.strength == ""
        )
    problems: list[Shortfall] = []
    if not any(t.strength == "" for t in mine):
        problems.append(_not_offered(capability, field, ours, mine))
    if tier == "preferred" and not problems:
        problems += _not_named(capability, field.rules(), mine)
    if tier == "forced" and not problems:
        problems += [
            Shortfall(
                f"`{t.tool}` would not be the only tool: it is {t.state}: {t.note}", "not-trusted", t.path, t.line
            )
            for t in mine
            if t.state == "pending"
        ]
        problems += [_remains(t) for t in others if not (t.strength == "call-denied" and "call-denied" in accept)]
    return tuple(problems)


def _is_ours(field: Field, ours: Ours, tool: Tool) -> bool:
    return any(r.name == ours.name and r.wins and r.path == ours.path and r.at == ours.at for r in field.registrations)


def _remains(tool: Tool) -> Shortfall:
    where = f" (`{tool.path}`:{tool.line})" if tool.path and tool.line else f" (`{tool.path}`)" if tool.path else ""
    if tool.strength:
        return Shortfall(
            f"`{tool.tool}` stays in sight of the model: the host can only refuse the call{where}",
            "call-denied",
            tool.path,
            tool.line,
            "`--accept call-denied` takes the weaker thing under its own name",
        )
    whose = "the host's own tool" if not tool.registration else f"the tool of `{tool.registration}`"
    return Shortfall(f"`{tool.tool}`, {whose}, stays {tool.state}{where}", "outranked", tool.path, tool.line)


def _not_offered(capability: str, field: Field, ours: Ours | None, mine: Sequence[Tool]) -> Shortfall:
    if ours is None:
        return Shortfall("the integration would not be registered")
    if mine:
        return Shortfall(
            f"`{mine[0].tool}` would be seen, but its call refused", "call-denied", mine[0].path, mine[0].line
        )
    row = next((r for r in field.registrations if r.path == ours.path and r.at == ours.at), None)
    if row is None:
        return Shortfall(f"the host would not load the entry `{ours.name}` in `{ours.path}`", "outranked", ours.path)
    if not row.wins:
        winner: Registration | None = next((r for r in field.registrations if r.name == row.name and r.wins), None)
        where = f" in `{winner.path}`:{winner.line}" if winner else ""
        return Shortfall(
            f"a stronger entry of the name `{row.name}`{where} hides ours",
            "outranked",
            winner.path if winner else "",
            winner.line if winner else 0,
            "rename that entry or take it out",
        )
    if not row.enabled:
        return Shortfall(f"`{row.name}` would be switched off: {row.why_off}", "outranked", row.path, row.line)
    for spelled, _, off in rows_for(field.view, row, capability):
        if off is not None:
            return Shortfall(
                f"`{spelled}` would be taken out: {off.text} (`{off.path}`:{off.line})", "outranked", off.path, off.line
            )
    return Shortfall(f"`{row.name}` brings no tool for {capability}", "refused", row.path, row.line)


def _not_named(capability: str, rules: Sequence[RulesFile], mine: Sequence[Tool]) -> list[Shortfall]:
    text = "\n".join(r.text for r in rules if r.loaded)
    return [
        Shortfall(f"no rules file that the host loads names `{t.tool}`", "refused") for t in mine if t.tool not in text
    ]
