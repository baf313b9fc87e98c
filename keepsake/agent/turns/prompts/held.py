"""What a prompt held when it was sent: for pages that tell later what an act rests on.

The prompt itself is looked at, because nothing else says which whispers its audience might read.
"""

from __future__ import annotations

from collections.abc import Iterable

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory
from keepsake.language.languages import telling_terms
from keepsake.language.perception import for_prompt, words

MOST_WORDS = 5
"""The most words of an act that are named: they are examples, no list."""
_BEGINNING = 60
"""The first characters of words by which they are found: a long line is cut."""
_LEAST = 12
"""Fewer characters may stand in a prompt for another reason."""


def masked_in(prompt: str, window: Iterable[Memory]) -> tuple[int, ...]:
    """Return the whispers of which a prompt had only that they were whispered.

    Args:
        prompt: The text that was sent.
        window: The memories of its window.

    Returns:
        The numbers of those memories, in the order of the window.
    """
    whispers = (each for each in window if is_private(each) and each.words)
    return tuple(each.number for each in whispers if not holds(prompt, each))


def has_words_of(prompt: str, memory: Memory) -> bool:
    """Return whether a prompt has the words of a memory, whole or cut; False if they are few."""
    began = for_prompt(memory.words)[:_BEGINNING]
    return len(began) >= _LEAST and began in prompt


def holds(prompt: str, memory: Memory) -> bool:
    """Return whether a prompt has a memory, its words or its line; words may be cut."""
    line = for_prompt(memory.text if memory.is_own else memory.line)
    return has_words_of(prompt, memory) or (bool(line) and line in prompt)


def unheld_in(prompt: str, text: str) -> tuple[str, ...]:
    """Return the telling words of a text that stand nowhere in a prompt.

    Args:
        prompt: The text that was sent. Its instructions count, too: so what is returned stands
            surely in none of its memories.
        text: What was said or done.

    Returns:
        The first :data:`MOST_WORDS` words, as they are written.
    """
    held = {term for line in prompt.splitlines() for term in telling_terms(line)}
    found: dict[frozenset[str], str] = {}
    for word in words(text):
        terms = telling_terms(word)
        if terms and held.isdisjoint(terms):
            found.setdefault(terms, word)
    return tuple(found.values())[:MOST_WORDS]
