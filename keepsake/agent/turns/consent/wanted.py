"""Which words of an answer are for somebody who does not know what its prompt held in private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.agent.acting.journey import Journey
from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.surroundings.people import persons_near
from keepsake.agent.turns.answers.errand import read_words
from keepsake.agent.turns.context import TurnContext
from keepsake.archive.privacy import Audience
from keepsake.happening import KnownVerb, Person
from keepsake.tasks.answer import AnswerPart, PartKind

LEAVING = frozenset({KnownVerb.GO, KnownVerb.WALK, KnownVerb.FOLLOW})
"""Verbs after which plain lines may be for somebody else."""


@dataclass(frozen=True, slots=True)
class WordsFor:
    """Words for somebody who does not know what the prompt held.

    Attributes:
        to: Whom they are for, and who is here.
        verb: The verb with which they were written.
        aloud: Whether they were asked for aloud, so that others may hear them.
    """

    to: Person
    words: str
    verb: str = KnownVerb.SAY
    reason: str = ""
    aloud: bool = False


def wanted_by(
    part: AnswerPart, agent: Body, context: TurnContext, journey: Journey | None, known: Audience
) -> WordsFor | None:
    """Return what a part would say to somebody here who may not know of the answer; else None.

    Args:
        context: Whom the answer is to, as it is after its last walk.
        journey: The last walk that the answer has begun; None without one.
        known: Who may know of it.
    """
    others = [each for each in persons_near(agent) if each.id and each.id not in known]
    match part.kind:
        case PartKind.DEED:
            read = read_words(part.text, [each.name for each in others])
            named = [each for each in others if read is not None and each.name == read.to]
            if read is None or len(named) != 1:
                return None
            return WordsFor(named[0], read.words, read.verb, read.reason)
        case PartKind.SPEECH:
            to = _plain_to(agent, context, journey)
            if to is None or to not in others:
                return None
            return WordsFor(to, part.text, reason=part.reason)
        case _:
            return None


def _plain_to(agent: Body, context: TurnContext, journey: Journey | None) -> Person | None:
    """Return for whom plain lines are; None for nobody.

    The partner, or if they have been left, the person to whom the walk led, for whom the plan is,
    or the only one here.
    """
    near = persons_near(agent)
    partner = context.partner
    here = next((each for each in near if partner is not None and partner.is_same(each)), None)
    if here is not None:
        return here
    is_plan = context.impulse.kind is ImpulseKind.PLAN
    if journey is None and not is_plan:
        return None
    meant = journey.person if journey is not None else context.impulse.person
    if meant is not None and meant.name:
        return next((each for each in near if meant.is_same(each)), None)
    return near[0] if len(near) == 1 else None


def all_words(wanted: WordsFor, behind: Sequence[AnswerPart]) -> tuple[str, ...]:
    """Return all that an answer would say to that person: these words, and those behind them.

    Plain lines are for the same person as these, if these are plain, until the agent leaves.
    """
    found = [wanted.words]
    is_plain = wanted.verb == KnownVerb.SAY
    for part in behind:
        if part.kind is PartKind.SPEECH and is_plain:
            found.append(part.text)
        elif part.kind is PartKind.DEED:
            read = read_words(part.text, [wanted.to.name])
            if read is not None:
                found.append(read.words)
            is_plain = is_plain and part.text.partition(" ")[0] not in LEAVING
    return tuple(dict.fromkeys(found))
