"""Others' words as they may stand in a file of the agent and in a prompt."""

from __future__ import annotations

import re

from keepsake.language.perception import for_prompt, shorten

LONGEST_TEXT = 200
"""Characters of one line."""
LONGEST_NAME = 48

_ORDERS = (
    r"\b(?:ignore|forget|disregard|override)\b.{0,40}\b(?:instructions?|prompts?|rules?|profile)\b"
    r"|\bsystem (?:prompt|message|note)\b|\byour (?:prompt|profile|pinned|pins|system)\b"
    r"|\blanguage model\b|\bas (?:an?|the|your) (?:admin\w*|builder|developer|creator|system)\b"
    r"|\b(?:admin\w*|builders?|developers?|system|pinned|profile)\s*:"
    # To obey is no rule about anything: it would be a key to all others.
    r"|\bobey\b|\bdo (?:as|what|whatever|anything|everything) I (?:say|tell|ask|want|order)"
)
_INSTRUCTS = re.compile(_ORDERS, re.I)
_MARKS = str.maketrans({"`": "'", '"': "'", "“": "'", "”": "'", "„": "'", "|": "¦"})
_CLOSING = re.compile(r"(?<!\w)['’‘]|['’‘](?!\w)")
_BETWEEN = re.compile(r"[:;,()\[\]]")
"""What parts a name from what stands beside it in a file."""
_BULLET = re.compile(r"^(?:[-*+#>\s]|\d{1,3}[.)]\s)+")


def instructs(text: str) -> bool:
    """Whether ``text`` gives orders about the agent itself, its prompt or its rules."""
    return _INSTRUCTS.search(text) is not None


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
