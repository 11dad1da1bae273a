"""Every cell of host, scope and tiers: what hostconf predicts, and what the real host then does.

A cell is carried out on a home that somebody has lived in (field.py): `plan` predicts the surface, `apply` writes, the
host itself is asked, `uninstall` gives everything back to the byte. The verdict is the host's: its own request to the
model, and its own listing. A refused cell has to have a reason, to be one of those that are refused for good, and to
have written nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.real_hosts.drive import ROOT, SYSTEM_PATH, Asked, Driver
from tests.real_hosts.field import PREPARE, Rival

INTEGRATION = "deepseek-web-retrieval"
OURS = {"web_search": "deepseek_web_search", "web_fetch": "deepseek_fetch"}
RIVALS = {"web_search": ("tavily_search", "tavily_research"), "web_fetch": ("tavily_extract", "tavily_crawl")}
BUILT_IN = {
    "claude": {"web_search": {"WebSearch"}, "web_fetch": {"WebFetch"}},
    "codex": {"web_search": {"web_search"}, "web_fetch": {"web_search"}},
    "opencode": {"web_search": {"websearch"}, "web_fetch": {"webfetch"}},
}

UNIFORM = [(tier, tier) for tier in ("off", "optional", "preferred", "forced")]
MIXED = [
    ("forced", "optional"),
    ("forced", "off"),
    ("optional", "off"),
    ("off", "preferred"),
    ("optional", "forced"),
    ("off", "forced"),
]


class Cell(NamedTuple):
    """One wish, on one field."""

    host: str
    scope: str
    rival: Rival
    trusted: bool
    search: str
    fetch: str

    @property
    def tiers(self) -> dict[str, str]:
        """Capability to tier."""
        return {"web_search": self.search, "web_fetch": self.fetch}

    @property
    def field(self) -> str:
        """In two words."""
        return f"rival in {self.rival}" if self.trusted else "not trusted"

    @property
    def wish(self) -> str:
        """The tiers in words."""
        return f"search {self.search}, fetch {self.fetch}"

    def __str__(self) -> str:
        return f"{self.host}-{self.scope}-{self.field.replace(' ', '_')}-{self.search}-{self.fetch}"


def cells() -> Iterator[Cell]:
    """All of them, the slow host first, so that two workers end together."""
    other: dict[str, Rival] = {"user": "project", "project": "user"}
    same: dict[str, Rival] = {"user": "user", "project": "project"}
    for host in ("opencode", "claude", "codex"):
        for scope in ("user", "project"):
            for tiers in UNIFORM + MIXED:
                yield Cell(host, scope, same[scope], True, *tiers)
            for tiers in (("optional", "optional"), ("forced", "forced")):
                yield Cell(host, scope, other[scope], True, *tiers)
        if host != "opencode":
            for tiers in (("optional", "optional"), ("forced", "forced")):
                yield Cell(host, "project", "user", False, *tiers)


def must_be_refused(cell: Cell) -> bool:
    """The cells that cannot be delivered, by the facts of the hosts. Any other refusal is a failure, and so is the
    delivery of one of these."""
    if cell.search == cell.fetch == "off":
        return True  # nothing would be installed
    if cell.host == "codex" and "forced" in (cell.search, cell.fetch):
        if cell.search != "forced":
            return True  # one switch for both: fetch alone would take search with it
        if cell.rival != cell.scope:
            return True  # a bare `enabled = false` stops this host where the entry is missing
    return not cell.trusted and "forced" in (cell.search, cell.fetch)


# ------------------------------------------------------------------ hostconf


class Said(NamedTuple):
    """What one run of hostconf gave."""

    code: int
    data: dict[str, Any]
    errors: list[dict[str, Any]]
    raw: str


class Hostconf:
    """The command line, on one home and one project."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project

    def __call__(self, *words: str) -> Said:
        """One run; its envelope has to be there whatever happened."""
        command = [sys.executable, "-m", "hostconf", *words, "--json"]
        command += ["--home", str(self.home), "--project", str(self.project)]
        done = subprocess.run(
            command,
            cwd=self.project,
            env={"HOME": str(self.home), "PATH": SYSTEM_PATH, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        raw = f"hostconf {' '.join(words)}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
        try:
            envelope = json.loads(done.stdout)
        except ValueError:
            pytest.fail(f"no JSON on stdout: {raw}")
        return Said(done.returncode, envelope.get("data") or {}, envelope.get("errors") or [], raw)

    def choice(self, cell: Cell) -> list[str]:
        """CHOICE of the command line."""
        tiers = [word for capability, tier in cell.tiers.items() for word in ("--tier", f"{capability}={tier}")]
        return [INTEGRATION, "--host", cell.host, "--scope", cell.scope, "--path", "mcp", *tiers]

    def reason(self, said: Said) -> str:
        """Why it refused, without the places of this run."""
        reasons = [row["reason"] for row in said.data.get("refusals") or []]
        reasons += [error["message"] for error in said.errors]
        assert reasons, f"refused without a reason: {said.raw}"
        text = str(reasons[0]).replace(str(self.project), "PROJECT").replace(str(self.home), "~")
        return text


State = dict[str, tuple[str, int, bytes]]


def tree(*places: Path) -> State:
    """Every file, link and folder below these places, but for the records that hostconf keeps."""
    found: State = {}
    for place in places:
        for folder, folders, files in os.walk(place):
            if Path(folder).name == ".git":
                folders.clear()
                continue
            folders[:] = [name for name in folders if not is_record(Path(folder) / name, place)]
            for name in [*folders, *files]:
                path = Path(folder) / name
                mode = path.lstat().st_mode
                if path.is_symlink():
                    found[str(path)] = ("link", mode, os.readlink(path).encode())
                elif path.is_dir():
                    found[str(path)] = ("folder", mode, b"")
                else:
                    found[str(path)] = ("file", mode, path.read_bytes())
    return found


def is_record(folder: Path, place: Path) -> bool:
    """Whether a folder is where hostconf keeps its own state, or one on the way to it alone."""
    return folder.relative_to(place).as_posix() in (".hostconf", ".local")


def changed(before: State, after: State) -> set[str]:
    """The files that are not what they were; the claims that hostconf puts beside a file are its own."""
    paths = {path for path in before.keys() | after.keys() if not path.endswith(".hostconf-owner.json")}
    return {p for p in paths if before.get(p) != after.get(p) and "folder" not in (before.get(p) or after[p])}


# ------------------------------------------------------------------ the verdict


def tools_for(driver: Driver, capability: str) -> tuple[str, set[str]]:
    """Our tool for a capability, and all others that a model could use for it on this field, by the host's naming."""
    ours = driver.tool_id("deepseek", OURS[capability])
    rivals = {driver.tool_id("tavily", tool) for tool in RIVALS[capability]}
    return ours, rivals | BUILT_IN[driver.id][capability]


def judge_tiers(driver: Driver, cell: Cell, asked: Mapping[str, Asked]) -> None:
    """The tier's own predicate, without a look at what was predicted."""
    for variant, request in asked.items():
        for capability, tier in cell.tiers.items():
            ours, others = tools_for(driver, capability)
            where = f"{capability} {tier}, {variant}: {sorted(request.tools)}"
            assert (ours in request.tools) is (tier != "off"), where
            if tier == "forced":
                assert not others & request.tools, where
        assert driver.tool_id("notes", "note_add") in request.tools, variant


def judge_prediction(
    driver: Driver, surface: list[dict[str, Any]], when: str, asked: Mapping[str, Asked], exact: bool = True
) -> None:
    """What was predicted is there, and what is there was predicted."""
    rows = {row["capability"]: row for row in surface if row["host"] == driver.id}
    assert set(rows) >= set(OURS), surface
    for capability in OURS:
        ours, others = tools_for(driver, capability)
        states = {row["tool"]: row["state"] for row in rows[capability][when]}
        certain = {tool for tool, state in states.items() if state == "offered"}
        for variant, request in asked.items():
            seen = request.tools & (others | {ours})
            where = f"{capability}, {variant}: predicted {states}, in the request {sorted(seen)}"
            assert certain <= request.tools, f"predicted, but not offered: {where}"
            assert not exact or seen <= states.keys(), f"offered, but not predicted: {where}"


def judge_pending(driver: Driver, surface: list[dict[str, Any]], asked: Mapping[str, Asked]) -> None:
    """What waits for the user's trust is said to wait, and codex really leaves it out."""
    for row in surface:
        ours, _ = tools_for(driver, row["capability"])
        assert {tool["tool"]: tool["state"] for tool in row["after"]}.get(ours) == "pending", surface
        for request in asked.values():
            assert driver.id != "codex" or ours not in request.tools


def judge_listing(driver: Driver, cell: Cell, hostconf: Hostconf, surface: list[dict[str, Any]]) -> None:
    """The host lists every server whose tools were predicted, as enabled; and the neutral one."""
    listed = driver.listing(hostconf.home, hostconf.project)
    expected = {"notes"}
    for row in surface:
        expected |= {tool["registration"] for tool in row["after"] if tool["state"] == "offered"}
    for name in expected - {""}:
        assert listed.get(name, {}).get("enabled") is True, f"{name} is not enabled: {listed}"
        assert listed[name].get("approved", True), f"{name} waits for approval: {listed}"
    if not cell.trusted:
        ours = listed.get("deepseek")
        assert ours is None or ours["approved"] is False, listed


def judge_rules(driver: Driver, cell: Cell, files: list[str], asked: Mapping[str, Asked]) -> None:
    """Preferred: what our rules say of the tool has reached the model."""
    for capability, tier in cell.tiers.items():
        if tier != "preferred":
            continue
        ours, _ = tools_for(driver, capability)
        lines = [
            line.strip()
            for path in files
            if path.endswith(".md") and Path(path).exists()
            for line in Path(path).read_text(encoding="utf-8").splitlines()
            if ours in line and "<!--" not in line
        ]
        assert lines, f"no rules file names {ours}: {files}"
        for variant, request in asked.items():
            for line in lines:
                assert line in request.text, f"{variant}: the model never reads {line!r}"


@pytest.mark.parametrize("rival", ["user", "project"])
@pytest.mark.parametrize("host", ["opencode", "claude", "codex"])
def test_what_is_there_before(
    host: str, rival: Rival, driver_of: Callable[[str], Driver], host_home: Path, project: Path
) -> None:
    """The survey sees what the host offers before anything is done: its own tools, and the rival's."""
    PREPARE[host](host_home, project, rival, True)
    driver = driver_of(host)
    asked = driver.ask(host_home, project, driver.variants[-1])
    for request in asked.values():
        for capability in OURS:
            ours, others = tools_for(driver, capability)
            assert others <= request.tools, f"the field is not as it should be: {sorted(request.tools)}"
            assert ours not in request.tools
    plan = Hostconf(host_home, project)("plan", INTEGRATION, "--host", host, "--scope", rival, "--tier", "optional")
    assert plan.code == 0, plan.raw
    judge_prediction(driver, plan.data["surface"], "before", asked)


@pytest.mark.parametrize("cell", list(cells()), ids=str)
def test_cell(
    cell: Cell,
    driver_of: Callable[[str], Driver],
    host_home: Path,
    project: Path,
    record_property: Callable[[str, object], None],
) -> None:
    hostconf = Hostconf(host_home, project)
    PREPARE[cell.host](host_home, project, cell.rival, cell.trusted)
    first = tree(host_home, project)

    def verdict(text: str) -> None:
        record_property("cell", json.dumps([cell.host, cell.scope, cell.field, cell.wish, text]))

    verdict("not planned")
    plan = hostconf("plan", *hostconf.choice(cell))
    assert tree(host_home, project) == first, "plan has written something"
    if plan.code == 3:
        verdict(f"refused: {hostconf.reason(plan)}")
        assert hostconf("apply", *hostconf.choice(cell), "--yes").code == 3
        assert tree(host_home, project) == first, "a refused apply has written something"
        assert must_be_refused(cell), f"could be delivered, but was refused: {hostconf.reason(plan)}"
        return
    assert plan.code == 0, plan.raw
    verdict("planned")
    if cell.host == "codex" and cell.search == "forced" != cell.fetch:
        # one switch for both: search alone may be forced, but what it takes with it has to be said before
        assert "web fetch" in " ".join(plan.data["blast_radius"]), plan.raw
    assert not must_be_refused(cell), f"cannot be delivered, but was planned: {plan.raw}"

    applied = hostconf("apply", *hostconf.choice(cell), "--yes")
    assert applied.code == 0, applied.raw
    verdict("applied")
    files = [str(file["path"]) for file in plan.data["files"]]
    assert changed(first, tree(host_home, project)) == set(files), "the plan names other files than apply has changed"

    driver = driver_of(cell.host)
    # opencode takes 8 s a start: with its gate closed it is asked once a tier and scope
    quick = cell.host == "opencode" and (cell.search != cell.fetch or cell.rival != cell.scope)
    asked = driver.ask(host_home, project, *(("exa",) if quick else ()))
    if cell.trusted:
        judge_tiers(driver, cell, asked)
        judge_rules(driver, cell, files, asked)
    else:
        judge_pending(driver, plan.data["surface"], asked)
    # `claude -p` takes what waits for approval all the same: there a request holds more than the screen would give.
    judge_prediction(driver, plan.data["surface"], "after", asked, exact=cell.trusted)
    judge_listing(driver, cell, hostconf, plan.data["surface"])

    gone = hostconf("uninstall", INTEGRATION, "--host", cell.host, "--scope", cell.scope, "--yes")
    assert gone.code == 0, gone.raw
    assert tree(host_home, project) == first, "uninstall has not given back what was there"
    verdict(f"proved by request ({', '.join(asked)}) and listing")
