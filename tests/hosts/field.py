"""A host looked at without a disk: files as a dict, read in the steps in which the real reader reads them.

What a step does not ask for is not there for the survey, so a path that nobody asks
for shows as a tool that is missing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from hostconf.hosts.load import load_hosts
from hostconf.hosts.schema import Host
from hostconf.integrations.load import load_integrations
from hostconf.integrations.schema import Integration
from hostconf.model import Conflict, Environment, FileState, Registration, RulesFile, Snapshot, Survey
from hostconf.survey.survey import more_paths, survey
from hostconf.survey.workspace import Workspace, layer_paths

HOME, PROJECT = "/h/ada", "/h/ada/p"
PLACES = {"~/": f"{HOME}/", "./": f"{PROJECT}/"}
CANARY = "CANARY-5e1d-SECRET"

Files = Mapping[str, Any]
"""Name (`~/…` in the home, `./…` in the project, or absolute) to text, bytes, a JSON value or a FileState kind."""


@functools.cache
def known_hosts() -> tuple[Host, ...]:
    """The hosts of the repository."""
    return load_hosts()


@functools.cache
def catalogue() -> tuple[Integration, ...]:
    """The integrations of the repository."""
    return load_integrations()


def host(name: str) -> Host:
    """One of them."""
    return next(h for h in known_hosts() if h.id == name)


class Kind(NamedTuple):
    """A path that holds no file to read."""

    kind: Any
    problem: str = ""


def full(name: str) -> str:
    """The path of a name in a table of files."""
    for short, long in PLACES.items():
        if name.startswith(short):
            return long + name[len(short) :]
    return name


def text_of(value: Any) -> str:
    """The text of a file: a string as it is, anything else as JSON, `{home}` and `{project}` filled in."""
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    return text.replace("{project}", PROJECT).replace("{home}", HOME)


def listing(pattern: str, paths: Mapping[str, Any]) -> tuple[str, ...]:
    """What a glob finds, as the reader of the disk understands it."""

    def part(words: list[str], names: list[str]) -> bool:
        if not words:
            return not names
        if words[0] == "**":
            return part(words[1:], names) or (bool(names) and not names[0].startswith(".") and part(words, names[1:]))
        if not names or (names[0].startswith(".") and not words[0].startswith(".")):
            return False
        return fnmatchcase(names[0], words[0]) and part(words[1:], names[1:])

    return tuple(sorted(p for p in paths if part(pattern.split("/"), p.split("/"))))


class Look(NamedTuple):
    """What the survey says, and the texts it was said of."""

    survey: Survey
    texts: Mapping[str, str]

    def tools(self, capability: str) -> list[str]:
        """Ids of a surface, in order; one that is not simply offered with its state behind."""
        rows = self.survey.surface[capability]
        return [
            t.tool if t.state == "offered" and not t.strength else f"{t.tool} {t.strength or t.state}" for t in rows
        ]

    @property
    def all(self) -> set[str]:
        """Those of both capabilities."""
        return {tool for capability in self.survey.surface for tool in self.tools(capability)}

    def place(self, tool: str) -> tuple[str, int]:
        """Path and line that decide about a tool."""
        rows = [t for tools in self.survey.surface.values() for t in tools if t.tool == tool]
        return rows[0].path, rows[0].line

    def line(self, name: str, needle: str) -> tuple[str, int]:
        """Path and line of the only place in a file where a text stands."""
        text = self.texts[full(name)]
        assert text.count(needle) == 1, f"{needle!r} stands {text.count(needle)} times in {name}"
        return full(name), text[: text.index(needle)].count("\n") + 1

    def conflicts(self, kind: str) -> list[Conflict]:
        """The findings of one kind."""
        return [c for c in self.survey.conflicts if c.kind == kind]

    def one(self, kind: str) -> Conflict:
        """The only finding of a kind."""
        found = self.conflicts(kind)
        assert len(found) == 1, [f"{c.path}:{c.line} {c.text}" for c in found]
        return found[0]

    def registration(self, name: str, layer: str = "") -> Registration:
        """The only registration of a name, in a layer."""
        found = [r for r in self.survey.registrations if r.name == name and layer in ("", r.layer)]
        assert len(found) == 1, [(r.name, r.layer) for r in found]
        return found[0]

    def rules(self, name: str) -> RulesFile:
        """The rules file of a name."""
        return next(r for r in self.survey.rules if r.path == full(name))


def environment(folder: str = "", **variables: str) -> Environment:
    """A machine with one home and one project; `folder` is the working folder, below the project."""
    folders = [PROJECT]
    for part in filter(None, folder.split("/")):
        folders.append(f"{folders[-1]}/{part}")
    given = {name: text_of(value) for name, value in variables.items()}
    return Environment(HOME, PROJECT, tuple(folders), given, True, f"{HOME}/.local/state/hostconf", "", "linux", "")


def look(
    which: str | Host,
    files: Files,
    folder: str = "",
    variables: Mapping[str, str] | None = None,
    platform: str = "linux",
    host_variables: bool = True,
) -> Look:
    """The survey of a host over these files."""
    one = host(which) if isinstance(which, str) else which
    machine = environment(folder, **(variables or {}))._replace(platform=platform, host_variables=host_variables)
    there = {full(name): state(full(name), value) for name, value in files.items()}
    paths, globs = layer_paths(one, machine)
    seen: dict[str, FileState] = {}
    listings: dict[str, tuple[str, ...]] = {}
    workspace = Workspace(Snapshot(machine, {}))
    for _ in range(6):
        listings |= {pattern: listing(pattern, there) for pattern in globs}
        for path in (*paths, *(p for pattern in globs for p in listings[pattern])):
            seen[path] = there.get(path, FileState(path, path, "absent"))
        workspace = Workspace(Snapshot(machine, dict(seen), dict(listings)))
        wanted = [p for p in more_paths(one, workspace) if p not in seen and p not in listings]
        paths, globs = tuple(p for p in wanted if "*" not in p), tuple(p for p in wanted if "*" in p)
        if not wanted:
            break
    else:
        raise AssertionError(f"more and more is asked for: {paths}")
    texts = {path: s.data.decode("utf-8-sig", "replace") for path, s in there.items() if s.data is not None}
    return Look(survey(one, workspace, catalogue()), texts)


def state(path: str, value: Any) -> FileState:
    """A file as it would be read."""
    if isinstance(value, Kind):
        return FileState(path, path, value.kind, problem=value.problem)
    return FileState(path, path, "file", value if isinstance(value, bytes) else text_of(value).encode())


# ------------------------------------------------------------------ servers

TAVILY = {"command": "npx", "args": ["-y", "tavily-mcp@latest"], "env": {"TAVILY_API_KEY": CANARY}}
NOTES = {"command": "notes-mcp"}
EXA_URL = "https://mcp.exa.ai/mcp"


def npx(package: str = "deepseek-web-retrieval", **more: Any) -> dict[str, Any]:
    """A server entry with `command` and `args`: by default one that brings one tool a capability."""
    return {"command": "npx", "args": ["-y", package], **more}


def local(package: str = "deepseek-web-retrieval", **more: Any) -> dict[str, Any]:
    """The same as OpenCode has it."""
    return {"type": "local", "command": ["npx", "-y", package], **more}


SEARCH, FETCH = "deepseek_web_search", "deepseek_fetch"
"""Raw names of the tools of that server."""
