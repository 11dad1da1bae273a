"""The conflict surface: what on the field stands against a wished tier, each with file and line.

Pure. Findings that depend on a choice (a name that is taken, an array to be merged)
are the planner's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hostconf.errors import FormatError
from hostconf.formats.base import MISSING, Document, KeyPath
from hostconf.hosts.dialect import references_in, tool_id
from hostconf.integrations.schema import Integration
from hostconf.model import Conflict, Registration, RulesFile, Tool
from hostconf.survey.registrations import find_entries
from hostconf.survey.steering import steering_lines
from hostconf.survey.surface import tool_off
from hostconf.survey.view import View
from hostconf.survey.workspace import LayerFile

Own = Collection[tuple[str, KeyPath]]
"""Entries that an install record covers: path and key path."""


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
        *_policies(view),
        *_trust(view, found),
        *_capable(view, found, own),
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


def _broken(view: View) -> Iterator[Conflict]:
    seen: set[str] = set()
    for file in view.files:
        problem: FormatError | None = view.dropped.get(file.path)
        if file.path in seen:
            continue
        seen.add(file.path)
        effect = file.layer.broken or "the host cannot use it"
        tiers = {
            "optional": "refused where it has to be written",
            "preferred": "refused where it has to be written",
            "forced": "refused",
            "off": "refused where it has to be written",
        }
        if problem is not None:
            yield Conflict(
                "broken-file",
                view.host.id,
                file.layer.id,
                file.path,
                problem.line or 0,
                f"{problem.message}: {effect}",
                tiers,
                "mend the file by hand: hostconf never repairs one",
                problem.excerpt,
                problem.column or 0,
            )
        elif file.document is not None:
            for issue in file.document.issues:
                yield Conflict(
                    "broken-file",
                    view.host.id,
                    file.layer.id,
                    file.path,
                    issue.line or 0,
                    f"{issue.message}: the host takes the last one",
                    {t: "edited around; refused where it is in the way" for t in tiers},
                    "keep one of the two",
                    issue.excerpt,
                    issue.column or 0,
                )


def _policies(view: View) -> Iterator[Conflict]:
    for policy in view.policies:
        decision = view.check(policy.when, {})
        if decision is not None:
            layer = policy.when.layers[0] if policy.when.layers else ""
            yield Conflict(
                "outranked",
                view.host.id,
                layer,
                decision.path,
                decision.line,
                policy.text,
                {t: "refused where the policy voids it" for t in ("off", "optional", "preferred", "forced")},
            )


def _trust(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    trust = view.host.trust
    for file in view.files:
        if trust and file.layer.trust and file.document is not None and not view.trusted.get(file.folder, False):
            yield Conflict(
                "not-trusted",
                view.host.id,
                file.layer.id,
                file.path,
                1,
                "this folder is not trusted, so the host does not load the file",
                {"forced": "refused at project scope"},
                trust.pending,
            )
    for registration in found:
        if registration.state == "pending" and registration.wins:
            yield Conflict(
                "not-trusted",
                view.host.id,
                registration.layer,
                registration.path,
                registration.line,
                f"`{registration.name}` waits for the user's approval",
                {"forced": "counts as a rival all the same"},
                registration.pending,
            )


def _capable(view: View, found: Sequence[Registration], own: Own) -> Iterator[Conflict]:
    switches = [view.host.switch(s) for s in view.host.exclusion]
    how = switches[0].text if switches else ""
    for row in found:
        if not (row.capabilities and row.wins and row.enabled) or (row.path, row.at) in own:
            continue
        what = " and ".join(c.replace("_", " ") for c in row.capabilities)
        forced = f"switched off ({how})" if how else "refused: this host has no switch for a server"
        yield Conflict(
            "capable-registration",
            view.host.id,
            row.layer,
            row.path,
            row.line,
            f"`{row.name}` serves {what} as well: {row.evidence}",
            {"optional": "stays beside ours", "preferred": "stays; the rules name ours", "forced": forced},
            "choose the tier `forced` to have one tool alone",
        )


def _shadowed(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    winners = {r.name: r for r in found if r.wins}
    for row in found:
        winner = winners.get(row.name)
        if winner is not None and row is not winner and (row.path, row.at) != (winner.path, winner.at):
            merged = view.host.registrations.merge == "deep"
            how = "is merged under" if merged else "is hidden by"
            yield Conflict(
                "name-shadowed",
                view.host.id,
                row.layer,
                row.path,
                row.line,
                f"`{row.name}` {how} the entry of that name in `{winner.path}`:{winner.line}",
                {},
                "give one of the two another name",
            )


def walk_pattern(document: Document, at: Sequence[str]) -> Iterator[tuple[KeyPath, object]]:
    """The values that a key path with `*` finds: keys of tables and items of lists."""
    heads: list[KeyPath] = [()]
    for key in at:
        if key != "*":
            heads = [(*h, key) for h in heads]
            continue
        nxt: list[KeyPath] = []
        for head in heads:
            value = document.get(head)
            if isinstance(value, dict):
                nxt += [(*head, k) for k in value]
            elif isinstance(value, list):
                nxt += [(*head, n) for n in range(len(value))]
        heads = nxt
    for head in heads:
        value = document.get(head)
        if value is not MISSING:
            yield head, value


def _dead(view: View) -> Iterator[Conflict]:
    for dead in view.host.dead:
        for file in view.files:
            if file.layer.group != dead.group or file.document is None:
                continue
            for at, value in walk_pattern(file.document, dead.at):
                if dead.is_ and not any(type(value) is type(w) and value == w for w in dead.is_):
                    continue
                named = ".".join(str(k) for k in at)
                yield Conflict(
                    "dead-switch",
                    view.host.id,
                    file.layer.id,
                    file.path,
                    view.line(file, at),
                    f"{dead.text} (`{named}`)",
                    {t: "counts as not there" for t in ("optional", "preferred", "forced")},
                    "take the key out, or use the one that works",
                )


def _choices(view: View) -> Iterator[Conflict]:
    """What the user chose for the host's own tools, where the choice is written down."""
    for tool in view.host.tools:
        for switch_id in tool.off:
            switch = view.host.switch(switch_id)
            if switch.kind != "value" or tool_off(view, tool) is not None:
                continue
            decision = view.value(switch, {"tool": tool.id})
            if decision is None:
                continue
            file = next((f for f in view.files if f.path == decision.path), None)
            yield Conflict(
                "explicit-choice",
                view.host.id,
                file.layer.id if file else "",
                decision.path,
                decision.line,
                f"`{'.'.join(switch.at)}` is set by hand, so `{tool.id}` is wanted as it is",
                {"optional": "stays", "preferred": "stays", "forced": "overridden; comes back at uninstall"},
            )


