"""What keeps the planner's tests fast: the catalogues read once, and no waiting for the disk to be safe.

That a write is durable is shown in `tests/transaction`; that the data files are read is shown everywhere else.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostconf.hosts.load import load_hosts
from hostconf.hosts.schema import Host
from hostconf.integrations.load import load_integrations
from hostconf.integrations.schema import Integration


@functools.cache
def hosts() -> tuple[Host, ...]:
    """The hosts the package brings."""
    return load_hosts()


@functools.cache
def integrations(*also: str) -> tuple[Integration, ...]:
    """The integrations the package brings, and further files."""
    return load_integrations(also=also)


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest) -> Iterator[None]:
    """Catalogues from memory, no fsync; the second reader of what is written for the matrix alone."""
    with pytest.MonkeyPatch.context() as patch:
        if "test_matrix" not in request.node.nodeid:
            patch.setattr("hostconf.preflight.check_meaning", lambda changes: None)
        patch.setattr("hostconf.workflow.gather.load_hosts", hosts)
        patch.setattr("hostconf.workflow.gather.load_integrations", integrations)
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


SECOND = """
id = "other-web"
name = "Other web tools"
server = "otherweb"
installable = true
doc = "A second integration, for tests"

[capabilities]
web_search = ["other_search"]
web_fetch = ["other_fetch"]

[recognise]
packages = ["other-web-tools"]

[paths.mcp]
transport = "stdio"
command = "npx"
args = ["-y", "{package}"]
package = "other-web-tools"

[[environment]]
name = "OTHER_KEY"
secret = true
required = true
doc = "Its key"

[off]
web_search = { OTHER_SEARCH = "false" }
web_fetch = { OTHER_FETCH = "false" }

[source]
where = ["a test"]
checked = 2026-11-30
"""


@pytest.fixture
def second(quick: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """A catalogue with a second integration that can be installed; gives its id."""
    path: Path = tmp_path_factory.mktemp("catalogue") / "other-web.toml"
    path.write_text(SECOND)
    monkeypatch.setattr("hostconf.workflow.gather.load_integrations", lambda: integrations(str(path)))
    return "other-web"
