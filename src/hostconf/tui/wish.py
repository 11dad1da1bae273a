"""What a person has chosen so far: a value, changed by making a new one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hostconf.workflow.request import Request


class Wish(NamedTuple):
    """The choices of one journey through the wizard."""

    hosts: tuple[str, ...] = ()
    """Ids of the hosts taken in."""
    integration: str = ""
    scope: str = "user"
    path: str = ""
    """Empty: the integration's default on each host."""
    tiers: Mapping[tuple[str, str], str] = {}
    """Host and capability to tier; what is missing is `optional`."""
    env: Mapping[str, str | None] = {}
    """Variable to its literal value; None takes it from the environment. What is missing is not handed on."""
    settings: Mapping[str, str] = {}
    package: str = ""
    pin: bool = False
    literal: bool = False
    accept: tuple[str, ...] = ()
    replace_name: bool = False
    touched: bool = False
    """Whether something was chosen by hand since the start, or since it was written."""

    def tier(self, host: str, capability: str) -> str:
        """The tier wished."""
        return self.tiers.get((host, capability), "optional")

    def with_tier(self, host: str, capability: str, tier: str) -> Wish:
        """The same with this tier."""
        return self._replace(tiers={**self.tiers, (host, capability): tier}, touched=True)

    def request(self, hosts: tuple[str, ...] | None = None) -> Request:
        """The wish as the workflow takes it."""
        chosen = self.hosts if hosts is None else hosts
        return Request(
            self.integration,
            chosen,
            scope=self.scope,
            path=self.path,
            host_tiers=tuple((h, c, t) for (h, c), t in self.tiers.items() if h in chosen),
            pin=self.pin,
            package=self.package,
            settings=tuple(self.settings.items()),
            env=tuple(self.env.items()),
            literal=self.literal,
            accept=self.accept,
            replace=self.replace_name,
        )
