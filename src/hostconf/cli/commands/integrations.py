"""`hostconf integrations`."""

from __future__ import annotations

from collections.abc import Iterator

from hostconf import workflow
from hostconf.cli.commands import Call
from hostconf.cli.text import Data, Style, table
from hostconf.model import OperationResult


def run(call: Call) -> OperationResult:
    """The catalogue of integrations."""
    return workflow.integrations(call.environment)


def lines(data: Data, style: Style) -> Iterator[str]:
    """What can be installed in full; what is only recognised in a line."""
    integrations = data.get("integrations", ())
    for one in integrations:
        if one.get("installable"):
            yield from _integration(one, style)
            yield ""
    known = [one for one in integrations if not one.get("installable")]
    if known:
        yield style.bold("recognised where found")
        rows = ((style.text(one.get("id")), ", ".join(map(style.text, one.get("capabilities") or {}))) for one in known)
        yield from table(rows)


def _integration(one: Data, style: Style) -> Iterator[str]:
    yield style.bold(f"{style.text(one.get('name'))} ({style.text(one.get('id'))})")
    if one.get("doc"):
        yield f"  {style.text(one['doc'])}"
    for capability, tools in (one.get("capabilities") or {}).items():
        yield f"  {style.text(capability)}: {', '.join(map(style.text, tools))}"
    rows = [(f"--path {style.text(name)}", _way(path, style)) for name, path in (one.get("paths") or {}).items()]
    rows += [(f"--env {style.text(v.get('name'))}", style.text(v.get("doc"))) for v in one.get("environment", ())]
    for knob in one.get("knobs", ()):
        default = f" ({style.text(knob['default'])})" if knob.get("default") is not None else ""
        text = style.text(knob.get("doc")) + default
        rows.append((f"--set {style.text(knob.get('name'))}", text))
    yield from table(rows)


def _way(path: Data, style: Style) -> str:
    what = style.text(path.get("url") or " ".join(path.get("command", ())) or path.get("package"))
    hosts = ", ".join(map(style.text, path.get("hosts", ())))
    return what + (f" (on {hosts})" if hosts else "")
