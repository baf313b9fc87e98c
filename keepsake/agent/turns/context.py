"""Whom a turn answers, and who will hear the answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from keepsake.agent.attention import ANSWERED, IDLE, Impulse, ImpulseKind
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.surroundings import Body, identity_of, name_of, people_near
from keepsake.archive.message_types import BY_RULE, MessageType
from keepsake.archive.privacy import (
    NO_PRIVATE_WORDS,
    Audience,
    PrivateWords,
    is_private,
    is_redacted,
)
from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import Manner, Person
from keepsake.tasks.conversation import asks


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The partner that a turn answers, and its audience.

    Attributes:
        partner: Who is answered; None if nobody is.
        whispered: Whether the partner whispered; then the answer is whispered.
        audience: Who hears the answer; others' private words are left out of the prompt.
        words: The query for recall: the partner's words since the last answer.
        answered: Whether an earlier answer covered the impulse.
        without: The numbers of memories that the prompt leaves out, with all that rests on them:
            for a question outside the game.
        looked_up: The numbers of this turn's own acts, such as ``> recall``, whose results its
            next prompt shows.
    """

    impulse: Impulse
    partner: Person | None = None
    whispered: bool = False
    audience: Audience = NO_PRIVATE_WORDS
    words: str = ""
    answered: bool = False
    without: frozenset[int] = frozenset()
    looked_up: tuple[int, ...] = ()


UNPROMPTED = TurnContext(IDLE)
"""The context of an unprompted turn."""


class Unanswered(NamedTuple):
    """What a person did or said since the agent's last answer to that person.

    Attributes:
        memories: The memories of it, oldest first.
        words: What was said in them.
        since: The newest memory that the agent's last words to the person took into account; 0 if
            the agent said nothing.
    """

    memories: tuple[Memory, ...] = ()
    words: str = ""
    since: int = 0

    @property
    def newest(self) -> int:
        """The number of the newest of the memories; 0 if there is none."""
        return self.memories[-1].number if self.memories else 0


NOTHING = Unanswered()


def context_of(agent: Body, impulse: Impulse, memory: MemoryComponent) -> TurnContext:
    """Return the partner and the audience of a turn."""
    if impulse.kind is ImpulseKind.PLAN:
        return _context_of_plan(agent, impulse)
    if impulse.kind not in ANSWERED or not impulse.source:
        stale = impulse.kind in _OVERHEARD and not _is_news(memory.memory.context().window)
        return TurnContext(impulse, answered=stale)
    waiting = unanswered(memory.memory.context().window, impulse, memory.passed_over)
    whispered = any(map(is_private, waiting.memories))
    alone = frozenset({impulse.source_id} - {""})
    audience = alone if whispered else frozenset(map(identity_of, people_near(agent)))
    answered = 0 < impulse.memory_number <= waiting.since
    return TurnContext(impulse, impulse.person, whispered, audience, waiting.words, answered)


def _context_of_plan(agent: Body, impulse: Impulse) -> TurnContext:
    """Return the context of a turn about a plan.

    Plain lines go to the person of the plan, or to the only one who is here. A plan that only some
    may know of is spoken of aloud if nobody else is here; else it is whispered.
    """
    near = people_near(agent)
    here = {identity_of(each): Person(name_of(each, agent), identity_of(each)) for each in near}
    partner = here.get(impulse.source_id)
    if partner is None and not impulse.source_id:
        # A plan that was made while its person was elsewhere has the name alone.
        partner = next((each for each in here.values() if impulse.person.is_same(each)), None)
    if partner is None and len(here) == 1:
        partner = next(iter(here.values()))
    confided = impulse.confided
    if confided is None:
        return TurnContext(impulse, partner)
    if confided.issuperset(here):
        return TurnContext(impulse, partner, audience=frozenset(here) or confided)
    if partner is not None and partner.id not in confided:
        partner = None
    # Without anybody who may know, the prompt holds no private words: what is done is seen.
    audience = NO_PRIVATE_WORDS if partner is None else frozenset({partner.id})
    return TurnContext(impulse, partner, whispered=True, audience=audience)


