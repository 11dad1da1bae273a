"""The host files: read whole and strictly, a typo never passes for a fact, and a new host needs no Python."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostconf.errors import DataFileError
from hostconf.hosts import schema
from hostconf.hosts.load import host_named, hosts_folder, load_hosts, nearest_host
from hostconf.hosts.parse import EVIDENCE, WORDS, parse_host
from hostconf.hosts.schema import Host
from tests.hosts.field import known_hosts, look, npx

FOLDER = Path(hosts_folder())
FILES = sorted(FOLDER.glob("*.toml"))
HOSTS = [pytest.param(h, id=h.id) for h in known_hosts()]


def raw(name: str) -> dict[str, Any]:
    """The table of a host file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


# ------------------------------------------------------------------ what is refused


def refused(data: dict[str, Any], file: str = "codex.toml") -> str:
    """What is said of a table that is no host."""
    with pytest.raises(DataFileError) as caught:
        parse_host(data, file)
    assert caught.value.path == file
    assert file in caught.value.message
    return f"{caught.value.message} {caught.value.hint}"


def tables(value: Any, record: str = "Host", where: tuple[Any, ...] = ()) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every table of a host file that is a record, with its kind and the way to it."""
    yield record, where
    hints = {
        k.rstrip("_"): getattr(h, "__forward_arg__", h) for k, h in getattr(schema, record).__annotations__.items()
    }
    for key, inner in value.items():
        kind = re.sub(r"^tuple\[(\w+), \.\.\.\]$|( \| None)$", r"\1", hints[key])
        if not hasattr(schema, kind) or kind in ("Any", "Mapping"):
            continue
        for number, item in enumerate(inner if isinstance(inner, list) else [inner]):
            yield from tables(item, kind, (*where, key, *([number] if isinstance(inner, list) else [])))


def at(data: Any, where: tuple[Any, ...]) -> Any:
    """What stands there."""
    for key in where:
        data = data[key]
    return data


@pytest.mark.parametrize("name", [f.stem for f in FILES])
def test_an_unknown_key_is_refused_anywhere_and_the_nearest_is_named(name: str) -> None:
    whole = raw(name)
    records = list(tables(whole))
    assert len(records) > 30
    for record, where in records:
        data = copy.deepcopy(whole)
        key = next(iter(at(data, where)))
        at(data, where)[f"{key}x"] = "y"
        said = refused(data, f"{name}.toml")
        assert f"{key}x`" in said, (record, where)
        assert f"nearest known one is `{key}`" in said, (record, where, said)


@pytest.mark.parametrize("name", [f.stem for f in FILES])
def test_a_wrong_type_is_refused_anywhere(name: str) -> None:
    whole = raw(name)
    tried: set[tuple[str, str]] = set()
    for record, where in list(tables(whole)):
        for key, value in at(whole, where).items():
            if (record, key) in tried or (record, key) == ("Switch", "off"):
                continue  # a switch may be off by any value
            tried.add((record, key))
            wrong: list[Any] = [7.5] if not isinstance(value, bool) else ["yes"]
            if isinstance(value, list):
                wrong.append("text")
            for bad in wrong:
                data = copy.deepcopy(whole)
                at(data, where)[key] = bad
                said = refused(data, f"{name}.toml")
                assert "has to be" in said, (where, key, said)
    assert len(tried) > 80


@pytest.mark.parametrize("name", [f.stem for f in FILES])
def test_a_missing_key_is_refused_anywhere(name: str) -> None:
    whole = raw(name)
    tried: set[tuple[str, str]] = set()
    for record, where in list(tables(whole)):
        cls = getattr(schema, record)
        for field in cls._fields:
            key = field.rstrip("_")
            if field in cls._field_defaults or (record, key) in tried or key not in at(whole, where):
                continue
            tried.add((record, key))
            data = copy.deepcopy(whole)
            del at(data, where)[key]
            assert f"lacks `{key}`" in refused(data, f"{name}.toml"), (where, key)
    assert len(tried) > 40


def changed(name: str, *where: Any, value: Any) -> dict[str, Any]:
    """The table of a host with one value changed."""
    data = raw(name)
    at(data, where[:-1])[where[-1]] = value
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (changed("codex", "tools", 0, "off", value=["web-serch"]), "no switch `web-serch`; the nearest is `web-se"),
        (changed("codex", "exclusion", value=["server-enable"]), "the nearest is `server-enabled`"),
        (changed("codex", "switches", 0, "group", value="confg"), "no group `confg`; the nearest is `config`"),
        (changed("codex", "dead", 0, "group", value="x"), "no group `x`"),
        (changed("codex", "plugins", "group", value="x"), "no group `x`"),
        (changed("codex", "trust", "checks", 0, "layers", value=["usr"]), "no layer `usr`; the nearest is `user`"),
        (changed("codex", "switches", 0, "layers", value=["usr"]), "no layer `usr`"),
        (changed("codex", "policies", 0, "switch", value="x"), "no switch `x`"),
        (changed("codex", "forced", "web_search", value="excluson"), "no mechanism `excluson`; the nearest is `excl"),
        (changed("codex", "tools", 0, "capability", value="web_serch"), "the nearest is `web_search`"),
        (changed("codex", "types", 0, "type", value="tabel"), "no type `tabel`; the nearest is `table`"),
        (changed("codex", "registrations", "shape", value={"command": "sting"}), "the nearest is `string`"),
        (changed("codex", "switches", 1, "forms", value={"sever": ["{name}"]}), "no subject `sever`; the nearest is"),
        (changed("codex", "blast", value={"force": []}), "no tier `force`; the nearest is `forced`"),
        (changed("codex", "layers", 0, "elsewhere", value={"mac": "/x"}), "no platform `mac`; the nearest is `macos`"),
        (changed("codex", "switches", 0, "kind", value="vlue"), "has to be one of value, list, ordered, allow"),
        (changed("codex", "layers", 0, "format", value="ini"), "has to be one of json, jsonc, toml, yaml"),
        (changed("codex", "layers", 0, "scope", value="usr"), "the nearest is `user`"),
        (changed("codex", "evidence", value="guess"), "has to be one of run, read, doc"),
        (changed("codex", "layers", 0, "verified", value="guess"), "has to be one of run, read, doc, unsure"),
        (changed("codex", "id", value="codexx"), "has to be named `codexx.toml`"),
        (changed("codex", "layers", 1, "id", value="user"), "two layers `user`"),
        (changed("codex", "layers", 0, "path", value=""), "either a `path` or a `variable`"),
        (changed("codex", "registrations", "tools_off", value=""), "has no `tools_off`"),
        (changed("codex", "dead", 0, "matches", value="("), "no regular expression"),
    ],
)  # fmt: skip
def test_a_word_or_an_id_that_nothing_defines_is_refused(data: dict[str, Any], said: str) -> None:
    assert said in refused(data)


def test_a_switch_needs_a_form_for_what_it_is_to_take_out() -> None:
    data = raw("claude")
    del data["switches"][0]["forms"]["tool"]
    assert "switch `deny` is to take a tool out, and has no form for it" in refused(data, "claude.toml")


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("id = \n", encoding="utf-8")
    with pytest.raises(DataFileError, match=r"x\.toml"):
        load_hosts(str(tmp_path))


# ------------------------------------------------------------------ what every file has


def test_every_file_is_read() -> None:
    assert [h.id for h in known_hosts()] == [f.stem for f in FILES] == sorted(f.stem for f in FILES)
    assert {"claude", "codex", "opencode"} <= {h.id for h in known_hosts()}


def facts(host: Host) -> Iterator[Any]:
    """Every record of a host that says how it is known."""
    stack: list[Any] = [host]
    while stack:
        item = stack.pop()
        if hasattr(item, "verified"):
            yield item
        if isinstance(item, tuple):
            stack += list(item)


@pytest.mark.parametrize("host", HOSTS)
def test_every_fact_has_its_evidence(host: Host) -> None:
    found = list(facts(host))
    assert len(found) > 30
    assert {f.verified for f in found} <= set(EVIDENCE)
    assert host.source
    assert re.fullmatch(r"\d+(\.\d+)+.*", host.checked_version)
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", host.checked_on)


def test_evidence_is_that_of_the_file_where_nothing_else_is_said() -> None:
    """A host known from its documents alone never claims to have been run."""
    data = raw("codex")
    data["evidence"] = "doc"
    data["layers"][0]["verified"] = "read"
    host = parse_host(data, "codex.toml")
    assert {f.verified for f in facts(host)} == {"doc", "read"}
    assert host.layers[0].verified == "read"


@pytest.mark.parametrize("host", HOSTS)
def test_the_file_is_in_order(host: Host) -> None:
    """Ids once, layers of a group from the strongest to the weakest, words in small letters, aliases of no other."""
    for ids in ([x.id for x in host.layers], [x.id for x in host.switches], [x.id for x in host.policies]):
        assert len(ids) == len(set(ids))
        assert all(re.fullmatch(r"[a-z0-9-]+", i) for i in ids)
    for group in {x.group for x in host.layers}:
        rows = [(-x.rank, -x.within) for x in host.layers if x.group == group]
        managed = [x.rank for x in host.layers if x.group == group and x.scope == "managed"]
        users = [x.rank for x in host.layers if x.group == group and x.scope == "user"]
        assert rows == sorted(rows) or max(managed, default=0) > max(users, default=0)
    names = [host.id, *host.aliases]
    others = {n for h in known_hosts() if h.id != host.id for n in (h.id, *h.aliases)}
    assert not others & set(names)
    assert all(host_named(known_hosts(), n.upper()) is host for n in names)


@pytest.mark.parametrize("host", HOSTS)
def test_the_file_is_complete(host: Host) -> None:
    """Each capability has a mechanism, each tool a switch, each scope a layer and rules to write."""
    assert set(host.forced) == {"web_search", "web_fetch"}
    assert {c for t in host.tools for c in (t.capability, *t.also)} <= set(host.forced)
    for tool in host.tools:
        if host.forced[tool.capability] == "exclusion":
            assert tool.off
            assert host.switch(tool.off[0]).strength == "removed"
    writable = {x.scope for x in host.layers if x.write and x.create and x.group == host.registrations.group}
    assert {"user", "project"} <= writable
    assert {"user", "project"} <= {r.scope for r in host.rules if r.write}
    assert host.verify
    assert host.commands
    assert all(layer.broken for layer in host.layers)
    sentences = [*(s.text for s in host.switches), *(p.text for p in host.policies), *(d.text for d in host.dead)]
    sentences += [f.text for f in host.traps] + [s for rows in host.blast.values() for s in rows]
    assert all(s and not s.endswith(".") for s in sentences)


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_read_only_is_never_the_one_to_write(host: Host) -> None:
    """The first of several switches is written: it must not stand in an administrator's file alone."""
    managed = {x.id for x in host.layers if x.scope == "managed"}
    written = [host.switch(i) for i in (*(t.off[0] for t in host.tools if t.off), *host.exclusion[:1])]
    for switch in written:
        layers = {x.id for x in host.layers if x.group == switch.group and (not switch.layers or x.id in switch.layers)}
        assert layers - managed


