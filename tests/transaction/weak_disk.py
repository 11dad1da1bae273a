"""A disk that promises as little as it may: what a power cut can leave behind after each call.

A run is recorded through the door to the disk and replayed on a model. Bytes that were
not synced may be there, half there or not there; of the names changed in a folder since
it was synced, any subset may be. Stricter than any real file system.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from os.path import basename, dirname
from pathlib import Path
from typing import NamedTuple

from hostconf.system import FailingSystem


class Call(NamedTuple):
    """One call, with the bytes if it wrote."""

    name: str
    paths: tuple[str, ...]
    data: bytes = b""


class Recorder(FailingSystem):
    """The disk, and everything that was asked of it."""

    def __init__(self) -> None:
        """Nothing asked yet."""
        super().__init__()
        self.log: list[Call] = []

    def before(self, call: str, *paths: str) -> None:
        """Note it down."""
        self.log.append(Call(call, paths))

    def _write_some(self, descriptor: int, data: memoryview) -> int:
        written = super()._write_some(descriptor, data)
        self.log[-1] = self.log[-1]._replace(data=bytes(data[:written]))
        return written

    def remove_folder(self, path: str) -> None:
        """A refusal changes nothing, so it is taken out again."""
        try:
            super().remove_folder(path)
        except OSError:
            self.log.pop()
            raise


class File:
    """A file: its bytes, and those that are surely on the disk."""

    def __init__(self, data: bytes = b"") -> None:
        """All of it synced."""
        self.data, self.synced = data, data

    def after_cut(self, share: int) -> bytes:
        """Of what was not synced nothing, a half, or all."""
        loose = len(self.data) - len(self.synced)
        return self.data[: len(self.synced) + loose * share // 2]


class Folder:
    """A folder: the names that are surely in it."""

    def __init__(self) -> None:
        """Empty."""
        self.names: dict[str, File | Folder] = {}


Change = tuple[tuple[Folder, str, File | Folder | None], ...]
"""Names that one call changes, all of them or none."""


class Disk:
    """Every file and folder as programs see it, and what of it is loose."""

    def __init__(self, root: Path) -> None:
        """What is there now, all of it synced."""
        self.root = Folder()
        self.live: dict[str, File | Folder] = {str(root): self.root}
        for path in sorted(root.rglob("*")):
            made = Folder() if path.is_dir() else File(path.read_bytes())
            self.live[str(path)] = made
            self.folder(str(path)).names[path.name] = made
        self.loose: list[tuple[Change, set[int]]] = []

    def folder(self, path: str) -> Folder:
        """The folder that a path stands in."""
        found = self.live[dirname(path)]
        assert isinstance(found, Folder)
        return found

    def file(self, path: str) -> File:
        """The file at a path."""
        found = self.live[path]
        assert isinstance(found, File)
        return found

    def do(self, call: Call) -> None:
        """What the call does to it."""
        path, other = call.paths[0], call.paths[-1]
        if call.name == "write":
            self.file(path).data += call.data
        elif call.name == "sync":
            self.file(path).synced = self.file(path).data
        elif call.name == "sync_folder":
            self._sync(id(self.live.get(path)))
        elif call.name in ("make_folder", "open_new") and path not in self.live:
            self._set((path, Folder() if call.name == "make_folder" else File()))
        elif call.name in ("remove", "remove_folder"):
            self._set((path, None))
        elif call.name == "link":
            self._set((other, self.live[path]))
        elif call.name == "exchange":
            self._set((path, self.live[other]), (other, self.live[path]))
        elif call.name in ("replace", "rename_new"):
            inside = {name: found for name, found in self.live.items() if name.startswith(path + "/")}
            self._set((path, None), (other, self.live[path]))
            self.live.update({other + name[len(path) :]: found for name, found in inside.items()})

    def _set(self, *pairs: tuple[str, File | Folder | None]) -> None:
        change = tuple((self.folder(path), basename(path), made) for path, made in pairs)
        self.loose.append((change, {id(folder) for folder, _, _ in change}))
        for path, made in pairs:
            if made is None:
                self.live = {n: f for n, f in self.live.items() if n != path and not n.startswith(path + "/")}
            else:
                self.live[path] = made

    def _sync(self, folder: int) -> None:
        for change, folders in self.loose:
            folders.discard(folder)
            if not folders:
                for where, name, made in change:
                    _put(where.names, name, made)
        self.loose = [entry for entry in self.loose if entry[1]]

    def after_cut(self, kept: tuple[int, ...], share: int) -> dict[str, bytes | None]:
        """Path below the root to bytes, None for a folder."""
        names: dict[int, dict[str, File | Folder]] = {}
        for index in kept:
            for where, name, made in self.loose[index][0]:
                _put(names.setdefault(id(where), dict(where.names)), name, made)
        found: dict[str, bytes | None] = {}
        todo: list[tuple[str, File | Folder]] = [("", self.root)]
        while todo:
            path, one = todo.pop()
            found[path] = one.after_cut(share) if isinstance(one, File) else None
            if isinstance(one, Folder):
                todo += [(f"{path}/{name}", below) for name, below in names.get(id(one), one.names).items()]
        return found


def _put(names: dict[str, File | Folder], name: str, made: File | Folder | None) -> None:
    if made is None:
        names.pop(name, None)
    else:
        names[name] = made


def states(disk: Disk, log: list[Call], cap: int, dice: random.Random) -> Iterator[dict[str, bytes | None]]:
    """What may be on the disk if the power goes after each call."""
    for call in log:
        disk.do(call)
        for kept in _subsets(len(disk.loose), cap, dice):
            for share in (0, 1, 2):
                yield disk.after_cut(kept, share)


def _subsets(count: int, cap: int, dice: random.Random) -> list[tuple[int, ...]]:
    everything = tuple(range(count))
    if 2**count <= cap:
        return [tuple(i for i in everything if mask >> i & 1) for mask in range(2**count)]
    some = {(), everything, *((i,) for i in everything), *(everything[:i] + everything[i + 1 :] for i in everything)}
    while len(some) < cap:
        some.add(tuple(i for i in everything if dice.random() < 0.5))
    return sorted(some)


def lay_down(state: dict[str, bytes | None], old: Path, new: Path) -> None:
    """Make it so below `new`, where it was recorded below `old`."""
    for name in sorted(state):
        path, data = Path(str(new) + name), state[name]
        if data is None:
            path.mkdir(mode=0o700)
            continue
        path.write_bytes(data.replace(str(old).encode(), str(new).encode()))
        path.chmod(0o600)
        if path.name == "owner.json":
            try:
                owner = json.loads(path.read_text())
            except ValueError:
                continue
            # A lock knows its own file by number, and this is another one.
            path.write_text(json.dumps({**owner, "inode": path.stat().st_ino}))
