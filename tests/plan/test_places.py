"""Where is written: links, modes, folders that are made and go again, places outside of home."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.plan.fields import as_json, world_of
from tests.plan.world import HOSTS, OURS, SCOPES, World, make, wish

CONFIG = {
    ("claude", "user"): "~/.claude.json",
    ("codex", "user"): "~/.codex/config.toml",
    ("opencode", "user"): "~/.config/opencode/opencode.jsonc",
    ("claude", "project"): "{project}/.mcp.json",
    ("codex", "project"): "{project}/.codex/config.toml",
    ("opencode", "project"): "{project}/opencode.json",
}
CELLS = list(CONFIG)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("host", "scope"), CELLS)
def test_new_files_and_folders(host: str, scope: str, tmp_path: Path) -> None:
    """What may hold a secret of the user is for the user alone; what is the project's is for all of it."""
    world = make(tmp_path)
    before = world.kept()
    world.applied(wish(host, search="preferred", fetch="preferred", scope=scope))
    assert mode(world.at(CONFIG[host, scope])) == (0o600 if scope == "user" else 0o644)
    new = {p: Path(tmp_path, p) for p in world.kept() if p not in before}
    for name, path in new.items():
        if path.name.startswith("hostconf.md") or path.name == "AGENTS.md":
            assert mode(path) == 0o644, name
        if path.name.endswith("hostconf-owner.json") or "/records/" in name:
            assert mode(path) == 0o600, name
        if path.is_dir() and ("/hostconf" in name or "/.hostconf" in name or "/records" in name):
            assert mode(path) == 0o700, name
    world.removed(host)
    assert world.kept() == before, "folders made are gone again"


@pytest.mark.parametrize(("host", "scope"), CELLS)
def test_mode_of_an_old_file_stays(host: str, scope: str, tmp_path: Path) -> None:
    world = make(tmp_path, {CONFIG[host, scope]: "" if host == "codex" else "{}"})
    for bits in (0o640, 0o600, 0o664):
        world.at(CONFIG[host, scope]).chmod(bits)
        before = world.kept()
        world.applied(wish(host, scope=scope))
        assert mode(world.at(CONFIG[host, scope])) == bits
        world.removed(host)
        assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_folders_that_others_use_meanwhile_stay(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish(host, search="preferred", fetch="preferred", scope="user"))
    rules = next(Path(r["path"]) for r in world.host(host)["rules"] if r["block"])
    (rules.parent / "mine.txt").write_text("mine\n")
    world.removed(host)
    assert [p.name for p in rules.parent.iterdir()] == ["mine.txt"]


# ------------------------------------------------------------------ links


@pytest.mark.parametrize("host", HOSTS)
def test_links_are_followed_kept_and_told(host: str, tmp_path: Path) -> None:
    world = world_of("links", tmp_path)
    before = world.kept()
    done = world.applied(wish(host, search="preferred", fetch="off"))
    linked = [f for f in done.data["files"] if f["real"] != f["path"]]
    assert linked
    for file in linked:
        assert any(f"`{file['path']}` is a link" in n and file["real"] in n for n in done.data["notes"])
    now = world.kept()
    assert {p: e for p, e in now.items() if e[0] == "link"} == {p: e for p, e in before.items() if e[0] == "link"}
    world.removed(host)
    assert world.kept() == before


@pytest.mark.parametrize(
    "target", ["{home}/elsewhere", "../outside", "{project}/.git/config", "{home}/.ssh/config", "/etc/hosts"]
)
@pytest.mark.parametrize("host", HOSTS)
def test_a_checkout_cannot_have_files_written_elsewhere(host: str, target: str, tmp_path: Path) -> None:
    world = make(tmp_path, {"~/elsewhere": "{}", "~/.ssh/config": "{}", "{project}/.git/config": "{}"})
    (tmp_path / "outside").write_text("{}")
    name = CONFIG[host, "project"]
    link = world.link(name, target if host != "codex" or not target.startswith("..") else "../" + target)
    result = world.refused(wish(host, scope="project"), str(link))
    codes = {r["code"] for r in result.data["refusals"]}
    # a file that is no configuration is refused for that already
    assert codes <= {"leaves-project", "broken-file"} and codes


@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_a_folder_of_a_checkout_that_leads_elsewhere(host: str, tmp_path: Path) -> None:
    folder = {"claude": ".claude", "codex": ".codex", "opencode": ".opencode"}[host]
    world = make(tmp_path, {"~/victim/keep": "x"})
    world.link("{project}/" + folder, "{home}/victim")
    tiers = {"search": "preferred", "fetch": "preferred"}
    world.refused(wish(host, scope="project", **tiers), "leaves-project", str(world.home / "victim"))


