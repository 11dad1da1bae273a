"""The help texts, from the declarations in `verbs`. Needs neither argparse nor the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hostconf.cli.verbs import COMMON, EXIT_CODES, PLAIN, VERBS, WIZARD, Option, Verb, Word

WIDTH = 96


def overview() -> str:
    """What `hostconf --help` prints."""
    lines = [
        "hostconf: which tool the model gets, on every agent host, and which line decides it",
        "",
        "usage: hostconf [VERB] [options]",
        "",
        "open",
        *_rows([("hostconf", PLAIN), *((f"hostconf {option.name}", option.help) for option in WIZARD)]),
        "",
        "look",
        *_rows((verb.name, verb.summary) for verb in VERBS if not verb.writes),
        "",
        "change",
        *_rows((verb.name, verb.summary) for verb in VERBS if verb.writes),
        "",
        "options, before or after the verb",
        *_rows((*map(_option_row, COMMON), ("--version", "the version"))),
        "",
        "exit codes",
        *_rows((str(code), text) for code, text in EXIT_CODES),
        "",
        "`hostconf VERB --help` tells the rest",
    ]
    return "\n".join(lines) + "\n"


def of_verb(verb: Verb) -> str:
    """What `hostconf VERB --help` prints."""
    lines = [f"hostconf {verb.name}: {verb.summary}", "", f"usage: {usage(verb)}", "", verb.text]
    if verb.words:
        lines += ["", "arguments", *_rows((word.name, word.help) for word in verb.words)]
    if verb.options:
        lines += ["", "options", *_rows(map(_option_row, verb.options))]
    lines += ["", "options of every verb", *_rows(map(_option_row, COMMON))]
    if verb.examples:
        lines += ["", "examples", *(f"  {example}" for example in verb.examples)]
    return "\n".join(lines) + "\n"


def usage(verb: Verb) -> str:
    """The usage line of a verb, without the word in front."""
    parts = ["hostconf", verb.name, *map(_word_usage, verb.words), verb.needs, "[options]"]
    return " ".join(part for part in parts if part)


def _word_usage(word: Word) -> str:
    name = word.name if word.required else f"[{word.name}]"
    return name + ("..." if word.many else "")


def _option_row(option: Option) -> tuple[str, str]:
    value = "|".join(option.choices) if option.choices else option.value
    name = f"{option.short}, {option.name}" if option.short else option.name
    return f"{name} {value}".rstrip(), option.help + ("; may be given again" if option.many else "")


def _rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    listed = list(rows)
    column = min(max(len(name) for name, _ in listed), 26) + 4
    for name, text in listed:
        lines = list(_wrapped(text, WIDTH - column))
        if len(name) + 4 > column:
            yield f"  {name}"
        else:
            yield f"  {name}".ljust(column) + lines.pop(0)
        yield from (" " * column + line for line in lines)


def _wrapped(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
