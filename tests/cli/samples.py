"""The examples of docs/json.md as data: what the documents promise is what the tests show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "json.md"


def samples() -> dict[str, Any]:
    """Verb to its example data."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return {verb: json.loads(body) for verb, body in re.findall(r"```json (\w+)\n(.*?)```", text, re.S)}
