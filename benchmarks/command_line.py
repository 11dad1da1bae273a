"""CPU time of the command line, the least of several runs: what a prompt or a script pays for asking.

Compare, do not quote: the figures hang on the machine. Bare Python comes first.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 7
CHOICE = "deepseek-web-retrieval --host codex --tier forced --env DEEPSEEK_API_KEY"
COMMANDS = ["--version", "--help", "status", "conflicts", f"plan {CHOICE}", "hosts", f"apply {CHOICE} --yes"]


def measure(words: list[str], home: str) -> float:
    """Least user and system time of a command in milliseconds."""
    environment = {"HOME": home, "PATH": os.defpath, "PYTHONPATH": str(ROOT / "src")}
    least = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return least * 1000


def main() -> None:
    """Print one line a command."""
    with tempfile.TemporaryDirectory() as home:
        config = Path(home, ".codex", "config.toml")
        config.parent.mkdir()
        config.write_text('model = "x"\n\n[mcp_servers.tavily]\ncommand = "npx"\nargs = ["-y", "tavily-mcp"]\n')
        print(f"{measure([sys.executable, '-c', 'pass'], home):6.0f} ms  python -c pass")
        for command in COMMANDS:
            print(f"{measure([sys.executable, '-m', 'hostconf', *command.split()], home):6.0f} ms  hostconf {command}")


if __name__ == "__main__":
    main()
