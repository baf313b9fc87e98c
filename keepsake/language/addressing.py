"""Whether words are meant for an agent."""

from __future__ import annotations

import re

from keepsake.happening import ME, Speech
from keepsake.language.perception import names, pattern, sentences, straightened

_WORD = r"[\w'-]+\s+"
_MARK = r"[^\w\s'-]"
"""A punctuation mark of any script. An apostrophe or a hyphen belongs to a word: ``Bob's``."""
_BEFORE = 2
"""The most words of a greeting before the name of who is called: ``Good morning Bob, …``."""


def meant_for(said: Speech, own_name: str, *, alone: bool = False) -> bool:
    """Return whether it was said to the agent: directly, or to everybody with its name in it.

    Args:
        own_name: The agent's name.
        alone: Whether the speaker and the agent are alone, so that each word is for the other.
    """
    return ME in said.to or (not said.to and (alone or names(said.words, own_name)))


def addresses(words: str, name: str) -> bool:
    """Return whether words call somebody by name: punctuation sets the name off from the rest.

    ``Bob, has anyone seen my cup?``, ``Good morning Bob, …`` and ``Thank you, Bob.`` call Bob.
    ``Has anyone seen Bob?`` and ``Bob's hat is here.`` only name him.
    """
    if not names(words, name):
        return False
    called = re.escape(straightened(name))
    begins = rf"^\W*(?:{_WORD}){{0,{_BEFORE}}}{called}\s*{_MARK}\W*\w"
    stands_alone = rf"(?:^\W*|{_MARK}\s*){called}\s*(?:{_MARK}|$)"
    call = pattern(rf"{begins}|{stands_alone}", re.I)
    return any(call.search(each) for each in sentences(straightened(words)))
