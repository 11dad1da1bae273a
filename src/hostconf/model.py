"""The words of the design as frozen records: what was read, what would be done, what was done.

No behaviour beyond small questions a record can answer of itself. NamedTuple, not
dataclass: importing `dataclasses` costs a third of a bare interpreter start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

KeyPath = tuple[str | int, ...]
Scope = Literal["user", "project"]
Tier = Literal["off", "optional", "preferred", "forced"]
TIERS: tuple[Tier, ...] = ("off", "optional", "preferred", "forced")
Strength = Literal["removed", "call-denied", "session"]
State = Literal["offered", "possible", "pending"]
Action = Literal["create", "modify", "delete"]


class Environment(NamedTuple):
    """What the machine told us once at start. The only source of variables and places."""

    home: str
    """Absolute, real."""
    project: str | None
    """Root of the project: the nearest folder upwards with `.git`, else the working folder; None in HOME itself."""
    folders: tuple[str, ...]
    """From the project root down to the working folder, both included; empty without a project."""
    variables: Mapping[str, str]
    """All variables. Values may be secrets: never shown, never stored."""
    host_variables: bool
    """Whether variables that move a host's files count: not when `--home` was given."""
    state: str
    """Folder of the user's records: `$XDG_STATE_HOME/hostconf`."""
    system_root: str
    """Put before absolute paths of managed layers; empty but in tests (`HOSTCONF_SYSTEM_ROOT`)."""
    platform: str
    """`linux`, `macos`, `windows` or `wsl`."""
    now: str
    """Time of the start, ISO 8601 in UTC. For display and records; no decision reads it."""


FileKind = Literal["absent", "file", "folder", "special", "loop", "dangling", "unreadable"]


class FileState(NamedTuple):
    """One path at one moment. Absent is a state, not an error."""

    path: str
    """As the host names it."""
    real: str
    """Where it leads once links are followed; equal to `path` where there is none."""
    kind: FileKind
    data: bytes | None = None
    """The bytes, for `file` alone."""
    mode: int | None = None
    """Permission bits."""
    problem: str = ""
    """Why it cannot be read, in words, or where a dangling link leads."""
    writable: bool = True
    """Whether this user may replace it: file and folder writable. For an absent file: whether it may be made."""
    identity: tuple[int, int] | None = None
    """Device and inode, to tell two names of one file."""
    links: int = 1
    """Names the file has in all: an exchange would break hard links."""


class Snapshot(NamedTuple):
    """The state of every file that matters, read once. The basis of every decision."""

    environment: Environment
    files: Mapping[str, FileState]
    """By the path as named."""
    listings: Mapping[str, tuple[str, ...]] = {}
    """Folders that were globbed for: pattern to the paths found, sorted."""
    programs: Mapping[str, str] = {}
    """Host id to the path of its program, where it is installed."""
    versions: Mapping[str, str] = {}
    """Host id to its version, where its package tells without running it."""


# ------------------------------------------------------------------ what is on the field


class Registration(NamedTuple):
    """One MCP server, extension or plugin as a host has it in one layer."""

    host: str
    name: str
    layer: str
    scope: str
    """Of its layer: managed, local, project, user, imported."""
    path: str
    line: int
    at: KeyPath
    transport: str
    """`stdio`, `http`, `sse`, `plugin`, or `unknown`."""
    command: tuple[str, ...]
    """The command with its arguments; empty for a remote one. May hold secrets."""
    url: str
    """May hold secrets."""
    environment: tuple[str, ...]
    """Names of its variables and headers, never their values."""
    enabled: bool
    """Whether no switch of the host turns it off."""
    why_off: str
    """Which switch turns it off, with file and line; empty when enabled."""
    wins: bool
    """Whether it is the one of its name that counts."""
    state: State
    """`pending` while it waits for trust or approval."""
    pending: str
    """What the user has to do, when pending."""
    capabilities: tuple[str, ...]
    tools: tuple[tuple[str, str], ...]
    """Capability and raw tool name, as far as known; `*` stands for tools that nobody named."""
    integration: str
    """Id in the catalogue, when recognised."""
    evidence: str
    """How its capabilities are known."""
    disabled_tools: tuple[str, ...] = ()


class Tool(NamedTuple):
    """One tool the model would be offered for a capability, and the line that decides it."""

    tool: str
    """As the host spells it to the model."""
    provider: str
    """`host`, or the id of the integration, or the name of the registration."""
    registration: str
    """Name of the registration; empty for the host's own."""
    state: State
    strength: Strength | Literal[""]
    """Of the switch that weakens it but leaves it visible (`call-denied`, `session`); empty else."""
    path: str
    line: int
    note: str = ""


class RulesFile(NamedTuple):
    """One instructions file, and whether the host loads it."""

    host: str
    scope: str
    path: str
    loaded: bool
    why: str
    block: bool
    """Whether it holds a block of ours."""
    text: str


