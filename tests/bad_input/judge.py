"""A judge of its own of what is broken, and of how hostconf has to take it."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.plan.shell import Ran, run
from tests.plan.world import World


class Place(NamedTuple):
    """One file that a wish writes."""

    host: str
    name: str
    format: str
    scope: str
    tiers: tuple[str, str]
    """Such that the file is written."""


PLACES = (
    Place("claude", "~/.claude.json", "json", "user", ("optional", "preferred")),
    Place("claude", "~/.claude/settings.json", "json", "user", ("forced", "forced")),
    Place("claude", "{project}/.mcp.json", "json", "project", ("optional", "optional")),
    Place("claude", "{project}/.claude/settings.json", "json", "project", ("off", "optional")),
    Place("codex", "~/.codex/config.toml", "toml", "user", ("forced", "forced")),
    Place("codex", "{project}/.codex/config.toml", "toml", "project", ("preferred", "off")),
    Place("opencode", "~/.config/opencode/opencode.json", "jsonc", "user", ("forced", "forced")),
    Place("opencode", "~/.config/opencode/opencode.jsonc", "jsonc", "user", ("preferred", "off")),
    Place("opencode", "{project}/opencode.json", "jsonc", "project", ("off", "forced")),
)
BASE: dict[str, str | bytes] = {
    "~/.codex/config.toml": '[projects."{project}"]\ntrust_level = "trusted"\n',
    "~/.claude/settings.json": '{"enableAllProjectMcpServers": true}',
}


class Verdict(NamedTuple):
    """How a text is to be taken."""

    broken: bool
    doubtful: bool = False
    """Readable, with a key that stands twice: edited around, or refused where it is in the way."""


def judge(data: bytes, format_name: str) -> Verdict:
    """Whether the host cannot read it, by readers that have nothing to do with ours."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Verdict(True)
    if not text.strip():
        return Verdict(False)
    if format_name == "toml":
        try:
            return Verdict(not isinstance(tomllib.loads(text), dict))
        except (tomllib.TOMLDecodeError, RecursionError):
            return Verdict(True)
    doubled: list[bool] = []

    def pairs(rows: list[tuple[str, Any]]) -> dict[str, Any]:
        doubled.append(len({key for key, _ in rows}) != len(rows))
        return dict(rows)

    if format_name == "jsonc":
        bare = _without_comments(text)
        if bare is None:
            return Verdict(True)
        text = bare
        if not text.strip():
            return Verdict(False, True)
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_no)
    except (ValueError, RecursionError):
        return Verdict(True)
    return Verdict(not isinstance(value, dict), any(doubled))


def _no(word: str) -> Any:
    raise ValueError(word)


_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|/\*|,(?=(?>\s+|//[^\n]*|/\*.*?\*/)*+[}\]])', re.S)


def _without_comments(text: str) -> str | None:
    """Strict JSON of a text with comments and trailing commas; None for a comment without an end."""
    if re.search(
        r"[\[{,]\s*,", re.sub(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', lambda m: m[0][0] * (m[0][0] == '"'), text)
    ):
        return None
    broken = False

    def piece(match: re.Match[str]) -> str:
        nonlocal broken
        broken = broken or match[0] == "/*"
        return match[0] if match[0].startswith('"') else " "

    found = _PIECES.sub(piece, text)
    return None if broken else found


def words(place: Place) -> list[str]:
    """CHOICE of a plan that writes the file."""
    search, fetch = place.tiers
    return [
        "deepseek-web-retrieval",
        *("--host", place.host, "--scope", place.scope, "--env", "DEEPSEEK_API_KEY"),
        *("--tier", f"web_search={search}", "--tier", f"web_fetch={fetch}", "--json"),
    ]


def in_time(world: World, *line: str) -> Ran:
    """One command line that has to be done within five seconds of the processor, whatever it reads."""
    begin = time.process_time()
    ran = run(world, *line)
    assert time.process_time() - begin < 5, line
    return ran


def looked_at(world: World, host: str) -> list[dict[str, Any]]:
    """`status` and `conflicts`, which always succeed and write nothing; the findings."""
    before = world.tree()
    for verb in ("status", "conflicts"):
        ran = in_time(world, verb, host, "--json")
        assert ran.code == 0 and ran.err == "", (verb, ran.err)
        data = ran.envelope()["data"]
    assert world.tree() == before, "looking changed something"
    found: list[dict[str, Any]] = data["conflicts"]
    return found


def refused(world: World, place: Place, *, codes: Sequence[str], line: bool, told: bool = True) -> None:
    """Every verb on a world with a bad file: the right exit code, the file named, nothing changed.

    Args:
        line: whether line and column have to be said.
        told: whether the findings have to name it too.
    """
    path = str(world.at(place.name))
    findings = [c for c in looked_at(world, place.host) if c["path"] == path]
    if told:
        assert findings and (not line or all(c["line"] for c in findings)), findings
    before = world.tree()
    for verb in (["plan"], ["apply", "--yes"]):
        ran = in_time(world, verb[0], *words(place), *verb[1:])
        envelope = ran.envelope()
        assert ran.code == 3, (verb, envelope)
        errors = [e for e in envelope["errors"] if e["path"] == path]
        assert errors and {e["code"] for e in envelope["errors"]} <= {*codes}, envelope["errors"]
        assert path in "".join(e["message"] for e in errors)
        if line:
            assert all(e["line"] and e["column"] for e in errors), errors
        assert envelope["data"]["files"] == []
    person = in_time(world, "plan", *(w for w in words(place) if w != "--json"))
    assert person.code == 3 and path in person.err
    ran = in_time(world, "uninstall", "--host", place.host, "--yes", "--json")
    assert ran.code == 0 and ran.envelope()["data"]["removed"] == []
    assert world.tree() == before, "something changed"


def delivered(world: World, place: Place) -> None:
    """Applied and taken back: the first bytes, whatever is odd in the file."""
    looked_at(world, place.host)
    before = world.kept()
    ran = in_time(world, "apply", *words(place), "--yes")
    assert ran.code == 0, ran.envelope()["errors"]
    assert in_time(world, "plan", *words(place)).envelope()["data"]["empty"]
    ran = in_time(world, "uninstall", "--host", place.host, "--yes", "--json")
    assert ran.code == 0, ran.envelope()["errors"]
    assert world.kept() == before
