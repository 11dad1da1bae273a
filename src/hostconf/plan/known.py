"""What hostconf did before, as read from the disk: records and claims.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hostconf.formats.base import KeyPath
from hostconf.model import Change, Environment
from hostconf.record import Record, load_claims, record_path


class Known(NamedTuple):
    """Records by their file, and claims by theirs."""

    records: Mapping[str, Record] = {}
    claims: Mapping[str, tuple[Mapping[str, Any], ...]] = {}
    unread: tuple[str, ...] = ()
    """Records that cannot be read: nothing is decided on them, and what lies around them stays."""

    def record(self, environment: Environment, scope: str, host: str, integration: str) -> Record | None:
        """The record of one installation."""
        if scope == "project" and environment.project is None:
            return None
        return self.records.get(record_path(environment, scope, host, integration))

    def after(self, records: Mapping[str, Record], claims: Iterable[Change]) -> Known:
        """What is known once these changes of claims are carried out."""
        held = dict(self.claims)
        for change in claims:
            held[change.path] = load_claims(change.after, change.path) if change.after is not None else ()
        return self._replace(records=records, claims=held)

    def own(self, host: str) -> frozenset[tuple[str, KeyPath]]:
        """Entries of a host's files that a record covers."""
        return frozenset(
            (f.path, o.at) for r in self.records.values() if r.host == host for f in r.files for o in f.operations
        )
