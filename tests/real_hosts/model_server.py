"""A stand-in model on 127.0.0.1: it records every request and answers "ok".

    python model_server.py RECORD.jsonl [PORT]

Spoken: Anthropic `/v1/messages` (event stream or not) and `/v1/messages/count_tokens`; OpenAI `/v1/responses` and
`/v1/chat/completions` (stream or not); `/v1/models`. Bodies may be chunked, gzip or zstd. Each request is one line of
RECORD: `{"method", "path", "body"}`, and `"unread"` with the reason where a body could not be decoded: the reader of
the record has to fail on that, never to pass over it. Standard library only.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Event = tuple[str | None, dict[str, Any] | str]


def unzstd(data: bytes) -> bytes:
    """zstd is in the standard library from 3.14 on; before that the `zstd` command is asked."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        command = shutil.which("zstd")
        if command is None:
            raise ValueError("zstd body, and neither Python 3.14 nor a zstd command to read it") from None
        return subprocess.run([command, "-dc"], input=data, capture_output=True, check=True, timeout=30).stdout
    return bytes(zstd.decompress(data))


def decoded(data: bytes, encoding: str) -> bytes:
    """The body as it was before `Content-Encoding`, the last encoding undone first."""
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        if name in ("gzip", "x-gzip"):
            data = gzip.decompress(data)
        elif name == "deflate":
            data = zlib.decompress(data)
        elif name == "zstd":
            data = unzstd(data)
        elif name != "identity":
            raise ValueError(f"unknown content encoding {name}")
    return data


