"""The door to the wizard: a terminal opens it, everything else gets `status`, and its options say where they belong."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hostconf.cli import main
from hostconf.cli.parser import parse
from hostconf.model import Environment

ROOT = Path(__file__).resolve().parent.parent.parent
ASKED = [["--dry-run"], ["--demo"], ["--dry-run", "--demo"], ["--demo", "--dry-run", "-v"]]


class Terminals:
    """The command line with standard streams that are terminals, but for those that are named."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.patch = monkeypatch

    def main(self, words: list[str], without: str = "") -> int:
        """Run it; `without` is a stream, or TERM for a terminal that cannot be drawn on."""
        # Not before the call: between a fixture and its test pytest puts other streams in.
        for name in ("stdin", "stdout", "stderr"):
            self.patch.setattr(getattr(sys, name), "isatty", lambda there=name != without: there, raising=False)
        self.patch.setenv("TERM", "dumb" if without == "TERM" else "xterm")
        return main(words)


@pytest.fixture
def terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminals:
    return Terminals(monkeypatch)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the wizard was opened with; it is left at once, with exit code 4."""
    calls: list[dict[str, Any]] = []

    def run(environment: Environment, **options: bool) -> int:
        calls.append({"environment": environment, "there": os.path.isdir(environment.home), **options})
        return 4

    monkeypatch.setattr("hostconf.tui.run", run)
    return calls


# ------------------------------------------------------------------ opened


@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_a_terminal_opens_the_wizard_on_the_users_own_home(
    words: list[str], terminals: Terminals, opened: list[dict[str, Any]], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert terminals.main(words) == 4

    (call,) = opened
    assert call["environment"].home == str(home)
    assert (call["dry_run"], call["demo"], call["colour"]) == ("--dry-run" in words, False, False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("words", [words for words in ASKED if "--demo" in words])
def test_the_demo_opens_it_on_a_throwaway_home(
    words: list[str], terminals: Terminals, opened: list[dict[str, Any]], home: Path
) -> None:
    assert terminals.main(words) == 4

    (call,) = opened
    assert call["there"]
    assert "hostconf-demo-" in call["environment"].home
    assert not os.path.exists(os.path.dirname(call["environment"].home))
    assert (call["dry_run"], call["demo"]) == ("--dry-run" in words, True)
    assert list(home.iterdir()) == []


def test_a_given_home_and_project_are_the_wizards(
    terminals: Terminals, opened: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "h" / "p").mkdir(parents=True)
    assert terminals.main(["--home", str(tmp_path / "h"), "--project", str(tmp_path / "h" / "p"), "--dry-run"]) == 4

    assert opened[0]["environment"].home == str(tmp_path / "h")
    assert opened[0]["environment"].project == str(tmp_path / "h" / "p")


@pytest.mark.parametrize(
    ("words", "variable", "colour"), [([], "", True), (["--no-color"], "", False), ([], "1", False)]
)
def test_colour_is_told(
    words: list[str],
    variable: str,
    colour: bool,
    terminals: Terminals,
    opened: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    terminals.main(words)

    assert opened[0]["colour"] is colour


def test_a_failure_of_the_wizard_is_told_and_the_demo_is_gone(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    homes: list[str] = []

    def run(environment: Environment, **options: bool) -> int:
        homes.append(environment.home)
        raise RuntimeError

    monkeypatch.setattr("hostconf.tui.run", run)

    assert terminals.main(["--demo"]) == 1
    assert "nobody foresaw" in capsys.readouterr().err
    assert not os.path.exists(os.path.dirname(homes[0]))


def test_on_a_real_terminal_the_screen_is_taken_and_a_signal_leaves_nothing_behind(tmp_path: Path) -> None:
    """SIGTERM while the demo is open: its folder is gone, and the terminal has its own screen back."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hostconf", "--demo"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        start_new_session=True,
        env={
            "HOME": str(tmp_path),
            "PATH": os.defpath,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TMPDIR": str(tmp_path),
            "PYTHONPATH": str(ROOT / "src"),
        },
    )
    os.close(slave)
    seen = b""
    try:
        end = time.monotonic() + 60
        while b"WebSearch" not in seen and select.select([master], [], [], max(0, end - time.monotonic()))[0]:
            seen += os.read(master, 65536)
        assert b"\x1b[?1049h" in seen
        assert [path.name[:14] for path in tmp_path.glob("hostconf-demo-*")] == ["hostconf-demo-"]

        process.terminate()
        try:
            while part := os.read(master, 65536):
                seen += part
        except OSError:
            pass  # the other end is closed
        assert process.wait(30) in (130, 128 + signal.SIGTERM)  # the wizard's own word, or before it is there
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)
    assert list(tmp_path.glob("hostconf-demo-*")) == []
    assert seen.rindex(b"\x1b[?1049l") > seen.rindex(b"\x1b[?1049h")


