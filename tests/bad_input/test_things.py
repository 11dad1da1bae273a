"""What is no readable, writable file: folders, pipes, links that lead nowhere, rights that are missing, sizes."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bad_input.judge import BASE, PLACES, Place, delivered, in_time, looked_at, refused, words
from tests.plan.world import World, make

NOBODY = 65534
CODES = ("unreadable", "broken-file", "not-writable")


def ids(place: Place) -> str:
    return f"{place.host} {place.name} {place.scope}"


def fresh(tmp_path: Path, place: Place) -> World:
    world = make(tmp_path, {n: t for n, t in BASE.items() if n != place.name})
    world.at(place.name).parent.mkdir(parents=True, exist_ok=True)
    return world


# ------------------------------------------------------------------ other things


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("x")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    import socket

    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may have 107 bytes
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def _circle(path: Path) -> None:
    path.with_name("other").symlink_to(path.name)
    path.symlink_to("other")


def _nowhere(path: Path) -> None:
    path.symlink_to("../gone/away.cfg")


def _to_folder(path: Path) -> None:
    path.with_name("folder").mkdir()
    path.symlink_to("folder")


def _to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _through_file(path: Path) -> None:
    path.with_name("plain").write_text("x")
    path.symlink_to("plain/below")


THINGS = [_folder, _pipe, _socket, _circle, _nowhere, _to_folder, _to_device, _through_file]


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_no_file(place: Place, thing: Callable[[Path], None], tmp_path: Path) -> None:
    world = fresh(tmp_path, place)
    thing(world.at(place.name))
    refused(world, place, codes=(*CODES, "leaves-project"), line=False)


@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_a_file_where_a_folder_should_be(place: Place, tmp_path: Path) -> None:
    world = make(tmp_path, {n: t for n, t in BASE.items() if n != place.name})
    folder = world.at(place.name).parent
    if folder in (world.home, world.project) or any(world.at(n).parent == folder for n in BASE if n != place.name):
        pytest.skip("the folder is there for other reasons")
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file")
    before = world.tree()
    looked_at(world, place.host)
    for line in (("plan", *words(place)), ("apply", *words(place), "--yes")):
        ran = in_time(world, *line)
        assert ran.code == 3
        assert str(folder) in "".join(e["message"] for e in ran.envelope()["errors"])
    assert in_time(world, "uninstall", "--yes", "--json").code == 0
    assert world.tree() == before


RULES = {
    "claude user": ("claude", "~/.claude/rules/hostconf.md", "user"),
    "codex user": ("codex", "~/.codex/AGENTS.md", "user"),
    "codex project": ("codex", "{project}/AGENTS.md", "project"),
    "opencode user": ("opencode", "~/.config/opencode/hostconf.md", "user"),
    "opencode project": ("opencode", "{project}/.opencode/hostconf.md", "project"),
}


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("case", RULES)
def test_no_rules_file(case: str, thing: Callable[[Path], None], tmp_path: Path) -> None:
    host, name, scope = RULES[case]
    world = make(tmp_path, BASE)
    world.at(name).parent.mkdir(parents=True, exist_ok=True)
    thing(world.at(name))
    place = Place(host, name, "markdown", scope, ("preferred", "optional"))
    refused(world, place, codes=(*CODES, "leaves-project"), line=False, told=False)
    # without a block it is in nobody's way
    assert in_time(world, "plan", *words(place._replace(tiers=("optional", "optional")))).code == 0


@pytest.mark.parametrize("text", [b"\xff\xfe", b"abc\xc3(", "ü".encode("utf-16")])
@pytest.mark.parametrize("case", RULES)
def test_a_rules_file_that_is_not_utf_8(case: str, text: bytes, tmp_path: Path) -> None:
    host, name, scope = RULES[case]
    world = make(tmp_path, {**BASE, name: text})
    place = Place(host, name, "markdown", scope, ("preferred", "optional"))
    refused(world, place, codes=CODES, line=True, told=False)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- hostconf:begin deepseek-web-retrieval -->\nno end\n",
        "<!-- hostconf:end deepseek-web-retrieval -->\n",
        "<!-- hostconf:begin deepseek-web-retrieval -->\n<!-- hostconf:end other -->\n",
    ],
)
@pytest.mark.parametrize("case", RULES)
def test_damaged_markers(case: str, text: str, tmp_path: Path) -> None:
    host, name, scope = RULES[case]
    world = make(tmp_path, {**BASE, name: text})
    place = Place(host, name, "markdown", scope, ("preferred", "optional"))
    refused(world, place, codes=("marker-damaged",), line=True, told=False)


# ------------------------------------------------------------------ sizes


def _deep(depth: int, place: Place) -> bytes:
    if place.format == "toml":
        return b"a = " + b"[" * depth + b"]" * depth + b"\n"
    return b'{"a": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_too_deep(place: Place, tmp_path: Path) -> None:
    world = fresh(tmp_path, place)
    for depth in (100_000, 65 if place.format == "toml" else 1_001):
        world.write(place.name, _deep(depth, place))
        refused(world, place, codes=("broken-file",), line=True)
    world.write(place.name, _deep(30, place))
    if place.name not in BASE:
        delivered(world, place)


@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_too_large(place: Place, tmp_path: Path) -> None:
    """A sparse file of many gigabytes costs nothing to refuse."""
    world = fresh(tmp_path, place)
    path = world.at(place.name)
    path.touch()
    os.truncate(path, 1 << 36)
    before = seen_by_root(world)
    for line in (("conflicts", place.host, "--json"), ("plan", *words(place)), ("apply", *words(place), "--yes")):
        ran = in_time(world, *line)
        assert ran.code == (0 if line[0] == "conflicts" else 3)
        assert str(path) in ran.out and "larger" in ran.out
    assert seen_by_root(world) == before


@pytest.mark.parametrize("place", [p for p in PLACES if p.scope == "user"], ids=ids)
def test_large_and_right(place: Place, tmp_path: Path) -> None:
    """More than a megabyte of somebody's history: read, edited, given back."""
    world = fresh(tmp_path, place)
    rows = [f"line {n} of a long history" for n in range(50_000)]
    text = "history = [\n" + "".join(f'  "{r}",\n' for r in rows) + "]\n"
    if place.format != "toml":
        text = json.dumps({"history": rows}, indent=1)
    elif place.name in BASE:
        text += str(BASE[place.name])
    world.write(place.name, text)
    before = world.kept()
    assert in_time(world, "apply", *words(place), "--yes").code == 0
    assert in_time(world, "uninstall", "--yes", "--json").code == 0
    assert world.kept() == before


