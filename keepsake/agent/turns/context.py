"""Whom a turn answers, and who will hear the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepsake.agent.attention.impulse import ANSWERED, IDLE, Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of
from keepsake.agent.surroundings.people import people_near, persons_near
from keepsake.agent.turns.waiting import Unanswered, is_moot_greeting, is_said_to_me, unanswered
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience, PrivateWords
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.aloud import Aloud
from keepsake.happening import Person


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The partner that a turn answers, and its audience.

    Attributes:
        partner: Who is answered; None if nobody is.
        whispered: Whether the partner whispered; then the answer is whispered.
        audience: Who hears the answer; others' private words are left out of the prompt.
        words: The query for recall: the partner's words since the last answer.
        aloud: These words as the agent perceived them; None if there are none, or any of them was
            whispered.
        answered: Whether an earlier answer covered the impulse.
        without: The numbers of memories that the prompt leaves out, with all that rests on them:
            for a question outside the game.
        looked_up: The numbers of this turn's own acts, such as ``> recall``, whose results its
            next prompt shows.
        replies: The numbers of private memories that the prompt shows, although not all who hear
            the answer know them: what was asked in a whisper for the plan that the turn is about,
            and what was whispered back.
        errand: The errand of the words that are answered, if the partner carries them for somebody
            else: then the prompt holds in private only what belongs to it, and the answer is for
            those who sent the partner, too; see :mod:`keepsake.agent.turns.consent.carried`.
    """

    impulse: Impulse
    partner: Person | None = None
    whispered: bool = False
    audience: Audience = NO_PRIVATE_WORDS
    words: str = ""
    aloud: Aloud | None = None
    answered: bool = False
    without: frozenset[int] = frozenset()
    looked_up: tuple[int, ...] = ()
    replies: frozenset[int] = frozenset()
    errand: str = ""

    @property
    def reached(self) -> Audience:
        """Who hears the answer: the audience, and who carries the words that are answered."""
        carrier = {self.partner.id} if self.errand and self.partner is not None else set[str]()
        return self.audience | carrier


UNPROMPTED = TurnContext(IDLE)
"""The context of an unprompted turn."""


def context_of(agent: Body, impulse: Impulse, memory: MemoryComponent) -> TurnContext:
    """Return the partner and the audience of a turn."""
    if impulse.kind is ImpulseKind.PLAN:
        return _context_of_plan(agent, impulse)
    if impulse.kind not in ANSWERED or not impulse.source:
        asked = _words_to_me(agent, memory)
        # What was overheard later is answered itself, and to whom it is from.
        is_newest = asked is not None and asked.memory_number > _overheard(impulse)
        if asked is not None and is_newest:
            return context_of(agent, asked, memory)
    if impulse.kind not in ANSWERED or not impulse.source:
        stale = impulse.kind in _OVERHEARD and not _is_news(memory.memory.context().window)
        here = frozenset(map(identity_of, people_near(agent)))
        # Alone with who acted, it knows what the two told each other in private.
        is_alone = here == {impulse.source_id} != {""}
        audience = here if is_alone else NO_PRIVATE_WORDS
        return TurnContext(impulse, answered=stale, audience=audience)
    window = memory.memory.context().window
    waiting = unanswered(window, impulse, memory.passed_over)
    whispered = waiting.whispered
    alone = frozenset({impulse.source_id} - {""})
    audience = alone if whispered else frozenset(map(identity_of, people_near(agent)))
    # Answered, or the two have parted since.
    known = any(each.number == impulse.memory_number for each in window)
    answered = 0 < impulse.memory_number <= waiting.since or (known and not waiting.memories)
    answered = answered or is_moot_greeting(window, impulse)
    aloud = _aloud(waiting)
    return TurnContext(impulse, impulse.person, whispered, audience, waiting.words, aloud, answered)


