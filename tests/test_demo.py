"""The demo home: rich in conflicts, of its own altogether, and gone afterwards."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostconf import workflow
from hostconf.demo import PLACEHOLDER, SET, demo_folder, demo_home
from hostconf.model import Environment
from hostconf.workflow.request import Request

ROOT = Path(__file__).resolve().parent.parent
VARIABLES = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm",
    "HOME": os.devnull,
    "CODEX_HOME": os.devnull,
    "OPENCODE_CONFIG": os.devnull,
    "BRAVE_API_KEY": "CANARY-of-the-user",
    "GITHUB_TOKEN": "CANARY-of-the-user",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo is made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def conflicts_of(environment: Environment) -> list[dict[str, Any]]:
    """As the envelope has them."""
    result = workflow.conflicts(environment, [])
    assert result.exit_code == 0
    found: list[dict[str, Any]] = json.loads(json.dumps(result.data))["conflicts"]
    return found


def plan(environment: Environment, tier: str, capability: str | None = None, host: str = "") -> tuple[int, list[str]]:
    """Exit code and what is refused."""
    request = Request(
        "deepseek-web-retrieval",
        (host,) if host else (),
        all_hosts=not host,
        env=(("DEEPSEEK_API_KEY", None),),
        tiers=((capability, tier),),
    )
    result = workflow.plan(environment, request)
    return result.exit_code, [str(error["message"]) for error in result.errors]


# ------------------------------------------------------------------ the folder


def test_it_is_a_folder_of_its_own_and_gone_afterwards(place: Path) -> None:
    with demo_home(VARIABLES) as environment:
        (folder,) = place.iterdir()
        assert folder.name.startswith("hostconf-demo-")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert Path(environment.home) == folder / "home"
        assert environment.project == str(folder / "home" / "site")
        assert environment.folders == (environment.project,)
        assert not environment.host_variables
        assert Path(environment.state).is_relative_to(folder)
        assert (folder / "home" / "site" / ".git").is_dir()

    assert list(place.iterdir()) == []


def test_what_it_holds_is_the_sample_to_the_byte() -> None:
    source = Path(demo_folder()) / "home"
    with demo_home(VARIABLES) as environment:
        copied = {
            p.relative_to(environment.home): p.read_bytes() for p in Path(environment.home).rglob("*") if p.is_file()
        }

    assert copied == {p.relative_to(source): p.read_bytes() for p in source.rglob("*") if p.is_file()}
    assert len(copied) >= 10


def test_it_is_gone_after_an_error(place: Path) -> None:
    with pytest.raises(RuntimeError), demo_home(VARIABLES) as environment:
        (Path(environment.home) / "made" / "deep").mkdir(parents=True)
        raise RuntimeError

    assert list(place.iterdir()) == []


def test_a_folder_that_was_put_in_its_place_is_left(place: Path) -> None:
    with demo_home(VARIABLES):
        (folder,) = place.iterdir()
        folder.rename(place / "moved")
        folder.mkdir()
        (folder / "mine").touch()

    assert (folder / "mine").exists()
    assert (place / "moved" / "home").exists()


def test_a_link_out_of_it_is_removed_and_not_followed(place: Path, home: Path) -> None:
    (home / "mine").touch()
    with demo_home(VARIABLES) as environment:
        (Path(environment.home) / "out").symlink_to(home, target_is_directory=True)

    assert (home / "mine").exists()
    assert list(place.iterdir()) == []


WAITING = """
import os, signal, sys, time
from hostconf.demo import demo_home

def leave(number, frame):
    sys.exit(128 + number)

signal.signal(signal.SIGTERM, leave)
with demo_home(os.environ) as environment:
    print(environment.home, flush=True)
    time.sleep(60)
