"""The keys of a file in `hosts/`, as records: what a host is, said once, for reading and for writing.

Pure. The reader of such a file is `hostconf.hosts.parse`; it takes the keys, their
types and their words from the annotations here, so that nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hostconf.model import Strength


class Fact(NamedTuple):
    """How something is known: `run` (seen in the program), `read` (in its shipped code), `doc`, `unsure`."""

    text: str
    verified: str = ""
    source: str = ""


class Layer(NamedTuple):
    """One place a host reads configuration from."""

    id: str
    scope: str
    """`managed`, `local`, `project`, `user` or `imported`."""
    rank: int
    """Higher wins."""
    group: str
    """Layers of one group hold the same kind of keys and are combined."""
    format: str
    path: str = ""
    """Template: `{config_home}`, `{home}`, `{project}`, `{working}` (the working folder), `{folder}` (one file a
    folder from the project root down to the working folder), `{variable:NAME}`; may be a glob for drop-in folders."""
    elsewhere: Mapping[str, str] = {}
    """Platform (`macos`, `windows`, `wsl`) to the path there, where it is another."""
    variable: str = ""
    """The text itself stands in this environment variable."""
    under: tuple[str, ...] = ()
    """The text stands for the value at this key path, not for the whole document."""
    within: int = 0
    """Among layers of one rank the deeper folder wins, and in one folder the file with the higher number."""
    outer_wins: bool = False
    """Of several folders the one nearest to the project root wins."""
    unless_variable: tuple[str, ...] = ()
    """Not read where one of these variables is set."""
    write: bool = True
    """Whether hostconf may write it: user and project layers, unless said otherwise."""
    create: bool = True
    """Whether it is the one to make when its group has no file yet."""
    trust: bool = False
    """Loaded only where the folder is trusted."""
    broken: str = ""
    """What the host does when the file cannot be read, as the end of a sentence."""
    stops: bool = False
    """Whether a broken file keeps the host from starting."""
    verified: str = ""
    note: str = ""


class Check(NamedTuple):
    """A question to the layers of one group: does a value stand there?"""

    group: str
    at: tuple[str, ...]
    is_: tuple[Any, ...] = ()
    """Any of these; empty: anything that is there."""
    contains: str = ""
    """A list there holds this item (template)."""
    layers: tuple[str, ...] = ()
    """Only in these layers; empty: in all of the group."""
    trusted: bool = False
    """Counts only where the folder is trusted."""
    exists: bool = False
    """Whatever the file holds: it is enough that it is there."""


class Trust(NamedTuple):
    """How the host knows that a folder is trusted."""

    checks: tuple[Check, ...]
    pending: str
    asked: tuple[str, ...] = ("{folder}",)
    """The places whose trust is looked up, in this order; the first that has a word on it decides."""
    upwards: bool = False
    """Whether trust of a folder holds for all those below it."""
    verified: str = ""


class Approval(NamedTuple):
    """That registrations of some layers wait for the user's word."""

    layers: tuple[str, ...]
    checks: tuple[Check, ...]
    pending: str
    verified: str = ""


class Reference(NamedTuple):
    """How an entry takes a variable from the environment."""

    text: str = ""
    """Value of the variable in the `env` table, with `{name}`."""
    list: str = ""
    """Key of a list of names instead."""
    names: tuple[str, ...] = ()
    """Further keys whose value, or whose values, are names of variables."""
    pattern: str = ""
    """Regular expression that finds such references in a host's file; group 1 is the name, group 2 a default."""
    given_group: str = ""
    given_at: tuple[str, ...] = ()
    """A table of the host's own files whose keys are variables that it sets itself."""


