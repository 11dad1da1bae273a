"""A plan in words: what is refused, what the model gets, what else changes, what is settled. Data in, text out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from textual.content import Content

from hostconf.tui.widgets.rows import Row
from hostconf.tui.widgets.surface import capability, change_lines
from hostconf.tui.words import place, safe, said, sentence

Data = Mapping[str, Any]
Names = Mapping[str, str]
"""Id of a host to its name."""

LETTERS = {"create": "A", "modify": "M", "delete": "D"}
_COLOURS = {"create": "$text-success", "modify": "$text-warning", "delete": "$text-error"}


_HERE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r" \(`--tier \w+`\)", ""),
    (r"`--tier (\w+)=(\w+)`", lambda found: f"`{found[2]}` for {capability(found[1])}"),
    (r"`--scope (\w+)`", r"scope `\1`"),
    (r"`--(replace|pin|accept [\w-]+)`", r"`\1` under Options"),
    (r"`--package (\S+)`", r"`\1` under Options"),
)
"""Options of the command line in a hint of the planner, and what they are called here."""


def homely(text: str, home: str) -> str:
    """A sentence as it is said here: places without the home folder, choices in place of options."""
    if "`--" in text:
        for option, here in _HERE:
            text = re.sub(option, here, text)
    return text.replace(f"`{home}/", "`~/") if home else text


def several(number: int, one: str, more: str = "") -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def heading(text: str, style: str = "$primary") -> Content:
    """A heading in a text."""
    return safe(text, f"{style} bold")


def item(sign: str, text: str | Content, style: str = "") -> Content:
    """One line of a list with its sign."""
    return said(safe(f"  {sign} ", f"{style} bold".strip()), sentence(text) if isinstance(text, str) else text)


def error_lines(row: Data, home: str) -> list[Content]:
    """What is refused or failed: the reason, the place, what to do."""
    message = homely(str(row.get("message") or ""), home)
    rows = [item("✗", message, "$text-error")]
    where = place(row.get("path"), row.get("line"), home)
    if where and f"`{where}`" not in message:
        rows.append(said("    ", safe(where, "$secondary")))
    if row.get("hint"):
        rows.append(said("    ", safe("what to do: ", "$text-muted"), sentence(homely(str(row["hint"]), home))))
    return rows


def surface_change_lines(changes: Iterable[Data], names: Names, home: str) -> list[Content]:
    """Per host and capability: what goes, what comes, what stays."""
    rows: list[Content] = []
    for change in changes:
        tier = str(change.get("tier") or "")
        same = change.get("before") == change.get("after")
        host = str(change.get("host") or "")
        rows.append(
            said(
                heading(f"{names.get(host, host)} · {capability(str(change.get('capability') or ''))}"),
                safe(f" · {tier}", "bold") if tier else "",
                safe("  unchanged", "$text-muted") if same else "",
            )
        )
        rows += change_lines(change, home)
    return rows


def beyond_lines(data: Data, settled: int, home: str) -> list[Content]:
    """What else changes, what is worth knowing."""
    rows: list[Content] = []
    blast = data.get("blast_radius", ())
    rows.append(heading("What else changes for you", "$text-warning" if blast else "$primary"))
    rows += [item("!", homely(str(text), home), "$text-warning") for text in blast]
    if not blast:
        rows.append(safe("  nothing beyond this choice", "$text-muted"))
    if data.get("notes"):
        rows += [Content(""), heading("Worth knowing")]
        rows += [item("·", homely(str(text), home)) for text in data["notes"]]
    if settled:
        rows += [Content(""), heading("Settled by this")]
        rows += [
            item("✓", homely(str(c.get("text") or ""), home), "$text-success")
            for c in data["conflicts"]
            if c.get("resolved")
        ]
    return rows


def removal_lines(data: Data, hosts: Sequence[str], names: Names, home: str) -> list[Content]:
    """Of an uninstall: what goes, and what stays and why."""
    rows = [heading("What goes")] if data.get("removed") else []
    for number, one in enumerate(data.get("removed", ())):
        host = hosts[number] if number < len(hosts) else ""
        rows.append(
            said(
                safe("  - ", "$text-error bold"),
                safe(one.get("integration"), "bold"),
                safe(f"  on {names.get(host, host)}" if host else ""),
                safe(f"  {one.get('scope')}  {', '.join(map(str, one.get('tiers', {}).values()))}", "$text-muted"),
            )
        )
    left = data.get("leftovers", ())
    if left:
        rows += [Content("")] if rows else []
        rows.append(heading("What stays", "$text-warning"))
    for one in left:
        at = ".".join(map(str, one.get("at", ()))) or "the text"
        rows.append(
            item(
                "!", said(safe(at, "bold"), ": ", sentence(homely(str(one.get("reason") or ""), home))), "$text-warning"
            )
        )
        rows.append(said("    ", safe(place(one.get("path"), one.get("line"), home), "$secondary")))
    return rows


def conflict_lines(conflicts: Sequence[Data], names: Names, home: str) -> list[Content]:
    """Those that a plan settles, then those left."""
    rows: list[Content] = []
    settled = [c for c in conflicts if c.get("resolved")]
    left = [c for c in conflicts if not c.get("resolved")]
    for title, sign, style, group in (
        (f"Settled by this ({len(settled)})", "✓", "$text-success", settled),
        (f"Left as they are ({len(left)})", "!", "$text-warning", left),
    ):
        rows += [Content("")] if rows else []
        rows.append(heading(title, style if group else "$primary"))
        if not group:
            rows.append(safe("  none", "$text-muted"))
        for one in group:
            rows += _conflict(one, sign, style, names, home)
    return rows


def _conflict(one: Data, sign: str, style: str, names: Names, home: str) -> list[Content]:
    host = str(one.get("host") or "")
    rows = [
        item(sign, homely(str(one.get("text") or ""), home), style),
        said(
            "    ",
            safe(f"{names.get(host, host)} · {one.get('kind')}", "$text-muted"),
            "  ",
            safe(place(one.get("path"), one.get("line"), home), "$secondary"),
        ),
    ]
    if one.get("excerpt"):
        rows.append(said("    ", safe(str(one["excerpt"]).strip(), "$text-muted italic", 200)))
    if one.get("fix") and not one.get("resolved"):
        rows.append(said("    ", safe("what to do: ", "$text-muted"), sentence(homely(str(one["fix"]), home))))
    return rows


def action_word(action: str) -> Content:
    """`M modify`: a letter for the quick, a word for all."""
    style = _COLOURS.get(action, "")
    return said(safe(LETTERS.get(action, "?"), f"{style} bold".strip()), safe(f" {action}", style))


def file_row(number: int, file: Data, counts: tuple[int, int], names: Names, home: str) -> Row:
    """One file of a plan, for a table."""
    host = str(file.get("host") or "")
    added, removed = counts
    return Row(
        str(number),
        (
            action_word(str(file.get("action") or "")),
            safe(place(file.get("path"), 0, home), "bold"),
            safe(names.get(host, host)),
            said(
                safe(f"+{added}", "$text-success" if added else "$text-muted"),
                " ",
                safe(f"-{removed}", "$text-error" if removed else "$text-muted"),
            ),
        ),
    )


def file_title(file: Data, names: Names, home: str) -> Content:
    """The file whose diff stands below."""
    host = str(file.get("host") or "")
    real = place(file.get("real"), 0, home)
    shown = place(file.get("path"), 0, home)
    return said(
        action_word(str(file.get("action") or "")),
        " ",
        safe(shown, "bold"),
        safe(f"  a link to {real}", "$text-muted") if real and real != shown else "",
        safe(f"  {names.get(host, host)}", "$text-muted"),
        safe(f"  mode {file['mode']}", "$text-muted") if file.get("mode") else "",
        safe("  secrets are masked here", "$text-warning") if file.get("masked") else "",
    )


def summary(data: Data, refused: int) -> Content:
    """The whole plan in one line."""
    files, blast, left = (len(data.get(key, ())) for key in ("files", "blast_radius", "leftovers"))
    parts = [
        safe(several(files, "file"), "bold"),
        safe(f"! {several(blast, 'thing')} beyond this choice", "$text-warning bold")
        if blast
        else safe("nothing beyond this choice"),
        safe(f"✗ {refused} refused", "$text-error bold") if refused else safe("nothing refused"),
    ]
    if left:
        parts.insert(1, safe(f"! {several(left, 'entry stays', 'entries stay')}", "$text-warning bold"))
    return said(" · ").join(parts)
