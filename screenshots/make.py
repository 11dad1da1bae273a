"""Draw the pictures of the README: the wizard and the command line, on the demo home.

`python screenshots/make.py` writes them as SVG and PNG, `python screenshots/make.py --check`
only says whether they are fresh: each SVG to the byte, each PNG by the SVG that it says it
belongs to. To write needs `pip install 'hostconf[pictures]'` and the fonts JetBrains Mono
and DejaVu Sans Mono; to check needs neither.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]
# read by the framework when it is loaded
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ.pop("NO_COLOR", None)

import draw  # noqa: E402

import hostconf  # noqa: E402

hostconf.__version__ = "1.0.0"  # of every release the same; before anything takes it over

from hostconf.demo import demo_home  # noqa: E402
from hostconf.environment import read_environment  # noqa: E402
from hostconf.model import Environment  # noqa: E402
from hostconf.system import RealSystem  # noqa: E402

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from textual.pilot import Pilot

    from hostconf.tui.app import Wizard

NOW = "2026-11-30T10:00:00Z"
SHOWN_HOME = "/home/ada"
SCREEN = (120, 36)
COLUMNS = 120
"""Of the command line's pictures."""
INTEGRATION = "deepseek-web-retrieval"
KEY = "DEEPSEEK_API_KEY"
COMMANDS = {
    "status": ["status", "codex"],
    "conflicts": ["conflicts", "codex"],
    "plan": [
        *("plan", INTEGRATION, "--host", "codex"),
        *("--tier", "web_search=forced", "--tier", "web_fetch=preferred", "--env", KEY),
    ],
}
Shots = dict[str, draw.Picture]


@contextmanager
def sample() -> Iterator[Environment]:
    """The demo home at a fixed time, and without the hosts' programs of this machine."""
    with demo_home({"LANG": "C.UTF-8", "TERM": "xterm-256color"}) as environment:
        nowhere = os.path.join(os.path.dirname(environment.home), "no-programs")
        variables = {**environment.variables, "PATH": nowhere}
        yield environment._replace(now=NOW, variables=variables)


# ------------------------------------------------------------------ the command line


