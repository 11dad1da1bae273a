"""Asking programs: the hosts what they load, the registry for a version. The only room that starts a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.errors import Refused
from hostconf.hosts.dialect import normalise
from hostconf.hosts.schema import Host, Verify
from hostconf.model import Environment, OperationResult, Survey
from hostconf.workflow.gather import open_house
from hostconf.workflow.look import surveys


class Ran(NamedTuple):
    """What a program said."""

    code: int
    out: str
    err: str
    problem: str


def run(words: Sequence[str], environment: Environment, extra: Mapping[str, str], seconds: int) -> Ran:
    """Run a program in the project folder with the user's own variables. Never raises for what it does."""
    variables = {**environment.variables, **extra, "HOME": environment.home}
    if not environment.host_variables:
        variables = {
            k: v
            for k, v in variables.items()
            if k not in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME") and not k.startswith("OPENCODE_CONFIG")
        }
    folder = environment.folders[-1] if environment.folders else environment.home
    try:
        done = subprocess.run(
            list(words),
            env=variables,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(-1, "", "", f"`{words[0]}` gave no answer in {seconds} seconds")
    except OSError as error:
        return Ran(-1, "", "", f"`{words[0]}` cannot be started: {error.strerror}")
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), "")


def newest_version(package: str, environment: Environment) -> str:
    """The package reference with its newest version, as the registry tells it.

    Raises:
        Refused: the registry does not know it, or cannot be asked.
    """
    ran = run(["npm", "view", package, "version"], environment, {}, 60)
    version = ran.out.strip()
    if ran.code != 0 or not version:
        raise Refused(
            f"the version of `{package}` cannot be found out" + (f": {ran.problem}" if ran.problem else ""),
            code="no-version",
            hint="`--package NAME@VERSION` names it",
        )
    return f"{package}@{version}"


def verify(environment: Environment, names: Sequence[str]) -> OperationResult:
    """See `hostconf.workflow.verify`."""
    house = open_house(environment)
    rows, found = surveys(house, names)
    answers = []
    wrong = False
    for row in rows:
        host = next(h for h in house.hosts if h.id == row.host)
        program = found.workspace.snapshot.programs.get(row.host, "")
        answer = _ask(host, row, program, environment)
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


def _ask(host: Host, row: Survey, program: str, environment: Environment) -> dict[str, Any]:
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
    ran = run(words, environment, host.verify.environment, host.verify.seconds)
    answer["command"] = list(host.verify.run)
    if ran.problem or ran.code != 0:
        from hostconf.display import mask_text

        said = ran.problem or mask_text(
            next(iter(ran.err.strip().splitlines() or ran.out.strip().splitlines()), ""), "markdown"
        )
        return {
            **answer,
            "verdict": "differs" if not ran.problem else "cannot",
            "message": f"the host stopped: {said}",
            "differences": [f"the host does not start with this configuration: {said}"] if not ran.problem else [],
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
        "registrations": [{"name": n, "enabled": e} for n, e in listed.items()],
        "tools": list(tools or ()),
    }


def parse_answer(verify: Verify, out: str) -> tuple[dict[str, bool], tuple[str, ...] | None]:
    """Registrations with whether they are on, and the tool ids where the host tells them. Raises ValueError."""
    text = (
        next((line for line in out.splitlines() if line.startswith("{")), "") if verify.reads == "first-line" else out
    )
    value = json.loads(text)
    servers: Any = value
    for key in verify.servers:
        servers = servers.get(key, {}) if isinstance(servers, dict) else {}
    listed: dict[str, bool] = {}
    items = (
        servers.items()
        if isinstance(servers, dict)
        else [(s.get(verify.name), s) for s in servers if isinstance(s, dict)]
    )
    for name, item in items:
        on = item.get(verify.enabled, True) if verify.enabled and isinstance(item, dict) else True
        if isinstance(item, dict) and item.get("status") in ("disabled", "needs-approval"):
            on = False
        listed[str(name)] = bool(on)
    tools: Any = value if verify.tools else None
    for key in verify.tools:
        tools = tools.get(key) if isinstance(tools, dict) else None
    return listed, tuple(str(t) for t in tools) if isinstance(tools, list) else None


def compare(host: Host, row: Survey, listed: Mapping[str, bool], tools: Sequence[str] | None) -> list[str]:
    """Where the host's word and the survey differ, in sentences."""
    said = []
    for registration in row.registrations:
        if not registration.wins or registration.state == "pending":
            continue
        on = listed.get(registration.name, listed.get(normalise(host, registration.name)))
        if registration.enabled and on is None:
            said.append(f"`{registration.name}` should be loaded, and the host does not list it")
        elif registration.enabled and not on:
            said.append(f"`{registration.name}` should be on, and the host says it is off")
        elif not registration.enabled and on and host.verify is not None and host.verify.enabled:
            said.append(f"`{registration.name}` should be off, and the host says it is on")
    if tools is not None:
        own = {t.id for t in host.tools}
        expected = {
            t.tool for tools_ in row.surface.values() for t in tools_ if t.provider == "host" and t.state == "offered"
        }
        for tool in sorted(own & set(tools) - expected):
            said.append(f"`{tool}` should be gone, and the host offers it")
        for tool in sorted(expected - set(tools)):
            said.append(f"`{tool}` should be offered, and the host does not have it")
    return said