def anthropic_message(text: str) -> dict[str, Any]:
    """A whole answer of the Messages API."""
    return {
        "id": "msg_stand_in",
        "type": "message",
        "role": "assistant",
        "model": "stand-in",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def anthropic_events(text: str) -> Iterable[Event]:
    """The same answer as an event stream."""
    start = anthropic_message(text) | {"content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": start}
    block = {"type": "text", "text": ""}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    delta: dict[str, Any] = {"type": "text_delta", "text": text}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def response_item(text: str) -> dict[str, Any]:
    """The one output item of the Responses API."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "item_stand_in", "role": "assistant", "status": "completed", "content": [part]}


def response_object(text: str) -> dict[str, Any]:
    """A whole answer of the Responses API."""
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    output = [response_item(text)]
    return {"id": "resp_stand_in", "object": "response", "status": "completed", "output": output, "usage": usage}


def response_events(text: str) -> Iterable[Event]:
    """The same answer as an event stream."""
    started = {"id": "resp_stand_in", "object": "response", "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": started}
    item = response_item(text)
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield "response.completed", {"type": "response.completed", "response": response_object(text)}


ALL_TOOLS_SCRIPT = "text(JSON.stringify(ALL_TOOLS.map(tool => tool.name)))"


def wants_all_tools(body: dict[str, Any]) -> bool:
    """Whether Codex runs in code mode and has not yet been asked what is behind its `exec` tool.

    In code mode the request names deferred MCP servers, but not their tools: only a turn of the model shows them.
    """
    given = body.get("input")
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    asked = any(item.get("type") == "custom_tool_call_output" for item in items)
    return not asked and any("ALL_TOOLS" in json.dumps(i) for i in items if i.get("type") == "additional_tools")


def has_tools(body: dict[str, Any]) -> bool:
    """Whether this is the main request of a turn: one that offers tools, in either place where OpenAI puts them."""
    items = body.get("input")
    additional = isinstance(items, list) and any(
        isinstance(item, dict) and item.get("type") == "additional_tools" for item in items
    )
    return bool(body.get("tools")) or additional


def all_tools_events() -> Iterable[Event]:
    """A turn in which the model calls `exec` with the question for ALL_TOOLS."""
    call = {"type": "custom_tool_call", "id": "ctc_stand_in", "status": "completed", "call_id": "call_stand_in"}
    call |= {"name": "exec", "namespace": "functions", "input": ALL_TOOLS_SCRIPT}
    started = {"id": "resp_stand_in", "object": "response", "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": started}
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": call}
    done = response_object("") | {"output": [call]}
    yield "response.completed", {"type": "response.completed", "response": done}


def chat_object(text: str) -> dict[str, Any]:
    """A whole answer of Chat Completions."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "chat_stand_in", "object": "chat.completion", "created": 0, "model": "stand-in"}
    return head | {"choices": [choice], "usage": usage}


def chat_events(text: str) -> Iterable[Event]:
    """The same answer as an event stream."""
    head = {"id": "chat_stand_in", "object": "chat.completion.chunk", "created": 0, "model": "stand-in"}
    first = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    yield None, head | {"choices": [first]}
    last: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield None, head | {"choices": [last], "usage": usage}
    yield None, "[DONE]"


MODELS = {"object": "list", "data": [{"id": "stand-in", "object": "model", "created": 0, "owned_by": "stand-in"}]}


class Handler(BaseHTTPRequestHandler):
    """One connection of a host."""

    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr: the record is the log."""

    def body(self) -> bytes:
        """The raw body, chunked or of a stated length."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            pass
        return whole

    def take(self) -> Any:
        """Read and record the request; the body as JSON where it is JSON."""
        entry: dict[str, Any] = {"method": self.command, "path": self.path, "body": None}
        raw = self.body()
        try:
            plain = decoded(raw, self.headers.get("Content-Encoding", ""))
            entry["body"] = json.loads(plain) if plain else None
        except (ValueError, OSError, EOFError, zlib.error, subprocess.SubprocessError) as problem:
            entry["unread"] = f"{type(problem).__name__}: {problem}"
        self.server.record(entry)
        return entry["body"]

    def send_json(self, value: Any, status: int = 200) -> None:
        """One whole JSON answer."""
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events: Iterable[Event]) -> None:
        """One event stream; the connection is closed after it."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()

    def answer(self, body: dict[str, Any], whole: dict[str, Any], events: Iterable[Event]) -> None:
        """Say "ok" as a stream or as a whole. That ends the turn; small requests (titles) carry no tools."""
        if body.get("stream") is True:
            self.send_events(events)
        else:
            self.send_json(whole)
        if has_tools(body):
            self.server.answered.set()

    def do_HEAD(self) -> None:
        """Some hosts knock first."""
        self.take()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Models, and nothing else."""
        self.take()
        if self.headers.get("Upgrade", "").lower() == "websocket":
            # Codex tries a web socket first whatever its feature flags say; only 426 makes it fall back at once.
            self.send_json({"error": {"type": "upgrade_required", "message": "plain HTTP here"}}, 426)
        elif self.path.partition("?")[0].endswith("/models"):
            self.send_json(MODELS)
        else:
            self.send_json({"error": {"type": "not_found_error", "message": "not here"}}, 404)

    def do_POST(self) -> None:
        """A turn of the model."""
        taken = self.take()
        body: dict[str, Any] = taken if isinstance(taken, dict) else {}
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self.send_json({"input_tokens": 1})
        elif path.endswith("/messages"):
            self.answer(body, anthropic_message("ok"), anthropic_events("ok"))
        elif path.endswith("/responses") and wants_all_tools(body):
            self.send_events(all_tools_events())
        elif path.endswith("/responses"):
            self.answer(body, response_object("ok"), response_events("ok"))
        elif path.endswith("/chat/completions"):
            self.answer(body, chat_object("ok"), chat_events("ok"))
        else:
            self.send_json({"error": {"type": "not_found_error", "message": "not here"}}, 404)


class ModelServer(ThreadingHTTPServer):
    """The stand-in model; `port` says where it listens."""

    daemon_threads = True

    def __init__(self, record: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.port = int(self.server_address[1])
        self.answered = threading.Event()
        """Set once a request with tools has had an answer that ends the turn."""
        self._file = record
        self._lock = threading.Lock()

    def record(self, entry: dict[str, Any]) -> None:
        """One line a request, whole even when two arrive at once."""
        with self._lock, self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")


def main(argv: list[str]) -> int:
    """Serve until interrupted."""
    server = ModelServer(Path(argv[0]), int(argv[1]) if len(argv) > 1 else 0)
    print(server.port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
