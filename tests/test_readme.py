"""The README cannot lie: its story is run as it stands, its table of hosts is the data of `hosts/`.

Write the table anew with `HOSTCONF_UPDATE_SNAPSHOTS=1 pytest tests/test_readme.py`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hostconf.cli.parser import parse
from hostconf.cli.verbs import BY_NAME
from hostconf.environment import VARIABLES
from hostconf.hosts.load import load_hosts

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
UPDATE = os.environ.get("HOSTCONF_UPDATE_SNAPSHOTS")


def story() -> str:
    found = re.search(r"<!-- story -->\n```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert found, "the README has no story"
    return found[1]


def run_story(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """The story in an empty folder, with `hostconf` on the PATH as a user has it."""
    programs = folder / "bin"
    programs.mkdir()
    command = programs / "hostconf"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m hostconf "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    home = folder / "real-home"
    home.mkdir()
    return subprocess.run(
        ["bash", "-euxc", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
        env={
            "HOME": str(home),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "LANG": "C.UTF-8",
        },
    )


def test_the_story_runs_as_it_stands(tmp_path: Path) -> None:
    """Every command succeeds and the last one, `cmp`, says nothing."""
    done = run_story(tmp_path, story())

    assert done.returncode == 0, done.stderr
    config = tmp_path / "demo" / ".codex" / "config.toml"
    assert config.read_bytes() == (tmp_path / "before.toml").read_bytes()
    assert b"\r\n" in config.read_bytes()
    assert list((tmp_path / "real-home").iterdir()) == []


def test_the_story_means_what_the_text_beneath_it_says(tmp_path: Path) -> None:
    """After `apply` the other server is off, ours is the only search tool, and the comments stand."""
    upto = story().partition("hostconf --home demo uninstall")[0]
    done = run_story(tmp_path, upto + "hostconf --home demo explain web_search codex --json > explained\n")

    assert done.returncode == 0, done.stderr
    after = (tmp_path / "demo" / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert "[mcp_servers.deepseek]" in after
    assert "enabled = false" in after
    assert "# the good one" in after
    (host,) = json.loads((tmp_path / "explained").read_text(encoding="utf-8"))["data"]["hosts"]
    assert [tool["tool"] for tool in host["tools"]] == ["mcp__deepseek__deepseek_web_search"]
    assert host["tools"][0]["line"] > 0


def test_every_command_of_the_readme_is_one() -> None:
    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^hostconf (?!--home)(.*?)(?:  .*)?$", text, re.M)

    assert {parse(command.split()).verb.name for command in commands} <= set(BY_NAME)
    assert len(commands) > 5


def test_the_files_that_the_readme_names_are_there() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")):
        assert (ROOT / link).exists(), link


def host_table() -> str:
    rows = ["| Host | Id | Checked | Evidence | Forced search | Forced fetch |", "|---|---|---|---|---|---|"]
    for host in load_hosts(str(ROOT / "hosts")):
        forced = [host.forced.get(capability, "none") for capability in ("web_search", "web_fetch")]
        checked = " on ".join(word for word in (host.checked_version, host.checked_on) if word)
        rows.append(f"| {host.name} | `{host.id}` | {checked} | {host.evidence} | {forced[0]} | {forced[1]} |")
    return "\n".join(rows) + "\n"


def test_the_table_of_hosts_is_the_data() -> None:
    text = README.read_text(encoding="utf-8")
    before, after = text.split("<!-- hosts -->\n")[0], text.split("<!-- /hosts -->")[1]
    wanted = f"{before}<!-- hosts -->\n{host_table()}<!-- /hosts -->{after}"
    if UPDATE:
        README.write_text(wanted, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == wanted


def test_every_variable_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")

    for variable in VARIABLES:
        assert f"`{variable.name}`" in text, variable.name


def test_the_programs_of_the_story_are_there() -> None:
    assert all(map(shutil.which, ("bash", "cmp", "printf")))
