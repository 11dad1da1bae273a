"""Driving the wizard in a test: a home of its own, waiting for work instead of sleeping, and reading the screen."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from hostconf.environment import read_environment
from hostconf.tui.app import Wizard

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
UPDATE = bool(os.environ.get("HOSTCONF_UPDATE_SNAPSHOTS"))
SIZES: tuple[tuple[int, int], ...] = ((80, 24), (120, 40))
THEMES = ("hostconf-dark", "hostconf-light")

FILES = {
    ".claude.json": """{
  "mcpServers": {
    "tavily": {
      "command": "npx",
      "args": ["-y", "tavily-mcp@latest"],
      "env": { "TAVILY_API_KEY": "tvly-not-a-real-key" }
    },
    "notes": { "command": "notes-mcp" }
  }
}
""",
    ".codex/config.toml": """# my codex
model = "gpt-5.5"
web_search = "live"   # I like fresh results

[mcp_servers.tavily]  # leave on, please
command = "npx"
args = ["-y", "tavily-mcp@latest"]
env_vars = ["TAVILY_API_KEY"]
""",
    ".codex/AGENTS.md": """# Rules

- For every web search use the tool `mcp__tavily__tavily_search`.
""",
}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A home with two hosts and a rival."""
    home = tmp_path / "home"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


@pytest.fixture(autouse=True)
def one_key_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys as a person presses them: each acts before the next comes. Sent at once, one may overtake a focus."""
    at_once = Pilot.press

    async def press(self: Pilot[Any], *keys: str) -> None:
        for key in keys:
            await at_once(self, key)

    monkeypatch.setattr(Pilot, "press", press)


Open = Callable[..., Wizard]


@pytest.fixture
def wizard(sample: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A wizard on the sample home, or on `home`; with colours unless `colour=False`."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")

    def opened(home: Path | None = None, project: Path | None = None, **options: Any) -> Wizard:
        place = home or sample
        environment = read_environment(
            home=str(place),
            project=str(project) if project else None,
            cwd=str(project or place),
            variables={"PATH": os.defpath, "DEEPSEEK_API_KEY": "x", "TAVILY_API_KEY": "x"},
        )
        # of every run the same: when it began
        return Wizard(environment._replace(now="2026-11-30T10:00:00Z"), **options)

    return opened


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until nothing is at work and what it brought is drawn. Never a sleep."""
    quiet = 0
    while quiet < 3:
        await pilot.pause()
        try:
            await pilot.app.workers.wait_for_complete()
        except WorkerCancelled:
            continue  # a newer piece of work took its place: wait for that
        quiet += 1
    await pilot.pause()


def now(app: Wizard) -> object:
    """The screen, whatever the reader of types thinks that it is."""
    return app.screen


def screen_lines(app: Wizard) -> list[str]:
    """What stands on the screen, line by line."""
    height = app.size.height
    rows = app.screen._compositor.render_strips(app.size)
    return ["".join(segment.text for segment in rows[y]).rstrip() for y in range(height)]


def screen_text(app: Wizard) -> str:
    """What stands on the screen."""
    return "\n".join(screen_lines(app))


def same_picture(app: Wizard, name: str, home: Path | None = None) -> None:
    """The screen as SVG equals `pictures/<name>.svg`; HOSTCONF_UPDATE_SNAPSHOTS=1 writes it."""
    svg = app.export_screenshot(title="hostconf", simplify=True)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    if home is not None:
        assert str(home) not in svg, "the place of this run is in the picture"
    path = PICTURES / f"{name}.svg"
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg)
    assert path.exists(), f"no picture `{path.name}`; HOSTCONF_UPDATE_SNAPSHOTS=1 makes it"
    if path.read_text() != svg:
        shown = PICTURES / f"{name}.now.svg"
        shown.write_text(svg)
        pytest.fail(f"the screen differs from `{path}`; see `{shown}`, or write it with HOSTCONF_UPDATE_SNAPSHOTS=1")
