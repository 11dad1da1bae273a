"""Words of the command line into a `Line`, by the declarations in `verbs`.

Every failure is a UsageError that names the nearest verb or option. No value is ever
repeated in a message: it may be a secret that was meant for `--env`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from hostconf.cli.verbs import BY_NAME, COMMON, VERBS, WIZARD, Option, Verb
from hostconf.errors import UsageError


class Line(NamedTuple):
    """One command line, checked against its declaration but not against any catalogue."""

    verb: Verb
    words: tuple[str, ...]
    given: Mapping[str, Any]
    """Option name with its dashes to True, a string, or a tuple of strings."""
    plain: bool = False
    """Whether no verb was given; `verb` is then the default one."""

    def has(self, name: str) -> bool:
        """Whether a switch was given."""
        return name in self.given

    def value(self, name: str) -> str:
        """The value of an option; empty where it was not given."""
        return str(self.given.get(name, ""))

    def values(self, name: str) -> tuple[str, ...]:
        """The values of an option that may be given again."""
        return tuple(self.given.get(name, ()))


class Split(NamedTuple):
    """The verb and the words around it, before either is looked at."""

    verb: str | None
    rest: tuple[str, ...]


def split(argv: Sequence[str]) -> Split:
    """The first word that is no option and no value of a common one, and all the others."""
    takes_value = {option.name for option in COMMON if option.value}
    skip = False
    for index, word in enumerate(argv):
        if skip:
            skip = False
        elif word in takes_value:
            skip = True
        elif word.startswith("-") and not _may_lead(word):
            break
        elif word and not word.startswith("-"):
            return Split(word, (*argv[:index], *argv[index + 1 :]))
    return Split(None, tuple(argv))


def parse(argv: Sequence[str], default: str = "status") -> Line:
    """The command line as a Line. Raises UsageError."""
    name, rest = split(argv)
    if name is None and any(word.startswith("-") and not _may_lead(word) for word in rest):
        unknown = next(word for word in rest if word.startswith("-") and not _may_lead(word))
        raise _unknown_option(unknown, None)
    verb = BY_NAME.get(name or default)
    if verb is None:
        raise _unknown_verb(name or "")
    options = (*verb.options, *COMMON) if name else (*WIZARD, *COMMON)
    namespace, extra = _argparse(verb if name else None, options).parse_known_args(rest)
    unknown_options = [word for word in extra if word.startswith("-") and word not in ("-", "--")]
    if unknown_options:
        raise _unknown_option(unknown_options[0], verb)
    given = {option.name: value for option in options if (value := getattr(namespace, _dest(option), None))}
    line = Line(verb, tuple(word for word in extra if word != "--"), given, name is None)
    _check_options(line, options)
    _check_words(line)
    return line


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like this one; empty where none is."""
    from difflib import get_close_matches

    found = get_close_matches(word, sorted(known), 1, 0.6)
    return found[0] if found else ""


# ------------------------------------------------------------------ argparse


def _dest(option: Option) -> str:
    return option.name.removeprefix("--").replace("-", "_")


def _argparse(verb: Verb | None, options: Iterable[Option]) -> Any:
    """The parser of the options of a verb, or of none. Words are left over, so that they may stand anywhere."""
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise _argparse_error(message, verb)

    parser = Parser(prog="hostconf", add_help=False, allow_abbrev=False)
    for option in options:
        names = [option.name, *([option.short] if option.short else [])]
        if not option.value and not option.choices:
            parser.add_argument(*names, dest=_dest(option), action="store_true", default=None)
        else:
            parser.add_argument(*names, dest=_dest(option), action="append" if option.many else "store", default=None)
    return parser


def _argparse_error(message: str, verb: Verb | None) -> UsageError:
    name = re.match(r"argument (?:-\w/)?(--[\w-]+)", message)
    if name and "expected" in message:
        return UsageError(f"`{name[1]}` needs a value", hint=_usage_hint(verb))
    if name and "explicit argument" in message:
        return UsageError(f"`{name[1]}` takes no value", hint=_usage_hint(verb))
    return UsageError("the options cannot be read", hint=_usage_hint(verb))


