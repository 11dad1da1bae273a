"""What is off on the command line: exit code 2, the nearest word, the envelope with `--json`, no value repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hostconf.cli import main
from hostconf.cli.commands.choice import request_of
from hostconf.cli.parser import Line, parse
from hostconf.errors import UsageError
from hostconf.workflow.request import Request

WRONG = [
    # words, what the message names, what the hint names
    (["statsu"], "statsu", "hostconf status"),
    (["frobnicate"], "frobnicate", "uninstall"),
    (["--jsn"], "--jsn", "--json"),
    (["--host", "codex", "plan", "x"], "--host", "hostconf plan"),
    (["plan"], "INTEGRATION", "hostconf plan INTEGRATION"),
    (["plan", "x", "y", "--host", "codex"], "one INTEGRATION", "hostconf plan"),
    (["plan", "x"], "host", "--all-hosts"),
    (["plan", "x", "--host", "codex", "--all-hosts"], "--all-hosts", "--host HOST"),
    (["plan", "x", "--host"], "`--host` needs a value", "hostconf plan"),
    (["plan", "x", "--host", "codex", "--json=1"], "`--json` takes no value", "hostconf plan"),
    (["plan", "x", "--hots", "codex"], "--hots", "--host"),
    (["plan", "x", "--host", "codex", "--yes"], "--yes", "apply"),
    (["status", "--exit-code"], "--exit-code", "plan"),
    (["plan", "x", "--host", "codex", "--scope", "users"], "user or project", "user"),
    (["plan", "x", "--host", "codex", "--path", "mpc"], "mcp, extension or plugin", "mcp"),
    (["plan", "x", "--host", "codex", "--tier", "force"], "forced", "--tier forced"),
    (["plan", "x", "--host", "codex", "--tier", "web_search=prefered"], "forced", "--tier web_search=preferred"),
    (["plan", "x", "--host", "codex", "--tier", "=off"], "capability", "web_search"),
    (["plan", "x", "--host", "codex", "--set", "count"], "KNOB=VALUE", "integrations"),
    (["plan", "x", "--host", "codex", "--env", "A-B=c"], "--env", "--env DEEPSEEK_API_KEY"),
    (["plan", "x", "--host", "codex", "--pin", "--package", "y"], "--pin", "version"),
    (["plan", "x", "--host", "codex", "--accept", "all"], "call-denied", ""),
    (["explain"], "a CAPABILITY", "hostconf explain"),
    (["doctor", "codex"], "no word", "hostconf doctor"),
    (["recover", "--finish", "--undo"], "--undo", "one of them"),
    (["recover", "--yes"], "--yes", "--finish"),
    (["apply", "x", "--host", "codex"], "yes", "--yes"),
    (["uninstall"], "yes", "--yes"),
    (["recover", "--undo"], "yes", "--yes"),
    (["status", "--home", "nowhere"], "nowhere", ""),
]


@pytest.mark.parametrize(("words", "message", "hint"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_a_usage_error_says_what_and_names_the_way_out(
    words: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2

    out, err = capsys.readouterr()
    assert out == ""
    first, _, rest = err.partition("\n")
    assert first.startswith("error: ")
    assert message in first
    assert not first.endswith(".")
    if hint:
        assert "\n\nhint: " in "\n" + rest
        assert hint in rest


@pytest.mark.parametrize("words", [row[0] for row in WRONG], ids=[" ".join(row[0]) for row in WRONG])
def test_with_json_anywhere_the_failure_is_an_envelope(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--json"] if words[-1] != "--host" else ["--json", *words]) == 2

    envelope: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(envelope) == ["schema", "command", "status", "data", "messages", "errors"]
    assert envelope["schema"] == 1
    assert envelope["status"] == "error"
    assert envelope["data"] == {}
    assert [error["code"] for error in envelope["errors"]] == ["usage"]
    assert set(envelope["errors"][0]) == {"code", "message", "hint", "path", "line", "column"}


def test_the_envelope_names_the_verb_where_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--json"])
    assert json.loads(capsys.readouterr().out)["command"] == "plan"

    main(["statsu", "--json"])
    assert json.loads(capsys.readouterr().out)["command"] == ""


SECRET = "CANARY-9c1d-SECRET"


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "x", "--host", "codex", f"--evn=A={SECRET}"],
        ["plan", "x", "--host", "codex", "--evn", f"A={SECRET}"],
        ["plan", "x", "--host", "codex", "--env", "A", SECRET],
        ["plan", "x", "--host", "codex", "--env", f"-={SECRET}"],
        ["plan", "x", "--host", "codex", "--env", SECRET],
        ["plan", "x", "--host", "codex", "--set", SECRET],
        ["plan", "x", "--host", "codex", "--tier", SECRET],
        ["plan", "x", "--host", "codex", f"--json={SECRET}"],
        ["plan", "x", "--host", "codex", f"-v{SECRET}"],
        ["plan", "x", "--host", "codex", "--scope", SECRET],
    ],
)
def test_no_value_is_repeated_in_a_message(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2

    out, err = capsys.readouterr()
    assert SECRET not in out + err


def test_foreign_characters_in_a_word_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sta\x1b[31mtus\u202e"]) == 2

    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err


# ------------------------------------------------------------------ what is right


def test_common_options_stand_before_and_after_the_verb() -> None:
    before = parse(["--json", "--home", "h", "-v", "status", "codex"])
    after = parse(["status", "codex", "--json", "--home", "h", "-v"])

    assert before == after
    assert before.words == ("codex",)
    assert before.value("--home") == "h"
    assert before.has("--json") and before.has("--verbose")


def test_without_a_verb_it_is_status() -> None:
    assert parse([]).verb.name == "status"
    assert parse(["--json"]).verb.name == "status"


def test_words_and_options_may_be_mixed() -> None:
    assert parse(["status", "codex", "--json", "claude"]).words == ("codex", "claude")


def request(*words: str) -> Request:
    line: Line = parse(["plan", "deepseek-web-retrieval", *words])
    return request_of(line)


def test_a_choice_in_full() -> None:
    found = request(
        *("--host", "codex", "--host=claude", "--scope", "project", "--path", "mcp"),
        *("--tier", "optional", "--tier", "web_search=forced"),
        *("--pin", "--set", "count=5", "--set", "url=a=b"),
        *("--env", "DEEPSEEK_API_KEY", "--env", "OTHER=x=y", "--env", "EMPTY="),
        *("--literal", "--accept", "call-denied", "--replace"),
    )

    assert found == Request(
        integration="deepseek-web-retrieval",
        hosts=("codex", "claude"),
        scope="project",
        path="mcp",
        tiers=((None, "optional"), ("web_search", "forced")),
        pin=True,
        settings=(("count", "5"), ("url", "a=b")),
        env=(("DEEPSEEK_API_KEY", None), ("OTHER", "x=y"), ("EMPTY", "")),
        literal=True,
        accept=("call-denied",),
        replace=True,
    )


def test_the_least_choice() -> None:
    assert request("--all-hosts") == Request("deepseek-web-retrieval", all_hosts=True)


def test_an_error_of_the_parser_is_a_usage_error_and_no_exit() -> None:
    with pytest.raises(UsageError):
        parse(["plan", "--nothing"])


def test_no_usable_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))

    assert main(["status", "--json"]) == 2
    assert "HOME" in json.loads(capsys.readouterr().out)["errors"][0]["message"]
