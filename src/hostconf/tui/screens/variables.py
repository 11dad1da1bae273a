"""Where each variable of an integration comes from: the environment, a value, or nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from hostconf.tui.app import Wizard
from hostconf.tui.screens.asking import Asking, trouble
from hostconf.tui.widgets.form import Answer, OneOf, Tick
from hostconf.tui.wish import Wish
from hostconf.tui.words import Words, safe, said, sentence


class Variables(Asking):
    """One group of fields a variable. A value is typed unseen, and never shown again."""

    TITLE_SHOWN = "Where does each variable come from?"

    def fields(self) -> Iterable[Widget]:
        """A name, three ways, a field for a value; in a project, whether a value may stand there."""
        bench = cast("Wizard", self.app).bench
        for number, variable in enumerate(self.integration["environment"]):
            name = str(variable["name"])
            kind = "required" if variable["required"] else "optional"
            head = said(safe(name, "bold"), safe(f"  {kind}  ", "$text-muted"), sentence(str(variable["doc"])))
            yield Words(head, classes="field")
            here = "set here" if bench.is_set(name) else "NOT set here"
            ways = (
                Answer("environment", "from the environment", True, f"({here})"),
                Answer("value", "a value"),
                Answer("", "leave out"),
            )
            now = self._now(name)
            yield OneOf(ways, now, id=f"way-{number}")
            kept = "as typed before; type to replace it" if now == "value" else "the value; it is not shown"
            field = Input(password=True, compact=True, placeholder=kept, id=f"value-{number}")
            field.display = now == "value"
            yield field
            yield trouble(f"value-{number}")
        if not self.integration["environment"]:
            yield Words(safe("this integration takes no variable", "$text-muted"), classes="field")
        if self.before.scope == "project":
            label = "others who work in the project will read it: write it there"
            yield Tick(label, self.before.literal, id="literal", classes="group")
            yield trouble("literal")

    def _now(self, name: str) -> str:
        if name not in self.before.env:
            return ""
        return "environment" if self.before.env[name] is None else "value"

    @on(OneOf.Changed)
    def _changed(self, event: OneOf.Changed) -> None:
        field = self.query_one(f"#value-{(event.field.id or '').rpartition('-')[2]}", Input)
        field.display = event.value == "value"
        self.complain("", "")

    def gathered(self) -> Wish | None:
        """See the base."""
        wish = self.before
        for number, variable in enumerate(self.integration["environment"]):
            name, way = str(variable["name"]), self.query_one(f"#way-{number}", OneOf).value
            typed = self.query_one(f"#value-{number}", Input).value
            kept = wish.env.get(name)
            if way == "":
                wish = wish.without_variable(name)
            elif way == "environment":
                wish = wish.with_variable(name, None)
            elif typed or kept:
                wish = wish.with_variable(name, typed or kept)
            else:
                self.complain(f"value-{number}", f"type the value of `{name}`, or choose another way")
                return None
        if wish.scope == "project":
            wish = wish._replace(literal=self.query_one("#literal", Tick).value)
        return self.before if wish._replace(touched=self.before.touched) == self.before else wish

    def place_of(self, problem: Asking.Tried) -> str | None:
        """See the base."""
        if problem.code == "literal-secret":
            return "literal"
        return "" if "`--env`" in problem.problem else None
