"""What each tier writes, driven by the host's description.

Pure. Every function takes the draft one step further; whether the tier then holds is
asked afterwards, of the planned bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.errors import Refused
from hostconf.formats.base import MISSING, KeyPath
from hostconf.hosts.dialect import read_entry, tool_id, write_entry
from hostconf.hosts.schema import Host, HostTool, Switch
from hostconf.integrations.schema import Integration, Path
from hostconf.model import Choice, Registration
from hostconf.plan.draft import Draft, Target, write_target
from hostconf.prove import Ours
from hostconf.record import claim_path
from hostconf.survey.registrations import find_entries, names_of
from hostconf.survey.surface import tool_off
from hostconf.survey.survey import Field, field
from hostconf.survey.view import View, fill_form


class Cell(NamedTuple):
    """One integration on one host at one scope: all that the steps below need to know."""

    host: Host
    integration: Integration
    way: Path
    choice: Choice
    catalogue: Sequence[Integration]
    record_id: str
    claims: Mapping[str, Sequence[Mapping[str, Any]]]
    """Claims file to the claims in it."""
    untaken: frozenset[tuple[str, KeyPath]] = frozenset()
    """Entries of an earlier install that were changed since: not ours to overwrite."""
    put_aside: frozenset[tuple[str, KeyPath]] = frozenset()
    """Entries of the user's own that an earlier install took, and that uninstall gives back."""

    overwritten: Sequence[tuple[str, KeyPath]] = ()
    """Those of them that were changed since and give way: `--replace` was said."""

    def look(self, draft: Draft) -> Field:
        """The field as planned so far."""
        return field(self.host, draft.workspace, self.catalogue)

    def own_tools(self, capability: str) -> tuple[str, ...]:
        """Our raw tool names for a capability."""
        return self.integration.tools(capability, self.way.id)


def registration_target(cell: Cell, view: View) -> tuple[Target, KeyPath]:
    """File and key path at which our registration goes."""
    at = view.fill(cell.host.registrations.at[0], {})
    assert at is not None
    target = write_target(cell.host, view.files, cell.host.registrations.group, cell.choice.scope, at[0])
    return target, (*at, cell.integration.server)


def wanted_entry(cell: Cell) -> dict[str, Any]:
    """Our entry in the host's spelling: command, environment, what it leaves out, what the tier adds."""
    choice, integration = cell.choice, cell.integration
    literals = {knob.variable: choice.knobs[knob.name] for knob in integration.knobs if knob.name in choice.knobs}
    literals |= dict(choice.env_values)
    tools_off: list[str] = []
    for capability in integration.capabilities:
        if choice.tiers.get(capability) != "off":
            continue
        if cell.host.own_off[:1] == ("entry",):
            tools_off += cell.own_tools(capability)
        elif not cell.host.own_off:
            literals |= dict(integration.off.get(capability, {}))
    extra: dict[str, Any] = {}
    for tier, keys in cell.host.registrations.with_tier.items():
        if tier in choice.tiers.values():
            extra |= dict(keys)
    return write_entry(
        cell.host,
        command=cell.way.words(choice.package),
        url=cell.way.url,
        references=choice.env_names,
        literals=literals,
        tools_off=tools_off,
        extra=extra,
    )


