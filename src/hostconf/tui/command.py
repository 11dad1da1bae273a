"""A plan as the command line that does the same. Pure; values of variables are never in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostconf.model import Choice, Environment
    from hostconf.record import Record


def apply_commands(choices: Sequence[Choice], environment: Environment) -> list[str]:
    """One command a group of hosts that are wished the same."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for choice in choices:
        groups.setdefault(tuple(_words(choice, environment)), []).append(choice.host)
    found = []
    for words, hosts in groups.items():
        named = [part for host in hosts for part in ("--host", quote(host))]
        found.append(" ".join(["hostconf", "apply", words[0], *named, *words[1:]]))
    return found


def uninstall_commands(records: Sequence[Record], environment: Environment) -> list[str]:
    """One command an integration and scope."""
    groups: dict[tuple[str, str], list[str]] = {}
    for record in records:
        groups.setdefault((record.integration, record.scope), []).append(record.host)
    found = []
    for (integration, scope), hosts in groups.items():
        named = [part for host in dict.fromkeys(hosts) for part in ("--host", quote(host))]
        words = ["hostconf", "uninstall", quote(integration), *named, "--scope", scope]
        found.append(" ".join([*words, *_where(environment, scope)]))
    return found


def hidden_values(choices: Sequence[Choice]) -> tuple[str, ...]:
    """The variables whose values the commands take from the shell, for they are not shown."""
    return tuple(dict.fromkeys(name for choice in choices for name in choice.env_values))


def _words(choice: Choice, environment: Environment) -> list[str]:
    words = [quote(choice.integration), *_tiers(choice.tiers)]
    if choice.scope != "user":
        words += ["--scope", choice.scope]
    if choice.path:
        words += ["--path", choice.path]
    if choice.package:
        words += ["--package", quote(choice.package)]
    for knob, value in choice.knobs.items():
        words += ["--set", quote(f"{knob}={value}")]
    for name in choice.env_names:
        words += ["--env", name]
    for name in choice.env_values:
        words += ["--env", f'"{name}=${name}"']
    words += ["--literal"] if choice.literal else []
    for one in choice.accept:
        words += ["--accept", one]
    words += ["--replace"] if choice.replace else []
    return [*words, *_where(environment, choice.scope)]


def _tiers(tiers: Mapping[str, str]) -> list[str]:
    different = set(tiers.values())
    if different == {"optional"}:
        return []
    if len(different) == 1:
        return ["--tier", *different]
    return [part for capability, tier in tiers.items() for part in ("--tier", f"{capability}={tier}")]


def _where(environment: Environment, scope: str) -> list[str]:
    """The places, where they are not those that hostconf finds by itself."""
    words = [] if environment.host_variables else ["--home", quote(environment.home)]
    if scope == "project" and environment.project:
        words += ["--project", quote(environment.project)]
    return words
