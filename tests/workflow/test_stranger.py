"""What a stranger found who tried to break it: each a fault of its kind, mended."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostconf import workflow
from hostconf.errors import UsageError
from hostconf.workflow.request import Request
from tests.plan.world import World, make

ROOT = Path(__file__).resolve().parents[2]


def wish(host: str, tier: str = "optional", **more: object) -> Request:
    return Request("deepseek-web-retrieval", (host,), tiers=((None, tier),), **more)  # type: ignore[arg-type]


def uninstall(world: World, host: str) -> int:
    return workflow.uninstall(world.environment(), None, [host], None, yes=True).exit_code


@pytest.mark.parametrize(
    ("host", "path", "before", "after"),
    [
        ("codex", ".codex/config.toml", "", "# [mcp_servers.old]  parked\n"),
        ("codex", ".codex/config.toml", "# mine\n\n", ""),
        ("opencode", ".config/opencode/opencode.jsonc", "// mine\n", ""),
    ],
)
def test_a_comment_in_a_file_we_made_keeps_the_file(
    tmp_path: Path, host: str, path: str, before: str, after: str
) -> None:
    world = make(tmp_path, {})
    assert workflow.apply(world.environment(), wish(host), yes=True).exit_code == 0
    file = world.home / path
    file.write_text(before + file.read_text() + after)

    uninstall(world, host)

    assert (before + after).strip() in file.read_text()
    assert "deepseek" not in file.read_text()


def test_a_key_beside_ours_does_not_keep_our_denial_alive(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.config/opencode/opencode.jsonc": '{"permission":"allow"}\n'})
    assert workflow.apply(world.environment(), wish("opencode", "forced"), yes=True).exit_code == 0
    file = world.home / ".config/opencode/opencode.jsonc"
    file.write_text(file.read_text().replace('"*":', '"bash": "ask", "*":', 1))

    uninstall(world, "opencode")

    assert "deny" not in file.read_text()
    assert '"bash": "ask"' in file.read_text()


@pytest.mark.parametrize("words", [["status"], ["status", "--json"], ["--help"]])
def test_a_closed_or_full_standard_output_is_no_traceback(tmp_path: Path, words: list[str]) -> None:
    variables = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    line = " ".join([sys.executable, "-m", "hostconf", *words])
    for target in (">&-", ">/dev/full"):
        done = subprocess.run(
            ["sh", "-c", f"{line} {target}"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == (0 if target == ">&-" else 1)


def test_a_file_with_two_names_is_refused_by_the_plan_already(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.codex/config.toml": "a = 1\n"})
    os.link(world.home / ".codex/config.toml", world.home / "other")

    planned = workflow.plan(world.environment(), wish("codex"))

    assert planned.exit_code == 3
    assert planned.data["refusals"][0]["code"] == "hard-linked"


def test_any_reference_may_be_registered_as_ours(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.codex/config.toml": ""})
    request = wish("codex", "forced", package="../my/fork@1.2")

    assert workflow.apply(world.environment(), request, yes=True).exit_code == 0

    found = workflow.status(world.environment(), ["codex"]).data["hosts"][0]
    assert [t["tool"] for t in found["surface"]["web_search"]] == ["mcp__deepseek__deepseek_web_search"]
    assert uninstall(world, "codex") == 0
    assert (world.home / ".codex/config.toml").read_text() == ""


@pytest.mark.parametrize("value", ["٣", "10 ", "1_000", "0x10", ""])
def test_a_knob_takes_plain_numbers(tmp_path: Path, value: str) -> None:
    world = make(tmp_path, {})

    with pytest.raises(UsageError, match="number"):
        workflow.plan(world.environment(), wish("codex", settings=(("count", value),)))


def test_explain_says_that_a_file_is_broken(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.codex/config.toml": "a = 1\nb = [1,\n 2 3]\n"})

    told = workflow.explain(world.environment(), "web_search", ["codex"]).data["hosts"][0]["sentences"]

    assert "cannot be used" in told[0]
    assert "config.toml`:" in told[0]


def test_a_refusal_has_a_column_and_is_said_once(tmp_path: Path) -> None:
    world = make(tmp_path, {"~/.claude.json": '{"mcpServers": {},}\n'})

    result = workflow.plan(world.environment(), wish("claude"))

    assert len(result.errors) == 1
    assert result.errors[0]["line"] == 1
    assert result.errors[0]["column"] == 18
    assert "web_search optional, web_fetch optional" in result.errors[0]["message"]


def test_a_home_that_is_no_utf_8_is_no_fault_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hostconf.cli import main

    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/h\xff"))
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text("a = 1\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr("sys.stderr", io.StringIO())

    code = main(["apply", "deepseek-web-retrieval", "--host", "codex", "--yes"])

    assert code == 0
    assert main(["uninstall", "--yes"]) == 0
    assert (home / ".codex" / "config.toml").read_text() == "a = 1\n"
