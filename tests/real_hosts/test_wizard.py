"""The wizard on files that the three hosts have written themselves, judged by their own commands.

A person adds servers with the hosts' own commands, then edits by hand; installs with the wizard in a real terminal,
where the hosts are on PATH; asks the hosts what they list; takes all back with the wizard.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from hostconf.workflow.request import Request
from tests.real_hosts.drive import Driver
from tests.real_hosts.install import wanted
from tests.real_hosts.on_path import on_path
from tests.terminal import way
from tests.terminal.terminal import Terminal

HOSTS = ("claude", "codex", "opencode")
FORCED = Request(
    "deepseek-web-retrieval",
    HOSTS,
    host_tiers=tuple((host, capability, "forced") for host in HOSTS for capability in ("web_search", "web_fetch")),
    env=(("DEEPSEEK_API_KEY", None),),
)
"""What the wizard wishes after `all_forced`."""
ADDED = {
    "claude": (
        ("mcp", "add", "--scope", "user", "notes", "--", "npx", "-y", "notes-mcp"),
        ("mcp", "add", "--scope", "user", "tavily", "-e", "TAVILY_API_KEY=fake", "--", "npx", "-y", "tavily-mcp@1.0.0"),
    ),
    "codex": (
        ("mcp", "add", "notes", "--", "npx", "-y", "notes-mcp"),
        ("mcp", "add", "tavily", "--env", "TAVILY_API_KEY=fake", "--", "npx", "-y", "tavily-mcp@1.0.0"),
    ),
}
"""What a person types; OpenCode's command asks its questions on the screen, so its file is written by hand."""
OPENCODE = """\
{
  // what I use
  "$schema": "https://opencode.ai/config.json",
  "permission": { "bash": "ask" },	/* careful */
  "mcp": {
      "notes": { "type": "local", "command": ["npx", "-y", "notes-mcp"], },
    // a search, from the time before
    "tavily": {
      "type": "local", "command": [ "npx", "-y", "tavily-mcp@1.0.0" ],
      "environment": {"TAVILY_API_KEY": "fake"},
    },
  },
}
"""


@pytest.fixture
def drivers(driver_of: Callable[[str], Driver]) -> dict[str, Driver]:
    """All three."""
    return {host: driver_of(host) for host in HOSTS}


@pytest.fixture
def lived_in(drivers: dict[str, Driver], host_home: Path, project: Path) -> Path:
    """A home with the hosts' own files: written by their own commands, then edited by hand."""
    for host, commands in ADDED.items():
        for words in commands:
            answer = drivers[host].start(host_home, project, list(words), lasting=True)
            assert answer.code == 0, answer.failed(f"{host} {' '.join(words)}")
    edit(host_home / ".claude.json", r'\[\s+"-y",\s+"notes-mcp"\s+\]', '[ "-y",\t"notes-mcp" ]')
    edit(host_home / ".codex" / "config.toml", r"\A", '# mine\nfile_opener = "none"   # no editor here\n\n')
    edit(host_home / ".codex" / "config.toml", r"(\[mcp_servers.tavily\]\n)", r"# a search, from the time before\n\1")
    settings = host_home / ".config" / "opencode" / "opencode.jsonc"
    settings.parent.mkdir(parents=True)
    settings.write_text(OPENCODE, encoding="utf-8")
    return host_home


def edit(path: Path, pattern: str, text: str) -> None:
    """Change one place of a file, as a person would."""
    changed, count = re.subn(pattern, text, path.read_text(encoding="utf-8"))
    assert count == 1, path.read_text(encoding="utf-8")
    path.write_text(changed, encoding="utf-8")


@pytest.fixture
def wizard(lived_in: Path, project: Path, tmp_path: Path) -> Iterator[Callable[[str], Terminal]]:
    """Opens the installed `hostconf` in a terminal, in the project, with this PATH."""
    if shutil.which("tmux") is None:
        pytest.fail("tmux is not installed")
    opened: list[Terminal] = []

    def start(path: str) -> Terminal:
        terminal = Terminal()
        opened.append(terminal)
        command = Path(sys.executable).parent / "hostconf"
        terminal.start((str(command),), 120, 40, env=variables(lived_in, path, tmp_path), cwd=project)
        return terminal

    yield start
    for terminal in opened:
        terminal.remove()