def _aloud(waiting: Unanswered) -> Aloud | None:
    """Return what waits for an answer, if it was said and anybody may know it; else None."""
    if not waiting.words or waiting.whispered:
        return None
    return Aloud.of(waiting.newest, " ".join(each.line for each in waiting.memories))


def _context_of_plan(agent: Body, impulse: Impulse) -> TurnContext:
    """Return the context of a turn about a plan.

    Plain lines go to the person of the plan, or to the only one who is here. A plan that only some
    may know of is spoken of aloud if nobody else is here; else it is whispered.
    """
    here = {each.id: each for each in persons_near(agent)}
    partner = here.get(impulse.source_id)
    if partner is None and not impulse.source_id:
        # A plan that was made while its person was elsewhere has the name alone.
        partner = next((each for each in here.values() if impulse.person.is_same(each)), None)
    if partner is None and len(here) == 1:
        partner = next(iter(here.values()))
    confided = impulse.confided
    if confided is None:
        # Alone with the person of the plan, it knows what they told each other in private.
        alone = partner is not None and [*here] == [impulse.source_id]
        return TurnContext(
            impulse, partner, audience=frozenset(here) if alone else NO_PRIVATE_WORDS
        )
    if confided.issuperset(here):
        return TurnContext(impulse, partner, audience=frozenset(here) or confided)
    if partner is not None and partner.id not in confided:
        partner = None
    # Without anybody who may know, the prompt holds no private words: what is done is seen.
    audience = NO_PRIVATE_WORDS if partner is None else frozenset({partner.id})
    return TurnContext(impulse, partner, whispered=True, audience=audience)


def arrived(
    agent: Body, context: TurnContext, wanted: Sequence[Person], confidants: Audience | None
) -> TurnContext:
    """Return the context of the rest of an answer, after a walk to a place or a person.

    Plain lines go to the first of ``wanted`` who is there, or in a turn about a plan to the only
    one who is there.

    Args:
        wanted: For whom they may be, the likeliest first.
        confidants: Who alone may know what the answer says; None for everybody.
    """
    near = persons_near(agent)
    if confidants is not None:
        return _arrived_in_confidence(context, wanted, near, confidants)
    partner = _first_of(wanted, near)
    if partner is None:
        if context.impulse.kind is not ImpulseKind.PLAN or context.whispered:
            return context  # its words are for somebody who is not here
        partner = near[0] if len(near) == 1 else None
    return replace(context, partner=partner, audience=NO_PRIVATE_WORDS)


def _first_of(wanted: Sequence[Person], near: Sequence[Person]) -> Person | None:
    """Return the first of the wanted people who is here, as the agent knows them; None for none."""
    here = (each for whom in wanted for each in near if whom.is_same(each))
    return next(here, None)


def _arrived_in_confidence(
    context: TurnContext, wanted: Sequence[Person], near: Sequence[Person], confidants: Audience
) -> TurnContext:
    """Return the context after a walk, of an answer that only some may know.

    Its words go to one of them who is there: aloud if nobody else is, and else in a whisper. If
    none is, they are said to nobody.
    """
    known = [each for each in near if each.id in confidants]
    partner = _first_of(wanted, known)
    if partner is None and context.impulse.kind is ImpulseKind.PLAN and len(known) == 1:
        partner = known[0]
    if partner is None:
        return context
    alone = len(known) == len(near)
    audience = frozenset(each.id for each in known) if alone else frozenset({partner.id})
    return replace(context, partner=partner, audience=audience, whispered=not alone)


