"""What a plan says, as it is said on a screen."""

from __future__ import annotations

import pytest

from hostconf.tui.widgets.planned import homely


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("force both (`--tier forced`), or `--tier web_fetch=off`", "force both, or `off` for web fetch"),
        ("`--scope project` can switch it off", "scope `project` can switch it off"),
        ("`--replace` takes the name", "`replace` under Options takes the name"),
        ("`--accept call-denied` takes the weaker thing", "`accept call-denied` under Options takes the weaker thing"),
        ("`/home/ada/.codex/config.toml` is gone", "`~/.codex/config.toml` is gone"),
        ("a server `--tools`", "a server `--tools`"),
    ],
)  # fmt: skip
def test_a_hint_of_the_command_line_is_said_in_words_of_the_screen(text: str, here: str) -> None:
    assert homely(text, "/home/ada") == here
