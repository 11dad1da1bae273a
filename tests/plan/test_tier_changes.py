"""From every pair of tiers to every other, and between scopes: each step holds, and the end is the first byte."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from hostconf.model import TIERS
from tests.plan.fields import FIELDS, refusal_expected, world_of
from tests.plan.world import CAPABILITIES, HOSTS, OURS, SCOPES, World, wish

PAIRS: list[tuple[str, str]] = [pair for pair in itertools.product(TIERS, TIERS) if pair != ("off", "off")]


def walk(nodes: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A way that takes every step between two different nodes once."""
    steps = {(a, b) for a in nodes for b in nodes if a != b}
    way = [nodes[0]]
    while steps:
        step = next(((a, b) for a, b in sorted(steps) if a == way[-1]), None)
        if step is None:  # a dead end: go on where something is left
            way.append(min(a for a, _ in steps))
            continue
        steps.discard(step)
        way.append(step[1])
    return way


def check(world: World, host: str, tiers: tuple[str, str], where: str) -> None:
    found = world.host(host)
    loaded = "\n".join(Path(r["path"]).read_text() for r in found["rules"] if r["loaded"])
    for capability, tier, ours in zip(CAPABILITIES, tiers, OURS[host], strict=True):
        tools = [t["tool"] for t in found["surface"][capability]]
        assert (ours in tools) == (tier != "off"), f"{where}: {capability} {tools}"
        assert (ours in loaded) == (tier == "preferred"), f"{where}: {capability} in the rules"
        if tier == "forced":
            assert tools == [ours], f"{where}: {capability} {tools}"
    assert found["installed"][0]["tiers"] == dict(zip(CAPABILITIES, tiers, strict=True))


WALKED = [
    ("claude", "rival in user", "user"),
    ("codex", "rival in user", "user"),
    ("opencode", "rival in user", "user"),
    ("opencode", "CRLF, tabs, BOM, no final newline", "project"),
    ("claude", "rival in project", "project"),
    ("codex", "links", "user"),
]


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(("host", "field", "scope"), WALKED)
def test_every_step_between_two_choices(host: str, field: str, scope: str, half: int, tmp_path: Path) -> None:
    """After each step the surface, the rules and the record are those of the later choice; the end is the first byte.

    A sixth of the 210 steps for each field, spread over all of them; over the fields nearly every one is taken.
    """
    nodes = [p for p in PAIRS if not refusal_expected(field, host, scope, *p)]
    share = WALKED.index((host, field, scope))
    way = [step for number, step in enumerate(itertools.pairwise(walk(nodes))) if number % 12 == share * 2 + half]
    world = world_of(field, tmp_path)
    before = world.kept()
    state: tuple[str, str] | None = None
    for a, b in way:
        for tiers in (a, b) if a != state else (b,):
            where = f"{host} {scope}: {state} to {tiers}"
            result = world.apply(wish(host, search=tiers[0], fetch=tiers[1], scope=scope))
            assert result.exit_code == 0, f"{where}: {result.errors}"
            check(world, host, tiers, where)
            state = tiers
    world.removed(host)
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_second_choice_leaves_what_a_first_one_would(host: str, tmp_path: Path) -> None:
    """What the earlier choice needed and the later one does not is taken back at once."""
    for number, (a, b) in enumerate(
        [
            (("forced", "forced"), ("optional", "optional")),
            (("preferred", "off"), ("off", "forced" if host != "codex" else "preferred")),
            (("off", "preferred"), ("forced", "off")),
            (("forced", "preferred"), ("preferred", "optional")),
        ]
    ):
        once, twice = (world_of("rival in user", tmp_path / f"{number}{n}") for n in "ab")
        once.applied(wish(host, search=b[0], fetch=b[1]))
        twice.applied(wish(host, search=a[0], fetch=a[1]))
        twice.applied(wish(host, search=b[0], fetch=b[1]))
        assert configs(once) == configs(twice), f"{a} to {b}"


