"""Findings in words and in a useful order: what decides who answers first, what only looks odd last. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.content import Content

from hostconf.model import TIERS
from hostconf.tui.widgets.planned import heading, homely
from hostconf.tui.words import fit, place, safe, said, sentence

Data = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "broken-file": "broken file",
    "outranked": "outranked",
    "name-taken": "name taken",
    "owned-by-another": "owned by another",
    "drift": "drift",
    "capable-registration": "rival",
    "rules-steer-elsewhere": "rules steer away",
    "explicit-choice": "set by hand",
    "not-trusted": "not trusted",
    "array-must-merge": "list to merge",
    "tool-name-collision": "same tool name",
    "name-shadowed": "name shadowed",
    "session-only": "session only",
    "dead-switch": "dead switch",
    "unresolved-secret": "variable not set",
}
"""Kind to its words, in the order in which findings are shown."""

_GRAVE = ("broken-file", "outranked", "name-taken", "owned-by-another", "drift")
"""What may stop a plan."""
_MILD = ("name-shadowed", "session-only", "dead-switch", "unresolved-secret")
_NOT_HARMLESS = len(KINDS) - len(_MILD)


def kind_words(kind: str) -> str:
    """A kind of finding as people say it."""
    return KINDS.get(kind, kind.replace("-", " "))


def kind_style(kind: str) -> str:
    """How its words are coloured."""
    return "$text-error" if kind in _GRAVE else "$text-muted" if kind in _MILD else "$text-warning"


def in_order(findings: Iterable[Data]) -> list[Data]:
    """Findings of one host, the weightiest first; kinds nobody here knows before the harmless ones."""
    ranks: dict[str, float] = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(
        findings,
        key=lambda f: (
            ranks.get(str(f.get("kind")), _NOT_HARMLESS - 0.5),
            str(f.get("path")),
            int(f.get("line") or 0),
        ),
    )


def short_place(path: Any, line: Any, home: str, width: int) -> str:
    """A file with its line in so many cells; where it is too long, folders at its front give way."""
    whole = place(path, line, home)
    if len(whole) <= width:
        return whole
    parts = whole.split("/")
    while len(parts) > 1:
        parts.pop(0)
        cut = "…/" + "/".join(parts)
        if len(cut) <= width:
            return cut
    return "…" + whole[len(whole) - width + 1 :]


TIER_INDENT = 18


def tier_rows(finding: Data, home: str) -> list[tuple[Content, Content]]:
    """What each tier would do about it, and what a person can do: label and text, for `Hanging`."""
    tiers, found = finding.get("tiers") or {}, []
    for number, tier in enumerate(TIERS):
        does = str(tiers.get(tier) or "")
        refused = does.startswith("refused")
        found.append(
            (
                said(fit(heading("" if number else "Tiers"), 7), safe(tier, "bold")),
                said(
                    safe("✗ ", "$text-error bold") if refused else "",
                    sentence(homely(does, home)) if does else safe("not concerned", "$text-muted"),
                ),
            )
        )
    if finding.get("fix"):
        found.append((heading("What to do"), sentence(homely(str(finding["fix"]), home))))
    return found


def finding_text(finding: Data, home: str) -> Content:
    """Its kind and its whole sentence."""
    kind = str(finding.get("kind"))
    return said(
        safe(kind_words(kind), f"{kind_style(kind)} bold"),
        "  ",
        sentence(homely(str(finding.get("text") or ""), home)),
    )
