"""The help texts are golden files: a change of words is seen in review.

Write them anew with `HOSTCONF_UPDATE_SNAPSHOTS=1 pytest tests/cli/test_help.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hostconf import __version__
from hostconf.cli import main
from hostconf.cli.verbs import BY_NAME, COMMON, EXIT_CODES, VERBS
from hostconf.errors import HostconfError

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots" / "help"
UPDATE = os.environ.get("HOSTCONF_UPDATE_SNAPSHOTS")


@pytest.mark.parametrize("verb", ["", *BY_NAME])
def test_help_is_as_the_golden_file(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"] if verb else ["--help"]) == 0

    out, err = capsys.readouterr()
    golden = SNAPSHOTS / f"{verb or 'hostconf'}.txt"
    if UPDATE:
        golden.write_text(out, encoding="utf-8")
    assert out == golden.read_text(encoding="utf-8")
    assert err == ""


def test_there_is_a_golden_file_for_every_verb_and_no_other() -> None:
    assert sorted(file.stem for file in SNAPSHOTS.iterdir()) == sorted([*BY_NAME, "hostconf"])


@pytest.mark.parametrize("words", [["-h"], ["help"], ["help", "plan"], ["plan", "-h"], ["--json", "plan", "-h"]])
def test_every_way_to_ask_for_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0

    verb = "plan" if "plan" in words else "hostconf"
    assert capsys.readouterr().out == (SNAPSHOTS / f"{verb}.txt").read_text(encoding="utf-8")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0

    assert capsys.readouterr().out == f"hostconf {__version__}\n"


def test_help_fits_a_window_and_has_no_full_stop_at_the_end_of_a_row() -> None:
    for file in SNAPSHOTS.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            assert len(line) <= 100, f"{file.name}: {line}"
    for option in (*COMMON, *(option for verb in VERBS for option in verb.options)):
        assert not option.help.endswith("."), option.name


def test_every_verb_has_an_example_or_takes_nothing() -> None:
    for verb in VERBS:
        assert verb.examples or not verb.options, verb.name


def _tree(error: type[HostconfError]) -> list[type[HostconfError]]:
    return [error, *(found for child in error.__subclasses__() for found in _tree(child))]


def test_the_exit_codes_of_the_errors_are_in_the_list() -> None:
    listed = {code for code, _ in EXIT_CODES}

    assert {error.exit_code for error in _tree(HostconfError)} <= listed
