"""What of others' words may stand in a profile and, with it, in a prompt.

What only the profile itself writes, or the machinery around it, would forge a line of it; what
gives the agent orders about itself is kept in the archive alone.
"""

from __future__ import annotations

import re

from game.mind.books import noticing
from game.mind.language.perception import for_prompt, shorten

LONGEST_VALUE = 60
"""Characters of one fact."""
LONGEST_TEXT = 200
"""Characters of one observation."""
LONGEST_NAME = 48

_FORGED = re.compile(
    r"\byou (?:think|know)\s*:|\blast(?: met|\s*:)|\b(?:broke|kept) a promise\s*:", re.I
)
"""What only the line of a profile in a prompt says, beside what no line of a prompt may hold."""
_MARKS = str.maketrans({"`": "'", '"': "'", "“": "'", "”": "'", "„": "'", "|": "¦"})
_CLOSING = re.compile(r"(?<!\w)['’‘]|['’‘](?!\w)")
_BETWEEN = re.compile(r"[:;,()\[\]]")
"""What parts a name from what stands beside it in a file."""
_BULLET = re.compile(r"^(?:[-*+#>\s]|\d{1,3}[.)]\s)+")


def is_fit(text: str) -> bool:
    """Whether ``text`` neither forges a line of a profile nor orders the agent about."""
    return noticing.is_fit(text) and not _FORGED.search(text)


def line(text: str, limit: int = LONGEST_TEXT) -> str:
    """``text`` as one harmless line: no heading, list mark, cursor or double quote in it."""
    before, clean = "", text.translate(_MARKS)
    while clean != before:  # what stood behind a mark may be one itself
        before = clean
        clean = shorten(_BULLET.sub("", for_prompt(clean)).strip(), limit)
    return clean


def quoted(text: str, limit: int = LONGEST_TEXT) -> str:
    """``text`` as it may stand between single quotes, which it cannot close."""
    return f"'{line(_CLOSING.sub('', line(text, limit)), limit)}'"


def name(text: str) -> str:
    """A name as a profile keeps it; what is no name at all becomes ``somebody``."""
    before, clean = "", text
    while clean != before:
        before = clean
        clean = " ".join(_BETWEEN.sub(" ", line(_BETWEEN.sub(" ", clean), LONGEST_NAME)).split())
    return clean if any(c.isalnum() for c in clean) else "somebody"
