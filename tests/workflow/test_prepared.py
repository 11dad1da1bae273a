"""A plan as a value: what is shown is what is carried out, once, and only while every file is still as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostconf import workflow
from hostconf.errors import Refused, StalePlan
from hostconf.workflow.change import Prepared
from tests.plan.fields import world_of
from tests.plan.world import HOSTS, World, wish


def prepared(world: World, *hosts: str, search: str = "preferred", fetch: str = "off", scope: str = "user") -> Prepared:
    return workflow.prepare(world.environment(), wish(*hosts, search=search, fetch=fetch, scope=scope))


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_written_is_what_was_shown(host: str, scope: str, tmp_path: Path) -> None:
    """To look at a plan touches nothing; carried out, each file has the bytes that the plan has for it."""
    world = world_of("plain", tmp_path)
    before = world.tree()
    plan = prepared(world, host, scope=scope)
    assert world.tree() == before
    assert plan.ready and plan.result.exit_code == 0

    steps: list[str] = []
    done = workflow.carry_out(plan, on_step=steps.append)

    assert done.exit_code == 0 and done.data["applied"]
    assert done.data["files"] == plan.result.data["files"]
    assert done.data["surface"] == plan.result.data["surface"]
    assert [row["host"] for row in done.data["restart"]] == [host]
    for change in plan.plan.changes:
        assert Path(change.real).read_bytes() == change.after
        assert any(change.path in step for step in steps)
    shown = {file["path"] for file in plan.result.data["files"]}
    assert shown <= {change.path for change in plan.plan.changes}


def test_the_same_as_apply_would_have_written(tmp_path: Path) -> None:
    one, other = world_of("plain", tmp_path / "one"), world_of("plain", tmp_path / "other")
    workflow.carry_out(prepared(one, *HOSTS))
    other.applied(wish(*HOSTS, search="preferred", fetch="off"))

    def texts(world: World) -> dict[str, str]:
        files = [p for p in world.home.rglob("*") if p.is_file() and "hostconf-owner" not in p.name]
        found = {str(p.relative_to(world.home)): p.read_bytes().decode() for p in files if ".local" not in p.parts}
        return {name: text.replace(str(world.home.parent), "") for name, text in found.items()}

    assert texts(one) == texts(other)
    assert any("deepseek" in text for text in texts(one).values())


def test_a_refused_plan_is_not_ready(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    before = world.tree()
    plan = prepared(world, "codex", search="optional", fetch="forced")
    assert plan.plan.refusals and not plan.ready
    assert plan.result.exit_code == 3 and plan.result.errors

    with pytest.raises(Refused) as failure:
        workflow.carry_out(plan)
    assert failure.value.code == "not-ready"
    assert world.tree() == before


def test_an_empty_plan_is_not_ready(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    workflow.carry_out(prepared(world, "claude"))
    before = world.tree()
    plan = prepared(world, "claude")
    assert plan.plan.empty and not plan.ready
    assert plan.result.messages == ("nothing to do: it is so already",)

    with pytest.raises(Refused) as failure:
        workflow.carry_out(plan)
    assert failure.value.code == "not-ready"
    assert world.tree() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_file_that_moved_on_keeps_every_byte(host: str, tmp_path: Path) -> None:
    """One of the files is changed after the plan was shown: nothing at all is written."""
    world = world_of("plain", tmp_path)
    plan = prepared(world, host)
    change = next(c for c in plan.plan.changes if c.before is not None)
    Path(change.real).write_bytes(change.before + b"\n" if change.before else b"\n")
    before = world.kept()

    with pytest.raises(StalePlan) as failure:
        workflow.carry_out(plan)
    assert failure.value.path == change.path
    assert world.kept() == before


def test_a_plan_is_carried_out_once(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    plan = prepared(world, "claude")
    workflow.carry_out(plan)
    before = world.kept()

    with pytest.raises(StalePlan):
        workflow.carry_out(plan)
    assert world.kept() == before


@pytest.mark.parametrize("scope", ["user", "project"])
def test_taken_back_the_same_way_gives_the_first_bytes(scope: str, tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    first = world.kept()
    workflow.carry_out(prepared(world, *HOSTS, scope=scope))
    assert world.kept() != first

    written = world.tree()
    plan = workflow.prepare_uninstall(world.environment())
    assert world.tree() == written
    assert plan.ready and {r.host for r in plan.records} == {*HOSTS}
    assert len(plan.result.data["removed"]) == len(HOSTS) and not plan.result.data["leftovers"]

    done = workflow.carry_out(plan)
    assert (done.command, done.exit_code) == ("uninstall", 0)
    assert [row["host"] for row in done.data["restart"]] == sorted(HOSTS)
    assert world.kept() == first


def test_an_uninstall_names_what_stays_before_and_after(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    workflow.carry_out(prepared(world, "claude"))
    world.edit("~/.claude.json", '"deepseek-web-retrieval"', '"deepseek-web-retrieval@0.1.0"')

    plan = workflow.prepare_uninstall(world.environment(), hosts=("claude",))
    assert plan.ready and [left["path"] for left in plan.result.data["leftovers"]] == [str(world.at("~/.claude.json"))]

    done = workflow.carry_out(plan)
    assert (done.exit_code, done.status) == (1, "partial")
    assert [error["code"] for error in done.errors] == ["drift"]
    assert "deepseek-web-retrieval@0.1.0" in world.read("~/.claude.json")


def test_where_nothing_is_installed_nothing_is_taken_back(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    plan = workflow.prepare_uninstall(world.environment())
    assert not plan.ready and plan.result.messages == ("nothing of hostconf is installed there",)
    with pytest.raises(Refused):
        workflow.carry_out(plan)


def test_each_host_has_its_own_tiers_in_one_plan(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    tiers = (
        ("claude", "web_search", "forced"),
        ("claude", "web_fetch", "optional"),
        ("codex", "web_search", "optional"),
        ("codex", "web_fetch", "off"),
    )
    request = wish("claude", "codex")._replace(tiers=(), host_tiers=tiers)
    plan = workflow.prepare(world.environment(), request)
    assert {(s["host"], s["capability"]): s["tier"] for s in plan.result.data["surface"]} == {
        (host, capability): tier for host, capability, tier in tiers
    }
    workflow.carry_out(plan)

    status = workflow.status(world.environment(), ("claude", "codex"))
    installed = {host["id"]: host["installed"][0]["tiers"] for host in status.data["hosts"]}
    assert installed == {
        "claude": {"web_search": "forced", "web_fetch": "optional"},
        "codex": {"web_search": "optional", "web_fetch": "off"},
    }
    (only,) = [t["tool"] for t in _surface(status.data, "claude", "web_search")]
    assert only == "mcp__deepseek__deepseek_web_search"
    assert not [t for t in _surface(status.data, "codex", "web_fetch") if t["provider"] == "deepseek-web-retrieval"]


def _surface(data: object, host: str, capability: str) -> list[dict[str, str]]:
    assert isinstance(data, dict)
    found: list[dict[str, str]] = next(h["surface"][capability] for h in data["hosts"] if h["id"] == host)
    return found