def _words_to_me(agent: Body, memory: MemoryComponent) -> Impulse | None:
    """Return the impulse of words to the agent that no prompt has shown yet; None without any.

    A turn for another reason is then about these words, since its prompt ends with them. They may
    have come after the turn began, or have been no reason to think by themselves. Words that a
    prompt has shown are no reason again: the agent has kept silent, and a turn about nobody's words
    does not repeat them.
    """
    near = {identity_of(each): each for each in people_near(agent)}
    for each in reversed(memory.memory.context().window):
        if each.number <= memory.considered:
            return None
        said = each.heard
        if said is None or said.speaker.id not in near or not is_said_to_me(each, said.speaker):
            continue
        speaker = near[said.speaker.id]
        impulse = Impulse(
            ImpulseKind.ADDRESSED,
            bool(speaker.has_account),
            name_of(speaker, agent),
            each.number,
            said.speaker.id,
        )
        window = memory.memory.context().window
        if unanswered(window, impulse, memory.passed_over).memories:
            return impulse
    return None


_OVERHEARD = (ImpulseKind.HEARD, ImpulseKind.OTHER)
"""Kinds of impulses that ask for no answer, and end when the agent has acted since."""


def _overheard(impulse: Impulse) -> int:
    """Return the number of the memory that somebody's words to nobody are; 0 for another reason."""
    return impulse.memory_number if impulse.kind is ImpulseKind.HEARD and impulse.source else 0


def speaks_to(agent: Body, context: TurnContext, window: Sequence[Memory]) -> Person | None:
    """Return to whom plain words of an answer are said; None for all who are here.

    That is the partner. An answer to what somebody said to nobody is for that person, if they are
    here, and if it does not answer somebody else's words as well.
    """
    impulse = context.impulse
    if context.partner is not None or not _overheard(impulse):
        return context.partner
    before = next((each for each in window if each.number == impulse.earlier), None)
    if before is not None and before.source_id != impulse.source_id:
        return None
    return next((each for each in persons_near(agent) if each.id == impulse.source_id), None)


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

    A turn about a whisper stays whispered; see :func:`speaks_openly_now`. The audience of an answer
    to somebody never grows, because the turn may have recalled what only the first audience may
    hear; see :func:`secrecy`. That of a turn about a plan is found anew, and the prompt leaves out
    what the new one may not hear.

    Args:
        impulse: The current impulse, with what has come since.
    """
    now = context_of(agent, impulse, memory)
    if impulse.kind is ImpulseKind.PLAN:
        return replace(now, looked_up=context.looked_up)
    if context.partner is None and now.partner is not None:
        # What the turn has recalled for nobody, everybody may know.
        return replace(now, looked_up=context.looked_up)
    if now.partner is None:
        return context if context.partner is not None else replace(context, impulse=impulse)
    return replace(
        context,
        impulse=impulse,
        partner=now.partner,
        whispered=context.whispered or now.whispered,
        audience=context.audience & now.audience if now.whispered else context.audience,
        words=now.words or context.words,
        aloud=now.aloud if now.words else context.aloud,
    )


def speaks_openly_now(
    agent: Body, context: TurnContext, impulse: Impulse, memory: MemoryComponent
) -> bool:
    """Return whether the partner of a turn about a whisper has said something openly since.

    The newer words are answered openly, in a turn of their own.
    """
    if not context.whispered or impulse.kind is ImpulseKind.PLAN:
        return False
    now = context_of(agent, impulse, memory)
    return bool(now.words) and not now.whispered


def secrecy(
    agent: Body, context: TurnContext, private: PrivateWords, *, holds: bool | None = None
) -> tuple[bool, bool]:
    """Return whether an answer is whispered, and whether its prompt may hold whispered words.

    The answer to a whisper is whispered. So is an answer that may hold whispered words, if others
    have come in since; without a partner it is then not said or shown at all. Any answer to a
    prompt with whispered words may hold them, and a prompt may hold them if everybody who hears the
    answer knows them.

    Args:
        holds: Whether the prompt holds whispered words; None if that is not known.
    """
    if holds is None:
        holds = bool(context.audience) and private.shares_with(context.audience)
    confided = context.whispered or holds
    if context.whispered:
        return True, confided
    came_in = not context.audience.issuperset(map(identity_of, people_near(agent)))
    return came_in and confided, confided