def variables(home: Path, path: str, tmp_path: Path) -> dict[str, str]:
    """All variables of the wizard, and what it hands on to the hosts that it asks."""
    return {
        "HOME": str(home),
        "PATH": path,
        "LANG": "C.UTF-8",
        "TERM": "tmux-256color",
        "DEEPSEEK_API_KEY": "not-a-real-key",
        "HOSTCONF_SYSTEM_ROOT": str(tmp_path / "system"),
    }


# ------------------------------------------------------------------ the hosts' own commands


LISTS = {"claude": ("mcp", "list"), "codex": ("mcp", "list", "--json"), "opencode": ("mcp", "list")}
OURS, RIVAL, NEUTRAL = "deepseek", "tavily", "notes"
BEFORE = {host: {NEUTRAL: "on", RIVAL: "on"} for host in HOSTS}
AFTER = {
    "claude": {NEUTRAL: "on", OURS: "on"},  # one that is denied is not listed
    "codex": {NEUTRAL: "on", RIVAL: "off", OURS: "on"},
    "opencode": {NEUTRAL: "on", RIVAL: "off", OURS: "on"},
}


def said(driver: Driver, home: Path, project: Path, *words: str) -> str:
    """What a host prints; it works on a copy of the home."""
    answer = driver.start(home, project, list(words), {"NO_COLOR": "1", "DEEPSEEK_API_KEY": "not-a-real-key"})
    assert answer.code == 0, answer.failed(f"{driver.id} {' '.join(words)}")
    return re.sub("\x1b\\[[0-9;]*m", "", answer.out)


def listed(drivers: Mapping[str, Driver], home: Path, project: Path) -> dict[str, dict[str, str]]:
    """What each host lists by the command for people: server to `on`, `off`, or else its own word."""
    words = {host: said(drivers[host], home, project, *LISTS[host]) for host in HOSTS}
    marks = {"✔ Connected": "on", "connected": "on", "disabled": "off"}
    claude = re.findall(r"^(\S+): .* - (.*)$", words["claude"], re.M)
    codex = [(one["name"], "on" if one["enabled"] else "off") for one in json.loads(words["codex"])]
    opencode = re.findall(r"^● +\S (\S+) (.*?) *$", words["opencode"], re.M)
    rows = {"claude": claude, "codex": codex, "opencode": opencode}
    return {host: {name: marks.get(state, state) for name, state in found} for host, found in rows.items()}


# ------------------------------------------------------------------ the way


def all_forced(terminal: Terminal) -> None:
    """From the first screen to the choice: both capabilities forced on all hosts."""
    screen = terminal.wait_for(way.READ)
    for host, name in (("claude", "Claude Code"), ("codex", "Codex CLI"), ("opencode", "OpenCode")):
        assert re.search(rf"\[x\] {name} +{re.escape(wanted()[host]['version'])} ", screen), screen
    assert screen.count(RIVAL) >= 2 * len(HOSTS), screen
    terminal.type("n")
    screen = terminal.wait_for(re.compile(r"OpenCode +1 finding"))
    for place in ("~/.claude.json:17", "~/.codex/config.toml:9", "~/.config/opencode/opencode.jsonc:8"):
        assert re.search(rf"rival +tavily serves web search and web fetch.* {re.escape(place)}", screen), screen
    terminal.type("n")
    terminal.wait_for("× forced")  # Codex alone cannot force fetch without search, and that comes last
    terminal.wait_gone("forced  …")
    terminal.type("Right", "Right", "a")
    terminal.wait_for(re.compile("(?s)(search.*● forced.*fetch.*){3}"))
    terminal.wait_gone("forced  …")
    terminal.type("Down", "a")
    terminal.wait_for(re.compile("(?s)(● forced.*){6}"))
    terminal.wait_gone("forced  …")


