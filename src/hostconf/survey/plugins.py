"""Plugins: what they bring to a host, as far as files tell without running anything.

Pure. Where plugins are named, installed and described is the host's data. One that no
file tells about counts by its name, as something that may bring a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hostconf.formats.base import KeyPath
from hostconf.hosts.schema import Plugins
from hostconf.survey.view import View
from hostconf.survey.workspace import Workspace, expand, fill_template, loose


class Plugin(NamedTuple):
    """One plugin, and the line that turns it on or off."""

    id: str
    on: bool
    path: str
    line: int
    scope: str
    at: KeyPath


class Brought(NamedTuple):
    """One server of a plugin; `raw` is None where no file tells what the plugin brings."""

    plugin: Plugin
    name: str
    at: KeyPath
    raw: Mapping[str, Any] | None


def plugins(view: View) -> tuple[Plugin, ...]:
    """The plugins that the host's files name, by the word of the strongest layer on each."""
    said = view.host.plugins
    if said is None:
        return ()
    found: dict[str, Plugin] = {}
    none = bool(said.switch) and _turned_off(view, said)
    for file in view.group(said.group):
        assert file.document is not None
        value = file.document.get(said.at)
        for key, name, on in _named(said, value):
            at = (*said.at, key)
            row = Plugin(name, on and not none, file.path, view.line(file, at), file.layer.scope, at)
            found.setdefault(name, row)
    return tuple(found.values())


