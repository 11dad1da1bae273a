"""Start the real hosts in a cage and read what they say: their own listing, and their own request to the model.

One driver a host, one interface:

- `listing(home, project)`: the host's own word on its MCP servers, name to `{"enabled": bool, ...}`;
- `ask(home, project)`: one start per variant (see each driver), each with the tool names and all text of the request;
  `ask(home, project, "exa")`: that variant alone;
- `tools(home, project)`: the tool names of all variants together.

A host writes into its home on nearly every start. So every start gets a copy of home and project *under their own
names* (configurations hold absolute paths), while the originals are set aside untouched and put back afterwards.
Nothing is skipped silently: what cannot be read as expected raises HostFailure.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 180
LEEWAY = 15
FAKE_KEY = "fake-key-for-the-stand-in"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

Listed = dict[str, dict[str, Any]]


class HostFailure(Exception):
    """A host did not start, or did not say what it has to say."""


class Answer(NamedTuple):
    """What one start gave."""

    code: int
    out: str
    err: str
    requests: list[dict[str, Any]]

    def failed(self, what: str) -> HostFailure:
        """This start as a failure, with the end of what was said."""
        paths = ", ".join(f"{entry['method']} {entry['path']}" for entry in self.requests) or "none"
        return HostFailure(
            f"{what}; exit code {self.code}; requests: {paths}\nstdout: {self.out[-1500:]}\nstderr: {self.err[-2500:]}"
        )


class Asked(NamedTuple):
    """One request of a host to its model."""

    tools: frozenset[str]
    text: str
    """Every string of the request, one after the other: what the model reads."""


class Containment(NamedTuple):
    """How hosts are kept from the network, and made to end."""

    prefix: tuple[str, ...]
    words: str


@functools.cache
def containment() -> Containment:
    """The strongest cage that this machine allows."""
    cage = ("--net", "--pid", "--fork", "--kill-child", "--mount-proc")
    unshare = shutil.which("unshare", path=f"{SYSTEM_PATH}:/usr/sbin:/sbin")
    if unshare is not None:
        for extra, words in (
            ((), "network and process namespace of their own"),
            (("--map-root-user",), "user, network and process namespace of their own"),
        ):
            prefix = (unshare, *extra, *cage)
            if subprocess.run([*prefix, "true"], capture_output=True, timeout=30, check=False).returncode == 0:
                return Containment(prefix, words)
    return Containment((), "NO namespace to be had here: only a missing route keeps the hosts from the network")


@contextmanager
def original_set_aside(place: Path) -> Iterator[None]:
    """A copy stands in for a folder, under its name; afterwards the original is back, its files untouched."""
    kept = place.with_name(place.name + ".kept")
    place.rename(kept)
    try:
        shutil.copytree(kept, place, symlinks=True)
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)
        kept.rename(place)


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def text_outside_tools(body: Mapping[str, Any]) -> str:
    """What a request says beside its tools: instructions and messages."""
    return "\n".join(strings({key: value for key, value in body.items() if key != "tools"}))


class Driver:
    """A host that can be started. Subclasses say how, and how to read it."""

    id: str
    web: frozenset[str]
    """The built-in tools for the web, as they are named in a request (for Codex: as normalised here)."""

    def __init__(self, program: Path, work: Path) -> None:
        self.program = program
        self.work = work
        self.shims = work / "bin"
        self.shims.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-B", "-P", "-m", "tests.real_hosts.npx"]
        shim = self.shims / "npx"
        shim.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(words)} "$@"\n')
        shim.chmod(0o755)

    variants: tuple[str, ...]
    """The circumstances in which it is asked; `ask` without one named asks in all."""

    def listing(self, home: Path, project: Path) -> Listed:
        """The host's own word on its MCP servers."""
        raise NotImplementedError

    def ask_once(self, home: Path, project: Path, variant: str) -> Asked:
        """What the host asks its model in one variant."""
        raise NotImplementedError

    def tool_id(self, server: str, tool: str) -> str:
        """How the host spells the tool of a server to its model."""
        raise NotImplementedError

    def ask(self, home: Path, project: Path, *variants: str) -> dict[str, Asked]:
        """Variant to what the host asked its model in it."""
        return {variant: self.ask_once(home, project, variant) for variant in variants or self.variants}

    def tools(self, home: Path, project: Path) -> set[str]:
        """The tool names of all variants together."""
        return {name for asked in self.ask(home, project).values() for name in asked.tools}

    def start(
        self,
        home: Path,
        project: Path,
        args: list[str],
        variables: Mapping[str, str] | None = None,
        *,
        once_answered: bool = False,
        lasting: bool = False,
    ) -> Answer:
        """Start the program once, in the cage, with nothing of this machine's environment.

        With `lasting` it is no copy that it works on: what it writes stays.
        """
        copied = nullcontext if lasting else original_set_aside
        with tempfile.TemporaryDirectory(dir=self.work, prefix="start-", ignore_cleanup_errors=True) as made:
            place = Path(made)
            record, spec, scratch = place / "record.jsonl", place / "spec.json", place / "tmp"
            scratch.mkdir()
            clean = {
                "HOME": str(home),
                "PATH": f"{self.shims}:{SYSTEM_PATH}",
                "TERM": "dumb",
                "LANG": "C.UTF-8",
                "TMPDIR": str(scratch),
            }
            given = {
                "argv": [str(self.program), *args],
                "cwd": str(project),
                "env": clean | dict(variables or {}),
                "record": str(record),
                "timeout": START_TIMEOUT,
                "once_answered": once_answered,
                "own_network": bool(containment().prefix),
            }
            spec.write_text(json.dumps(given), encoding="utf-8")
            with copied(home), copied(project):
                done = subprocess.run(
                    [*containment().prefix, sys.executable, "-B", "-m", "tests.real_hosts.cage", str(spec)],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=START_TIMEOUT + LEEWAY,
                    check=False,
                )
            lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
        answer = Answer(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines])
        for entry in answer.requests:
            if "unread" in entry:
                raise answer.failed(f"{self.id}: a request that the stand-in could not read: {entry['unread']}")
        return answer

    def bodies(self, answer: Answer, ending: str) -> list[dict[str, Any]]:
        """The requests to one address; at least one has to be there."""
        found = [
            entry["body"]
            for entry in answer.requests
            if entry["path"].partition("?")[0].endswith(ending) and isinstance(entry["body"], dict)
        ]
        if not found:
            raise answer.failed(f"{self.id} never asked its model")
        return found


