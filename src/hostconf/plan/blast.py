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
from hostconf.survey.view import View


def blast_radius(
    cell: Cell, before: View, draft: Draft, builtins: Mapping[str, HostTool], rivals: Sequence[Registration]
) -> list[str]:
    """The sentences for one host.

    Args:
        before: the host as it stands now.
        builtins: tools of the host's own that go, by id.
        rivals: registrations that are switched off.
    """
    choice, host = cell.choice, cell.host
    wide = "in every project of this user" if choice.scope == "user" else "for everybody who works in this project"
    said: list[str] = []
    for tool in builtins.values():
        said.append(f"{host.name} loses its own `{tool.id}` {wide}")
        for capability in tool.also:
            if choice.tiers.get(capability) != "forced":
                said.append(
                    f"the switch of `{tool.id}` takes the built-in {capability.replace('_', ' ')} of {host.name} with it"
                )
        said += _overridden(before, tool)
    for rival in rivals:
        served = sorted({raw for _, raw in rival.tools if raw != "*"})
        rest = f", with {', '.join(f'`{t}`' for t in served)}" if served else ""
        said.append(f"the server `{rival.name}` (`{rival.path}`:{rival.line}) is switched off as a whole{rest} {wide}")
    if "forced" in choice.tiers.values():
        said += host.blast.get("forced", ())
    if choice.replace:
        for path, operations in draft.recorded.items():
            for op in operations:
                if op.vaulted:
                    said.append(
                        f"your own `{'.'.join(map(str, op.at))}` in `{path}` is put aside and comes back at uninstall"
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
                found.append(
                    f"your choice `{'.'.join(switch.at)} = {decision.value}` in `{decision.path}`:{decision.line} is overridden and comes back at uninstall"
                )
        elif switch.kind == "ordered":
            for key, value, path, line in before.ordered(switch):
                if key == tool.id and value != switch.off:
                    found.append(
                        f"your choice `{key}: {value}` in `{path}`:{line} is overridden and comes back at uninstall"
                    )
    return found
