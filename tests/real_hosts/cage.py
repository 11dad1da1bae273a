"""Run one host in a cage: loopback only, a stand-in model beside it, and nothing left running afterwards.

    python -m tests.real_hosts.cage SPEC.json          (below `unshare`, see drive.py)

SPEC: `{"argv", "cwd", "env", "record", "timeout", "once_answered"}`; `{port}` in argv and env becomes the model's
port. stdout, stderr and the exit code are the host's own; 124 is a time-out. With `once_answered` the host is ended as
soon as a request with tools has had its last answer, for what it does afterwards (5 s of shutdown in Codex) is not
asked for; the exit code is 0 then. Standard library only.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.real_hosts.model_server import ModelServer

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
PR_SET_CHILD_SUBREAPER = 36
TIMED_OUT = 124
GRACE = 0.3


def loopback_up() -> None:
    """A new network namespace has `lo`, but down. No `ip` command is needed for that."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(door, SIOCGIFFLAGS, request))[1]
        if not flags & IFF_UP:
            fcntl.ioctl(door, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def wait(host: subprocess.Popen[bytes], server: ModelServer, timeout: float, once_answered: bool) -> int:
    """Until the host has ended, or has asked what it was started to ask, or has taken too long."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        code = host.poll()
        if code is not None:
            return code
        if once_answered and server.answered.wait(0.05):
            try:
                return host.wait(GRACE)
            except subprocess.TimeoutExpired:
                return 0
        if not once_answered:
            time.sleep(0.05)
    return TIMED_OUT


def adopt_orphans() -> None:
    """What a host leaves behind becomes a child of this process, so that it can be ended: MCP servers in groups of
    their own, daemons. In a process namespace the kernel does it anyway."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_all(host: subprocess.Popen[bytes]) -> None:
    """The host's group, then every child that is left. Nothing that was not started here is ever reached."""
    try:
        os.killpg(host.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    host.wait()
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists():  # not in every kernel
        pids = [int(pid) for pid in children.read_text().split()]
        if not pids:
            return
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def run(spec: dict[str, Any]) -> int:
    """Start the model and the host, wait for the host, end all of its process group."""
    server = ModelServer(Path(spec["record"]))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    port = str(server.port)
    argv = [part.replace("{port}", port) for part in spec["argv"]]
    env = {name: value.replace("{port}", port) for name, value in spec["env"].items()}
    host = subprocess.Popen(argv, cwd=spec["cwd"], env=env, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return wait(host, server, spec["timeout"], spec["once_answered"])
    finally:
        end_all(host)
        server.shutdown()


def main(argv: list[str]) -> int:
    """Read the spec and run it."""
    spec = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    adopt_orphans()
    if spec["own_network"]:
        loopback_up()
    return run(spec)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