class Claude(Driver):
    """Claude Code. One variant: `-p` with the tools as they are sent, deferred ones by name alone."""

    id = "claude"
    web = frozenset({"WebSearch", "WebFetch"})
    variants = ("print",)
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "MCP_CONNECTION_NONBLOCKING": "0"}
    deferred = re.compile(r"^The following deferred tools are now available via ToolSearch\..*\n((?:\S+\n)+)", re.M)

    def tool_id(self, server: str, tool: str) -> str:
        """`mcp__server__tool`, hyphens kept."""
        return f"mcp__{re.sub('[^A-Za-z0-9_-]', '_', server)}__{re.sub('[^A-Za-z0-9_-]', '_', tool)}"

    def listing(self, home: Path, project: Path) -> Listed:
        """Servers of the init line (a denied one is not in it), each with its status, and the tools of that line.

        `mcp list` is asked too: only it knows whether a project's server still waits for approval, for `-p` loads it
        all the same.
        """
        args = ["-p", "/mcp", "--output-format", "stream-json", "--verbose", "--no-session-persistence"]
        answer = self.start(home, project, args, self.quiet)
        first = answer.out.partition("\n")[0]
        if not first.startswith('{"type":"system","subtype":"init"'):
            raise answer.failed("claude printed no init line")
        init = json.loads(first)
        listed: Listed = {server["name"]: {"enabled": True} | server for server in init["mcp_servers"]}
        for name, entry in listed.items():
            start = self.tool_id(name, "")
            entry["tools"] = sorted(tool[len(start) :] for tool in init["tools"] if tool.startswith(start))
        words = self.start(home, project, ["mcp", "list"], self.quiet)
        for name, entry in listed.items():
            line = re.search(rf"^{re.escape(name)}: .* - (.*)$", words.out, re.M)
            if line is None:
                raise words.failed(f"claude mcp list does not name {name}")
            entry["approved"] = "Pending approval" not in line[1]
        return listed

    def ask_once(self, home: Path, project: Path, variant: str) -> Asked:
        """The request with most tools."""
        model = {"ANTHROPIC_API_KEY": FAKE_KEY, "ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}"}
        answer = self.start(home, project, ["-p", "hello"], self.quiet | model, once_answered=True)
        body = max(self.bodies(answer, "/messages"), key=lambda body: len(body.get("tools") or []))
        names = {tool["name"] for tool in body.get("tools") or []} - {"DeferredToolPlaceholder"}
        text = text_outside_tools(body)
        found = self.deferred.search(text)
        if found is not None:
            names |= set(found[1].split())
        elif "ToolSearch" in names:
            raise answer.failed("claude defers tools, but no longer names them where they were named")
        return Asked(frozenset(names), text)


