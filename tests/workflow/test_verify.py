"""Asking the hosts themselves: stand-ins on the PATH that print what the real programs print, or hang, or babble."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.errors import Refused
from hostconf.hosts.schema import Host
from hostconf.workflow import ask
from hostconf.workflow.ask import moving, newest_version, run
from tests.plan.fields import world_of
from tests.plan.quick import hosts
from tests.plan.world import World, make, wish

OURS = {"name": "deepseek", "status": "connected"}


class Stage:
    """A world with programs of our own on the PATH."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.folder = folder
        folder.mkdir()

    def program(self, name: str, script: str) -> None:
        """A program: a shell script."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def prints(self, name: str, text: str, code: int = 0, err: str = "") -> None:
        """A program that says this, and how it was called."""
        (self.folder / f"{name}.out").write_text(text)
        (self.folder / f"{name}.err").write_text(err)
        place = self.folder / name
        self.program(
            name,
            f'echo "$@" >{place}.args; env >{place}.env; pwd >{place}.pwd\n'
            f"/bin/cat {place}.out; /bin/cat {place}.err >&2; exit {code}",
        )

    def verify(self, *names: str, **variables: str) -> tuple[int, dict[str, Mapping[str, Any]]]:
        """Exit code, and the answers by host."""
        path = f"{self.folder}:/usr/bin:/bin"
        result = workflow.verify(self.world.environment(PATH=path, **variables), names)
        assert result.status == ("success" if result.exit_code == 0 else "partial")
        return result.exit_code, {h["id"]: h for h in result.data["hosts"]}

    def said(self, name: str, what: str) -> str:
        """What the stand-in kept of its call: `args`, `env` or `pwd`."""
        return (self.folder / f"{name}.{what}").read_text()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(world_of("rival in user", tmp_path / "world"), tmp_path / "bin")


def claude(servers: list[Any], tools: list[Any]) -> str:
    """The first line of `claude -p /mcp --output-format stream-json`, and lines after it."""
    init = {"type": "system", "subtype": "init", "cwd": "/x", "session_id": "1", "tools": tools, "mcp_servers": servers}
    return json.dumps(init) + '\n{"type":"result","subtype":"success","result":"..."}\n'


def codex(*rows: tuple[str, bool]) -> str:
    """`codex mcp list --json`."""
    return json.dumps(
        [
            {"name": n, "enabled": on, "disabled_reason": None, "transport": {"type": "stdio", "command": "npx"}}
            for n, on in rows
        ]
    )


def opencode(servers: Mapping[str, Any] | None) -> str:
    """`opencode debug config --pure`."""
    return json.dumps({"permission": {"*": "ask"}, **({} if servers is None else {"mcp": servers})}, indent=2)


SEARCH, FETCH = "mcp__deepseek__deepseek_web_search", "mcp__deepseek__deepseek_fetch"


# ------------------------------------------------------------------ hosts that agree


def test_claude_agrees(stage: Stage) -> None:
    stage.world.applied(wish("claude", search="forced", fetch="forced"))
    stage.prints("claude", claude([OURS], ["Bash", "Read", SEARCH, FETCH]))
    code, found = stage.verify("claude")
    assert (code, found["claude"]["verdict"]) == (0, "agrees"), found
    assert found["claude"]["registrations"] == [{"name": "deepseek", "enabled": True}]
    assert SEARCH in found["claude"]["tools"]
    assert stage.said("claude", "args").split()[:2] == ["-p", "/mcp"]
    assert "MCP_CONNECTION_NONBLOCKING=0" in stage.said("claude", "env")
    assert stage.said("claude", "pwd").strip() == str(stage.world.project)


def test_codex_agrees(stage: Stage) -> None:
    stage.world.applied(wish("codex", search="forced", fetch="forced"))
    stage.prints("codex", codex(("deepseek", True), ("tavily", False)))
    code, found = stage.verify("codex")
    assert (code, found["codex"]["verdict"]) == (0, "agrees"), found
    assert found["codex"]["command"] == ["codex", "mcp", "list", "--json"]


def test_opencode_agrees(stage: Stage) -> None:
    stage.world.applied(wish("opencode", search="forced", fetch="forced"))
    stage.prints("opencode", opencode({"deepseek": {"type": "local"}, "tavily": {"enabled": False}}))
    code, found = stage.verify("opencode")
    assert (code, found["opencode"]["verdict"]) == (0, "agrees"), found


def test_a_host_without_any_server_agrees(tmp_path: Path) -> None:
    stage = Stage(make(tmp_path / "w"), tmp_path / "bin")
    stage.prints("opencode", opencode(None))
    stage.prints("codex", "[]")
    stage.prints("claude", claude([], ["WebSearch", "WebFetch"]))
    code, found = stage.verify()
    assert code == 0 and {h["verdict"] for h in found.values()} == {"agrees"}, found


def test_a_server_that_waits_is_not_missed(tmp_path: Path) -> None:
    """A project's server that nobody approved: `claude -p` loads it, `codex` without trust does not list it."""
    stage = Stage(make(tmp_path / "w"), tmp_path / "bin")
    stage.world.applied(wish("claude", "codex", scope="project"))
    stage.prints("claude", claude([OURS], ["WebSearch", "WebFetch", SEARCH, FETCH]))
    stage.prints("codex", "[]")
    assert stage.verify("claude", "codex")[0] == 0


