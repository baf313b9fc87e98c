"""Words to somebody else that an answer may not say now, as a plan to say them.

A prompt for somebody who has whispered to the agent shows the whispers, and what is written then is
said to nobody else. If that person has asked aloud for words to somebody else, the agent plans to
say them. What others are shown of the plan is what was said aloud, and from that prompt the model
finds the words anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.agent.acting.acts import Basis
from keepsake.agent.body import Body
from keepsake.agent.memory.tools import WRITES_FOR_ALL, MemoryTools
from keepsake.agent.surroundings.people import persons_near
from keepsake.archive.records import Memory
from keepsake.books.aloud import Aloud
from keepsake.happening import KnownVerb
from keepsake.language.perception import names, shorten
from keepsake.prompt.verbs import VERBS, Command, Options
from keepsake.tasks.deed import Refusal, read_deed

_TO_ONE = tuple(verb for verb in VERBS if verb.name in (KnownVerb.TALK, KnownVerb.WHISPER))
"""The verbs of words to one person."""


_LONGEST_ASKED = 360
"""The longest quotation of a request in a plan, in characters. A plan has room for 400."""
NOT_FOR_OTHERS = "an answer that may hold what was whispered to you reaches nobody else"
"""Why words are not said, as the agent reads it."""


def why_unsaid(line: str, verb: str, agent: Body, tools: MemoryTools) -> str:
    """Return why a deed is not done that may hold whispered words, as the agent reads it.

    Args:
        line: The deed, as the model wrote it.
        verb: Its verb.
    """
    if verb in WRITES_FOR_ALL:
        return f"You tried to {verb}: notes may not contain whispered words"
    people = (*persons_near(agent), *tools.people_known)
    words = read_words(line, tuple(dict.fromkeys(each.name for each in people)))
    if words is None:
        return f"You tried to {verb}: that cannot be done now"
    return f"You did not say your words to {words.to}: {NOT_FOR_OTHERS}"


def errand_of(line: str, agent: Body, tools: MemoryTools, basis: Basis) -> Command | None:
    """Return the plan for now to say the words of a refused deed; None if it stays refused.

    Args:
        line: The deed, as the model wrote it after ``>``: ``talk Bram = Some honey, please?``.
        basis: What the answer rests on.
    """
    aloud = _asks_aloud(tools, basis)
    if aloud is None:
        return None
    read = read_words(line, _others(agent, tools, basis))
    if read is None or not aloud.names(read.to):
        return None
    return _plan_now(read.to, read.line)


def errand_at(
    place: str, words: str, agent: Body, tools: MemoryTools, basis: Basis
) -> Command | None:
    """Return the plan for now to say words at a place; None if nobody asked aloud to go there.

    Args:
        place: The name of the place to which the answer has led the agent.
        words: Plain words, as the model wrote them after the walk.
        basis: What the answer rests on.
    """
    aloud = _asks_aloud(tools, basis)
    if aloud is None or not place or not aloud.names(place):
        return None
    named = (each for each in _others(agent, tools, basis) if names(words, each))
    return _plan_now(place, f"{KnownVerb.SAY} {words}") if all(map(aloud.names, named)) else None


def errand_asked(words: Memory, place: str = "") -> Command:
    """Return the plan for now to do what somebody has asked for, in their own words.

    ``place``: Where it is to be done; empty if that is not known.
    """
    asked = Aloud.of(words.number, shorten(words.line, _LONGEST_ASKED)).request
    line = f"now, {place}: {asked}" if place else f"now: {asked}"
    return Command(KnownVerb.PLAN, line, words=line)


def _asks_aloud(tools: MemoryTools, basis: Basis) -> Aloud | None:
    """Return the open words that an answer with private words in its prompt is to; else None."""
    is_private = basis.confidants is not None and KnownVerb.PLAN not in tools.withheld
    return basis.aloud if is_private else None


def _others(agent: Body, tools: MemoryTools, basis: Basis) -> tuple[str, ...]:
    """Return the names of the people here, and of those known, who may not know of an answer.

    Without the one who is answered.
    """
    people = (*persons_near(agent), *tools.people_known)
    known = {*(basis.confidants or ()), basis.partner}
    return tuple(dict.fromkeys(each.name for each in people if each.id not in known))


def _plan_now(condition: str, deed: str) -> Command:
    words = f"now, {condition}: {deed}"
    return Command(KnownVerb.PLAN, words, words=words)


def read_words(line: str, people: Sequence[str]) -> Command | None:
    """Return a deed that speaks to one of those people; None for another deed."""
    read = read_deed(line, _TO_ONE, Options(people=tuple(people)))
    return None if isinstance(read, Refusal) else read
