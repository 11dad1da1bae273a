"""The tool surface for people: which tools the model is offered, and the line that decides each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textual.content import Content

from hostconf.tui.words import MARK, place, safe, said

Data = Mapping[str, Any]


def capability(name: str) -> str:
    """A capability as people say it."""
    return name.replace("_", " ")


def tool_line(tool: Data, home: str = "", style: str = "") -> Content:
    """One tool: its id, who brings it, how sure it is, and the line that decides."""
    provider, registration = str(tool.get("provider") or ""), str(tool.get("registration") or "")
    by = (
        "built in"
        if provider == "host"
        else provider
        if registration in ("", provider)
        else f"{provider} ({registration})"
    )
    how = [w for w in (MARK.get(str(tool.get("state")), ""), str(tool.get("strength") or "")) if w]
    where = place(tool.get("path"), tool.get("line"), home)
    return said(
        safe(tool.get("tool"), f"{style or '$foreground'} bold"),
        safe(f"  {by}", "$text-muted"),
        safe(f"  {', '.join(how)}", "$warning") if how else "",
        safe(f"  {where}", "$secondary") if where else "",
    )


def short_surface(tools: Sequence[Data]) -> Content:
    """A surface in a few words, for a table."""
    if not tools:
        return safe("none", "$text-muted")
    first, *rest = sorted(tools, key=lambda t: (t.get("state") != "offered", bool(t.get("strength"))))
    mark = MARK.get(str(first.get("state")), "")
    return said(
        safe(first.get("tool"), "" if first.get("provider") == "host" else "bold"),
        safe(f" ({mark})", "$warning") if mark else "",
        safe(f" +{len(rest)}", "$warning bold") if rest else "",
    )


_HOW = {"call-denied": "denied", "session": "until restart"}


def who_answers(tools: Sequence[Data]) -> Content:
    """Who answers for a capability, for a table: one name, or how many there are and who; servers once each."""
    who: dict[str, str] = {}
    for tool in tools:
        name = str(tool.get("registration") or tool.get("tool"))
        strength = str(tool.get("strength") or "")
        how = MARK.get(str(tool.get("state")), "") or _HOW.get(strength, strength)
        if not (name in who and how):  # of several tools of one server the surest counts
            who[name] = how
    if not who:
        return safe("none", "$text-muted")
    sure = sum(not how for how in who.values())
    names = [
        said(safe(name, "bold", 60), safe(f" ({how})", "$text-muted") if how else "")
        for name, how in sorted(who.items(), key=lambda one: bool(one[1]))
    ]
    return said(safe(f"{sure}: ", "$text-warning bold") if sure > 1 else "", said(", ").join(names))


def surface_lines(tools: Iterable[Data], home: str = "", indent: str = "  ") -> list[Content]:
    """One tool a line, or the word that there is none."""
    shown = [said(indent, tool_line(tool, home)) for tool in tools]
    return shown or [safe(f"{indent}none", "$text-muted")]


def change_lines(change: Data, home: str = "", indent: str = "  ") -> list[Content]:
    """The surface before and after: `+` comes, `-` goes, two blanks stay. Signs carry it, colour only helps."""
    before, after = list(change.get("before", ())), list(change.get("after", ()))
    old, new = {t.get("tool") for t in before}, {t.get("tool") for t in after}
    rows = [
        said(f"{indent}- " if t.get("tool") not in new else "", tool_line(t, home, "$text-error"))
        for t in before
        if t.get("tool") not in new
    ]
    for tool in after:
        comes = tool.get("tool") not in old
        rows.append(said(indent, "+ " if comes else "  ", tool_line(tool, home, "$text-success" if comes else "")))
    return rows or [safe(f"{indent}  none", "$text-muted")]
