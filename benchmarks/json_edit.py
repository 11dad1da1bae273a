"""What an edit in a large JSON file costs: CPU against `json.loads` of the same bytes, memory against its size.

    python benchmarks/json_edit.py [MEGABYTES]

The file is made as `~/.claude.json` grows: projects with histories, one server entry is
set in one of them. Each figure is the best of several runs, each run in a process of
its own. Ends with 1 when a goal is missed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

GOAL_CPU = 4.0
GOAL_MEMORY = 12.0
ROUNDS = 7
AT = ("projects", "/home/user/work/project-7", "mcpServers", "hostconf")
SERVER = {"type": "stdio", "command": "npx", "args": ["-y", "package"], "env": {"KEY": "${KEY}"}}
WORDS = [
    "fix",
    "the",
    "failing",
    "test",
    "in",
    "parser.py",
    'say "so"',
    "→ naïve",
    "two\n\tlines",
    "a\\b",
    "😀",
    "once more",
]


def made(megabytes: float) -> bytes:
    """A file of about that size."""
    rng = Random(7)

    def words(most: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, most)))

    projects: dict[str, object] = {}
    size = 0
    while size < megabytes * 1_000_000:
        history = [
            {
                "display": words(30),
                "pastedContents": {} if rng.random() < 0.8 else {"1": {"id": 1, "content": words(90)}},
            }
            for _ in range(rng.randrange(100))
        ]
        project = {
            "allowedTools": [f"Bash({words(2)}:*)" for _ in range(rng.randrange(6))],
            "history": history,
            "mcpContextUris": [],
            "mcpServers": {} if rng.random() < 0.7 else {"docs": {"command": "npx", "args": ["-y", "docs"], "env": {}}},
            "enabledMcpjsonServers": [],
            "hasTrustDialogAccepted": rng.random() < 0.5,
            "projectOnboardingSeenCount": rng.randrange(9),
            "lastCost": rng.random() * 10,
            "lastTotalInputTokens": rng.randrange(1_000_000),
            "lastSessionId": f"{rng.getrandbits(128):032x}",
        }
        projects[f"/home/user/work/project-{len(projects)}"] = project
        size += len(json.dumps(project, indent=2, ensure_ascii=False).encode()) * 11 // 10
    tips = {f"tip-{number}": number for number in range(40)}
    root = {"numStartups": 412, "tipsHistory": tips, "projects": projects, "mcpServers": {}, "userID": "0" * 64}
    return json.dumps(root, indent=2, ensure_ascii=False).encode()


def best(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        kept = work()
        times.append(time.process_time() - start)
        del kept
    return min(times)


def child(what: str, path: str) -> None:
    """One measurement, printed: seconds, or bytes of memory above what the modules take."""
    from hostconf.formats.base import Edit
    from hostconf.formats.json_ import parse_json

    def edit() -> Edit:
        return parse_json(data).set(AT, SERVER)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if what == "make":
        Path(path).write_bytes(made(float(sys.argv[3])))
        return
    data = Path(path).read_bytes()
    if what == "memory":
        edit().after.to_bytes()
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
    else:  # both in one process, so that they see the same machine
        print(best(lambda: json.loads(data)), best(edit))


def main(megabytes: str) -> int:
    """Measure and print; 1 when a goal is missed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "large.json"

        def run(what: str) -> list[float]:
            # In a child, and this process stays small: a child's peak begins with that of its parent.
            command = [sys.executable, __file__, what, str(path), megabytes]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            return [float(word) for word in done.stdout.split()]

        run("make")
        size = path.stat().st_size
        loads, edit = run("time")
        (memory,) = run("memory")
    print(f"file        {size / 1e6:8.1f} MB")
    print(f"json.loads  {loads * 1000:8.0f} ms CPU")
    print(f"edit        {edit * 1000:8.0f} ms CPU: parse, set one nested entry, check")
    print(f"ratio       {edit / loads:8.2f}    goal at most {GOAL_CPU}")
    print(f"peak memory {memory / 1e6:8.1f} MB, {memory / size:.1f} times the file; goal at most {GOAL_MEMORY}")
    return 0 if edit / loads <= GOAL_CPU and memory / size <= GOAL_MEMORY else 1


if __name__ == "__main__":
    if len(sys.argv) == 4:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
        child(sys.argv[1], sys.argv[2])
    else:
        sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "10"))
