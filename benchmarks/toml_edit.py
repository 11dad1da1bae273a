"""What an edit of a TOML file costs, as a multiple of one `tomllib.loads` of the same text.

    python benchmarks/toml_edit.py

CPU seconds, best of five. One edit is: parse the bytes, add a server, read the new
text again and compare. `tomllib` alone is half of what it takes at best: 2.0.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable

from hostconf.formats import toml_

SERVER = {"command": "npx", "args": ["-y", "some-mcp@1.2.3"], "env": {"KEY": "value"}}


def document(size: int) -> bytes:
    """A Codex config of about `size` bytes: half servers, half trusted projects, with comments."""
    parts = ["# made by hand\n", 'model = "gpt-5.5"   # the model\n', 'notify = ["python3", "/x/notify.py"]\n']
    length = number = 0
    while length < size:
        part = (
            f"\n# server {number}\n[mcp_servers.server-{number}]\n"
            f'command = "npx"  # runner\nargs = ["-y", "server-{number}@1.0", "--port", "{number}"]\n'
            f"startup_timeout_sec = {number % 60}\nenabled = true\n"
            f"\n[mcp_servers.server-{number}.env]\nTOKEN_{number} = 'abc'\nLEVEL = \"{number}\"\n"
            f'\n[projects."/home/someone/work/project.{number}"]\ntrust_level = "trusted"\n'
        )
        parts.append(part)
        length += len(part)
        number += 1
    return "".join(parts).encode()


def best(action: Callable[[], object], times: int = 5) -> float:
    """CPU seconds of the fastest run."""
    out = []
    for _ in range(times):
        start = time.process_time()
        action()
        out.append(time.process_time() - start)
    return min(out)


def measure(data: bytes) -> str:
    """One line of the table."""
    text, doc = data.decode(), toml_.parse(data)
    base = best(lambda: tomllib.loads(text))
    parse = best(lambda: toml_.parse(data))
    edit = best(lambda: doc.set(("mcp_servers", "new"), SERVER))
    both = best(lambda: toml_.parse(data).set(("mcp_servers", "new"), SERVER))
    return f"{len(data):>8} {base:>9.4f} {parse:>9.4f} {edit:>9.4f} {both:>9.4f} {both / base:>6.1f}"


def main() -> None:
    """Print a line a size."""
    print(f"{'bytes':>8} {'tomllib':>9} {'parse':>9} {'edit':>9} {'both':>9} {'ratio':>6}")
    for size in (10_000, 50_000, 1_000_000):
        print(measure(document(size)))


if __name__ == "__main__":
    main()
