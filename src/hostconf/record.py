"""Install records and owner claims as bytes and back: what we wrote, and what stood there before.

Pure. A record holds snapshots of replaced values, appended entries, created files and
created path prefixes; never whole files, and never another server's secrets: what may
hold one goes into a vault, a second file beside it, 0600 and gone at uninstall.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from hostconf.errors import RecordUnreadable
from hostconf.formats.base import MISSING, Hunk, KeyPath
from hostconf.model import Environment

FORMAT = 1
CLAIM = ".hostconf-owner.json"
"""How the name of a claims file ends."""


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
    return hashlib.sha256(f"{state}\0{host}\0{scope}\0{integration}".encode("utf-8", "surrogateescape")).hexdigest()[
        :24
    ]


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
    return f"{beside}/{real.rpartition('/')[2]}{CLAIM}"


def portable(path: str, environment: Environment, scope: str) -> str:
    """A path that still holds when home or project move.

    Of the two only the one that the scope is about: a home may lie in a project, and the
    records of a user are read from every project.
    """
    name, root = _root(environment, scope)
    if root and (path == root or path.startswith(root.rstrip("/") + "/")):
        return name + path[len(root.rstrip("/")) :]
    return path


def local(path: str, environment: Environment, scope: str) -> str:
    """The reverse of `portable`."""
    name, root = _root(environment, scope)
    if root and (path == name or path.startswith(name + "/")):
        return root.rstrip("/") + path[len(name) :]
    return path


def _root(environment: Environment, scope: str) -> tuple[str, str | None]:
    return ("{home}", environment.home) if scope == "user" else ("{project}", environment.project)


# ------------------------------------------------------------------ writing


def dump_record(record: Record, environment: Environment) -> tuple[bytes, bytes | None]:
    """The bytes of the record and of its vault; None where nothing has to go there."""
    vault: dict[str, Any] = {}
    files = []
    for number, file in enumerate(record.files):
        guarded = any(o.vaulted for o in file.operations)
        steps = []
        for step_number, step in enumerate(file.steps):
            hunks: list[list[Any]] = []
            for hunk_number, hunk in enumerate(step):
                hunks.append([hunk.start, hunk.old, len(hunk.new)])
                if hunk.old and guarded:
                    vault[f"text:{number}.{step_number}.{hunk_number}"] = hunk.old
                    hunks[-1][1] = None
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
                "path": portable(file.path, environment, record.scope),
                "format": file.format,
                "existed": file.existed,
                "blank": file.blank,
                "folders": [portable(f, environment, record.scope) for f in file.folders],
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
        "folders": [portable(f, environment, record.scope) for f in record.folders],
        "files": files,
    }
    return _bytes(data), _bytes({"format": FORMAT, "id": record.id, **vault}) if vault else None


def _bytes(data: Any) -> bytes:
    # a date of a TOML file has no spelling in JSON
    return (json.dumps(data, indent=1, ensure_ascii=True, default=lambda v: {_DATE: v.isoformat()}) + "\n").encode()


_DATE = "hostconf:date"


def _dated(row: dict[str, Any]) -> Any:
    if row.keys() != {_DATE}:
        return row
    import tomllib

    return tomllib.loads(f"date = {row[_DATE]}")["date"]


def dump_claims(claims: Sequence[Mapping[str, Any]]) -> bytes:
    """The bytes of a claims file."""
    return _bytes({"format": FORMAT, "claims": list(claims)})


# ------------------------------------------------------------------ reading

_CORRUPT = "look at it, or put back a copy; taken out of the way, what it covers counts as written by hand"
_KINDS = ("set", "append")
_FORMATS = ("json", "jsonc", "toml", "yaml", "markdown")
_HASH = re.compile(r"([0-9a-f]{64})?")


def _load(data: bytes, path: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(data, object_hook=_dated)
    except (ValueError, RecursionError):
        raise RecordUnreadable(f"the {what} `{path}` is corrupt", hint=_CORRUPT, path=path) from None
    number = value.get("format") if isinstance(value, dict) else None
    if type(number) is not int or number < 1:
        raise RecordUnreadable(f"the {what} `{path}` is corrupt", hint=_CORRUPT, path=path)
    if number > FORMAT:
        raise RecordUnreadable(
            f"the {what} `{path}` was written by a newer hostconf (format {number})",
            hint="use that hostconf: this one leaves it alone",
            path=path,
        )
    assert isinstance(value, dict)
    return value


class _Row:
    """One table of a record: gives values of the type asked for, and nothing else."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise ValueError("no table")
        self.value = value

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        found = self.value.get(key, default)
        if type(found) is not kind:
            raise ValueError(key)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        found = self.get(key, list, [])
        if not all(isinstance(item, str) for item in found):
            raise ValueError(key)
        return tuple(found)

    def named(self, key: str) -> dict[str, str]:
        found: dict[str, str] = self.get(key, dict)
        if not all(isinstance(item, str) for item in found.values()):
            raise ValueError(key)
        return found

    def rows(self, key: str) -> list[_Row]:
        return [_Row(item) for item in self.get(key, list)]

    def at(self, key: str, value: Any = None) -> KeyPath:
        found = self.get(key, list) if value is None else value
        if not isinstance(found, list) or not all(type(step) in (str, int) for step in found):
            raise ValueError(key)
        return tuple(found)


