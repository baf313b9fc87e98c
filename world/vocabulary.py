"""The words of this world's own texts: what a player's name must not be."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from keepsake import regular_files
from keepsake.language.perception import words
from world.layers import layers

_TEXTS = ("map.yaml", "things.yaml", "scenes.yaml", "agents/*.md", "deeds/*.yaml")

OFTEN = 10
"""How many times a word stands in the texts before it counts as the world's own."""


@cache
def world_words() -> frozenset[str]:
    """Return the words that the world's files often write in lower case: ``soup``, ``kettle``.

    A word that they write with a capital letter alone is a name, such as Mira. A word that stands
    there a few times, such as the verb *bob*, may be somebody's name.
    """
    paths = (path for layer in layers() for each in _TEXTS for path in layer.glob(each))
    texts = map(_text, paths)
    found = (word for text in texts for word in words(text.replace("'", " ").replace("’", " ")))
    counts = Counter(word for word in found if word.islower())
    return frozenset(word for word, count in counts.items() if count >= OFTEN)


def _text(path: Path) -> str:
    """Return the text of a file; empty if it cannot be read: a reload says so, not a log-in."""
    try:
        return regular_files.read_text(path)
    except (OSError, UnicodeDecodeError):
        return ""
