"""What is built is what is tested: the wheel holds the data files and works on its own, the sdist holds all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from hostconf import __version__

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.xdist_group("package")  # built once


def run(*words: str, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        words,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist, built with what is installed: no registry is asked."""
    place = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(ROOT), cwd=place)
    return place


def data_files(folder: str) -> set[str]:
    return {file.name for file in (ROOT / folder).iterdir() if file.is_file()}


@pytest.mark.parametrize("folder", ["hosts", "integrations"])
def test_the_data_travels(built: Path, folder: str) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {Path(name) for name in archive.namelist()}
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        packed = {Path(*Path(name).parts[1:]) for name in tar.getnames()}

    files = data_files(folder)
    assert any(name.endswith(".toml") for name in files)
    assert {Path("hostconf/_data") / folder / name for name in files} <= inside
    assert {Path(folder) / name for name in files} <= packed


def test_the_demo_travels_with_its_dotfiles_and_opens_no_folder_of_its_own(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {Path(name) for name in archive.namelist()}
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        packed = {Path(*Path(name).parts[1:]) for name in tar.getnames() if "/demo/" in name}

    files = {file.relative_to(ROOT) for file in (ROOT / "demo").rglob("*") if file.is_file()}
    assert Path("demo/home/.codex/config.toml") in files
    assert {Path("hostconf/_data") / file for file in files} == {f for f in inside if f.parts[2:3] == ("demo",)}
    assert {file for file in packed if (ROOT / file).is_file()} == files


def test_the_wheel_holds_the_package_and_nothing_of_the_checkout(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    source = {str(file.relative_to(ROOT / "src")) for file in (ROOT / "src/hostconf").rglob("*.py")}
    assert source <= set(names)
    assert {Path(name).parts[0] for name in names} == {"hostconf", f"hostconf-{__version__}.dist-info"}


def test_the_wheel_works_on_its_own(built: Path, tmp_path: Path) -> None:
    """Installed without its dependencies into a new environment: the command, the catalogues, a look round."""
    place = tmp_path / "env"
    venv.create(place, with_pip=False, symlinks=True)
    (wheel,) = built.glob("*.whl")
    python = place / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", str(python), "install"),
        *("--quiet", "--no-deps", "--no-index", str(wheel)),
        cwd=tmp_path,
    )
    command = str(place / "bin" / "hostconf")

    assert run(command, "--version", cwd=tmp_path) == f"hostconf {__version__}\n"
    hosts = json.loads(run(command, "hosts", "--json", cwd=tmp_path))["data"]["hosts"]
    assert {f"{host['id']}.toml" for host in hosts} == {n for n in data_files("hosts") if n.endswith(".toml")}
    integrations = json.loads(run(command, "integrations", "--json", cwd=tmp_path))["data"]["integrations"]
    assert any(one["installable"] for one in integrations)
    home = tmp_path / "home"
    home.mkdir()
    status = json.loads(run(command, "status", "--json", "--home", str(home), cwd=tmp_path))
    assert status["status"] == "success"