CONFLICT_KINDS = (
    "rules-steer-elsewhere",
    "capable-registration",
    "name-taken",
    "name-shadowed",
    "array-must-merge",
    "outranked",
    "explicit-choice",
    "dead-switch",
    "tool-name-collision",
    "not-trusted",
    "broken-file",
    "drift",
    "owned-by-another",
    "unresolved-secret",
    "session-only",
)


class Conflict(NamedTuple):
    """One finding that stands against a wished tier, or may."""

    kind: str
    host: str
    layer: str
    path: str
    line: int
    text: str
    """One sentence, secrets masked."""
    tiers: Mapping[str, str] = {}
    """Tier to what it would do about it."""
    fix: str = ""
    excerpt: str = ""
    column: int = 0
    resolved: bool = False
    """In a plan: whether the plan does away with it."""


class Survey(NamedTuple):
    """One host as it stands: everything read-only commands show."""

    host: str
    name: str
    present: bool
    version: str
    layers: tuple[Mapping[str, Any], ...]
    registrations: tuple[Registration, ...]
    rules: tuple[RulesFile, ...]
    surface: Mapping[str, tuple[Tool, ...]]
    conflicts: tuple[Conflict, ...]


# ------------------------------------------------------------------ what would be done


class Choice(NamedTuple):
    """What the user wishes for one host: the input of the planner."""

    integration: str
    host: str
    scope: Scope
    path: str
    """`mcp`, `extension` or `plugin`; empty: the integration's default on this host."""
    tiers: Mapping[str, Tier]
    package: str = ""
    """Overrides the reference entirely (`--package`), or is the pinned one (`--pin`)."""
    knobs: Mapping[str, str] = {}
    env_names: tuple[str, ...] = ()
    """Taken from the environment by the host's own reference."""
    env_values: Mapping[str, str] = {}
    """Literal values: secrets."""
    literal: bool = False
    accept: tuple[str, ...] = ()
    replace: bool = False


OperationKind = Literal["set", "delete", "append", "remove"]


class Operation(NamedTuple):
    """One edit in one file, with what its inverse needs."""

    kind: OperationKind
    at: KeyPath
    value: Any
    """`set`: the value; `append`: the items. In a Markdown file `at` is the block's id and the value its text."""
    why: str
    """What it is for, in a sentence."""
    last: bool = False
    """The entry has to stand behind its siblings."""


class Change(NamedTuple):
    """One file of a transaction: from these bytes to those. All that `apply` is told."""

    path: str
    """As named to the user."""
    real: str
    """Written there, links followed."""
    before: bytes | None
    """Bytes the plan was made from; None: the file was absent."""
    after: bytes | None
    """None: the file is to go."""
    mode: int | None
    """Permission bits for a file that is made; None keeps those of the old one."""
    role: Literal["claim", "record", "vault", "config"]
    beside: str
    """Folder for lock, staged and displaced text: that of `real`, or the one above where a host loads it whole."""
    make_folders: tuple[str, ...] = ()
    """To be made first, outermost first, if absent."""
    drop_folders: tuple[str, ...] = ()
    """To be removed afterwards if empty, innermost first."""
    format: str = ""
    """For the second reader: `json`, `jsonc`, `toml`, `yaml`, `markdown` or empty for none."""
    expect: Any = None
    """What the second reader must find in `after`."""


class Refusal(NamedTuple):
    """A tier that cannot be delivered, and why."""

    host: str
    capability: str
    tier: str
    reason: str
    code: str = "refused"
    path: str = ""
    line: int = 0
    fix: str = ""
    column: int = 0


class PlannedFile(NamedTuple):
    """One of the user's files in a plan, for people: the change and what it consists of."""

    change: Change
    action: Action
    host: str
    operations: tuple[Operation, ...]
    masked: Mapping[str, str] = {}


class SurfaceChange(NamedTuple):
    """A capability on a host before and after the plan."""

    host: str
    capability: str
    tier: str
    before: tuple[Tool, ...]
    after: tuple[Tool, ...]


class Plan(NamedTuple):
    """Everything `apply` would do, and all that is said before it is approved. A value; complete."""

    choices: tuple[Choice, ...]
    files: tuple[PlannedFile, ...]
    changes: tuple[Change, ...]
    """The files above with records, claims and vaults, in the order in which they are written."""
    surface: tuple[SurfaceChange, ...]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]
    blast_radius: tuple[str, ...]
    refusals: tuple[Refusal, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes


# ------------------------------------------------------------------ what a verb gives


class OperationResult(NamedTuple):
    """What a verb returns to whoever shows it."""

    command: str
    exit_code: int
    data: Mapping[str, Any]
    messages: tuple[str, ...] = ()
    errors: tuple[Mapping[str, Any], ...] = ()
    partial: bool = False

    @property
    def status(self) -> str:
        """`success`, `partial` or `error`."""
        if self.partial:
            return "partial"
        return "success" if self.exit_code in (0, 6) else "error"
