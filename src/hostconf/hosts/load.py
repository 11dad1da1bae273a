"""Where the files of `hosts/` lie, and reading them: once, in the order of their names."""

from __future__ import annotations

import os

from hostconf.errors import DataFileError
from hostconf.hosts.parse import parse_host
from hostconf.hosts.schema import Host, nearest


def hosts_folder() -> str:
    """The folder with the host files: in the installed package, else in the checkout beside `src/`."""
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(os.path.dirname(here), "_data", "hosts")
    if os.path.isdir(installed):
        return installed
    return os.path.normpath(os.path.join(here, "..", "..", "..", "hosts"))


def load_hosts(folder: str = "") -> tuple[Host, ...]:
    """All hosts, by id. Raises DataFileError naming file, key and the nearest known key."""
    import tomllib

    place = folder or hosts_folder()
    hosts = []
    for name in sorted(os.listdir(place)):
        if not name.endswith(".toml"):
            continue
        with open(os.path.join(place, name), "rb") as file:
            try:
                data = tomllib.load(file)
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise DataFileError(f"`{name}` is not valid TOML: {error}", path=name) from None
        hosts.append(parse_host(data, name))
    return tuple(hosts)


def host_named(hosts: tuple[Host, ...], name: str) -> Host | None:
    """The host of that id or alias."""
    wanted = name.lower()
    for host in hosts:
        if wanted == host.id or wanted in host.aliases:
            return host
    return None


def nearest_host(hosts: tuple[Host, ...], name: str) -> str:
    """The id most like a word that is none."""
    return nearest(name, [h.id for h in hosts])
