"""Which recalled memories tell a reader of the prompt something new.

A question tells nothing without its answer. A greeting and an arrival tell nothing at all. What a
summary, a pin or the page of a person beside it says already need not be said twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from keepsake.archive.message_types import MOVES, MessageType
from keepsake.archive.records import Memory
from keepsake.archive.replies import replies_to
from keepsake.happening import KnownVerb, Speech
from keepsake.language.perception import is_question, sentences, telling
from keepsake.tasks.fallback import is_courtesy

_COMES_AND_GOES = MOVES | {MessageType.LOGIN, MessageType.LOOK}
_AFTER_CALL = frozenset(",!:;，、！")
"""The marks after the name of somebody who is called, in any language's script."""
_GOING = frozenset({KnownVerb.GO, KnownVerb.WALK, KnownVerb.FOLLOW})
"""Verbs of own acts that tell only where the agent went."""


def tells(memory: Memory, around: Mapping[int, Memory], agent: str) -> bool:
    """Return whether a memory tells anything, together with its answer if it is a question.

    Args:
        around: Memories by number, in which the answer is searched.
        agent: The agent's name, which a greeting may have.
    """
    what = memory.what
    if isinstance(what, Speech):
        if only_asks(what.words):
            answers = (around[number].words for number in replies_to(memory, around))
            return not all(map(only_asks, answers))
        return states(what.words, [agent, *(each.name for each in (what.speaker, *what.to))])
    return not only_moves(memory)


def only_moves(memory: Memory) -> bool:
    """Return whether a memory is that somebody came, went or looked around."""
    return memory.event in _COMES_AND_GOES or memory.verb in _GOING


def states(words: str, names: Iterable[str]) -> bool:
    """Return whether words state something: no mere question, greeting, thanks or farewell.

    Args:
        names: The names of speaker and addressees, which a greeting may have.
    """
    return not only_asks(words) and bool(telling(words)) and not is_courtesy(words, names)


def told_in(words: str, names: Iterable[str]) -> str:
    """Return the sentences of words that state something; empty if none does.

    Args:
        names: The names of speaker and addressees, which a greeting may have.
    """
    return _told(words, tuple(names))


@lru_cache(maxsize=4096)  # the lines of fifty full pages, which every prompt asks about again
def _told(words: str, names: tuple[str, ...]) -> str:
    return " ".join(each for each in sentences(words) if states(each, names))


def calls(words: str, names: Iterable[str]) -> bool:
    """Return whether words begin by calling one of these people: ``Mira, would you …``."""
    begun = words.casefold()
    rests = (begun.removeprefix(name.casefold()) for name in names if name)
    return any(rest != begun and rest.lstrip()[:1] in _AFTER_CALL for rest in rests)


def only_asks(words: str) -> bool:
    """Return whether words are questions alone; words that say nothing are, too."""
    return all(map(is_question, sentences(words)))


class Shown:
    """What a prompt says beside the recalled memories.

    Args:
        texts: Summaries, pins, what is known of people: each of one line or more.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._said = [said for text in texts for said in _said_in(text)]
        self._words = frozenset[str]().union(*self._said)

    def says(self, words: str) -> bool:
        """Return whether every sentence is said already.

        That is so if one sentence of the texts has all its telling words.
        """
        told = [each for each in map(telling, sentences(words)) if each]
        # Most lines have a word that no text has: then no sentence needs to be looked at.
        if not all(map(self._words.issuperset, told)):
            return False
        return all(any(said >= each for said in self._said) for each in told)


@lru_cache(maxsize=512)  # the summaries of a hundred agents, which change rarely
def _said_in(text: str) -> tuple[frozenset[str], ...]:
    """Return the telling words of each sentence of a text."""
    lines = (sentence for line in text.splitlines() for sentence in sentences(line))
    return tuple(map(telling, lines))
