"""What a registration's command really starts, seen through npx, uvx, docker, shells and bridges.

Pure, tolerant: a command that is not understood gives fewer targets, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

MAX_DEPTH = 8
"""How many launchers inside launchers are looked through."""


def many(words: str) -> frozenset[str]:
    """A set of words, written as a text."""
    return frozenset(words.split())


class Target(NamedTuple):
    """One thing that is started or called."""

    kind: str
    """`package`, `command`, `image`, `script`, `module`, `url`, `service` (of a gateway) or `argument`."""
    name: str


NODE_RUNNERS = {"npx": 0, "bunx": 0, "pnpx": 0, "npm": 1, "pnpm": 1, "yarn": 1, "bun": 1}
"""Runner to the number of its words before the package (`npm exec`, `pnpm dlx`, `yarn dlx`, `bun x`)."""
NODE_VERBS = ("exec", "x", "dlx")
NODE_VALUES = {"--registry", "--prefix", "--cache", "--userconfig", "-w", "--workspace", "--loglevel", "-C", "--dir"}
PYTHON_VALUES = many("""
    --python -p --directory --project --env-file --index-url -i --index --extra-index-url --default-index --extra
    --group --cache-dir --refresh-package --with-requirements --config-file --pip-args --link-mode --find-links
    --constraint -c --prerelease --resolution --python-platform
""")
DOCKER_VALUES = many("""
    -e --env -v --volume --mount --name -p --publish --network --net --env-file -w --workdir --entrypoint -u --user
    -h --hostname --add-host -l --label --memory -m --cpus --platform --pull --restart --gpus --ipc --cap-add
    --cap-drop --security-opt --dns --tmpfs --shm-size --log-driver --device --group-add --runtime --ulimit --pid
""")
SHELLS = {"bash", "sh", "zsh", "fish", "dash", "ksh", "cmd", "powershell", "pwsh"}
PYTHONS = re.compile(r"(python|pythonw|pypy|py)[\d.]*")
INTERPRETERS = many("node nodejs tsx ts-node deno ruby php perl java dotnet go cargo lua")
WRAPPERS = many("""
    sudo doas nohup nice ionice stdbuf time timeout caffeinate setsid xvfb-run dotenv dotenvx doppler op infisical
    mise direnv nix nix-shell ssh wsl flatpak toolbox distrobox devbox systemd-run chpst rtx asdf volta fnm nvm
    aws-vault sops chamber