class Registrations(NamedTuple):
    """How the host spells an MCP server."""

    group: str
    at: tuple[tuple[str, ...], ...]
    """Key paths of the tables that hold them."""
    command: str
    args: str = ""
    """Key of the arguments; empty: `command` is one list with them."""
    url: str = "url"
    environment: tuple[str, ...] = ()
    """Keys of tables (or lists) of variables and headers; the first is where ours go."""
    type: str = ""
    types: Mapping[str, str] = {}
    """`stdio`/`http`/`sse` to the word the host uses."""
    also_types: Mapping[str, str] = {}
    """Further words of the host to `stdio`, `http` or `sse`."""
    wants_type: tuple[str, ...] = ()
    """Of an entry that has one of these keys and no type, the host makes nothing."""
    shape: Mapping[str, str] = {}
    """Key to the type that its value has to be of: `string`, `bool`, `list`, `strings`, `table`, `texts`."""
    clash: tuple[tuple[str, ...], ...] = ()
    """Pairs of keys that must not stand in one entry."""
    invalid: str = "skipped"
    """What an entry is that breaks these: `skipped`, or it `stops` the host."""
    inert: str = ""
    """Key with which an invalid entry is let pass, and is no server."""
    merge: str = "replace"
    """`deep`: entries of one name in several layers are merged key by key; `replace`: the strongest counts whole."""
    namespace: bool = False
    """Whether two servers whose names are spelled alike are one to the model."""
    reference: Reference = Reference()
    tools_off: str = ""
    """Key of a list of raw tool names that the entry itself takes away."""
    tools_only: str = ""
    """Key of a list of raw tool names that alone are left."""
    with_tier: Mapping[str, Mapping[str, Any]] = {}
    """Keys an entry gets at a tier."""
    at_layer: Mapping[str, tuple[str, ...]] = {}
    """Layer id to the key path of its table, where it differs."""
    verified: str = ""


class Switch(NamedTuple):
    """One fact in a host's file that turns tools on or off; the same datum is read and written."""

    id: str
    kind: str
    """`value`: off when the strongest layer that has the key says so. `list`: off when a list of any layer holds
    it. `ordered`: the last matching key decides, over all layers. `allow`: off when a list is there and lacks it."""
    group: str
    at: tuple[str, ...]
    """`{entry}` stands for the way to the registration."""
    off: Any = None
    also_off: tuple[Any, ...] = ()
    """Further values that mean off."""
    as_text: bool = False
    """Compared as text, capitals or not: `1` and `"1"`, `"True"` and `"true"`."""
    else_at: tuple[Check, ...] = ()
    """Other keys of the same meaning, asked in a file that lacks `at`; `is` is what means off there."""
    variable: str = ""
    """Environment variable that decides where no layer does."""
    forms: Mapping[str, tuple[Any, ...]] = {}
    """Subject (`tool`, `server`, `server_tool`) to what stands for it: the first is written, all are read."""
    glob: bool = False
    globs: Mapping[str, str] = {}
    """Key of an item that is a table, whose value may hold stars, to what such a value has to match."""
    valid: str = ""
    """Items that do not match are ignored by the host."""
    layers: tuple[str, ...] = ()
    """Counts only in these layers; empty: in all of the group."""
    of: tuple[str, ...] = ()
    """Turns off only registrations of these layers; empty: of all."""
    first_at: tuple[tuple[str, ...], ...] = ()
    """`ordered`: older tables, merged in under `at`, their keys first."""
    then_at: tuple[tuple[str, ...], ...] = ()
    """`ordered`: tables read after all these, the last over the others. False anywhere means off."""
    needs_entry: bool = False
    """May be written only into the layer that holds the registration itself."""
    strength: Strength = "removed"
    text: str = ""
    """What it is, for people."""
    verified: str = ""


class HostTool(NamedTuple):
    """A tool the host brings itself."""

    id: str
    capability: str
    also: tuple[str, ...] = ()
    """Further capabilities it covers: its switch takes these too."""
    off: tuple[str, ...] = ()
    """Ids of its switches; the first is the one hostconf writes."""
    chosen: tuple[Check, ...] = ()
    """Where the user says by hand that the tool is wanted (`{tool}`)."""
    seen_as: tuple[str, ...] = ()
    """Other names it has in the request to the model."""
    gate: tuple[str, ...] = ()
    """Variables of which one makes it offered; none set: possible."""
    gate_values: tuple[str, ...] = ()
    """What such a variable has to say; empty: anything."""
    note: str = ""
    verified: str = ""