def configs(world: World) -> dict[str, object]:
    """All but our own state, places made equal."""
    place = str(world.home.parent).encode()
    return {
        p: (kind, mode, c.replace(place, b"") if isinstance(c, bytes) else c)
        for p, (kind, mode, c) in world.kept().items()
        if "/hostconf/" not in p and not p.endswith("-owner.json")
    }


@pytest.mark.parametrize("host", HOSTS)
def test_the_first_snapshots_are_inherited(host: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    before = world.kept()
    for tiers in (("forced", "forced"), ("optional", "optional"), ("forced", "preferred"), ("forced", "forced")):
        world.applied(wish(host, search=tiers[0], fetch=tiers[1]))
    world.removed(host)
    assert world.kept() == before


# ------------------------------------------------------------------ scopes


@pytest.mark.parametrize("field", ["plain", "rival in project", "links"])
@pytest.mark.parametrize("host", HOSTS)
def test_from_the_project_to_the_user(host: str, field: str, tmp_path: Path) -> None:
    """The user's install takes the place of the project's: that one is taken back in the same plan."""
    world = world_of(field, tmp_path)
    before = world.kept()
    world.applied(wish(host, search="preferred", fetch="optional", scope="project"))
    planned = world.plan(wish(host, search="preferred", fetch="preferred"))
    assert any(f["path"].startswith(str(world.project)) for f in planned.data["files"]), "shown as well"
    world.applied(wish(host, search="preferred", fetch="preferred"))
    assert [i["scope"] for i in world.host(host)["installed"]] == ["user"]
    now = world.kept()
    assert {p: e for p, e in now.items() if p.startswith("project/")} == {
        p: e for p, e in before.items() if p.startswith("project/")
    }
    world.removed(host)
    assert world.kept() == before


@pytest.mark.parametrize("field", ["plain", "rival in project", "links"])
@pytest.mark.parametrize("host", HOSTS)
def test_from_the_user_to_the_project(host: str, field: str, tmp_path: Path) -> None:
    """A project-scope plan never writes the user's files: the user's install stays, and that is said."""
    world = world_of(field, tmp_path)
    before = world.kept()
    world.applied(wish(host, search="preferred", fetch="optional"))
    middle = {p: e for p, e in world.kept().items() if p.startswith("home/")}
    told = world.applied(wish(host, search="optional", fetch="preferred", scope="project"))
    assert any("user scope stays" in n and "--scope user" in n for n in told.data["notes"])
    assert {p: e for p, e in world.kept().items() if p.startswith("home/")} == middle
    assert sorted(i["scope"] for i in world.host(host)["installed"]) == ["project", "user"]
    world.removed(host, scope="user")
    assert [i["scope"] for i in world.host(host)["installed"]] == ["project"]
    world.removed(host, scope="project")
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_takes_both_scopes_in_one_go(host: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    before = world.kept()
    world.applied(wish(host, search="preferred"))
    world.applied(wish(host, fetch="preferred", scope="project"))
    done = world.removed(host)
    assert sorted(i["scope"] for i in done.data["removed"]) == ["project", "user"]
    assert world.kept() == before


@pytest.mark.parametrize("scope", SCOPES)
def test_all_hosts_go_in_one_go(scope: str, tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    before = world.kept()
    world.applied(wish(*HOSTS, search="preferred", fetch="off", scope=scope))
    done = world.removed()
    assert sorted(f["host"] for f in done.data["files"]) != [] and len(done.data["removed"]) == 3
    assert world.kept() == before


@pytest.mark.parametrize("scope", SCOPES)
def test_hosts_installed_one_by_one_go_one_by_one(scope: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    before = world.kept()
    for host in HOSTS:
        world.applied(wish(host, search="preferred", fetch="off", scope=scope))
    for host in ("codex", "claude"):
        world.removed(host)
        assert world.host(host)["installed"] == []
    assert len(world.host("opencode")["installed"]) == 1
    world.removed("opencode")
    assert world.kept() == before


def test_fields_that_are_used_here_exist() -> None:
    assert {"plain", "rival in project", "links"} <= FIELDS.keys()
