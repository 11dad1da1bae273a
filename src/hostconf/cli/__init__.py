"""The command line: parse, hand over to one verb, show what it gives. Decides nothing.

`--help` and `--version` come out before anything else is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hostconf import __version__

if TYPE_CHECKING:
    from hostconf.cli.commands import Call
    from hostconf.cli.parser import Line
    from hostconf.model import OperationResult

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; gives the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        early = _help_or_version(words)
        return _shown_text(early) if early is not None else _run(words)
    except BrokenPipeError:
        # Nobody reads on. The work is done by then; leaving without a flush keeps Python from complaining.
        import os

        os._exit(0)
    except OSError as error:
        from hostconf.cli import diagnostics

        sys.stdout = None  # a flush at the end would fail again, with a traceback
        why = (error.strerror or "it failed").lower()
        diagnostics.show_errors(
            [
                {
                    "message": f"standard output cannot be written: {why}",
                    "hint": "what the command had to do is done: `hostconf status` shows how things stand",
                }
            ]
        )
        return 1


def _run(words: list[str]) -> int:
    """Everything but help and version. Every failure becomes a result in the same envelope."""
    from hostconf.cli import diagnostics

    as_json = "--json" in words
    call: Call | None = None
    try:
        call = _call(words)
        result = call.run()
    except KeyboardInterrupt:
        result = _failure(
            words, INTERRUPTED, "interrupted", "interrupted", "`hostconf recover` tells whether something is unfinished"
        )
    except BrokenPipeError:
        raise
    except Exception as error:
        result = _failed(words, error)
    if as_json:
        from hostconf.cli import render

        render.show_envelope(result)
        return result.exit_code
    quiet = call is not None and call.quiet
    if call is not None and not (result.errors and not result.data):
        from hostconf.cli import render

        render.show_lines(call.lines(result))
    if not quiet:
        diagnostics.show_messages(result.messages)
    diagnostics.show_errors(result.errors, colour=call is not None and call.colour_on_stderr)
    return result.exit_code


def _call(words: list[str]) -> Call:
    """The command line with everything its verb needs: the environment, the style, somebody to ask."""
    from hostconf.cli.commands import call_for
    from hostconf.cli.parser import parse

    line: Line = parse(words)
    return call_for(line)


# ------------------------------------------------------------------ help and version


def _help_or_version(words: list[str]) -> tuple[str, str] | None:
    """Command and text, where that is what was asked for."""
    alone = len(words) == 1
    if "--version" in words and (alone or not _verb(words)):
        return "version", f"hostconf {__version__}\n"
    if "--help" in words or "-h" in words:
        from hostconf.cli import help as texts
        from hostconf.cli.verbs import BY_NAME

        verb = None if alone else BY_NAME.get(_verb(words) or "")
        return "help", texts.of_verb(verb) if verb else texts.overview()
    if words[:1] == ["help"]:
        return _help_or_version([*words[1:], "--help"])
    return None


def _verb(words: list[str]) -> str | None:
    from hostconf.cli.parser import split

    return split(words).verb


def _shown_text(early: tuple[str, str]) -> int:
    if sys.stdout is not None:
        sys.stdout.write(early[1])
        sys.stdout.flush()
    return 0


# ------------------------------------------------------------------ failures


def _failed(words: list[str], error: Exception) -> OperationResult:
    from hostconf.errors import HostconfError

    if isinstance(error, HostconfError):
        from hostconf.cli.diagnostics import entry
        from hostconf.model import OperationResult

        return OperationResult(_named(words), error.exit_code, {}, errors=(entry(error),))
    return _bug(words, error)


def _bug(words: list[str], error: Exception) -> OperationResult:
    """A failure nobody foresaw: where, and what to do; no value, for it may be a secret."""
    import os

    from hostconf.cli import diagnostics

    if os.environ.get("HOSTCONF_DEBUG"):
        diagnostics.show_traceback(error)
    where, trace = "", error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("hostconf"):
            where = f" in `{module}` line {trace.tb_lineno}"
        trace = trace.tb_next
    return _failure(
        words,
        1,
        "bug",
        f"hostconf {__version__} failed in a way nobody foresaw: {type(error).__name__}{where}",
        "every file is whole, old or new; `hostconf recover` tells whether something is unfinished; "
        "with `HOSTCONF_DEBUG=1` the whole trace is shown, which may hold values of your files",
    )


def _failure(words: list[str], exit_code: int, code: str, message: str, hint: str) -> OperationResult:
    from hostconf.model import OperationResult

    error = {"code": code, "message": message, "hint": hint, "path": None, "line": None, "column": None}
    return OperationResult(_named(words), exit_code, {}, errors=(error,))


def _named(words: list[str]) -> str:
    """The verb, for the envelope, if it is one of ours."""
    from hostconf.cli.verbs import BY_NAME

    verb = _verb(words)
    return verb if verb in BY_NAME else "status" if verb is None else ""