class Policy(NamedTuple):
    """A managed setting that voids what others write."""

    id: str
    when: Check
    effect: str
    """`registrations-only-from`, `switch-only-from`, `allow-list`, `allow-table`."""
    layers: tuple[str, ...] = ()
    """Those that still count; for the two lists: those that the list does not touch."""
    switch: str = ""
    forms: tuple[Any, ...] = ()
    by: Mapping[str, str] = {}
    """`allow-list`: transport to the form that alone counts for it once the list holds one of that kind."""
    globs: Mapping[str, str] = {}
    """As of a switch."""
    narrow: Check | None = None
    """`allow-list`: with this only the lists of `narrow_to` count; else all of them together."""
    narrow_to: tuple[str, ...] = ()
    text: str = ""
    verified: str = ""


class Rules(NamedTuple):
    """Instructions files of one scope: which the host loads, and where our block goes."""

    scope: str
    paths: tuple[str, ...] = ()
    elsewhere: Mapping[str, str] = {}
    """Platform to the one path there."""
    pick: str = "all"
    """`all`; `first`: per folder the first that is there and not empty; `first-kind`: the first kind that is there
    in any folder."""
    unless: tuple[str, ...] = ()
    """Not loaded where one of these is there."""
    names_group: str = ""
    names_at: tuple[str, ...] = ()
    """A list of further file names, looked for in each folder behind `paths`."""
    listed_group: str = ""
    listed_at: tuple[str, ...] = ()
    """Read: the files that this list names. Write: our file is appended to it."""
    write: str = ""
    write_listed: str = ""
    """The item that names our file in that list."""
    whole_folder: str = ""
    """A folder that is loaded whole: nothing but our file may stand in it."""
    cap: int = 0
    """Bytes over all of them that reach the model; our block goes to the top of a long file. 0: none."""
    cap_group: str = ""
    cap_at: tuple[str, ...] = ()
    """Where the user sets another cap."""
    excludes_group: str = ""
    excludes_at: tuple[str, ...] = ()
    """A list of globs of files that are not loaded."""
    verified: str = ""


class Dead(NamedTuple):
    """A key that parses and does nothing. `*` in `at` stands for any key."""

    group: str
    at: tuple[str, ...]
    text: str
    is_: tuple[Any, ...] = ()
    matches: str = ""
    """Only a text that matches."""
    entry: bool = False
    """`at` counts from each server entry."""
    verified: str = ""


class Typed(NamedTuple):
    """A value that must be of a type, or the host drops or refuses the file. `*` in `at` stands for any key."""

    group: str
    at: tuple[str, ...]
    type: str = ""
    """One or more of `table`, `list`, `string`, `bool`, `number`, `strings`, `texts`, `absent`, with `|` between."""
    keys: tuple[str, ...] = ()
    """Keys of the table at `at` that are all of that type."""
    words: tuple[str, ...] = ()
    """The only texts it may be."""
    layers: tuple[str, ...] = ()
    whole: bool = True
    """Whether the whole file is void, or this key alone."""
    effect: str = ""
    """What the host does then, where it is not what it does with a broken file."""
    text: str = ""
    verified: str = ""


