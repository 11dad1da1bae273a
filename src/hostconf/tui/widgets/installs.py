"""Installs in words: one in the table, one in full. Data in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from textual.content import Content

from hostconf.tui.widgets import planned
from hostconf.tui.widgets.rows import Row
from hostconf.tui.widgets.surface import capability
from hostconf.tui.words import place, safe, said, sentence

Data = Mapping[str, Any]
TABLE = ("web_search", "web_fetch")
"""Capabilities with a column of their own."""


class Install(NamedTuple):
    """One install of one host, as `status` tells it."""

    host: str
    name: str
    """Of the host, for people."""
    data: Data

    @property
    def id(self) -> str:
        """Of its row: there is one install of an integration a host and scope."""
        return "|".join((self.host, str(self.data["integration"]), str(self.data["scope"])))

    @property
    def drifted(self) -> bool:
        """Whether something of it is not as it was written."""
        return bool(self.data["drift"])


class Foretold(NamedTuple):
    """What an uninstall of one install would say, for the entries that drifted."""

    leftovers: tuple[Data, ...] = ()
    refused: str = ""
    """Why there would be none at all."""


def installs_of(hosts: Sequence[Data]) -> list[Install]:
    """All installs, in the order of the hosts."""
    return [Install(str(h["id"]), str(h["name"]), one) for h in hosts for one in h["installed"]]


def when(time: Any) -> str:
    """A moment as people read it."""
    return str(time or "").replace("T", " ").removesuffix("Z")[:16]


def install_row(one: Install) -> Row:
    """One line of the table."""
    tiers = one.data["tiers"]
    return Row(
        one.id,
        (
            safe(one.name, "bold"),
            safe(one.data["integration"]),
            safe(one.data["scope"], "$text-muted"),
            *(_tier(tiers.get(name, "")) for name in TABLE),
            safe(when(one.data["installed"]), "$text-muted"),
            safe("! drift", "$text-error bold") if one.drifted else safe("as written", "$text-success"),
        ),
    )


def _tier(tier: str) -> Content:
    return safe(tier or "–", "$text-muted" if tier in ("", "off") else "")


def facts(one: Install, home: str) -> list[Content]:
    """What it is: server, package, settings, variables, files."""
    data = one.data
    rows = [said(planned.heading(f"{data['integration']}"), safe(f" on {one.name}", "$primary"))]
    rows += [_fact(capability(str(name)), safe(tier, "bold")) for name, tier in data["tiers"].items()]
    rows += [
        _fact("scope", safe(data["scope"])),
        _fact("comes in as", safe(data["path"])),
        _fact("server", safe(data["server"])),
    ]
    if data["package"]:
        rows.append(_fact("package", safe(data["package"])))
    rows += [_fact("setting" if not n else "", safe(f"{k} = {v}")) for n, (k, v) in enumerate(data["knobs"].items())]
    if data["environment"]:
        rows.append(_fact("variables", safe(", ".join(map(str, data["environment"])))))
    rows.append(_fact("since", said(safe(when(data["installed"])), safe(f"  by {data['by']}", "$text-muted"))))
    rows += [_fact("writes" if not n else "", safe(place(p, 0, home), "bold")) for n, p in enumerate(data["files"])]
    return rows


def _fact(name: str, value: Content) -> Content:
    return said(safe(f"  {name:<12} ", "$text-muted"), value)


def drift_lines(one: Install, foretold: Foretold | None, home: str) -> list[Content]:
    """What is not as it was written, and what an uninstall does about it; None where that is not known yet."""
    if not one.drifted:
        return [
            planned.heading("As it was written", "$text-success"),
            safe("  ✓ every entry is as hostconf wrote it; an uninstall gives back what was there before"),
        ]
    rows = [planned.heading("Not as it was written", "$text-error")]
    for entry in one.data["drift"]:
        at = ".".join(map(str, entry["at"])) or "the file"
        rows.append(planned.item("!", said(safe(at, "bold"), ": ", sentence(str(entry["reason"]))), "$text-error"))
        rows.append(said("    ", safe(place(entry["path"], entry["line"], home), "$secondary")))
        if foretold is not None and not foretold.refused:
            rows.append(said("    ", safe("uninstall: ", "$text-muted"), _fate(entry, foretold)))
    if foretold is None:
        rows.append(safe("  looking what an uninstall would do about it …", "$text-muted italic"))
    elif foretold.refused:
        rows.append(planned.item("✗", f"uninstall is refused: {planned.homely(foretold.refused, home)}", "$text-error"))
    return rows


def _fate(entry: Data, foretold: Foretold) -> Content:
    for left in foretold.leftovers:
        if (left["path"], list(left["at"])) == (entry["path"], list(entry["at"])):
            return safe("stays, for it is not as hostconf wrote it", "bold")
    return safe("takes out what is left of ours")


NOTHING = (
    "hostconf has installed nothing here yet.",
    "",
    "Press `Esc` for the hosts: take in those that you want with `Space`,",
    "and go on with `n`. What you install is listed here, and can be taken back.",
)


def nothing_lines() -> list[Content]:
    """What is said where nothing is installed."""
    return [sentence(text) for text in NOTHING]
