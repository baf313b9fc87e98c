"""Words to somebody else that an answer may not say now, as a plan to say them.

A prompt for somebody who has whispered to the agent shows the whispers, and what is written then is
said to nobody else. If that person has asked aloud for words to somebody else, the agent plans to
say them. What others are shown of the plan is what was said aloud, and from that prompt the model
finds the words anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.agent.acts import Basis
from keepsake.agent.body import Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings.people import persons_near
from keepsake.happening import KnownVerb
from keepsake.prompt.verbs import VERBS, Command, Options
from keepsake.tasks.deed import Refusal, read_deed

_TO_ONE = tuple(verb for verb in VERBS if verb.name in (KnownVerb.TALK, KnownVerb.WHISPER))
"""The verbs of words to one person."""


def errand_of(line: str, agent: Body, tools: MemoryTools, basis: Basis) -> Command | None:
    """Return the plan for now to say the words of a refused deed; None if it stays refused.

    Args:
        line: The deed, as the model wrote it after ``>``: ``talk Bram = Some honey, please?``.
        basis: What the answer rests on.
    """
    if basis.confidants is None or basis.aloud is None:
        return None
    if KnownVerb.PLAN in tools.withheld:
        return None
    people = (*persons_near(agent), *tools.people_known)
    others = dict.fromkeys(each.name for each in people if each.id not in basis.confidants)
    read = read_words(line, tuple(others))
    if read is None or not basis.aloud.names(read.to):
        return None
    words = f"now, {read.to}: {read.line}"
    return Command(KnownVerb.PLAN, words, words=words)


def read_words(line: str, people: Sequence[str]) -> Command | None:
    """Return a deed that speaks to one of those people; None for another deed."""
    read = read_deed(line, _TO_ONE, Options(people=tuple(people)))
    return None if isinstance(read, Refusal) else read
