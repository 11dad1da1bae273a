"""What apply keeps, and what it refuses before it touches anything."""

from __future__ import annotations

import errno
import os
import signal
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

import hostconf.apply
from hostconf.apply import carry_out
from hostconf.errors import (
    HostconfError,
    Locked,
    RecoveryNeeded,
    Refused,
    StalePlan,
    UnreadableFile,
    WriteFailed,
)
from hostconf.model import Change
from hostconf.recover import Decision
from hostconf.recovery import carry_out_recovery, describe
from hostconf.system import FailingSystem, ReadOnlySystem, RealSystem, System
from tests.transaction.harness import (
    PLANS,
    PURPOSE,
    File,
    World,
    apply,
    fate,
    in_child,
    killed_at,
    litter,
    recover,
    tree,
    world,
)

NOBODY = 65534


def one(place: Path, before: bytes | None = b"old\n", after: bytes | None = b"new\n", name: str = "config") -> World:
    """A world of one file."""
    return world(place / "w", [File(f"home/{name}", before, after)])


def as_nobody(work: Callable[[], object]) -> int:
    """Do it as an ordinary user: root may write anything."""

    def dropped() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        work()

    return in_child(dropped)


def owned_by_nobody(root: Path) -> None:
    """Let the ordinary user of `as_nobody` own it all."""
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


# ------------------------------------------------------------------ kept


def test_a_link_is_kept_and_the_file_behind_it_edited_with_its_mode(place: Path) -> None:
    real = place / "dotfiles" / "config.toml"
    real.parent.mkdir()
    real.write_bytes(b"old\n")
    real.chmod(0o640)
    link = place / "config.toml"
    link.symlink_to("dotfiles/config.toml")
    change = Change(str(link), str(real), b"old\n", b"new\n", None, "config", str(real.parent))
    carry_out([change], system=RealSystem(), state=str(place / "state"), purpose=PURPOSE, wait_seconds=0)
    assert os.readlink(link) == "dotfiles/config.toml"
    assert real.read_bytes() == b"new\n"
    assert real.stat().st_mode & 0o7777 == 0o640
    assert sorted(path.name for path in place.iterdir()) == ["config.toml", "dotfiles"]
    assert [path.name for path in real.parent.iterdir()] == ["config.toml"]


def test_owner_and_attributes_are_kept(tmp_path: Path) -> None:
    here = one(tmp_path.resolve())
    file = here.root / "home/config"
    try:
        os.setxattr(file, "user.mine", b"kept")
    except OSError:
        pytest.skip("no extended attributes here")
    if os.geteuid() == 0:
        os.chown(file, NOBODY, NOBODY)
    owner = (file.stat().st_uid, file.stat().st_gid)
    apply(RealSystem(), here)
    assert file.read_bytes() == b"new\n"
    assert os.getxattr(file, "user.mine") == b"kept"
    assert (file.stat().st_uid, file.stat().st_gid) == owner


@pytest.mark.parametrize(("mode", "got"), [(None, 0o600), (0o644, 0o644), (0o600, 0o600)])
def test_a_new_file_has_the_mode_of_the_plan(place: Path, mode: int | None, got: int) -> None:
    here = one(place, None)
    here = here._replace(changes=(here.changes[0]._replace(mode=mode),))
    apply(RealSystem(), here)
    assert (here.root / "home/config").stat().st_mode & 0o7777 == got


def test_folders_are_made_as_private_as_they_have_to_be(place: Path) -> None:
    old = os.umask(0o022)
    try:
        here = world(place / "w", [File("home/.a/b/c", None, b"x"), File("state/records/r", None, b"x")])
        apply(RealSystem(), here)
    finally:
        os.umask(old)
    modes = {
        name: (here.root / name).stat().st_mode & 0o777 for name in ("home/.a", "home/.a/b", "state", "state/records")
    }
    assert modes == {"home/.a": 0o755, "home/.a/b": 0o755, "state": 0o700, "state/records": 0o700}


def test_nothing_to_do_does_nothing(place: Path) -> None:
    here = one(place, b"same", b"same")
    before = tree(place)
    assert apply(ReadOnlySystem(), here) == ()
    assert tree(place) == before


def test_steps_are_told_in_order(place: Path) -> None:
    told: list[str] = []
    here = world(place / "w", PLANS["three"])
    apply(RealSystem(), here, on_step=told.append)
    writes = [text for text in told if text.startswith("writing")]
    assert writes == [f"writing `{change.path}`" for change in here.changes]