""")
BRIDGES = {"mcp-remote", "supergateway", "mcp-proxy", "fastmcp", "mcp-bridge", "mcpo", "mcp-client", "mcp-stdio-proxy"}
ENDINGS = (".exe", ".cmd", ".bat", ".ps1", ".sh", ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".jar", ".dll")
DEFAULTED = re.compile(r"\$\{\w+:-([^}]*)\}")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
CDN = re.compile(r"https?://(?:esm\.sh|unpkg\.com|cdn\.jsdelivr\.net/npm|esm\.run|cdn\.skypack\.dev)/(?:v\d+/)?(.+)")


def stem_of(word: str) -> str:
    """The name of a program or file: no folder, no ending."""
    name = re.split(r"[/\\]", word.rstrip("/\\"))[-1]
    for ending in ENDINGS:
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def base_of(word: str) -> str:
    """The same in lower case, for comparing."""
    return stem_of(word).lower()


def package_of(word: str) -> str:
    """The name of a package reference, without version, extras and source: lower case; empty when it is a path."""
    text = word.strip().strip("\"'")
    for prefix in ("npm:", "jsr:", "pipx:", "pypi:", "pip:"):
        text = text.removeprefix(prefix)
    text = re.split(r"\s*@\s*(?=git\+|https?:)", text)[-1]
    if re.match(r"(git\+|git:|github:|gitlab:|https?:|ssh:|git@)", text):
        end = re.split(r"[?#]", re.sub(r"^(git\+|git:|github:|gitlab:)", "", text))[0]
        end = re.sub(r"(?<=[^/:])@[^/@]*$", "", end).rstrip("/").removesuffix(".git")
        if end.endswith((".tgz", ".whl", ".tar.gz")):
            end = re.sub(r"-\d[^/]*$", "", end)
        return re.split(r"[/:]", end)[-1].lower()
    if re.match(r"(\.{0,2}/|~|[A-Za-z]:[\\/]|file:|\$|\{)", text):
        return ""
    scope, slash, rest = text.partition("/") if text.startswith("@") else ("", "", text)
    rest = re.split(r"[@\[<>=!~;\s]", rest)[0]
    return f"{scope}{slash}{rest}".lower()


def targets(command: Sequence[str], url: str = "") -> tuple[Target, ...]:
    """Everything a registration starts or calls, outermost first, without doubles."""
    found: list[Target] = []
    if url:
        _address(url, found)
    _unwrap(list(command), found, 0)
    return tuple(dict.fromkeys(found))


def split_words(text: str) -> list[str]:
    """Words of a shell line, quotes taken off; never fails."""
    return [a or b or c for a, b, c in re.findall(r"\"([^\"]*)\"|'([^']*)'|([^\s\"']+)", text)]


def _address(url: str, found: list[Target]) -> None:
    if match := CDN.match(url):
        path = match.group(1)
        parts = path.split("/")
        name = "/".join(parts[:2]) if path.startswith("@") else parts[0]
        found.append(Target("package", package_of(name)))
    else:
        found.append(Target("url", url))


def _unwrap(words: list[str], found: list[Target], depth: int) -> None:
    words = [DEFAULTED.sub(r"\1", word).strip() for word in words]
    words = [word for word in words if word]
    while words and ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not words or depth > MAX_DEPTH:
        return
    if len(words) == 1 and " " in words[0] and not re.match(r"([/~.]|[A-Za-z]:\\)", words[0]):
        words = split_words(words[0])
        return _unwrap(words, found, depth + 1)
    head, rest = base_of(words[0]), words[1:]
    if head in NODE_RUNNERS or head == "npx-cli":
        _node(head, rest, found, depth)
    elif head in ("uvx", "uv", "pipx"):
        _uv(head, rest, found, depth)
    elif head in ("docker", "podman", "nerdctl"):
        _docker(rest, found, depth)
    elif head in SHELLS:
        _shell(rest, found, depth)
    elif head == "env":
        skip = 0
        while skip < len(rest) and (rest[skip].startswith("-") or ASSIGNMENT.match(rest[skip])):
            skip += 2 if rest[skip] in ("-u", "-C", "--unset", "--chdir") else 1
        _unwrap(rest[skip:], found, depth + 1)
    elif PYTHONS.fullmatch(head):
        _python(rest, found, depth)
    elif head in INTERPRETERS:
        _interpreter(rest, found, depth)
    else:
        _program(head, words[0], rest, found, depth)


def _options(words: list[str], values: AbstractSet[str], wanted: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Steps over the options at the front: the values of the wanted ones, and what follows."""
    taken: list[str] = []
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word == "--":
            return taken, words[at + 1 :]
        key, equals, value = word.partition("=")
        if key in wanted:
            if equals:
                taken.append(value)
            elif at + 1 < len(words):
                at += 1
                taken.append(words[at])
        elif key in values and not equals:
            at += 1
        at += 1
    return taken, words[at:]


def _node(head: str, words: list[str], found: list[Target], depth: int) -> None:
    if NODE_RUNNERS.get(head, 0):
        if head == "bun" and words and words[0] == "run":
            return _interpreter(words[1:], found, depth)
        _, words = _options(words, NODE_VALUES, ())
        if not words or words[0] not in NODE_VERBS:
            return _interpreter(words, found, depth) if head == "bun" else None
        words = words[1:]
    calls, _ = _options(words, NODE_VALUES | {"-p", "--package"}, ("-c", "--call"))
    packages, rest = _options(words, NODE_VALUES, ("-p", "--package"))
    for text in calls:
        _unwrap(split_words(text), found, depth + 1)
    for package in packages:
        found.append(Target("package", package_of(package)))
    if not rest or calls:
        return
    if rest[0] == "--":
        rest = rest[1:]
    if packages:
        return _unwrap(rest, found, depth + 1)
    _package(rest, found, depth)


