"""Threads for work that may wait. Who leaves does not wait for what only reads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any


class Hands(ThreadPoolExecutor):
    """An executor whose threads end with the program; the framework's own are waited for, however long they read."""

    def __init__(self, last: Callable[[], None]) -> None:
        """`last` returns once nothing goes on that has to come to its end."""
        super().__init__(max_workers=1)  # never used: each piece of work gets a thread of its own
        self._last = last
        self._over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        """Begin at once."""
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **more)
            except BaseException as error:
                if not self._over:  # nobody listens then, and telling a closed loop fails aloud
                    future.set_exception(error)
            else:
                if not self._over:
                    future.set_result(result)

        Thread(target=run, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what writes or has started a program, and for nothing else."""
        self._over = True
        self._last()
        super().shutdown(wait=False, cancel_futures=True)
