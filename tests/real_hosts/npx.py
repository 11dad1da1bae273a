"""What `npx` is inside the cage: it starts the stand-in MCP server of the package named, or fails as npx would.

The packages themselves are not asked from any registry: what is tested is which tools a host takes from a server, and
those are known by name. Standard library only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from tests.real_hosts import mcp_server

# Package: its tools, each with the variable that takes it away when it says "false".
PACKAGES: dict[str, dict[str, str]] = {
    "deepseek-web-retrieval": {
        "deepseek_web_search": "DEEPSEEK_ENABLE_SEARCH",
        "deepseek_fetch": "DEEPSEEK_ENABLE_FETCH",
    },
    "tavily-mcp": {"tavily_search": "", "tavily_research": "", "tavily_extract": "", "tavily_crawl": ""},
    "notes-mcp": {"note_add": ""},
}


def package_of(argv: list[str]) -> str:
    """The package that `npx ARGS` names, without its version."""
    words = [word for word in argv if not word.startswith("-")]
    reference = words[0] if words else ""
    at = reference.rfind("@")
    return reference[:at] if at > 0 else reference


def tools_of(package: str, variables: Mapping[str, str]) -> list[str]:
    """The tools that a package offers under these variables."""
    return [tool for tool, off in PACKAGES[package].items() if variables.get(off, "true").strip().lower() != "false"]


def main(argv: list[str]) -> int:
    """Serve the package named."""
    package = package_of(argv)
    if package not in PACKAGES:
        print(f"npx stand-in: unknown package {package!r}", file=sys.stderr)
        return 1
    return mcp_server.main([package, ",".join(tools_of(package, os.environ))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