# ------------------------------------------------------------------ not opened


@pytest.mark.parametrize("what", ["stdin", "stdout", "stderr", "TERM"])
def test_without_a_terminal_it_is_status(
    what: str,
    terminals: Terminals,
    opened: list[dict[str, Any]],
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text('model = "x"\n', encoding="utf-8")
    assert terminals.main(["--no-color"], what) == 0
    plain = capsys.readouterr()
    assert terminals.main(["status", "--no-color"], what) == 0

    assert plain == capsys.readouterr()
    assert "Codex CLI" in plain.out
    assert opened == []


def test_with_json_it_is_status(
    terminals: Terminals, opened: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert terminals.main(["--json"]) == 0

    assert json.loads(capsys.readouterr().out)["command"] == "status"
    assert opened == []


@pytest.mark.parametrize("what", ["stdin", "stdout", "stderr", "TERM"])
@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_without_a_terminal_its_options_are_refused(
    words: list[str],
    what: str,
    terminals: Terminals,
    opened: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert terminals.main(words, what) == 2

    err = capsys.readouterr().err
    assert "terminal" in err.splitlines()[0]
    assert "hint: `hostconf status`" in err
    assert opened == []


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--dry-run", "--json"], "`--json` asks for none", "hostconf plan"),
        (["plan", "x", "--all-hosts", "--dry-run"], "`--dry-run` is for the wizard, not for `plan`", "`hostconf plan`"),
        (["--dry-run", "apply", "x", "--all-hosts"], "`--dry-run` is for the wizard", "`hostconf plan` previews"),
        (["status", "--demo"], "`--demo` is for the wizard, not for `status`", "`hostconf --demo`"),
        (["--demo", "status"], "`--demo` is for the wizard, not for `status`", "`hostconf --demo`"),
        (["--demo", "--home", "."], "`--demo` and `--home` exclude", "one of them"),
        (["--project", ".", "--demo"], "`--demo` and `--project` exclude", "one of them"),
        (["--demo=1"], "`--demo` takes no value", "hostconf --help"),
        (["--dryrun"], "--dryrun", "did you mean `--dry-run`?"),
        (["--demo", "statsu"], "statsu", "hostconf status"),
    ],
)
def test_what_is_off_is_said(
    words: list[str],
    message: str,
    hint: str,
    terminals: Terminals,
    opened: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert terminals.main(words) == 2

    out, err = capsys.readouterr()
    if "--json" in words:
        (error,) = json.loads(out)["errors"]
        out, err = "", f"error: {error['message']}\nhint: {error['hint']}"
    assert out == ""
    assert message in err.splitlines()[0]
    assert hint in err.partition("hint: ")[2]
    assert opened == []


def test_plain_is_told_from_a_verb() -> None:
    assert parse([]).plain
    assert parse(["--dry-run", "--demo"]).plain
    assert parse(["--json", "-v"]).plain
    assert not parse(["status"]).plain