# ------------------------------------------------------------------ rights


def as_nobody(work: Callable[[], None]) -> None:
    """Do the work in a process without root's powers; its failure is ours."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, "see standard error"


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that another user can reach: pytest's own are for root alone."""
    folder = Path(tempfile.mkdtemp(prefix="hostconf-bad-")).resolve()
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | stat.S_IRWXU)
    shutil.rmtree(folder)


def hand_over(world: World) -> None:
    if os.geteuid() == 0:
        for path in (world.home.parent, *world.home.parent.rglob("*")):
            os.lchown(path, NOBODY, NOBODY)


def seen_by_root(world: World) -> dict[str, tuple[int, int, int]]:
    """Mode, size and time of everything."""
    found = {}
    for path in world.home.parent.rglob("*"):
        status = path.lstat()
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns if not path.is_dir() else 0)
    return found


@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_a_file_that_may_not_be_read(place: Place, outside: Path) -> None:
    world = fresh(outside / "w", place)
    world.write(place.name, "" if place.format == "toml" else "{}").chmod(0)
    hand_over(world)
    before = seen_by_root(world)
    as_nobody(lambda: refused(world, place, codes=CODES, line=False))
    assert seen_by_root(world) == before


@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_a_folder_that_may_not_be_entered(place: Place, outside: Path) -> None:
    world = fresh(outside / "w", place)
    folder = world.at(place.name).parent
    if folder in (world.home, world.project):
        pytest.skip("without home and project nothing works")
    world.write(place.name, "" if place.format == "toml" else "{}")
    folder.chmod(0)
    hand_over(world)
    before = seen_by_root(world)

    def work() -> None:
        assert in_time(world, "status", place.host, "--json").code == 0
        for line in (("plan", *words(place)), ("apply", *words(place), "--yes")):
            ran = in_time(world, *line)
            assert ran.code == 3, ran
            assert str(folder) in ran.out
        assert in_time(world, "uninstall", "--yes", "--json").code == 0

    as_nobody(work)
    assert seen_by_root(world) == before


