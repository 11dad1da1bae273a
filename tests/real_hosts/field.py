"""Prepared homes: what stands there before hostconf comes, as people have it.

Each host gets comments where its format has them, odd indentation, keys that nobody knows, rules files of the user's
own, a neutral server `notes`, and a rival `tavily`, all of which have to survive.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

Rival = Literal["user", "project"]

NOTES = "notes-mcp"
RIVAL = "tavily-mcp@latest"


def write(path: Path, text: str) -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def claude(home: Path, project: Path, rival: Rival, trusted: bool) -> None:
    """Strict JSON: four blanks and tabs, no final newline, and a home that has been lived in."""

    def entry(package: str) -> dict[str, Any]:
        return {"type": "stdio", "command": "npx", "args": ["-y", package]}

    def servers(here: Rival) -> dict[str, Any]:
        found = {"notes": entry(NOTES)} if here == "user" else {}
        return found | ({"tavily": entry(RIVAL)} if rival == here else {})

    state: dict[str, Any] = {"numStartups": 7, "mcpServers": servers("user"), "unknownKey": {"n": 1.50}}
    state["projects"] = {str(project): {"hasTrustDialogAccepted": trusted, "allowedTools": []}}
    write(home / ".claude.json", json.dumps(state, indent=4))
    settings: dict[str, Any] = {"permissions": {"allow": ["Bash(git status)"], "deny": ["Bash(rm:*)"]}}
    if trusted:
        settings["enableAllProjectMcpServers"] = True
    write(home / ".claude" / "settings.json", json.dumps(settings, indent="\t") + "\n")
    write(home / ".claude" / "CLAUDE.md", "# Mine\n\nUse tabs.\n")
    write(project / "CLAUDE.md", "# Project\n\nBe brief.\n")
    if rival == "project":
        write(project / ".mcp.json", json.dumps({"mcpServers": servers("project")}, indent=2) + "\n")
        write(project / ".claude" / "settings.json", '{"permissions": {"deny": []},\n "unknownKey": 1}\n')


def codex(home: Path, project: Path, rival: Rival, trusted: bool) -> None:
    """TOML: comments before, beside and behind, one inline table, one dotted key."""
    tavily = (
        "\n# the search I had before\n[mcp_servers.tavily]\n"
        'command = "npx"  # from npm\nargs = ["-y", "tavily-mcp@latest"]\n'
        'env = { TAVILY_API_KEY = "fake-tavily-key" }\n'
    )
    trust = f'[projects."{project}"]\ntrust_level = "trusted"\n' if trusted else ""
    user = (
        '# my settings\nmodel_reasoning_effort = "low"  # cheap\nfile_opener = "none"\n\n'
        '[mcp_servers.notes]\ncommand = "npx"\nargs = [\n  "-y",\n  "notes-mcp", # mine\n]\n'
        f"{tavily if rival == 'user' else ''}\n[tui]\nnotifications = false\n\n{trust}# the end\n"
    )
    write(home / ".codex" / "config.toml", user)
    write(home / ".codex" / "AGENTS.md", "# Mine\n\nUse tabs.\n")
    write(project / "AGENTS.md", "# Project\n\nBe brief.\n")
    if rival == "project":
        write(project / ".codex" / "config.toml", f"# of the project\n{tavily}")


def opencode(home: Path, project: Path, rival: Rival, trusted: bool) -> None:
    """JSONC: comments, trailing commas, a permission with an order. This host knows no trust."""
    schema = '"$schema": "https://opencode.ai/config.json"'
    tavily = (
        '    // the search I had before\n    "tavily": {\n      "type": "local",\n'
        '      "command": ["npx", "-y", "tavily-mcp@latest"],\n'
        '      "environment": { "TAVILY_API_KEY": "fake-tavily-key" },\n    },\n'
    )
    user = (
        f"{{\n  // my settings\n  {schema},\n"
        '  "permission": { "*": "allow", "bash": "ask" }, /* in this order */\n  "mcp": {\n'
        '    "notes": { "type": "local", "command": ["npx", "-y", "notes-mcp"] },\n'
        f'{tavily if rival == "user" else ""}  }},\n  "username": "somebody",\n}}\n'
    )
    write(home / ".config" / "opencode" / "opencode.jsonc", user)
    write(home / ".config" / "opencode" / "AGENTS.md", "# Mine\n\nUse tabs.\n")
    write(project / "AGENTS.md", "# Project\n\nBe brief.\n")
    if rival == "project":
        write(project / "opencode.json", f'{{ {schema},\n  "mcp": {{\n{tavily}  }}\n}}\n')


PREPARE = {"claude": claude, "codex": codex, "opencode": opencode}
