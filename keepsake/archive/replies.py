"""Which memories answer the words of another one.

In a room full of people the answer to a question is seldom the next line. It is known by who speaks
to whom: the next words of who was spoken to, for who spoke.
"""

from __future__ import annotations

from collections.abc import Mapping

from keepsake.archive.records import Memory
from keepsake.happening import ME, Person, Speech

REACH = 12
"""How many memories later an answer comes at most. In two evenings of a village, 87 % of what was
answered at all was answered by then, 57 % within two."""
_MOST = 3
"""The most lines of one answer: agents speak a sentence a line."""


def replies_to(asked: Memory, following: Mapping[int, Memory]) -> tuple[int, ...]:
    """Return the numbers of the memories that answer the words of another one, in order.

    They are the next words of who was spoken to, or of anybody if the words were for everybody, up
    to the next words of who spoke.

    Args:
        asked: The words; without words nothing answers.
        following: The memories after it that are known, by number.
    """
    what = asked.what
    if not isinstance(what, Speech) or not what.words:
        return ()
    found = list[int]()
    for number in range(asked.number + 1, asked.number + REACH + 1):
        later = following.get(number)
        if later is None or not later.words:
            continue
        if found and (_is_by_speaker(what, later) or len(found) == _MOST):
            break
        if _answers(what, later):
            found.append(number)
    return tuple(found)


def goes_on(memory: Memory, following: Mapping[int, Memory]) -> tuple[int, ...]:
    """Return the number of the next memory if it is more of the same speech, else nothing.

    Agents speak a sentence a line.

    ``following``: The memories after it that are known, by number.
    """
    what = memory.what
    after = following.get(memory.number + 1)
    said = after.what if after is not None else None
    if not isinstance(what, Speech) or not isinstance(said, Speech):
        return ()
    whole = are_same(what.speaker, said.speaker) and what.to == said.to
    return (memory.number + 1,) if whole else ()


def _is_by_speaker(asked: Speech, later: Memory) -> bool:
    return isinstance(later.what, Speech) and are_same(later.what.speaker, asked.speaker)


def _answers(asked: Speech, later: Memory) -> bool:
    """Whether words are by somebody to whom others were said, and for who said those."""
    said = later.what
    if not isinstance(said, Speech) or are_same(said.speaker, asked.speaker):
        return False
    by = not asked.to or any(are_same(said.speaker, each) for each in asked.to)
    return by and (not said.to or any(are_same(asked.speaker, each) for each in said.to))


def are_same(one: Person, other: Person) -> bool:
    """Return whether two people are one, who may be the agent itself."""
    return one == other if ME in (one, other) else one.is_same(other)