def test_a_server_whose_tools_are_denied_is_listed_all_the_same(stage: Stage) -> None:
    settings = stage.world.json("~/.claude/settings.json")
    settings["permissions"]["deny"].append("mcp__tavily")
    stage.world.write("~/.claude/settings.json", json.dumps(settings))
    tavily = {"name": "tavily", "status": "connected"}
    stage.prints("claude", claude([tavily], ["WebSearch", "WebFetch"]))
    assert stage.verify("claude")[0] == 0
    stage.prints("claude", claude([tavily], ["WebSearch", "WebFetch", "mcp__tavily__tavily_search"]))
    code, found = stage.verify("claude")
    assert code == 1 and found["claude"]["differences"] == ["`tavily` should be off, and the host says it is on"]


# ------------------------------------------------------------------ hosts that differ

DIFFERENT = {
    "ours is missing": ("codex", codex(("tavily", False)), "`deepseek` should be loaded"),
    "ours is off": ("codex", codex(("deepseek", False), ("tavily", False)), "`deepseek` should be on"),
    "the rival is on": ("codex", codex(("deepseek", True), ("tavily", True)), "`tavily` should be off"),
    "opencode misses ours": ("opencode", opencode({"tavily": {"enabled": False}}), "`deepseek` should be loaded"),
    "opencode has the rival": ("opencode", opencode({"deepseek": {}, "tavily": {}}), "`tavily` should be off"),
    "claude misses ours": ("claude", claude([], []), "`deepseek` should be loaded"),
    "claude could not start ours": (
        "claude",
        claude([{"name": "deepseek", "status": "failed"}], []),
        "`deepseek` is on, and the host could not start it (failed)",
    ),
    "claude has its own tool": ("claude", claude([OURS], ["WebFetch", SEARCH, FETCH]), "`WebFetch` should be gone"),
    "claude has the rival": (
        "claude",
        claude([OURS, {"name": "tavily", "status": "connected"}], [SEARCH, FETCH, "mcp__tavily__tavily_search"]),
        "`tavily` should be off",
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_host_that_differs(case: str, stage: Stage) -> None:
    host, text, sentence = DIFFERENT[case]
    stage.world.applied(wish(host, search="forced", fetch="forced"))
    stage.prints(host, text)
    code, found = stage.verify(host)
    assert (code, found[host]["verdict"]) == (1, "differs")
    assert [d for d in found[host]["differences"] if d.startswith(sentence)], found[host]["differences"]


def test_a_tool_that_is_off_and_offered_all_the_same(stage: Stage) -> None:
    stage.world.applied(wish("claude", search="optional", fetch="off"))
    tavily = {"name": "tavily", "status": "connected"}
    stage.prints("claude", claude([OURS, tavily], ["WebSearch", "WebFetch", SEARCH, FETCH]))
    code, found = stage.verify("claude")
    assert code == 1 and found["claude"]["differences"] == [f"`{FETCH}` should be gone, and the host offers it"]


def test_a_tool_that_should_be_offered(tmp_path: Path) -> None:
    stage = Stage(make(tmp_path / "w"), tmp_path / "bin")
    stage.prints("claude", claude([], ["WebSearch"]))
    code, found = stage.verify("claude")
    assert code == 1 and found["claude"]["differences"] == [
        "`WebFetch` should be offered, and the host does not have it"
    ]


def test_a_host_that_does_not_start(stage: Stage) -> None:
    stage.prints("codex", "", 1, "\nError: failed to load configuration in `mcp_servers.x` token=CANARY-77aa-SECRET\n")
    code, found = stage.verify("codex")
    assert (code, found["codex"]["verdict"]) == (1, "differs")
    assert "failed to load configuration" in found["codex"]["message"]
    assert "does not start" in found["codex"]["differences"][0]
    assert "CANARY" not in json.dumps(found["codex"])


def test_a_host_that_fails_without_a_word(stage: Stage) -> None:
    stage.prints("codex", "", 3)
    code, found = stage.verify("codex")
    assert code == 1 and "exit code 3" in found["codex"]["message"]


# ------------------------------------------------------------------ hosts that cannot be asked

GARBAGE = [
    "",
    "\n\n",
    "not JSON",
    "\x1b[31m{\x1b[0m",
    "3",
    '"text"',
    "null",
    "true",
    "[[[",
    "[" * 100_000,
    '{"a": ' * 5000,
    "{}",
    '{"type": "system"}',
    '{"mcp_servers": 3, "mcp": 3}',
    '{"mcp_servers": "x", "mcp": []}'[:-3],
    "\x00\x01",
]


@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_garbage_is_no_answer_and_no_fault(host: str, stage: Stage) -> None:
    for text in GARBAGE:
        stage.prints(host, text)
        code, found = stage.verify(host)
        if host != "claude" and text.startswith("{") and text.endswith("}"):
            continue  # a table without our server in it
        assert (code, found[host]["verdict"]) == (0, "cannot"), (text[:40], found[host])
        assert "not of the form" in found[host]["message"]


@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_odd_rows_in_an_answer_are_passed_over(host: str, stage: Stage) -> None:
    stage.world.applied(wish(host))
    odd: list[Any] = [3, None, [], {"x": 1}, {"name": 5}, {"name": None, "enabled": "no", "status": {}}]
    stage.prints("claude", claude([*odd, OURS, {"name": "tavily"}], [3, None, SEARCH, FETCH]))
    stage.prints("codex", json.dumps([*odd, {"name": "deepseek"}, {"name": "tavily", "enabled": 1}]))
    stage.prints("opencode", opencode({"deepseek": 3, "tavily": None, "": []}))
    code, found = stage.verify(host)
    assert found[host]["verdict"] in ("agrees", "differs")
    assert not [d for d in found[host]["differences"] if "deepseek" in d]
    assert code == (host == "claude"), found[host]["differences"]


def test_bytes_that_are_no_text(stage: Stage) -> None:
    stage.program("codex", "printf '\\377\\376[]'")
    code, found = stage.verify("codex")
    assert (code, found["codex"]["verdict"]) == (0, "cannot")


def test_a_flood_is_cut(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "LIMIT", 200_000)
    stage.program("codex", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done")
    begin = time.monotonic()
    ran = run([str(stage.folder / "codex")], stage.world.environment(PATH="/bin"), {}, 0.5)
    assert time.monotonic() - begin < 4
    assert len(ran.out) == 200_000 and "no answer in 0.5 seconds" in ran.problem


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hosts get half a second."""

    def soon(host: Host) -> Host:
        return host._replace(verify=host.verify._replace(seconds=1)) if host.verify else host

    monkeypatch.setattr("hostconf.workflow.gather.load_hosts", lambda: tuple(soon(h) for h in hosts()))
    yield


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    return False


def test_a_host_that_hangs_is_ended_with_all_that_it_started(stage: Stage, impatient: None) -> None:
    """As a host does whose server hangs: the server holds the streams, whatever becomes of the host."""
    stage.program("codex", f"sleep 300 & echo $! >{stage.folder}/child; wait")
    begin = time.monotonic()
    code, found = stage.verify("codex")
    assert time.monotonic() - begin < 5
    assert (code, found["codex"]["verdict"]) == (0, "cannot")
    assert "no answer in 1 seconds" in found["codex"]["message"]
    assert gone(int((stage.folder / "child").read_text()))


def test_a_host_that_leaves_something_behind_is_heard_all_the_same(stage: Stage) -> None:
    """The host has answered and ended; what it started holds the streams."""
    (stage.folder / "answer").write_text(codex(("tavily", True)))
    stage.program("codex", f"sleep 300 & echo $! >{stage.folder}/child; /bin/cat {stage.folder}/answer; exit 0")
    begin = time.monotonic()
    code, found = stage.verify("codex")
    assert time.monotonic() - begin < 5
    assert (code, found["codex"]["verdict"]) == (0, "agrees")
    assert gone(int((stage.folder / "child").read_text()))


def test_a_program_that_cannot_be_started(stage: Stage) -> None:
    path = stage.folder / "codex"
    path.write_bytes(b"\x7fELF no program")
    path.chmod(0o755)
    code, found = stage.verify("codex")
    assert (code, found["codex"]["verdict"]) == (0, "cannot") and "cannot be started" in found["codex"]["message"]


def test_a_host_that_is_not_installed(stage: Stage) -> None:
    code, found = stage.verify()
    assert code == 0 and {h["verdict"] for h in found.values()} == {"not-installed"}
    assert "PATH" in found["codex"]["message"]


def test_a_host_that_reads_its_input_is_not_left_waiting(stage: Stage) -> None:
    stage.program("codex", 'read line; echo "[]"')
    assert stage.verify("codex")[1]["codex"]["verdict"] == "differs", "tavily is missing in the answer"


def test_all_hosts_are_asked_and_one_that_differs_counts(stage: Stage) -> None:
    stage.prints("codex", codex(("tavily", True)))
    stage.prints("opencode", opencode({}))
    code, found = stage.verify()
    assert code == 1
    assert {n: h["verdict"] for n, h in found.items()} == {
        "claude": "not-installed",
        "codex": "agrees",
        "opencode": "differs",
    }


# ------------------------------------------------------------------ where it is asked


def test_a_given_home_outranks_the_variables_of_the_host(tmp_path: Path) -> None:
    from hostconf.environment import read_environment

    world = make(tmp_path / "w")
    stage = Stage(world, tmp_path / "bin")
    stage.prints("opencode", opencode(None))
    stage.prints("codex", "[]")
    given = {"XDG_CONFIG_HOME": "/x", "OPENCODE_CONFIG_CONTENT": "{}", "OPENCODE_PERMISSION": "{}", "CODEX_HOME": "/y"}
    variables = {**world.shell(), "PATH": f"{stage.folder}:/bin", "HOME": "/nowhere-at-all", "KEPT": "1", **given}
    environment = read_environment(home=str(world.home), cwd=str(world.project), variables=variables)
    workflow.verify(environment, ("codex", "opencode"))
    for host, names in (("opencode", [*given][:3]), ("codex", ["CODEX_HOME"])):
        seen = stage.said(host, "env")
        assert f"HOME={world.home}\n" in seen and "KEPT=1" in seen
        assert not [n for n in names if f"{n}=" in seen]


def test_the_variables_of_a_host_are_in_its_file() -> None:
    by_id = {h.id: moving(h) for h in hosts()}
    assert {"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_WEB_FETCH"} <= by_id["claude"]
    assert "CODEX_HOME" in by_id["codex"]
    assert {"XDG_CONFIG_HOME", "OPENCODE_CONFIG", "OPENCODE_PERMISSION", "OPENCODE_ENABLE_EXA"} <= by_id["opencode"]


# ------------------------------------------------------------------ the registry


@pytest.mark.parametrize("version", ["1.2.3", "0.0.1-beta.2", "10.20.30+build.5"])
def test_the_newest_version(version: str, stage: Stage) -> None:
    stage.prints("npm", version + "\n")
    environment = stage.world.environment(PATH=f"{stage.folder}:/bin")
    assert newest_version("some-package", environment) == f"some-package@{version}"
    assert stage.said("npm", "args").split() == ["view", "some-package", "version"]


@pytest.mark.parametrize("text", ["", "npm notice\n1.2.3", "latest", "1.2", "1.2.3 --registry=x", "{}", "1.2.3;rm"])
def test_what_is_no_version_is_refused(text: str, stage: Stage) -> None:
    stage.prints("npm", text)
    environment = stage.world.environment(PATH=f"{stage.folder}:/bin")
    with pytest.raises(Refused, match="cannot be found out") as failure:
        newest_version("some-package", environment)
    assert failure.value.code == "no-version" and "--package" in failure.value.hint


def test_a_registry_that_does_not_answer(stage: Stage) -> None:
    stage.prints("npm", "", 1, "npm error 404")
    with pytest.raises(Refused):
        newest_version("some-package", stage.world.environment(PATH=f"{stage.folder}:/bin"))
    with pytest.raises(Refused, match="cannot be started"):
        newest_version("some-package", stage.world.environment(PATH=str(stage.folder.parent)))