def register(cell: Cell, draft: Draft, notes: list[str]) -> Ours:
    """Our registration; where it is already so by the user's own hand, nothing is written and nothing recorded.

    Raises:
        Refused: `name-taken`, `owned-by-another`, `drift`, or the file is not to be edited.
    """
    view = View(cell.host, draft.workspace)
    target, at = registration_target(cell, view)
    entry = wanted_entry(cell)
    document, _ = draft.document(target.path, target.format)
    there = document.get(at)
    span = document.where(at)
    line = span.line if span else None
    _owned_elsewhere(cell, draft, target, at, line)
    _merged_names(cell, view, target, entry)
    if there is not MISSING and there != entry:
        if not cell.choice.replace and (target.path, at) not in cell.put_aside - cell.untaken:
            drifted = (target.path, at) in cell.untaken
            what = "was changed since hostconf wrote it" if drifted else "is somebody else's"
            raise Refused(
                f"`{'.'.join(map(str, at))}` in `{target.path}` {what}",
                path=target.path,
                line=line,
                code="drift" if drifted else "name-taken",
                hint="`--replace` takes the name; what stands there comes back at uninstall",
            )
    elif there is not MISSING:
        name = cell.integration.server
        notes.append(f"`{name}` stands in `{target.path}` already, written by hand: it is kept and not recorded")
    draft.set(target.path, target.format, at, entry, f"registers {cell.integration.name}", vault=there is not MISSING)
    return Ours(cell.integration.server, target.path, at)


def _owned_elsewhere(cell: Cell, draft: Draft, target: Target, at: KeyPath, line: int | None) -> None:
    real = draft.workspace.state(target.path).real
    where = claim_path(real, real.rpartition("/")[0])
    for claim in cell.claims.get(where, ()):
        if claim.get("owner") != cell.record_id and tuple(claim["at"]) == at:
            since = claim.get("since", "an unknown day")
            raise Refused(
                f"another installation owns `{'.'.join(map(str, at))}` in `{target.path}` since {since}",
                path=target.path,
                line=line,
                code="owned-by-another",
                hint=f"uninstall it there first; where its records are lost, remove `{where}`",
            )


def _merged_names(cell: Cell, view: View, target: Target, entry: Mapping[str, Any]) -> None:
    """Refuse where the host would merge a foreign entry of our name, in another layer, into ours."""
    if cell.host.registrations.merge != "deep":
        return
    mine = read_entry(cell.host, entry)
    for found in find_entries(view):
        if found.name != cell.integration.server or found.file.path == target.path or not found.counts:
            continue
        other = read_entry(cell.host, found.raw)
        if other.transport != "unknown" and (other.command, other.url) != (mine.command, mine.url):
            line = view.line(found.file, found.at)
            raise Refused(
                f"`{found.name}` in `{found.file.path}` is another server, "
                f"and {cell.host.name} merges entries of one name",
                path=found.file.path,
                line=line,
                code="name-taken",
                hint="rename that entry first",
            )


def turn_off(cell: Cell, draft: Draft, capability: str) -> None:
    """Take our own tools for a capability out, by the host's switch where it has one."""
    for raw in cell.own_tools(capability):
        spelled = tool_id(cell.host, cell.integration.server, raw)
        for switch_id in cell.host.own_off:
            if switch_id == "entry":
                break
            names = {
                "tool": spelled,
                "raw_tool": raw,
                "name": cell.integration.server,
                "server": cell.integration.server,
            }
            switch = cell.host.switch(switch_id)
            if View(cell.host, draft.workspace).off(switch, "server_tool", names) is None:
                flip(cell, draft, switch, "server_tool", names, f"takes `{spelled}` out")
            break


def flip(
    cell: Cell,
    draft: Draft,
    switch: Switch,
    subject: str,
    names: Mapping[str, Any],
    why: str,
    path: str = "",
    format_name: str = "",
) -> None:
    """Write a switch so that it is off.

    Args:
        path: the file to write; empty: the file of the scope that the switch's group has.
    """
    view = View(cell.host, draft.workspace)
    at = view.fill(switch.at, names)
    if at is None:
        raise Refused(f"{cell.host.name} has no place for the switch `{switch.id}` here")
    if not path:
        target = write_target(cell.host, view.files, switch.group, cell.choice.scope, at[0])
        path, format_name = target.path, target.format
    if switch.kind == "value":
        draft.set(path, format_name, at, switch.off, why)
        return
    forms = [form for raw in switch.forms[subject] if (form := fill_form(raw, names)) is not None]
    for form in forms[:1] if switch.kind == "list" else forms:
        trial = draft.copy()
        _flip_form(trial, switch, path, format_name, at, form, why)
        # a key that a weaker layer has keeps its place there, before a star: then only another spelling comes last
        if form == forms[-1] or switch.kind == "list" or View(cell.host, trial.workspace).off(switch, subject, names):
            _flip_form(draft, switch, path, format_name, at, form, why)
            return


