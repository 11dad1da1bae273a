"""Homes and projects for the planner's tests: what the field holds, as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hostconf.environment import read_environment
from hostconf.model import Environment

RIVAL = {"command": "npx", "args": ["-y", "tavily-mcp@latest"], "env": {"TAVILY_API_KEY": "CANARY-0b11-SECRET"}}


class World(NamedTuple):
    """A throwaway home with a project in it, and a root for managed files."""

    home: Path
    project: Path
    root: Path

    def environment(self, **variables: str) -> Environment:
        """What the machine would tell there."""
        return read_environment(
            cwd=str(self.project),
            variables={
                "HOME": str(self.home),
                "PATH": "",
                "DEEPSEEK_API_KEY": "x",
                "TAVILY_API_KEY": "x",
                "HOSTCONF_SYSTEM_ROOT": str(self.root),
                **variables,
            },
        )

    def bytes(self) -> dict[str, bytes]:
        """All files below home, project and root, links not followed."""
        return {
            str(p.relative_to(self.home.parent)): p.read_bytes()
            for p in sorted(self.home.parent.rglob("*"))
            if p.is_file()
        }

    def folders(self) -> set[str]:
        """All folders."""
        return {str(p.relative_to(self.home.parent)) for p in self.home.parent.rglob("*") if p.is_dir()}


def make(tmp_path: Path, files: Mapping[str, str]) -> World:
    """The files written: `~/`, `{project}/` and `/etc/` in the names, and `{project}` in the texts."""
    world = World(tmp_path / "home", tmp_path / "project", tmp_path / "root")
    for folder in world:
        folder.mkdir(parents=True)
    (world.project / ".git").mkdir()
    (world.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name, text in files.items():
        if name.startswith("~/"):
            path = world.home / name[2:]
        elif name.startswith("{project}/"):
            path = world.project / name[10:]
        else:
            path = world.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("{project}", str(world.project)).encode())
    return world


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _toml_server(name: str) -> str:
    return f'\n[mcp_servers.{name}]  # mine\ncommand = "npx"\nargs = ["-y", "tavily-mcp@latest"]\nenv = {{ TAVILY_API_KEY = "CANARY-0b11-SECRET" }}\n'


TRUST = '\n[projects."{project}"]\ntrust_level = "trusted"\n'

FIELDS: dict[str, dict[str, str]] = {
    "empty": {},
    "plain": {
        "~/.claude.json": _json({"numStartups": 4, "mcpServers": {"notes": {"command": "notes-mcp"}}}),
        "~/.claude/settings.json": _json({"model": "sonnet", "enableAllProjectMcpServers": True}),
        "~/.codex/config.toml": '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.notes]\ncommand = "notes-mcp"\n' + TRUST,
        "~/.config/opencode/opencode.jsonc": '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {},\n}\n',
    },
    "rival in user": {
        "~/.claude.json": _json({"mcpServers": {"tavily": RIVAL}}),
        "~/.claude/settings.json": _json({"permissions": {"deny": ["Bash(rm:*)"]}, "enableAllProjectMcpServers": True}),
        "~/.codex/config.toml": 'web_search = "live"  # I like it\r\n'.replace("\r", "")
        + _toml_server("tavily")
        + TRUST,
        "~/.config/opencode/opencode.json": '{\n  "$schema": "https://opencode.ai/config.json",\n  "permission": { "webfetch": "allow", "*": "allow" },\n'
        '  "mcp": { "tavily": { "type": "local", "command": ["npx", "-y", "tavily-mcp"], "enabled": true } }\n}\n',
    },
    "rival in project": {
        "~/.claude.json": _json({"mcpServers": {}}),
        "~/.claude/settings.json": _json({"enableAllProjectMcpServers": True}),
        "{project}/.mcp.json": _json({"mcpServers": {"tavily": RIVAL}}),
        "~/.codex/config.toml": 'model = "x"\n' + TRUST,
        "{project}/.codex/config.toml": _toml_server("tavily").lstrip(),
        "{project}/opencode.json": '{ "$schema": "https://opencode.ai/config.json", "mcp": { "tavily": { "type": "local", "command": ["npx", "tavily-mcp"] } } }',
    },
    "untrusted": {
        "~/.claude.json": _json({"mcpServers": {}}),
        "~/.codex/config.toml": "",
        "~/.config/opencode/opencode.json": "{}",
    },
    "managed": {
        "/etc/claude-code/managed-settings.json": _json({"allowManagedPermissionRulesOnly": True}),
        "/etc/codex/managed_config.toml": 'web_search = "live"\n',
        "/etc/opencode/opencode.json": '{ "permission": { "webfetch": "allow", "websearch": "allow" } }',
        "~/.claude/settings.json": _json({"enableAllProjectMcpServers": True}),
        "~/.codex/config.toml": 'model = "x"\n' + TRUST,
    },
}
