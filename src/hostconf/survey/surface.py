"""The tool surface: which tools the model would be offered for a capability, and which line decides it.

Pure. The same function is asked about the disk as it is and about the planned bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hostconf.hosts.schema import HostTool
from hostconf.model import Registration, State, Strength, Tool
from hostconf.survey.registrations import rows_for
from hostconf.survey.view import Decision, Off, View
from hostconf.survey.workspace import set_variable


def surface(view: View, found: Sequence[Registration], capability: str) -> tuple[Tool, ...]:
    """The tools for `capability`: the host's own, then those of the registrations that win.

    A tool that a switch removes is not in it; one whose call is only refused, or that
    is gone only for a session, is, with its strength. `possible` and `pending` tools
    are in it, marked.
    """
    rows: list[Tool] = []
    for tool in view.host.tools:
        if capability in (tool.capability, *tool.also):
            row = host_tool(view, tool)
            if row is not None:
                rows.append(row)
    for registration in found:
        if not registration.wins or not registration.enabled:
            continue
        for spelled, _, off in rows_for(view, registration, capability):
            if off is not None and off.strength == "removed":
                continue
            strength: Strength | Literal[""] = off.strength if off else ""
            path, line = (off.path, off.line) if off else (registration.path, registration.line)
            rows.append(
                Tool(
                    spelled,
                    registration.integration or registration.name,
                    registration.name,
                    registration.state,
                    strength,
                    path,
                    line,
                    registration.evidence if registration.state == "possible" else registration.pending,
                )
            )
    return tuple(rows)


def tool_off(view: View, tool: HostTool) -> Off | None:
    """The switch that takes a tool of the host out, the strongest first."""
    weaker: Off | None = None
    for switch_id in tool.off:
        off = view.off(view.host.switch(switch_id), "tool", {"tool": tool.id})
        if off is not None and off.strength == "removed":
            return off
        weaker = weaker or off
    return weaker


def host_tool(view: View, tool: HostTool) -> Tool | None:
    """The row of a tool of the host's own; None when it is removed."""
    off = tool_off(view, tool)
    if off is not None and off.strength == "removed":
        return None
    state: State = "offered"
    gate = set_variable(view.workspace.environment, tool.gate, tool.gate_values)
    if tool.gate and not gate:
        state = "possible"
    decision = None if off else deciding(view, tool)
    path, line = (off.path, off.line) if off else (decision.path, decision.line) if decision else ("", 0)
    if not path and gate:
        path = f"${gate}"
    note = tool.note if not tool.gate or state == "possible" else ""
    return Tool(tool.id, "host", "", state, off.strength if off else "", path, line, note)


def deciding(view: View, tool: HostTool) -> Decision | None:
    """The line that leaves a tool on: a policy that voids the switch, or the word of the strongest layer."""
    for switch_id in tool.off:
        switch = view.host.switch(switch_id)
        policy = view.voided(switch)
        if policy is not None:
            return view.policy(policy)
        decision = None
        if switch.kind in ("value", "allow"):
            decision = view.value(switch, {"tool": tool.id})
        elif switch.kind == "ordered":
            decision = view.last_match(switch, "tool", {"tool": tool.id})
        if decision is not None:
            return decision
    return None
