"""Install records: what they hold and never hold, and what happens where one is newer, corrupt, missing or hostile."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.errors import HostconfError, RecordUnreadable
from hostconf.record import dump_record, load_record
from hostconf.uninstall import build_removal
from hostconf.workflow.gather import gather, open_house
from tests.plan.fields import SCHEMA, TRUST, world_of
from tests.plan.world import HOSTS, SCOPES, World, make, wish

NAME = "deepseek-web-retrieval"


def records(world: World, scope: str = "user") -> Path:
    return (world.home / ".local/state/hostconf" if scope == "user" else world.project / ".hostconf") / "records"


def record(world: World, host: str, scope: str = "user") -> Path:
    return records(world, scope) / f"{host}.{NAME}.json"


# ------------------------------------------------------------------ what is in them

_NUMBER = itertools.count(4096)


def secret() -> str:
    return f"CANARY-{next(_NUMBER):04x}-SECRET"


def _canaries() -> dict[str, str | bytes]:
    """Secrets in every corner that lies near to what hostconf edits."""
    c = secret
    return {
        "~/.claude.json": f'{{"oauth": "{c()}", "mcpServers": {{"notes": {{"command": "n", "env": {{"K": "{c()}"}}}},'
        f' "tavily": {{"command": "tavily-mcp", "args": ["--key", "{c()}"], "env": {{"A": "{c()}"}}}},\n'
        f' "last": {{"type": "http", "url": "https://h.example/{c()}"}}}}, "end": "{c()}"}}',
        "~/.claude/settings.json": f'{{"env": {{"T": "{c()}"}}, "permissions": {{"deny": ["Bash({c()})"],\n'
        f' "allow": ["x"], "mode": "{c()}"}}, "enableAllProjectMcpServers": true, "deniedMcpServers": '
        f'[{{"serverName": "{c()}"}}], "apiKeyHelper": "{c()}"}}\n',
        "~/.claude/rules/hostconf.md": f"{c()}\n",
        "~/.codex/config.toml": f'# {c()}\nweb_search = "live" # {c()}\nkey = "{c()}"\n\n[mcp_servers.tavily] # {c()}\n'
        f'command = "tavily-mcp" # {c()}\nenv = {{ K = "{c()}" }}\nenabled = true # {c()}\n# {c()}\n\n'
        f'[mcp_servers.notes]\ncommand = "n"\nargs = ["{c()}"]\n' + TRUST + f"# {c()}\n",
        "~/.codex/AGENTS.md": f"{c()}\n\nlast {c()}",
        "~/.config/opencode/opencode.jsonc": f'{{ // {c()}\n {SCHEMA}, "provider": {{"x": {{"key": "{c()}"}}}},\n'
        f' "permission": {{"webfetch": "allow", /* {c()} */ "*": "ask", // {c()}\n "bash": {{"{c()}": "deny"}}}},\n'
        f' "instructions": ["{c()}.md"], // {c()}\n "mcp": {{"tavily": {{"type": "local",\n'
        f' "command": ["tavily-mcp", "{c()}"], "enabled": true, /* {c()} */\n'
        f' "environment": {{"K": "{c()}"}}}}, // {c()}\n}} /* {c()} */ }}\n',
        "{project}/.mcp.json": f'{{"mcpServers": {{"tavily": {{"command": "tavily-mcp", "env": {{"K": "{c()}"}}}}}}}}',
        "{project}/.codex/config.toml": f'mcp_servers = {{ notes = {{ command = "n", env = {{ K = "{c()}" }} }} }}'
        f" # {c()}\n",
        "{project}/opencode.json": f'{{ "permission": "ask", /* {c()} */ "mcp": {{}} // {c()}\n}}',
        "{project}/AGENTS.md": f"{c()}\n",
    }


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("tiers", [("forced", "forced"), ("preferred", "off"), ("off", "preferred")])
def test_no_secret_of_others_is_in_a_record(host: str, scope: str, tiers: tuple[str, str], tmp_path: Path) -> None:
    world = make(tmp_path, _canaries())
    before = world.kept()
    result = world.apply(wish(host, search=tiers[0], fetch=tiers[1], scope=scope))
    if result.exit_code == 3:
        assert (host, scope, tiers[0]) == ("codex", "project", "forced")
        return
    assert result.exit_code == 0, result.errors
    ours = {p: e[2] for p, e in world.kept().items() if "hostconf/" in p or p.endswith("-owner.json")}
    assert any("records/" in p for p in ours)
    for path, content in ours.items():
        assert not isinstance(content, bytes) or b"CANARY" not in content, f"{path}: {content!r}"
    said = json.dumps([result.data["notes"], result.data["blast_radius"], result.messages, result.errors])
    assert "CANARY" not in said, said
    world.removed(host)
    assert world.kept() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_record_does_not_grow_with_the_file(host: str, tmp_path: Path) -> None:
    many = {f"server{n}": {"command": "n", "env": {"K": f"value-{n}"}} for n in range(120)}
    local = {n: {"type": "local", "command": ["n"]} for n in many}
    world = make(
        tmp_path,
        {
            "~/.claude.json": json.dumps({"mcpServers": many}, indent=2),
            "~/.codex/config.toml": "".join(f'[mcp_servers.{n}]\ncommand = "n"\n' for n in many),
            "~/.codex/AGENTS.md": "words " * 5000,
            "~/.config/opencode/opencode.json": json.dumps({"mcp": local, "permission": {"*": "ask"}}),
        },
    )
    before = world.kept()
    world.applied(wish(host, search="preferred", fetch="off"))
    assert sum(p.stat().st_size for p in records(world).iterdir()) < 6000
    world.removed(host)
    assert world.kept() == before


def test_a_literal_secret_stands_in_the_config_alone(tmp_path: Path) -> None:
    value = secret()
    world = make(tmp_path)
    for host in HOSTS:
        result = world.applied(wish(host, env=(("DEEPSEEK_API_KEY", value),)))
        assert value not in json.dumps(result.data) + json.dumps(result.messages)
        assert value not in json.dumps(workflow.status(world.environment(), [host]).data)
    holding = {p for p, e in world.kept().items() if isinstance(e[2], bytes) and value.encode() in e[2]}
    assert holding == {
        "home/.claude.json",
        "home/.codex/config.toml",
        "home/.config/opencode/opencode.jsonc",
    }


def test_a_reference_with_a_password_is_recorded_without(tmp_path: Path) -> None:
    value = secret()
    world = make(tmp_path)
    before = world.kept()
    package = f"https://user:{value}@registry.example/pkg.tgz"
    result = world.applied(wish("codex", package=package))
    assert value not in json.dumps(result.data)
    assert value not in json.dumps(workflow.status(world.environment(), ["codex"]).data)
    holding = [p for p, e in world.kept().items() if isinstance(e[2], bytes) and value.encode() in e[2]]
    assert holding == ["home/.codex/config.toml"]
    world.removed("codex")
    assert world.kept() == before


def test_a_date_in_what_was_put_aside_comes_back(tmp_path: Path) -> None:
    text = '[mcp_servers.deepseek]\ncommand = "mine"\nsince = 2026-01-02T03:04:05Z\nday = 2026-01-02\nat = 03:04:05\n'
    world = make(tmp_path, {"~/.codex/config.toml": text})
    world.applied(wish("codex", replace=True))
    world.write("~/.codex/config.toml", "x = 1\n" + world.read("~/.codex/config.toml"))
    world.removed("codex")
    import tomllib

    assert world.toml("~/.codex/config.toml") == {"x": 1, **tomllib.loads(text)}


# ------------------------------------------------------------------ newer, corrupt, missing


def spoilt(kind: str, path: Path) -> None:
    data = json.loads(path.read_text())
    match kind:
        case "newer":
            path.write_text(json.dumps({**data, "format": 2, "news": True}))
        case "corrupt":
            path.write_text(path.read_text()[:-40])
        case "empty":
            path.write_text("")
        case "other kind":
            path.write_text("[1, 2]")
        case "not of this place":
            path.write_text(json.dumps({**data, "host": "claude"}))
        case "a folder":
            path.unlink()
            path.mkdir()
        case "deep":
            path.write_text("[" * 100000)
        case "not UTF-8":
            path.write_bytes(b"\xff\xfe{}")


SPOILT = ("newer", "corrupt", "empty", "other kind", "not of this place", "a folder", "deep", "not UTF-8")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kind", SPOILT)
def test_nothing_is_decided_on_a_record_that_cannot_be_read(kind: str, scope: str, tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    world.applied(wish("codex", search="preferred", scope=scope))
    path = record(world, "codex", scope)
    spoilt(kind, path)
    before = world.tree()
    verbs: tuple[Callable[[], object], ...] = (
        lambda: world.plan(wish("codex", scope=scope)),
        lambda: world.apply(wish("codex", scope=scope)),
        lambda: world.uninstall("codex"),
    )
    for verb in verbs:
        with pytest.raises(RecordUnreadable) as failure:
            verb()
        error = failure.value
        assert (error.exit_code, error.code, error.path) == (1, "record-unreadable", str(path))
        assert str(path) in error.message
        assert error.hint or kind == "a folder"
        assert kind != "newer" or "newer" in error.message
        assert world.tree() == before
    for looking in (workflow.status, workflow.conflicts):
        found = looking(world.environment(), ["codex"])
        assert found.exit_code == 0 and [e["code"] for e in found.errors] == ["record-unreadable"]
    doctor = workflow.doctor(world.environment())
    assert doctor.exit_code == 1
    assert [r["path"] for r in doctor.data["checks"] if r["status"] == "fail"] == [str(path)]
    assert world.tree() == before


def test_a_missing_record_is_no_install(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    world.applied(wish("codex", search="preferred"))
    record(world, "codex").unlink()
    before = world.tree()
    done = world.removed("codex")
    assert done.messages == ("nothing of hostconf is installed there",)
    assert world.tree() == before


def test_a_missing_vault_is_told_and_nothing_is_decided(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.codex/config.toml": '[mcp_servers.deepseek]\ncommand = "mine"\n'})
    world.applied(wish("codex", replace=True))
    vault = record(world, "codex").with_suffix(".vault")
    vault.rename(vault.with_suffix(".away"))
    before = world.tree()
    with pytest.raises(RecordUnreadable) as failure:
        world.uninstall("codex")
    assert failure.value.path == str(vault) and "put it back" in failure.value.hint
    assert world.tree() == before
    vault.with_suffix(".away").rename(vault)
    world.removed("codex")
    assert world.read("~/.codex/config.toml") == '[mcp_servers.deepseek]\ncommand = "mine"\n'


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": 1}', '{"format": 2, "claims": []}', '{"format": 1, "claims": [3]}']
)
def test_a_claim_that_cannot_be_read_is_somebody_elses(text: str, tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish("codex"))
    world.write("~/.codex/config.toml.hostconf-owner.json", text)
    before = world.tree()
    verbs: tuple[Callable[[], object], ...] = (
        lambda: world.plan(wish("codex", search="forced")),
        lambda: world.uninstall("codex"),
    )
    for verb in verbs:
        with pytest.raises(RecordUnreadable, match="owner claim") as failure:
            verb()
        assert failure.value.exit_code == 1
        assert world.tree() == before


def test_a_record_of_another_host_is_in_nobodys_way(tmp_path: Path) -> None:
    world = world_of("plain", tmp_path)
    world.applied(wish("codex", "opencode"))
    spoilt("corrupt", record(world, "opencode"))
    world.applied(wish("codex", search="forced"))
    world.removed("codex")
    with pytest.raises(RecordUnreadable):
        world.uninstall()


# ------------------------------------------------------------------ hostile


def nodes(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from nodes(item, (*at, key))


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    whole = copy.deepcopy(value)
    parent = whole
    for key in at[:-1]:
        parent = parent[key]
    if new is ...:
        del parent[at[-1]]
    else:
        parent[at[-1]] = new
    return whole


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**12,
    1.5,
    "",
    "x",
    "/etc/passwd",
    "{home}/../x",
    [],
    [[]],
    {},
    {"a": 1},
    ...,
)


@pytest.mark.parametrize("host", HOSTS)
def test_a_record_with_anything_in_it_is_refused_or_harmless(host: str, tmp_path: Path) -> None:
    """Each value of a record replaced by each kind of junk: refused as unreadable, or planned without a fault."""
    world = world_of("rival in user", tmp_path)
    world.write(
        {
            "claude": "~/.claude.json",
            "codex": "~/.codex/config.toml",
            "opencode": "~/.config/opencode/opencode.json",
        }[host],
        {
            "claude": '{"mcpServers": {"deepseek": {"command": "mine"}}}',
            "codex": '[mcp_servers.deepseek]\ncommand = "mine"\n',
            "opencode": '{"permission": "allow", "mcp": {"deepseek": {"type": "local", "command": ["mine"]}}}',
        }[host],
    )
    world.applied(wish(host, search="preferred", fetch="off", replace=True))
    environment = world.environment()
    house = open_house(environment)
    found = gather(house, house.hosts)
    hosts = {h.id: h for h in house.hosts}
    path = str(record(world, host))
    whole = json.loads(Path(path).read_bytes())
    vault = json.loads(record(world, host).with_suffix(".vault").read_bytes())
    tried = read = 0
    for which, value in (("record", whole), ("vault", vault)):
        for at, junk in itertools.product(nodes(value), JUNK):
            if junk is ... and not at:
                continue
            data = json.dumps(replaced(value, at, junk)).encode()
            tried += 1
            try:
                if which == "record":
                    loaded = load_record(data, json.dumps(vault).encode(), path, environment, "user")
                else:
                    loaded = load_record(json.dumps(whole).encode(), data, path, environment, "user")
            except RecordUnreadable:
                continue
            read += 1
            dump_record(loaded, environment)
            if read % 7 == 0:
                known = found.known._replace(records={path: loaded})
                build_removal([loaded], found.workspace, hosts, house.catalogue, known)
    assert tried > 1000 and read > 50


HOSTILE: dict[str, dict[str, Any]] = {
    "a file of the user": {"path": "{home}/.claude/settings.json"},
    "by its full path": {"path": "@home@/.claude/settings.json"},
    "upwards": {"path": "{project}/../home/.claude/settings.json"},
    "upwards from a folder": {"path": "{project}/a/../../home/.claude/settings.json"},
    "its folders": {"folders": ["@home@/.claude"]},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_record_that_a_checkout_brings_speaks_for_the_project_alone(case: str, tmp_path: Path) -> None:
    """A repository could otherwise have the user's own deny rules taken out, as if hostconf had written them."""
    settings = '{"permissions": {"deny": ["Bash(rm:*)"]}}'
    world = make(tmp_path, {"~/.claude/settings.json": settings, "~/.claude/mine": ""})
    world.applied(wish("claude", scope="project"))
    path = record(world, "claude", "project")
    data = json.loads(path.read_text())
    row = {**data["files"][0], "format": "json", "existed": True, "after": "0" * 64, "steps": []}
    row["operations"] = [{"kind": "append", "at": ["permissions", "deny"], "items": ["Bash(rm:*)"], "why": ""}]
    row |= {k: json.loads(json.dumps(v).replace("@home@", str(world.home))) for k, v in HOSTILE[case].items()}
    path.write_text(json.dumps({**data, "files": [row]}))
    before = world.tree()
    verbs: tuple[Callable[[], object], ...] = (
        lambda: world.uninstall("claude"),
        lambda: world.apply(wish("claude", scope="user")),
        lambda: world.apply(wish("claude", scope="project")),
    )
    for verb in verbs:
        with pytest.raises(HostconfError) as failure:
            verb()
        assert failure.value.code == "record-unreadable"
        assert world.tree() == before
    assert world.read("~/.claude/settings.json") == settings


def test_a_record_that_says_it_is_the_users_is_not_taken_from_a_checkout(tmp_path: Path) -> None:
    world = make(tmp_path)
    world.applied(wish("claude"))
    data = record(world, "claude").read_text()
    world.removed("claude")
    path = record(world, "claude", "project")
    path.parent.mkdir(parents=True)
    path.write_text(data)
    with pytest.raises(RecordUnreadable, match="not of this place"):
        world.uninstall("claude")


def test_records_name_no_machine(tmp_path: Path) -> None:
    """Paths count from home or project, so that both may move."""
    world = world_of("rival in user", tmp_path)
    world.applied(wish(*HOSTS, search="preferred"))
    world.applied(wish(*HOSTS, search="preferred", scope="project"))
    for scope in SCOPES:
        for path in records(world, scope).glob("*.json"):
            # the items that we append stand in the host's file as they stand here
            text = re.sub(r'"items": \[[^]]*\]', "", path.read_text())
            assert str(tmp_path) not in text, path