def _package(words: list[str], found: list[Target], depth: int) -> None:
    """A package by reference, and its arguments: bridges lead on."""
    if not words:
        return
    name = package_of(words[0])
    if not name:
        return _program(base_of(words[0]), words[0], words[1:], found, depth)
    if name in BRIDGES or name in INTERPRETERS:
        return _unwrap([name, *words[1:]], found, depth + 1)
    if name == "@smithery/cli":
        if len(words) > 2 and words[1] == "run":
            found.append(Target("package", package_of(words[2])))
        return
    found.append(Target("package", name))
    _arguments(words[1:], found)


def _uv(head: str, words: list[str], found: list[Target], depth: int) -> None:
    if head == "uv":
        _, words = _options(words, PYTHON_VALUES, ())
        if words[:2] == ["tool", "run"]:
            words = words[2:]
        elif words[:1] == ["run"]:
            extra, rest = _options(words[1:], PYTHON_VALUES, ("--with", "--from", "-w", "--with-editable"))
            modules, _ = _options(words[1:], PYTHON_VALUES, ("-m", "--module"))
            found.extend(Target("package", package_of(name)) for name in extra)
            if modules:
                found.append(Target("module", modules[0].lower()))
                return
            return _unwrap(rest, found, depth + 1)
        else:
            return
    elif head == "pipx":
        if words[:1] != ["run"]:
            return
        words = words[1:]
    source, rest = _options(words, {*PYTHON_VALUES, "--with", "-w"}, ("--from", "--spec"))
    if source:
        found.extend(Target("package", package_of(name)) for name in source)
        if rest:
            _unwrap(rest, found, depth + 1)
        return
    _package(rest, found, depth)


def _docker(words: list[str], found: list[Target], depth: int) -> None:
    _, words = _options(words, {"--context", "-H", "--host", "-c", "--config"}, ())
    if words[:2] == ["container", "run"]:
        words = words[1:]
    if words[:2] == ["mcp", "gateway"]:
        for word in words[2:]:
            found.extend(Target("service", part.lower()) for part in re.split(r"[=,]", word) if part[:1].isalpha())
        return
    if words[:1] == ["exec"]:
        _, rest = _options(words[1:], DOCKER_VALUES, ())
        return _unwrap(rest[1:], found, depth + 1)
    if words[:1] == ["start"]:
        _, rest = _options(words[1:], set(), ())
        found.extend(Target("image", name.lower()) for name in rest[:1])
        return
    if words[:1] != ["run"]:
        return
    _, rest = _options(words[1:], DOCKER_VALUES, ())
    if not rest:
        return
    image = re.sub(r"(@sha256:[0-9a-f]+|:[\w.\-]+)$", "", rest[0]).lower()
    found.append(Target("image", image.removeprefix("docker.io/").removeprefix("library/")))
    if len(rest) > 1 and _launches(rest[1]):
        _unwrap(rest[1:], found, depth + 1)
    else:
        _arguments(rest[1:], found)


def _shell(words: list[str], found: list[Target], depth: int) -> None:
    at = 0
    while at < len(words) and (words[at].startswith("-") or re.fullmatch(r"/[a-zA-Z]", words[at])):
        flag = words[at].lower()
        at += 1
        if flag in ("/c", "/k", "-command", "--command") or (flag[1:2] != "-" and flag.endswith("c")):
            line = words[at:]
            if len(line) == 1:
                for part in re.split(r"&&|\|\||[;|\n]", line[0]):
                    _unwrap(split_words(part.strip().removeprefix("exec ")), found, depth + 1)
            else:
                _unwrap(line, found, depth + 1)
            return
    if at < len(words):
        _unwrap_script(words[at:], found)


