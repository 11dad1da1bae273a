"""What the field holds before hostconf comes, and what then has to be refused by the facts of the hosts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.plan.world import CAPABILITIES, HOSTS, SCOPES, World, make

RIVAL = {"command": "npx", "args": ["-y", "tavily-mcp@latest"], "env": {"TAVILY_API_KEY": "CANARY-0b11-SECRET"}}


def as_json(value: object) -> str:
    """Strict JSON with an indent of two."""
    return json.dumps(value, indent=2) + "\n"


def _toml_server(name: str) -> str:
    head = f'\n[mcp_servers.{name}]  # mine\ncommand = "npx"\n'
    return head + 'args = ["-y", "tavily-mcp@latest"]\nenv = { TAVILY_API_KEY = "CANARY-0b11-SECRET" }\n'


TRUST = '\n[projects."{project}"]\ntrust_level = "trusted"\n'
SCHEMA = '"$schema": "https://opencode.ai/config.json"'


class FieldOf(NamedTuple):
    """What is there before hostconf comes."""

    files: Mapping[str, str | bytes]
    hosts: tuple[str, ...] = HOSTS
    rich: bool = False
    """Whether all pairs of tiers are tried on it, and not only some."""
    links: Mapping[str, str] = {}
    below: str = ""
    variables: Mapping[str, str] = {}
    refuses: Mapping[tuple[str, str], tuple[str, ...]] = {}
    """Host and scope to what has to be refused, by the facts of the hosts: a tier for both capabilities, or
    `capability=tier`. Everything else has to be delivered."""


_ALL_BUT_OFF = ("optional", "preferred", "forced")

FIELDS: dict[str, FieldOf] = {
    "empty": FieldOf(
        {},
        refuses={("codex", "project"): ("forced",), ("claude", "project"): ("forced",)},
    ),
    "plain": FieldOf(
        {
            "~/.claude.json": as_json({"numStartups": 4, "mcpServers": {"notes": {"command": "notes-mcp"}}}),
            "~/.claude/settings.json": as_json({"model": "sonnet", "enableAllProjectMcpServers": True}),
            "~/.codex/config.toml": '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.notes]\ncommand = "notes-mcp"\n' + TRUST,
            "~/.config/opencode/opencode.jsonc": "{\n  // mine\n  " + SCHEMA + ',\n  "mcp": {},\n}\n',
        }
    ),
    "rival in user": FieldOf(
        {
            "~/.claude.json": as_json({"mcpServers": {"tavily": RIVAL}}),
            "~/.claude/settings.json": as_json(
                {"permissions": {"deny": ["Bash(rm:*)"]}, "enableAllProjectMcpServers": True}
            ),
            "~/.codex/config.toml": 'web_search = "live"  # I like it\n' + _toml_server("tavily") + TRUST,
            "~/.config/opencode/opencode.json": "{\n  "
            + SCHEMA
            + ',\n  "permission": { "webfetch": "allow", "*": "allow" },\n  "mcp": {\n'
            + '    "tavily": { "type": "local", "command": ["npx", "-y", "tavily-mcp"], "enabled": true }\n  }\n}\n',
        },
        rich=True,
        refuses={("codex", "project"): ("forced",)},
    ),
    "rival in project": FieldOf(
        {
            "~/.claude.json": as_json({"mcpServers": {}}),
            "~/.claude/settings.json": as_json({"enableAllProjectMcpServers": True}),
            "{project}/.mcp.json": as_json({"mcpServers": {"tavily": RIVAL}}),
            "~/.codex/config.toml": 'model = "x"\n' + TRUST,
            "{project}/.codex/config.toml": _toml_server("tavily").lstrip(),
            "{project}/opencode.json": "{ "
            + SCHEMA
            + ', "mcp": { "tavily": { "type": "local", "command": ["npx", "tavily-mcp"] } } }',
        },
        refuses={("codex", "user"): ("forced",)},
    ),
    "untrusted": FieldOf(
        {
            "~/.claude.json": as_json({"mcpServers": {}}),
            "~/.codex/config.toml": "",
            "~/.config/opencode/opencode.json": "{}",
        },
        refuses={("codex", "project"): ("forced",), ("claude", "project"): ("forced",)},
    ),
    "managed": FieldOf(
        {
            "/etc/claude-code/managed-settings.json": as_json({"allowManagedPermissionRulesOnly": True}),
            "/etc/codex/managed_config.toml": 'web_search = "live"\n',
            "/etc/opencode/opencode.json": '{ "permission": { "webfetch": "allow", "websearch": "allow" } }',
            "~/.claude/settings.json": as_json({"enableAllProjectMcpServers": True}),
            "~/.codex/config.toml": 'model = "x"\n' + TRUST,
        },
        refuses={
            # `off` needs a deny rule, which this policy voids
            **{("claude", scope): ("forced", "off") for scope in SCOPES},
            **{("codex", scope): ("forced",) for scope in SCOPES},
            **{("opencode", scope): ("forced",) for scope in SCOPES},
        },
    ),
    "CRLF, tabs, BOM, no final newline": FieldOf(
        {
            "~/.claude.json": '\ufeff{\r\n\t"numStartups": 1e3,\r\n\t"mcpServers": {\r\n'
            '\t\t"tavily": {"command": "tavily-mcp", "args": []}\r\n\t}\r\n}',
            "~/.claude/settings.json": '{\r\n\t"enableAllProjectMcpServers": true,\r\n'
            '\t"permissions": {"allow": [], "deny": []},\r\n\t"deniedMcpServers": []\r\n}',
            "{project}/.mcp.json": '\ufeff{"mcpServers":{}}',
            "~/.codex/config.toml": '\ufeff# mine\r\nmodel = "x" # é\r\n'
            + (_toml_server("tavily") + "# last\n" + TRUST).rstrip().replace("\n", "\r\n"),
            "{project}/.codex/config.toml": "# nothing but a remark\r\n",
            "~/.config/opencode/opencode.jsonc": "{\r\n\t// mine\r\n\t"
            + SCHEMA
            + ',\r\n\t"mcp": {\r\n\t\t/* no */ "tavily": {"type": "local", "command": ["tavily-mcp"],}, // yes\r\n'
            "\t},\r\n}",
            "{project}/opencode.json": "\ufeff{ // here too\r\n}",
            "{project}/AGENTS.md": "# Ours\r\n\r\nText without an end",
            "~/.codex/AGENTS.md": "\ufeffText without an end",
        },
        refuses={("codex", "project"): ("forced",)},
    ),
    "TOML inline": FieldOf(
        {
            "~/.codex/config.toml": 'web_search = "cached"\n'
            'mcp_servers = { notes = { command = "notes-mcp" }, '
            'tavily = { command = "npx", args = ["tavily-mcp"], enabled = true } } # all in one\n'
            'projects = { "{project}" = { trust_level = "trusted" } }\n',
            "{project}/.codex/config.toml": "mcp_servers = {}\n",
        },
        ("codex",),
        refuses={("codex", "project"): ("forced",)},
    ),
    "TOML dotted": FieldOf(
        {
            "~/.codex/config.toml": 'mcp_servers.tavily.command = "npx"\n'
            'mcp_servers.tavily.args = [\n  "-y", # quiet\n  "tavily-mcp",\n]\n'
            'projects."{project}".trust_level = "trusted"\n\n[tui]\nnotifications = true\n',
            "{project}/.codex/config.toml": "[tui]\nnotifications = true\n\n[mcp_servers]\n",
        },
        ("codex",),
        refuses={("codex", "project"): ("forced",)},
    ),
    "one word for all tools": FieldOf(
        {
            "~/.config/opencode/opencode.json": "{ " + SCHEMA + ', "permission": "allow" }',
            "{project}/opencode.json": '{ "permission": "ask" /* all */ }',
        },
        # a word is a star, and the star keeps the place that it has in the weaker file
        ("opencode",),
    ),
    "three files of one scope": FieldOf(
        {
            "~/.config/opencode/config.json": '{ "permission": { "websearch": "allow", "*": "ask" } }',
            "~/.config/opencode/opencode.json": '{ "mcp": { "tavily": { "type": "local", '
            '"command": ["tavily-mcp"] } } }',
            "~/.config/opencode/opencode.jsonc": '{ // the strongest\n  "theme": "dark" }',
            "{project}/.opencode/opencode.json": '{ "permission": { "bash": "ask" } }',
            "{project}/opencode.jsonc": '{ "instructions": ["docs/*.md"] }',
        },
        ("opencode",),
        rich=True,
    ),
    "the older switch": FieldOf(
        {
            "~/.config/opencode/opencode.json": '{ "tools": { "webfetch": false }, "permission": { "bash": "ask" } }',
            "{project}/opencode.json": '{ "agent": { "build": { "permission": { "webfetch": "allow" } } } }',
        },
        ("opencode",),
        refuses={("opencode", scope): ("web_fetch=forced",) for scope in SCOPES},
    ),
    "links": FieldOf(
        {
            "~/dotfiles/claude.json": as_json({"mcpServers": {"tavily": RIVAL}}),
            "~/dotfiles/claude/settings.json": as_json({"enableAllProjectMcpServers": True}),
            "~/dotfiles/config.toml": 'model = "x"\n' + TRUST,
            "~/dotfiles/AGENTS.md": "mine\n",
            "~/dotfiles/opencode/opencode.json": "{ " + SCHEMA + " }",
            "{project}/conf/mcp.json": '{"mcpServers": {}}',
            "{project}/conf/codex.toml": "",
            "{project}/conf/opencode.json": "{}",
            "{project}/CLAUDE.md": "ours\n",
        },
        links={
            "~/.claude.json": "dotfiles/claude.json",
            "~/.claude": "dotfiles/claude",
            "~/.codex/config.toml": "{home}/dotfiles/config.toml",
            "~/.codex/AGENTS.md": "../dotfiles/AGENTS.md",
            "~/.config/opencode": "../dotfiles/opencode",
            "{project}/.mcp.json": "conf/mcp.json",
            "{project}/.codex/config.toml": "../conf/codex.toml",
            "{project}/opencode.json": "{project}/conf/opencode.json",
            "{project}/AGENTS.md": "CLAUDE.md",
        },
    ),
    "rules that hide one another": FieldOf(
        {
            "~/.claude/settings.json": as_json({"enableAllProjectMcpServers": True}),
            "~/.claude/CLAUDE.md": "mine\n",
            "{project}/CLAUDE.md": "ours\n",
            "~/.codex/config.toml": TRUST.lstrip(),
            "~/.codex/AGENTS.md": "hidden\n",
            "~/.codex/AGENTS.override.md": "counts\n",
            "{project}/AGENTS.md": "Long.\n" * 3000,
            "~/.config/opencode/opencode.json": '{ "instructions": ["~/mine.md"] }',
        },
    ),
    "our own tool denied": FieldOf(
        {
            "~/.claude/settings.json": as_json(
                {"permissions": {"deny": ["mcp__*__deepseek_fetch"]}, "enableAllProjectMcpServers": True}
            ),
            "~/.config/opencode/opencode.json": '{ "permission": { "*": "allow", "deepseek_deepseek_f*": "deny" } }',
        },
        ("claude", "opencode"),
        refuses={
            (host, scope): tuple(f"web_fetch={tier}" for tier in _ALL_BUT_OFF)
            for host in ("claude", "opencode")
            for scope in SCOPES
        },
    ),
    "our server denied": FieldOf(
        {
            "~/.claude/settings.json": as_json({"deniedMcpServers": [{"serverName": "deepseek"}]}),
            "~/.config/opencode/opencode.json": '{ "permission": { "deepseek_*": "deny" } }',
        },
        ("claude", "opencode"),
        refuses={(host, scope): _ALL_BUT_OFF for host in ("claude", "opencode") for scope in SCOPES},
    ),
    "our name in a stronger layer": FieldOf(
        {
            "~/.claude.json": as_json({"projects": {"{project}": {"mcpServers": {"deepseek": {"command": "mine"}}}}}),
            "~/.codex/config.toml": TRUST.lstrip(),
            "{project}/sub/.codex/config.toml": '[mcp_servers.deepseek]\ncommand = "mine"\n',
            "{project}/.opencode/opencode.json": '{ "mcp": { "deepseek": { "type": "local", "command": ["mine"] } } }',
        },
        below="sub",
        refuses={(host, scope): ("off", *_ALL_BUT_OFF) for host in HOSTS for scope in SCOPES},
    ),
    "a deeper folder decides": FieldOf(
        {
            "~/.claude/settings.json": as_json({"enableAllProjectMcpServers": True}),
            "{project}/.claude/settings.local.json": as_json({"permissions": {"allow": ["WebSearch"]}}),
            "~/.codex/config.toml": TRUST.lstrip(),
            "{project}/sub/.codex/config.toml": 'web_search = "live"\n',
            "{project}/sub/opencode.json": '{ "permission": { "*": "allow" } }',
        },
        below="sub",
        refuses={
            **{("codex", scope): ("forced",) for scope in SCOPES},
            # the star of the deeper folder comes last
            **{("opencode", scope): ("off", "forced") for scope in SCOPES},
        },
    ),
    "blank": FieldOf(
        {
            "~/.claude.json": "",
            "~/.claude/settings.json": "",
            "~/.codex/config.toml": "",
            "~/.codex/AGENTS.md": "",
            "~/.config/opencode/opencode.json": "",
            "{project}/.mcp.json": "",
            "{project}/opencode.json": "",
            "{project}/AGENTS.md": "",
        },
        refuses={("codex", "project"): ("forced",), ("claude", "project"): ("forced",)},
    ),
    "moved by variables": FieldOf(
        {
            "~/cx/config.toml": 'model = "x"\n' + TRUST,
            "~/cl/.claude.json": as_json({"mcpServers": {"tavily": RIVAL}}),
            "~/cl/settings.json": as_json({"enableAllProjectMcpServers": True}),
        },
        variables={"CODEX_HOME": "{home}/cx", "CLAUDE_CONFIG_DIR": "{home}/cl", "XDG_CONFIG_HOME": "{home}/xdg"},
    ),
}


def refusal_expected(field: str, host: str, scope: str, search: str, fetch: str) -> bool:
    """Whether the facts of the host are against it."""
    against = FIELDS[field].refuses.get((host, scope), ())
    for capability, tier in zip(CAPABILITIES, (search, fetch), strict=True):
        if tier in against or f"{capability}={tier}" in against:
            return True
    return host == "codex" and fetch == "forced" and search != "forced"


def world_of(field: str, tmp_path: Path) -> World:
    """The world of a field."""
    found = FIELDS[field]
    return make(tmp_path, found.files, found.links, found.below, found.variables)
