"""A wish is a value: what each change keeps, and what the workflow is asked for."""

from __future__ import annotations

from typing import Any

from hostconf.tui.wish import Wish, from_installed

CATALOGUE: dict[str, Any] = {
    "id": "new",
    "capabilities": {"web_search": ["s"]},
    "environment": [{"name": "KEY", "required": True}, {"name": "MORE", "required": False}],
}
ROW: dict[str, Any] = {
    "integration": "deepseek-web-retrieval",
    "scope": "project",
    "path": "mcp",
    "server": "deepseek",
    "tiers": {"web_search": "forced", "web_fetch": "off"},
    "package": "deepseek-web-retrieval@1.2.3",
    "environment": ["DEEPSEEK_API_KEY"],
    "knobs": {"count": "20"},
}


def test_what_is_not_wished_is_optional() -> None:
    assert Wish(("codex",)).tier("codex", "web_search") == "optional"


def test_a_change_makes_another_wish() -> None:
    first = Wish(("codex",), "i", env={"KEY": None})
    second = first.with_tier("codex", "web_search", "forced").with_variable("KEY", "v").with_variable("B", None)

    assert (first.tiers, first.env, first.touched) == ({}, {"KEY": None}, False)
    assert (second.tiers, second.touched) == ({("codex", "web_search"): "forced"}, True)
    assert second.env == {"KEY": "v", "B": None}
    assert second.without_variable("B").env == {"KEY": "v"}


def test_another_integration_keeps_what_it_can_mean() -> None:
    wish = Wish(
        ("codex",), "old", path="mcp", tiers={("codex", "web_search"): "forced", ("codex", "web_fetch"): "off"},
        env={"OLD": "v"}, settings={"a": "1"}, package="p", pin=True, literal=True,
    )  # fmt: skip
    chosen = wish.choosing(CATALOGUE)

    assert (chosen.integration, chosen.hosts) == ("new", ("codex",))
    assert chosen.tiers == {("codex", "web_search"): "forced"}
    assert chosen.env == {"KEY": None}, "what is required comes from the environment"
    assert (chosen.path, chosen.settings, chosen.package, chosen.pin, chosen.literal) == ("", {}, "", False, False)


def test_changing_an_install_begins_with_its_record() -> None:
    wish = Wish.changing("codex", ROW)

    assert (wish.hosts, wish.integration, wish.scope, wish.path) == (
        ("codex",), "deepseek-web-retrieval", "project", "mcp",
    )  # fmt: skip
    assert wish.tiers == {("codex", "web_search"): "forced", ("codex", "web_fetch"): "off"}
    assert wish.env == {"DEEPSEEK_API_KEY": None}
    assert (wish.settings, wish.package, wish.touched) == ({"count": "20"}, "deepseek-web-retrieval@1.2.3", False)


def test_installed_tiers_are_the_start_where_no_other_was_wished() -> None:
    other = {**ROW, "integration": "another", "tiers": {"web_search": "preferred"}}
    wish = Wish(("codex", "claude"), "deepseek-web-retrieval", "project", tiers={("codex", "web_fetch"): "optional"})
    found = from_installed(wish, {"codex": [ROW], "claude": [other]})

    assert found.tiers == {("codex", "web_search"): "forced", ("codex", "web_fetch"): "optional"}
    assert from_installed(wish._replace(scope="user"), {"codex": [ROW]}).tiers == wish.tiers
    assert not found.touched


def test_the_request_speaks_of_the_hosts_that_are_asked_for() -> None:
    wish = Wish(
        ("codex", "claude"), "i", tiers={("codex", "web_search"): "off", ("claude", "web_search"): "forced"},
        env={"KEY": None, "B": "v"}, settings={"count": "3"}, accept=("call-denied",), replace_name=True,
    )  # fmt: skip
    whole, one = wish.request(), wish.request(("codex",))

    assert whole.hosts == ("codex", "claude") and len(whole.host_tiers) == 2
    assert one.host_tiers == (("codex", "web_search", "off"),)
    assert one.env == (("KEY", None), ("B", "v"))
    assert (one.settings, one.accept, one.replace) == ((("count", "3"),), ("call-denied",), True)
