"""The conflict surface: what on the field stands against a wished tier, each with file and line.

Pure. Findings that depend on a choice (a name that is taken, an array to be merged)
are the planner's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from hostconf.errors import FormatError
from hostconf.formats.base import KeyPath
from hostconf.hosts.dialect import normalise, read_entry, references_in, tool_id
from hostconf.hosts.schema import Dead, HostTool, Switch
from hostconf.integrations.schema import Integration
from hostconf.model import Conflict, Registration, RulesFile, Tool
from hostconf.survey.steering import steering_lines
from hostconf.survey.surface import tool_off
from hostconf.survey.types import merge, walk_pattern
from hostconf.survey.view import Decision, View
from hostconf.survey.workspace import LayerFile, problem_of

Own = Collection[tuple[str, KeyPath]]
"""Entries that an install record covers: path and key path."""

ALL = ("off", "optional", "preferred", "forced")
UNREAD = {
    "off": "refused where it has to be written",
    "optional": "refused where it has to be written",
    "preferred": "refused where it has to be written",
    "forced": "refused where it has to be written, or where it decides",
}


def find_conflicts(
    view: View,
    found: Sequence[Registration],
    rules: Sequence[RulesFile],
    surface: Mapping[str, Sequence[Tool]],
    catalogue: Sequence[Integration],
    own: Own = (),
) -> tuple[Conflict, ...]:
    """All findings of one host, in the order of their kinds. `own` entries are no rivals."""
    rows = [
        *_broken(view),
        *_void(view),
        *_odd_rules(view, rules),
        *_policies(view),
        *_trust(view, found),
        *_capable(view, found, surface, own),
        *_shadowed(view, found),
        *_dead(view),
        *_choices(view),
        *_collisions(view, found),
        *_secrets(view, found),
        *_steering(view, found, rules, catalogue, own),
        *_weak(view, surface),
    ]
    return tuple({rows_key(row): row for row in rows}.values())


def rows_key(row: Conflict) -> tuple[str, str, str, int, str]:
    """What makes two findings the same."""
    return (row.kind, row.host, row.path, row.line, row.text)


# ------------------------------------------------------------------ files


def _broken(view: View) -> Iterator[Conflict]:
    seen: set[str] = set()
    for file in view.files:
        problem: FormatError | None = view.dropped.get(file.path)
        if file.path in seen:
            continue
        seen.add(file.path)
        effect = file.layer.broken or "the host cannot use it"
        if not view.loads(file):
            effect = f"not read while the folder is not trusted; then: {effect}"
        if problem is not None:
            yield _file_conflict(
                view, file, problem, effect, UNREAD, "mend the file by hand: hostconf never repairs one"
            )
        elif file.document is not None:
            around = dict.fromkeys(ALL, "edited around; refused where it is in the way")
            for issue in file.document.issues:
                yield _file_conflict(view, file, issue, "the host takes the last one", around, "keep one of the two")


def _void(view: View) -> Iterator[Conflict]:
    for file, problem, effect in view.faults:
        tiers = dict.fromkeys(ALL, "counts as not there")
        yield _file_conflict(view, file, problem, effect or "the host ignores this key", tiers, "mend it by hand")


def _file_conflict(
    view: View, file: LayerFile, problem: FormatError, effect: str, tiers: Mapping[str, str], fix: str
) -> Conflict:
    return Conflict(
        "broken-file",
        view.host.id,
        file.layer.id,
        file.path,
        problem.line or 0,
        f"{problem.message}: {effect}",
        tiers,
        fix,
        problem.excerpt,
        problem.column or 0,
    )


def _odd_rules(view: View, rules: Sequence[RulesFile]) -> Iterator[Conflict]:
    """Rules files that the host would load and cannot read."""
    for file in rules:
        state = view.workspace.state(file.path)
        if file.loaded and file.path not in view.workspace.edited and state.kind not in ("file", "absent"):
            text = f"{problem_of(state)}: the host does without it"
            tiers = {"preferred": "refused where our block belongs into it"}
            yield Conflict("broken-file", view.host.id, file.scope, file.path, 0, text, tiers, "mend it by hand")


def _policies(view: View) -> Iterator[Conflict]:
    for policy in view.policies:
        decision = view.policy(policy)
        if decision is not None:
            yield Conflict(
                "outranked",
                view.host.id,
                decision.layer,
                decision.path,
                decision.line,
                policy.text,
                dict.fromkeys(ALL, "refused where the policy voids it"),
                "ask who set it",
            )


def _trust(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    trust = view.host.trust
    for file in view.files:
        if trust and file.read is not None and not view.loads(file):
            yield Conflict(
                "not-trusted",
                view.host.id,
                file.layer.id,
                file.path,
                1,
                "this folder is not trusted, so the host does not load the file",
                {
                    "off": "written at project scope, and without effect until then",
                    "optional": "written at project scope, and without effect until then",
                    "preferred": "written at project scope, and without effect until then",
                    "forced": "refused at project scope; what is in the file counts as a rival",
                },
                trust.pending,
            )
    for row in found:
        if row.state == "pending" and row.wins and row.enabled and not _is_dropped(view, row):
            yield Conflict(
                "not-trusted",
                view.host.id,
                row.layer,
                row.path,
                row.line,
                f"`{row.name}` waits for the user's approval",
                {
                    "optional": "stays beside ours",
                    "preferred": "stays beside ours",
                    "forced": "counts as a rival all the same",
                },
                row.pending,
            )


def _is_dropped(view: View, row: Registration) -> bool:
    return row.path in view.dropped


# ------------------------------------------------------------------ other tools


def _capable(
    view: View, found: Sequence[Registration], surface: Mapping[str, Sequence[Tool]], own: Own
) -> Iterator[Conflict]:
    how = next((view.host.switch(s).text for s in view.host.exclusion), "")
    for row in found:
        served = [c for c, tools in surface.items() if any(t.registration == row.name for t in tools)]
        if not (served and row.wins and row.enabled) or (row.path, row.at) in own:
            continue
        what = " and ".join(c.replace("_", " ") for c in served)
        forced = f"switched off ({how})" if how else "refused: this host has no switch for a server"
        says = f"serves {what} as well"
        if row.state == "possible":
            says, forced = f"may serve {what}", "refused: what it brings cannot be told, so it cannot be taken out"
        yield Conflict(
            "capable-registration",
            view.host.id,
            row.layer,
            row.path,
            row.line,
            f"`{row.name}` {says}: {row.evidence}",
            {
                "off": "stays",
                "optional": "stays beside ours",
                "preferred": "stays; the rules name ours",
                "forced": forced,
            },
            "choose the tier `forced` to have one tool alone"
            if row.state != "possible"
            else "take the plugin out by hand",
        )


def _shadowed(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    winners = {r.name: r for r in found if r.wins}
    for row in found:
        winner = winners.get(row.name)
        if winner is not None and row is not winner and (row.path, row.at) != (winner.path, winner.at):
            merged = view.host.registrations.merge == "deep" and row.state == winner.state != "possible"
            how = "is merged under" if merged and row.layer != "plugin" else "is hidden by"
            tiers = dict.fromkeys(ALL, "the entry that wins counts")
            yield Conflict(
                "name-shadowed",
                view.host.id,
                row.layer,
                row.path,
                row.line,
                f"`{row.name}` {how} the entry of that name in `{winner.path}`:{winner.line}",
                tiers,
                "give one of the two another name",
            )


def _collisions(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    """Servers that are one to the model, and tools of two servers that have one id."""
    seen: dict[str, Registration] = {}
    for row in found:
        if not (row.wins and row.enabled):
            continue
        ids = {tool_id(view.host, row.name, tool) for _, tool in row.tools if tool != "*"}
        if view.host.registrations.namespace:
            ids = {normalise(view.host, row.name)}
        others = [(spelled, seen.setdefault(spelled, row)) for spelled in sorted(ids)]
        clash = next(((spelled, other) for spelled, other in others if other is not row), None)
        if clash is not None:
            yield Conflict(
                "tool-name-collision",
                view.host.id,
                row.layer,
                row.path,
                row.line,
                f"`{row.name}` and `{clash[1].name}` both come to `{clash[0]}` in the host's spelling",
                dict.fromkeys(ALL, "one hides the other: which one, no file tells"),
                "give one of the two another name",
            )


# ------------------------------------------------------------------ keys


def _dead(view: View) -> Iterator[Conflict]:
    for dead in view.host.dead:
        for file, at, value in _dead_places(view, dead):
            if dead.is_ and not any(type(value) is type(w) and value == w for w in dead.is_):
                continue
            if dead.matches and not (isinstance(value, str) and re.search(dead.matches, value)):
                continue
            yield Conflict(
                "dead-switch",
                view.host.id,
                file.layer.id,
                file.path,
                view.line(file, at),
                f"{dead.text} (`{'.'.join(map(str, at))}`)",
                dict.fromkeys(ALL, "counts as not there"),
                "take the key out, or use the one that works",
            )


def _dead_places(view: View, dead: Dead) -> Iterator[tuple[LayerFile, KeyPath, object]]:
    if dead.entry:
        for entry in view.entries():
            if dead.at[0] in entry.raw:
                yield entry.file, (*entry.at, dead.at[0]), entry.raw[dead.at[0]]
        return
    for file in view.files:
        if file.layer.group == dead.group and file.document is not None:
            for at, value in walk_pattern(file.document, dead.at):
                yield file, at, value


def _choices(view: View) -> Iterator[Conflict]:
    """What the user chose for the host's own tools, and what a stronger layer decides about them."""
    for tool in view.host.tools:
        if tool_off(view, tool) is not None:
            continue
        for switch_id in tool.off:
            switch = view.host.switch(switch_id)
            decision = _word_on(view, tool, switch)
            if decision is None:
                continue
            if decision.scope in ("user", "project", "local") and decision.key != "*":
                what = decision.key or ".".join(switch.at)
                yield _choice(view, tool, decision, f"`{what}` is set by hand, so `{tool.id}` is wanted as it is")
            if view.voided(switch) is None and _is_stronger(view, switch, decision):
                yield _outranked(view, tool, decision)
        for check in tool.chosen:
            decision = view.check(check, {"tool": tool.id})
            if decision is not None:
                yield _choice(view, tool, decision, f"`{'.'.join(check.at)}` names `{tool.id}`, so it is wanted")


