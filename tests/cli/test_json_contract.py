"""docs/json.md is a contract: what the verbs really give has the keys of its examples, no more and no fewer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostconf.cli import main
from tests.cli.samples import samples

SAMPLES = samples()

# Objects whose keys are data: capabilities, tiers, paths, knobs, free values of a host file.
OPEN = {"surface", "tiers", "capabilities", "paths", "knobs", "mechanism", "off"}
CHOICE = ["deepseek-web-retrieval", "--host", "codex", "--env", "DEEPSEEK_API_KEY"]


@pytest.fixture
def field(home: Path) -> Path:
    """A home with one host, a rival, and a rules file."""
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        'model = "x"\n\n[mcp_servers.tavily]\ncommand = "npx"\nargs = ["-y", "tavily-mcp"]\n', encoding="utf-8"
    )
    (home / ".codex" / "AGENTS.md").write_text("Use tavily for every search.\n", encoding="utf-8")
    return home


def differences(example: Any, found: Any, at: str) -> Iterator[str]:
    """Where the keys or the kind of a value are not those of the example."""
    if isinstance(example, dict) and isinstance(found, dict):
        name = at.rpartition(".")[2]
        if name in OPEN:
            for value in found.values():
                yield from differences(next(iter(example.values()), value), value, f"{at}.*")
            return
        if set(example) != set(found):
            yield f"{at}: {sorted(set(example) ^ set(found))}"
        for key in set(example) & set(found):
            yield from differences(example[key], found[key], f"{at}.{key}")
    elif isinstance(example, list) and isinstance(found, list):
        for value in found if example else ():
            yield from differences(example[0], value, f"{at}[]")
    elif None not in (example, found) and type(example) is not type(found) and at.rpartition(".")[2] not in OPEN:
        yield f"{at}: {type(found).__name__} instead of {type(example).__name__}"


def envelope(capsys: pytest.CaptureFixture[str], *words: str, exit_codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    code = main([*words, "--json"])
    out = capsys.readouterr().out
    assert code in exit_codes, out
    found: dict[str, Any] = json.loads(out)
    assert found["command"] == words[0]
    return found


@pytest.mark.parametrize(
    ("words", "exit_codes"),
    [
        (["status"], (0,)),
        (["conflicts"], (0,)),
        (["explain", "web_search"], (0,)),
        (["plan", *CHOICE], (0,)),
        (["plan", *CHOICE, "--tier", "preferred"], (0,)),
        (["verify"], (0, 1)),
        (["doctor"], (0, 1)),
        (["hosts"], (0,)),
        (["integrations"], (0,)),
        (["recover"], (0,)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_verb_gives_what_its_example_says(
    words: list[str], exit_codes: tuple[int, ...], field: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = envelope(capsys, *words, exit_codes=exit_codes)["data"]

    assert list(differences(SAMPLES[words[0]], data, words[0])) == []


def test_apply_and_uninstall_give_what_their_examples_say(field: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = field / ".codex" / "config.toml"
    before = config.read_bytes()
    applied = envelope(capsys, "apply", *CHOICE, "--yes")["data"]
    assert list(differences(SAMPLES["apply"], applied, "apply")) == []
    assert (
        list(
            differences(SAMPLES["plan"], {k: v for k, v in applied.items() if k not in ("applied", "restart")}, "plan")
        )
        == []
    )

    status = envelope(capsys, "status")["data"]
    assert list(differences(SAMPLES["status"], status, "status")) == []
    assert [row["integration"] for host in status["hosts"] for row in host["installed"]] == ["deepseek-web-retrieval"]

    removed = envelope(capsys, "uninstall", "--yes")["data"]
    assert list(differences(SAMPLES["uninstall"], removed, "uninstall")) == []
    assert config.read_bytes() == before


def test_what_has_to_stay_is_told_and_the_result_is_partial(field: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = field / ".codex" / "config.toml"
    envelope(capsys, "apply", *CHOICE, "--yes")
    config.write_text(
        config.read_text(encoding="utf-8").replace('"npx"\nargs = ["-y", "deep', '"node"\nargs = ["-y", "deep')
    )

    found = envelope(capsys, "uninstall", "--yes", exit_codes=(1,))
    assert found["status"] == "partial"
    assert found["data"]["leftovers"]
    assert list(differences(SAMPLES["uninstall"], found["data"], "uninstall")) == []
    assert [error["code"] for error in found["errors"]] == ["drift"]


def test_an_error_has_the_keys_of_the_document(field: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (field / ".codex" / "config.toml").write_text("model = \n", encoding="utf-8")
    found = envelope(capsys, "plan", *CHOICE, exit_codes=(1, 3))

    assert found["errors"]
    for error in found["errors"]:
        assert set(error) - {"excerpt"} == {"code", "message", "hint", "path", "line", "column"}