def _collisions(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    seen: dict[str, Registration] = {}
    for row in found:
        if not (row.wins and row.enabled):
            continue
        spelled = tool_id(view.host, row.name, "")
        other = seen.setdefault(spelled, row)
        if other is not row:
            yield Conflict(
                "tool-name-collision",
                view.host.id,
                row.layer,
                row.path,
                row.line,
                f"`{row.name}` and `{other.name}` are one name to the model after the host's spelling",
                {},
                "give one of the two another name",
            )


def _secrets(view: View, found: Sequence[Registration]) -> Iterator[Conflict]:
    variables = view.workspace.environment.variables
    wins = {(r.path, r.at) for r in found if r.wins and r.enabled}
    listed = view.host.registrations.reference.list
    for entry in find_entries(view):
        if (entry.file.path, entry.at) not in wins:
            continue
        names = {name for name, default in references_in(view.host, entry.raw) if not default}
        if listed and isinstance(entry.raw.get(listed), list):
            names |= {n for n in entry.raw[listed] if isinstance(n, str)}
        for name in sorted(names - variables.keys()):
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
        {},
        f"set `{name}` where the host is started",
    )


def _steering(
    view: View, found: Sequence[Registration], rules: Sequence[RulesFile], catalogue: Sequence[Integration], own: Own
) -> Iterator[Conflict]:
    rivals = [r for r in found if r.capabilities and (r.path, r.at) not in own]
    rival_tools = [tool_id(view.host, r.name, t) for r in rivals for _, t in r.tools if t != "*"]
    mine = [r for r in found if (r.path, r.at) in own]
    own_tools = [tool_id(view.host, r.name, t) for r in mine for _, t in r.tools]
    for file in rules:
        if not file.loaded:
            continue
        for steer in steering_lines(
            file.text,
            own_tools=own_tools,
            rival_tools=rival_tools,
            rival_names=[r.name for r in rivals],
            host_tools=[t.id for t in view.host.tools],
        ):
            yield Conflict(
                "rules-steer-elsewhere",
                view.host.id,
                file.scope,
                file.path,
                steer.line,
                f"a line of `{file.path}` steers the model {'to' if steer.direction == 'to' else 'away from'} a web tool: "
                + ", ".join(f"`{t}`" for t in steer.tools),
                {
                    "optional": "stays",
                    "preferred": "stays; our block stands beside it",
                    "forced": "stays, and points to nothing",
                },
                "change the line by hand: hostconf never touches your words",
                steer.text,
            )


def _weak(view: View, surface: Mapping[str, Sequence[Tool]]) -> Iterator[Conflict]:
    for capability, tools in surface.items():
        for tool in tools:
            if tool.strength == "session":
                yield Conflict(
                    "session-only",
                    view.host.id,
                    "",
                    tool.path,
                    tool.line,
                    f"`{tool.tool}` is off for {capability.replace('_', ' ')} only from the next session on",
                    {},
                )
