"""Values of a wrong type: what makes a host drop a file, a key or an entry, though the text can be read.

Pure. What is of the wrong type is said by the host's file; how much goes with it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hostconf.errors import FormatError
from hostconf.formats.base import MISSING, Document, KeyPath
from hostconf.hosts.dialect import TYPE_WORDS, entry_fault, is_of
from hostconf.hosts.schema import Host, Typed
from hostconf.survey.workspace import LayerFile

if TYPE_CHECKING:
    from hostconf.survey.view import View


class Found(NamedTuple):
    """One value of a wrong type."""

    typed: Typed | None
    at: KeyPath
    error: FormatError


def wrong_types(view: View) -> None:
    """Note the files that the host drops for what is in them, and the values that are void by themselves."""
    for file in view.files:
        document = file.document
        if document is None or file.path in view.dropped or not view.loads(file):
            continue
        question = f"types of {view.host.id} in {file.layer.id}"
        for found in view.workspace.once(document, question, partial(_faults, view.host, file, document)):
            if found.typed is not None and view.host.types_merged and _overridden(view, file, found.at):
                continue
            if found.typed is not None and not found.typed.whole:
                view.faults.append((file, found.error, found.typed.effect))
                view.void.add((file.path, found.at))
            else:
                view.dropped.setdefault(file.path, found.error)


def _overridden(view: View, file: LayerFile, at: KeyPath) -> bool:
    """Whether a stronger layer has the key: then nobody looks at this one."""
    for other in view.group(file.layer.group):
        if other is file:
            return False
        if other.document is not None and other.document.get(at) is not MISSING:
            return True
    return False


def _faults(host: Host, file: LayerFile, document: Document) -> tuple[Found, ...]:
    found: list[Found] = []
    if document.issues and (file.layer.format == "toml" or not document.text.strip()):
        found.append(Found(None, (), document.issues[0]))
    if not isinstance(document.get(()), dict):
        found.append(Found(None, (), _error(document, file, (), "the file has to hold an object at its root")))
        return tuple(found)
    for typed in host.types:
        if typed.group != file.layer.group or (typed.layers and file.layer.id not in typed.layers):
            continue
        for at, value in _values(document, typed):
            wrong = _wrong(typed, value)
            if wrong:
                text = f"`{'.'.join(map(str, at))}` {wrong}" + (f": {typed.text}" if typed.text else "")
                found.append(Found(typed, at, _error(document, file, at, text)))
    return tuple(found)


def _values(document: Document, typed: Typed) -> Iterator[tuple[KeyPath, Any]]:
    for at, value in walk_pattern(document, typed.at):
        if not typed.keys:
            yield at, value
        elif isinstance(value, dict):
            yield from (((*at, key), value[key]) for key in typed.keys if key in value)


def _wrong(typed: Typed, value: Any) -> str:
    if "absent" in typed.type.split("|"):
        return "must not be there"
    if typed.type and not is_of(value, typed.type):
        return f"has to be {' or '.join(TYPE_WORDS[word] for word in typed.type.split('|'))}"
    if typed.words and isinstance(value, str) and value not in typed.words:
        return f"has to be one of {', '.join(typed.words)}"
    return ""


def _error(document: Document, file: LayerFile, at: KeyPath, text: str) -> FormatError:
    span = document.where(at)
    return FormatError(
        text,
        path=file.path,
        line=span.line if span else 1,
        column=span.column if span else 1,
        code="wrong-type",
    )


def walk_pattern(document: Document, at: Sequence[str]) -> Iterator[tuple[KeyPath, Any]]:
    """The values that a key path with `*` finds: keys of tables and items of lists."""
    heads: list[KeyPath] = [()]
    for key in at:
        if key != "*":
            heads = [(*h, key) for h in heads]
            continue
        nxt: list[KeyPath] = []
        for head in heads:
            value = document.get(head)
            if isinstance(value, dict):
                nxt += [(*head, k) for k in value]
            elif isinstance(value, list):
                nxt += [(*head, n) for n in range(len(value))]
        heads = nxt
    for head in heads:
        value = document.get(head)
        if value is not MISSING:
            yield head, value


# ------------------------------------------------------------------ entries


class Entry(NamedTuple):
    """One entry of one layer before anything is made of it."""

    file: LayerFile
    name: str
    at: KeyPath
    raw: dict[str, Any]
    counts: bool


def find_entries(view: View) -> tuple[Entry, ...]:
    """The entries of all layers, the strongest layer first; also of layers that the host does not load."""
    found: list[Entry] = []
    spelling = view.host.registrations
    places = [at for template in spelling.at if (at := view.fill(template, {})) is not None]
    for file in view.files:
        if file.layer.group != spelling.group or file.document is None:
            continue
        own = spelling.at_layer.get(file.layer.id)
        tables = places if own is None else [at for at in (view.fill(own, {}),) if at is not None]
        for at in tables:
            table = file.document.get(at)
            for name, raw in table.items() if isinstance(table, dict) else ():
                # a table of entries inside another one is no entry
                if isinstance(raw, dict) and (*at, name) not in tables:
                    found.append(Entry(file, name, (*at, name), raw, view.counts(file)))
    return tuple(found)


def merge(entries: Sequence[Entry], name: str) -> dict[str, Any]:
    """The entry of a name as a host makes it that merges layers key by key, tables in it too."""
    merged: dict[str, Any] = {}
    for entry in entries:
        if entry.name == name and entry.counts:
            _under(merged, entry.raw)
    return merged


def _under(strong: dict[str, Any], weak: dict[str, Any]) -> None:
    for key, value in weak.items():
        if key not in strong:
            strong[key] = dict(value) if isinstance(value, dict) else value
        elif isinstance(strong[key], dict) and isinstance(value, dict):
            strong[key] = dict(strong[key])
            _under(strong[key], value)


def broken_entries(view: View) -> None:
    """Note the files whose entries keep the host from starting, and the entries that it skips."""
    spelling = view.host.registrations
    entries = [e for e in find_entries(view) if e.counts]
    names: set[str] = set()
    for entry in entries:
        raw: dict[str, Any] = entry.raw
        if view.host.types_merged:
            if entry.name in names:
                continue
            names.add(entry.name)
            raw = merge(entries, entry.name)
        fault = entry_fault(view.host, raw)
        inert = bool(spelling.inert) and isinstance(raw.get(spelling.inert), bool)
        if fault is None or (inert and spelling.command not in raw and spelling.url not in raw):
            continue
        assert entry.file.document is not None
        at = (*entry.at, fault.key) if fault.key and fault.key in entry.raw else entry.at
        error = _error(entry.file.document, entry.file, at, f"`{entry.name}`: {fault.text}")
        if spelling.invalid == "stops" and not inert:
            view.dropped.setdefault(entry.file.path, error)
        else:
            view.faults.append((entry.file, error, "the host makes no server of it"))