def _named(said: Plugins, value: Any) -> Iterator[tuple[str | int, str, bool]]:
    """Key or index, name, and whether it is on."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            name = item[0] if isinstance(item, list) and item else item
            if isinstance(name, str) and name:
                yield index, name, True
    elif isinstance(value, dict):
        for name, entry in value.items():
            if not said.flag:
                yield name, name, entry is True
            elif isinstance(entry, dict):
                yield name, name, entry.get(said.flag, said.default) is True


def _turned_off(view: View, said: Plugins) -> bool:
    for file in view.group(said.group):
        assert file.document is not None
        value = file.document.get(said.switch)
        if isinstance(value, bool):
            return value is False
    return False


# ------------------------------------------------------------------ what they bring


def brought(view: View) -> tuple[Brought, ...]:
    """The servers of all plugins that are on, and the plugins of which no file tells."""
    said = view.host.plugins
    rows: list[Brought] = []
    for plugin in plugins(view):
        assert said is not None
        if not plugin.on:
            continue
        servers = _servers(view, said, plugin)
        if servers is None:
            rows.append(Brought(plugin, plugin.id, plugin.at, None))
            continue
        for server, raw in servers.items():
            names = {"id": plugin.id, "plugin": _parts(plugin.id)[0], "server": server}
            at = tuple(part.format(**names) for part in said.entry)
            rows.append(Brought(plugin, said.name.format(**names), at, raw))
    for path, scope in loose(view.host, view.workspace) if said else ():
        name = path.rpartition("/")[2].rpartition(".")[0]
        if not any(name == tool.id for tool in view.host.tools):
            rows.append(Brought(Plugin(name, True, path, 1, scope, ()), name, (), None))
    return tuple(rows)


def more_paths(view: View) -> list[str]:
    """Paths that have to be read too, by what the files read so far say; to be asked again until none is left."""
    said = view.host.plugins
    wanted: dict[str, None] = {}
    for plugin in plugins(view):
        if said is None or not plugin.on:
            continue
        catalogue = _catalogue(view, said, plugin.id)
        if catalogue:
            wanted[catalogue] = None
        for root in _roots(view, said, plugin.id):
            wanted |= dict.fromkeys(f"{root}/{file}" for file in (*said.manifests, *said.files))
            for named in _named_servers(said, _manifest(view.workspace, said, root)):
                if isinstance(named, str):
                    wanted[_inside(root, named)] = None
    return [path for path in wanted if path not in view.workspace.snapshot.files]


def _parts(plugin_id: str) -> tuple[str, str]:
    """Name and market of a plugin."""
    name, at, market = plugin_id.rpartition("@")
    return (name, market) if at else (plugin_id, "")


def _names(plugin_id: str) -> dict[str, str]:
    plugin, market = _parts(plugin_id)
    return {"id": plugin_id, "plugin": plugin, "market": market}


def _roots(view: View, said: Plugins, plugin_id: str) -> tuple[str, ...]:
    """The folders in which a plugin is installed."""
    workspace, environment = view.workspace, view.workspace.environment
    if said.inventory:
        found = []
        for path in expand(said.inventory, view.host, environment):
            found += [
                v for v in _walk(workspace.json(path), said.inventory_at, _names(plugin_id)) if isinstance(v, str)
            ]
        return tuple(dict.fromkeys(v for v in found if v.startswith("/")))
    folders: set[str] = set()
    for root in said.roots:
        for file in (*said.manifests, *said.files):
            # the listing is one for all plugins: which of its paths are of this one is told by the folders
            every = expand(re.sub(r"\{(plugin|market)\}", "*", f"{root}/{file}"), view.host, environment)
            mine = fill_template(root, view.host, environment, _names(plugin_id))
            for pattern in every:
                for path in workspace.matching(pattern):
                    folder = path[: -len(file) - 1]
                    if mine and re.fullmatch("[^/]*".join(map(re.escape, mine.split("*"))), folder):
                        folders.add(folder)
    return tuple(sorted(folders, key=_version)[-1:])


def _version(folder: str) -> tuple[tuple[int, str], ...]:
    words = re.split(r"[.\-+]", folder.rpartition("/")[2])
    return tuple((int(word), "") if word.isdigit() else (-1, word) for word in words)


def _catalogue(view: View, said: Plugins, plugin_id: str) -> str:
    """The file in which the market of a plugin lists what it has."""
    names = _names(plugin_id)
    for path in expand(said.markets, view.host, view.workspace.environment) if said.markets else ():
        for folder in _walk(view.workspace.json(path), said.markets_at, names):
            if isinstance(folder, str) and folder.startswith("/") and said.catalogue:
                return f"{folder}/{said.catalogue}"
    return ""


def _servers(view: View, said: Plugins, plugin: Plugin) -> dict[str, Any] | None:
    """The servers of a plugin by name; None where nothing tells."""
    if said.markets and not _catalogue(view, said, plugin.id):
        return {} if _told(view, said.markets) else None
    roots = _roots(view, said, plugin.id)
    if not roots:
        return {} if said.inventory and _told(view, said.inventory) else None
    found: dict[str, Any] = {}
    if said.catalogue and not any(_manifest(view.workspace, said, root) for root in roots):
        # a plugin without a description of its own is described by its market
        for row in _walk(view.workspace.json(_catalogue(view, said, plugin.id)), ("plugins", "*"), {}):
            if isinstance(row, dict) and row.get("name") == _parts(plugin.id)[0]:
                found |= _tables(_named_servers(said, row))
    for root in roots:
        named = _named_servers(said, _manifest(view.workspace, said, root))
        files = [_inside(root, n) for n in named if isinstance(n, str)]
        if said.always or not named:
            files += [f"{root}/{file}" for file in said.files]
        for path in files:
            value = view.workspace.json(path)
            if isinstance(value, dict):
                inner = value.get(said.key)
                found |= _tables([inner if isinstance(inner, dict) else value])
        found |= _tables(named)
    return found


def _told(view: View, template: str) -> bool:
    """Whether the file that would tell is there and can be read."""
    paths = expand(template, view.host, view.workspace.environment)
    return any(isinstance(view.workspace.json(path), dict) for path in paths)


def _manifest(workspace: Workspace, said: Plugins, root: str) -> Mapping[str, Any]:
    for file in said.manifests:
        value = workspace.json(f"{root}/{file}")
        if isinstance(value, dict):
            return value
    return {}


def _named_servers(said: Plugins, manifest: Mapping[str, Any]) -> list[Any]:
    """What a manifest says of servers: tables of them, and paths of files."""
    value = manifest.get(said.key)
    return value if isinstance(value, list) else [value] if value else []


def _tables(values: list[Any]) -> dict[str, Any]:
    return {name: raw for v in values if isinstance(v, dict) for name, raw in v.items() if isinstance(raw, dict)}


def _inside(root: str, path: str) -> str:
    return f"{root}/{path.removeprefix('./').lstrip('/')}"


def _walk(value: Any, at: tuple[str, ...], names: Mapping[str, str]) -> list[Any]:
    """The values that a way with `*` and names leads to."""
    heads = [value]
    for key in at:
        wanted = key.format(**names) if key != "*" else ""
        nxt: list[Any] = []
        for head in heads:
            if key == "*":
                nxt += head.values() if isinstance(head, dict) else head if isinstance(head, list) else []
            elif isinstance(head, dict) and wanted in head:
                nxt.append(head[wanted])
        heads = nxt
    return heads
