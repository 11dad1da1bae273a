"""Which rules files a host loads, which hide which, and what of them reaches the model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hosts.field import HOME, Files, Kind, look

CODEX = "~/.codex/config.toml"
OPENCODE = "~/.config/opencode/opencode.json"


def loaded(host: str, files: Files, folder: str = "", **more: Any) -> list[str]:
    """Names of the rules files that are loaded, in order, without home and project."""
    rows = [r.path for r in look(host, files, folder, **more).survey.rules if r.loaded]
    return [path.replace(f"{HOME}/p/", "./").replace(f"{HOME}/", "~/") for path in rows]


FALLBACK = {CODEX: 'project_doc_fallback_filenames = ["CLAUDE.md"]\n'}


def listed(*items: object) -> dict[str, Any]:
    """A file of OpenCode with that list."""
    return {"instructions": [*items]}


def texts(*names: str) -> dict[str, str]:
    """Files that hold their own name."""
    return {name: f"# {name}\n" for name in names}


@pytest.mark.parametrize(
    ("files", "folder", "expected"),
    [
        (texts("~/.claude/CLAUDE.md", "./CLAUDE.md"), "", ["~/.claude/CLAUDE.md", "./CLAUDE.md"]),
        (texts("~/.claude/rules/a.md", "~/.claude/rules/d/b.md"), "",
         ["~/.claude/rules/a.md", "~/.claude/rules/d/b.md"]),
        (texts("./.claude/CLAUDE.md", "./CLAUDE.local.md", "./.claude/rules/x.md"), "",
         ["./.claude/CLAUDE.md", "./.claude/rules/x.md", "./CLAUDE.local.md"]),
        (texts("./CLAUDE.md", "./s/CLAUDE.md"), "s", ["./CLAUDE.md", "./s/CLAUDE.md"]),
        (texts("./CLAUDE.md", "./s/CLAUDE.md"), "", ["./CLAUDE.md"]),
        (texts("./AGENTS.md"), "", ["./AGENTS.md"]),
        (texts("./AGENTS.md", "./CLAUDE.md"), "", ["./CLAUDE.md"]),
        (texts("./AGENTS.md", "./CLAUDE.local.md"), "", ["./CLAUDE.local.md"]),
        (texts("./AGENTS.md", "./.claude/CLAUDE.md"), "", ["./.claude/CLAUDE.md"]),
        (texts("./AGENTS.md", "./.claude/rules/x.md"), "", ["./.claude/rules/x.md", "./AGENTS.md"]),
        (texts("~/.claude/AGENTS.md", "~/.claude/CLAUDE.local.md"), "", []),
        (texts("/etc/claude-code/CLAUDE.md"), "", ["/etc/claude-code/CLAUDE.md"]),
    ],
)  # fmt: skip
def test_claude_loads(files: Files, folder: str, expected: list[str]) -> None:
    assert loaded("claude", files, folder) == expected


def test_claude_excludes_by_pattern() -> None:
    files: dict[str, Any] = texts("~/.claude/CLAUDE.md", "./CLAUDE.md", "./.claude/rules/x.md")
    files["~/.claude/settings.json"] = {"claudeMdExcludes": ["**/p/CLAUDE.md", "*/x.md"]}
    assert loaded("claude", files) == ["~/.claude/CLAUDE.md"]
    why = look("claude", files).rules("./CLAUDE.md").why
    assert why == "excluded by the host's settings"


@pytest.mark.parametrize(
    ("files", "folder", "expected"),
    [
        (texts("~/.codex/AGENTS.md"), "", ["~/.codex/AGENTS.md"]),
        (texts("~/.codex/AGENTS.md", "~/.codex/AGENTS.override.md"), "", ["~/.codex/AGENTS.override.md"]),
        ({**texts("~/.codex/AGENTS.md"), "~/.codex/AGENTS.override.md": " \n"}, "", ["~/.codex/AGENTS.md"]),
        (texts("./AGENTS.md", "./s/AGENTS.override.md", "./s/AGENTS.md"), "s",
         ["./AGENTS.md", "./s/AGENTS.override.md"]),
        (texts("./CLAUDE.md", "./.codex/AGENTS.md"), "", []),
        ({**texts("./CLAUDE.md"), **FALLBACK}, "", ["./CLAUDE.md"]),
        ({**texts("./CLAUDE.md", "./AGENTS.md"), **FALLBACK}, "", ["./AGENTS.md"]),
    ],
)  # fmt: skip
def test_codex_loads(files: Files, folder: str, expected: list[str]) -> None:
    assert loaded("codex", files, folder) == expected


@pytest.mark.parametrize(
    ("config", "left"),
    [("", 32_768), ("project_doc_max_bytes = 100\n", 100), ('project_doc_max_bytes = "x"\n', 32_768)],
)
def test_codex_cuts_all_project_files_together(config: str, left: int) -> None:
    """From the end: a long file at the root takes the room of a deeper one. The user's own file has no cap."""
    files = {CODEX: config, "~/.codex/AGENTS.md": "u" * 40_000, "./AGENTS.md": "r" * 60, "./s/AGENTS.md": "é" * 20_000}
    found = look("codex", files, "s")
    assert len(found.rules("~/.codex/AGENTS.md").text) == 40_000
    assert len(found.rules("./AGENTS.md").text) == 60
    assert len(found.rules("./s/AGENTS.md").text.encode()) == min(left - 60, 40_000)


