"""What is offered while one chooses equals what a plan then delivers or refuses; and nothing is written for it."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.errors import HostconfError, Refused, UsageError
from hostconf.model import TIERS
from hostconf.workflow.request import Request
from tests.plan.world import CAPABILITIES, HOSTS, SCOPES, World, make, wish

DEMO = Path(__file__).resolve().parents[2] / "demo" / "home"
PAIRS = [pair for pair in product(TIERS, TIERS) if pair != ("off", "off")]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """The sample home of the three hosts, with its project."""
    made = make(tmp_path)
    shutil.copytree(DEMO, made.home, dirs_exist_ok=True)
    shutil.copytree(DEMO / "site", made.project, dirs_exist_ok=True)
    return made


def per_host(request: Request, host: str, search: str, fetch: str) -> Request:
    tiers = ((host, "web_search", search), (host, "web_fetch", fetch))
    return request._replace(host_tiers=(*request.host_tiers, *tiers))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_offered_is_what_a_plan_does(world: World, host: str, scope: str) -> None:
    """All pairs of tiers: surface, what else changes, refusals, and each tier that is said to be deliverable."""
    environment = world.environment()
    before = world.tree()
    wishes = workflow.open_wishes(environment)
    plans = {pair: workflow.plan(environment, wish(host, search=pair[0], fetch=pair[1], scope=scope)) for pair in PAIRS}
    for (search, fetch), made in plans.items():
        offer = wishes.offer(per_host(wish(host, scope=scope), host, search, fetch), host)
        assert (offer["id"], offer["problem"]) == (host, "")
        for key in ("surface", "blast_radius", "refusals"):
            assert offer[key] == made.data[key], (search, fetch, key)
        assert offer["files"] == len(made.data["files"])
        for number, capability in enumerate(CAPABILITIES):
            cell = offer["cells"][capability]
            assert cell["tier"] == (search, fetch)[number]
            for tier in TIERS:
                other = (tier, fetch) if number == 0 else (search, tier)
                said = cell["tiers"][tier]
                if other == ("off", "off"):
                    assert not said["deliverable"] and "nothing to install" in said["reason"]
                    continue
                against = [r for r in plans[other].data["refusals"] if r["capability"] in ("", capability)]
                assert said["deliverable"] == (not against), (search, fetch, capability, tier)
                assert said["reason"] == (against[0]["reason"] if against else "")
    assert world.tree() == before, "an offer wrote something"


def test_some_tiers_cannot_be_had_here(world: World) -> None:
    """What is compared above is not all the same."""
    offer = workflow.open_wishes(world.environment()).offer(wish("codex"), "codex")
    cells = {c: [t for t in TIERS if not offer["cells"][c]["tiers"][t]["deliverable"]] for c in CAPABILITIES}

    assert cells == {"web_search": [], "web_fetch": ["forced"]}
    assert "one switch" in offer["cells"]["web_fetch"]["tiers"]["forced"]["reason"]


def test_each_host_has_its_own_tiers_in_one_plan(world: World) -> None:
    """`host_tiers` differ from host to host, and `tiers` holds where they say nothing."""
    own = {"claude": ("forced", "off"), "codex": ("preferred", "optional")}
    request = wish(*HOSTS, search="off", fetch="preferred")
    for host, pair in own.items():
        request = per_host(request, host, *pair)
    environment = world.environment()
    made = workflow.plan(environment, request)
    wishes = workflow.open_wishes(environment)

    assert made.errors == ()
    tiers = {(row["host"], row["capability"]): row["tier"] for row in made.data["surface"]}
    wanted = {**own, "opencode": ("off", "preferred")}
    assert tiers == {(h, c): wanted[h][n] for h in HOSTS for n, c in enumerate(CAPABILITIES)}
    for host in HOSTS:
        offer = wishes.offer(request._replace(hosts=(host,)), host)
        assert offer["surface"] == [row for row in made.data["surface"] if row["host"] == host]


def test_what_is_offered_can_be_applied_and_is_then_what_is_there(world: World) -> None:
    request = per_host(per_host(wish("claude", "codex"), "claude", "forced", "forced"), "codex", "forced", "optional")
    offers = {h: workflow.open_wishes(world.environment()).offer(request, h) for h in request.hosts}
    world.applied(request)

    for host, offer in offers.items():
        for row in offer["surface"]:
            assert world.tools(host, row["capability"]) == [tool["tool"] for tool in row["after"]]


def said(world: World, request: Request, host: str) -> Any:
    """The offer, and that a plan fails with the same words."""
    offer = workflow.open_wishes(world.environment()).offer(request, host)
    with pytest.raises(HostconfError) as failure:
        workflow.plan(world.environment(), request)
    assert (offer["problem"], offer["fix"], offer["code"]) == (
        failure.value.message, failure.value.hint, failure.value.code,
    )  # fmt: skip
    assert all(row["before"] == row["after"] for row in offer["surface"]) and len(offer["surface"]) == 2
    assert not any(t["deliverable"] for cell in offer["cells"].values() for t in cell["tiers"].values())
    return offer


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ({"path": "extension"}, "no-path", "no path `extension`"),
        ({"settings": (("count", "0"),)}, "usage", "may not be below 1"),
        ({"settings": (("colour", "red"),)}, "usage", "no knob `colour`"),
        ({"package": "-x"}, "usage", "--package"),
    ],
)
def test_what_no_host_can_have_is_said_as_the_plan_says_it(
    world: World, more: dict[str, Any], code: str, words: str
) -> None:
    offer = said(world, wish("claude", **more), "claude")

    assert (offer["code"], words in offer["problem"]) == (code, True)


def test_a_value_for_a_project_is_refused_and_not_repeated(world: World) -> None:
    secret = "sk-not-for-the-screen"
    request = wish("claude", scope="project")._replace(env=(("DEEPSEEK_API_KEY", secret),))
    offer = said(world, request, "claude")

    assert offer["code"] == "literal-secret"
    assert secret not in repr(offer)
    free = workflow.open_wishes(world.environment()).offer(request._replace(literal=True), "claude")
    assert free["problem"] == "" and secret not in repr(free)


def test_all_off_on_one_host_is_said_of_that_host(world: World) -> None:
    request = per_host(wish(*HOSTS), "codex", "off", "off")
    wishes = workflow.open_wishes(world.environment())

    assert wishes.offer(request, "codex")["code"] == "both-off"
    assert wishes.offer(request, "claude")["problem"] == ""
    with pytest.raises(Refused, match="on codex"):
        workflow.plan(world.environment(), request)


def test_what_is_no_integration_to_install(world: World) -> None:
    wishes = workflow.open_wishes(world.environment())
    with pytest.raises(Refused, match="only to be recognised"):
        wishes.offer(wish("codex", integration="tavily"), "codex")
    with pytest.raises(UsageError, match="no integration"):
        wishes.offer(wish("codex", integration="nothing"), "codex")


def test_a_wish_is_of_the_files_as_they_were_read(world: World) -> None:
    """A new look sees what an old one could not."""
    old = workflow.open_wishes(world.environment())
    before = old.offer(wish("codex"), "codex")["surface"]
    world.edit("~/.codex/config.toml", 'web_search = "live"', 'web_search = "disabled"')

    assert old.offer(wish("codex"), "codex")["surface"] == before
    now = workflow.open_wishes(world.environment()).offer(wish("codex"), "codex")["surface"]
    assert "web_search" not in [tool["tool"] for tool in now[0]["before"]]
