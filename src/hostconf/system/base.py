"""What the others see of the disk: the protocol `System`, and its two small records."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from hostconf.model import FileState

MAX_BYTES = 64 * 1024 * 1024
MAX_LINKS = 40
MAX_FOUND = 10_000
"""Entries that one glob may look at: a project is not ours, and may be endless."""


class Route(NamedTuple):
    """Where a path leads once every link is followed."""

    real: str
    kind: Literal["", "absent", "loop", "dangling", "unreadable"]
    """Empty: something is there."""
    problem: str = ""
    """Why not, in words; where a dangling link leads."""


class Status(NamedTuple):
    """What stands at a path, link not followed, or behind a descriptor."""

    kind: Literal["file", "folder", "link", "special"]
    mode: int
    size: int
    identity: tuple[int, int]
    links: int
    owner: tuple[int, int]


class System(Protocol):
    """The disk. Whatever fails raises OSError with the whole path in `filename`."""

    # -- reading
    def resolve(self, path: str) -> Route:
        """Where the path leads: links followed, at most 40; never raises."""

    def read(self, path: str) -> FileState:
        """The file with its bytes, if it is one; what it is, if not. Never raises, never hangs."""

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """A small text file, links followed; None if there is none, or it is no UTF-8."""

    def read_bytes(self, path: str, limit: int = MAX_BYTES) -> bytes:
        """At most `limit` bytes of a regular file, no link followed anywhere. EINVAL if it is something else."""

    def status(self, path: str) -> Status | None:
        """What is there, no link followed anywhere; None if nothing is."""

    def names(self, folder: str) -> tuple[str, ...]:
        """What the folder holds, sorted; nothing if there is no such folder."""

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Paths that match, sorted. `*` and `?` within a name, `**` for folders of any depth (no links followed)."""

    def which(self, program: str, path: str) -> str:
        """The program's file as found on the given PATH; empty if none. Relative folders are passed over."""

    def may_write(self, path: str) -> bool:
        """Whether this user may write the file, or make files in the folder, that is there."""

    def may_make(self, path: str) -> bool:
        """Whether this user may make a file there, its missing folders included."""

    def mount_points(self) -> frozenset[str]:
        """Paths that are mounts of their own, and cannot be renamed; empty where the system does not tell."""

    def being_written(self, path: str) -> bool | None:
        """Whether a process has the file open for writing; None where that cannot be known."""

    def user(self) -> int:
        """The effective user."""

    def process(self) -> dict[str, int | str]:
        """This process for a lock: pid, start, boot, namespace, host, user."""

    def process_start(self, pid: int) -> int | None:
        """When the process began, in ticks since boot; None if there is none or the system does not tell."""

    def new_id(self) -> str:
        """128 random bits in hexadecimal."""

    # -- descriptors
    def open_old(self, path: str) -> int:
        """A descriptor to read and lock by; no link followed, no waiting on a pipe."""

    def open_new(self, path: str, mode: int) -> int:
        """A descriptor of a file that was not there."""

    def descriptor_status(self, descriptor: int) -> Status:
        """What is behind the descriptor."""

    def descriptor_read(self, descriptor: int, limit: int) -> bytes:
        """At most `limit` bytes."""

    def write(self, descriptor: int, data: bytes, path: str) -> None:
        """All of the bytes; `path` is for messages."""

    def copy_metadata(self, descriptor: int, like: str, path: str) -> None:
        """Give the file owner, group, extended attributes (so ACLs) and last the mode of `like`."""

    def set_mode(self, descriptor: int, mode: int, path: str) -> None:
        """Exactly these permission bits."""

    def sync(self, descriptor: int, path: str) -> None:
        """Bytes on the disk."""

    def is_local(self, descriptor: int) -> bool:
        """Whether the file system belongs to this kernel alone, so that its flock is proof."""

    def try_lock(self, descriptor: int, path: str) -> bool | None:
        """The kernel's exclusive flock: got, held by another, or None if there is none here."""

    def close(self, descriptor: int) -> None:
        """Give it back, and its flock."""

    # -- names
    def make_folder(self, path: str, mode: int) -> None:
        """One folder."""

    def remove_folder(self, path: str) -> None:
        """One empty folder."""

    def sync_folder(self, path: str) -> None:
        """Names on the disk."""

    def remove(self, path: str) -> None:
        """One file or link."""

    def link(self, path: str, new: str) -> None:
        """A second name of one file."""

    def replace(self, path: str, new: str) -> None:
        """Rename over whatever is there."""

    def rename_new(self, path: str, new: str) -> None:
        """Rename where nothing is: FileExistsError else (ENOTEMPTY for some folders)."""

    def exchange(self, path: str, other: str) -> None:
        """Two names change their files in one step. EINVAL or ENOSYS where the file system cannot."""
