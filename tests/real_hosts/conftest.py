"""Real hosts for the tests of this folder, and the table of what they proved.

`make real-hosts` runs these; plain `pytest` never does (the mark is set in tests/conftest.py). Run them with
`-n 2 --dist worksteal`: every start has a network and a home of its own, and half of its time is spent waiting. The
programs are installed once, under a lock.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_hosts.drive import DRIVERS, Driver, containment
from tests.real_hosts.install import install

# Taken before tests/conftest.py cleans the environment: npm has to find its own settings, and we the cache.
MACHINE = dict(os.environ)

Record = Callable[[str, object], None]


@pytest.fixture(scope="session")
def driver_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Driver]:
    """The driver of a host, its program installed."""
    made: dict[str, Driver] = {}

    def get(host: str) -> Driver:
        if host not in made:
            made[host] = DRIVERS[host](install(host, MACHINE), tmp_path_factory.mktemp(f"drive-{host}"))
        return made[host]

    return get


@pytest.fixture
def host_home(tmp_path: Path) -> Path:
    """A home for one host."""
    place = tmp_path / "home"
    place.mkdir()
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that git knows."""
    place = tmp_path / "project"
    place.mkdir()
    subprocess.run(["git", "init", "--quiet", str(place)], check=True, timeout=30)
    return place


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The cells: what was wished, and who proved it."""
    rows = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            cells = [value for name, value in report.user_properties if name == "cell"]
            if cells and report.when == "call":
                rows.append((*json.loads(str(cells[-1])), outcome))
    if not rows:
        return
    write = terminalreporter.write_line
    terminalreporter.section("cells judged by real hosts")
    write(f"cage: {containment().words}")
    for host, scope, field, tiers, verdict, outcome in sorted(rows):
        said = verdict if outcome == "passed" else f"FAILED ({verdict})"
        write(f"{host:9} {scope:8} {field:16} {tiers:38} {said}")
    proved = sum(1 for row in rows if row[5] == "passed" and row[4].startswith("proved"))
    refused = sum(1 for row in rows if row[5] == "passed" and row[4].startswith("refused"))
    failed = sum(1 for row in rows if row[5] != "passed")
    write(f"{proved} proved, {refused} refused with reason and nothing written, {failed} failed, of {len(rows)} cells")