# ------------------------------------------------------------------ checks


def _check_options(line: Line, options: Iterable[Option]) -> None:
    alone: dict[str, str] = {}
    for option in options:
        if option.name not in line.given:
            continue
        if option.choices:
            values = line.values(option.name) if option.many else (line.value(option.name),)
            for value in values:
                if value not in option.choices:
                    near = nearest(value, option.choices)
                    raise UsageError(
                        f"`{option.name}` takes {_either(option.choices)}",
                        hint=f"did you mean `{near}`?" if near else "",
                    )
        if option.alone:
            other = alone.setdefault(option.alone, option.name)
            if other != option.name:
                raise UsageError(f"`{other}` and `{option.name}` exclude each other", hint="give one of them")
        for name in option.excludes:
            if name in line.given:
                raise UsageError(f"`{option.name}` and `{name}` exclude each other", hint="give one of them")


def _check_words(line: Line) -> None:
    verb, count = line.verb, len(line.words)
    needed = [word for word in verb.words if word.required]
    if count < len(needed):
        name = needed[count].name
        raise UsageError(f"`{verb.name}` needs {_article(name)} {name}", hint=_usage_hint(verb))
    if count > len(verb.words) and not any(word.many for word in verb.words):
        takes = " and ".join(f"one {word.name}" for word in verb.words) or "no word"
        raise UsageError(f"`{verb.name}` takes {takes}", hint=_usage_hint(verb))


def _is_common(word: str) -> bool:
    name = word.partition("=")[0]
    if any(name in (option.name, option.short) for option in COMMON):
        return True
    return bool(re.fullmatch(r"-[a-z]+", name)) and all(
        any(f"-{letter}" == option.short for option in COMMON) for letter in name[1:]
    )


def _may_lead(word: str) -> bool:
    """Whether an option may stand without a verb, or before it."""
    return _is_common(word) or word.partition("=")[0] in {option.name for option in WIZARD}


def _unknown_verb(word: str) -> UsageError:
    from hostconf.display import display

    near = nearest(word, BY_NAME)
    hint = f"did you mean `hostconf {near}`?" if near else f"the verbs are {', '.join(BY_NAME)}"
    return UsageError(f"there is no verb `{display(word[:40])}`", hint=hint)


def _unknown_option(word: str, verb: Verb | None) -> UsageError:
    """Names the option, never what stands behind its `=` or behind a single letter."""
    from hostconf.display import display

    name = word.partition("=")[0] if word.startswith("--") else word[:2]
    owners = [v.name for v in VERBS for option in v.options if name in (option.name, option.short)]
    known = [option.name for option in (*(verb.options if verb else WIZARD), *COMMON)]
    near = nearest(name, known if verb else [*known, "--version"])
    shown = f"`{display(name[:40])}`"
    if verb is not None and any(name == option.name for option in WIZARD):
        hint = "leave the verb out: `hostconf --demo`"
        if name == "--dry-run":
            hint = "`hostconf plan` previews and writes nothing; so does `hostconf --dry-run`, without a verb"
        return UsageError(f"{shown} is for the wizard, not for `{verb.name}`", hint=hint)
    if owners and verb is None:
        return UsageError(f"{shown} stands before the verb", hint=f"put it behind: `hostconf {owners[0]} ... {name}`")
    hint = f"did you mean `{near}`?" if near else _usage_hint(verb)
    if verb is None:
        return UsageError(f"there is no option {shown}", hint=hint)
    if owners:
        hint = f"`{owners[0]}` has it"
    return UsageError(f"`{verb.name}` has no option {shown}", hint=hint)


def _usage_hint(verb: Verb | None) -> str:
    from hostconf.cli.help import usage

    return f"`{usage(verb)}`" if verb else "see `hostconf --help`"


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _article(name: str) -> str:
    return "an" if name[0] in "AEIO" else "a"
