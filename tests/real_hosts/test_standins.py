"""The stand-ins themselves: a harness that mishears a host would prove nothing."""

from __future__ import annotations

import gzip
import http.client
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_hosts import mcp_server, npx
from tests.real_hosts.cage import TIMED_OUT
from tests.real_hosts.drive import ROOT, SYSTEM_PATH, Asked, Claude
from tests.real_hosts.model_server import ModelServer
from tests.real_hosts.test_cells import Cell, judge_prediction, judge_tiers


class Model:
    """A model server and its record."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.server = ModelServer(record)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def ask(self, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """One request."""
        door = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        chunked = "Transfer-Encoding" in (headers or {})
        door.request("POST" if body is not None else "GET", path, body, headers or {}, encode_chunked=chunked)
        answer = door.getresponse()
        try:
            return answer.status, answer.read()
        finally:
            door.close()

    def recorded(self) -> list[dict[str, Any]]:
        """What it took down."""
        return [json.loads(line) for line in self.record.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    """A running stand-in model."""
    made = Model(tmp_path / "record.jsonl")
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("path", ["/v1/messages?beta=true", "/v1/responses", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [True, False])
def test_says_ok_as_a_whole_and_as_a_stream(model: Model, path: str, stream: bool) -> None:
    status, said = model.ask(path, json.dumps({"stream": stream, "tools": [{"name": "t"}]}))
    assert status == 200
    assert said.startswith(b"{") is not stream
    assert b'"ok"' in said
    assert model.server.answered.wait(5)


def test_a_request_without_tools_ends_nothing(model: Model) -> None:
    model.ask("/v1/messages", json.dumps({"stream": True}))
    assert not model.server.answered.is_set()


def test_counts_lists_models_and_sends_web_sockets_away(model: Model) -> None:
    assert json.loads(model.ask("/v1/messages/count_tokens", "{}")[1]) == {"input_tokens": 1}
    assert json.loads(model.ask("/v1/models", None)[1])["data"]
    assert model.ask("/v1/responses", None, {"Upgrade": "websocket", "Connection": "Upgrade"})[0] == 426


def test_reads_chunked_and_packed_bodies(model: Model) -> None:
    body = json.dumps({"tools": [{"name": "ü"}]}).encode()
    model.ask("/v1/messages", iter([body[:5], body[5:]]), {"Transfer-Encoding": "chunked"})
    model.ask("/v1/messages", gzip.compress(body), {"Content-Encoding": "gzip"})
    expected = 2
    if shutil.which("zstd"):
        packed = subprocess.run(["zstd", "-c"], input=body, capture_output=True, check=True, timeout=30).stdout
        model.ask("/v1/messages", packed, {"Content-Encoding": "zstd"})
        expected = 3
    assert [entry["body"] for entry in model.recorded()] == [json.loads(body)] * expected


def test_a_body_that_cannot_be_read_is_on_record(model: Model) -> None:
    model.ask("/v1/messages", b"{}", {"Content-Encoding": "unheard-of"})
    assert "unheard-of" in model.recorded()[0]["unread"]


def test_asks_codex_once_what_stands_behind_exec(model: Model) -> None:
    tools = {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec", "description": "ALL_TOOLS"}]}
    first = model.ask("/v1/responses", json.dumps({"stream": True, "input": [tools]}))[1]
    assert b"custom_tool_call" in first
    assert not model.server.answered.is_set()
    said = {"type": "custom_tool_call_output", "output": "[]"}
    second = model.ask("/v1/responses", json.dumps({"stream": True, "input": [tools, said]}))[1]
    assert b'"ok"' in second
    assert model.server.answered.wait(5)


def test_mcp_server_speaks_the_protocol() -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2099-01-01"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "a", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 4, "method": "ping"},
        {"jsonrpc": "2.0", "id": 5, "method": "resources/list"},
    ]
    done = subprocess.run(
        [sys.executable, mcp_server.__file__, "notes", "a,b"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    said = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert sorted(said) == [1, 2, 3, 4, 5]
    assert said[1]["result"]["protocolVersion"] == "2099-01-01"
    assert [tool["name"] for tool in said[2]["result"]["tools"]] == ["a", "b"]
    assert said[5]["error"]["code"] == mcp_server.METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("argv", "package"),
    [
        (["-y", "tavily-mcp@latest"], "tavily-mcp"),
        (["--yes", "deepseek-web-retrieval"], "deepseek-web-retrieval"),
        (["-y", "@scope/thing@1.2.3", "word"], "@scope/thing"),
        (["@scope/thing"], "@scope/thing"),
    ],
)
def test_npx_takes_the_package_from_its_words(argv: list[str], package: str) -> None:
    assert npx.package_of(argv) == package


def test_npx_leaves_out_what_a_variable_takes_away() -> None:
    assert npx.tools_of("deepseek-web-retrieval", {}) == ["deepseek_web_search", "deepseek_fetch"]
    assert npx.tools_of("deepseek-web-retrieval", {"DEEPSEEK_ENABLE_FETCH": "false"}) == ["deepseek_web_search"]


def test_npx_knows_no_other_package() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.real_hosts.npx", "-y", "never-heard-of"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert "never-heard-of" in done.stderr


def test_the_cage_leaves_nothing_running(tmp_path: Path) -> None:
    """Not even what has left the group of its host."""
    pids = tmp_path / "pids"
    script = f"setsid sh -c 'sleep 600 & echo $! $$ >{pids}; wait' & while [ ! -s {pids} ]; do sleep 0.05; done"
    spec = {
        "argv": ["/bin/sh", "-c", script],
        "cwd": str(tmp_path),
        "env": {"PATH": SYSTEM_PATH},
        "record": str(tmp_path / "record.jsonl"),
        "timeout": 20,
        "once_answered": False,
        "own_network": False,
    }
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    words = [sys.executable, "-m", "tests.real_hosts.cage", str(tmp_path / "spec.json")]
    assert subprocess.run(words, cwd=ROOT, timeout=60, check=False).returncode == 0
    for pid in pids.read_text(encoding="utf-8").split():
        assert not Path(f"/proc/{pid}").exists()


def test_the_cage_ends_a_host_that_takes_too_long(tmp_path: Path) -> None:
    spec = {
        "argv": ["/bin/sleep", "600"],
        "cwd": str(tmp_path),
        "env": {},
        "record": str(tmp_path / "record.jsonl"),
        "timeout": 0.3,
        "once_answered": True,
        "own_network": False,
    }
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    words = [sys.executable, "-m", "tests.real_hosts.cage", str(tmp_path / "spec.json")]
    assert subprocess.run(words, cwd=ROOT, timeout=60, check=False).returncode == TIMED_OUT


def row(capability: str, *tools: str, state: str = "offered") -> dict[str, Any]:
    """A row of a predicted surface of Claude Code."""
    return {"host": "claude", "capability": capability, "after": [{"tool": tool, "state": state} for tool in tools]}


OURS = {"web_search": "mcp__deepseek__deepseek_web_search", "web_fetch": "mcp__deepseek__deepseek_fetch"}


@pytest.mark.parametrize(
    ("seen", "state", "complaint"),
    [
        ({*OURS.values()}, "offered", None),
        ({*OURS.values(), "WebSearch"}, "offered", "offered, but not predicted"),
        ({*OURS.values(), "mcp__tavily__tavily_crawl"}, "offered", "offered, but not predicted"),
        ({OURS["web_search"]}, "offered", "predicted, but not offered"),
        ({OURS["web_search"]}, "possible", None),
        ({OURS["web_search"]}, "pending", None),
        ({*OURS.values(), "Bash", "mcp__notes__note_add"}, "offered", None),
    ],
)
def test_the_judge_is_not_blind(tmp_path: Path, seen: set[str], state: str, complaint: str | None) -> None:
    surface = [row(capability, tool, state=state) for capability, tool in OURS.items()]
    asked = {"print": Asked(frozenset(seen), "")}
    claude = Claude(tmp_path / "claude", tmp_path)
    if complaint is None:
        judge_prediction(claude, surface, "after", asked)
    else:
        with pytest.raises(AssertionError, match=complaint):
            judge_prediction(claude, surface, "after", asked)


@pytest.mark.parametrize(
    ("search", "fetch", "more", "right"),
    [
        ("optional", "optional", {"WebSearch", "WebFetch"}, True),
        ("forced", "optional", {"WebFetch"}, True),
        ("forced", "optional", {"WebSearch"}, False),
        ("forced", "forced", {"mcp__tavily__tavily_search"}, False),
        ("off", "optional", set(), False),
    ],
)
def test_the_judge_knows_the_tiers(tmp_path: Path, search: str, fetch: str, more: set[str], right: bool) -> None:
    asked = {"print": Asked(frozenset({*OURS.values(), "mcp__notes__note_add", *more}), "")}
    claude, cell = Claude(tmp_path / "claude", tmp_path), Cell("claude", "user", "user", True, search, fetch)
    if right:
        judge_tiers(claude, cell, asked)
    else:
        with pytest.raises(AssertionError):
            judge_tiers(claude, cell, asked)
