"""Who writes where and in which form: the envelope, colour, errors with their place, and nobody reading."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostconf.cli import diagnostics, main, render
from hostconf.cli.commands import Call, call_for
from hostconf.cli.parser import parse
from hostconf.errors import Refused
from hostconf.model import OperationResult

ROOT = Path(__file__).resolve().parent.parent.parent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# ------------------------------------------------------------------ the envelope


NASTY = 'a\x1b[31m\x00\x7f\x9b\u200b\u202e\u2028\ufeff\ud800\U000e0041 é 漢 😀 \\u001b "'


def test_json_escapes_what_drives_a_terminal_and_nothing_else() -> None:
    text = render.json_text({NASTY: [NASTY]})

    for character in "\x1b\x00\x7f\x9b\u200b\u202e\u2028\ufeff\ud800\U000e0041":
        assert character not in text
    for character in "é漢😀":
        assert character in text
    assert json.loads(text) == {NASTY: [NASTY]}


def test_the_envelope_of_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    result = OperationResult("plan", 6, {"empty": False}, ("one",), (), False)
    render.show_envelope(result)

    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "command": "plan",
        "status": "success",
        "data": {"empty": False},
        "messages": ["one"],
        "errors": [],
    }


@pytest.mark.parametrize(
    ("exit_code", "partial", "status"),
    [(0, False, "success"), (6, False, "success"), (1, True, "partial"), (3, False, "error"), (130, False, "error")],
)
def test_status_follows_from_the_exit_code(exit_code: int, partial: bool, status: str) -> None:
    assert OperationResult("x", exit_code, {}, partial=partial).status == status


def test_json_on_a_terminal_that_knows_only_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    render.show_envelope(OperationResult("x", 0, {"name": "é 😀"}))

    stream.seek(0)
    assert json.loads(stream.read())["data"]["name"] == "é 😀"


def test_lines_on_a_terminal_that_knows_only_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    render.show_lines(["é"])

    stream.seek(0)
    assert stream.read() == "\\xe9\n"


# ------------------------------------------------------------------ colour


@pytest.mark.parametrize(
    ("terminal", "variables", "words", "colour"),
    [
        (True, {}, [], True),
        (False, {}, [], False),
        (True, {"NO_COLOR": "1"}, [], False),
        (True, {"NO_COLOR": ""}, [], True),
        (True, {"TERM": "dumb"}, [], False),
        (True, {}, ["--no-color"], False),
    ],
)
def test_when_there_is_colour(
    terminal: bool, variables: dict[str, str], words: list[str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)

    assert call_for(parse(["status", *words])).style.colour is colour


def test_a_home_that_was_given_is_not_called_by_its_short_name(tmp_path: Path) -> None:
    assert call_for(parse(["status"])).style.home
    assert not call_for(parse(["status", "--home", str(tmp_path)])).style.home


# ------------------------------------------------------------------ errors


def test_an_error_has_its_place_its_line_and_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    error = Refused("it is broken", hint="mend it", path="/x/a.toml", line=3, column=7, excerpt="a = [\n    ^")
    diagnostics.show_errors([diagnostics.entry(error)])

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: it is broken\n  at `/x/a.toml:3:7`\n  | a = [\n  |     ^\n\nhint: mend it\n"


def test_a_path_that_the_message_names_is_not_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    diagnostics.show_errors([diagnostics.entry(Refused("`/x/a.toml` is broken", path="/x/a.toml", line=3))])

    assert capsys.readouterr().err == "error: `/x/a.toml` is broken\n  at line 3\n"


def test_text_of_a_file_in_an_error_is_made_safe(capsys: pytest.CaptureFixture[str]) -> None:
    diagnostics.show_errors([diagnostics.entry(Refused("a\x1b[31m", hint="b\u202e", path="c\x07", excerpt="d\x9b"))])

    err = capsys.readouterr().err
    assert not set("\x1b\u202e\x07\x9b") & set(err)


def test_nobody_on_standard_error_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    diagnostics.show_step("on")
    monkeypatch.setattr(sys, "stderr", None)
    diagnostics.show_step("on")

    assert stream.closed


# ------------------------------------------------------------------ failures of the program itself


def _fails_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(self: Call) -> Any:
        raise error

    monkeypatch.setattr(Call, "run", run)


def test_a_bug_is_one_paragraph_without_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _fails_with(monkeypatch, KeyError("CANARY-1a2b-SECRET"))

    assert main(["status"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: hostconf ")
    assert "KeyError in `hostconf." in err
    assert "HOSTCONF_DEBUG" in err
    assert "Traceback" not in err
    assert "CANARY" not in err


def test_a_bug_in_the_envelope(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _fails_with(monkeypatch, KeyError("CANARY-1a2b-SECRET"))

    assert main(["status", "--json"]) == 1
    envelope = json.loads(capsys.readouterr().out)
    assert [error["code"] for error in envelope["errors"]] == ["bug"]
    assert "CANARY" not in str(envelope)


def test_the_trace_of_a_bug_is_shown_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOSTCONF_DEBUG", "1")
    _fails_with(monkeypatch, KeyError("x"))

    assert main(["status"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _fails_with(monkeypatch, KeyboardInterrupt())

    assert main(["status"]) == 130
    assert capsys.readouterr().err.startswith("error: interrupted\n")
    assert main(["status", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["status"] == "error"


def test_a_refusal_keeps_its_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _fails_with(monkeypatch, Refused("no", hint="yes"))

    assert main(["status"]) == 3
    assert capsys.readouterr().err == "error: no\n\nhint: yes\n"


def test_quiet_leaves_errors_and_drops_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = OperationResult("status", 0, {"hosts": []}, messages=("a message",))
    monkeypatch.setattr(Call, "run", lambda self: result)

    assert main(["status"]) == 0
    assert "a message" in capsys.readouterr().err
    assert main(["status", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_nobody_reads_standard_output(home: Path) -> None:
    """`hostconf ... | head` ends without a complaint."""
    script = f"{sys.executable} -m hostconf --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": str(ROOT / "src")},
    )

    assert done.stdout.strip() == "0"
    assert done.stderr == ""


# ------------------------------------------------------------------ asking


@pytest.mark.parametrize(
    ("answer", "yes"), [("y\n", True), ("Yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_only_a_yes_is_a_yes(
    answer: str, yes: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))

    assert diagnostics.ask("Write these files?") is yes
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Write these files? [y/N] ")