_OVERHEARD = (ImpulseKind.HEARD, ImpulseKind.OTHER)
"""Kinds of impulses that ask for no answer, and end when the agent has acted since."""


def _is_news(window: Sequence[Memory]) -> bool:
    """Return whether the agent has perceived anything that its last act did not know of."""
    for memory in reversed(window):
        if memory.is_own:
            return 0 < memory.answers < memory.number - 1
        if memory.kind is MemoryKind.PERCEPTION:
            return True
    return True


def renewed(
    agent: Body, context: TurnContext, impulse: Impulse, memory: MemoryComponent
) -> TurnContext:
    """Return the context of a turn that goes on, after more may have come from its partner.

    A turn in which anything was whispered stays whispered. Its audience never grows, because the
    turn may have recalled what only the first audience may hear; see :func:`secrecy`.

    Args:
        impulse: The current impulse, with what has come since.
    """
    now = context_of(agent, impulse, memory)
    if impulse.kind is ImpulseKind.PLAN:
        return replace(now, looked_up=context.looked_up)
    if now.partner is None or context.partner is None:
        return replace(context, impulse=impulse)
    return replace(
        context,
        impulse=impulse,
        partner=now.partner,
        whispered=context.whispered or now.whispered,
        audience=context.audience & now.audience if now.whispered else context.audience,
        words=now.words or context.words,
    )


def unanswered(
    window: Sequence[Memory], impulse: Impulse, passed_over: Collection[int] = ()
) -> Unanswered:
    """Find what the source of an impulse did or said since the agent's last answer.

    Args:
        passed_over: The numbers of memories that get no answer any more.
    """
    person = impulse.person
    since = 0
    for memory in reversed(window):
        said = memory.said
        # A deed that replied to the words of this impulse has answered only a part of them.
        left = memory.event == MessageType.DEED and memory.number > impulse.memory_number
        to = said.listener if said is not None and not left else None
        if memory.event == MessageType.COURTESY and not left:  # a gesture by rule answers, too
            to = memory.addressee
        if to is not None and to.is_same(person):
            since = memory.answers or memory.number
            break
    waiting = tuple(
        memory
        for memory in window
        if memory.number > since
        and memory.number not in passed_over
        and (memory.number == impulse.memory_number or _is_from(memory, person))
    )
    words = (speech.words for memory in waiting if (speech := memory.heard) is not None)
    return Unanswered(waiting, " ".join(words), since)


def _is_from(memory: Memory, person: Person) -> bool:
    """Whether a person said it to the agent or to everybody."""
    said = memory.heard
    if memory.event in BY_RULE:  # a scene answers itself
        return False
    if said is None or not said.is_to_me_or_all or not said.speaker.is_same(person):
        return False
    # A shout is for whom it names; one for the agent is the reason of the turn.
    return bool(said.to) or said.manner is not Manner.SHOUT


def came_after(window: Sequence[Memory], waiting: Unanswered, person: Person) -> bool:
    """Whether a prompt ends with something else than what is answered.

    That is the case if the agent has acted since, or if somebody else has turned to it. Then the
    prompt says at its end what is answered, so that its newest line and its partner agree.
    """
    for memory in window:
        if memory.number <= waiting.newest:
            continue
        if memory.is_own and not (memory.said is not None and is_redacted(memory)):
            return True
        if asks(memory) and memory.actor is not None and not memory.actor.is_same(person):
            return True
    return False


def secrecy(agent: Body, context: TurnContext, private: PrivateWords) -> tuple[bool, bool]:
    """Return whether an answer is whispered, and whether its prompt may hold whispered words.

    The answer to a whisper is whispered. So is an answer that may hold whispered words, if others
    have come in since. Any answer to a prompt with whispered words may hold them, and a prompt may
    hold them if everybody who hears the answer knows them.
    """
    shared = bool(context.audience) and private.shares_with(context.audience)
    confided = context.whispered or shared
    if context.whispered or not context.partner:
        return context.whispered, confided
    came_in = not context.audience.issuperset(map(identity_of, people_near(agent)))
    return came_in and confided, confided
