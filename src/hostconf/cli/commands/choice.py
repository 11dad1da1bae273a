"""CHOICE of `plan` and `apply`: options into a Request, checked as far as no catalogue is needed."""

from __future__ import annotations

import re

from hostconf.cli.parser import Line, nearest
from hostconf.errors import UsageError
from hostconf.model import TIERS
from hostconf.workflow.request import Request


def request_of(line: Line) -> Request:
    """The request a command line asks for. Raises UsageError; no message repeats a value."""
    hosts = line.values("--host")
    if bool(hosts) == line.has("--all-hosts"):
        problem = "`--host` and `--all-hosts` exclude each other" if hosts else f"`{line.verb.name}` needs a host"
        raise UsageError(problem, hint="`--host HOST`, once or more, or `--all-hosts`; `hostconf hosts` lists them")
    if line.has("--pin") and line.has("--package"):
        raise UsageError("`--pin` and `--package` exclude each other", hint="`--package` names the version itself")
    return Request(
        integration=line.words[0],
        hosts=hosts,
        all_hosts=line.has("--all-hosts"),
        scope=line.value("--scope") or "user",
        path=line.value("--path"),
        tiers=tuple(map(_tier, line.values("--tier"))),
        pin=line.has("--pin"),
        package=line.value("--package"),
        settings=tuple(map(_setting, line.values("--set"))),
        env=tuple(map(_variable, line.values("--env"))),
        literal=line.has("--literal"),
        accept=(line.value("--accept"),) if line.has("--accept") else (),
        replace=line.has("--replace"),
    )


def _tier(word: str) -> tuple[str | None, str]:
    capability, equals, tier = word.rpartition("=")
    if tier not in TIERS:
        near = nearest(tier, TIERS)
        hint = (
            f"did you mean `--tier {capability}{equals}{near}`?"
            if near
            else "for one capability: `--tier web_search=forced`"
        )
        raise UsageError("`--tier` takes off, optional, preferred or forced", hint=hint)
    if equals and not capability:
        raise UsageError("`--tier` lacks the capability before its `=`", hint="`--tier web_search=forced`")
    return capability or None, tier


def _setting(word: str) -> tuple[str, str]:
    knob, equals, value = word.partition("=")
    if not equals or not knob:
        raise UsageError("`--set` takes KNOB=VALUE", hint="`hostconf integrations` lists the knobs")
    return knob, value


def _variable(word: str) -> tuple[str, str | None]:
    name, equals, value = word.partition("=")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise UsageError(
            "`--env` takes NAME or NAME=VALUE, and that is no name of a variable",
            hint="`--env DEEPSEEK_API_KEY`; the name has letters, digits and `_`",
        )
    return name, value if equals else None
