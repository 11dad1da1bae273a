"""What the command line offers, as data: one declaration for the parser, the help and the documents.

Knows nothing of what a verb does; `commands/<verb>.py` does it.
"""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """One option. Without `value` it is a switch."""

    name: str
    help: str
    value: str = ""
    """What stands for the value in the help."""
    many: bool = False
    """Whether it may be given several times."""
    choices: tuple[str, ...] = ()
    short: str = ""
    alone: str = ""
    """Options that share this word exclude one another."""
    excludes: tuple[str, ...] = ()
    """Options that may not stand beside this one, though they may beside each other."""


class Word(NamedTuple):
    """One positional argument."""

    name: str
    help: str
    required: bool = True
    many: bool = False


class Verb(NamedTuple):
    """One verb of the command line."""

    name: str
    summary: str
    """One line for the list of verbs."""
    text: str
    """What it does and what it leaves alone, for its own help."""
    words: tuple[Word, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    writes: bool = False
    needs: str = ""
    """What the usage line says between the words and `[options]`."""


COMMON = (
    Option("--json", "one JSON object on standard output, failures too; its form is in docs/json.md"),
    Option("--home", "use DIR as the home folder; variables that move a host's files then do not count", "DIR"),
    Option("--project", "the project folder, instead of the one around the working folder", "DIR"),
    Option("--no-color", "no colour; NO_COLOR does the same"),
    Option("--verbose", "more: absent layers, evidence, each edit", short="-v"),
    Option("--quiet", "no talk on standard error but errors", short="-q"),
    Option("--help", "this text", short="-h"),
)

PLAIN = "the wizard: look, choose, preview, apply, take back; without a terminal it is `status`"
"""What `hostconf` without a verb does."""
WIZARD = (
    Option("--dry-run", "the wizard as a preview: no lock is taken and nothing is written"),
    Option(
        "--demo",
        "the wizard on a throwaway home with sample hosts and conflicts",
        excludes=("--home", "--project"),
    ),
)
"""Options of plain `hostconf`, without a verb."""

HOSTS = Word(
    "HOST", "an id of `hostconf hosts` such as codex; none: every host that is there", required=False, many=True
)
YES = Option("--yes", "do not ask; needed where there is no terminal to ask on")

CHOICE = (
    Option("--host", "a host to set up", "HOST", many=True),
    Option("--all-hosts", "every host that is there, instead of --host"),
    Option("--scope", "which layer is written (user)", "SCOPE", choices=("user", "project")),
    Option(
        "--path",
        "the way the integration comes in; else its default on the host",
        "PATH",
        choices=("mcp", "extension", "plugin"),
    ),
    Option(
        "--tier",
        "off, optional, preferred or forced, for every capability or for one (optional)",
        "[CAPABILITY=]TIER",
        many=True,
    ),
    Option("--pin", "register the exact version known to the catalogue"),
    Option("--package", "register this package reference instead", "REF"),
    Option("--set", "a setting of the integration", "KNOB=VALUE", many=True),
    Option(
        "--env",
        "hand the variable on from the environment; with a value, write the value itself",
        "NAME[=VALUE]",
        many=True,
    ),
    Option("--literal", "allow the value itself in a project's file, where others will read it"),
    Option(
        "--accept",
        "take the weaker thing under its own name: the tool is seen, the call is refused",
        "WHAT",
        choices=("call-denied",),
    ),
    Option("--replace", "take a name that holds content of yours; given back at uninstall"),
)

TIERS = """\
Tiers, for each capability:
  off         no tool of the integration
  optional    its tool is offered
  preferred   and a rules file that the host loads names it
  forced      it is the only tool offered; refused where the host cannot do that"""

VERBS = (
    Verb(
        "status",
        "hosts, layers, registrations, rules, surface, what is installed",
        "For each host that is there: the files it reads and which of them count, the registrations\n"
        "in them, the rules files it loads, the tools the model would be offered, and what hostconf\n"
        "has installed. Reads only.",
        (HOSTS,),
        examples=("hostconf status", "hostconf status codex claude --json"),
    ),
    Verb(
        "conflicts",
        "what stands against a wish, with file and line",
        "Everything on the field that stands against a tier, or may: other servers for the same\n"
        "capability, rules that steer elsewhere, names that are taken, layers that outrank ours,\n"
        "broken files. Each with its place and with what each tier would do about it. Reads only.",
        (HOSTS,),
        examples=("hostconf conflicts codex",),
    ),
    Verb(
        "explain",
        "which tool the model gets for a capability, and which line decides it",
        "The tools the model would be offered for one capability, host by host, and the line of\n"
        "the file that decides it. Reads only.",
        (Word("CAPABILITY", "web_search or web_fetch"), HOSTS),
        examples=("hostconf explain web_search", "hostconf explain web_fetch codex --json"),
    ),
    Verb(
        "plan",
        "what apply would do, as diffs; nothing is written",
        "Shows every file that `apply` would write as a diff, the tools the model is offered before\n"
        "and after, the conflicts left, what else changes for you, and what is refused and why.\n"
        "Takes no lock and writes nothing, not even state of its own.\n\n" + TIERS,
        (Word("INTEGRATION", "an id of `hostconf integrations`"),),
        (*CHOICE, Option("--exit-code", "exit 6 when there is something to do, 0 when there is not")),
        (
            "hostconf plan deepseek-web-retrieval --host codex --env DEEPSEEK_API_KEY",
            "hostconf plan deepseek-web-retrieval --host codex --tier web_search=forced",
        ),
        needs="(--host HOST... | --all-hosts)",
    ),
    Verb(
        "apply",
        "make the plan, show it, ask, and write",
        "Makes the plan, shows it, asks, and carries it out: all files or none, each only if it is\n"
        "still as the plan saw it. What is written is recorded, so that `uninstall` can take it back\n"
        "to the byte. Changing tier, path or scope is `apply` again with the new choice.\n\n" + TIERS,
        (Word("INTEGRATION", "an id of `hostconf integrations`"),),
        (*CHOICE, YES),
        (
            "hostconf apply deepseek-web-retrieval --host codex --env DEEPSEEK_API_KEY",
            "hostconf apply deepseek-web-retrieval --all-hosts --tier preferred --env DEEPSEEK_API_KEY --yes",
        ),
        writes=True,
        needs="(--host HOST... | --all-hosts)",
    ),
    Verb(
        "uninstall",
        "take back what hostconf wrote, and nothing else",
        "A file that is as hostconf left it gets its first bytes back. Where others have changed it\n"
        "since, only our own entries go, each only if it is still what we wrote; what has to stay is\n"
        "named, and the exit code is 1.",
        (Word("INTEGRATION", "an id of `hostconf integrations`; none: everything installed", required=False),),
        (
            Option("--host", "only from this host", "HOST", many=True),
            Option("--scope", "only from this layer", "SCOPE", choices=("user", "project")),
            YES,
        ),
        ("hostconf uninstall deepseek-web-retrieval --host codex", "hostconf uninstall --yes"),
        writes=True,
    ),
    Verb(
        "recover",
        "unfinished operations and stale locks",
        "Without an option: shows what was interrupted, the state of each file, and who holds or left\n"
        "a lock; writes nothing. With one, does it. A lock of an unknown owner goes only with the id\n"
        "that was shown.",
        (),
        (
            Option("--finish", "carry the interrupted operation through: all files new", alone="action"),
            Option("--undo", "take it back: all files old", alone="action"),
            Option("--forget", "leave the files as they are and forget the operation", alone="action"),
            Option("--lock-id", "the lock to remove, as `hostconf recover` showed it", "ID"),
            YES,
        ),
        ("hostconf recover", "hostconf recover --undo --yes"),
        writes=True,
    ),
    Verb(
        "verify",
        "ask each installed host what it loads",
        "Starts the host programs that are installed, each with its own listing command, and compares\n"
        "their word with what hostconf computes from the files. No model is called.",
        (HOSTS,),
        examples=("hostconf verify codex",),
    ),
    Verb(
        "doctor",
        "state, permissions, hosts whose facts are older than the program",
        "Looks over hostconf's own records and locks, the permissions of the files it would write, and\n"
        "whether the facts of `hostconf hosts` are as new as the hosts installed here. Reads only.",
    ),
    Verb(
        "hosts",
        "the hosts hostconf knows, with evidence",
        "The catalogue of hosts: layers, built-in tools and their switches, how far each tier can be\n"
        "had, and how each fact is known (run, read, doc).",
        (HOSTS._replace(help="an id such as codex; none: all"),),
        examples=("hostconf hosts", "hostconf hosts codex -v"),
    ),
    Verb(
        "integrations",
        "the integrations hostconf knows",
        "The catalogue of integrations: capabilities and tool names, paths, variables, knobs.",
    ),
)

BY_NAME = {verb.name: verb for verb in VERBS}

EXIT_CODES = (
    (0, "done, or nothing to do"),
    (1, "failed, or done in part"),
    (2, "usage"),
    (3, "refused: the wish cannot be honoured"),
    (4, "busy or stale: locked, or a file moved on; plan again"),
    (5, "recovery needed: `hostconf recover`"),
    (6, "`plan --exit-code`: there are changes"),
    (130, "interrupted"),
)