def _flip_form(draft: Draft, switch: Switch, path: str, format_name: str, at: KeyPath, form: Any, why: str) -> None:
    if switch.kind == "list":
        draft.append(path, format_name, at, [form], why)
        return
    document, _ = draft.document(path, format_name)
    plain = document.get(at)
    if isinstance(plain, str):
        # one word for all tools: it becomes the first key, and ours the last
        draft.set(path, format_name, at, {"*": plain}, "one word for all tools becomes a table of them")
    draft.set(path, format_name, (*at, form), switch.off, why, last=True)


def remove_builtins(cell: Cell, draft: Draft, capability: str) -> list[HostTool]:
    """Turn the host's own tools for a capability off; gives those that were on.

    Raises:
        Refused: a joint switch that would take more than was wished.
    """
    gone: list[HostTool] = []
    for tool in cell.host.tools:
        if capability not in (tool.capability, *tool.also):
            continue
        view = View(cell.host, draft.workspace)
        off = tool_off(view, tool)
        if off is not None and off.strength == "removed":
            continue
        if capability != tool.capability and cell.choice.tiers.get(tool.capability) != "forced":
            raise Refused(
                f"`{tool.id}` of {cell.host.name} serves {tool.capability} and {capability} with one switch, "
                f"so {capability} alone cannot be forced",
                code="joint-switch",
                hint=f"force both (`--tier forced`), or take `--tier {capability}=preferred`",
            )
        if not tool.off:
            raise Refused(f"{cell.host.name} has no switch for its own `{tool.id}`")
        flip(
            cell, draft, cell.host.switch(tool.off[0]), "tool", {"tool": tool.id}, f"takes the built-in `{tool.id}` out"
        )
        gone.append(tool)
    return gone


def exclude_rivals(cell: Cell, draft: Draft, capability: str, ours: Ours) -> list[Registration]:
    """Switch every other registration off that serves a capability; gives those that were on.

    Raises:
        Refused: one has no switch that could be written from this scope.
    """
    gone: list[Registration] = []
    for _ in range(8):  # switching one off can bring a weaker one of its name to light
        found = cell.look(draft)
        names = {t.registration for t in found.surface(capability) if t.registration}
        rivals = [
            r for r in found.registrations if r.name in names and r.wins and (r.path, r.at) != (ours.path, ours.at)
        ]
        fresh = [r for r in rivals if (r.path, r.at) not in {(g.path, g.at) for g in gone}]
        if not fresh:
            break
        for rival in fresh:
            _exclude(cell, draft, found.view, rival)
            gone.append(rival)
    return gone


def _exclude(cell: Cell, draft: Draft, view: View, rival: Registration) -> None:
    why = f"switches `{rival.name}` off"
    entry = read_entry(cell.host, {})._replace(command=rival.command, url=rival.url)
    names = names_of(cell.host, rival.name, entry)
    if not cell.host.exclusion:
        raise Refused(
            f"{cell.host.name} has no switch for `{rival.name}` (`{rival.path}`:{rival.line})",
            path=rival.path,
            line=rival.line,
        )
    switch = cell.host.switch(cell.host.exclusion[0])
    file = next(f for f in view.files if f.path == rival.path)
    if switch.needs_entry and rival.scope != cell.choice.scope:
        other = rival.scope if rival.scope in ("user", "project") else "no"
        raise Refused(
            f"`{rival.name}` stands in the {rival.scope} layer `{rival.path}`:{rival.line}, "
            f"and {cell.host.name} can switch it off only there",
            path=rival.path,
            line=rival.line,
            code="other-scope",
            hint=f"`--scope {other}` can switch it off" if other != "no" else "switch it off by hand",
        )
    here = rival.scope == cell.choice.scope and switch.kind == "value" and file.layer.write
    flip(cell, draft, switch, "server", names, why, rival.path if here else "", file.layer.format if here else "")


