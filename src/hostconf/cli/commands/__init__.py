"""The verbs, one module each: `run` calls the workflow, `lines` says its result to a person.

A module is loaded when its verb is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from hostconf.cli import diagnostics, render
from hostconf.cli.parser import Line
from hostconf.cli.text import Data, Style
from hostconf.cli.verbs import WIZARD
from hostconf.environment import read_environment
from hostconf.errors import UsageError
from hostconf.model import Environment, OperationResult


class Call(NamedTuple):
    """One command line with all that its verb needs."""

    line: Line
    environment: Environment
    style: Style
    json: bool
    quiet: bool
    colour_on_stderr: bool
    command: str
    """The module of this folder that does it: the verb's, or `wizard`."""

    def run(self) -> OperationResult:
        """Do what was asked."""
        return _command(self.command).run(self)

    def lines(self, result: OperationResult) -> Iterator[str]:
        """The result as lines for a person."""
        return _command(self.command).lines(result.data, self.style)

    def may_write(self) -> bool:
        """Whether `--yes` was given; else whether there is somebody to ask.

        Raises:
            UsageError: neither. Nothing was read or written.
        """
        if self.line.has("--yes"):
            return True
        if self.json or not (render.is_terminal() and diagnostics.is_terminal()):
            raise UsageError(
                f"`{self.line.verb.name}` writes only after a yes, and there is no terminal to ask on",
                hint="look at `hostconf plan` first, then add `--yes`"
                if self.line.verb.name == "apply"
                else "add `--yes`",
            )
        return False

    def show(self, data: Data) -> None:
        """Show what is to be approved, before the question."""
        render.show_lines(_command(self.command).lines(data, self.style))


class Command(Protocol):
    """What a module of this folder has."""

    def run(self, call: Call) -> OperationResult:
        """Call the workflow."""

    def lines(self, data: Data, style: Style) -> Iterator[str]:
        """Say the data of the result to a person."""


def call_for(line: Line) -> Call:
    """The call of a command line: asks the machine once, here and nowhere else.

    Raises:
        UsageError: there is no usable home or working folder, a variable of ours is off, or the wizard
            is asked for where it cannot be shown.
    """
    command = "wizard" if _opens_wizard(line) else line.verb.name
    try:
        cwd = os.getcwd()
    except OSError:
        raise UsageError("the working folder is gone", hint="go into another folder") from None
    environment = read_environment(
        home=line.value("--home") if line.has("--home") else None,
        project=line.value("--project") if line.has("--project") else None,
        cwd=cwd,
        variables=os.environ,
    )
    variables = environment.variables
    colour = not (line.has("--no-color") or variables.get("NO_COLOR") or variables.get("TERM") == "dumb")
    style = Style(
        colour=colour and render.is_terminal(),
        # With `--home` a `~` would say the wrong folder to the shell that reads it.
        home=environment.home if environment.host_variables else "",
        verbose=line.has("--verbose"),
        piped=not render.is_terminal(),
    )
    return Call(
        line,
        environment,
        style,
        line.has("--json"),
        line.has("--quiet"),
        colour and diagnostics.is_terminal(),
        command,
    )


def _opens_wizard(line: Line) -> bool:
    """Whether a command line without a verb gets the wizard; without a terminal it gets its default verb."""
    if not line.plain:
        return False
    why = ""
    if line.has("--json"):
        why = "`--json` asks for none"
    elif not (render.is_terminal() and diagnostics.is_terminal()):
        # Standard error counts too: the screen is drawn on it.
        why = "there is none"
    elif os.environ.get("TERM") == "dumb":
        why = "`TERM` says it cannot be drawn on"
    asked = next((option.name for option in WIZARD if line.has(option.name)), "")
    if why and asked:
        raise UsageError(
            f"`{asked}` opens the wizard, which needs a terminal, and {why}",
            hint="`hostconf status` looks and `hostconf plan` previews, without one",
        )
    return not why


def _command(name: str) -> Command:
    return cast(Command, import_module(f"hostconf.cli.commands.{name}"))
