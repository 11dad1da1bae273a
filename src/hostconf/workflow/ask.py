"""Asking programs: the hosts what they load, the registry for a version. The only room that starts a process."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import IO, Any, NamedTuple, cast

from hostconf.display import mask_text
from hostconf.errors import Refused
from hostconf.hosts.dialect import normalise, tool_id
from hostconf.hosts.schema import Host, Verify
from hostconf.model import Environment, OperationResult, Survey
from hostconf.workflow.gather import open_house
from hostconf.workflow.look import surveys

LIMIT = 8 * 1024 * 1024
"""Bytes of each stream that are kept; what comes after them is thrown away."""
_GRACE = 1.0
"""Seconds for the last words of a program that has ended while something it started still holds its streams."""


class Ran(NamedTuple):
    """What a program said."""

    code: int
    out: str
    err: str
    problem: str


def run(
    words: Sequence[str],
    environment: Environment,
    extra: Mapping[str, str],
    seconds: float,
    without: Collection[str] = (),
    unless: Callable[[], bool] = lambda: False,
) -> Ran:
    """Run a program in the project folder with the user's own variables. Never raises for what it does.

    What it starts ends with it: a host starts servers, and one of them may hang.

    Args:
        without: variables that it does not get where `--home` was given.
        unless: asked all the while; once it says yes, the program is ended.
    """
    variables = {k: v for k, v in environment.variables.items() if environment.host_variables or k not in without}
    variables |= {**extra, "HOME": environment.home}
    folder = environment.folders[-1] if environment.folders else environment.home
    try:
        process = subprocess.Popen(
            list(words),
            env=variables,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ran(-1, "", "", f"`{words[0]}` cannot be started: {getattr(error, 'strerror', None) or error}")
    with process:
        heard = _Heard("", "", False)
        try:
            heard = _listen(process, seconds, unless)
        finally:
            if not heard.alone:
                _end(process)
    if unless():
        return Ran(-1, heard.out, heard.err, f"`{words[0]}` was ended: nobody waits for its answer")
    if not heard.ended:
        return Ran(-1, heard.out, heard.err, f"`{words[0]}` gave no answer in {seconds:g} seconds")
    return Ran(process.returncode or 0, heard.out, heard.err, "")


class _Heard(NamedTuple):
    out: str
    err: str
    ended: bool
    """Whether the program ended by itself."""
    alone: bool = False
    """Whether nobody it started holds its streams any more: then its number may soon be another's."""


def _listen(process: subprocess.Popen[bytes], seconds: float, unless: Callable[[], bool]) -> _Heard:
    """Both streams until they end, or until the program has ended and a moment more."""
    import selectors
    import time

    assert process.stdout is not None and process.stderr is not None
    kept = {process.stdout: bytearray(), process.stderr: bytearray()}
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < end and not unless():
            for key, _ in selector.select(0.05):
                stream = cast("IO[bytes]", key.fileobj)
                part = stream.read1(65536)  # type: ignore[attr-defined]
                if not part:
                    selector.unregister(stream)
                kept[stream] += part[: max(0, LIMIT - len(kept[stream]))]
            if process.poll() is not None:
                end = min(end, time.monotonic() + _GRACE)
        silent = not selector.get_map()
    while process.poll() is None and time.monotonic() < end and not unless():
        time.sleep(0.01)
    out, err = (bytes(data).decode("utf-8", "replace") for data in kept.values())
    ended = process.poll() is not None
    return _Heard(out, err, ended, ended and silent)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started: it has a group of its own."""
    import os
    import signal

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def moving(host: Host) -> frozenset[str]:
    """The variables that the host's file names: they move or change what it reads."""
    found: set[str] = set()

    def walk(value: Any, name: str = "") -> None:
        if isinstance(value, str):
            found.update(_NAMED.findall(value) if name not in _NAMES else [value])
        elif isinstance(value, tuple):
            names = getattr(value, "_fields", [name] * len(value))
            for field, item in zip(names, value, strict=True):
                walk(item, field)
        elif isinstance(value, Mapping):
            for item in value.values():
                walk(item)

    walk(host)
    return frozenset(found - {""})


_NAMES = ("variable", "unless_variable", "config_home_variable", "gate")
_NAMED = re.compile(r"\{variable:(\w+)\}")
_VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def newest_version(package: str, environment: Environment) -> str:
    """The package reference with its newest version, as the registry tells it.

    Raises:
        Refused: the registry does not know it, or cannot be asked.
    """
    ran = run(["npm", "view", package, "version"], environment, {}, 60)
    version = ran.out.strip()
    if ran.code != 0 or not _VERSION.fullmatch(version):
        raise Refused(
            f"the version of `{package}` cannot be found out" + (f": {ran.problem}" if ran.problem else ""),
            code="no-version",
            hint="`--package NAME@VERSION` names it",
        )
    return f"{package}@{version}"


