"""Settings of the integration, and what is seldom needed: package, pin, what is accepted, taking a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from hostconf.tui.screens.asking import Asking, trouble
from hostconf.tui.widgets.form import Tick
from hostconf.tui.wish import Wish
from hostconf.tui.words import Words, safe, said, sentence

Data = Mapping[str, Any]


class Options(Asking):
    """A field a setting, each with its type, default and range."""

    TITLE_SHOWN = "Options"

    def fields(self) -> Iterable[Widget]:
        """Settings first, then the package, then what is accepted."""
        wish = self.before
        for knob in self.integration["knobs"]:
            name = str(knob["name"])
            yield Words(knob_line(knob), classes="field")
            default = "as the program has it" if knob["default"] is None else str(knob["default"])
            yield Input(wish.settings.get(name, ""), compact=True, placeholder=default, id=f"knob-{name}")
            yield trouble(f"knob-{name}")
        usual = next((str(w["package"]) for w in self.integration["paths"].values() if w["package"]), "")
        about = "  another reference: a version, a folder, an address"
        yield Words(said(safe("Package", "bold"), safe(about, "$text-muted")), classes="field group")
        yield Input(wish.package, compact=True, placeholder=usual, id="package")
        yield trouble("package")
        yield Tick("pin", wish.pin, "the newest version as it is now; asks the registry", id="pin", classes="group")
        yield Tick(
            "accept call-denied",
            "call-denied" in wish.accept,
            "forced may leave a tool in sight whose calls are denied",
            id="accept",
        )
        yield Tick("replace", wish.replace_name, "take a name that holds content of yours", id="replace")

    def gathered(self) -> Wish | None:
        """See the base."""
        settings = {}
        for knob in self.integration["knobs"]:
            typed = self.query_one(f"#knob-{knob['name']}", Input).value.strip()
            if typed:
                settings[str(knob["name"])] = typed
        others = tuple(a for a in self.before.accept if a != "call-denied")
        return self.before._replace(
            settings=settings,
            package=self.query_one("#package", Input).value.strip(),
            pin=self.query_one("#pin", Tick).value,
            accept=(*others, "call-denied") if self.query_one("#accept", Tick).value else others,
            replace_name=self.query_one("#replace", Tick).value,
        )

    def place_of(self, problem: Asking.Tried) -> str | None:
        """See the base."""
        for knob in self.integration["knobs"]:
            if f"`--set {knob['name']}=" in problem.problem:
                return f"knob-{knob['name']}"
        return "package" if "`--package`" in problem.problem else None


def knob_line(knob: Data) -> Content:
    """Name, type, range and what it is."""
    least, most = knob["min"], knob["max"]
    between = f" {_number(least)}–{_number(most)}" if least is not None and most is not None else ""
    between = between or (f" from {_number(least)}" if least is not None else "")
    between = between or (f" up to {_number(most)}" if most is not None else "")
    return said(
        safe(knob["name"], "bold"),
        safe(f"  {knob['type']}{between}  ", "$text-muted"),
        sentence(str(knob["doc"])),
    )


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