def test_the_words_of_the_schema_are_those_of_its_records() -> None:
    for record, key in WORDS:
        assert key in {f.rstrip("_") for f in getattr(schema, record)._fields}


def test_the_guide_names_every_key() -> None:
    """`hosts/README.md` is where the refusal of an unknown key sends people."""
    guide = (FOLDER / "README.md").read_text(encoding="utf-8")
    for record in (
        "Host",
        "Layer",
        "Registrations",
        "Switch",
        "HostTool",
        "Policy",
        "Rules",
        "Dead",
        "Typed",
        "Plugins",
    ):
        for field in getattr(schema, record)._fields:
            assert f"`{field.rstrip('_')}`" in guide, (record, field)


def test_the_nearest_host_is_named() -> None:
    assert nearest_host(known_hosts(), "claud") == "claude"
    assert host_named(known_hosts(), "claud") is None


# ------------------------------------------------------------------ a new host

INVENTED = """
id = "sammy"
name = "Sammy"
checked_version = "1.0"
checked_on = "2026-11-30"
evidence = "doc"
commands = ["sammy"]
config_home = "{home}/.sammy"
config_home_variable = "SAMMY_HOME"
tool_id = "{server}/{tool}"
keep = "a-z_"
exclusion = ["off"]
own_off = ["entry"]
forced = { web_search = "exclusion", web_fetch = "de-facto" }

[[layers]]
id = "project"
scope = "project"
rank = 30
group = "config"
format = "jsonc"
path = "{folder}/.sammy.json"
trust = true

[[layers]]
id = "user"
scope = "user"
rank = 20
group = "config"
format = "jsonc"
path = "{config_home}/sammy.json"

[registrations]
group = "config"
at = [["tools", "servers"]]
command = "run"
url = "at"
environment = ["vars"]
tools_off = "without"
merge = "deep"

[[switches]]
id = "off"
kind = "value"
group = "config"
at = ["{entry}", "on"]
off = false
text = "not started"

[switches.forms]
server = ["{name}"]

[[switches]]
id = "search"
kind = "allow"
group = "config"
at = ["tools", "builtin"]
text = "a list of what is there"

[switches.forms]
tool = ["{tool}"]

[[tools]]
id = "look"
capability = "web_search"
off = ["search"]

[trust]
pending = "say `sammy trust`"

[[trust.checks]]
group = "config"
layers = ["user"]
at = ["trusted", "{folder}"]
is = [true]

[[rules]]
scope = "user"
paths = ["{config_home}/RULES.md"]
write = "{config_home}/RULES.md"

[[dead]]
group = "config"
entry = true
at = ["off"]
is = [true]
text = "`off` does nothing"
"""


