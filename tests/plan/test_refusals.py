"""Honour or report: what cannot be delivered is refused with its reason, and the way that is offered works."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from hostconf.errors import Refused, UsageError
from tests.plan.fields import RIVAL, TRUST, as_json
from tests.plan.world import HOSTS, OURS, SCOPES, make, wish

TIERS = ("off", "optional", "preferred", "forced")


# ------------------------------------------------------------------ all off


@pytest.mark.parametrize("host", HOSTS)
def test_all_off_is_refused(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.tree()
    for verb in (world.plan, world.apply):
        with pytest.raises(Refused, match="every capability is off") as refusal:
            verb(wish(host, search="off", fetch="off"))
        assert refusal.value.exit_code == 3 and refusal.value.code == "both-off"
        assert "uninstall deepseek-web-retrieval" in refusal.value.hint
    assert world.tree() == before


# ------------------------------------------------------------------ the joint switch of Codex


@pytest.mark.parametrize("search", ["off", "optional", "preferred"])
def test_codex_cannot_force_fetch_alone_and_says_what_works(search: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    result = world.refused(wish("codex", search=search, fetch="forced"), "joint-switch", "one switch")
    assert [(r["capability"], r["tier"]) for r in result.data["refusals"]] == [("web_fetch", "forced")]
    fix = result.data["refusals"][0]["fix"]
    assert "--tier forced" in fix and "--tier web_fetch=preferred" in fix
    # both ways that are offered work
    world.applied(wish("codex", search="forced", fetch="forced"))
    world.applied(wish("codex", search=search, fetch="preferred"))


@pytest.mark.parametrize("fetch", ["off", "optional", "preferred"])
def test_codex_forces_search_and_says_that_page_opening_goes_with_it(fetch: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    planned = world.applied(wish("codex", search="forced", fetch=fetch))
    said = [b for b in planned.data["blast_radius"] if "web fetch" in b]
    assert len(said) == 1 and "`web_search`" in said[0]
    assert world.tools("codex") == [OURS["codex"][0]]
    assert world.tools("codex", "web_fetch") == ([] if fetch == "off" else [OURS["codex"][1]])
    world.applied(wish("codex", search="forced", fetch="forced"))
    assert not any("web fetch of" in b for b in world.plan(wish("codex")).data["blast_radius"])


def test_codex_where_the_switch_is_off_already_fetch_can_be_forced(tmp_path: Path) -> None:
    """Nothing is switched then, so nothing is taken along."""
    world = make(tmp_path, {"~/.codex/config.toml": 'web_search = "disabled"\n'})
    before = world.kept()
    world.applied(wish("codex", search="optional", fetch="forced"))
    world.removed("codex")
    assert world.kept() == before


# ------------------------------------------------------------------ a rival in another scope


def test_a_rival_of_the_project_is_not_switched_off_from_the_users_file_on_codex(tmp_path: Path) -> None:
    world = make(
        tmp_path,
        {
            "~/.codex/config.toml": TRUST.lstrip(),
            "{project}/.codex/config.toml": '[mcp_servers.tavily]\ncommand = "tavily-mcp"\n',
        },
    )
    result = world.refused(wish("codex", search="forced", fetch="forced"), "other-scope", "--scope project")
    assert {(r["path"], r["line"]) for r in result.data["refusals"]} == {(str(world.project / ".codex/config.toml"), 1)}
    # what is offered works
    world.applied(wish("codex", search="forced", fetch="forced", scope="project"))
    assert world.tools("codex") == [OURS["codex"][0]]


def test_a_rival_of_the_user_is_not_switched_off_from_the_project_on_codex(tmp_path: Path) -> None:
    world = make(
        tmp_path,
        {"~/.codex/config.toml": '[mcp_servers.tavily]\ncommand = "tavily-mcp"\n' + TRUST},
    )
    world.refused(wish("codex", search="forced", fetch="forced", scope="project"), "other-scope", "--scope user")
    world.applied(wish("codex", search="forced", fetch="forced"))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("where", SCOPES)
def test_a_rival_of_any_scope_is_switched_off_by_name_on_claude(where: str, scope: str, tmp_path: Path) -> None:
    file = "~/.claude.json" if where == "user" else "{project}/.mcp.json"
    world = make(
        tmp_path,
        {
            file: as_json({"mcpServers": {"tavily": RIVAL}}),
            "~/.claude/settings.json": as_json({"enableAllProjectMcpServers": True}),
        },
    )
    before = world.kept()
    planned = world.applied(wish("claude", search="forced", fetch="forced", scope=scope))
    assert any("`tavily`" in b and "switched off as a whole" in b for b in planned.data["blast_radius"])
    changed = {p for p, e in world.kept().items() if before.get(p) != e}
    assert all(p.startswith(f"{'home' if scope == 'user' else 'project'}/") for p in changed), changed
    assert world.tools("claude") == [OURS["claude"][0]]
    world.removed("claude")
    assert world.kept() == before


def test_a_rival_of_the_managed_layer_that_nothing_switches_off_is_refused(tmp_path: Path) -> None:
    world = make(tmp_path, {"/etc/codex/config.toml": '[mcp_servers.tavily]\ncommand = "tavily-mcp"\n'})
    world.refused(wish("codex", search="forced", fetch="forced"), "`tavily`", "/etc/codex/config.toml")
    world.applied(wish("codex", search="preferred", fetch="preferred"))


# ------------------------------------------------------------------ outranked, not trusted

OUTRANKED: dict[str, tuple[str, dict[str, str], str]] = {
    "a project of codex": (
        "codex",
        {"~/.codex/config.toml": TRUST.lstrip(), "{project}/.codex/config.toml": 'web_search = "live"\n'},
        "{project}/.codex/config.toml",
    ),
    "a managed file of codex": (
        "codex",
        {"/etc/codex/managed_config.toml": 'x = 1\nweb_search = "cached"\n'},
        "/etc/codex/managed_config.toml",
    ),
    "a project of opencode": (
        "opencode",
        {"{project}/opencode.json": '{ "permission": { "websearch": "allow", "webfetch": "ask" } }'},
        "{project}/opencode.json",
    ),
    "an agent of opencode": (
        "opencode",
        {"{project}/opencode.json": '{ "agent": { "build": { "permission": { "*": "allow" } } } }'},
        "{project}/opencode.json",
    ),
    "an administrator of opencode": (
        "opencode",
        {"/etc/opencode/opencode.jsonc": '{ "permission": { "web*": "allow" } }'},
        "/etc/opencode/opencode.jsonc",
    ),
}


@pytest.mark.parametrize("case", OUTRANKED)
def test_a_stronger_layer_that_undoes_it_is_named(case: str, tmp_path: Path) -> None:
    host, files, name = OUTRANKED[case]
    world = make(tmp_path, files)
    result = world.refused(wish(host, search="forced", fetch="forced"), "outranked", str(world.at(name)))
    assert all(r["path"] == str(world.at(name)) and r["line"] for r in result.data["refusals"])
    assert "outranked" in [c["kind"] for c in result.data["conflicts"]]
    world.applied(wish(host, search="preferred", fetch="preferred"))


@pytest.mark.parametrize("tier", TIERS[1:])
def test_exclusive_servers_of_an_administrator_void_every_tier(tier: str, tmp_path: Path) -> None:
    world = make(tmp_path, {"/etc/claude-code/managed-mcp.json": '{"mcpServers": {}}'})
    world.refused(wish("claude", search=tier, fetch=tier), "exclusive control", "managed-mcp.json")


def test_an_allow_list_of_the_users_own_keeps_ours_out(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.claude/settings.json": '{"allowedMcpServers": [{"serverName": "notes"}]}'})
    world.refused(wish("claude"), "allowedMcpServers", "settings.json")
    world.write("~/.claude/settings.json", '{"allowedMcpServers": [{"serverName": "deepseek"}]}')
    world.applied(wish("claude"))


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_what_waits_for_the_user_is_pending_and_said(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    before = world.kept()
    for search, fetch in itertools.product(("optional", "preferred"), ("off", "optional", "preferred")):
        if host == "claude" and fetch == "off":
            continue  # a deny rule in a project that is not trusted counts all the same
        result = world.applied(wish(host, search=search, fetch=fetch, scope="project"))
        said = [n for n in result.data["notes"] if "approved or trusted by you" in n]
        assert len(said) == 1, result.data["notes"]
        states = {t["state"] for s in result.data["surface"] for t in s["after"] if t["registration"]}
        assert states == {"pending"}
    assert "not-trusted" in [c["kind"] for c in world.plan(wish(host, scope="project")).data["conflicts"]]
    kept = world.kept()
    world.refused(wish(host, search="forced", fetch="forced", scope="project"), "not-trusted")
    assert world.kept() == kept
    world.removed(host)
    assert world.kept() == before


# ------------------------------------------------------------------ several hosts


def test_one_refused_host_keeps_all_from_being_written(tmp_path: Path) -> None:
    world = make(
        tmp_path,
        {
            "~/.claude.json": "{}",
            "~/.codex/config.toml": "",
            "~/.config/opencode/opencode.json": '{"mcp": []}',
        },
    )
    result = world.refused(wish(all_hosts=True), "opencode.json")
    assert {r["host"] for r in result.data["refusals"]} == {"opencode"}
    assert {s["host"] for s in result.data["surface"]} == set(HOSTS)
    world.write("~/.config/opencode/opencode.json", "{}")
    done = world.applied(wish(all_hosts=True))
    assert {f["host"] for f in done.data["files"]} == set(HOSTS)


def test_all_hosts_are_those_that_are_there(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.codex/config.toml": ""})
    done = world.applied(wish(all_hosts=True))
    assert {f["host"] for f in done.data["files"]} == {"codex"}


def test_no_host_there(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="none of the known hosts"):
        make(tmp_path).plan(wish(all_hosts=True))


def test_a_host_named_twice_counts_once(tmp_path: Path) -> None:
    world = make(tmp_path)
    done = world.applied(wish("codex", "codex-cli", "codex"))
    assert len(done.data["surface"]) == 2


def test_a_host_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="codex"):
        make(tmp_path).plan(wish("codx"))


def test_a_project_is_needed_for_its_scope(tmp_path: Path) -> None:
    from hostconf import workflow
    from hostconf.environment import read_environment

    world = make(tmp_path)
    environment = read_environment(cwd=str(world.home), variables=world.shell())
    with pytest.raises(Refused, match="no project here"):
        workflow.plan(environment, wish("codex", scope="project"))
