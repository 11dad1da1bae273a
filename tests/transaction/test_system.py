"""Reading the disk: every odd thing at a path is a state, and nothing hangs."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hostconf.environment import LOCK_WAIT, VARIABLES, lock_wait, read_environment
from hostconf.errors import UsageError
from hostconf.snapshot import find_programs, take_snapshot
from hostconf.system import CHANGING, MAX_BYTES, ReadOnlySystem, RealSystem
from tests.transaction.test_apply import as_nobody, owned_by_nobody

SYSTEM = RealSystem()


def test_a_file_and_its_absence(place: Path) -> None:
    file = place / "a"
    absent = SYSTEM.read(str(file))
    assert (absent.kind, absent.data, absent.writable, absent.real) == ("absent", None, True, str(file))
    file.write_bytes(b"x")
    file.chmod(0o640)
    found = SYSTEM.read(str(file))
    assert (found.kind, found.data, found.mode, found.writable) == ("file", b"x", 0o640, True)
    assert found.identity == (file.stat().st_dev, file.stat().st_ino)


def test_links_are_followed_and_told_apart(place: Path) -> None:
    (place / "real").mkdir()
    (place / "real/file").write_bytes(b"x")
    (place / "folder").symlink_to("real")
    (place / "link").symlink_to("folder/file")
    (place / "loop").symlink_to("pool")
    (place / "pool").symlink_to("loop")
    (place / "dangling").symlink_to("folder/nothing")
    read = {name: SYSTEM.read(str(place / name)) for name in ("link", "loop", "dangling", "folder/new", "loop/x")}
    assert (read["link"].kind, read["link"].real) == ("file", str(place / "real/file"))
    assert read["loop"].kind == read["loop/x"].kind == "loop"
    assert (read["dangling"].kind, read["dangling"].problem) == ("dangling", str(place / "real/nothing"))
    assert (read["folder/new"].kind, read["folder/new"].real) == ("absent", str(place / "real/new"))


@pytest.mark.parametrize(("links", "kind"), [(40, "file"), (41, "loop")])
def test_forty_links_are_followed_as_the_kernel_does(place: Path, links: int, kind: str) -> None:
    (place / "0").write_bytes(b"x")
    for number in range(links):
        (place / str(number + 1)).symlink_to(str(number))
    assert SYSTEM.read(str(place / str(links))).kind == kind


def test_folders_pipes_and_nonsense(place: Path) -> None:
    os.mkfifo(place / "pipe")
    (place / "file").write_bytes(b"")
    assert SYSTEM.read(str(place)).kind == "folder"
    assert SYSTEM.read(str(place / "pipe")).kind == "special"
    assert SYSTEM.read("/dev/null").kind == "special"
    assert SYSTEM.read(str(place / "file/below")).kind == "unreadable"
    assert SYSTEM.read(str(place / "a\0b")).kind == "unreadable"
    assert SYSTEM.read(str(place / ("x" * 300))).kind == "unreadable"


def test_a_huge_file_is_not_read(place: Path) -> None:
    with (place / "huge").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    found = SYSTEM.read(str(place / "huge"))
    assert (found.kind, found.data) == ("unreadable", None)
    assert "64 MiB" in found.problem


def test_what_an_ordinary_user_may_do(place: Path) -> None:
    (place / "shut").mkdir()
    for name in ("shut/file", "secret", "plain"):
        (place / name).write_bytes(b"x")
    owned_by_nobody(place)
    (place / "secret").chmod(0)
    (place / "shut").chmod(0o555)

    def work() -> None:
        assert SYSTEM.read(str(place / "plain")).writable
        assert SYSTEM.read(str(place / "secret")).kind == "unreadable"
        assert SYSTEM.read(str(place / "new/deep")).writable
        assert not SYSTEM.read(str(place / "shut/file")).writable
        assert not SYSTEM.read(str(place / "shut/new")).writable

    assert as_nobody(work) == 0
    (place / "shut").chmod(0o755)


def test_a_read_only_disk_refuses_every_call_that_changes_something(place: Path) -> None:
    system = ReadOnlySystem()
    path = str(place / "x")
    tries = {
        "open_new": (path, 0o600),
        "write": (1, b"x", path),
        "copy_metadata": (1, path, path),
        "set_mode": (1, 0o600, path),
        "sync": (1, path),
        "make_folder": (path, 0o700),
        "remove_folder": (str(place),),
        "sync_folder": (str(place),),
        "remove": (path,),
        "link": (path, path),
        "replace": (path, path),
        "rename_new": (path, path),
        "exchange": (path, path),
    }
    assert tries.keys() == CHANGING
    for call, arguments in tries.items():
        with pytest.raises(RuntimeError, match="only reads"):
            getattr(system, call)(*arguments)
    assert list(place.iterdir()) == []


def test_calls_that_change_something_follow_no_link(place: Path) -> None:
    (place / "real").mkdir()
    (place / "real/file").write_bytes(b"x")
    (place / "link").symlink_to("real")
    through = str(place / "link/file")
    assert SYSTEM.status(through) is None
    for work in (
        lambda: SYSTEM.read_bytes(through),
        lambda: SYSTEM.remove(through),
        lambda: SYSTEM.open_new(str(place / "link/new"), 0o600),
        lambda: SYSTEM.replace(str(place / "real/file"), str(place / "link/other")),
        lambda: SYSTEM.sync_folder(str(place / "link")),
    ):
        with pytest.raises(OSError) as told:
            work()
        assert told.value.errno in (errno.ENOTDIR, errno.ELOOP)
        assert str(place) in str(told.value.filename)
    assert [path.name for path in (place / "real").iterdir()] == ["file"]


def test_folders_are_walked_step_by_step_where_the_kernel_does_not_tell(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "real/sub").mkdir(parents=True)
    (place / "link").symlink_to("real")

    def silent(path: str) -> str:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    monkeypatch.setattr(os, "readlink", silent)
    SYSTEM.make_folder(str(place / "real/sub/new"), 0o700)
    with pytest.raises(NotADirectoryError):
        SYSTEM.make_folder(str(place / "link/sub/other"), 0o700)
    assert [path.name for path in (place / "real/sub").iterdir()] == ["new"]


def test_rename_never_replaces(place: Path) -> None:
    for name in ("a", "b"):
        (place / name).write_text(name)
    with pytest.raises(FileExistsError):
        SYSTEM.rename_new(str(place / "a"), str(place / "b"))
    with pytest.raises(FileExistsError):
        SYSTEM._rename_new_slowly(str(place / "a"), str(place / "b"))
    SYSTEM.exchange(str(place / "a"), str(place / "b"))
    assert (place / "a").read_text() == "b"


def test_a_writer_is_seen(place: Path) -> None:
    file = place / "a"
    file.write_bytes(b"x")
    assert SYSTEM.being_written(str(file)) is False
    with file.open("r+b"):
        assert SYSTEM.being_written(str(file)) is True
    with file.open("rb"):
        assert SYSTEM.being_written(str(file)) is False


def test_globs_find_names_and_follow_no_link_downwards(place: Path) -> None:
    for name in ("r/a.md", "r/b.md", "r/sub/c.md", "r/.hidden.md", "r/.d/e.md"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"")
    (place / "r/loop").symlink_to("..")
    found = {pattern: SYSTEM.glob(f"{place}/{pattern}") for pattern in ("r/*.md", "r/**/*.md", "r/?.md", "none/*")}
    assert [Path(path).name for path in found["r/*.md"]] == ["a.md", "b.md"]
    assert [Path(path).name for path in found["r/**/*.md"]] == ["a.md", "b.md", "c.md"]
    assert found["r/?.md"] == found["r/*.md"]
    assert found["none/*"] == ()


# ------------------------------------------------------------------ environment


def test_home_has_to_be_there_and_absolute(home: Path) -> None:
    for variables in ({}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": str(home / "nowhere")}):
        with pytest.raises(UsageError):
            read_environment(cwd="/", variables=variables)
    with pytest.raises(UsageError):
        read_environment(home="nowhere", cwd=str(home), variables={"HOME": str(home)})


def test_state_follows_xdg_unless_relative_or_a_home_is_given(home: Path) -> None:
    (home / "other").mkdir()
    variables = {"HOME": str(home), "XDG_STATE_HOME": str(home / "xdg")}
    usual = str(home.resolve() / ".local/state/hostconf")
    plain = read_environment(cwd="/", variables=variables)
    assert (plain.state, plain.host_variables) == (str(home.resolve() / "xdg/hostconf"), True)
    assert read_environment(cwd="/", variables={**variables, "XDG_STATE_HOME": "xdg"}).state == usual
    given = read_environment(home="other", cwd=str(home), variables=variables)
    assert given.home == str(home.resolve() / "other")
    assert given.state == str(home.resolve() / "other/.local/state/hostconf")
    assert not given.host_variables


def test_the_project_is_the_nearest_repository_and_never_the_home(home: Path) -> None:
    real = home.resolve()
    variables = {"HOME": str(home)}

    def project(folder: str, **given: str) -> tuple[str | None, tuple[str, ...]]:
        found = read_environment(cwd=str(home / folder), variables=variables, **given)
        return found.project, tuple(str(Path(path).relative_to(real)) for path in found.folders)

    for folder in ("p/.git", "p/a/b", "q/a", "w"):
        (home / folder).mkdir(parents=True)
    (home / "w/.git").write_text("gitdir: elsewhere\n")
    assert project("p/a/b") == (str(real / "p"), ("p", "p/a", "p/a/b"))
    assert project("w") == (str(real / "w"), ("w",))
    assert project("q/a") == (str(real / "q/a"), ("q/a",))
    assert project(".") == (None, ())
    assert project("..") == (None, ())
    assert project("q/a", project="../../p") == (str(real / "p"), ("p",))
    (home / ".git").mkdir()
    assert project("q/a") == (str(real / "q/a"), ("q/a",))
    assert project(".") == (None, ())
    for wrong in (".", "/", "nowhere"):
        with pytest.raises(UsageError):
            project(".", project=wrong)


def test_our_variables_are_checked(home: Path) -> None:
    assert lock_wait({}) == 2
    assert lock_wait({LOCK_WAIT.name: "0.5"}) == 0.5
    for wrong in ("x", "-1", "601", "nan"):
        with pytest.raises(UsageError, match=LOCK_WAIT.name):
            read_environment(cwd="/", variables={"HOME": str(home), LOCK_WAIT.name: wrong})
    with pytest.raises(UsageError, match="HOSTCONF_SYSTEM_ROOT"):
        read_environment(cwd="/", variables={"HOME": str(home), "HOSTCONF_SYSTEM_ROOT": "rel"})
    assert all(one.name.startswith("HOSTCONF_") and one.meaning for one in VARIABLES)


# ------------------------------------------------------------------ snapshot


def test_a_snapshot_reads_each_path_once(home: Path) -> None:
    read: list[str] = []

    class Counting(RealSystem):
        def read(self, path: str):  # type: ignore[no-untyped-def]
            read.append(path)
            return super().read(path)

    (home / "rules").mkdir()
    (home / "rules/a.md").write_bytes(b"a")
    environment = read_environment(cwd="/", variables={"HOME": str(home)})
    paths = [str(home / "x"), str(home / "rules/a.md"), str(home / "x")]
    found = take_snapshot(environment, paths, [str(home / "rules/*.md")], system=Counting())
    assert sorted(read) == sorted(set(paths))
    assert found.files[str(home / "rules/a.md")].data == b"a"
    assert found.files[str(home / "x")].kind == "absent"
    assert found.listings == {str(home / "rules/*.md"): (str(home / "rules/a.md"),)}


def test_versions_come_from_the_package_without_running_it(home: Path) -> None:
    package = home / "lib/node_modules/@openai/codex"
    (package / "bin/inner").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@openai/codex", "version": "1.2.3"}')
    (package / "bin/package.json").write_text('{"type": "module"}')
    program = package / "bin/inner/codex.js"
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    (home / "bin").mkdir()
    (home / "bin/codex").symlink_to("../lib/node_modules/@openai/codex/bin/inner/codex.js")
    (home / "bin/lone").write_text("x")
    (home / "bin/lone").chmod(0o755)
    (home / "bin/data").write_text("x")
    environment = read_environment(cwd="/", variables={"HOME": str(home), "PATH": f"relative::{home}/bin"})
    hosts = {
        "codex": (["codex-cli", "codex"], "@openai/codex"),
        "lone": (["lone"], "lone"),
        "data": (["data"], "data"),
        "none": (["none"], ""),
    }
    programs, versions = find_programs(hosts, environment, system=SYSTEM)
    assert programs == {"codex": str(home / "bin/codex"), "lone": str(home / "bin/lone")}
    assert versions == {"codex": "1.2.3", "lone": ""}
    assert not (home / "ran").exists()