def verify(environment: Environment, names: Sequence[str], unless: Callable[[], bool]) -> OperationResult:
    """See `hostconf.workflow.verify`."""
    house = open_house(environment)
    rows, found = surveys(house, names)
    answers = []
    wrong = False
    for row in rows:
        if unless():
            break
        host = next(h for h in house.hosts if h.id == row.host)
        program = found.workspace.snapshot.programs.get(row.host, "")
        answer = _ask(host, row, program, environment, unless)
        wrong = wrong or answer["verdict"] == "differs"
        answers.append(answer)
    return OperationResult(
        "verify",
        1 if wrong else 0,
        {"hosts": answers},
        () if answers else ("none of the known hosts is there",),
        (),
        wrong,
    )


def _ask(host: Host, row: Survey, program: str, environment: Environment, unless: Callable[[], bool]) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "id": host.id,
        "name": host.name,
        "program": program,
        "command": [],
        "verdict": "not-installed",
        "differences": [],
        "registrations": [],
        "tools": [],
        "message": "",
    }
    if not program:
        return {**answer, "message": f"`{host.commands[0]}` is not on the PATH, so it cannot be asked"}
    if host.verify is None:
        return {**answer, "verdict": "cannot", "message": "this host has no command that tells"}
    words = [program, *host.verify.run[1:]]
    ran = run(words, environment, host.verify.environment, host.verify.seconds, moving(host), unless)
    answer["command"] = list(host.verify.run)
    if ran.problem:
        return {**answer, "verdict": "cannot", "message": ran.problem}
    if ran.code != 0:
        said = mask_text(
            next((x for x in (ran.err + "\n" + ran.out).splitlines() if x.strip()), "").strip(), "markdown"
        )
        why = said or f"exit code {ran.code}"
        return {
            **answer,
            "verdict": "differs",
            "message": f"the host stopped: {why}",
            "differences": [f"the host does not start with this configuration: {why}"],
        }
    try:
        listed, tools = parse_answer(host.verify, ran.out)
    except ValueError:
        return {**answer, "verdict": "cannot", "message": "the host's answer is not of the form that was expected"}
    differences = compare(host, row, listed, tools)
    return {
        **answer,
        "verdict": "differs" if differences else "agrees",
        "differences": differences,
        "registrations": [{"name": name, "enabled": one.on} for name, one in listed.items()],
        "tools": list(tools or ()),
    }


class Listed(NamedTuple):
    """One registration by the host's word."""

    on: bool
    status: str = ""
    """Where the host started it: how it is."""


def parse_answer(verify: Verify, out: str) -> tuple[dict[str, Listed], tuple[str, ...] | None]:
    """Registrations by name, and the tool ids where the host tells them. Raises ValueError."""
    text = out
    if verify.reads == "first-line":
        text = next((line for line in out.splitlines() if line.startswith("{")), "")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    servers = _at(value, verify.servers)
    items: list[tuple[Any, Any]]
    if isinstance(servers, list):
        items = [(s.get(verify.name), s) for s in servers if isinstance(s, dict)]
    elif isinstance(servers, dict):
        items = list(servers.items())
    elif servers is None and isinstance(value, dict) and verify.servers and verify.reads == "json":
        items = []  # no server at all: then the key is not there
    else:
        raise ValueError("no servers")
    listed = {}
    for name, item in items:
        row = item if isinstance(item, dict) else {}
        on = row.get(verify.enabled, True) if verify.enabled else True
        status = row.get("status")
        status = status if isinstance(status, str) else ""
        listed[str(name)] = Listed(bool(on) and status not in ("disabled", "needs-approval"), status)
    tools = _at(value, verify.tools) if verify.tools else None
    return listed, tuple(str(t) for t in tools) if isinstance(tools, list) else None


def _at(value: Any, at: Sequence[str]) -> Any:
    for key in at:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def compare(host: Host, row: Survey, listed: Mapping[str, Listed], tools: Sequence[str] | None) -> list[str]:
    """Where the host's word and the survey differ, in sentences."""
    said = []
    offered = {t.tool for tools_ in row.surface.values() for t in tools_ if t.state == "offered" and not t.strength}
    for registration in row.registrations:
        if not registration.wins or registration.state != "offered":
            continue
        name = registration.name
        one = listed.get(name) or listed.get(normalise(host, name))
        start = tool_id(host, name, "")
        seen = [t for t in tools or () if t.startswith(start)]
        if not registration.enabled:
            # a server whose tools are all denied is listed all the same
            if one is not None and one.on and (seen or tools is None):
                said.append(f"`{name}` should be off, and the host says it is on")
        elif one is None:
            said.append(f"`{name}` should be loaded, and the host does not list it")
        elif not one.on:
            said.append(f"`{name}` should be on, and the host says it is off")
        elif one.status in ("failed", "needs-auth"):
            if registration.capabilities:
                said.append(f"`{name}` is on, and the host could not start it ({one.status}): it brings no tool")
        else:
            own = {tool_id(host, name, raw) for _, raw in registration.tools if raw != "*"}
            said += [f"`{t}` should be gone, and the host offers it" for t in seen if t in own and t not in offered]
    if tools is not None:
        expected = {t for t in offered if t in {x.id for x in host.tools}}
        said += [
            f"`{tool}` should be gone, and the host offers it"
            for tool in sorted({t.id for t in host.tools} & set(tools) - expected)
        ]
        said += [f"`{tool}` should be offered, and the host does not have it" for tool in sorted(expected - set(tools))]
    return said