@pytest.mark.parametrize(
    ("files", "folder", "expected"),
    [
        (texts("~/.config/opencode/AGENTS.md", "~/.claude/CLAUDE.md"), "", ["~/.config/opencode/AGENTS.md"]),
        (texts("~/.claude/CLAUDE.md"), "", ["~/.claude/CLAUDE.md"]),
        (texts("./AGENTS.md", "./CLAUDE.md", "./CONTEXT.md"), "", ["./AGENTS.md"]),
        (texts("./CLAUDE.md", "./s/CLAUDE.md"), "s", ["./CLAUDE.md", "./s/CLAUDE.md"]),
        (texts("./s/AGENTS.md", "./CLAUDE.md"), "s", ["./s/AGENTS.md"]),
        (texts("./CONTEXT.md", "./AGENTS.local.md", "./.opencode/AGENTS.md", "./AGENTS.override.md"), "",
         ["./CONTEXT.md"]),
        ({**texts("~/x.md", "./r.md", "/abs/y.md"), OPENCODE: listed("~/x.md", "r.md", "/abs/y.md", "no.md")}, "",
         ["~/x.md", "./r.md", "/abs/y.md"]),
        ({**texts("./docs/a.md", "./docs/b.md", "./docs/c.txt"), "./opencode.json": listed("docs/*.md")}, "",
         ["./docs/a.md", "./docs/b.md"]),
        ({**texts("./u.md", "./p.md"), OPENCODE: listed("u.md"), "./opencode.json": listed("./p.md")}, "",
         ["./u.md", "./p.md"]),
        ({OPENCODE: {"instructions": ["https://x.example/r.md", 5]}}, "", []),
    ],
)  # fmt: skip
def test_opencode_loads(files: Files, folder: str, expected: list[str]) -> None:
    """The first kind that is there anywhere; listed files of all layers, each once, by the scope of its layer."""
    assert loaded("opencode", files, folder) == expected


def test_listed_files_have_the_scope_of_their_layer() -> None:
    files: dict[str, Any] = texts("./u.md", "./p.md")
    files |= {OPENCODE: {"instructions": ["u.md"]}, "./opencode.json": {"instructions": ["p.md"]}}
    found = look("opencode", files)
    assert (found.rules("./u.md").scope, found.rules("./p.md").scope) == ("user", "project")


def test_a_hidden_file_says_what_hides_it() -> None:
    found = look("claude", texts("./AGENTS.md", "./CLAUDE.md"))
    assert found.rules("./AGENTS.md").why == f"hidden by `{HOME}/p/CLAUDE.md`"
    assert not found.rules("./AGENTS.md").loaded


def test_our_block_is_known() -> None:
    found = look("codex", {"~/.codex/AGENTS.md": "x\n<!-- hostconf:begin a -->\ny\n<!-- hostconf:end a -->\n"})
    assert found.rules("~/.codex/AGENTS.md").block


@pytest.mark.parametrize("kind", ["unreadable", "dangling", "loop", "folder"])
def test_a_rules_file_that_cannot_be_read_is_a_finding(kind: str) -> None:
    found = look("claude", {"./CLAUDE.md": Kind(kind)})
    assert found.one("broken-file").path == f"{HOME}/p/CLAUDE.md"


def test_a_rules_file_that_is_not_utf8_is_read_as_far_as_it_goes() -> None:
    assert "always" in look("claude", {"./CLAUDE.md": b"\xff\xfe always\n"}).rules("./CLAUDE.md").text
