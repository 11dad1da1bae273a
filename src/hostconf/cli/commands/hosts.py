"""`hostconf hosts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, table
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """The catalogue of hosts."""
    return workflow.hosts(call.environment, list(call.line.words))


def lines(data: Data, style: Style) -> Iterator[str]:
    """A table of all; with `-v` layers, tools and tiers of each."""
    hosts = data.get("hosts", ())
    if not style.verbose:
        yield from table([("ID", "NAME", "CHECKED", "EVIDENCE"), *(_row(host, style) for host in hosts)], "")
        return
    for number, host in enumerate(hosts):
        if number:
            yield ""
        _, name, checked, evidence = _row(host, style)
        yield style.bold(f"{name} ({style.text(host.get('id'))})") + f"  {checked}  {evidence}".rstrip()
        yield from _part("layers", (_layer(layer, style) for layer in host.get("layers", ())))
        yield from _part("built-in tools", (_tool(tool, style) for tool in host.get("tools", ())))
        yield from _part("switches", (_switch(switch, style) for switch in host.get("switches", ())))
        yield from _part("tiers", _tiers(host.get("tiers") or {}, style))
        yield from _part("keys that do nothing", (_dead(dead, style) for dead in host.get("dead", ())))
        facts = [*host.get("policies", ()), *host.get("traps", ())]
        yield from _part("traps", ((style.text(fact.get("verified")), style.text(fact.get("text"))) for fact in facts))


def _part(title: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    listed = list(rows)
    if listed:
        yield f"  {title}"
        yield from table(listed, "    ")


def _row(host: Data, style: Style) -> tuple[str, str, str, str]:
    checked = host.get("checked") or {}
    when = " on ".join(style.text(checked.get(key)) for key in ("version", "on") if checked.get(key))
    return style.text(host.get("id")), style.text(host.get("name")), when, style.text(host.get("evidence"))


def _layer(layer: Data, style: Style) -> tuple[str, ...]:
    return tuple(style.text(layer.get(key)) for key in ("scope", "format", "verified", "path"))


def _tool(tool: Data, style: Style) -> tuple[str, ...]:
    note = f"  ({style.text(tool.get('note'))})" if tool.get("note") else ""
    off = ", ".join(map(style.text, tool.get("off", ()))) or "no switch"
    return (
        style.text(tool.get("id")),
        style.text(tool.get("capability")),
        style.text(tool.get("verified")),
        off + note,
    )


def _switch(switch: Data, style: Style) -> tuple[str, ...]:
    at = ".".join(style.text(key) for key in switch.get("at", ()))
    words = [style.text(switch.get(key)) for key in ("id", "strength", "verified")]
    return (*words, f"{at}: {style.text(switch['text'])}" if switch.get("text") else at)


def _dead(dead: Data, style: Style) -> tuple[str, ...]:
    return ".".join(style.text(key) for key in dead.get("at", ())), style.text(dead.get("text"))


def _tiers(tiers: Data, style: Style) -> Iterator[tuple[str, ...]]:
    for capability, per_tier in tiers.items():
        for tier, text in per_tier.items():
            yield style.text(capability), style.text(tier), style.text(text)
