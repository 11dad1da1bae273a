"""`hostconf status`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, leftover_text, section, surface_lines, table
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """Survey the hosts."""
    return workflow.status(call.environment, list(call.line.words))


def lines(data: Data, style: Style) -> Iterator[str]:
    """One block a host."""
    for number, host in enumerate(data.get("hosts", ())):
        if number:
            yield ""
        yield from _host(host, style)


def _host(host: Data, style: Style) -> Iterator[str]:
    version = style.text(host.get("version"))
    head = f"{style.text(host.get('name'))} ({style.text(host.get('id'))})" + (f" {version}" if version else "")
    yield style.bold(head) + ("" if host.get("present") else style.dim("  not here"))
    layers = [layer for layer in host.get("layers", ()) if style.verbose or layer.get("exists")]
    yield from _indented(section("layers", table((_layer(layer, style) for layer in layers), "    "), style))
    yield from _indented(section("registrations", _registrations(host.get("registrations", ()), style), style))
    rules = [rule for rule in host.get("rules", ()) if style.verbose or rule.get("loaded") or rule.get("block")]
    yield from _indented(section("rules", table((_rule(rule, style) for rule in rules), "    "), style))
    yield from _indented(section("surface", surface_lines(host.get("surface", {}), style, "    "), style))
    yield from _indented(section("installed by hostconf", _installed(host.get("installed", ()), style), style))
    if host.get("conflicts"):
        told = f"told by `hostconf conflicts {style.text(host.get('id'))}`"
        yield f"  {style.mark('conflicts')}: {host['conflicts']}, {told}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    """The heading of a section goes under its host; its lines are indented as they are."""
    for number, line in enumerate(lines):
        yield f"  {line}" if number == 0 else line


def _layer(layer: Data, style: Style) -> tuple[str, ...]:
    state = "absent" if not layer.get("exists") else "" if layer.get("loaded", True) else "not loaded"
    state = style.text(layer.get("problem")) or state
    return style.text(layer.get("scope")), style.place(layer.get("path")), state


def _registrations(registrations: list[Data], style: Style) -> Iterator[str]:
    rows = []
    for one in registrations:
        state = "on" if one.get("enabled") else "off"
        if one.get("enabled") and not one.get("wins", True):
            state = "shadowed"
        elif one.get("state") == "pending":
            state = "pending"
        does = ", ".join(map(style.text, one.get("capabilities", ()))) or "-"
        why = one.get("pending") or one.get("why_off") or (one.get("evidence") if style.verbose else "")
        tail = style.place(one.get("path"), one.get("line")) + (f"  ({style.text(why)})" if why else "")
        rows.append((style.text(one.get("name")), style.text(one.get("transport")), state, does, tail))
    yield from table(rows, "    ")


def _rule(rule: Data, style: Style) -> tuple[str, ...]:
    state = "loaded" if rule.get("loaded") else "not loaded"
    why = f"  ({style.text(rule.get('why'))})" if rule.get("why") and (style.verbose or not rule.get("loaded")) else ""
    ours = "our block" if rule.get("block") else ""
    return style.text(rule.get("scope")), state, ours, style.place(rule.get("path")) + why


def _installed(installed: list[Data], style: Style) -> Iterator[str]:
    for one in installed:
        tiers = ", ".join(f"{style.text(c)} {style.text(t)}" for c, t in (one.get("tiers") or {}).items())
        head = " ".join(style.text(one.get(key)) for key in ("integration", "scope", "path") if one.get(key))
        yield f"    {head}" + (f": {tiers}" if tiers else "")
        for drift in one.get("drift", ()):
            yield f"      {style.mark('drift')}: {leftover_text(drift, style)}"