def printed(words: Sequence[str]) -> str:
    """What the command prints on a fresh demo home, colours included."""
    # a pseudo terminal, so that the picture shows what a person sees
    script = "import pty, sys\nsys.exit(pty.spawn([sys.executable, '-m', 'hostconf', *sys.argv[1:]]) >> 8)\n"
    with sample() as environment:
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            cwd=environment.project,
            env={**environment.variables, "COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        home = environment.home
    text = done.stdout.decode().replace("\r\n", "\n")
    return text.replace(home, SHOWN_HOME).replace(home[1:], SHOWN_HOME[1:])


def of_command(words: Sequence[str]) -> draw.Picture:
    """A command and what it prints."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    theme = TerminalTheme(
        (20, 22, 31),
        (213, 217, 232),
        [
            (59, 66, 97),
            (247, 118, 142),
            (158, 206, 106),
            (224, 175, 104),
            (122, 162, 247),
            (187, 154, 247),
            (125, 207, 255),
            (213, 217, 232),
        ],
    )
    console = Console(width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    text = Text.from_ansi(f"$ hostconf {' '.join(words)}\n\n" + printed(words).rstrip())
    lines = [row for line in text.split("\n", allow_blank=True) for row in hanging(line, console)]
    segments = [[part for part in row.render(console) if part.text] for row in lines]
    return draw.picture(segments, COLUMNS, theme.background_color.hex, theme)


def hanging(line: Text, console: Console) -> Iterator[Text]:
    """A line, what is too long for it set in under its begin."""
    from rich.text import Text

    first, *more = line.wrap(console, COLUMNS, tab_size=8) or [line]
    first.rstrip()
    yield first
    if more:
        blanks = " " * (len(line.plain) - len(line.plain.lstrip()) + 2)
        rest = line[len(first.plain) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
        for row in rest.wrap(console, COLUMNS - len(blanks)):
            row.rstrip()
            yield Text(blanks) + row


# ------------------------------------------------------------------ the wizard


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until nothing is at work and what it brought is drawn."""
    from textual.worker import WorkerCancelled

    quiet = 0
    while quiet < 3:
        await pilot.pause()
        try:
            await pilot.app.workers.wait_for_complete()
        except WorkerCancelled:
            continue
        quiet += 1
    await pilot.pause()


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Keys as a person presses them: each acts before the next comes."""
    for key in keys:
        await pilot.press(key)
    await settled(pilot)


def shot(app: Wizard) -> draw.Picture:
    """The screen as it is now, what lies behind a dialog included."""
    from rich.console import Console
    from rich.segment import Segment

    width, height = app.size
    console = Console(
        width=width, height=height, file=io.StringIO(), force_terminal=True, color_system="truecolor", record=True
    )
    console.print(app.screen._compositor.render_update(full=True, screen_stack=app._background_screens))
    segments = Segment.filter_control(console._record_buffer)
    lines = list(Segment.split_and_crop_lines(segments, width))[:height]
    ground = app.theme_variables["background"]
    return draw.picture(lines, width, ground.lower(), app.ansi_theme)


async def in_light(app: Wizard, pilot: Pilot[Any]) -> draw.Picture:
    """The screen in the light theme."""
    await press(pilot, "ctrl+t")
    found = shot(app)
    await press(pilot, "ctrl+t")
    return found


async def whole_way(environment: Environment) -> Shots:
    """From the hosts to an install that is there."""
    from hostconf.tui.app import Wizard

    app, shots = Wizard(environment, demo=True), Shots()
    async with app.run_test(size=SCREEN) as pilot:
        await settled(pilot)
        shots["hosts"] = shot(app)
        shots["hosts-light"] = await in_light(app, pilot)
        await press(pilot, "n")
        await press(pilot, "down", "down")
        shots["conflicts"] = shot(app)
        await press(pilot, "n")
        # forced for the search of every host, preferred for the fetch
        await press(pilot, "right", "right", "a", "down", "left", "a")
        await press(pilot, "up", "right")
        shots["choice"] = shot(app)
        await press(pilot, "n")
        shots["preview"] = shot(app)
        await press(pilot, "2")
        shots["files"] = shot(app)
        shots["files-light"] = await in_light(app, pilot)
        await press(pilot, "a")
        shots["approval"] = shot(app)
        await press(pilot, *"apply", "enter")
        shots["applied"] = shot(app)
        await press(pilot, "d", "i")
        shots["installed"] = shot(app)
    return shots


async def recovery(environment: Environment) -> Shots:
    """The machine lost its power while files were exchanged."""
    from hostconf.tui.app import Wizard

    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--interrupted", environment.home, str(environment.project)],
        env={**environment.variables, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, "the install came to its end"
    app = Wizard(environment, demo=True)
    async with app.run_test(size=SCREEN) as pilot:
        await settled(pilot)
        return {"recovery": shot(app)}


class Interrupted(RealSystem):
    """A disk under a machine of a fixed name, which ends when the third file is about to be exchanged."""

    def __init__(self) -> None:
        self.left, self.made = 3, 0

    def before(self, call: str, *paths: str) -> None:
        """Count, and end."""
        if call in ("exchange", "rename_new") and re.search(r"\.hostconf-[0-9a-f]{12}-", paths[0]):
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)

    def process(self) -> dict[str, int | str]:
        """Who is at work: of every run the same, and from before the machine was started anew."""
        return {**super().process(), "pid": 4711, "boot_id": "another", "host": "desk", "uid": 1000, "user": "ada"}

    def new_id(self) -> str:
        """Of every run the same."""
        self.made += 1
        return f"{self.made:03x}5eed".ljust(32, "0")


def interrupted(home: str, project: str) -> None:
    """An install that does not come to its end."""
    from hostconf import workflow
    from hostconf.workflow.request import Request

    environment = read_environment(home=home, project=project, cwd=project, variables=os.environ)
    request = Request(INTEGRATION, ("claude", "codex", "opencode"), env=((KEY, None),))
    prepared = workflow.prepare(environment._replace(now=NOW), request)
    prepared = prepared._replace(house=prepared.house._replace(system=Interrupted()))
    workflow.carry_out(prepared)


# ------------------------------------------------------------------ writing and checking


def all_pictures() -> Mapping[str, draw.Picture]:
    """Every picture by its name."""
    found = {name: of_command(words) for name, words in COMMANDS.items()}
    for way in (whole_way, recovery):
        with sample() as environment:
            shots = asyncio.run(way(environment))
            found |= {f"wizard-{name}": one for name, one in shots.items()}
    return found


def stale(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """The names of the files that are not what they have to be, and of those that nobody draws any more.

    Args:
        wanted: names of pictures to their SVG.
    """
    found = []
    for name, svg in wanted.items():
        drawing, painting = folder / f"{name}.svg", folder / f"{name}.png"
        if not drawing.exists() or drawing.read_text() != svg:
            found.append(drawing.name)
        if not painting.exists() or draw.belongs_to(painting.read_bytes()) != draw.digest(svg):
            found.append(painting.name)
    found += [p.name for p in sorted(folder.glob("*.*g")) if p.suffix in (".svg", ".png") and p.stem not in wanted]
    return found


def write(folder: Path, pictures: Mapping[str, draw.Picture]) -> None:
    """Write what is not fresh, and remove what nobody draws any more."""
    wanted = {name: draw.svg(one) for name, one in pictures.items()}
    changed = {name.rpartition(".")[0] for name in stale(folder, wanted)}
    for name in sorted(changed):
        if name not in wanted:
            (folder / f"{name}.svg").unlink(missing_ok=True)
            (folder / f"{name}.png").unlink(missing_ok=True)
            continue
        painted = draw.png(pictures[name], wanted[name])
        (folder / f"{name}.svg").write_text(wanted[name])
        (folder / f"{name}.png").write_bytes(painted)
        print(f"wrote {name}.svg and {name}.png")


def main(argv: list[str]) -> int:
    """Write all pictures, or with `--check` compare them."""
    if argv[:1] == ["--interrupted"]:
        interrupted(*argv[1:])
        return 0
    pictures = all_pictures()
    if "--check" in argv:
        names = stale(HERE, {name: draw.svg(one) for name, one in pictures.items()})
        if names:
            print(f"stale: {', '.join(names)}; run `python screenshots/make.py`", file=sys.stderr)
        return 1 if names else 0
    try:
        write(HERE, pictures)
    except ImportError:
        print("error: Pillow is missing\nhint: pip install 'hostconf[pictures]'", file=sys.stderr)
        return 1
    except OSError as error:
        hint = "on Debian and Ubuntu: apt-get install fonts-jetbrains-mono fonts-dejavu-core"
        print(f"error: a font or a folder is missing: {error}\nhint: {hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
