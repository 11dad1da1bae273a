"""Real files of real people, where they lie: broken ones refused with their place, others given back to the byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bad_input.judge import PLACES, Place, delivered, in_time, judge, looked_at, refused, words
from tests.plan.world import make

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
KINDS = {
    "claude-settings": [PLACES[1]],
    "claude-settings-local": [PLACES[3]],
    "claude-mcp": [PLACES[0], PLACES[2]],
    "codex": [PLACES[4]],
    "opencode": [PLACES[6], PLACES[8]],
}


def cells() -> list[object]:
    rows: list[object] = []
    manifest = CORPUS / "MANIFEST.tsv"
    if not manifest.is_file():
        return rows
    for line in manifest.read_text(encoding="utf-8").splitlines()[1:]:
        name, kind, _, _, notes = line.split("\t")
        said = re.search(r"host-kind=(\S+)", notes)
        for place in KINDS.get(said[1] if said else kind, ()):
            rows.append(pytest.param(name, place, id=f"{name} as {place.name}"))
    return rows


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not beside this checkout")
@pytest.mark.parametrize(("name", "place"), cells() or [("", PLACES[0])])
def test_a_real_file(name: str, place: Place, tmp_path: Path) -> None:
    data = (CORPUS / name).read_bytes()
    world = make(tmp_path)
    world.write(place.name, data)
    verdict = judge(data, place.format)
    if verdict.broken:
        refused(world, place, codes=("broken-file",), line=True)
        return
    looked_at(world, place.host)
    before = world.kept()
    ran = in_time(world, "plan", *words(place))
    assert ran.code in (0, 3)
    if ran.code == 0:
        delivered(world, place)
        return
    errors = ran.envelope()["errors"]
    assert all(e["message"] and e["code"] for e in errors)
    assert in_time(world, "apply", *words(place), "--yes").code == 3
    assert world.kept() == before


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not beside this checkout")
def test_most_of_them_are_delivered(tmp_path: Path) -> None:
    """A planner that refuses all would pass the test above."""
    done: dict[bool, int] = {True: 0, False: 0}
    for number, row in enumerate(cells()[::5]):
        name, place = row.values  # type: ignore[attr-defined]
        world = make(tmp_path / str(number))
        world.write(place.name, (CORPUS / name).read_bytes())
        plain = place._replace(tiers=("optional", "preferred"))
        done[in_time(world, "plan", *words(plain)).code == 0] += 1
    assert done[True] > 3 * done[False], done
