"""What is shown before it is done: `plan | patch` writes what `apply` writes; findings, notes and blast radius."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.plan.fields import FIELDS, RIVAL, TRUST, as_json, refusal_expected, world_of
from tests.plan.shell import run
from tests.plan.world import HOSTS, SCOPES, World, make, wish

needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="there is no program `patch` here")


def patched(world: World, text: str) -> None:
    done = subprocess.run(
        ["patch", "--binary", "--follow-symlinks", "-s", "-p1", "-d", "/"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode() + text
    assert not list(world.home.parent.rglob("*.rej")) and not list(world.home.parent.rglob("*.orig"))


def without_secrets(field: str, place: Path) -> World:
    """The field, the secret of the other server taken out: it would be masked."""
    world = world_of(field, place)
    for path in (world.home / ".codex/config.toml", world.home / ".claude.json"):
        if path.is_file():
            data = re.sub(rb"env = \{ TAVILY_API_KEY.*?\}\r?\n", b"", path.read_bytes())
            path.write_bytes(re.sub(rb',\s*"env": \{\s*"TAVILY[^}]*\}', b"", data))
    return world


def words(host: str, search: str, fetch: str, scope: str, *more: str) -> list[str]:
    tiers = ["--tier", f"web_search={search}", "--tier", f"web_fetch={fetch}"]
    return ["deepseek-web-retrieval", "--host", host, "--scope", scope, *tiers, "--env", "DEEPSEEK_API_KEY", *more]


PATCHED = [
    "empty",
    "plain",
    "CRLF, tabs, BOM, no final newline",
    "TOML inline",
    "TOML dotted",
    "one word for all tools",
    "three files of one scope",
    "links",
    "rules that hide one another",
    "blank",
]


@needs_patch
@pytest.mark.parametrize(
    ("field", "host", "scope"),
    [(f, h, s) for f in PATCHED for h in FIELDS[f].hosts for s in SCOPES],
)
def test_plan_into_patch_writes_what_apply_writes(field: str, host: str, scope: str, tmp_path: Path) -> None:
    pairs = [("forced", "forced"), ("preferred", "off")]
    for number, (search, fetch) in enumerate(pairs[PATCHED.index(field) % 2 :][:1]):
        if refusal_expected(field, host, scope, search, fetch):
            continue
        one, two = (without_secrets(field, tmp_path / f"{number}{n}") for n in "ab")
        shown = run(one, "plan", *words(host, search, fetch, scope))
        assert shown.code == 0 and "***" not in shown.out, "nothing here is a secret"
        patched(one, shown.out)
        two.applied(wish(host, search=search, fetch=fetch, scope=scope))
        assert made_equal(one) == made_equal(two)
        # and back again
        back = run(two, "plan", *words(host, "optional", "optional", scope))
        assert back.code == 0
        patched(two, back.out)
        three = without_secrets(field, tmp_path / f"{number}c")
        three.applied(wish(host, search=search, fetch=fetch, scope=scope))
        three.applied(wish(host, scope=scope))
        assert made_equal(two) == made_equal(three)


def made_equal(world: World) -> dict[str, tuple[str, bytes]]:
    """The files of the user, the place of the world taken out of them; not ours, no folders, no empty ones."""
    found = {}
    for path, (kind, _, content) in world.kept().items():
        data = content if isinstance(content, bytes) else content.encode()
        if kind != "folder" and data and "hostconf/" not in path and not path.endswith("-owner.json"):
            found[path] = (kind, data.replace(str(world.home.parent).encode(), b""))
    return found


@needs_patch
def test_a_path_with_blanks(tmp_path: Path) -> None:
    place = tmp_path / "a home with blanks"
    world = make(place, {"~/.codex/config.toml": 'x = "y"\n'})
    shown = run(world, "plan", *words("codex", "forced", "off", "user"))
    patched(world, shown.out)
    assert world.toml("~/.codex/config.toml")["web_search"] == "disabled"


@pytest.mark.parametrize("host", HOSTS)
def test_a_masked_diff_is_said_to_be_masked(host: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    shown = run(world, "plan", *words(host, "forced", "forced", "user"))
    data = run(world, "plan", *words(host, "forced", "forced", "user"), "--json").envelope()["data"]
    masked = [f["path"] for f in data["files"] if f["masked"]]
    for path in masked:
        assert sum(path in n and "masked" in n for n in data["notes"]) == 1
    assert "CANARY" not in shown.out + json.dumps(data)
    literal = run(world, "plan", *words(host, "forced", "forced", "user", "--env", "K=CANARY-7171-SECRET"), "--json")
    files = literal.envelope()["data"]["files"]
    assert any(f["masked"] for f in files) and "CANARY" not in literal.out


# ------------------------------------------------------------------ blast radius and notes


def blast(world: World, host: str, search: str, fetch: str, scope: str = "user") -> list[str]:
    said: list[str] = world.plan(wish(host, search=search, fetch=fetch, scope=scope)).data["blast_radius"]
    assert len(said) == len(set(said)), "nothing is said twice"
    return said


@pytest.mark.parametrize("host", HOSTS)
def test_optional_and_preferred_change_nothing_else(host: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    for search, fetch in itertools.product(("optional", "preferred"), ("off", "optional", "preferred")):
        assert blast(world, host, search, fetch) == []


@pytest.mark.parametrize("scope", SCOPES)
def test_what_claude_loses(scope: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    wide = "in every project of this user" if scope == "user" else "for everybody who works in this project"
    said = blast(world, "claude", "forced", "optional", scope)
    assert f"Claude Code loses its own `WebSearch` {wide}" in said
    assert not any("WebFetch" in s for s in said)
    rival = [s for s in said if "`tavily`" in s]
    assert len(rival) == 1 and wide in rival[0] and str(world.at("~/.claude.json")) in rival[0]
    assert sum("single session" in s for s in said) == 1
    both = blast(world, "claude", "forced", "forced", scope)
    assert f"Claude Code loses its own `WebFetch` {wide}" in both
    assert sum("`tavily`" in s for s in both) == 1, "one server, one sentence"


def test_a_choice_that_is_overridden_is_said(tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    said = blast(world, "codex", "forced", "forced")
    assert f"your choice `web_search = live` in `{world.at('~/.codex/config.toml')}`:1" in " ".join(said)
    assert sum("web_search = live" in s for s in said) == 1
    said = blast(world, "opencode", "forced", "forced")
    assert any("`webfetch: allow`" in s and "comes back" in s for s in said)
    assert not any("websearch: " in s for s in said), "nothing was chosen for it"


def test_a_server_is_named_with_its_line_of_before(tmp_path: Path) -> None:
    """The switch of the built-in search comes above it and moves it down."""
    file = "~/.codex/config.toml"
    world = make(tmp_path, {file: '# mine\n[mcp_servers.tavily]\ncommand = "npx"\nargs = ["-y", "tavily-mcp"]\n'})
    said = [s for s in blast(world, "codex", "forced", "forced") if "`tavily`" in s]
    assert len(said) == 1 and f"(`{world.at(file)}`:2)" in said[0], said


def test_an_empty_plan_has_no_blast_radius(tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    request = wish("codex", search="forced", fetch="forced")
    world.applied(request)
    again = world.plan(request)
    assert again.data["empty"] and again.data["blast_radius"] == []
    assert again.messages == ("nothing to do: it is so already",)
    assert not any("start it anew" in n for n in again.data["notes"])


def test_notes_are_said_once(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    notes = world.plan(wish(*HOSTS, search="preferred", fetch="preferred", scope="project")).data["notes"]
    assert len(notes) == len(set(notes))
    for host in ("Claude Code", "Codex CLI", "OpenCode"):
        assert sum(f"{host} reads its files at start" in n for n in notes) == 1
    assert sum("AGENTS.md` is made new" in n for n in notes) == 1


def test_a_variable_that_the_server_needs_and_nobody_named(tmp_path: Path) -> None:
    world = make(tmp_path)
    notes = world.plan(wish("codex", env=())).data["notes"]
    assert sum("--env DEEPSEEK_API_KEY" in n for n in notes) == 1
    assert not any("--env" in n for n in world.plan(wish("codex")).data["notes"])
    assert not any("--env" in n for n in world.plan(wish("claude", env=())).data["notes"]), "children inherit all there"


# ------------------------------------------------------------------ findings


def findings(world: World, host: str, search: str, fetch: str) -> dict[str, list[bool]]:
    rows = world.plan(wish(host, search=search, fetch=fetch)).data["conflicts"]
    keys = [(c["kind"], c["path"], c["text"]) for c in rows]
    assert len(keys) == len(set(keys)), "no finding twice"
    found: dict[str, list[bool]] = {}
    for row in rows:
        found.setdefault(row["kind"], []).append(row["resolved"])
    return found


@pytest.mark.parametrize("host", HOSTS)
def test_findings_that_the_plan_settles_are_marked(host: str, tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    assert findings(world, host, "forced", "forced")["capable-registration"] == [True]
    assert findings(world, host, "preferred", "optional")["capable-registration"] == [False]
    world.applied(wish(host, search="forced", fetch="forced"))
    assert "capable-registration" not in findings(world, host, "forced", "forced")


def test_an_explicit_choice_is_settled_by_forced_alone(tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    assert findings(world, "codex", "forced", "off")["explicit-choice"] == [True]
    assert findings(world, "codex", "optional", "off")["explicit-choice"] == [False]


def test_findings_that_stay_are_not_told_twice_though_lines_move(tmp_path: Path) -> None:
    """An unapproved server above which the plan inserts lines, and a variable that nobody sets."""
    world = make(
        tmp_path,
        {
            "{project}/.mcp.json": as_json({"mcpServers": {"notes": {"command": "n", "env": {"A": "${NOBODY}"}}}}),
            "~/.codex/config.toml": 'web_search = "live"\n[mcp_servers.n]\ncommand = "n"\nenv_vars = ["NOBODY"]\n'
            + TRUST,
        },
    )
    found = findings(world, "claude", "forced", "forced")
    assert found["not-trusted"] == [False] and found["unresolved-secret"] == [False]
    found = findings(world, "codex", "forced", "forced")
    assert found["unresolved-secret"] == [False]


def test_a_list_that_holds_something_is_merged_and_said(tmp_path: Path) -> None:
    world = world_of("rival in user", tmp_path)
    assert findings(world, "claude", "forced", "optional")["array-must-merge"] == [False]
    assert "array-must-merge" not in findings(make(tmp_path / "b"), "claude", "forced", "optional")


def test_a_variable_that_the_plan_brings_and_nobody_sets(tmp_path: Path) -> None:
    world = make(tmp_path)
    rows = world.plan(wish("claude"), DEEPSEEK_API_KEY="").data["conflicts"]
    assert rows == world.plan(wish("claude")).data["conflicts"] == [], "empty is set"
    bare = World(*world[:3])
    environment = bare.environment()
    variables = {k: v for k, v in environment.variables.items() if k != "DEEPSEEK_API_KEY"}
    from hostconf import workflow

    found = workflow.plan(environment._replace(variables=variables), wish("claude")).data["conflicts"]
    assert [c["kind"] for c in found] == ["unresolved-secret"]


def test_what_is_refused_is_a_finding_too(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.claude.json": as_json({"mcpServers": {"deepseek": RIVAL}})})
    rows = world.refused(wish("claude")).data["conflicts"]
    assert [c["kind"] for c in rows if c["kind"] == "name-taken"] == ["name-taken"]
