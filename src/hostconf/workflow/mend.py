"""Recover and doctor: what was left unfinished, and what is not as it should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from hostconf import __version__
from hostconf.environment import lock_wait
from hostconf.errors import UsageError
from hostconf.hosts.schema import Host
from hostconf.lock import SUFFIX as LOCK
from hostconf.lock import lock_path
from hostconf.model import Environment, OperationResult
from hostconf.plan.finish import whole_folder
from hostconf.record import CLAIM, claim_path, state_folder
from hostconf.recovery import carry_out_recovery, describe
from hostconf.survey.workspace import expand, layer_files
from hostconf.takeback import drift
from hostconf.workflow.gather import Gathered, House, gather, open_house


def _places(house: House, found: Gathered) -> tuple[list[str], list[str]]:
    """State folders, and the locks that may stand beside the hosts' files, their claims, rules files and records."""
    environment = house.environment
    states = [state_folder(environment, "user")]
    if environment.project is not None:
        states.append(state_folder(environment, "project"))
    locks: list[str] = []

    def beside(path: str, folder: str = "") -> None:
        real = found.workspace.state(path).real
        own = real.rpartition("/")[0]
        locks.append(lock_path(real, folder or own))
        locks.append(lock_path(claim_path(real, own), own))

    for host in house.hosts:
        for file in layer_files(host, found.workspace):
            if file.layer.scope in ("user", "project"):
                beside(file.path)
        for path in rules_targets(host, environment):
            whole = whole_folder(host, path, environment)
            beside(path, whole.rpartition("/")[0])
    for folder in (f"{state}/records" for state in states):
        locks += [f"{folder}/{name}" for name in house.system.names(folder) if name.endswith(LOCK)]
    return states, list(dict.fromkeys(locks))


def rules_targets(host: Host, environment: Environment) -> list[str]:
    """The rules files that hostconf may write on a host."""
    written = [r for r in host.rules if r.write]
    usual = [p for r in written for p in expand(r.write, host, environment)]
    # where the host takes only one file, a block goes into the one that it takes
    return usual + [p for r in written if r.pick == "first" for t in r.paths for p in expand(t, host, environment)[:1]]


def recover(
    environment: Environment,
    action: str | None,
    lock_id: str | None,
    *,
    yes: bool,
    on_step: Callable[[str], None] | None = None,
) -> OperationResult:
    """See `hostconf.workflow.recover`."""
    house = open_house(environment)
    found = gather(house, house.hosts, records=False)
    states, locks = _places(house, found)
    report = describe(house.system, states, locks)
    if action is None and not lock_id:
        code = 5 if report["needed"] else 0
        return OperationResult(
            "recover",
            code,
            report,
            () if code else ("nothing is unfinished, and no lock is left",),
            (
                {
                    "code": "recovery-needed",
                    "message": "something is unfinished or a lock is left",
                    "hint": "`hostconf recover --finish`, `--undo` or `--forget`; "
                    "a lock of an unknown owner needs `--lock-id`",
                    "path": None,
                    "line": None,
                    "column": None,
                },
            )
            if code
            else (),
        )
    if not report["needed"]:
        return OperationResult("recover", 0, report, ("nothing is unfinished, and no lock is left",))
    if not yes:
        raise UsageError("`recover` writes", hint="look at `hostconf recover` first, then give `--yes`")
    purpose = {
        "op": "recover",
        "scope": "user",
        "tool": f"hostconf {__version__}",
        "started": environment.now,
        "integration": "",
        "hosts": [],
    }
    done = carry_out_recovery(
        house.system,
        states,
        cast(Any, action),
        purpose=purpose,
        wait_seconds=lock_wait(environment.variables),
        lock_id=lock_id or "",
        locks=locks,
        on_step=on_step,
    )
    return OperationResult("recover", 0, {**describe(house.system, states, locks), "done": list(done)}, done)


def doctor(environment: Environment) -> OperationResult:
    """See `hostconf.workflow.doctor`."""
    house = open_house(environment)
    found = gather(house, house.hosts)
    rows = [*_state(house, found), *_records(found), *_facts(house, found), *_files(house, found)]
    bad = [r for r in rows if r["status"] == "fail"]
    return OperationResult(
        "doctor",
        1 if bad else 0,
        {"checks": rows, "platform": environment.platform, "state": environment.state},
        ("all is well",) if not [r for r in rows if r["status"] != "ok"] else (),
    )


def _row(check: str, status: str, text: str, hint: str = "", path: str = "") -> dict[str, Any]:
    return {"check": check, "status": status, "text": text, "hint": hint, "path": path}


