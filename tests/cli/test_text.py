"""What a person reads: the example data of docs/json.md as text, one golden file a verb.

Write them anew with `HOSTCONF_UPDATE_SNAPSHOTS=1 pytest tests/cli/test_text.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hostconf.cli.text import Data, Style, diff_lines
from hostconf.cli.verbs import BY_NAME
from tests.cli.samples import samples

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots" / "text"
UPDATE = os.environ.get("HOSTCONF_UPDATE_SNAPSHOTS")
SAMPLES = samples()


def lines(verb: str, data: Data, style: Style) -> list[str]:
    found: Iterator[str] = import_module(f"hostconf.cli.commands.{verb}").lines(data, style)
    return list(found)


def test_every_verb_has_its_example_in_the_documents() -> None:
    assert sorted(SAMPLES) == sorted(BY_NAME)
    assert sorted(file.stem for file in SNAPSHOTS.iterdir()) == sorted(BY_NAME)


@pytest.mark.parametrize("verb", BY_NAME)
def test_text_is_as_the_golden_file(verb: str) -> None:
    """Plain first, then with `-v`."""
    plain = lines(verb, SAMPLES[verb], Style(home="/home/ada"))
    verbose = lines(verb, SAMPLES[verb], Style(home="/home/ada", verbose=True))
    text = "\n".join(plain) + "\n"
    if verbose != plain:
        text += "\n======== -v\n\n" + "\n".join(verbose) + "\n"

    golden = SNAPSHOTS / f"{verb}.txt"
    if UPDATE:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", BY_NAME)
def test_colour_adds_nothing_but_colour(verb: str) -> None:
    plain = lines(verb, SAMPLES[verb], Style())
    coloured = lines(verb, SAMPLES[verb], Style(colour=True))

    assert "\x1b" not in "".join(plain)
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in coloured] == plain


def _poisoned(value: Any) -> Any:
    """Every string with what would drive a terminal."""
    if isinstance(value, dict):
        return {key: _poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_poisoned(item) for item in value]
    return value + POISON if isinstance(value, str) and value else value


POISON = "\x1b[31m\x9b2J\x07\r\u202e\u200b\x7f\ud800"


@pytest.mark.parametrize("verb", BY_NAME)
def test_no_character_of_a_file_drives_the_terminal(verb: str) -> None:
    shown = "\n".join(lines(verb, _poisoned(SAMPLES[verb]), Style(verbose=True)))

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


@pytest.mark.parametrize("verb", BY_NAME)
def test_nothing_found_is_said_in_words(verb: str) -> None:
    shown = lines(verb, {}, Style())

    assert shown == [] or all(line.strip() for line in shown)


def test_a_diff_keeps_its_tabs_and_loses_its_carriage_returns() -> None:
    assert list(diff_lines("--- a/x\n+++ b/x\n+\ta\r\n", Style())) == ["  --- a/x", "  +++ b/x", "  +\ta"]


def test_before_the_question_all_is_shown_and_afterwards_the_files() -> None:
    before = lines("apply", {**SAMPLES["plan"], "applied": False}, Style())
    after = lines("apply", {**SAMPLES["plan"], "applied": True}, Style())

    assert before == lines("plan", SAMPLES["plan"], Style())
    assert any("+command" in line for line in before)
    assert not any("+command" in line for line in after)
    assert after[0].startswith("changed ")


def test_before_the_question_an_uninstall_shows_what_stays() -> None:
    shown = lines("uninstall", {**SAMPLES["uninstall"], "preview": True}, Style())

    assert any("mcp_servers.deepseek: somebody changed it since" in line for line in shown)


def test_a_home_is_shortened_only_as_a_whole_folder() -> None:
    style = Style(home="/home/ada")

    assert style.place("/home/ada/.codex", 3) == "~/.codex:3"
    assert style.place("/home/adam/.codex") == "/home/adam/.codex"
    assert style.place("") == ""