def agreed(terminal: Terminal) -> None:
    """On the result: every host was really asked, and says the same as we."""
    screen = terminal.wait_for("asks again", 200)
    for name, command in (
        ("Claude Code", "claude -p /mcp"),
        ("Codex CLI", "codex mcp list --json"),
        ("OpenCode", "opencode debug config --pure"),
    ):
        assert re.search(rf"✓ {name}: agrees.*\n.*asked: {re.escape(command)}", screen), screen


def installed(terminal: Terminal) -> None:
    """From the choice to the hosts' own word on what was written, and out."""
    terminal.type("n")
    terminal.wait_for(way.PLANNED)
    way.approve(terminal, "apply")
    terminal.wait_for(way.WRITTEN)
    agreed(terminal)
    terminal.type("q")
    assert terminal.ended() == 0 and terminal.modes().sane


def uninstalled(terminal: Terminal) -> None:
    """All taken back from the screen of what is installed, and out."""
    terminal.wait_for(re.compile(r"(?s)(deepseek +deepseek +\d +0 +forced.*){3}"))
    terminal.type("i")
    terminal.wait_for(re.compile("(?s)(deepseek-web-retrieval +user +forced +forced .* as written.*){3}"))
    terminal.type("U")
    terminal.wait_for(way.PLANNED)
    way.approve(terminal)
    terminal.wait_for("✓ Taken back")
    agreed(terminal)
    terminal.type("q")
    assert terminal.ended() == 0 and terminal.modes().sane


def test_install_and_uninstall(
    drivers: dict[str, Driver], lived_in: Path, project: Path, wizard: Callable[[str], Terminal], tmp_path: Path
) -> None:
    """The hosts list what was previewed, and after the uninstall what they listed before; every byte is back."""
    path = on_path(drivers.values(), tmp_path / "npm")
    before, site = way.contents(lived_in), way.contents(project)
    assert listed(drivers, lived_in, project) == BEFORE
    planned = way.planned(variables(lived_in, path, tmp_path), FORCED)

    terminal = wizard(path)
    all_forced(terminal)
    terminal.type("n")
    screen = terminal.wait_for(way.PLANNED)
    for tool in ("WebSearch", "WebFetch", "web_search", "websearch", "webfetch"):
        assert f"loses its own {tool} in" in screen, screen
    assert screen.count("! the server tavily") == len(HOSTS), screen
    terminal.type("2")
    screen = terminal.wait_for(re.compile(r"modify +~/.config/opencode/opencode.jsonc"))
    assert set(re.findall(r"(?:modify|create) +~/(\S+)  ", screen)) == set(planned), screen
    assert way.contents(lived_in) == before
    terminal.type("Escape")
    terminal.wait_for("Which tool shall the model get for what")
    terminal.rest()
    installed(terminal)

    assert way.written(lived_in, planned) == planned
    assert listed(drivers, lived_in, project) == AFTER
    told = said(drivers["claude"], lived_in, project, "mcp", "get", OURS)
    assert re.search(r"(?s)User config.*Connected.*Args: -y deepseek-web-retrieval\n.*\$\{DEEPSEEK_API_KEY\}", told)

    uninstalled(wizard(path))
    assert way.but_state(lived_in) == before
    assert way.contents(project) == site
    assert listed(drivers, lived_in, project) == BEFORE


