"""The command line as a person calls it, in this process: words in; exit code, output and talk out."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hostconf.cli import main
from tests.plan.world import World


class Ran(NamedTuple):
    """What one command line did."""

    code: int
    out: str
    err: str

    def envelope(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        value: dict[str, Any] = json.loads(self.out)
        assert set(value) == {"schema", "command", "status", "data", "messages", "errors"}
        assert value["schema"] == 1
        right = ("success", "partial") if self.code in (0, 6) else ("error", "partial")
        assert value["status"] in right, (self.code, value["status"])
        return value


@contextlib.contextmanager
def _machine(variables: Mapping[str, str], folder: Path) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """These variables and this folder, and streams that keep what is written, carriage returns too."""
    kept, here = dict(os.environ), Path.cwd()
    out, err = io.StringIO(newline=""), io.StringIO(newline="")
    streams = sys.stdin, sys.stdout, sys.stderr
    try:
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(folder)
        sys.stdin, sys.stdout, sys.stderr = io.StringIO(), out, err
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(here)
        os.environ.clear()
        os.environ.update(kept)


def run(world: World, *words: str, **variables: str) -> Ran:
    """One command line in the project of the world."""
    with _machine({**world.shell(), **variables}, world.project / world.below) as (out, err):
        code = main(words)
    found = Ran(code, out.getvalue(), err.getvalue())
    assert "Traceback" not in found.out + found.err
    assert '"code": "bug"' not in found.out and "nobody foresaw" not in found.err, found.err + found.out
    return found
