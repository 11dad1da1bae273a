"""Leaving waits for what writes, and for nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event

import pytest

from hostconf.errors import Refused
from hostconf.tui.bench import Bench
from hostconf.tui.hands import Hands
from hostconf.workflow.request import Request
from tests.tui.conftest import Open


def test_what_only_reads_is_not_waited_for() -> None:
    begun, never = Event(), Event()

    def read() -> None:
        begun.set()
        never.wait()

    async def leave() -> None:
        asyncio.get_running_loop().set_default_executor(Hands(lambda: None))
        reading = asyncio.get_running_loop().run_in_executor(None, read)
        while not begun.is_set():
            await asyncio.sleep(0)
        reading.cancel()

    asyncio.run(leave())
    never.set()


def test_what_writes_is_waited_for() -> None:
    done: list[str] = []
    writing, may_end = Event(), Event()

    def last() -> None:
        writing.wait()
        may_end.set()
        while not done:
            pass

    def write() -> None:
        writing.set()
        may_end.wait()
        done.append("written")

    async def leave() -> None:
        asyncio.get_running_loop().set_default_executor(Hands(last))
        asyncio.get_running_loop().run_in_executor(None, write)

    asyncio.run(leave())
    assert done == ["written"]


def test_results_and_failures_come_back() -> None:
    def fail() -> None:
        raise ValueError("no")

    async def both() -> int:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(Hands(lambda: None))
        with pytest.raises(ValueError, match="no"):
            await loop.run_in_executor(None, fail)
        return await loop.run_in_executor(None, lambda: 7)

    assert asyncio.run(both()) == 7


def test_who_was_left_does_not_begin_to_write(wizard: Open) -> None:
    bench: Bench = wizard().bench
    prepared = bench.prepare(Request("deepseek-web-retrieval", ("codex",), env=(("DEEPSEEK_API_KEY", None),)))
    bench.leave()
    with pytest.raises(Refused, match="left before it began"):
        bench.carry_out(prepared, lambda step: None)
    assert [c.path for c in prepared.plan.changes if c.before and Path(c.real).read_bytes() != c.before] == []
