"""The words of this world's own texts: what a player's name must not be."""

from __future__ import annotations

from functools import cache

from keepsake.language.perception import words
from world.atlas import FOLDER

_TEXTS = ("*.yaml", "*.txt", "agents/*.md", "deeds/*.yaml", "help/*.md")


@cache
def world_words() -> frozenset[str]:
    """Return the words that the world's files write in lower case: ``soup``, ``kettle``.

    A word that they write with a capital letter alone is a name, such as Mira.
    """
    texts = (path.read_text("utf-8") for each in _TEXTS for path in FOLDER.glob(each))
    found = (word for text in texts for word in words(text.replace("'", " ").replace("’", " ")))
    return frozenset(word for word in found if word.islower())
