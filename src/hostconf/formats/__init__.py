"""The formats by name. A format's module is imported when it is first asked for.

To add a format: one module with a document, and one branch in `format_named`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hostconf.formats.base import Format

NAMES = ("json", "jsonc", "toml", "markdown")
"""Every format there is."""


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        KeyError: there is none.
    """
    match name:
        case "json":
            from hostconf.formats.json_ import parse_json

            return Format(name, parse_json, b"{}\n")
        case "jsonc":
            from hostconf.formats.json_ import parse_jsonc

            return Format(name, parse_jsonc, b"{}\n")
        case "toml":
            from hostconf.formats import toml_

            return Format(name, toml_.parse, b"")
        case "markdown":
            from hostconf.formats import markdown

            return Format(name, markdown.parse, b"")
    raise KeyError(name)


class _Formats(Mapping[str, Format]):
    """All formats as a mapping; a look-up loads the one looked up."""

    def __getitem__(self, name: str) -> Format:
        return format_named(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


FORMATS: Mapping[str, Format] = _Formats()
"""Name to format, lazily."""
