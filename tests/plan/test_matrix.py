"""Every cell: host x scope x tier of both capabilities x what the field holds.

Delivered, and then the predicate holds on the disk as another reading finds it and
uninstall gives every byte back; or refused with a reason, and nothing was written.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.errors import Refused
from hostconf.workflow.request import Request

from .fields import FIELDS, make

HOSTS = {
    "claude": ("mcp__deepseek__deepseek_web_search", "mcp__deepseek__deepseek_fetch"),
    "codex": ("mcp__deepseek__deepseek_web_search", "mcp__deepseek__deepseek_fetch"),
    "opencode": ("deepseek_deepseek_web_search", "deepseek_deepseek_fetch"),
}
TIERS = ("off", "optional", "preferred", "forced")
CAPABILITIES = ("web_search", "web_fetch")

# What must be refused, by the facts of the hosts; everything else must be delivered.
REFUSED = {
    ("empty", "codex", "project"): "forced",
    ("empty", "claude", "project"): "forced",
    ("untrusted", "codex", "project"): "forced",
    ("untrusted", "claude", "project"): "forced",
    ("managed", "claude", "*"): "forced",
    ("managed", "codex", "*"): "forced",
    ("managed", "opencode", "*"): "forced",
    ("rival in user", "codex", "project"): "forced",
    ("rival in project", "codex", "user"): "forced",
}


def request(host: str, scope: str, search: str, fetch: str) -> Request:
    return Request(
        "deepseek-web-retrieval",
        (host,),
        False,
        scope,
        "",
        (("web_search", search), ("web_fetch", fetch)),
        env=(("DEEPSEEK_API_KEY", None),),
    )


def must_refuse(field: str, host: str, scope: str, search: str, fetch: str) -> bool:
    tier = REFUSED.get((field, host, scope)) or REFUSED.get((field, host, "*"))
    if tier in (search, fetch):
        return True
    # `off` needs a deny rule, which this policy voids
    if field == "managed" and host == "claude" and "off" in (search, fetch):
        return True
    return host == "codex" and fetch == "forced" and search != "forced"


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


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("field", FIELDS)
def test_every_cell_is_delivered_and_undone_or_refused(field: str, host: str, scope: str, tmp_path: Path) -> None:
    delivered = refused = 0
    for search, fetch in itertools.product(TIERS, TIERS):
        world = make(tmp_path / f"{search}-{fetch}", FIELDS[field])
        environment = world.environment()
        before, folders = world.bytes(), world.folders()
        wish = request(host, scope, search, fetch)
        if search == fetch == "off":
            with pytest.raises(Refused, match="off"):
                workflow.apply(environment, wish, yes=True)
            continue
        planned = workflow.plan(environment, wish)
        assert world.bytes() == before, "a plan writes nothing"
        result = workflow.apply(environment, wish, yes=True)
        where = f"{field} / {host} / {scope} / search={search} fetch={fetch}"
        if must_refuse(field, host, scope, search, fetch):
            assert result.exit_code == 3, f"{where}: should be refused"
            assert all(r["reason"] for r in result.data["refusals"]), where
            assert world.bytes() == before, f"{where}: refused, and yet written"
            refused += 1
            continue
        assert result.exit_code == 0, f"{where}: {result.errors}"
        delivered += 1
        found = workflow.status(environment, [host]).data["hosts"][0]
        texts = "\n".join(Path(r["path"]).read_text() for r in found["rules"] if r["loaded"])
        for capability, tier, ours in zip(CAPABILITIES, (search, fetch), HOSTS[host], strict=True):
            assert holds(tier, ours, found["surface"][capability], texts), (
                f"{where}: {capability} {found['surface'][capability]}"
            )
            after = next(s["after"] for s in planned.data["surface"] if s["capability"] == capability)
            assert [t["tool"] for t in after] == [t["tool"] for t in found["surface"][capability]], where
        assert workflow.plan(environment, wish).data["empty"], f"{where}: a second plan is not empty"
        for path, data in world.bytes().items():
            assert b"CANARY" not in data or b"CANARY" in before.get(path, b""), (
                f"{where}: a secret now stands in {path}"
            )
        done = workflow.uninstall(environment, None, [host], None, yes=True)
        assert done.exit_code == 0, f"{where}: {done.errors}"
        assert world.bytes() == before, f"{where}: not the first bytes"
        assert world.folders() == folders, f"{where}: {world.folders() ^ folders}"
    assert delivered + refused == 15
