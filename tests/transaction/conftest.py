"""A folder for transactions: in memory where the machine has such a place, for the sweeps sync thousands of times."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder, its path real."""
    memory = "/dev/shm"
    where = memory if os.path.isdir(memory) and os.access(memory, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="hostconf-", dir=where)).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