# ------------------------------------------------------------------ refused, nothing touched


def refused(here: World, error: type[HostconfError], system: System | None = None) -> HostconfError:
    """Apply, see it refused, and nothing touched."""
    before = tree(here.root)
    with pytest.raises(error) as told:
        apply(system or RealSystem(), here)
    assert tree(here.root) == before
    return told.value


def test_a_file_that_moved_on_is_stale(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    (here.root / "home/.codex/config.toml").write_bytes(b"somebody\n")
    error = refused(here, StalePlan)
    assert error.exit_code == 4
    assert error.path == here.changes[1].path


@pytest.mark.parametrize(("before", "now"), [(None, b"appeared"), (b"old\n", None)])
def test_absence_is_a_state_too(place: Path, before: bytes | None, now: bytes | None) -> None:
    here = one(place, before)
    file = here.root / "home/config"
    if now is None:
        file.unlink()
    else:
        file.write_bytes(now)
    refused(here, StalePlan)


def test_a_hard_link_is_not_parted(place: Path) -> None:
    here = one(place)
    os.link(here.root / "home/config", here.root / "home/other")
    assert refused(here, Refused).code == "hard-linked"


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [_folder, _pipe, _loop, _dangling])
def test_what_is_no_file_is_refused_by_name(place: Path, make: Callable[[Path], None]) -> None:
    here = world(place / "w", [File("home/first", b"old\n", b"new\n"), File("home/config", b"old\n", b"new\n")])
    file = here.root / "home/config"
    file.unlink()
    make(file)
    error = refused(here, UnreadableFile)
    assert str(file) in error.message


def test_a_mount_of_its_own_is_refused(place: Path) -> None:
    here = one(place)

    class Mounted(RealSystem):
        def mount_points(self) -> frozenset[str]:
            return frozenset({str(here.root / "home/config")})

    assert refused(here, Refused, Mounted()).code == "mounted"


def test_a_mount_that_shows_only_when_it_is_swapped_is_taken_back(place: Path) -> None:
    here = world(place / "w", PLANS["three"])

    class Busy(FailingSystem):
        def exchange(self, path: str, other: str) -> None:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)

    before = tree(here.root)
    with pytest.raises(WriteFailed, match="busy") as told:
        apply(Busy(), here)
    assert "mounted by itself" in told.value.hint
    assert tree(here.root) == before


def test_one_file_by_two_names_is_refused(place: Path) -> None:
    here = one(place)
    alias = here.root / "home/alias"
    alias.symlink_to("config")
    here = here._replace(changes=(*here.changes, here.changes[0]._replace(path=str(alias))))
    assert refused(here, Refused).code == "same-file"


def test_a_folder_that_became_a_link_leads_nowhere(place: Path) -> None:
    here = one(place, name="sub/config")
    (here.root / "home/sub").rename(here.root / "elsewhere")
    (here.root / "home/sub").symlink_to(here.root / "elsewhere")
    refused(here, StalePlan)


def test_a_folder_that_becomes_a_link_after_the_checks_leads_nowhere(place: Path) -> None:
    here = one(place, name="sub/config")
    sub, away = here.root / "home/sub", here.root / "away"
    victim = here.root / "victim"
    victim.mkdir()
    (victim / "config").write_bytes(b"old\n")

    class Swapper(FailingSystem):
        def before(self, call: str, *paths: str) -> None:
            if call == "exchange":
                sub.rename(away)
                sub.symlink_to(victim)
            super().before(call, *paths)

    with pytest.raises(HostconfError):
        apply(Swapper(), here)
    assert (victim / "config").read_bytes() == b"old\n"
    assert list(victim.iterdir()) == [victim / "config"]


def test_a_project_operation_stays_in_the_project(place: Path) -> None:
    inside, outside = place / "p", place / "home"
    inside.mkdir()
    outside.mkdir()
    (outside / "config").write_bytes(b"old\n")
    change = Change(str(outside / "config"), str(outside / "config"), b"old\n", b"new\n", None, "config", str(outside))
    with pytest.raises(Refused) as told:
        carry_out([change], system=RealSystem(), state=str(inside / ".hostconf"), purpose=PURPOSE, wait_seconds=0)
    assert told.value.code == "outside-project"
    assert (outside / "config").read_bytes() == b"old\n"
    assert list(inside.iterdir()) == []


