"""What a person has chosen so far: a value, changed by making a new one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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

    def with_variable(self, name: str, value: str | None) -> Wish:
        """The same with this variable: a literal value, or None for that of the environment."""
        return self._replace(env={**self.env, name: value}, touched=True)

    def without_variable(self, name: str) -> Wish:
        """The same with this variable not handed on."""
        return self._replace(env={n: v for n, v in self.env.items() if n != name}, touched=True)

    def choosing(self, integration: Mapping[str, Any]) -> Wish:
        """A wish for this integration, a row of the catalogue: what only another one could mean is gone."""
        required = [str(v["name"]) for v in integration["environment"] if v["required"]]
        return self._replace(
            integration=str(integration["id"]),
            path="",
            tiers={(h, c): t for (h, c), t in self.tiers.items() if c in integration["capabilities"]},
            env=dict.fromkeys(required, None),
            settings={},
            package="",
            pin=False,
            literal=False,
        )

    @classmethod
    def changing(cls, host: str, row: Mapping[str, Any]) -> Wish:
        """A wish for this one host as its install has it, a row of `installed[]` of `status`.

        What only a person can say again is not in it: values of variables, what was accepted.
        """
        return cls(
            (host,),
            str(row["integration"]),
            str(row["scope"]),
            str(row["path"]),
            {(host, c): str(t) for c, t in row["tiers"].items()},
            dict.fromkeys(map(str, row["environment"]), None),
            {str(k): str(v) for k, v in row["knobs"].items()},
            str(row["package"]),
        )

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


def from_installed(wish: Wish, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Wish:
    """The wish, with the tiers that are installed where no other was wished.

    Args:
        rows: id of a host to its `installed[]` of `status`.
    """
    found = {
        (host, str(capability)): str(tier)
        for host, installs in rows.items()
        for row in installs
        if row["integration"] == wish.integration and row["scope"] == wish.scope
        for capability, tier in row["tiers"].items()
    }
    return wish._replace(tiers={**found, **wish.tiers})
