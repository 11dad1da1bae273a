"""Install records and owner claims as bytes and back: what we wrote, and what stood there before.

Pure. A record holds snapshots of replaced values, appended entries, created files and
created path prefixes; never whole files, and never another server's secrets: what may
hold one goes into a vault, a second file beside it, 0600 and gone at uninstall.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hostconf.errors import RecordUnreadable
from hostconf.formats.base import MISSING, Hunk, KeyPath
from hostconf.model import Environment

FORMAT = 1


class Recorded(NamedTuple):
    """One operation as it was carried out."""

    kind: str
    at: KeyPath
    written: str
    """`set`: fingerprint of the value. Empty for `append`."""
    items: tuple[Any, ...]
    """`append`: what was appended."""
    prior: Any
    """`set`: the value before, MISSING for none. With `vaulted` it stands in the vault."""
    vaulted: bool
    created: tuple[KeyPath, ...]
    """Path prefixes that were not there before, outermost first."""
    last: bool
    why: str


class RecordedFile(NamedTuple):
    """One file of the user as an install left it."""

    path: str
    format: str
    existed: bool
    blank: bool
    """Whether it existed without a byte of content."""
    folders: tuple[str, ...]
    """Folders made for it, outermost first."""
    before: str
    after: str
    """SHA-256 of the bytes, empty for an absent file."""
    steps: tuple[tuple[Hunk, ...], ...]
    """What was done, in order. `new` holds blanks of the right length: the text itself stands in the file."""
    operations: tuple[Recorded, ...]


class Record(NamedTuple):
    """One finished install: one integration on one host at one scope."""

    id: str
    integration: str
    host: str
    scope: str
    path: str
    tiers: Mapping[str, str]
    server: str
    package: str
    environment: tuple[str, ...]
    knobs: Mapping[str, str]
    accepted: tuple[str, ...]
    installed: str
    tool: str
    files: tuple[RecordedFile, ...]
    folders: tuple[str, ...] = ()
    """Folders that were made for the records, outermost first: they go with the last record."""


def fingerprint(value: Any) -> str:
    """A hash that tells whether a value is still what was written; order of keys does not count."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def sha(data: bytes | None) -> str:
    """SHA-256 of the bytes; empty for an absent file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def record_id(state: str, host: str, scope: str, integration: str) -> str:
    """An opaque name for an installation: it tells two state folders apart and nothing of the machine."""
    return hashlib.sha256(f"{state}\0{host}\0{scope}\0{integration}".encode()).hexdigest()[:24]


# ------------------------------------------------------------------ places


def state_folder(environment: Environment, scope: str) -> str:
    """Where the records of a scope lie."""
    return environment.state if scope == "user" else f"{environment.project}/.hostconf"


def record_path(environment: Environment, scope: str, host: str, integration: str) -> str:
    """The file of one record."""
    return f"{state_folder(environment, scope)}/records/{host}.{integration}.json"


def vault_path(record: str) -> str:
    """The file beside a record that holds what may be secret."""
    return record.removesuffix(".json") + ".vault"


def claim_path(real: str, beside: str) -> str:
    """The file that says who owns which entry of a config file."""
    return f"{beside}/{real.rpartition('/')[2]}.hostconf-owner.json"


def portable(path: str, environment: Environment) -> str:
    """A path that still holds when home or project move."""
    for name, root in (("{project}", environment.project), ("{home}", environment.home)):
        if root and (path == root or path.startswith(root.rstrip("/") + "/")):
            return name + path[len(root.rstrip("/")) :]
    return path


def local(path: str, environment: Environment) -> str:
    """The reverse of `portable`."""
    for name, root in (("{project}", environment.project), ("{home}", environment.home)):
        if path.startswith(name):
            return (root or "").rstrip("/") + path[len(name) :]
    return path


# ------------------------------------------------------------------ writing


def dump_record(record: Record, environment: Environment) -> tuple[bytes, bytes | None]:
    """The bytes of the record and of its vault; None where nothing has to go there."""
    vault: dict[str, Any] = {}
    files = []
    for number, file in enumerate(record.files):
        guarded = any(o.vaulted for o in file.operations)
        steps = []
        for step_number, step in enumerate(file.steps):
            hunks = []
            for hunk_number, hunk in enumerate(step):
                old = hunk.old
                if old and guarded:
                    vault[f"text:{number}.{step_number}.{hunk_number}"] = old
                    old = ""
                hunks.append([hunk.start, old, len(hunk.new)])
            steps.append(hunks)
        operations = []
        for op_number, op in enumerate(file.operations):
            row: dict[str, Any] = {"kind": op.kind, "at": list(op.at), "why": op.why}
            if op.kind == "append":
                row["items"] = list(op.items)
            else:
                row["written"] = op.written
                if op.vaulted:
                    vault[f"value:{number}.{op_number}"] = op.prior
                    row["prior"] = {"vault": True}
                elif op.prior is MISSING:
                    row["prior"] = {"absent": True}
                else:
                    row["prior"] = {"value": op.prior}
            if op.created:
                row["created"] = [list(p) for p in op.created]
            if op.last:
                row["last"] = True
            operations.append(row)
        files.append(
            {
                "path": portable(file.path, environment),
                "format": file.format,
                "existed": file.existed,
                "blank": file.blank,
                "folders": [portable(f, environment) for f in file.folders],
                "before": file.before,
                "after": file.after,
                "steps": steps,
                "operations": operations,
            }
        )
    data = {
        "format": FORMAT,
        "id": record.id,
        "integration": record.integration,
        "host": record.host,
        "scope": record.scope,
        "path": record.path,
        "tiers": dict(record.tiers),
        "server": record.server,
        "package": record.package,
        "environment": list(record.environment),
        "knobs": dict(record.knobs),
        "accepted": list(record.accepted),
        "installed": record.installed,
        "tool": record.tool,
        "folders": [portable(f, environment) for f in record.folders],
        "files": files,
    }
    return _bytes(data), _bytes({"format": FORMAT, "id": record.id, **vault}) if vault else None


def _bytes(data: Any) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=True) + "\n").encode()


def dump_claims(claims: Sequence[Mapping[str, Any]]) -> bytes:
    """The bytes of a claims file."""
    return _bytes({"format": FORMAT, "claims": list(claims)})


# ------------------------------------------------------------------ reading


def _load(data: bytes, path: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise RecordUnreadable(
            f"the {what} `{path}` is corrupt", hint="`hostconf doctor` tells what can be done", path=path
        ) from None
    if not isinstance(value, dict) or not isinstance(value.get("format"), int):
        raise RecordUnreadable(
            f"the {what} `{path}` is corrupt", hint="`hostconf doctor` tells what can be done", path=path
        )
    if value["format"] != FORMAT:
        raise RecordUnreadable(
            f"the {what} `{path}` was written by a newer hostconf (format {value['format']})",
            hint="use that hostconf: this one leaves it alone",
            path=path,
        )
    return value


def load_record(data: bytes, vault: bytes | None, path: str, environment: Environment) -> Record:
    """The record in these bytes.

    Raises:
        RecordUnreadable: corrupt, of a newer format, or its vault is missing. Nothing is decided on such a record.
    """
    value = _load(data, path, "install record")
    hidden = _load(vault, vault_path(path), "vault") if vault is not None else {}
    try:
        files = tuple(_file(number, item, hidden, environment) for number, item in enumerate(value["files"]))
        return Record(
            id=value["id"],
            integration=value["integration"],
            host=value["host"],
            scope=value["scope"],
            path=value["path"],
            tiers=value["tiers"],
            server=value["server"],
            package=value["package"],
            environment=tuple(value["environment"]),
            knobs=value["knobs"],
            accepted=tuple(value.get("accepted", ())),
            installed=value["installed"],
            tool=value["tool"],
            files=files,
            folders=tuple(local(f, environment) for f in value["folders"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RecordUnreadable(
            f"the install record `{path}` is corrupt", hint="`hostconf doctor` tells what can be done", path=path
        ) from None


def _file(number: int, item: Mapping[str, Any], hidden: Mapping[str, Any], environment: Environment) -> RecordedFile:
    operations = []
    guarded = any(row.get("prior", {}).get("vault") for row in item["operations"])
    for op_number, row in enumerate(item["operations"]):
        prior = row.get("prior", {"absent": True})
        value = (
            MISSING
            if "absent" in prior
            else hidden[f"value:{number}.{op_number}"]
            if "vault" in prior
            else prior["value"]
        )
        operations.append(
            Recorded(
                kind=row["kind"],
                at=tuple(row["at"]),
                written=row.get("written", ""),
                items=tuple(row.get("items", ())),
                prior=value,
                vaulted="vault" in prior,
                created=tuple(tuple(p) for p in row.get("created", ())),
                last=bool(row.get("last")),
                why=row.get("why", ""),
            )
        )
    steps = []
    for step_number, step in enumerate(item["steps"]):
        hunks = []
        for hunk_number, (start, old, length) in enumerate(step):
            key = f"text:{number}.{step_number}.{hunk_number}"
            hunks.append(Hunk(int(start), hidden[key] if guarded and key in hidden else str(old), " " * int(length)))
        steps.append(tuple(hunks))
    return RecordedFile(
        path=local(item["path"], environment),
        format=item["format"],
        existed=bool(item["existed"]),
        blank=bool(item.get("blank")),
        folders=tuple(local(f, environment) for f in item["folders"]),
        before=item["before"],
        after=item["after"],
        steps=tuple(steps),
        operations=tuple(operations),
    )


def load_claims(data: bytes, path: str) -> tuple[dict[str, Any], ...]:
    """The claims in these bytes. Raises RecordUnreadable: such a file counts as somebody else's."""
    value = _load(data, path, "owner claim")
    claims = value.get("claims")
    if not isinstance(claims, list) or not all(isinstance(c, dict) and isinstance(c.get("at"), list) for c in claims):
        raise RecordUnreadable(f"the owner claim `{path}` is corrupt", path=path)
    return tuple(claims)
