"""Every cell: host x scope x tier of both capabilities x what the field holds.

Delivered, and then the predicate holds on the disk as another reading finds it and
uninstall gives every byte back; or refused with a reason, and nothing was written.
On rich fields all pairs of tiers, on the others a set in which every tier of each
capability occurs.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from hostconf.errors import Refused
from hostconf.model import TIERS
from tests.plan.fields import FIELDS, refusal_expected, world_of
from tests.plan.world import CAPABILITIES, OURS, SCOPES, wish

SOME = (("forced", "forced"), ("preferred", "off"), ("off", "optional"), ("optional", "preferred"))


def holds(tier: str, ours: str, rows: list[dict[str, Any]], texts: str) -> bool:
    """The predicate of a tier, written a second time: by the words of the design."""
    tools = [r["tool"] for r in rows]
    if tier == "off":
        return ours not in tools
    if tier == "optional":
        return ours in tools
    if tier == "preferred":
        return ours in tools and ours in texts
    return tools == [ours] and rows[0]["state"] == "offered"


CELLS = [
    pytest.param(field, host, scope, id=f"{field}-{host}-{scope}")
    for field, found in FIELDS.items()
    for host in found.hosts
    for scope in SCOPES
]


@pytest.mark.parametrize(("field", "host", "scope"), CELLS)
def test_every_cell_is_delivered_and_undone_or_refused(field: str, host: str, scope: str, tmp_path: Path) -> None:
    pairs = list(itertools.product(TIERS, TIERS)) if FIELDS[field].rich else SOME
    world = world_of(field, tmp_path)
    before = world.kept()
    for search, fetch in pairs:
        where = f"{field} / {host} / {scope} / search={search} fetch={fetch}"
        request = wish(host, search=search, fetch=fetch, scope=scope)
        if search == fetch == "off":
            with pytest.raises(Refused, match="off"):
                world.apply(request)
            continue
        result = world.apply(request)
        if refusal_expected(field, host, scope, search, fetch):
            assert result.exit_code == 3, f"{where}: should be refused"
            assert result.data["refusals"] and all(r["reason"] for r in result.data["refusals"]), where
            assert world.kept() == before, f"{where}: refused, and yet written"
            assert world.plan(request).errors == result.errors, where
            continue
        assert result.exit_code == 0, f"{where}: {result.errors}"
        found = world.host(host)
        texts = "\n".join(Path(r["path"]).read_text() for r in found["rules"] if r["loaded"])
        for capability, tier, ours in zip(CAPABILITIES, (search, fetch), OURS[host], strict=True):
            rows = found["surface"][capability]
            assert holds(tier, ours, rows, texts), f"{where}: {capability} {rows}"
            after = next(s["after"] for s in result.data["surface"] if s["capability"] == capability)
            assert [t["tool"] for t in after] == [t["tool"] for t in rows], where
        stamps = world.tree()
        again = world.apply(request)
        assert (again.exit_code, again.data["empty"]) == (0, True), f"{where}: not empty: {again.data['files']}"
        assert world.tree() == stamps, f"{where}: applied again, and something was written"
        _no_secret_moved(before, world.kept(), where)
        _scope_kept(before, world.kept(), scope, where)
        done = world.uninstall(host)
        assert done.exit_code == 0, f"{where}: {done.errors}"
        assert world.kept() == before, f"{where}: not as it was"


def _no_secret_moved(before: dict[str, Any], after: dict[str, Any], where: str) -> None:
    for path, (kind, _, content) in after.items():
        if kind == "file" and b"CANARY" in content:
            assert b"CANARY" in before.get(path, ("", 0, b""))[2], f"{where}: a secret now stands in {path}"


def _scope_kept(before: dict[str, Any], after: dict[str, Any], scope: str, where: str) -> None:
    """A plan for one scope writes nothing of the other."""
    other = "home/" if scope == "project" else "project/"
    changed = {p for p in {*before, *after} if before.get(p) != after.get(p)}
    assert not [p for p in changed if p.startswith(other)], where