@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o644), (0o755, 0o444), (0o555, 0o444)])
def test_an_ordinary_user_is_told_before_anything_is_touched(place: Path, folder: int, file: int) -> None:
    here = world(place / "w", [File("home/first", b"old\n", b"new\n"), File("home/.x/config", b"old\n", b"new\n")])
    (here.root / "home/.x/config").chmod(file)
    (here.root / "home/.x").chmod(folder)
    owned_by_nobody(here.root)
    before = tree(here.root)

    def work() -> None:
        with pytest.raises(WriteFailed) as told:
            apply(RealSystem(), here)
        assert told.value.code == "not-writable"
        assert here.changes[1].path in told.value.message

    assert as_nobody(work) == 0
    (here.root / "home/.x").chmod(folder)
    assert tree(here.root) == before


def test_another_users_file_is_not_made_ours(place: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can make a file of another user")
    here = one(place)
    owned_by_nobody(here.root)
    file = here.root / "home/config"
    os.chown(file, 1, 1)
    file.chmod(0o666)

    def work() -> None:
        with pytest.raises(WriteFailed, match="another user"):
            apply(RealSystem(), here)

    assert as_nobody(work) == 0
    assert file.read_bytes() == b"old\n"


def test_an_ordinary_user_can_do_all_of_it(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    owned_by_nobody(here.root)
    assert as_nobody(lambda: apply(RealSystem(), here)) == 0
    assert fate(here) == "new"


# ------------------------------------------------------------------ the second reader


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A second reader that finds what the test says."""
    module = types.ModuleType("hostconf.formats.second")
    module.found = {"a": 1}  # type: ignore[attr-defined]
    module.read_second = lambda format_name, data: module.found  # type: ignore[attr-defined]
    module.same_meaning = lambda a, b: a == b  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hostconf.formats.second", module)
    return module


def test_two_readers_that_disagree_stop_the_write(place: Path, second: types.ModuleType) -> None:
    here = one(place)
    here = here._replace(changes=(here.changes[0]._replace(format="json", expect={"a": 2}),))
    assert refused(here, WriteFailed).code == "readers-disagree"


def test_two_readers_that_agree_let_it_through(place: Path, second: types.ModuleType) -> None:
    here = one(place)
    here = here._replace(changes=(here.changes[0]._replace(format="json", expect={"a": 1}),))
    apply(RealSystem(), here)
    assert fate(here) == "new"


def test_a_second_reader_that_cannot_read_stops_the_write(place: Path, second: types.ModuleType) -> None:
    def fails(format_name: str, data: bytes) -> None:
        raise HostconfError("broken at line 1")

    second.read_second = fails  # type: ignore[attr-defined]
    here = one(place)
    here = here._replace(changes=(here.changes[0]._replace(format="json", expect={"a": 1}),))
    assert "broken at line 1" in refused(here, WriteFailed).message


# ------------------------------------------------------------------ others at the same time


class Meddler(FailingSystem):
    """Somebody who does something right before the first call of a kind."""

    def __init__(self, call: str, work: Callable[[], object]) -> None:
        super().__init__()
        self.call, self.work = call, work

    def before(self, call: str, *paths: str) -> None:
        """Meddle once."""
        if call == self.call:
            self.call = ""
            self.work()
        super().before(call, *paths)


def _renamed(file: Path) -> None:
    other = file.with_name("written-aside")
    other.write_bytes(b"host\n")
    other.rename(file)


def _in_place(file: Path) -> None:
    file.write_bytes(b"host\n")


@pytest.mark.parametrize("write", [_renamed, _in_place])
def test_a_host_that_writes_between_look_and_swap_keeps_its_text(place: Path, write: Callable[[Path], None]) -> None:
    here = world(place / "w", PLANS["three"])
    file = here.root / "home/.codex/config.toml"
    with pytest.raises(StalePlan) as told:
        apply(Meddler("exchange", lambda: write(file)), here)
    assert told.value.path == str(file)
    assert file.read_bytes() == b"host\n"
    assert not (here.root / "state/records/codex.json").exists()
    assert (here.root / "home/.cursor/rules/ours.mdc").read_bytes() == b"ours\n"
    assert litter(here) == []


def test_a_host_that_removes_the_file_before_the_swap_keeps_it_so(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    file = here.root / "home/.codex/config.toml"
    with pytest.raises((StalePlan, WriteFailed)):
        apply(Meddler("exchange", file.unlink), here)
    assert not file.exists()
    assert not (here.root / "state/records/codex.json").exists()
    assert litter(here) == []


def test_a_host_that_creates_the_file_first_wins(place: Path) -> None:
    here = one(place, None)
    file = here.root / "home/config"

    class First(FailingSystem):
        def before(self, call: str, *paths: str) -> None:
            if call == "rename_new" and paths[-1] == str(file):
                file.write_bytes(b"host\n")
            super().before(call, *paths)

    with pytest.raises(StalePlan):
        apply(First(), here)
    assert file.read_bytes() == b"host\n"
    assert litter(here) == []


def test_a_deletion_that_meets_a_fresh_text_gives_it_back(place: Path) -> None:
    here = one(place, b"ours\n", None)
    file = here.root / "home/config"

    class Late(FailingSystem):
        def before(self, call: str, *paths: str) -> None:
            if call == "rename_new" and paths[0] == str(file):
                file.write_bytes(b"host\n")
            super().before(call, *paths)

    with pytest.raises(StalePlan):
        apply(Late(), here)
    assert file.read_bytes() == b"host\n"
    assert litter(here) == []


def test_a_program_that_has_the_file_open_for_writing_is_named_as_the_reason(place: Path) -> None:
    here = one(place)
    with (here.root / "home/config").open("r+b"), pytest.raises(StalePlan, match="open for writing"):
        apply(RealSystem(), here)
    assert fate(here) == "old"
    assert litter(here) == []
    apply(RealSystem(), here)
    assert fate(here) == "new"


def test_a_program_that_opens_the_file_right_before_the_swap_is_not_cut_off(place: Path) -> None:
    here = one(place)
    file = here.root / "home/config"
    opened = []
    with pytest.raises(StalePlan):
        apply(Meddler("exchange", lambda: opened.append(file.open("r+b"))), here)
    opened[0].write(b"host")
    opened[0].close()
    assert file.read_bytes() == b"host"
    assert litter(here) == []


def test_what_somebody_writes_into_the_displaced_file_is_kept_and_told(place: Path) -> None:
    here = one(place)
    folder = here.root / "home"

    class Late(FailingSystem):
        def before(self, call: str, *paths: str) -> None:
            if call == "replace" and paths[-1].endswith("journal.done"):
                (staged,) = folder.glob(".config.hostconf-*")
                staged.write_bytes(b"written late\n")
            super().before(call, *paths)

    (told,) = apply(Late(), here)
    (kept,) = folder.glob("*hostconf-conflict*")
    assert str(kept) in told
    assert kept.read_bytes() == b"written late\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (folder / "config").read_bytes() == b"new\n"


def test_the_hosts_own_lock_is_waited_for_and_left(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostconf.apply, "HOST_WAIT", 0.2)
    here = one(place)
    theirs = here.root / "home/config.lock"
    theirs.mkdir()
    told: list[str] = []
    apply(RealSystem(), here, on_step=told.append)
    assert [text for text in told if "config.lock" in text] == [
        f"waiting for the host's own lock `{theirs}`",
        f"going on although `{theirs}` is still there",
    ]
    assert theirs.is_dir()
    assert fate(here) == "new"


# ------------------------------------------------------------------ signals, journals, secrets


@pytest.mark.parametrize("call", ["copy_metadata", "exchange", "remove_folder"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_the_end(place: Path, call: str, number: signal.Signals) -> None:
    here = one(place)

    def work() -> None:
        # A job in the background of a shell was told to ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        apply(Meddler(call, lambda: os.kill(os.getpid(), number)), here)

    code = in_child(work)
    assert code == (-signal.SIGTERM if number == signal.SIGTERM else 1)
    assert fate(here) == "new"
    assert litter(here) == []


def unfinished(here: World) -> None:
    """Kill an apply behind its commit point."""
    probe = FailingSystem()
    model = world(here.root.with_name("probe"), PLANS["three"])
    apply(probe, model)
    point = next(index for index, call in enumerate(probe.calls, 1) if call[0] == "exchange")
    assert killed_at(FailingSystem(point), lambda system: apply(system, here))


def test_an_unfinished_operation_comes_first(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    unfinished(here)
    error = refused(here, RecoveryNeeded)
    assert error.exit_code == 5
    assert error.hint == "run `hostconf recover`"


def test_a_dead_lock_of_another_scopes_unfinished_operation_is_left_for_it(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    unfinished(here)
    file = here.root / "home/.codex/config.toml"
    change = Change(str(file), str(file), b"old\n", b"theirs\n", None, "config", str(file.parent))
    before = tree(here.root)
    with pytest.raises(RecoveryNeeded) as told:
        carry_out([change], system=RealSystem(), state=str(place / "other"), purpose=PURPOSE, wait_seconds=0)
    assert here.state in told.value.message
    assert tree(here.root) == before
    assert not (place / "other").exists()


def test_journal_locks_and_staged_texts_hold_no_secret_more_open_than_the_file(place: Path) -> None:
    secret = b"CANARY-7f3a-SECRET"
    here = world(place / "w", [File("home/config", b"old " + secret, b"new " + secret, 0o600)])
    purpose = {**PURPOSE, "argv": ["--env", "KEY=CANARY-7f3a-SECRET"], "token": "CANARY-7f3a-SECRET"}
    point = 0
    while killed_at(
        FailingSystem(point := point + 1),
        lambda system: carry_out(here.changes, system=system, state=here.state, purpose=purpose, wait_seconds=0),
    ):
        for name, (kind, mode, data) in tree(here.root).items():
            if secret in data:
                assert name.startswith(("home/config", "home/.config")), name
                assert mode == 0o600
            if kind == "file" and "state" in name:
                assert mode == 0o600
        recover(RealSystem(), here, "undo" if fate(here) == "new" and _may_undo(here) else None)
        if fate(here) == "new":
            (here.root / "home/config").write_bytes(b"old " + secret)
    assert point > 40


def _may_undo(here: World) -> bool:
    return all("undo" in one["choices"] for one in describe(RealSystem(), [here.state])["operations"])


# ------------------------------------------------------------------ recovery by a person


def test_somebody_elses_change_behind_the_commit_point_is_a_question(place: Path) -> None:
    here = world(place / "w", PLANS["three"])
    unfinished(here)
    file = here.root / "home/.codex/config.toml"
    file.write_bytes(b"host\n")
    before = tree(here.root)
    (operation,) = describe(RealSystem(), [here.state])["operations"]
    assert operation["decision"] == ""
    assert operation["choices"] == ["undo", "forget"]
    assert [seen["state"] for seen in operation["files"]] == ["new", "other", "old"]
    with pytest.raises(RecoveryNeeded, match="needs a decision"):
        recover(RealSystem(), here)
    assert tree(here.root).keys() == before.keys()
    recover(RealSystem(), here, "undo")
    assert file.read_bytes() == b"host\n"
    assert not (here.root / "state/records/codex.json").exists()
    assert litter(here) == []


@pytest.mark.parametrize("decision", ["finish", "undo", "forget"])
def test_what_a_person_decides_is_done(place: Path, decision: Decision) -> None:
    here = world(place / "w", PLANS["three"])
    unfinished(here)
    told = recover(RealSystem(), here, decision)
    assert any(told)
    assert fate(here) == {"finish": "new", "undo": "old", "forget": "mixed"}[decision]
    assert litter(here) == []
    assert recover(RealSystem(), here) == ()


def test_forgetting_keeps_the_only_copy_of_an_old_text(place: Path) -> None:
    here = world(place / "w", PLANS["edit"])
    probe = FailingSystem()
    apply(probe, world(place / "probe", PLANS["edit"]))
    point = next(index for index, call in enumerate(probe.calls, 1) if call[-1].endswith("journal.done"))
    assert killed_at(FailingSystem(point), lambda system: apply(system, here))
    file = here.root / "home/.codex/config.toml"
    file.write_bytes(b"host\n")
    (operation,) = describe(RealSystem(), [here.state])["operations"]
    assert operation["choices"] == ["forget"]
    recover(RealSystem(), here, "forget")
    assert file.read_bytes() == b"host\n"
    (kept,) = file.parent.glob("*hostconf-conflict*")
    assert kept.read_bytes() == b"old\n"


def test_a_running_apply_is_not_recovered(place: Path) -> None:
    here = world(place / "w", PLANS["three"])

    def meddle() -> None:
        with pytest.raises(Locked):
            carry_out_recovery(RealSystem(), [here.state], "undo", purpose=PURPOSE, wait_seconds=0)

    apply(Meddler("exchange", meddle), here)
    assert fate(here) == "new"