def _python(words: list[str], found: list[Target], depth: int) -> None:
    modules, rest = _options(words, {"-W", "-X", "-c"}, ("-m",))
    if modules:
        name = modules[0].lower()
        if name in ("uv", "pipx"):
            return _unwrap([name, *rest], found, depth + 1)
        found.append(Target("module", name))
        _arguments(rest, found)
    elif rest and "-c" not in words[: len(words) - len(rest)]:
        _unwrap_script(rest, found)


def _interpreter(words: list[str], found: list[Target], depth: int) -> None:
    values = {"-r", "--require", "--import", "--loader", "--env-file", "-cp", "-classpath", "--project", "--cwd", "-e"}
    jars, rest = _options(words, values, ("-jar",))
    if any(word in ("-e", "--eval", "-p") for word in words[: len(words) - len(rest)]):
        return
    if jars:
        return _unwrap_script(jars, found)
    if rest[:1] in (["run"], ["serve"], ["watch"]):
        _, rest = _options(rest[1:], values, ())
    if not rest:
        return
    if base_of(rest[0]) == "npx-cli":
        return _unwrap(rest, found, depth + 1)
    if rest[0].startswith(("npm:", "jsr:")):
        return _package(rest, found, depth)
    _unwrap_script(rest, found)


def _unwrap_script(words: list[str], found: list[Target]) -> None:
    path = words[0].replace("\\", "/")
    if "://" in path:
        return _address(path, found)
    if "/node_modules/" in path:
        parts = path.rpartition("/node_modules/")[2].split("/")
        found.append(Target("package", "/".join(parts[:2] if parts[0].startswith("@") else parts[:1]).lower()))
    found.append(Target("script", path))
    _arguments(words[1:], found)


def _program(head: str, word: str, rest: list[str], found: list[Target], depth: int) -> None:
    """Any other program: a wrapper or a bridge leads on, else it is the target itself."""
    if head in BRIDGES:
        return _bridge(rest, found, depth)
    if "--" in rest and _plain(rest[rest.index("--") + 1 :]):
        if head not in WRAPPERS:
            found.append(Target("command", head))
        for item in rest[: rest.index("--")]:
            _cdn_only(item, found)
        return _unwrap(rest[rest.index("--") + 1 :], found, depth + 1)
    if head not in WRAPPERS:
        found.append(Target("command", head))
        if "/" in word or "\\" in word:
            found.append(Target("script", word.replace("\\", "/")))
    inner = next((n for n, item in enumerate(rest) if _launches(item)), None)
    if inner is not None:
        return _unwrap(rest[inner:], found, depth + 1)
    if head in WRAPPERS and (words := _plain(rest)):
        return _unwrap(words[-1:], found, depth + 1)
    _arguments(rest, found)


def _bridge(words: list[str], found: list[Target], depth: int) -> None:
    for at, word in enumerate(words):
        if "://" in word and not word.startswith("-"):
            return _address(word, found)
        if word in ("--stdio", "--command") and at + 1 < len(words):
            return _unwrap(split_words(words[at + 1]), found, depth + 1)
    inner = next((n for n, item in enumerate(words) if _launches(item)), None)
    if inner is not None:
        return _unwrap(words[inner:], found, depth + 1)
    for word in _plain(words):
        if word != "run":
            return _unwrap_script([word], found)


def _launches(word: str) -> bool:
    head = base_of(word)
    return (head in NODE_RUNNERS and head != "npm") or head in ("uvx", "uv", "pipx", "docker") or head in BRIDGES


def _plain(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _cdn_only(word: str, found: list[Target]) -> None:
    if (start := word.find("http")) >= 0 and CDN.match(word[start:]):
        _address(word[start:], found)


def _arguments(words: list[str], found: list[Target]) -> None:
    for word in words:
        _cdn_only(word, found)
        if not word.startswith("http"):
            found.append(Target("argument", word.lower()))
