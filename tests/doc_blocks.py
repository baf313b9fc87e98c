"""The examples of a page in docs."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S)


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of that language in ``docs/page``, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [each["body"] for each in _FENCE.finditer(text) if each["language"] == language]
