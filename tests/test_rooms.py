"""The walls: what a room may import, load and do. Each test here would miss what the others see.

Import contracts see the static graph, the subprocess tests see what is really loaded,
the audit hook sees a bare `open`, and the readings of the source see size and words.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostconf.environment import VARIABLES

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "hostconf"
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def module_of(file: Path) -> str:
    return ".".join(("hostconf", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def python(program: str, home: Path, *, project: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program in an interpreter of its own, which has seen nothing yet."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=project or home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
        env={"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": str(ROOT / "src"), "LANG": "C.UTF-8"},
    )


def test_there_is_something_to_read() -> None:
    assert len(FILES) > 50
    assert len(TESTS) > 5


# ------------------------------------------------------------------ imports


def test_the_import_contracts_hold(tmp_path: Path) -> None:
    """Layers, no I/O for the planner, no screen for the core: as written in pyproject.toml."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)},
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_every_room_but_the_wizard_is_kept_from_the_screen() -> None:
    """The contract can only name rooms, so a new one would be free of it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (listed,) = (c["source_modules"] for c in contracts if c["name"] == "The core is reachable without the screen")

    rooms = {module_of(file).split(".")[1] for file in FILES if module_of(file) != "hostconf"}
    assert sorted(listed) == sorted(f"hostconf.{room}" for room in rooms - {"tui"})


HEAVY = ("textual", "rich", "tomlkit", "ruamel", "json5", "dataclasses", "asyncio", "inspect")
LOOKING = [
    "--help",
    "--version",
    "plan --help",
    "status",
    "conflicts",
    "explain web_search",
    "plan deepseek-web-retrieval --host codex --env DEEPSEEK_API_KEY",
    "doctor",
    "hosts",
    "integrations",
    "recover",
]


@pytest.mark.parametrize("words", LOOKING)
def test_looking_loads_nothing_heavy(words: str, home: Path) -> None:
    """On an empty home. dataclasses costs a third of a bare interpreter, the others far more."""
    program = f"""
import sys
from hostconf.cli import main
code = main({words.split()!r})
loaded = sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r}))
print(code, *loaded, file=sys.stderr)
"""
    done = python(program, home)

    assert done.stderr.splitlines()[-1] == "0", done.stderr


@pytest.mark.parametrize("words", ["--help", "--version"])
def test_help_needs_neither_argparse_nor_the_core(words: str, home: Path) -> None:
    program = f"""
import sys
from hostconf.cli import main
main([{words!r}])
print(*sorted(name for name in sys.modules if name.startswith("hostconf") or name == "argparse"), file=sys.stderr)
"""
    done = python(program, home)

    loaded = set(done.stderr.split())
    assert "argparse" not in loaded
    assert {name.split(".")[1] for name in loaded if "." in name} <= {"cli", "errors"}


# ------------------------------------------------------------------ the planner does no I/O

# Rooms in which nothing may be opened, started or asked of the machine.
PURE = (
    "hosts/schema",
    "hosts/parse",
    "hosts/dialect",
    "integrations/schema",
    "display",
    "formats",
    "survey",
    "record",
    "plan",
    "prove",
    "takeback",
    "uninstall",
    "recover",
    "model",
    "errors",
)

AUDITED = """
import sys
from hostconf.environment import read_environment
from hostconf.workflow.change import make_plan, _planned
from hostconf.workflow.gather import open_house
from hostconf.workflow.request import Request
import os

PURE = tuple(os.path.join("hostconf", *room.split("/")) for room in {pure!r})
hosts, variables = ("codex", "claude"), (("DEEPSEEK_API_KEY", None),)
request = Request("deepseek-web-retrieval", hosts, env=variables, tiers=((None, {tier!r}),))
environment = read_environment(cwd=os.getcwd(), variables=os.environ)

def room(path):
    tail = path.rpartition(os.sep + "src" + os.sep)[2]
    return next((r for r in PURE if tail == r + ".py" or tail.startswith(r + os.sep)), None)

def plan():
    made, _ = make_plan(open_house(environment), request)
    return made, _planned("plan", made)

