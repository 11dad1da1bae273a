"""The calls of the system that Python lacks: rename with flags, kind of file system, read lease.

Only `system` comes here, and only when something is written or a lock is looked at:
loading `ctypes` costs a third of a bare interpreter start.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import sys
from typing import NamedTuple


class _Rename(NamedTuple):
    function: str
    exclusive: int
    exchange: int


# Linux is proved by the tests. macOS is from its manual and untested.
_RENAMES = {"linux": _Rename("renameat2", 1, 2), "darwin": _Rename("renameatx_np", 4, 2)}

# ext2/3/4, xfs, btrfs, tmpfs, overlay, f2fs: file systems of one kernel, whose flock is proof.
# FUSE, NFS, SMB, 9p and vboxsf are left out on purpose: another machine may hold a lock there.
_LOCAL = {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630, 0xF2F52010}


class _Statfs(ctypes.Structure):
    _fields_ = [("type", ctypes.c_long), ("rest", ctypes.c_char * 504)]


_library = ctypes.CDLL(None, use_errno=True)


def _rename(from_folder: int, name: str, to_folder: int, new_name: str, flags: int, function: str) -> None:
    call = getattr(_library, function, None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(from_folder, os.fsencode(name), to_folder, os.fsencode(new_name), ctypes.c_uint(flags)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def rename_exclusive(from_folder: int, name: str, to_folder: int, new_name: str) -> None:
    """Rename in one step where nothing of the new name is there; EEXIST else, ENOSYS or EINVAL where unknown."""
    way = _RENAMES.get(sys.platform, _Rename("", 0, 0))
    _rename(from_folder, name, to_folder, new_name, way.exclusive, way.function)


def exchange(from_folder: int, name: str, to_folder: int, new_name: str) -> None:
    """Let two names change their files in one step; ENOSYS or EINVAL where the file system cannot."""
    way = _RENAMES.get(sys.platform, _Rename("", 0, 0))
    _rename(from_folder, name, to_folder, new_name, way.exchange, way.function)


def is_local(descriptor: int) -> bool:
    """Whether the file system is known to be of this kernel alone. On macOS nothing is known to be: False."""
    if sys.platform != "linux":
        return False
    found = _Statfs()
    return _library.fstatfs(descriptor, ctypes.byref(found)) == 0 and (found.type & 0xFFFFFFFF) in _LOCAL


def being_written(descriptor: int) -> bool | None:
    """Whether a process has this file open for writing; None where the kernel does not tell.

    A read lease is granted only where there is no writer.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        # The kernel tells of a broken lease by SIGIO, which kills; SIGURG is ignored unless asked for.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False
