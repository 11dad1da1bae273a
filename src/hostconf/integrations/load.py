"""Where the files of `integrations/` lie, and reading them: once, in the order of their names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from hostconf.errors import DataFileError
from hostconf.integrations.schema import Integration, nearest, parse


def integrations_folder() -> str:
    """The folder with the integration files: in the installed package, else in the checkout beside `src/`."""
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(os.path.dirname(here), "_data", "integrations")
    if os.path.isdir(installed):
        return installed
    return os.path.normpath(os.path.join(here, "..", "..", "..", "integrations"))


def load_integrations(
    folder: str = "",
    *,
    also: Sequence[str] = (),
    read: Callable[[str], bytes] | None = None,
) -> tuple[Integration, ...]:
    """All integrations, by file name: those that came along, then the user's own.

    `also` names files of the user; one with an id that came along is refused, for
    then it would not be known which is meant. `read` gives the bytes of a path.
    """
    place = folder or integrations_folder()
    take = read or _read
    files = [os.path.join(place, name) for name in sorted(os.listdir(place)) if name.endswith(".toml")]
    found: dict[str, Integration] = {}
    for path in (*files, *also):
        one = _parse(take(path), path if path in also else os.path.basename(path))
        if one.id in found:
            raise DataFileError(f"two files describe the integration `{one.id}`", path=path)
        found[one.id] = one
    return tuple(found.values())


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _parse(data: bytes, name: str) -> Integration:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataFileError(f"`{name}` is not UTF-8 at byte {error.start}", path=name) from None
    return parse(text, name)


def integration_named(integrations: Sequence[Integration], name: str) -> Integration | None:
    """The integration of that id, in any case."""
    return next((one for one in integrations if one.id == name.lower()), None)


def nearest_integration(integrations: Sequence[Integration], name: str) -> str:
    """The id most like a word that is none."""
    return nearest(name.lower(), [one.id for one in integrations])
