"""Throwaway homes and projects for the tests, and the verbs called on them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hostconf import workflow
from hostconf.environment import read_environment
from hostconf.model import Environment, OperationResult
from hostconf.workflow.request import Request

HOSTS = ("claude", "codex", "opencode")
SCOPES = ("user", "project")
OURS = {
    "claude": ("mcp__deepseek__deepseek_web_search", "mcp__deepseek__deepseek_fetch"),
    "codex": ("mcp__deepseek__deepseek_web_search", "mcp__deepseek__deepseek_fetch"),
    "opencode": ("deepseek_deepseek_web_search", "deepseek_deepseek_fetch"),
}
CAPABILITIES = ("web_search", "web_fetch")


def wish(*hosts: str, search: str = "optional", fetch: str = "optional", scope: str = "user", **more: Any) -> Request:
    """A request; the key comes from the environment unless said otherwise."""
    return Request(
        more.pop("integration", "deepseek-web-retrieval"),
        hosts,
        scope=scope,
        tiers=(("web_search", search), ("web_fetch", fetch)),
        **{"env": (("DEEPSEEK_API_KEY", None),), **more},
    )


class Entry(NamedTuple):
    """One thing on the disk."""

    kind: str
    mode: int
    content: bytes | str
    """The bytes of a file, the target of a link."""
    stamp: tuple[int, int]
    """Inode and time of change: a file that was written with the same bytes differs here."""


class World(NamedTuple):
    """A throwaway home with a project in it, and a root for managed files."""

    home: Path
    project: Path
    root: Path
    below: str = ""
    """The working folder, below the project."""
    variables: Mapping[str, str] = {}

    def environment(self, **variables: str) -> Environment:
        """What the machine would tell there."""
        return read_environment(cwd=str(self.project / self.below), variables={**self.shell(), **variables})

    def shell(self) -> dict[str, str]:
        """The variables that a program started there would see."""
        return {
            "HOME": str(self.home),
            "PATH": "",
            "DEEPSEEK_API_KEY": "x",
            "TAVILY_API_KEY": "x",
            "HOSTCONF_SYSTEM_ROOT": str(self.root),
            **{name: self.fill(value) for name, value in self.variables.items()},
        }

    def fill(self, text: str) -> str:
        """A text with the places of this world filled in."""
        return text.replace("{project}", str(self.project)).replace("{home}", str(self.home))

    def at(self, name: str) -> Path:
        """The path of a name that begins with `~/`, `{project}/` or `/`, the last below the root."""
        if name.startswith("~/"):
            return self.home / name[2:]
        if name.startswith("{project}/"):
            return self.project / name[10:]
        return self.root / name.lstrip("/")

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file, its folders made."""
        path = self.at(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else self.fill(text).encode())
        return path

    def link(self, name: str, target: str) -> Path:
        """A symbolic link; the target as it stands."""
        path = self.at(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self.fill(target))
        return path

    def read(self, name: str) -> str:
        """The text of a file, to the byte."""
        return self.at(name).read_bytes().decode()

    def edit(self, name: str, old: str, new: str) -> None:
        """Somebody changes a file: `old` has to stand there once."""
        text = self.read(name)
        assert text.count(old) == 1, f"`{old}` stands {text.count(old)} times in {name}:\n{text}"
        self.write(name, text.replace(old, new).encode())

    def json(self, name: str) -> Any:
        """The value of a strict JSON file."""
        return json.loads(self.read(name))

    def toml(self, name: str) -> Any:
        """The value of a TOML file."""
        import tomllib

        return tomllib.loads(self.read(name))

    # -------------------------------------------------------------- what is there

    def tree(self) -> dict[str, Entry]:
        """Everything there is, links not followed."""
        found = {}
        for folder, folders, files in os.walk(self.home.parent):
            for name in (*folders, *files):
                path = Path(folder, name)
                found[str(path.relative_to(self.home.parent))] = _entry(path)
        return found

    def kept(self) -> dict[str, tuple[str, int, bytes | str]]:
        """`tree` without the stamps: what has to be the same after an uninstall."""
        return {name: entry[:3] for name, entry in self.tree().items()}

    # -------------------------------------------------------------- the verbs

    def plan(self, request: Request, **variables: str) -> OperationResult:
        """`plan`, which writes nothing."""
        before = self.tree()
        result = workflow.plan(self.environment(**variables), request)
        assert self.tree() == before, "a plan wrote something"
        return result

    def apply(self, request: Request, **variables: str) -> OperationResult:
        """`apply`."""
        return workflow.apply(self.environment(**variables), request, yes=True)

    def applied(self, request: Request, **variables: str) -> OperationResult:
        """`apply`, which has to succeed, and after which the same plan is empty."""
        result = self.apply(request, **variables)
        assert result.exit_code == 0, result.errors
        again = workflow.plan(self.environment(**variables), request)
        assert again.data["empty"], f"a second plan is not empty: {again.data['files']} {again.errors}"
        return result

    def refused(self, request: Request, *words: str, **variables: str) -> OperationResult:
        """`apply` and `plan`, which have to be refused with these words, and write nothing."""
        before = self.tree()
        result = self.apply(request, **variables)
        assert result.exit_code == 3, (result.exit_code, result.data.get("files"))
        assert self.tree() == before, "refused, and yet something was written"
        told = " ".join(f"{e['code']} {e['message']} {e['hint']}" for e in result.errors)
        for word in words:
            assert word in told, f"`{word}` is not in: {told}"
        planned = self.plan(request, **variables)
        assert (planned.exit_code, planned.errors) == (result.exit_code, result.errors)
        assert planned.data["files"] == [] and planned.data["blast_radius"] == []
        return result

    def uninstall(
        self, *hosts: str, integration: str | None = None, scope: str | None = None, **variables: str
    ) -> OperationResult:
        """`uninstall`."""
        return workflow.uninstall(self.environment(**variables), integration, hosts, scope, yes=True)

    def removed(self, *hosts: str, **more: Any) -> OperationResult:
        """`uninstall`, which has to succeed wholly."""
        result = self.uninstall(*hosts, **more)
        assert (result.exit_code, result.status) == (0, "success"), result.errors
        return result

    def host(self, host: str, **variables: str) -> Mapping[str, Any]:
        """What `status` says of a host."""
        found: Mapping[str, Any] = workflow.status(self.environment(**variables), [host]).data["hosts"][0]
        return found

    def tools(self, host: str, capability: str = "web_search", **variables: str) -> list[str]:
        """The tools that the model would be offered."""
        return [row["tool"] for row in self.host(host, **variables)["surface"][capability]]


def _entry(path: Path) -> Entry:
    found = path.lstat()
    stamp = (found.st_ino, found.st_mtime_ns)
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode):
        return Entry("link", 0, os.readlink(path), stamp)
    if stat.S_ISDIR(found.st_mode):
        return Entry("folder", mode, "", (found.st_ino, 0))
    if not stat.S_ISREG(found.st_mode):
        return Entry("special", mode, "", stamp)
    return Entry("file", mode, path.read_bytes() if os.access(path, os.R_OK) else "", stamp)


def make(
    tmp_path: Path,
    files: Mapping[str, str | bytes] | None = None,
    links: Mapping[str, str] | None = None,
    below: str = "",
    variables: Mapping[str, str] | None = None,
) -> World:
    """The files written: `~/`, `{project}/` and `/etc/` in the names, `{project}` and `{home}` in the texts."""
    world = World(tmp_path / "home", tmp_path / "project", tmp_path / "root", below, variables or {})
    for folder in world[:3]:
        folder.mkdir(parents=True)
    (world.project / ".git").mkdir()
    (world.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name, text in (files or {}).items():
        world.write(name, text)
    for name, target in (links or {}).items():
        world.link(name, target)
    (world.project / below).mkdir(parents=True, exist_ok=True)
    return world