def load_record(data: bytes, vault: bytes | None, path: str, environment: Environment, scope: str) -> Record:
    """The record in these bytes.

    Args:
        scope: of the folder in which it lies. What a project brings along speaks for files of that project alone.

    Raises:
        RecordUnreadable: corrupt, of a newer format, not of this place, or its vault is missing. Nothing is decided
            on such a record.
    """
    value = _load(data, path, "install record")
    hidden = _load(vault, vault_path(path), "vault") if vault is not None else None
    try:
        row = _Row(value)
        record = Record(
            id=row.get("id", str),
            integration=row.get("integration", str),
            host=row.get("host", str),
            scope=row.get("scope", str),
            path=row.get("path", str),
            tiers=row.named("tiers"),
            server=row.get("server", str),
            package=row.get("package", str),
            environment=row.texts("environment"),
            knobs=row.named("knobs"),
            accepted=row.texts("accepted"),
            installed=row.get("installed", str),
            tool=row.get("tool", str),
            files=tuple(
                _file(number, item, hidden, environment, scope) for number, item in enumerate(row.rows("files"))
            ),
            folders=tuple(local(f, environment, scope) for f in row.texts("folders")),
        )
    except LookupError:
        raise RecordUnreadable(
            f"`{vault_path(path)}` is missing, or lacks what the install record beside it counts on",
            hint="it holds what hostconf put aside: put it back",
            path=vault_path(path),
        ) from None
    except (TypeError, ValueError):
        raise RecordUnreadable(f"the install record `{path}` is corrupt", hint=_CORRUPT, path=path) from None
    _check_place(record, path, environment, scope)
    return record


def _check_place(record: Record, path: str, environment: Environment, scope: str) -> None:
    """A record that a checkout brought may not have files edited elsewhere."""

    def refuse(why: str) -> NoReturn:
        raise RecordUnreadable(f"the install record `{path}` {why}", hint=_CORRUPT, path=path)

    if record.scope != scope or path != record_path(environment, scope, record.host, record.integration):
        refuse("is not of this place")
    inside = f"{environment.project}/" if scope == "project" else "/"
    for place in (*record.folders, *(p for f in record.files for p in (f.path, *f.folders))):
        if not place.startswith(inside) or any(part in ("", ".", "..") for part in place[1:].split("/")):
            refuse(f"names `{place}`, which is outside of the project" if scope == "project" else "is corrupt")


def _file(
    number: int, row: _Row, hidden: Mapping[str, Any] | None, environment: Environment, scope: str
) -> RecordedFile:
    operations = []
    for op_number, item in enumerate(row.rows("operations")):
        prior = _Row(item.get("prior", dict, {"absent": True}))
        vaulted = "vault" in prior.value
        if vaulted and hidden is None:
            raise LookupError
        kind = item.get("kind", str)
        operations.append(
            Recorded(
                kind=kind,
                at=item.at("at"),
                written=item.get("written", str, ""),
                items=tuple(item.get("items", list, [])),
                prior=(hidden or {})[f"value:{number}.{op_number}"] if vaulted else prior.value.get("value", MISSING),
                vaulted=vaulted,
                created=tuple(item.at("created", p) for p in item.get("created", list, [])),
                last=item.get("last", bool, False),
                why=item.get("why", str, ""),
            )
        )
        if kind not in _KINDS or not operations[-1].at:
            raise ValueError("kind")
    steps = [
        tuple(_hunk(hunk, hidden, f"text:{number}.{nth}.{part}") for part, hunk in enumerate(step))
        for nth, step in enumerate(row.get("steps", list))
    ]
    before, after, format_name = row.get("before", str), row.get("after", str), row.get("format", str)
    if format_name not in _FORMATS or not (_HASH.fullmatch(before) and _HASH.fullmatch(after)):
        raise ValueError("format")
    return RecordedFile(
        path=local(row.get("path", str), environment, scope),
        format=format_name,
        existed=row.get("existed", bool),
        blank=row.get("blank", bool, False),
        folders=tuple(local(f, environment, scope) for f in row.texts("folders")),
        before=before,
        after=after,
        steps=tuple(steps),
        operations=tuple(operations),
    )


def _hunk(value: Any, hidden: Mapping[str, Any] | None, key: str) -> Hunk:
    start, old, length = value
    if old is None:
        if hidden is None:
            raise LookupError
        old = hidden[key]
    if not (
        type(start) is int and isinstance(old, str) and type(length) is int and start >= 0 and 0 <= length <= 1 << 20
    ):
        raise ValueError("step")
    return Hunk(start, old, " " * length)


def load_claims(data: bytes, path: str) -> tuple[dict[str, Any], ...]:
    """The claims in these bytes. Raises RecordUnreadable: such a file counts as somebody else's."""
    value = _load(data, path, "owner claim")
    claims = value.get("claims")
    if not isinstance(claims, list) or not all(isinstance(c, dict) and isinstance(c.get("at"), list) for c in claims):
        raise RecordUnreadable(f"the owner claim `{path}` is corrupt", hint=_CORRUPT, path=path)
    return tuple(claims)
