"""What could be had here: every tier of every capability tried in memory, with what the model would see then.

For screens that show a choice while it is made. The disk is read once; after that all is pure and quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hostconf.errors import HostconfError
from hostconf.hosts.schema import Host
from hostconf.model import TIERS, Environment, Plan
from hostconf.plan.build import build_plan
from hostconf.survey.survey import survey
from hostconf.workflow import data
from hostconf.workflow.choices import choices_of, integration_of
from hostconf.workflow.gather import Gathered, House, gather, open_house
from hostconf.workflow.request import Request


def open_wishes(environment: Environment) -> Wishes:
    """See `hostconf.workflow.open_wishes`."""
    house = open_house(environment)
    return Wishes(house, gather(house, house.hosts))


class Wishes:
    """The files as they were read, and what could be made of them. Not safe for two threads at once."""

    def __init__(self, house: House, found: Gathered) -> None:
        self._house, self._found = house, found
        self._plans: dict[tuple[Request, str], Plan | HostconfError] = {}

    def offer(self, request: Request, host: str) -> Mapping[str, Any]:
        """What each tier would come to on one host, the other capabilities being as the request wishes.

        `id`, `name`, `problem` (why nothing can be had at all, with `fix`; empty), `cells`: capability to
        `tier` (as wished) and `tiers`: tier to `deliverable`, `reason`, `fix`; `surface[]`, `blast_radius[]`,
        `notes[]` and `files` (a count) of the wish as it stands; `refusals[]` of it.

        Raises:
            UsageError, Refused: the integration is not one that can be installed.
        """
        integration = integration_of(self._house, request.integration)
        one = next(h for h in self._house.hosts if h.id == host)
        wished = dict.fromkeys(integration.capabilities, "optional")
        for capability, tier in request.tiers:
            wished |= dict.fromkeys(wished, tier) if capability is None else {capability: tier}
        wished |= {c: t for h, c, t in request.host_tiers if h == host}
        now = self._plan(request, one, wished)
        row: dict[str, Any] = {"id": one.id, "name": one.name, "problem": "", "fix": "", "code": ""}
        cells: dict[str, Any] = {}
        for capability in integration.capabilities:
            tiers = {t: self._cell(request, one, {**wished, capability: t}, capability) for t in TIERS}
            cells[capability] = {"tier": wished[capability], "tiers": tiers}
        if isinstance(now, HostconfError):
            row |= {"problem": now.message, "fix": now.hint, "code": now.code}
            return {
                **row, "cells": cells, "surface": self._surface(one), "blast_radius": [], "notes": [], "refusals": [],
                "files": 0,
            }  # fmt: skip
        details = data.plan_data(now._replace(files=()))
        shown = {key: details[key] for key in ("surface", "blast_radius", "notes", "refusals")}
        return {**row, "cells": cells, **shown, "files": len(now.files)}

    def _cell(self, request: Request, host: Host, tiers: Mapping[str, str], capability: str) -> dict[str, Any]:
        if all(tier == "off" for tier in tiers.values()):
            reason = "every capability would be off: there would be nothing to install here"
            return {"deliverable": False, "reason": reason, "fix": "leave this host out, or uninstall"}
        made = self._plan(request, host, tiers)
        if isinstance(made, HostconfError):
            return {"deliverable": False, "reason": made.message, "fix": made.hint}
        row = next((r for r in made.refusals if r.capability in ("", capability)), None)
        if row is None:
            return {"deliverable": True, "reason": "", "fix": ""}
        return {"deliverable": False, "reason": row.reason, "fix": row.fix}

    def _plan(self, request: Request, host: Host, tiers: Mapping[str, str]) -> Plan | HostconfError:
        wish = tuple((host.id, capability, tier) for capability, tier in tiers.items())
        asked = request._replace(hosts=(host.id,), all_hosts=False, tiers=(), host_tiers=wish, pin=False)
        key = (asked, host.id)
        if key not in self._plans:
            found = self._found
            try:
                choices = choices_of(self._house, asked, lambda one: True, lambda package: package)
                self._plans[key] = build_plan(choices, found.workspace, self._house.catalogue, found.known)
            except HostconfError as error:
                self._plans[key] = error
        return self._plans[key]

    def _surface(self, host: Host) -> list[dict[str, Any]]:
        """The surface as it is, where nothing can be planned."""
        now = survey(host, self._found.workspace, self._house.catalogue, self._found.known.own(host.id)).surface
        rows = {capability: [data.tool_row(t) for t in tools] for capability, tools in now.items()}
        return [
            {"host": host.id, "capability": c, "tier": "", "before": tools, "after": tools} for c, tools in rows.items()
        ]
