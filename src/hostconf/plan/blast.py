"""The blast radius: what else a plan changes for the user, in sentences, before anyone approves it.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hostconf.formats.base import MISSING
from hostconf.hosts.schema import HostTool
from hostconf.model import Registration
from hostconf.plan.draft import Draft
from hostconf.plan.tiers import Cell
from hostconf.record import Record
from hostconf.survey.view import View


def blast_radius(
    cell: Cell,
    before: View,
    draft: Draft,
    builtins: Mapping[str, HostTool],
    rivals: Sequence[Registration],
    broken: Sequence[tuple[Record, str, str]] = (),
) -> list[str]:
    """The sentences for one host.

    Args:
        before: the host as it stands now.
        builtins: tools of the host's own that go, by id.
        rivals: registrations that are switched off.
        broken: other installs whose tier no longer holds: record, capability, tier.
    """
    choice, host = cell.choice, cell.host
    wide = "in every project of this user" if choice.scope == "user" else "for everybody who works in this project"
    said: list[str] = []
    for tool in builtins.values():
        said.append(f"{host.name} loses its own `{tool.id}` {wide}")
        for capability in tool.also:
            if choice.tiers.get(capability) != "forced":
                words = capability.replace("_", " ")
                said.append(f"the switch of `{tool.id}` takes the built-in {words} of {host.name} with it")
        said += _overridden(before, tool)
    for rival in rivals:
        served = sorted({raw for _, raw in rival.tools if raw != "*"})
        rest = f", with {', '.join(f'`{t}`' for t in served)}" if served else ""
        where = f"`{rival.path}`:{_line_before(before, rival)}"
        said.append(f"the server `{rival.name}` ({where}) is switched off as a whole{rest} {wide}")
    if "forced" in choice.tiers.values():
        said += host.blast.get("forced", ())
    said += [
        f"what was changed since in `{'.'.join(map(str, at))}` of `{path}` is written over; "
        "your own of before comes back at uninstall"
        for path, at in cell.overwritten
    ]
    for path, operations in draft.recorded.items():
        for op in operations:
            if op.vaulted and (path, op.at) not in cell.put_aside:
                said.append(
                    f"your own `{'.'.join(map(str, op.at))}` in `{path}` is put aside and comes back at uninstall"
                )
    for record, capability, tier in broken:
        said.append(
            f"{record.integration} no longer is `{tier}` for {capability.replace('_', ' ')}: "
            f"apply it again, or uninstall one of the two"
        )
    return list(dict.fromkeys(said))


def _overridden(before: View, tool: HostTool) -> list[str]:
    """Choices that the user wrote down and that the plan overrides."""
    found = []
    for switch_id in tool.off[:1]:
        switch = before.host.switch(switch_id)
        if switch.kind == "value":
            decision = before.value(switch, {"tool": tool.id})
            if decision is not None and decision.value is not MISSING:
                found.append(_comes_back(f"{'.'.join(switch.at)} = {decision.value}", decision.path, decision.line))
        elif switch.kind == "ordered":
            for key, value, path, line in before.ordered(switch):
                if key == tool.id and value != switch.off:
                    found.append(_comes_back(f"{key}: {value}", path, line))
    return found


def _line_before(before: View, rival: Registration) -> int:
    """Where it stands in the file as it is now: what is written above it moves it down."""
    lines = (before.line(file, rival.at) for file in before.files if file.path == rival.path)
    return next((line for line in lines if line), rival.line)


def _comes_back(choice: str, path: str, line: int) -> str:
    return f"your choice `{choice}` in `{path}`:{line} is overridden and comes back at uninstall"