def _is_stronger(view: View, switch: Switch, decision: Decision) -> bool:
    """Whether the layer that decides outranks the user's."""
    files = [f for f in view.files if f.layer.group == switch.group]
    users = [f for f in files if f.layer.scope == "user" and (f.read is not None or f.layer.create)]
    rank = max((f.layer.rank for f in files if f.layer.id == decision.layer), default=-1)
    return rank > max((f.layer.rank for f in users), default=-1)


def _word_on(view: View, tool: HostTool, switch: Switch) -> Decision | None:
    if switch.kind in ("value", "allow"):
        return view.value(switch, {"tool": tool.id})
    return view.last_match(switch, "tool", {"tool": tool.id}) if switch.kind == "ordered" else None


def _choice(view: View, tool: HostTool, decision: Decision, text: str) -> Conflict:
    forced = "overridden; comes back at uninstall"
    if decision.scope != "user":
        forced = "overridden at its own scope; refused at a weaker one"
    tiers = {"off": "stays", "optional": "stays", "preferred": "stays", "forced": forced}
    fix = f"take the line out, or leave `{tool.id}` beside ours"
    return Conflict("explicit-choice", view.host.id, decision.layer, decision.path, decision.line, text, tiers, fix)


def _outranked(view: View, tool: HostTool, decision: Decision) -> Conflict:
    writable = decision.scope == "project"
    return Conflict(
        "outranked",
        view.host.id,
        decision.layer,
        decision.path,
        decision.line,
        f"a stronger layer than the user's decides about `{tool.id}`",
        {
            "off": "holds",
            "optional": "holds",
            "preferred": "holds",
            "forced": "refused at user scope" if writable else "refused: it decides whatever is written",
        },
        "change it there" if writable else "ask who set it",
    )