plan()                                   # modules are loaded on first use; that is Python's I/O, not the planner's
seen, entered = [], set()

WATCHED = ("open", "os.", "subprocess.", "socket.", "shutil.", "tempfile.", "glob.", "fcntl.", "ctypes.")

def hook(event, args):
    if not event.startswith(WATCHED):
        return
    frame = sys._getframe(1)
    # Whoever is nearest decides: the planner handing over to the door is the door's business, and it never does.
    while frame is not None:
        if "hostconf" in frame.f_code.co_filename:
            if (found := room(frame.f_code.co_filename)) is not None:
                seen.append((found, event))
            return
        frame = frame.f_back

def profile(frame, event, arg):
    if event == "call" and (found := room(frame.f_code.co_filename)) is not None:
        entered.add(found)

sys.addaudithook(hook)
sys.setprofile(profile)
made, shown = plan()
{extra}
sys.setprofile(None)
print("files", len(made.files), "refusals", len(made.refusals))
print("entered", *sorted(entered))
print("seen", *seen)
"""


def audited(home: Path, tier: str, extra: str = "") -> dict[str, str]:
    done = python(AUDITED.format(pure=PURE, tier=tier, extra=extra), home)
    assert done.returncode == 0, done.stderr
    return {key: rest for key, _, rest in (line.partition(" ") for line in done.stdout.splitlines())}


@pytest.mark.parametrize("tier", ["optional", "preferred", "forced"])
def test_no_io_while_a_plan_is_made(tier: str, home: Path) -> None:
    """The pure rooms are entered, and none of them opens, starts or asks anything."""
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        '# mine\nmodel = "x"\n\n[mcp_servers.tavily]\ncommand = "npx"\nargs = ["-y", "tavily-mcp"]\n', encoding="utf-8"
    )
    (home / ".claude.json").write_text('{"mcpServers": {}}\n', encoding="utf-8")
    found = audited(home, tier)

    assert found["seen"] == ""
    entered = found["entered"]
    for room in ("formats", "survey", "plan", "prove"):
        assert os.path.join("hostconf", room) in entered.split()


def test_the_audit_sees_what_it_is_for(home: Path) -> None:
    """A bare `open` in a pure room is caught: the test above is not blind."""
    room = os.path.join("src", "hostconf", "plan", "build.py")
    extra = f"exec(compile('open(os.devnull).close()', os.path.join(os.sep, {room!r}), 'exec'))"

    assert "open" in audited(home, "optional", extra)["seen"]


# ------------------------------------------------------------------ who touches the disk, who prints

# What of `os` changes or reads the disk or starts something; `os.path` asks it.
PLAIN = re.compile(
    r"os\.(path|sep|environ|fspath|fsencode|fsdecode|getcwd|_exit|defpath|devnull|PathLike|getpid|killpg|get_terminal_size)\b"
)
ASKS = re.compile(
    r"os\.path\.(exists|lexists|isfile|isdir|islink|realpath|getmtime|getsize|samefile|expanduser|expandvars)"
)
DOORS = ("system/", "environment.py", "demo.py")  # the demo writes into the folder that it has made itself
LOADERS = ("hosts/load.py", "integrations/load.py")  # read package data, never a file of the user


def file_calls(file: Path) -> list[str]:
    tree = tree_of(file)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if (name.startswith("os.") and not PLAIN.match(name)) or ASKS.match(name):
                found.append(f"{name} in line {node.lineno}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            found.append(f"open in line {node.lineno}")
        elif isinstance(node, ast.ImportFrom) and node.module == "os.path":
            found += [f"os.path.{a.name}" for a in node.names if ASKS.match(f"os.path.{a.name}")]
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil", "tempfile", "io"):
            found.append(f"from {node.module} import in line {node.lineno}")
        elif isinstance(node, ast.Import) and {a.name for a in node.names} & {"shutil", "tempfile", "io", "pathlib"}:
            found.append(f"import in line {node.lineno}")
    return found


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_only_the_doors_touch_the_disk(file: Path) -> None:
    place = file.relative_to(SOURCE).as_posix()
    if place.startswith(DOORS) or place in LOADERS:
        assert file_calls(file) or place.endswith("__init__.py") or "system/" in place
        return

    assert file_calls(file) == []


def test_one_room_starts_programs() -> None:
    starters = [
        module_of(file)
        for file in FILES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Import) and any(a.name == "subprocess" for a in node.names)
    ]

    assert starters == ["hostconf.workflow.ask"]


def test_standard_output_and_standard_error_have_one_writer_each() -> None:
    """`cli/__init__` writes the help before anything is imported; else `render` and `diagnostics`."""
    writers: dict[str, set[str]] = {"stdout": set(), "stderr": set(), "print": set()}
    for file in FILES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr"):
                writers[node.attr].add(module_of(file))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                writers["print"].add(module_of(file))

    assert {m for m in writers["stdout"] if not m.startswith("hostconf.tui")} == {"hostconf.cli", "hostconf.cli.render"}
    assert {m for m in writers["stderr"] if not m.startswith("hostconf.tui")} == {"hostconf.cli.diagnostics"}
    assert writers["print"] == set()


# ------------------------------------------------------------------ size and words


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_no_module_and_no_function_is_too_long(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    long = {
        f"{node.name} in line {node.lineno}": length
        for node in functions(tree_of(file))
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1) > 80
    }

    assert text.count("\n") <= 500
    assert long == {}


def told_by_a_protocol() -> set[str]:
    """Methods that a protocol of ours documents: who implements one need not say it again."""
    return {
        method.name
        for file in FILES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("Protocol") for base in node.bases)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and ast.get_docstring(method)
    }


TOLD = told_by_a_protocol()


@pytest.mark.parametrize("file", [f for f in FILES if not module_of(f).startswith("hostconf.tui")], ids=module_of)
def test_everything_public_says_what_it_is(file: Path) -> None:
    """Modules, classes, functions and methods; not what stands inside a function or a private class."""

    def undocumented(node: ast.AST, path: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if child.name.startswith("_"):
                continue
            if ast.get_docstring(child) is None and not (isinstance(node, ast.ClassDef) and child.name in TOLD):
                yield f"{path}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{path}{child.name}.")

    tree = tree_of(file)
    assert ast.get_docstring(tree) or not tree.body
    assert list(undocumented(tree, "")) == []


def can_fail(node: ast.AST, helpers: frozenset[str] = frozenset()) -> bool:
    """Whether a function asserts, expects a failure or lets only one kind pass, or calls a helper that does."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert) or (isinstance(inner, ast.Try) and all(h.type for h in inner.handlers)):
            return True
        if isinstance(inner, ast.Call):
            name = ast.unparse(inner.func)
            if name.endswith((".raises", ".fail")) or name.rpartition(".")[2] in helpers:
                return True
    return False


def checking_helpers() -> frozenset[str]:
    """Functions of the tests, by name, that can fail themselves."""
    found = {
        node.name
        for file in (ROOT / "tests").rglob("*.py")
        for node in functions(tree_of(file))
        if not node.name.startswith("test_") and can_fail(node)
    }
    return frozenset(found)


HELPERS = checking_helpers()


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_every_test_checks_something(file: Path) -> None:
    empty = [
        node.name for node in functions(tree_of(file)) if node.name.startswith("test_") and not can_fail(node, HELPERS)
    ]

    assert empty == []


def test_every_variable_of_ours_is_declared() -> None:
    """And is in the README, which tests/test_readme.py looks after."""
    used = {name for file in FILES for name in re.findall(r"\bHOSTCONF_[A-Z_]+\b", file.read_text(encoding="utf-8"))}

    assert used == {variable.name for variable in VARIABLES}


def test_no_path_of_a_machine_and_no_unfinished_word() -> None:
    pattern = re.compile(r"/(work|farm|root|home/(?!ada\b)[a-z])[/\"'`]|\b(TODO|FIXME|XXX)\b")
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in FILES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]

    assert found == []
