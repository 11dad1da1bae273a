"""What could be had, and what a wish comes to, in words: rows of `Wishes.offer` and of the catalogue in, text out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.content import Content

from hostconf.model import TIERS
from hostconf.tui.widgets.form import Answer, answers
from hostconf.tui.widgets.planned import heading, homely, item, several
from hostconf.tui.widgets.surface import capability, change_lines
from hostconf.tui.widgets.tiers import TierRow
from hostconf.tui.wish import Wish
from hostconf.tui.words import place, safe, said, sentence

Data = Mapping[str, Any]

NOTHING_HERE = "nothing to install here: leave it out, or uninstall under Installed"
NO_PROJECT = "there is no project here: the working folder is the home folder"
MEANS = {
    "off": "no tool of this integration for {what}; what {host} has besides stays",
    "optional": "the tool for {what} comes beside what {host} has, and the model chooses",
    "preferred": "the tool for {what} comes, and a rules file tells the model of {host} to take it",
    "forced": "the only tool for {what} on {host}: its own and those of others are switched off",
}
"""Each tier in one sentence."""


def brings(integration: Data) -> str:
    """The capabilities of an integration."""
    return ", ".join(capability(c) for c in integration["capabilities"])


def needs_line(wish: Wish, integration: Data, is_set: Callable[[str], bool]) -> Content:
    """Each variable and where it comes from; never a value."""
    parts: list[Content] = []
    for variable in integration["environment"]:
        name = str(variable["name"])
        if name not in wish.env:
            if variable["required"]:
                parts.append(said(safe(name), safe(": left out, and it is required", "$text-warning")))
        elif wish.env[name] is not None:
            parts.append(said(safe(name), ": a value typed here"))
        else:
            here = "set" if is_set(name) else "NOT set here"
            parts.append(
                said(
                    safe(name),
                    ": from the environment ",
                    safe(f"({here})", "$text-muted" if is_set(name) else "$text-warning bold"),
                )
            )
    return said(" · ").join(parts) if parts else safe("no variable", "$text-muted")


def scope_line(wish: Wish, project: str, home: str) -> Content:
    """User or project, and what each reaches."""
    if project:
        where = Answer("project", "project", True, place(project, 0, home))
    else:
        where = Answer("project", "project", False, "(there is no project here)")
    return answers((Answer("user", "user", True, "everywhere"), where), wish.scope)


def way_line(wish: Wish, integration: Data) -> Content:
    """The ways in which the integration can come into a host."""
    found = [Answer("", "default on each host"), *(Answer(str(p), str(p)) for p in integration["paths"])]
    return answers(found, wish.path)


def options_line(wish: Wish) -> Content:
    """What differs from the defaults."""
    parts = [f"{name}={value}" for name, value in wish.settings.items()]
    parts += [f"package {wish.package}"] if wish.package else []
    parts += ["pinned to the newest version"] if wish.pin else []
    parts += [f"accepts {one}" for one in wish.accept]
    parts += ["takes a name that is in use"] if wish.replace_name else []
    return safe(" · ".join(parts)) if parts else safe("defaults", "$text-muted")


def host_problem(wish: Wish, host: str, capabilities: Sequence[str], offer: Data | None) -> str:
    """Why nothing can be had on this host as it is wished; empty where something can."""
    if capabilities and all(wish.tier(host, c) == "off" for c in capabilities):
        return NOTHING_HERE
    if offer is None:
        return ""
    whole = [str(r["reason"]) for r in offer["refusals"] if not r["capability"]]
    return str(offer["problem"]) or (whole[0] if whole else "")


def tier_rows(
    wish: Wish,
    capabilities: Sequence[str],
    offers: Mapping[str, Data],
    waiting: Callable[[str], bool],
    names: Mapping[str, str],
) -> list[TierRow]:
    """The rows of the grid."""
    rows = []
    for host in wish.hosts:
        offer = offers.get(host)
        problem = host_problem(wish, host, capabilities, offer)
        for one in capabilities:
            tiers = {} if offer is None else offer["cells"].get(one, {}).get("tiers", {})
            able: dict[str, bool] = {t: bool(tiers[t]["deliverable"]) for t in TIERS if t in tiers}
            rows.append(TierRow(host, names.get(host, host), one, wish.tier(host, one), able, waiting(host), problem))
    return rows


def why(row: TierRow, tier: str, offer: Data | None, home: str) -> Content:
    """What this tier means here, or why it cannot be had and what to do."""
    what = capability(row.capability)
    if offer is None:
        return safe(f"{tier}: still being worked out for {row.name} …", "$text-muted")
    cell = offer["cells"].get(row.capability, {}).get("tiers", {}).get(tier)
    if cell is None or cell["deliverable"]:
        return said(safe(tier, "bold"), ": ", safe(MEANS[tier].format(what=what, host=row.name), "$text-muted"))
    wished = " is wished and" if tier == row.wished else ""
    return said(
        safe(f"{tier}{wished} cannot be had on {row.name}: ", "$text-error bold"),
        sentence(homely(str(cell["reason"]), home)),
        said(". ", safe("What to do: ", "$text-muted"), sentence(homely(str(cell["fix"]), home)))
        if cell["fix"]
        else "",
    )


def effect_lines(rows: Sequence[TierRow], offer: Data | None, home: str) -> list[Content]:
    """What the model gets before and after, a part for each of these rows of one host; and what else changes."""
    shown: list[Content] = []
    for row in rows:
        shown += [*([Content("")] if shown else []), *_change(row, offer, home)]
    if offer is not None and offer["blast_radius"]:
        shown += [Content(""), heading("What else changes for you", "$text-warning")]
        shown += [item("!", homely(str(text), home), "$text-warning") for text in offer["blast_radius"]]
    if offer is not None and offer["notes"]:
        shown += [Content(""), heading("Worth knowing")]
        shown += [item("·", homely(str(text), home)) for text in offer["notes"]]
    return shown


def _change(row: TierRow, offer: Data | None, home: str) -> list[Content]:
    title = said(heading(f"{row.name} · {capability(row.capability)}"), safe(f" · {row.wished}", "bold"))
    if offer is None:
        return [title, safe("  working it out …", "$text-muted")]
    change: Data = next((c for c in offer["surface"] if c["capability"] == row.capability), {})
    before, after = change.get("before", ()), change.get("after", ())
    told = "  …" if row.waiting else "  unchanged" if before == after else f"  {len(before)} → {_count(after)}"
    # what is new comes first: there may be room for a few lines alone
    ordered = {"before": before, "after": sorted(after, key=lambda tool: tool in before)}
    return [said(title, safe(told, "$text-muted")), *change_lines(ordered, home)]


def _count(tools: Sequence[Data]) -> str:
    return several(len(tools), "tool")


def summary(row: TierRow, offer: Data | None, home: str) -> Content:
    """Files and things beyond the choice on this host, in one line; the first of them with it."""
    if offer is None or row.waiting:
        return safe(f"{row.name}: working it out …", "$text-muted")
    if row.problem or offer["refusals"]:
        return said(safe(row.name, "bold"), ": ", safe("✗ nothing can be written as it is wished", "$text-error bold"))
    head = said(safe(row.name, "bold"), ": ", several(int(offer["files"]), "file"), " written · ")
    blast = offer["blast_radius"]
    if not blast:
        return said(head, "nothing beyond this choice")
    count = safe(f"! {several(len(blast), 'thing')} beyond this choice: ", "$text-warning bold")
    return said(head, count, sentence(homely(str(blast[0]), home)))