def name_in_rules(cell: Cell, draft: Draft, capabilities: Sequence[str], notes: list[str]) -> None:
    """Our block in a rules file that the host loads, naming our tool ids.

    Raises:
        Refused: the host has no rules file at this scope, or its markers are damaged.
    """
    view = View(cell.host, draft.workspace)
    rules = next((r for r in cell.host.rules if r.scope == cell.choice.scope and r.write), None)
    if rules is None:
        raise Refused(f"{cell.host.name} has no rules file that hostconf could write at {cell.choice.scope} scope")
    path = _rules_path(cell, view, rules.write)
    text = block_text(cell, capabilities)
    long = bool(rules.cap) and len(draft.workspace.text(path).encode()) > rules.cap // 2
    if rules.whole_folder:
        whole = _expand(cell, view, rules.whole_folder)
        if path.startswith(whole + "/"):
            draft.folders[path] = whole
    if not draft.workspace.exists(path) and not rules.whole_folder and not rules.listed_at:
        notes.append(f"`{path}` is made new: every host that reads a file of this name reads it too")
    at = (cell.integration.id,)
    drifted = (path, at) in cell.untaken
    if drifted and not cell.choice.replace:
        raise Refused(
            f"our block in `{path}` was changed since hostconf wrote it",
            path=path,
            code="drift",
            hint="`--replace` writes it anew; what stands there comes back at uninstall",
        )
    draft.set(path, "markdown", at, text, "names our tools to the model", first=long, vault=drifted)
    if rules.listed_at:
        target = write_target(cell.host, view.files, rules.listed_group, cell.choice.scope, rules.listed_at[0])
        item = _expand(cell, view, rules.write_listed) if "{" in rules.write_listed else rules.write_listed
        draft.append(target.path, target.format, rules.listed_at, [item], "makes the host load our rules file")


def _expand(cell: Cell, view: View, template: str) -> str:
    from hostconf.survey.workspace import expand

    found = expand(template, cell.host, view.workspace.environment)
    if not found:
        raise Refused(
            f"{cell.host.name} has no place for a rules file here", hint="run it inside a project, or give `--project`"
        )
    return found[0]


def _rules_path(cell: Cell, view: View, template: str) -> str:
    """The file to write: the one the host takes first where it takes only one, else the usual one."""
    from hostconf.survey.rules import rules_files
    from hostconf.survey.workspace import expand

    usual = _expand(cell, view, template)
    rules = next(r for r in cell.host.rules if r.write == template and r.scope == cell.choice.scope)
    if rules.pick != "first":
        return usual
    root = [paths[0] for t in rules.paths if (paths := expand(t, cell.host, view.workspace.environment))]
    for file in rules_files(view):
        if file.loaded and file.path in root:
            return file.path
    return usual


_PHRASES = {
    "web_search": "To search the web, use {tools}",
    "web_fetch": "To read a web page, use {tools}",
}


def block_text(cell: Cell, capabilities: Sequence[str]) -> str:
    """What our block says to the model: which tool to take, by the id under which it sees it."""
    lines = ["## Web tools", ""]
    for capability in capabilities:
        tools = " or ".join(
            f"`{tool_id(cell.host, cell.integration.server, raw)}`" for raw in cell.own_tools(capability)
        )
        phrase = _PHRASES.get(capability, f"For {capability.replace('_', ' ')}, use {{tools}}")
        lines.append(f"- {phrase.format(tools=tools)} before any other tool for it.")
    return "\n".join(lines)
