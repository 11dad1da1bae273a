"""Standard error: talk. The only writer of it.

An error is `error:` and one line, its place, an empty line, `hint:` and one line.
Nobody reading standard error never stops the work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from hostconf.errors import HostconfError


def entry(error: HostconfError) -> dict[str, Any]:
    """A failure as it stands in the envelope."""
    found: dict[str, Any] = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "path": error.path,
        "line": error.line,
        "column": error.column,
    }
    return {**found, "excerpt": error.excerpt} if error.excerpt else found


def show_errors(errors: Iterable[Mapping[str, Any]], *, colour: bool = False) -> None:
    """Each error with its place and its hint."""
    for error in errors:
        _write(_lines(error, colour))


def show_messages(messages: Iterable[str]) -> None:
    """What a verb has to say beside its data."""
    from hostconf.display import display

    _write(display(message) for message in messages)


def show_step(text: str) -> None:
    """One step of a longer work, as it happens."""
    from hostconf.display import display

    _write([display(text)])


def show_traceback(error: BaseException) -> None:
    """For HOSTCONF_DEBUG alone: it may hold values of the user's files."""
    import traceback

    _write("".join(traceback.format_exception(error)).splitlines())


def ask(question: str) -> bool:
    """Put a question on standard error and read the answer; anything but yes is no."""
    _write_raw(f"{question} [y/N] ")
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        _write([""])
        return False


def is_terminal() -> bool:
    """Whether somebody is there to be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _lines(error: Mapping[str, Any], colour: bool) -> Iterable[str]:
    from hostconf.display import display

    bold, cyan, plain = ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") if colour else ("", "", "")
    message = str(error.get("message", ""))
    yield f"{bold}error:{plain} {display(message)}"
    path = error.get("path")
    if path and str(path) not in message:
        line, column = error.get("line"), error.get("column")
        place = f"{path}:{line}:{column}" if line and column else f"{path}:{line}" if line else f"{path}"
        yield f"  at `{display(place)}`"
    elif path and error.get("line"):
        yield f"  at line {error['line']}" + (f", column {error['column']}" if error.get("column") else "")
    for line in str(error.get("excerpt") or "").splitlines():
        yield "  | " + display(line)
    if error.get("hint"):
        yield ""
        yield f"{cyan}hint:{plain} {display(str(error['hint']))}"


def _write(lines: Iterable[str]) -> None:
    _write_raw("".join(f"{line}\n" for line in lines))


def _write_raw(text: str) -> None:
    if sys.stderr is None:
        return
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    try:
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