def test_hosts_that_write_in_between(
    drivers: dict[str, Driver], lived_in: Path, project: Path, wizard: Callable[[str], Terminal], tmp_path: Path
) -> None:
    """As at home: the hosts work on the home itself, and rewrite files: no drift, theirs stays, ours goes."""
    path = on_path(drivers.values(), tmp_path / "npm", lasting=True)
    state, own = lived_in / ".claude.json", (".codex/config.toml", ".config/opencode/opencode.jsonc")
    first, before = json.loads(state.read_bytes()), [(lived_in / name).read_bytes() for name in own]
    terminal = wizard(path)
    all_forced(terminal)
    installed(terminal)
    words = ["mcp", "add", "--scope", "user", "later", "--", "npx", "-y", "notes-mcp"]
    answer = drivers["claude"].start(lived_in, project, words, lasting=True)
    assert answer.code == 0, answer.failed("claude mcp add")
    assert b'"-y",\t"notes-mcp"' not in state.read_bytes(), "claude no longer writes its file anew"

    uninstalled(wizard(path))
    last = json.loads(state.read_bytes())
    assert last["mcpServers"] == {**first["mcpServers"], "later": first["mcpServers"][NEUTRAL]}
    assert {key: last[key] for key in first if key != "mcpServers"} == {
        key: first[key] for key in first if key != "mcpServers"
    }
    assert not (lived_in / ".claude" / "settings.json").exists()
    assert [(lived_in / name).read_bytes() for name in own] == before
    assert way.records(lived_in) == [] and way.litter(lived_in) == []
    assert listed(drivers, lived_in, project) == {**BEFORE, "claude": {**BEFORE["claude"], "later": "on"}}


# ------------------------------------------------------------------ left while a host is asked


def at_work(drivers: Mapping[str, Driver]) -> dict[int, str]:
    """The processes that were started to ask a host: number and words."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
            told = words + (place / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or is somebody else's
        if any(f"{driver.work}/".encode() in told for driver in drivers.values()):
            found[int(place.name)] = words.replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def left_while_asked(terminal: Terminal, drivers: Mapping[str, Driver], host: str) -> None:
    """By `q`, as soon as this host itself is at work; nobody waits for it, and it goes with all that it started."""
    end = time.monotonic() + 200
    while not any(words.startswith(f"{drivers[host].program} ") for words in at_work(drivers).values()):
        assert time.monotonic() < end and terminal.running(), terminal.screen()
        time.sleep(0.05)
    assert "asking the hosts" in terminal.screen()
    terminal.type("q")
    assert terminal.ended(5) == 0 and terminal.modes().sane
    end = time.monotonic() + 5
    while left := at_work(drivers):
        assert time.monotonic() < end, left
        time.sleep(0.05)


def test_project_scope_and_left_while_a_host_is_asked(
    drivers: dict[str, Driver], lived_in: Path, project: Path, wizard: Callable[[str], Terminal], tmp_path: Path
) -> None:
    """What is written and taken back stays so. Hosts that want an approval first are said to wait, and do."""
    path = on_path(drivers.values(), tmp_path / "npm")
    before, site = way.contents(lived_in), way.contents(project)
    terminal = wizard(path)
    terminal.wait_for(way.READ)
    terminal.type("W")
    terminal.wait_for("× forced")
    terminal.wait_gone("forced  …")
    terminal.type("s")
    terminal.wait_for("● project")
    terminal.wait_gone("forced  …")
    terminal.type("n")
    terminal.wait_for(way.PLANNED)
    way.approve(terminal)
    screen = terminal.wait_for(way.WRITTEN)
    assert screen.count("(deepseek)  waits") >= 2, screen
    left_while_asked(terminal, drivers, "claude")
    assert way.contents(lived_in) == before
    assert {".mcp.json", ".codex/config.toml", "opencode.json"} <= set(way.contents(project)) - set(site)
    now = listed(drivers, lived_in, project)
    assert now["claude"].pop(OURS).startswith("⏸ Pending approval")
    assert now == {**BEFORE, "opencode": {**BEFORE["opencode"], OURS: "on"}}  # codex reads no file of a project before

    terminal = wizard(path)
    terminal.wait_for(way.READ)
    terminal.type("i")
    terminal.wait_for(re.compile("(?s)(deepseek-web-retrieval +project +optional +optional .* as written.*){3}"))
    terminal.type("U")
    terminal.wait_for(way.PLANNED)
    way.approve(terminal)
    terminal.wait_for("✓ Taken back")
    left_while_asked(terminal, drivers, "opencode")
    assert way.contents(lived_in) == before
    assert way.contents(project) == site
