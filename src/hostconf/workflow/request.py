"""What the command line or a screen asks for, before anything was read."""

from __future__ import annotations

from typing import NamedTuple


class Request(NamedTuple):
    """A wish for one or more hosts, in the user's own words: not yet checked against the catalogues."""

    integration: str
    hosts: tuple[str, ...] = ()
    """Ids or aliases, as typed."""
    all_hosts: bool = False
    """Every host that is there; excludes `hosts`."""
    scope: str = "user"
    """`user` or `project`."""
    path: str = ""
    """`mcp`, `extension` or `plugin`; empty: the integration's default on each host."""
    tiers: tuple[tuple[str | None, str], ...] = ()
    """Capability and tier, in the order typed; None for all capabilities. Empty: `optional` for all."""
    host_tiers: tuple[tuple[str, str, str], ...] = ()
    """Host, capability and tier: what differs on one host from `tiers`."""
    pin: bool = False
    package: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    """Knob and value."""
    env: tuple[tuple[str, str | None], ...] = ()
    """Variable and literal value; None takes it from the environment. Values are secrets: never shown."""
    literal: bool = False
    accept: tuple[str, ...] = ()
    replace: bool = False
