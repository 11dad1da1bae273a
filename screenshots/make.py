"""Draw the pictures of the README from the real command line, run on a sample home.

`python screenshots/make.py` writes them, `python screenshots/make.py --check` only says
whether they are fresh. Needs rich; the sample home is made anew each time and removed.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHOWN_HOME = "/home/ada"
WIDTH = 130

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
    ".claude/settings.json": """{
  "permissions": {
    "deny": ["Bash(rm:*)"]
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

PICTURES = {
    "status": ["status", "codex"],
    "conflicts": ["conflicts", "codex"],
    "plan": [
        *("plan", "deepseek-web-retrieval", "--host", "codex"),
        *("--tier", "web_search=forced", "--tier", "web_fetch=preferred", "--env", "DEEPSEEK_API_KEY"),
    ],
}


def run(words: list[str]) -> str:
    """What the command prints on a fresh sample home, colours included."""
    place = Path(tempfile.mkdtemp(prefix="hostconf-picture-"))
    try:
        home = place / "home"
        for name, text in FILES.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        variables = {
            "HOME": str(home),
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "COLUMNS": str(WIDTH),
            "DEEPSEEK_API_KEY": "x",
            "TAVILY_API_KEY": "x",
            "PYTHONPATH": str(HERE.parent / "src"),
        }
        # a pseudo terminal, so that the picture shows what a person sees
        script = "import pty, sys\nsys.exit(pty.spawn([sys.executable, '-m', 'hostconf', *sys.argv[1:]]) >> 8)\n"
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            cwd=home,
            env={**variables, "TERM": "xterm-256color"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        text = done.stdout.decode().replace("\r\n", "\n")
        return text.replace(str(home), SHOWN_HOME).replace(str(home)[1:], SHOWN_HOME[1:])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def draw(name: str, words: list[str]) -> str:
    """The picture as SVG."""
    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(Text.from_ansi(f"$ hostconf {' '.join(words)}\n"), end="")
    console.print(Text.from_ansi(run(words)), end="")
    return console.export_svg(title=f"hostconf {words[0]}", theme=MONOKAI, unique_id=f"hostconf-{name}")


def main(argv: list[str]) -> int:
    """Write all pictures, or with `--check` compare them."""
    stale = []
    for name, words in PICTURES.items():
        path = HERE / f"{name}.svg"
        svg = draw(name, words)
        if "--check" in argv:
            if not path.exists() or path.read_text() != svg:
                stale.append(path.name)
        else:
            path.write_text(svg)
    if stale:
        print(f"stale: {', '.join(stale)}; run `python screenshots/make.py`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
