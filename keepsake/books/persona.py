"""An agent's persona without its secret lines."""

from __future__ import annotations

import re
from functools import lru_cache

from keepsake.language.perception import sentences

SECRET = "(secret)"
"""Marks a sentence of a persona that the agent tells nobody."""
_SECRET_PARTS = re.compile(
    r"^#+[ \t]*secrets?\b.*?(?=^#|\Z)|(?:^|(?<=[.!?]\s))[-*\s]*secrets?:.*?(?=\n\s*\n|^#|\Z)",
    re.I | re.M | re.S,
)


@lru_cache(maxsize=512)  # each thought of each agent calls it
def open_lines(profile: str) -> tuple[str, ...]:
    """Return the sentences of a persona that anybody may hear, with single spaces.

    It omits each sentence with ``(secret)`` in it, a paragraph from ``Secret:`` on, and the text
    below a heading ``Secret``. If the line breaks are lost, that is all of the remaining text.
    """
    lines = _SECRET_PARTS.sub("", profile).splitlines()
    shown = "\n".join("" if line.startswith("#") else line for line in lines)
    found = (" ".join(each.split()) for each in sentences(shown))
    return tuple(each for each in found if SECRET not in each.casefold())