@pytest.fixture
def sammy(tmp_path: Path) -> Host:
    (tmp_path / "sammy.toml").write_text(INVENTED, encoding="utf-8")
    return load_hosts(str(tmp_path))[0]


def test_a_new_host_is_one_file(sammy: Host) -> None:
    """Layers, entries, a kind of switch that no other has, trust, rules and dead keys: without a line of Python."""
    entry = {"run": "npx", "args": ["x"], "vars": {"A": "b"}}
    user = {"tools": {"servers": {"Ds-1": {"run": ["npx", "-y", "deepseek-web-retrieval"], "off": True}}}}
    files = {
        "~/.sammy/sammy.json": "// mine\n" + json.dumps(user, indent=1),
        "./.sammy.json": {"tools": {"servers": {"t": {"run": ["npx", "tavily-mcp"], "on": False}, "n": entry}}},
        "~/.sammy/RULES.md": "Always use `_s__/deepseek_web_search`\n",
    }
    found = look(sammy, files)
    assert found.tools("web_search") == ["look", "_s__/deepseek_web_search"]
    assert found.tools("web_fetch") == ["_s__/deepseek_fetch"]
    assert found.place("_s__/deepseek_web_search") == found.line("~/.sammy/sammy.json", '"Ds-1"')
    assert (found.registration("t").state, found.registration("t").enabled) == ("pending", False)
    assert found.registration("n").state == "pending"
    assert found.one("dead-switch").line == found.line("~/.sammy/sammy.json", '"off"')[1]
    assert [c.path for c in found.conflicts("not-trusted") if c.line == 1] == ["/h/ada/p/.sammy.json"]
    assert found.rules("~/.sammy/RULES.md").loaded


def test_its_switches_are_read(sammy: Host) -> None:
    off = {
        "tools": {"builtin": ["other"], "servers": {"s": {"run": ["npx", "tavily-mcp"]}}},
        "trusted": {"/h/ada/p": True},
    }
    files = {"~/.sammy/sammy.json": off, "./.sammy.json": {"tools": {"servers": {"s": {"on": False}}}}}
    assert look(sammy, files).all == set()
    assert look(sammy, {"~/.sammy/sammy.json": {"tools": {"builtin": ["look"]}}}).tools("web_search") == ["look"]
    moved: dict[str, Any] = {"/else/sammy.json": {"tools": {"builtin": []}}}
    assert look(sammy, moved, variables={"SAMMY_HOME": "/else"}).all == set()


def test_npx_is_no_word_of_its_own(sammy: Host) -> None:
    """An entry in another host's spelling is none here."""
    found = look(sammy, {"~/.sammy/sammy.json": {"tools": {"servers": {"a": npx()}}}})
    assert found.all == {"look"}
