"""Broken files of the corpus as the configuration of each host, at each place that hostconf writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.judge import BASE, PLACES, Place, delivered, in_time, judge, looked_at, refused, words
from tests.plan.world import World, make

CORPUS = Path(__file__).resolve().parents[1] / "formats" / "corpus"
BROKEN = ("broken-file", "wrong-type", "duplicate-key")


def files(format_name: str) -> list[Path]:
    return sorted((CORPUS / ("toml" if format_name == "toml" else "json")).glob("BAD-*"))


CELLS = [
    pytest.param(place, file, id=f"{place.host} {place.name.rpartition('/')[2]} {place.scope} {file.name}")
    for place in PLACES
    for file in files(place.format)
]


def with_file(tmp_path: Path, place: Place, data: bytes) -> World:
    world = make(tmp_path, BASE)
    world.write(place.name, data)
    return world


@pytest.mark.parametrize(("place", "file"), CELLS)
def test_a_broken_file(place: Place, file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    world = with_file(tmp_path, place, data)
    verdict = judge(data, place.format)
    if verdict.broken:
        refused(world, place, codes=BROKEN, line=True)
        return
    if not verdict.doubtful:
        delivered(world, place)
        return
    before = world.kept()
    if in_time(world, "plan", *words(place)).code == 3:
        refused(world, place, codes=BROKEN, line=True)
    else:
        delivered(world, place)
    assert world.kept() == before


def test_the_corpus_is_there() -> None:
    assert len(files("json")) > 20 and len(files("toml")) > 10
    verdicts = [judge(f.read_bytes(), "toml" if f.suffix == ".toml" else "json") for f in CORPUS.rglob("BAD-*")]
    assert sum(v.broken for v in verdicts) > 35


# ------------------------------------------------------------------ broken after an install

SPOILT = {"json": b"{,}", "jsonc": b'{ "a": [1, 2 }', "toml": b"a = \n"}


@pytest.mark.parametrize("place", PLACES, ids=lambda p: f"{p.host} {p.name} {p.scope}")
def test_a_file_that_was_broken_after_the_install(place: Place, tmp_path: Path) -> None:
    """Nothing is guessed: uninstall is refused with the place until somebody mends the file."""
    world = make(tmp_path, {place.name: "" if place.format == "toml" else "{}", **BASE})
    first = world.kept()
    assert in_time(world, "apply", *words(place), "--yes").code == 0
    good = world.at(place.name).read_bytes()
    world.write(place.name, good + SPOILT[place.format])
    before = world.tree()
    path = str(world.at(place.name))
    assert {c["kind"] for c in looked_at(world, place.host) if c["path"] == path} >= {"broken-file", "drift"}
    for line in (("plan", *words(place)), ("apply", *words(place), "--yes")):
        ran = in_time(world, *line)
        assert ran.code == 3
        assert {e["path"] for e in ran.envelope()["errors"]} == {path}
    ran = in_time(world, "uninstall", "--host", place.host, "--yes", "--json")
    envelope = ran.envelope()
    assert ran.code == 3 and envelope["data"]["removed"] == []
    (error,) = envelope["errors"]
    assert (error["code"], error["path"]) == ("broken-file", path) and error["line"] and error["column"]
    assert "mend" in error["hint"]
    assert world.tree() == before
    doctor = in_time(world, "doctor", "--json").envelope()
    assert any(r["path"] == path and r["status"] != "ok" for r in doctor["data"]["checks"])
    world.write(place.name, good)
    assert in_time(world, "uninstall", "--host", place.host, "--yes", "--json").code == 0
    assert world.kept() == first