class Codex(Driver):
    """Codex. Two variants, for the tool surface has two shapes, and one configuration has to decide both alike.

    `code`: the default model runs code; its tools stand behind `exec`, and those of MCP servers are named nowhere in
    the request. So the stand-in model asks for ALL_TOOLS in a turn, and the next request holds the answer.
    `direct`: an older model gets tools and namespaces themselves, and web search as a hosted tool.
    The client tool `web__run` is called `web_search` here, as the hosted one.
    """

    id = "codex"
    web = frozenset({"web_search"})
    variants = ("code", "direct")

    def tool_id(self, server: str, tool: str) -> str:
        """`mcp__server__tool`, hyphens too become `_`."""
        return f"mcp__{re.sub('[^A-Za-z0-9_]', '_', server)}__{re.sub('[^A-Za-z0-9_]', '_', tool)}"

    def listing(self, home: Path, project: Path) -> Listed:
        """`codex mcp list --json`."""
        answer = self.start(home, project, ["mcp", "list", "--json"])
        if answer.code != 0:
            raise answer.failed("codex mcp list failed")
        return {server["name"]: server for server in json.loads(answer.out)}

    def ask_once(self, home: Path, project: Path, variant: str) -> Asked:
        """One shape."""
        model = "gpt-5" if variant == "direct" else None
        args = ["exec", "--skip-git-repo-check", "-c", 'openai_base_url="http://127.0.0.1:{port}/v1"']
        args += ["-c", "features.enable_request_compression=false", *(["-m", model] if model else [])]
        args += [*self.wait_for_servers(home, project), "hello"]
        answer = self.start(home, project, args, {"CODEX_API_KEY": FAKE_KEY}, once_answered=True)
        body = self.bodies(answer, "/responses")[-1]
        names: set[str] = set()
        for tool in self.offered(body):
            if tool.get("type") == "namespace" and str(tool["name"]).startswith("mcp__"):
                names |= {f"{tool['name']}__{inner['name']}" for inner in tool["tools"]}
            elif tool.get("type") == "namespace":
                names |= {inner["name"] for inner in tool["tools"]}
            else:
                names.add(tool.get("name") or tool["type"])
        if variant == "code":
            if "exec" not in names:
                raise answer.failed("the default model of codex no longer runs code")
            names |= self.all_tools(body, answer)
        if "web__run" in names:
            names = names - {"web__run"} | {"web_search"}
        return Asked(frozenset(names), text_outside_tools(body))

    def wait_for_servers(self, home: Path, project: Path) -> list[str]:
        """Trap: codex asks its model after a second or so, with the servers that are up by then. A required one is
        waited for, so on a loaded machine every enabled server has to be required for this one start."""
        args = []
        for name, server in self.listing(home, project).items():
            if not server["enabled"]:
                continue
            if not re.fullmatch("[A-Za-z0-9_-]+", name):
                raise HostFailure(f"codex -c cannot name the server {name!r}")
            args += ["-c", f"mcp_servers.{name}.required=true"]
        return args

    @staticmethod
    def offered(body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Tools of the request, wherever they stand in it."""
        tools = list(body.get("tools") or [])
        for item in body.get("input") or []:
            if item.get("type") == "additional_tools":
                tools += item["tools"]
        return tools

    @staticmethod
    def all_tools(body: Mapping[str, Any], answer: Answer) -> set[str]:
        """What the host answered when its `exec` was asked for ALL_TOOLS."""
        for item in body["input"]:
            if item.get("type") == "custom_tool_call_output":
                for text in strings(item["output"]):
                    if text.startswith("["):
                        return set(json.loads(text))
        raise answer.failed("codex did not say what its ALL_TOOLS are")


class OpenCode(Driver):
    """OpenCode 1.x. Two variants: `plain`, and `exa` with the variable that opens the gate before `websearch`."""

    id = "opencode"
    web = frozenset({"websearch", "webfetch"})
    variants = ("plain", "exa")
    quiet = {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }

    def tool_id(self, server: str, tool: str) -> str:
        """`server_tool`, hyphens kept."""
        return f"{re.sub('[^A-Za-z0-9_-]', '_', server)}_{re.sub('[^A-Za-z0-9_-]', '_', tool)}"

    def listing(self, home: Path, project: Path) -> Listed:
        """`mcp` of `opencode debug config --pure`; an entry without `enabled` is enabled."""
        answer = self.start(home, project, ["debug", "config", "--pure"], self.quiet)
        if answer.code != 0:
            raise answer.failed("opencode debug config failed")
        servers: Listed = json.loads(answer.out).get("mcp") or {}
        return {name: {"enabled": True} | entry for name, entry in servers.items()}

    def ask_once(self, home: Path, project: Path, variant: str) -> Asked:
        """Gate closed or gate open."""
        gate = {"OPENCODE_ENABLE_EXA": "1"} if variant == "exa" else {}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "http://127.0.0.1:{port}/v1", "apiKey": FAKE_KEY},
            "models": {"m": {"tool_call": True, "limit": {"context": 100000, "output": 1000}}},
        }
        config = {"provider": {"mock": provider}, "model": "mock/m", "small_model": "mock/m"}
        variables = self.quiet | gate | {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}
        answer = self.start(home, project, ["run", "hello"], variables, once_answered=True)
        body = max(self.bodies(answer, "/chat/completions"), key=lambda body: len(body.get("tools") or []))
        names = {tool["function"]["name"] for tool in body.get("tools") or []}
        if not names:
            raise answer.failed("opencode asked without tools")
        return Asked(frozenset(names), text_outside_tools(body))


DRIVERS: dict[str, type[Driver]] = {driver.id: driver for driver in (Claude, Codex, OpenCode)}