"""


def test_it_is_gone_after_a_signal(place: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.defpath, "TMPDIR": str(place), "PYTHONPATH": str(ROOT / "src")},
    )
    assert process.stdout is not None
    assert Path(process.stdout.readline().strip()).is_dir()
    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == 128 + signal.SIGTERM
    process.stdout.close()
    assert list(place.iterdir()) == []


# ------------------------------------------------------------------ the variables


def test_no_variable_of_the_user_comes_through_but_those_of_the_terminal() -> None:
    with demo_home(VARIABLES) as environment:
        found = dict(environment.variables)
        home = environment.home

    assert found.pop("HOME") == home
    assert found.pop("HOSTCONF_SYSTEM_ROOT").startswith(str(Path(home).parent))
    assert {found.pop(name) for name in SET} == {PLACEHOLDER}
    assert found == {name: VARIABLES[name] for name in ("PATH", "LANG", "LC_ALL", "TERM")}


AUDITED = """
import os, sys
home, seen = os.path.realpath(os.environ["HOME"]), []

def hook(event, args):
    if event.startswith(("open", "os.", "shutil.")):
        seen.extend(str(arg) for arg in args if isinstance(arg, (str, bytes)) and home in os.fsdecode(arg))

sys.addaudithook(hook)
from hostconf import workflow
from hostconf.demo import demo_home
from hostconf.workflow.request import Request

request = Request("deepseek-web-retrieval", ("codex",), env=(("DEEPSEEK_API_KEY", None),))
with demo_home(os.environ) as environment:
    workflow.status(environment, [])
    workflow.conflicts(environment, [])
    print(workflow.plan(environment, request).exit_code)
    open(os.path.join(environment.home, ".codex", "config.toml")).close()
print(*seen)
"""


def test_the_users_own_home_is_neither_read_nor_written(place: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("broken = [", encoding="utf-8")
    before = sorted(home.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", AUDITED],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
        env={
            "PATH": os.defpath,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "CODEX_HOME": str(home / ".codex"),
            "TMPDIR": str(place),
            "PYTHONPATH": str(ROOT / "src"),
        },
    )

    assert done.stdout.split() == ["0"]
    assert sorted(home.rglob("*")) == before
    assert list(place.iterdir()) == []


# ------------------------------------------------------------------ what there is to see


def test_the_conflicts_are_of_many_kinds() -> None:
    with demo_home(VARIABLES) as environment:
        found = conflicts_of(environment)

    kinds: dict[str, set[str]] = {}
    for row in found:
        kinds.setdefault(row["host"], set()).add(row["kind"])
    everywhere = {"capable-registration", "dead-switch", "explicit-choice", "rules-steer-elsewhere"}
    assert kinds == {
        "claude": everywhere | {"not-trusted"},
        "codex": everywhere | {"not-trusted"},
        "opencode": everywhere | {"name-shadowed", "outranked", "unresolved-secret"},
    }
    assert {row["text"].split("`")[3] for row in found if row["kind"] == "unresolved-secret"} == {"BRAVE_API_KEY"}
    assert all(Path(row["path"]).name and row["line"] for row in found)


def test_preferred_can_be_had_everywhere() -> None:
    with demo_home(VARIABLES) as environment:
        assert plan(environment, "preferred") == (0, [])


@pytest.mark.parametrize(
    ("host", "capability", "exit_code"),
    [
        ("claude", None, 0),
        ("codex", None, 0),
        ("opencode", "web_search", 0),
        ("opencode", "web_fetch", 3),
    ],
)
def test_forced_can_be_had_but_where_the_project_decides(host: str, capability: str | None, exit_code: int) -> None:
    with demo_home(VARIABLES) as environment:
        code, refused = plan(environment, "forced", capability, host)

    assert code == exit_code
    assert bool(refused) == bool(exit_code)
    assert all("webfetch" in why and "opencode.json" in why for why in refused)


def test_the_one_key_of_the_sample_is_masked_where_its_line_is_shown() -> None:
    with demo_home(VARIABLES) as environment:
        file = Path(environment.home) / ".claude.json"
        lines = file.read_text(encoding="utf-8").splitlines()
        (number,) = (n for n, line in enumerate(lines, 1) if "tvly-not-a-real-key" in line)
        shown = json.dumps(workflow.excerpts(environment, [(str(file), number)]), default=str)

    assert "TAVILY_API_KEY" in shown
    assert "tvly-not-a-real-key" not in shown
