"""The disk itself.

Every call that writes, locks or makes durable goes through `before`: there the other
disks take hold. Calls that change something take paths whose folders are real: they
walk there from `/` without following a link, so that a folder swapped for a link
after the plan was made is an error, not a way out. On Windows only reading is meant
to work, untested.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from os.path import basename, dirname, join, normpath
from typing import Literal, TypeVar

from hostconf.model import FileState
from hostconf.system.base import MAX_BYTES, MAX_FOUND, MAX_LINKS, Route, Status

_T = TypeVar("_T")
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_READ: int = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER: int = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# O_PATH asks for no right to list the folders on the way.
_STEP: int = _FOLDER | _NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)
_AT = os.open in os.supports_dir_fd
_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def _status(found: os.stat_result) -> Status:
    kind: Literal["file", "folder", "link", "special"] = "special"
    if stat.S_ISREG(found.st_mode):
        kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "folder"
    elif stat.S_ISLNK(found.st_mode):
        kind = "link"
    identity, owner = (found.st_dev, found.st_ino), (found.st_uid, found.st_gid)
    return Status(kind, stat.S_IMODE(found.st_mode), found.st_size, identity, found.st_nlink, owner)


def _walk(folder: str) -> int:
    if sys.platform == "linux":
        # In one step: the kernel tells where it ended, and that is the same path only if no link was on the way.
        try:
            there = os.open(folder or "/", _STEP)
        except OSError:
            there = -1  # the slow way finds out why
        if there >= 0:
            try:
                if os.readlink(f"/proc/self/fd/{there}") == (folder or "/"):
                    return there
            except OSError:
                pass
            os.close(there)
    here = os.open("/", _STEP)
    for part in folder.split("/"):
        if part in ("", "."):
            continue
        try:
            there = os.open(part, _STEP, dir_fd=here)
        finally:
            os.close(here)
        here = there
    return here


def _at(path: str, work: Callable[[int | None, str], _T]) -> _T:
    """What `work` gives of the path's folder, reached through no link, and its last name."""
    if not _AT:
        return work(None, path)
    folder: int | None = None
    try:
        folder = _walk(dirname(path))
        return work(folder, basename(path))
    except OSError as error:
        # The name alone would tell nobody where.
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        if folder is not None:
            os.close(folder)