class Plugins(NamedTuple):
    """Plugins that bring servers or tools of their own, as far as files tell."""

    group: str
    at: tuple[str, ...]
    """A table of plugins by id, or a list of their names."""
    flag: str = ""
    """Key in a plugin's table that says whether it is on; empty: the value itself does."""
    default: bool = False
    """Whether a plugin without the flag is on."""
    switch: tuple[str, ...] = ()
    """Key path of a value that, being false, turns all of them off."""
    inventory: str = ""
    """JSON file that tells where plugins are installed."""
    inventory_at: tuple[str, ...] = ()
    """The way to the folder in it: `{id}`, and `*` for any key or index."""
    markets: str = ""
    """JSON file of the markets; a plugin of a market that is not in it is not loaded."""
    markets_at: tuple[str, ...] = ()
    """The way to a market's folder in it (`{market}`)."""
    catalogue: str = ""
    """Path of a market's list of plugins, in its folder."""
    roots: tuple[str, ...] = ()
    """Globs of the folders of a plugin (`{plugin}`, `{market}`); of several the one of the highest version counts."""
    manifests: tuple[str, ...] = ()
    """Paths in a plugin's folder of the file that describes it: the first that is there."""
    key: str = "mcpServers"
    """In a manifest: a table of servers, or the path of a file with one."""
    files: tuple[str, ...] = ()
    """Files with servers in a plugin's folder."""
    always: bool = False
    """Whether these are read even where the manifest names servers."""
    name: str = "{server}"
    """Name of a registration: `{plugin}`, `{server}`."""
    entry: tuple[str, ...] = ()
    """Key path that stands for such a server: `{id}`, `{server}`."""
    allowed_by_name: bool = True
    """Whether an allow-list can let such a server in by its name."""
    loose: tuple[str, ...] = ()
    """Globs of files each of which is a plugin or a tool."""
    verified: str = ""


class Verify(NamedTuple):
    """How the host itself is asked what it loads."""

    run: tuple[str, ...]
    reads: str
    """`json` or `first-line` (JSON on the first line of the output)."""
    servers: tuple[str, ...] = ()
    """Where the registrations stand: a list of tables with a name, or a table by name."""
    name: str = "name"
    enabled: str = ""
    tools: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    seconds: int = 60
    starts_servers: bool = False
    verified: str = ""


class Host(NamedTuple):
    """One agent host: everything hostconf knows of it."""

    id: str
    name: str
    checked_version: str
    checked_on: str
    evidence: str
    """How the facts of this file are known, where a table does not say otherwise with `verified`."""
    commands: tuple[str, ...]
    tool_id: str
    """`{server}` and `{tool}` as the model sees them."""
    keep: str
    """Characters of names that stay; every other becomes `_`."""
    layers: tuple[Layer, ...]
    registrations: Registrations
    switches: tuple[Switch, ...]
    tools: tuple[HostTool, ...]
    forced: Mapping[str, str]
    """Capability to mechanism: `replacement`, `exclusion`, `de-facto` or `none`."""
    exclusion: tuple[str, ...]
    """Switches that take another registration out, best first."""
    own_off: tuple[str, ...]
    """Switches that take one of our own tools out, best first; `entry` stands for `registrations.tools_off`."""
    source: str = ""
    """Where the evidence lies."""
    aliases: tuple[str, ...] = ()
    package: str = ""
    config_home: str = ""
    config_home_variable: str = ""
    variables: Mapping[str, str] = {}
    """Template name to a path that depends on whether `config_home_variable` is set."""
    moved: Mapping[str, str] = {}
    """Template name to its path once the variable is set."""
    types_merged: bool = False
    """Whether values are checked after the layers are merged: one that a stronger layer overrides does no harm."""
    trust: Trust | None = None
    approvals: tuple[Approval, ...] = ()
    policies: tuple[Policy, ...] = ()
    plugins: Plugins | None = None
    rules: tuple[Rules, ...] = ()
    dead: tuple[Dead, ...] = ()
    types: tuple[Typed, ...] = ()
    new_file: Mapping[str, Any] = {}
    """Keys that a file we make begins with, so that the host does not add them itself."""
    verify: Verify | None = None
    blast: Mapping[str, tuple[str, ...]] = {}
    """Tier to sentences that belong into the blast radius."""
    reload: str = "a running session keeps the tools that it began with: start it anew"
    """What a person has to do so that the host takes up what was written."""
    traps: tuple[Fact, ...] = ()
    server_tools_note: str = ""

    def switch(self, switch_id: str) -> Switch:
        """The switch of that id. Raises KeyError: the schema check makes it a bug."""
        for switch in self.switches:
            if switch.id == switch_id:
                return switch
        raise KeyError(switch_id)


def nearest(word: str, known: Any) -> str:
    """The known word that is most like this one."""
    from difflib import get_close_matches

    words = sorted(known)
    found = get_close_matches(word, words, 1, 0.0)
    return found[0] if found else ""
