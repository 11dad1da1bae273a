"""A terminal that is gone: what is written to it goes nowhere, so that the program can come to its end."""

from __future__ import annotations

from typing import IO, Any

from textual.driver import Driver


class Bearing:
    """The terminal as a file that takes every write."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        """Write, if anybody is there."""
        try:
            return self._file.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Let it be seen, if anybody is there."""
        try:
            self._file.flush()
        except OSError:
            pass


def bearing(driver: type[Driver]) -> type[Driver]:
    """The same driver, over a file that bears it when the terminal goes.

    The framework's writing thread dies of a write that fails, and a few writes later the program waits for it for ever.
    And it is put away and begun anew after a stop that came unannounced.
    """

    class Bearer(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            file: IO[str] | None = getattr(self, "_file", None)
            if file is not None:
                self._file: Any = Bearing(file)

        def _sigcont_application(self, *words: Any) -> None:
            # After a SIGSTOP nothing was put away; begun twice, the raw modes would be taken for the user's own.
            if self._auto_restart and not self._must_signal_resume:
                self.suspend_application_mode()
            super()._sigcont_application(*words)

    return Bearer
