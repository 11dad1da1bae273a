"""Two integrations on one host: each is its own, whatever the order in which they come, change and go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hostconf.workflow.request import Request
from tests.plan.fields import FIELDS, world_of
from tests.plan.world import HOSTS, SCOPES, World, make, wish

ONE = "deepseek-web-retrieval"
FIELDS_TRIED = ("empty", "rival in user", "CRLF, tabs, BOM, no final newline", "one word for all tools")


def other(host: str, search: str = "optional", fetch: str = "optional", scope: str = "user", **more: Any) -> Request:
    return wish(
        host,
        search=search,
        fetch=fetch,
        scope=scope,
        integration="other-web",
        env=(("OTHER_KEY", None),),
        **more,
    )


def record_of(world: World, host: str, integration: str, scope: str = "user") -> dict[str, Any]:
    folder = world.home / ".local/state/hostconf" if scope == "user" else world.project / ".hostconf"
    found: dict[str, Any] = json.loads((folder / "records" / f"{host}.{integration}.json").read_text())
    return found


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("field", FIELDS_TRIED)
def test_two_installs_go_in_any_order_and_leave_the_first_bytes(
    field: str, host: str, scope: str, second: str, tmp_path: Path
) -> None:
    if host not in FIELDS[field].hosts:
        pytest.skip("not a field of this host")
    world = world_of(field, tmp_path)
    before = world.kept()
    orders: list[tuple[str | None, ...]] = [(ONE, second), (second, ONE), (None,)]
    both = (("optional", "preferred"), ("preferred", "optional"))
    halves = (("off", "optional"), ("optional", "off"))
    for (tiers, more), order in [*((both, order) for order in orders), (halves, orders[0])]:
        world.applied(wish(host, search=tiers[0], fetch=tiers[1], scope=scope))
        middle = world.host(host)["surface"]
        world.applied(other(host, more[0], more[1], scope))
        assert world.apply(wish(host, search=tiers[0], fetch=tiers[1], scope=scope)).data["empty"], "the first moved"
        for install in world.host(host)["installed"]:
            assert install["drift"] == [], install
        for number, integration in enumerate(order):
            world.removed(host, integration=integration)
            if number == 0 and integration == second:
                assert world.host(host)["surface"] == middle
            if number == 0 and integration is not None:
                left = world.host(host)["installed"]
                assert [i["integration"] for i in left] == [x for x in (ONE, second) if x != integration]
                assert left[0]["drift"] == []
        assert world.kept() == before, f"{tiers} {order}: not as it was"


@pytest.mark.parametrize("host", HOSTS)
def test_a_change_of_the_lower_one_moves_it_on_top(host: str, second: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    before = world.kept()
    world.applied(wish(host))
    world.applied(other(host, "preferred", "preferred"))
    world.applied(wish(host, search="preferred", fetch="off"))
    for install in world.host(host)["installed"]:
        assert install["drift"] == [], install
    world.removed(host, integration=second)
    world.removed(host, integration=ONE)
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("order", [(ONE, "other-web"), ("other-web", ONE), (None,)])
def test_forced_on_top_of_another_install_switches_it_off_and_gives_it_back(
    host: str, order: tuple[str | None, ...], second: str, tmp_path: Path
) -> None:
    world = world_of("rival in user", tmp_path)
    before = world.kept()
    world.applied(wish(host))
    middle = world.host(host)["surface"]
    planned = world.applied(other(host, "forced", "forced"))
    assert any("`deepseek`" in b and "switched off" in b for b in planned.data["blast_radius"])
    assert all("otherweb" in tool for tool in world.tools(host)) and len(world.tools(host)) == 1
    for install in world.host(host)["installed"]:
        assert install["drift"] == [], "what hostconf did itself is no drift"
    for number, integration in enumerate(order):
        world.removed(host, integration=integration)
        if integration == second and number == 0:
            assert world.host(host)["surface"] == middle
        if integration == ONE and number == 0:
            text = "".join(path.read_text() for path in config_files(world))
            # Claude switches a server off by its name in another file: that is the other install's, and goes with it
            text = text.replace('"serverName": "deepseek"', "")
            assert "deepseek" not in text, "nothing of the one that went is left, also not what switched it off"
            assert world.tools(host) == [t for t in world.tools(host) if "otherweb" in t]
            assert len(world.tools(host)) == 1, "the other one is still forced"
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_forced_install_that_is_no_longer_alone_is_told(host: str, second: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(other(host, "forced", "forced"))
    planned = world.plan(wish(host))
    assert any("other-web no longer is `forced`" in b for b in planned.data["blast_radius"])
    world.applied(wish(host))
    world.applied(other(host, "forced", "forced"))
    assert len(world.tools(host)) == 1


def test_what_one_install_counted_on_is_told_when_the_other_goes(second: str, tmp_path: Path) -> None:
    """The first one switched the built-in tool off; the second found it so."""
    world = make(tmp_path, {"~/.codex/config.toml": 'web_search = "live"\n'})
    before = world.kept()
    world.applied(wish("codex", search="forced", fetch="forced"))
    world.applied(other("codex", "forced", "forced"))
    done = world.removed("codex", integration=ONE)
    assert 'web_search = "live"' in world.read("~/.codex/config.toml")
    assert any("no longer is `forced`" in note for note in done.data["notes"])
    world.applied(other("codex", "forced", "forced"))
    assert world.tools("codex") == ["mcp__otherweb__other_search"]
    world.removed("codex")
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_claims_name_both_owners_and_go_with_them(host: str, second: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish(host))
    world.applied(other(host))
    claims = list(world.home.rglob("*.hostconf-owner.json"))
    held = [json.loads(p.read_text())["claims"] for p in claims]
    assert {c["integration"] for rows in held for c in rows} == {ONE, second}
    world.removed(host, integration=ONE)
    held = [json.loads(p.read_text())["claims"] for p in claims]
    assert {c["integration"] for rows in held for c in rows} == {second}
    world.removed(host)
    assert not any(p.exists() for p in claims)


def test_a_file_made_by_the_first_goes_with_the_last(second: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    world.applied(wish("codex"))
    world.applied(other("codex"))
    world.removed("codex", integration=ONE)
    assert record_of(world, "codex", second)["files"][0]["existed"] is False
    world.removed("codex", integration=second)
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_where_somebody_else_wrote_in_between_each_takes_its_own(host: str, second: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    name = {
        "claude": "~/.claude.json",
        "codex": "~/.codex/config.toml",
        "opencode": "~/.config/opencode/opencode.json",
    }[host]
    world.applied(wish(host, search="preferred"))
    world.write(name, world.read(name).replace("tavily-mcp", "tavily-mcp2").encode())
    world.applied(other(host, "preferred"))
    world.write(name, world.read(name).replace("tavily-mcp2", "tavily-mcp3").encode())
    for install in world.host(host)["installed"]:
        assert install["drift"] == []
    world.removed(host, integration=ONE)
    world.removed(host, integration=second)
    files = world_of("rival in user", tmp_path / "fresh")
    assert world.read(name) == files.read(name).replace("tavily-mcp", "tavily-mcp3").replace(
        str(files.project), str(world.project)
    )


def config_files(world: World) -> list[Path]:
    names = (".claude.json", "settings.json", "config.toml", "opencode.json", ".mcp.json")
    return [p for p in world.home.parent.rglob("*") if p.name in names and p.is_file()]