@pytest.mark.parametrize("host", HOSTS)
def test_a_dangling_link_is_refused_with_where_it_leads(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    world.link(CONFIG[host, "user"], "{home}/gone/away.cfg")
    world.refused(wish(host), str(world.at(CONFIG[host, "user"])), str(world.home / "gone/away.cfg"))


@pytest.mark.parametrize("host", HOSTS)
def test_links_in_a_circle_are_refused(host: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    name = Path(CONFIG[host, "user"]).name
    world.link(CONFIG[host, "user"], name + "2")
    world.link(CONFIG[host, "user"] + "2", name)
    world.refused(wish(host), str(world.at(CONFIG[host, "user"])))


def test_two_names_of_one_file(tmp_path: Path) -> None:
    """The stronger layer is a link to the weaker one: what is planned through one name is seen through the other."""
    world = make(
        tmp_path,
        {"~/.config/opencode/opencode.json": '{ "mcp": { "tavily": { "type": "local", "command": ["tavily-mcp"] } } }'},
        links={"~/.config/opencode/opencode.jsonc": "opencode.json"},
    )
    before = world.kept()
    for search, fetch in [("forced", "forced"), ("off", "preferred"), ("preferred", "forced")]:
        world.applied(wish("opencode", search=search, fetch=fetch))
        ours, tools = OURS["opencode"][0], world.tools("opencode")
        assert (ours in tools) == (search != "off") and (len(tools) == 1) == (search == "forced"), tools
    world.removed("opencode")
    assert world.kept() == before


def test_a_rules_file_with_two_names(tmp_path: Path) -> None:
    """AGENTS.md is CLAUDE.md, as in many checkouts: one block, and the link stays."""
    world = world_of("links", tmp_path)
    before = world.kept()
    world.applied(wish("codex", search="preferred", scope="project"))
    assert world.read("{project}/CLAUDE.md").count("hostconf:begin") == 1
    assert os.readlink(world.at("{project}/AGENTS.md")) == "CLAUDE.md"
    world.removed("codex")
    assert world.kept() == before


# ------------------------------------------------------------------ other places


@pytest.mark.parametrize("host", HOSTS)
def test_homes_of_hosts_outside_of_home(host: str, tmp_path: Path) -> None:
    away = tmp_path / "away" / "deep"
    world = make(tmp_path)
    if host == "codex":
        away.mkdir(parents=True)  # the host itself wants it to be there
    variables = {
        "CODEX_HOME": str(away),
        "CLAUDE_CONFIG_DIR": str(away / "cl"),
        "XDG_CONFIG_HOME": str(away / "xdg"),
        "XDG_STATE_HOME": str(tmp_path / "state" / "of" / "mine"),
    }
    before = world.kept()
    done = world.applied(wish(host, search="preferred", fetch="preferred"), **variables)
    assert all(f["path"].startswith(str(away)) for f in done.data["files"])
    assert world.host(host, **variables)["installed"]
    assert not [p for p in world.kept() if p.startswith("home/")]
    world.removed(host, **variables)
    assert world.kept() == before


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_home_and_project_may_move(host: str, scope: str, tmp_path: Path) -> None:
    """A home that was copied to another place, and a project that was renamed, are uninstalled like any."""
    world = world_of("rival in user", tmp_path / "a")
    fresh = world_of("rival in user", tmp_path / "b")
    world.applied(wish(host, search="preferred", fetch="optional", scope=scope))
    for folder in ("home", "project"):
        (tmp_path / "a" / folder).rename(tmp_path / "a" / f"{folder}-moved")
    moved = World(tmp_path / "a/home-moved", tmp_path / "a/project-moved", world.root)
    assert moved.host(host)["installed"][0]["drift"] == []
    moved.applied(wish(host, search="off", fetch="preferred", scope=scope))
    moved.removed(host)
    old, new = str(world.project).encode(), str(fresh.project).encode()
    found = {
        p.replace("-moved", ""): c.replace(old, new) if isinstance(c, bytes) else c
        for p, (_, _, c) in moved.kept().items()
    }
    assert found == {p: c for p, (_, _, c) in fresh.kept().items()}


def test_a_home_inside_of_a_project_is_still_the_users(tmp_path: Path) -> None:
    """Records of the user count from home, also where a file lies in the project one happens to be in."""
    world = make(tmp_path)
    inside = world.project / "conf"
    variables = {"XDG_CONFIG_HOME": str(inside)}
    before = world.kept()
    world.applied(wish("opencode"), **variables)
    elsewhere = tmp_path / "other-project"
    elsewhere.mkdir()
    other = World(world.home, elsewhere, world.root, variables=variables)
    assert other.host("opencode")["installed"][0]["drift"] == []
    other.removed("opencode")
    elsewhere.rmdir()
    assert world.kept() == before


def test_a_home_below_a_folder_called_records(tmp_path: Path) -> None:
    world = make(tmp_path / "records", {"~/.claude.json": as_json({"mcpServers": {}})})
    before = world.kept()
    world.applied(wish("claude", search="forced", fetch="forced"))
    world.removed("claude")
    assert world.kept() == before
