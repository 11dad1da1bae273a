"""What every test stands on: a home of its own, and none of the machine's variables.

A test that wants a variable sets it; what the machine has set for its own hosts is
taken away before any test or fixture runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What a program needs to run at all. Everything else could move a host's files or hold a secret.
KEPT = re.compile(
    r"PATH|LANG|LANGUAGE|LC_.*|TERM|TMPDIR|TZ|USER|LOGNAME|SHELL|CI|"
    r"PYTHON.*|PYENV.*|VIRTUAL_ENV|PYTEST_.*|HYPOTHESIS_.*|COV_.*|COVERAGE_.*|OPENBLAS.*|"
    r"PIP_.*|npm_config_.*|NPM_CONFIG_.*|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|"
    r"(?i:https?_proxy|no_proxy|all_proxy)"
)


@pytest.fixture(scope="session", autouse=True)
def _clean_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For fixtures wider than a test: no variable of the machine, a home that is empty."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if not KEPT.fullmatch(name):
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("session-home")))
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of this test: empty, and where HOME and XDG point."""
    place = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / ".config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(place / ".local" / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(place / ".local" / "share"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / ".cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    return place


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything under `tests/real_hosts` is marked so, before the marks are looked at."""
    for item in items:
        if (ROOT / "tests" / "real_hosts") in item.path.parents:
            item.add_marker(pytest.mark.real_hosts)
