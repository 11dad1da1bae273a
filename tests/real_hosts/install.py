"""Put the real host programs into a cache outside the tree, once.

    python tests/real_hosts/install.py [HOST...]

The cache is `$HOSTCONF_HOSTS_CACHE`, else `hostconf-hosts` in `$XDG_CACHE_HOME` or `~/.cache`; about 1 GB. A host is
there when its folder is: npm works in a folder beside it, which is renamed only when its program has said its version.
Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSIONS = Path(__file__).with_name("versions.toml")
NPM_TIMEOUT = 600
START_TIMEOUT = 60
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
QUIET = ("--ignore-scripts", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error")


class CannotInstall(Exception):
    """Why a host cannot be had here, in a sentence that says what to do."""


def wanted() -> dict[str, dict[str, Any]]:
    """What versions.toml asks for, by host id."""
    return tomllib.loads(VERSIONS.read_text(encoding="utf-8"))


def cache_folder(variables: Mapping[str, str]) -> Path:
    """Where the programs are kept."""
    if variables.get("HOSTCONF_HOSTS_CACHE"):
        return Path(variables["HOSTCONF_HOSTS_CACHE"])
    base = variables.get("XDG_CACHE_HOME") or os.path.join(variables["HOME"], ".cache")
    return Path(base) / "hostconf-hosts"


def platform_name(host: Mapping[str, Any]) -> str:
    """The table of versions.toml for this machine."""
    name = f"{sys.platform}-{MACHINES.get(platform.machine().lower(), 'unknown')}"
    baseline = f"{name}-baseline"
    if baseline in host and "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"):
        return baseline
    if name not in host:
        raise CannotInstall(f"no package for {sys.platform} on {platform.machine()} in {VERSIONS.name}")
    return name


def says_its_version(binary: Path, version: str) -> None:
    """Start the program once; anything but the version asked for is an error."""
    with tempfile.TemporaryDirectory() as home:
        clean = {"HOME": home, "PATH": os.defpath, "TERM": "dumb", "LANG": "C.UTF-8"}
        started = subprocess.run(
            [str(binary), "--version"],
            env=clean,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_TIMEOUT,
            check=False,
        )
    if version not in started.stdout:
        said = (started.stdout + started.stderr).strip()[-500:]
        raise CannotInstall(f"{binary} --version: expected {version}, got exit code {started.returncode} and: {said}")


def npm_install(package: str, place: Path, variables: Mapping[str, str]) -> None:
    """One package into one folder, without its install scripts."""
    npm = shutil.which("npm", path=variables.get("PATH"))
    if npm is None:
        raise CannotInstall("npm is not on PATH: install Node.js with npm to run the real-host tests")
    # Trap: npm in a folder that holds a folder named like the package installs that one, politely. Hence `cwd`.
    done = subprocess.run(
        [npm, "install", "--prefix", str(place), *QUIET, package],
        env=dict(variables),
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NPM_TIMEOUT,
        check=False,
    )
    if done.returncode != 0:
        raise CannotInstall(f"npm install {package}: exit code {done.returncode}: {done.stderr.strip()[-800:]}")


def install(host: str, variables: Mapping[str, str]) -> Path:
    """The program of a host, installed if it is not there yet. Two at once: the second waits for the first."""
    table = wanted()[host]
    system = platform_name(table)
    entry = table[system]
    cache = cache_folder(variables)
    cache.mkdir(parents=True, exist_ok=True)
    place = cache / f"{host}-{table['version']}-{system}"
    binary = place / str(entry["binary"])
    with (cache / f"{host}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "installed").exists():
            shutil.rmtree(place, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=f"{host}-", ignore_cleanup_errors=True) as work:
                fresh = Path(work) / "fresh"
                fresh.mkdir()
                npm_install(entry["package"], fresh, variables)
                program = fresh / str(entry["binary"])
                if not program.is_file():
                    raise CannotInstall(f"{entry['package']} holds no {entry['binary']}")
                program.chmod(0o755)
                says_its_version(program, table["version"])
                (fresh / "installed").write_text(f"{entry['package']}\n", encoding="utf-8")
                fresh.rename(place)
    return binary


def main(argv: list[str]) -> int:
    """Install the hosts named, or all, and print where each is."""
    try:
        for host in argv or list(wanted()):
            print(f"{host} {install(host, os.environ)}")
    except CannotInstall as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
