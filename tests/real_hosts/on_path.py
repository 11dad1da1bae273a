"""What the name of a host on PATH starts in these tests: the real program, in the cage.

    python -m tests.real_hosts.on_path HOST PROGRAM WORK copy|lasting ARGS...

With `copy` it works on a copy of the home and of the project, under other names, for whoever asks may be reading the
originals at the same time. With `lasting` it works on the originals, as at home.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hostconf.hosts.load import load_hosts
from tests.real_hosts.drive import DRIVERS, ROOT, SYSTEM_PATH, Driver
from tests.real_hosts.install import wanted

CAGE = {"HOME", "PATH", "PYTHONPATH", "TMPDIR", "TERM", "LANG"}
"""Variables that the cage sets."""


def on_path(drivers: Iterable[Driver], place: Path, *, lasting: bool = False) -> str:
    """Puts programs where npm puts them below a prefix; gives the PATH that finds them and their `npx`."""
    packages = {host.id: host.package for host in load_hosts()}
    (place / "bin").mkdir(parents=True)
    for driver in drivers:
        folder = place / "lib" / "node_modules" / packages[driver.id]
        folder.mkdir(parents=True)
        about = {"name": packages[driver.id], "version": wanted()[driver.id]["version"]}
        (folder / "package.json").write_text(json.dumps(about))
        words = [sys.executable, "-B", "-P", "-m", "tests.real_hosts.on_path", driver.id]
        words += [str(driver.program), str(driver.work), "lasting" if lasting else "copy"]
        program = folder / driver.id
        program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
        (place / "bin" / driver.id).symlink_to(program)
    return f"{place / 'bin'}:{SYSTEM_PATH}"


def main(argv: list[str]) -> int:
    """Start the program once with the variables of whoever asks."""
    host, program, work, how, *args = argv
    driver = DRIVERS[host](Path(program), Path(work))
    home, project = Path(os.environ["HOME"]), Path.cwd()
    variables = {name: value for name, value in os.environ.items() if name not in CAGE}
    if how == "lasting":
        answer = driver.start(home, project, args, variables, lasting=True)
    else:
        with tempfile.TemporaryDirectory(dir=work, prefix="asked-", ignore_cleanup_errors=True) as made:
            copies = Path(made) / "home", Path(made) / "project"
            for original, copy in zip((home, project), copies, strict=True):
                shutil.copytree(original, copy, symlinks=True)
            answer = driver.start(*copies, args, variables, lasting=True)
    sys.stdout.write(answer.out)
    sys.stderr.write(answer.err)
    return answer.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
