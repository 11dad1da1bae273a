"""An install that is killed on the way, or that holds its lock: `python -m tests.tui.interrupted HOME WHAT [WORD...]`.

`calls HOSTS` carries the install out and prints its calls, one a line; `kill HOSTS N` ends
in the middle, before the call of that number; `hold` takes the scope's lock and keeps it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hostconf import lock, workflow
from hostconf.environment import read_environment
from hostconf.model import Environment
from hostconf.record import state_folder
from hostconf.system import FailingSystem, RealSystem
from hostconf.workflow.request import Request

ROOT = Path(__file__).resolve().parents[2]
NOW = "2026-11-30T10:00:00Z"
REQUEST = Request("deepseek-web-retrieval", ("claude", "codex"), env=(("DEEPSEEK_API_KEY", None),))

Call = tuple[str, ...]


def environment(home: Path, project: Path | None = None) -> Environment:
    """The machine of a test."""
    variables = {"PATH": os.defpath, "DEEPSEEK_API_KEY": "x"}
    place = str(project) if project else None
    found = read_environment(home=str(home), project=place, cwd=place or str(home), variables=variables)
    return found._replace(now=NOW)


def install(home: Path, project: Path | None = None, system: RealSystem | None = None, **wish: Any) -> None:
    """Carry the install out."""
    prepared = workflow.prepare(environment(home, project), REQUEST._replace(**wish))
    assert prepared.ready, prepared.result.errors
    if system is not None:
        prepared = prepared._replace(house=prepared.house._replace(system=system))
    workflow.carry_out(prepared)


def _process(home: Path, project: Path | None, *words: str) -> subprocess.Popen[str]:
    paths = [str(ROOT / "src"), str(ROOT), *sys.path]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.tui.interrupted", str(home), str(project or ""), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


@cache
def _calls(home: Path, project: Path | None, hosts: str) -> tuple[Call, ...]:
    """The calls of the whole install, tried on a copy."""
    copy = home.parent / "copy-of-home"
    shutil.copytree(home, copy)
    try:
        out, _ = _process(copy, copy / project.relative_to(home) if project else None, "calls", hosts).communicate(
            timeout=60
        )
        return tuple(tuple(json.loads(line)) for line in out.splitlines())
    finally:
        shutil.rmtree(copy)


def interrupt(
    home: Path, at: Callable[[Call], bool], number: int = 1, project: Path | None = None, hosts: str = "claude codex"
) -> None:
    """Kill the install before the call of that number for which `at` holds. A project lies in the home."""
    calls = _calls(home, project, hosts)
    places = [n for n, call in enumerate(calls, 1) if at(call)]
    process = _process(home, project, "kill", hosts, str(places[number - 1]))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, "it ended before it was killed"


def laying_aside(call: Call) -> bool:
    """The end of staging: nothing was touched yet."""
    return call[0] == "replace" and call[1].endswith("journal.staging")


def exchanging(call: Call) -> bool:
    """One file takes the place of another, or a new one its own."""
    return call[0] in ("exchange", "rename_new") and re.search(r"\.hostconf-[0-9a-f]{12}-", call[1]) is not None


def cleaning(call: Call) -> bool:
    """The end: the journal goes."""
    return call[0] == "remove" and call[1].endswith("journal.done")


@contextmanager
def held(home: Path) -> Iterator[int]:
    """A process that is at work on the user's files; its id."""
    process = _process(home, None, "hold")
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def take(home: Path) -> lock.Held:
    """The scope's lock, as an apply takes it."""
    machine = environment(home)
    state = state_folder(machine, "user")
    Path(state).mkdir(parents=True, exist_ok=True, mode=0o700)
    purpose = {"op": "apply", "scope": "user", "tool": "hostconf 0.1.0", "started": NOW}
    facts = lock.facts(RealSystem(), purpose, state, "0" * 12)
    return lock.acquire(RealSystem(), lock.scope_lock(state), facts, deadline=time.monotonic() + 5)


if __name__ == "__main__":
    place, project_named, what, *rest = sys.argv[1:]
    folder, other = Path(place), Path(project_named) if project_named else None
    scope = "project" if other else "user"
    if what == "hold":
        take(folder)
        print("held", flush=True)
        signal.pause()
    else:
        failing = FailingSystem(int(rest[1]) if what == "kill" else 0)
        install(folder, other, failing, scope=scope, hosts=tuple(rest[0].split()))
        for one in failing.calls:
            print(json.dumps(one))
