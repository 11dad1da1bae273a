"""A stand-in MCP server over stdio: its name and its tools are its arguments.

    python mcp_server.py NAME TOOL[,TOOL...]

It speaks just enough of the protocol for a host to list and call its tools: `initialize` (the client's own protocol
version is echoed, so that no host refuses it), `tools/list`, `tools/call`, `ping`. Standard library only.
"""

from __future__ import annotations

import json
import sys
from typing import Any

METHOD_NOT_FOUND = -32601


def answer(request: dict[str, Any], name: str, tools: list[str]) -> dict[str, Any] | None:
    """The answer to one message, or None where none is due (notifications)."""
    if "id" not in request:
        return None
    method = request.get("method")
    params = request.get("params") or {}
    result: dict[str, Any]
    if method == "initialize":
        result = {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": "0.0.0"},
        }
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"input": {"type": "string"}}}
        result = {
            "tools": [{"name": tool, "description": f"{tool} of {name}", "inputSchema": schema} for tool in tools]
        }
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": f"{name}: {params.get('name')} was called"}], "isError": False}
    elif method == "ping":
        result = {}
    else:
        error = {"code": METHOD_NOT_FOUND, "message": f"no method {method}"}
        return {"jsonrpc": "2.0", "id": request["id"], "error": error}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def main(argv: list[str]) -> int:
    """Answer line after line until stdin ends."""
    name = argv[0]
    tools = [tool for tool in argv[1].split(",") if tool] if len(argv) > 1 else []
    for line in sys.stdin:
        if not line.strip():
            continue
        reply = answer(json.loads(line), name, tools)
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