@pytest.mark.parametrize("folder_mode", [0o555, 0o755])
@pytest.mark.parametrize("place", PLACES, ids=ids)
def test_a_file_that_may_not_be_written(place: Place, folder_mode: int, outside: Path) -> None:
    """A file without the right to write is the user's word, though its folder would let it be replaced."""
    world = fresh(outside / "w", place)
    path = world.write(place.name, BASE.get(place.name, "" if place.format == "toml" else "{}"))
    path.chmod(0o444)
    if path.parent not in (world.home, world.project):
        path.parent.chmod(folder_mode)
    hand_over(world)
    before = seen_by_root(world)

    def work() -> None:
        looked_at(world, place.host)
        for line in (("plan", *words(place)), ("apply", *words(place), "--yes")):
            ran = in_time(world, *line)
            assert ran.code == 3, ran
            assert {(e["code"], e["path"]) for e in ran.envelope()["errors"]} == {("not-writable", str(path))}
        assert in_time(world, "uninstall", "--yes", "--json").code == 0

    as_nobody(work)
    assert seen_by_root(world) == before


@pytest.mark.parametrize("place", [p for p in PLACES if "/." in p.name[2:] or "/opencode/" in p.name], ids=ids)
def test_a_folder_in_which_nothing_may_be_made(place: Place, outside: Path) -> None:
    world = make(outside / "w", {n: t for n, t in BASE.items() if n != place.name})
    folder = world.at(place.name).parent
    folder.mkdir(parents=True, exist_ok=True)
    if world.at(place.name).exists():
        world.at(place.name).unlink()
    folder.chmod(0o555)
    hand_over(world)
    before = seen_by_root(world)

    def work() -> None:
        for line in (("plan", *words(place)), ("apply", *words(place), "--yes")):
            ran = in_time(world, *line)
            assert ran.code == 3, ran
            assert str(folder) in ran.out

    as_nobody(work)
    assert seen_by_root(world) == before


def test_a_state_folder_that_may_not_be_written(outside: Path) -> None:
    place = PLACES[4]
    world = make(outside / "w", BASE)
    state = world.home / ".local/state"
    state.mkdir(parents=True)
    hand_over(world)
    state.chmod(0o555)
    before = seen_by_root(world)

    def work() -> None:
        looked_at(world, place.host)
        ran = in_time(world, "apply", *words(place), "--yes")
        assert ran.code == 1, ran
        (error,) = ran.envelope()["errors"]
        assert error["code"] == "not-writable" and str(state) in error["message"]

    as_nobody(work)
    assert seen_by_root(world) == before


def test_records_that_may_not_be_read(outside: Path) -> None:
    place = PLACES[4]
    world = make(outside / "w", BASE)
    hand_over(world)

    def apply() -> None:
        assert in_time(world, "apply", *words(place), "--yes").code == 0

    as_nobody(apply)
    record = next((world.home / ".local/state/hostconf/records").glob("*.json"))
    record.chmod(0)
    before = seen_by_root(world)

    def work() -> None:
        for line in (("plan", *words(place)), ("apply", *words(place), "--yes"), ("uninstall", "--yes", "--json")):
            ran = in_time(world, *line)
            assert ran.code == 1
            assert [(e["code"], e["path"]) for e in ran.envelope()["errors"]] == [("record-unreadable", str(record))]

    as_nobody(work)
    assert seen_by_root(world) == before
