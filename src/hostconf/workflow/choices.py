"""From the words of a request to choices that the planner takes: checked against the catalogues."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from hostconf.errors import Refused, UsageError
from hostconf.hosts.schema import Host
from hostconf.integrations.load import integration_named
from hostconf.integrations.schema import Integration, nearest
from hostconf.model import TIERS, Choice, Scope, Tier
from hostconf.workflow.gather import House
from hostconf.workflow.request import Request


def integration_of(house: House, name: str) -> Integration:
    """The integration of that id, if it can be installed.

    Raises:
        UsageError: there is none. Refused: it can only be recognised.
    """
    found = integration_named(house.catalogue, name)
    if found is None:
        raise UsageError(
            f"there is no integration `{name}`"
            + (f"; the nearest is `{n}`" if (n := nearest(name, [i.id for i in house.catalogue])) else ""),
            hint="`hostconf integrations` lists them",
        )
    if not found.installable:
        raise Refused(
            f"`{found.id}` is known to hostconf only to be recognised: it cannot be installed",
            code="not-installable",
            hint="`hostconf integrations` tells which can",
        )
    return found


def tiers_of(request: Request, integration: Integration, host: str = "") -> dict[str, Tier]:
    """The tier of each capability, on a host where one is named: `optional` where nothing is said.

    Raises:
        UsageError: no such tier or capability. Refused: all are off.
    """
    tiers: dict[str, Tier] = dict.fromkeys(integration.capabilities, "optional")
    own = [(capability, tier) for one, capability, tier in request.host_tiers if one == host]
    for capability, tier in [*sorted(request.tiers, key=lambda row: row[0] is not None), *own]:
        if tier not in TIERS:
            raise UsageError(
                f"there is no tier `{tier}`; the nearest is `{nearest(tier, TIERS) or 'optional'}`",
                hint=f"one of {', '.join(TIERS)}",
            )
        if capability is None:
            tiers = dict.fromkeys(tiers, tier)
        elif capability not in tiers:
            raise UsageError(f"`{integration.id}` has no capability `{capability}`; it has {', '.join(tiers)}")
        else:
            tiers[capability] = tier
    if all(t == "off" for t in tiers.values()):
        raise Refused(
            "every capability is off: there would be nothing to install" + (f" on {host}" if own else ""),
            code="both-off",
            hint=f"`hostconf uninstall {integration.id}` takes it out",
        )
    return tiers


def choices_of(
    house: House, request: Request, present: Callable[[Host], bool], pinned: Callable[[str], str]
) -> list[tuple[Choice, Host, Integration]]:
    """One choice a host.

    Args:
        present: whether a host is there, for `--all-hosts`.
        pinned: the exact version of a package, for `--pin`.

    Raises:
        UsageError: a word of the request is off. Refused: it cannot be honoured.
    """
    integration = integration_of(house, request.integration)
    if not request.host_tiers:
        tiers_of(request, integration)
    knobs = _knobs(request, integration)
    names, values = _environment(request, integration)
    if request.all_hosts:
        hosts: Sequence[Host] = [h for h in house.hosts if present(h)]
        if not hosts:
            raise Refused("none of the known hosts is there", code="no-host", hint="name one with `--host`")
    else:
        if not request.hosts:
            raise UsageError("no host is named", hint="`--host HOST`, or `--all-hosts`")
        hosts = house.named(request.hosts)
    if request.scope == "project" and house.environment.project is None:
        raise Refused(
            "there is no project here: the working folder is the home folder",
            code="no-project",
            hint="give `--project DIR`",
        )
    if request.package.startswith("-") or not request.package.isprintable():
        raise UsageError("`--package` wants the reference of a package", hint="`--package NAME@VERSION`")
    found = []
    for host in hosts:
        tiers = tiers_of(request, integration, host.id)
        way = _way(request, integration, host)
        package = request.package
        if request.pin and not package:
            package = pinned(integration.paths[way].package)
        choice = Choice(
            integration.id,
            host.id,
            cast(Scope, request.scope),
            way,
            tiers,
            package,
            knobs,
            names,
            values,
            request.literal,
            request.accept,
            request.replace,
        )
        found.append((choice, host, integration))
    return found


def _way(request: Request, integration: Integration, host: Host) -> str:
    """The path on a host: the one asked for, else the default there."""
    there = [p for p, way in integration.paths.items() if not way.hosts or host.id in way.hosts]
    # without a transport it is no server: how such a path is written is not known of any host yet
    able = [p for p in there if integration.paths[p].transport]
    if request.path:
        if request.path not in able:
            problem = f"`{integration.id}` has no path `{request.path}` on {host.name}"
            if request.path in there:
                version = f"{host.name} {host.checked_version}"
                problem = f"hostconf cannot write the path `{request.path}` of `{integration.id}` on {version}"
            raise Refused(problem, code="no-path", hint=f"it has {', '.join(able) or 'none'}")
        return request.path
    for path in able:
        if host.id in integration.paths[path].default_on:
            return path
    if not able:
        raise Refused(f"`{integration.id}` has no path on {host.name}", code="no-path")
    return "mcp" if "mcp" in able else able[0]


def _knobs(request: Request, integration: Integration) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.settings:
        knob = integration.knob(name)
        if knob is None:
            known = [k.name for k in integration.knobs]
            raise UsageError(
                f"`{integration.id}` has no knob `{name}`"
                + (f"; the nearest is `{n}`" if (n := nearest(name, known)) else ""),
                hint="`hostconf integrations` lists the knobs",
            )
        problem = knob.problem(value)
        if problem:
            raise UsageError(f"`--set {name}={value}`: {problem}", hint=knob.doc)
        found[name] = value
    return found


def _environment(request: Request, integration: Integration) -> tuple[tuple[str, ...], Mapping[str, str]]:
    names: list[str] = []
    values: dict[str, str] = {}
    for name, value in request.env:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise UsageError("`--env` wants the name of a variable", hint="`--env NAME`, or `--env NAME=VALUE`")
        if value is None:
            names.append(name)
        elif request.scope == "project" and not request.literal:
            raise Refused(
                f"the value of `{name}` would stand in a file of the project, for all to read",
                code="literal-secret",
                hint=f"`--env {name}` takes it from the environment; `--literal` writes it all the same",
            )
        else:
            values[name] = value
    return tuple(dict.fromkeys(n for n in names if n not in values)), values