def _state(house: House, found: Gathered) -> list[dict[str, Any]]:
    states, locks = _places(house, found)
    report = describe(house.system, states, locks)
    rows = [
        _row(
            "operations", "fail", f"an operation is unfinished: {o['reason']}", "`hostconf recover`", o["state_folder"]
        )
        for o in report["operations"]
    ]
    rows += [
        _row(
            "locks",
            "fail" if x["verdict"] != "LIVE" else "warn",
            f"a lock is there: {x['reason']}",
            "`hostconf recover`",
            x["path"],
        )
        for x in report["locks"]
    ]
    for state in states:
        status = house.system.status(state)
        if status is not None and status.mode & 0o077 and state == states[0]:
            rows.append(_row("state", "warn", f"`{state}` can be read by others", "its mode should be 0700", state))
        elif status is not None:
            rows.append(_row("state", "ok", f"records lie in `{state}`", "", state))
    return rows or [_row("state", "ok", "nothing is installed, nothing is unfinished")]


def _records(found: Gathered) -> list[dict[str, Any]]:
    rows = [_row("records", "fail", p.message, p.hint, p.path or "") for p in found.problems]
    for path, record in found.known.records.items():
        left = drift(record, found.workspace, [*found.known.records.values()])
        what = f"{record.integration} on {record.host} ({record.scope})"
        rows += [
            _row(
                "drift",
                "warn",
                f"{what}: `{'.'.join(map(str, d.at)) or d.path}`: {d.reason}",
                "apply again, or uninstall",
                d.path,
            )
            for d in left
        ]
        if not left:
            rows.append(_row("records", "ok", f"{what} is as it was written", "", path))
    mine = {r.id for r in found.known.records.values()}
    for where, claims in found.known.claims.items():
        for claim in claims:
            if claim.get("owner") not in mine:
                name = ".".join(map(str, claim["at"]))
                text = (
                    f"`{name}` of `{where.removesuffix(CLAIM)}` is owned by an installation that is not recorded here"
                )
                hint = f"uninstall it there; where its records are lost, remove `{where}`"
                rows.append(_row("claims", "warn", text, hint, where))
    return rows


def _facts(house: House, found: Gathered) -> list[dict[str, Any]]:
    rows = []
    for host in house.hosts:
        if host.id not in found.workspace.snapshot.programs:
            continue
        version = found.workspace.snapshot.versions.get(host.id, "")
        if version and _newer(version, host.checked_version):
            rows.append(
                _row(
                    "facts",
                    "warn",
                    f"{host.name} {version} is newer than the {host.checked_version} the facts were checked against",
                    f"`hostconf verify {host.id}` asks the program itself",
                )
            )
        elif version:
            rows.append(_row("facts", "ok", f"{host.name} {version}: facts checked against {host.checked_version}"))
        else:
            rows.append(_row("facts", "ok", f"{host.name} is installed; its version is not told without running it"))
    return rows


def _newer(version: str, checked: str) -> bool:
    def parts(text: str) -> Sequence[int]:
        return [int(p) if p.isdigit() else 0 for p in text.split("-")[0].split("+")[0].split(".")]

    return list(parts(version)) > list(parts(checked))


def _files(house: House, found: Gathered) -> list[dict[str, Any]]:
    rows = []
    for host in house.hosts:
        rows += _host_files(host, found)
    return rows


def _host_files(host: Host, found: Gathered) -> list[dict[str, Any]]:
    rows = []
    for file in layer_files(host, found.workspace):
        state = found.workspace.state(file.path)
        if state.kind == "absent" or file.layer.scope not in ("user", "project"):
            continue
        if state.kind != "file":
            rows.append(
                _row(
                    "files",
                    "fail",
                    f"`{state.path}` is no readable file: {state.problem or state.kind}",
                    "",
                    state.path,
                )
            )
        elif not state.writable:
            rows.append(_row("files", "warn", f"`{state.path}` cannot be written by this user", "", state.path))
        elif (
            file.layer.scope == "user"
            and (state.mode or 0) & 0o004
            and file.document is not None
            and _holds_values(file.document.get(()))
        ):
            rows.append(
                _row(
                    "files",
                    "warn",
                    f"`{state.path}` holds variables or headers of a server and can be read by others",
                    "its mode should be 0600",
                    state.path,
                )
            )
    return list({r["path"]: r for r in rows}.values())


def _holds_values(value: Any) -> bool:
    """Whether a literal value stands under `env`, `environment` or `headers` anywhere."""
    if isinstance(value, dict):
        for key, item in value.items():
            if (
                key in ("env", "environment", "headers", "http_headers")
                and isinstance(item, dict)
                and any(isinstance(v, str) and v and not v.startswith(("$", "{")) for v in item.values())
            ):
                return True
            if _holds_values(item):
                return True
    return isinstance(value, list) and any(_holds_values(v) for v in value)
