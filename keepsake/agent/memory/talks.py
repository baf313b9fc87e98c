"""Which memories are of one talk, so that a prompt shows them as one excerpt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile

from keepsake.archive.records import Memory
from keepsake.happening import ME, Person, Speech, addressees_of
from keepsake.recall.documents import SAME_SCENE

_REACH = 3
"""How many memories on each side of one belong to its excerpt at most."""


def belongs(memory: Memory, talk: Mapping[int, Memory]) -> bool:
    """Return whether a memory is of the same talk as others: at one time, with the same people."""
    return all(
        abs(each.time - memory.time) <= SAME_SCENE
        and each.place == memory.place
        and _same_people(each, memory)
        for each in talk.values()
    )


def same_talk(memory: Memory, around: Iterable[Memory]) -> list[Memory]:
    """Return the memory with consecutive ones of the same talk, at most three on each side.

    A line between other people ends the talk.
    """
    talk = {
        each.number: each
        for each in around
        if abs(each.time - memory.time) <= SAME_SCENE and _same_people(each, memory)
    }
    number = memory.number
    after = takewhile(talk.__contains__, range(number + 1, number + _REACH + 1))
    before = takewhile(talk.__contains__, range(number - 1, number - _REACH - 1, -1))
    return [*(talk[n] for n in sorted(before)), memory, *(talk[n] for n in after)]


def _same_people(one: Memory, other: Memory) -> bool:
    """Whether two memories are about one talk of the agent, or one that it overheard.

    What concerns nobody fits everything, and what two people say to all who hear it is one talk.
    Otherwise somebody besides the agent takes part in both.
    """
    first = _people(one)
    second = _people(other)
    if not first or not second or (_is_to_all(one) and _is_to_all(other)):
        return True
    return any(_is_same(a, b) for a in first for b in second)


def _people(memory: Memory) -> list[Person]:
    """Return who takes part in a memory besides the agent: who acts, and who is turned to."""
    actor = [] if memory.actor is None else [memory.actor]
    return [each for each in (*actor, *addressees_of(memory.what)) if each != ME]


def _is_to_all(memory: Memory) -> bool:
    """Whether a memory is what somebody said to everybody who heard it."""
    return isinstance(memory.what, Speech) and not memory.what.to


def _is_same(one: Person, other: Person) -> bool:
    """Whether two people are one; old archives have names alone."""
    return one.is_same(other) if other.id else other.is_same(one)