def _take(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0 and (part := os.read(descriptor, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


class RealSystem:
    """The disk itself. See `System` for what each call gives."""

    def before(self, call: str, *paths: str) -> None:
        """Called before every call that writes, locks or makes durable; whoever overrides it may raise."""

    # -- reading

    def resolve(self, path: str) -> Route:
        if sys.platform == "win32":
            real = os.path.realpath(path)
            return Route(real, "" if os.path.lexists(real) else "absent")
        real, links = "/", 0
        todo = [(part, False) for part in reversed(path.split("/"))]
        while todo:
            part, of_link = todo.pop()
            if part in ("", ".", ".."):
                real = dirname(real) if part == ".." else real
                continue
            here = join(real, part)
            try:
                if not stat.S_ISLNK(os.lstat(here).st_mode):
                    real = here
                    continue
                links += 1
                target = os.readlink(here)
            except FileNotFoundError:
                real = normpath(join(here, *[part for part, _ in reversed(todo)]))
                return Route(real, "dangling", real) if of_link else Route(real, "absent")
            except NotADirectoryError:
                return Route(real, "unreadable", f"`{real}` is not a folder")
            except (OSError, ValueError) as error:
                return Route(here, "unreadable", getattr(error, "strerror", None) or "not a path")
            if links > MAX_LINKS:
                return Route(path, "loop", "its links go in a circle, or through more than 40")
            real = "/" if target.startswith("/") else real
            todo += [(part, True) for part in reversed(target.split("/"))]
        return Route(real, "")

    def read(self, path: str) -> FileState:
        route = self.resolve(path)
        real = route.real
        if route.kind == "absent":
            return FileState(path, real, "absent", writable=self.may_make(real))
        if route.kind:
            return FileState(path, real, route.kind, problem=route.problem, writable=False)
        try:
            found = self.status(real)
            if found is None:
                return FileState(path, real, "absent", writable=self.may_make(real))
            if found.kind != "file":
                kind: Literal["folder", "special"] = "folder" if found.kind == "folder" else "special"
                problem = "is a folder" if kind == "folder" else "is a pipe, socket or device"
                return FileState(path, real, kind, None, found.mode, problem, False, found.identity)
            data = self.read_bytes(real, MAX_BYTES + 1)
        except OSError as error:
            return FileState(path, real, "unreadable", problem=error.strerror or "cannot be read", writable=False)
        if len(data) > MAX_BYTES:
            problem = f"is larger than {MAX_BYTES >> 20} MiB"
            return FileState(path, real, "unreadable", None, found.mode, problem, False, found.identity)
        writable = self.may_write(real) and self.may_write(dirname(real))
        return FileState(path, real, "file", data, found.mode, "", writable, found.identity, found.links)

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        route = self.resolve(path)
        if route.kind:
            return None
        try:
            data = self.read_bytes(route.real, limit + 1)
            return data.decode() if len(data) <= limit else None
        except (OSError, UnicodeDecodeError):
            return None

    def read_bytes(self, path: str, limit: int = MAX_BYTES) -> bytes:
        # Looked at first: merely opening a device can do something.
        found = self.status(path)
        descriptor = self.open_old(path) if found is None or found.kind == "file" else -1
        try:
            if descriptor < 0 or not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            return _take(descriptor, limit)
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def status(self, path: str) -> Status | None:
        try:
            return _status(_at(path, lambda folder, name: os.stat(name or "/", dir_fd=folder, follow_symlinks=False)))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, folder: str) -> tuple[str, ...]:
        try:
            return tuple(sorted(os.listdir(folder)))
        except OSError:
            return ()

    def glob(self, pattern: str) -> tuple[str, ...]:
        from fnmatch import fnmatchcase

        left = MAX_FOUND
        found = ["/" if pattern.startswith("/") else ""]
        for part in pattern.strip("/").split("/"):
            if part == "**":
                for folder in found:  # grows while it is walked: that is the descent
                    inside = [join(folder, name) for name in self.names(folder) if not name.startswith(".")][:left]
                    left -= len(inside)
                    found += [path for path in inside if os.path.isdir(path) and not os.path.islink(path)]
            elif "*" in part or "?" in part:
                names = [(folder, name) for folder in found for name in self.names(folder)][:MAX_FOUND]
                seen = [pair for pair in names if not pair[1].startswith(".") or part.startswith(".")]
                found = [join(folder, name) for folder, name in seen if fnmatchcase(name, part)]
            else:
                found = [join(folder, part) for folder in found]
        return tuple(sorted({path for path in found if os.path.lexists(path)}))

    def which(self, program: str, path: str) -> str:
        endings = (".exe", ".cmd", ".bat", "") if sys.platform == "win32" else ("",)
        for folder in path.split(os.pathsep):
            for ending in endings:
                file = join(folder, program + ending)
                if os.path.isabs(folder) and os.path.isfile(file) and os.access(file, os.X_OK):
                    return file
        return ""

    def may_write(self, path: str) -> bool:
        effective = os.access in os.supports_effective_ids
        try:
            rights = os.W_OK | os.X_OK if os.path.isdir(path) else os.W_OK
            return os.access(path, rights, effective_ids=effective)
        except (OSError, ValueError):
            return False

    def may_make(self, path: str) -> bool:
        folder = dirname(path)
        while True:
            try:
                found = os.stat(folder)
            except (FileNotFoundError, NotADirectoryError):
                if folder == dirname(folder) or os.path.islink(folder):
                    return False
                folder = dirname(folder)
                continue
            except (OSError, ValueError):
                return False
            if not stat.S_ISDIR(found.st_mode) or self.may_write(folder):
                return stat.S_ISDIR(found.st_mode)
            if os.path.isdir(folder):
                return False  # else it went between the two looks, and the next round goes on above it

    def mount_points(self) -> frozenset[str]:
        try:
            with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
                words = [line.split()[4] for line in lines]
        except OSError:
            return frozenset()
        for escape, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            words = [word.replace(escape, character) for word in words]
        return frozenset(words)

    def being_written(self, path: str) -> bool | None:
        from hostconf.system import kernel

        descriptor = self.open_old(path)
        try:
            return kernel.being_written(descriptor)
        finally:
            os.close(descriptor)

    def user(self) -> int:
        return os.geteuid()

    def process(self) -> dict[str, int | str]:
        import pwd

        uid = os.geteuid()
        try:
            user = pwd.getpwuid(uid).pw_name
        except KeyError:
            user = ""
        try:
            namespace = os.stat("/proc/self/ns/pid").st_ino
        except OSError:
            namespace = 0
        boot = (self.read_text("/proc/sys/kernel/random/boot_id") or "").strip()
        pid = os.getpid()
        return {
            "pid": pid,
            "pid_start": self.process_start(pid) or 0,
            "boot_id": boot,
            "pid_ns": namespace,
            "host": os.uname().nodename,
            "uid": uid,
            "user": user,
        }

    def process_start(self, pid: int) -> int | None:
        text = self.read_text(f"/proc/{pid}/stat")
        try:
            # The name in brackets may hold brackets and blanks itself.
            return int(text.rpartition(")")[2].split()[19]) if text else None
        except (ValueError, IndexError):
            return None

    def new_id(self) -> str:
        return os.urandom(16).hex()

    # -- descriptors

    def open_old(self, path: str) -> int:
        return _at(path, lambda folder, name: os.open(name or "/", _READ, dir_fd=folder))

    def open_new(self, path: str, mode: int) -> int:
        self.before("open_new", path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _READ
        return _at(path, lambda folder, name: os.open(name, flags, mode, dir_fd=folder))

    def descriptor_status(self, descriptor: int) -> Status:
        return _status(os.fstat(descriptor))

    def descriptor_read(self, descriptor: int, limit: int) -> bytes:
        return _take(descriptor, limit)

    def write(self, descriptor: int, data: bytes, path: str) -> None:
        left = memoryview(data)
        while left:
            self.before("write", path)
            left = left[self._write_some(descriptor, left) :]

    def _write_some(self, descriptor: int, data: memoryview) -> int:
        return os.write(descriptor, data)

    def copy_metadata(self, descriptor: int, like: str, path: str) -> None:
        self.before("copy_metadata", path)
        old = self.open_old(like)
        try:
            found, new = os.fstat(old), os.fstat(descriptor)
            if (found.st_uid, found.st_gid) != (new.st_uid, new.st_gid):
                os.fchown(descriptor, found.st_uid, found.st_gid)
            if sys.platform == "linux":
                _copy_attributes(old, descriptor)
            # Last: a new owner clears bits, and an ACL changes them.
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
        finally:
            os.close(old)

    def set_mode(self, descriptor: int, mode: int, path: str) -> None:
        self.before("set_mode", path)
        os.fchmod(descriptor, mode)

    def sync(self, descriptor: int, path: str) -> None:
        self.before("sync", path)
        os.fsync(descriptor)

    def is_local(self, descriptor: int) -> bool:
        from hostconf.system import kernel

        return kernel.is_local(descriptor)

    def try_lock(self, descriptor: int, path: str) -> bool | None:
        import fcntl

        self.before("try_lock", path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in (_UNSUPPORTED | {errno.ENOLCK, errno.EBADF}):
                return None
            raise
        return True

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    # -- names

    def make_folder(self, path: str, mode: int) -> None:
        self.before("make_folder", path)
        _at(path, lambda folder, name: os.mkdir(name, mode, dir_fd=folder))

    def remove_folder(self, path: str) -> None:
        self.before("remove_folder", path)
        _at(path, lambda folder, name: os.rmdir(name, dir_fd=folder))

    def sync_folder(self, path: str) -> None:
        self.before("sync_folder", path)
        descriptor = _at(
            path, lambda folder, name: os.open(name or "/", os.O_RDONLY | _FOLDER | _NOFOLLOW, dir_fd=folder)
        )
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        self.before("remove", path)
        _at(path, lambda folder, name: os.unlink(name, dir_fd=folder))

    def link(self, path: str, new: str) -> None:
        self.before("link", path, new)
        self._between(
            path, new, lambda a, name, b, other: os.link(name, other, src_dir_fd=a, dst_dir_fd=b, follow_symlinks=False)
        )

    def replace(self, path: str, new: str) -> None:
        self.before("replace", path, new)
        self._between(path, new, lambda a, name, b, other: os.replace(name, other, src_dir_fd=a, dst_dir_fd=b))

    def rename_new(self, path: str, new: str) -> None:
        from hostconf.system import kernel

        self.before("rename_new", path, new)
        try:
            self._between(path, new, kernel.rename_exclusive)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            self._rename_new_slowly(path, new)

    def _rename_new_slowly(self, path: str, new: str) -> None:
        found = self.status(path)
        if found is not None and found.kind == "file":
            try:
                self.link(path, new)
            except OSError as error:
                if error.errno not in (_UNSUPPORTED | {errno.EPERM, errno.EMLINK}):
                    raise
            else:
                # A power cut may keep the second step and forget the first.
                self.sync_folder(dirname(new))
                self.remove(path)
                return
        # A full folder is never replaced by rename; an empty one, or a file, is, in the moment after the look.
        if self.status(new) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
        self.replace(path, new)

    def exchange(self, path: str, other: str) -> None:
        from hostconf.system import kernel

        self.before("exchange", path, other)
        self._between(path, other, kernel.exchange)

    def _between(self, path: str, other: str, work: Callable[[int, str, int, str], None]) -> None:
        def inner(folder: int | None, name: str) -> None:
            _at(other, lambda to, new: work(folder or 0, name, to or 0, new))

        _at(path, inner)


def _copy_attributes(old: int, new: int) -> None:
    wanted, present = _attributes(old), _attributes(new)
    for name in present.keys() - wanted.keys():
        # Inherited from the folder's default ACL: the old file has none of it.
        if not name.startswith(("security.", "trusted.")):
            os.removexattr(new, name)
    for name, value in wanted.items():
        if present.get(name) == value:
            continue
        try:
            os.setxattr(new, name, value)
        except PermissionError:
            # Labels of the security module are its own business; the folder gave the new file one.
            if not name.startswith(("security.", "trusted.")):
                raise


def _attributes(descriptor: int) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return {}
        raise
