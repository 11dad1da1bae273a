"""The sweeps that kill: `python -m tests.transaction.sweeps NAME FOLDER [WORD...]` prints how many points were tried.

Each point forks. In a lean process of its own that costs a quarter of what it does
inside the test runner, whose memory has to be copied page by page.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

from hostconf.errors import HostconfError
from hostconf.recover import Decision
from hostconf.recovery import describe
from hostconf.system import FailingSystem, RealSystem
from tests.transaction.harness import (
    PLANS,
    LinklessSystem,
    PlainSystem,
    Tree,
    World,
    apply,
    fate,
    in_child,
    killed_at,
    litter,
    recover,
    tree,
    wanted,
    without_state,
    world,
)

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = {"exchange": FailingSystem, "no-exchange": PlainSystem, "no-links": LinklessSystem}


def sweep(name: str, place: Path, *words: str) -> int:
    """Run one in a process of its own; the number of points. AssertionError with its own words if one fails."""
    paths = [str(ROOT / "src"), str(ROOT), *sys.path]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.transaction.sweeps", name, str(place), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


def clean_end(here: World, before: Tree, after: Tree) -> str:
    """What has to hold once recovery is through; gives `old` or `new`."""
    end = fate(here)
    assert end in ("old", "new"), end
    assert not litter(here), litter(here)
    assert without_state(tree(here.root)) == without_state(before if end == "old" else after), tree(here.root)
    assert not describe(RealSystem(), [here.state], here.locks)["needed"]
    return end


def possible(here: World, decision: Decision | None) -> Decision | None:
    """The decision, where it may be taken."""
    seen = describe(RealSystem(), [here.state], here.locks)
    return decision if all(decision in operation["choices"] for operation in seen["operations"]) else None


def kill(place: Path, plan: str, kind: str, decision: Decision | None) -> int:
    """Apply, killed at every call; recovered; and where that ends all old, applied anew."""
    before, after = wanted(place / "model", PLANS[plan])
    ends = []
    for at in range(1, 1000):
        here = world(place / str(at), PLANS[plan])
        if not killed_at(SYSTEMS[kind](at), partial(apply, here=here)):
            break
        assert not fate(here).startswith("torn"), fate(here)
        recover(RealSystem(), here, possible(here, decision))
        ends.append(clean_end(here, before, after))
        if ends[-1] == "old":
            apply(RealSystem(), here)
            assert without_state(tree(here.root)) == without_state(after), at
    assert fate(here) == "new"
    assert set(ends) == {"old", "new"}, ends
    return len(ends)


def double(place: Path, decision: Decision | None) -> int:
    """Apply killed, then its recovery killed too, then recovered: some of the pairs."""
    before, after = wanted(place / "model", PLANS["three"])
    pairs = 0
    for first in range(30, 1000, 17):
        killed = False
        for second in range(1, 1000, 4):
            here = world(place / f"{first}-{second}", PLANS["three"])
            killed = killed_at(FailingSystem(first), partial(apply, here=here))
            if not killed:
                break
            choice = possible(here, decision)
            found = texts(here)
            again = killed_at(FailingSystem(second), partial(recover, here=here, decision=choice))
            begun = texts(here) != found
            recover(RealSystem(), here)
            end = clean_end(here, before, after)
            # What was begun to be taken back is never carried forward again.
            assert end == "old" or not (begun and choice == "undo"), (first, second)
            pairs += 1
            if not again:
                break
        if not killed:
            break
    return pairs


def texts(here: World) -> list[bytes | None]:
    """What the files hold."""
    paths = [Path(change.real) for change in here.changes]
    return [path.read_bytes() if path.exists() else None for path in paths]


class FailsThenDies(FailingSystem):
    """An error at one call, and the end at a later one, while it is taken back."""

    def __init__(self, fails: int, dies: int) -> None:
        """The numbers of the two calls."""
        super().__init__(dies)
        self.fails = fails

    def before(self, call: str, *paths: str) -> None:
        """Fail once, die later."""
        super().before(call, *paths)
        if len(self.calls) == self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO), paths[0])


def back(place: Path) -> int:
    """The last swap fails, and it is killed at every call while the others are taken back."""
    before, after = wanted(place / "model", PLANS["three"])
    probe = FailingSystem()
    apply(probe, world(place / "probe", PLANS["three"]))
    swap = next(at for at, call in enumerate(probe.calls, 1) if call[-1].endswith("-2") and call[0] == "rename_new")
    ends = []
    for dies in range(swap + 1, 1000):
        here = world(place / str(dies), PLANS["three"])
        code = in_child(partial(_expected, apply, FailsThenDies(swap, dies), here))
        if code == 0:
            break
        assert code == -signal.SIGKILL, code
        assert not fate(here).startswith("torn"), fate(here)
        recover(RealSystem(), here)
        ends.append(clean_end(here, before, after))
    assert fate(here) == "old"
    assert not litter(here), litter(here)
    # Before the mark nothing was taken back yet, and recovery goes forward; behind it there is one way only.
    assert ends == ["new", *["old"] * (len(ends) - 1)], ends
    return len(ends)


def _expected(work: Callable[..., object], *arguments: object) -> None:
    try:
        work(*arguments)
    except HostconfError:
        return
    raise AssertionError("it did not fail")


if __name__ == "__main__":
    name, folder, *words = sys.argv[1:]
    decision = cast("Decision | None", words.pop() if words and words[-1] in ("undo", "finish") else None)
    run: dict[str, Callable[[], int]] = {
        "kill": lambda: kill(Path(folder), words[0], words[1], decision),
        "double": lambda: double(Path(folder), decision),
        "back": lambda: back(Path(folder)),
    }
    print(run[name]())