def _secrets(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    reference = view.host.registrations.reference
    given = set(view.workspace.environment.variables)
    for file in view.group(reference.given_group) if reference.given_at else ():
        table = file.document.get(reference.given_at) if file.document is not None else None
        given |= set(table) if isinstance(table, dict) else set()
    wins = {(r.path, r.at) for r in found if r.wins and r.enabled}
    entries = view.entries()
    for entry in entries:
        if (entry.file.path, entry.at) not in wins:
            continue
        deep = view.host.registrations.merge == "deep" and entry.counts
        raw = merge(entries, entry.name) if deep else entry.raw
        names = {name for name, default in references_in(view.host, raw) if not default}
        names |= set(read_entry(view.host, raw).variables)
        for name in sorted(names - given):
            yield unresolved(view.host.id, entry.file, view.line(entry.file, entry.at), entry.name, name)


def unresolved(host: str, file: LayerFile, line: int, server: str, name: str) -> Conflict:
    """The finding that a server counts on a variable that nobody sets."""
    return Conflict(
        "unresolved-secret",
        host,
        file.layer.id,
        file.path,
        line,
        f"`{server}` takes the variable `{name}` from the environment, and it is not set here",
        dict.fromkeys(ALL, "written all the same"),
        f"set `{name}` where the host is started",
    )


# ------------------------------------------------------------------ words


def _steering(
    view: View, found: Sequence[Registration], rules: Sequence[RulesFile], catalogue: Sequence[Integration], own: Own
) -> Iterator[Conflict]:
    rivals = [r for r in found if r.capabilities and (r.path, r.at) not in own]
    rival_tools = [tool_id(view.host, r.name, t) for r in rivals for _, t in r.tools if t != "*"]
    mine = [r for r in found if (r.path, r.at) in own]
    own_tools = [tool_id(view.host, r.name, t) for r in mine for _, t in r.tools]
    seen: set[str] = set()
    for file in rules:
        if not file.loaded or file.path in seen:
            continue
        seen.add(file.path)
        for steer in steering_lines(
            file.text,
            own_tools=own_tools,
            rival_tools=rival_tools,
            rival_names=[r.name for r in rivals],
            host_tools=[t.id for t in view.host.tools],
        ):
            if not steer.elsewhere:
                continue
            from hostconf.display import mask_text  # slow to load, and most fields need none

            way = "to" if steer.direction == "to" else "away from"
            yield Conflict(
                "rules-steer-elsewhere",
                view.host.id,
                file.scope,
                file.path,
                steer.line,
                f"a line of `{file.path}` steers the model {way} a web tool: "
                + ", ".join(f"`{t}`" for t in steer.tools),
                {
                    "off": "stays",
                    "optional": "stays",
                    "preferred": "stays; our block stands beside it",
                    "forced": "stays, and points to nothing",
                },
                "change the line by hand: hostconf never touches your words",
                mask_text(steer.text, "markdown"),
            )


def _weak(view: View, surface: Mapping[str, Sequence[Tool]]) -> Iterator[Conflict]:
    for capability, tools in surface.items():
        for tool in tools:
            if tool.strength == "session":
                yield Conflict(
                    "session-only",
                    view.host.id,
                    next((f.layer.id for f in view.files if f.path == tool.path), ""),
                    tool.path,
                    tool.line,
                    f"`{tool.tool}` is off for {capability.replace('_', ' ')} only from the next session on",
                    {"forced": "refused: only what is removed is forced"},
                )
