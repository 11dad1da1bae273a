"""A fault of our own: what is told of it holds frames, and no value, for a value may be a secret."""

from __future__ import annotations

import traceback

from hostconf import __version__


def place_of(error: BaseException) -> str:
    """Where in hostconf it happened: the innermost line of ours."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "hostconf" in f.filename]
    if not ours:
        return ""
    name = ours[-1].filename.replace("\\", "/").rpartition("/hostconf/")[2]
    return f" in `{name}` line {ours[-1].lineno}"


def report(error: BaseException) -> str:
    """The whole chain of frames, without messages and values."""
    rows = [f"hostconf {__version__}: a fault of its own"]
    cause: BaseException | None = error
    while cause is not None:
        rows.append(f"{type(cause).__module__}.{type(cause).__name__}")
        rows += [f"  {f.filename}:{f.lineno} in {f.name}" for f in traceback.extract_tb(cause.__traceback__)]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(rows) + "\n"
