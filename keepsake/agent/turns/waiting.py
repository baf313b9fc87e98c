"""Which words of a person wait for an answer of the agent.

Only the newest line that a person said to the agent waits, with the line before if it came at once.
A line stops waiting when the agent has spoken to that person or done something for them, and when
the two have parted. A whisper and open words are never one question: the newest decides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import NamedTuple

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.attention.recent_talks import TALK_SECONDS
from keepsake.archive.message_types import BY_RULE, MOVES, MessageType
from keepsake.archive.privacy import is_private, is_redacted
from keepsake.archive.records import Memory
from keepsake.happening import ME, Deed, Person, Result, Speech
from keepsake.language.perception import is_question
from keepsake.prompt.verbs import ANSWERS, PRIVATE
from keepsake.tasks.conversation import asks

TOGETHER = timedelta(seconds=5)
"""Two lines that come this soon after each other are one question. Attention gathers the words of a
person for about two seconds, and a slow model takes up to five for a second sentence."""
TALK = timedelta(seconds=TALK_SECONDS)
"""How long a line waits that is not the reason of the turn: then the talk is over."""
_PARTINGS = MOVES | {MessageType.LOGIN}
"""Types of messages that show that a person has come or left."""
_UNSEEN = PRIVATE - ANSWERS
"""Verbs of own acts that do nothing for the person whom they name: nobody perceives them."""


class Unanswered(NamedTuple):
    """What a person did or said that waits for an answer.

    Attributes:
        memories: The memories of it, oldest first; at most two.
        words: What was said in them.
        since: The newest memory that the agent's last words to the person, or its last deed for
            them, took into account; 0 if there are none.
    """

    memories: tuple[Memory, ...] = ()
    words: str = ""
    since: int = 0

    @property
    def newest(self) -> int:
        """The number of the newest of the memories; 0 if there is none."""
        return self.memories[-1].number if self.memories else 0

    @property
    def whispered(self) -> bool:
        """Whether what waits was whispered, or else is known to the agent and that person alone."""
        return any(map(is_private, self.memories))


NOTHING = Unanswered()


def unanswered(
    window: Sequence[Memory],
    impulse: Impulse,
    passed_over: Collection[int] = (),
    partner: Person | None = None,
) -> Unanswered:
    """Find what waits for the agent's answer to a person.

    Args:
        window: The memories, oldest first.
        impulse: The reason of the turn. What a player did or said that is the reason waits even if
            the two have parted since: attention has seen to it that they are together again.
        passed_over: The numbers of memories that get no answer any more.
        partner: The person; None for the one who caused the impulse.

    Returns:
        The newest memories that wait, at most two; :data:`NOTHING` has none.
    """
    person = partner or impulse.person
    found = all_waiting(window, impulse, passed_over, person)
    memories = tuple(found[-2:] if _are_together(found[-2:]) else found[-1:])
    words = (speech.words for memory in memories if (speech := memory.heard) is not None)
    return Unanswered(
        memories, " ".join(words), _answered_until(window, person, impulse.memory_number)
    )


def left_unanswered(window: Sequence[Memory], person: Person) -> int:
    """Return the last words of a person to the agent if they want an answer that did not come.

    What only answers the agent's own words to them wants none.

    Returns:
        The number of their memory; 0 if there are none.
    """
    reason = Impulse(ImpulseKind.ADDRESSED, False, person.name, source_id=person.id)
    waiting = unanswered(window, reason)
    if not waiting.memories:
        return 0
    first = waiting.memories[0].number
    before = (each for each in reversed(window) if each.number < first)
    exchange = (each for each in before if _is_between(each, person))
    last = next(exchange, None)
    is_reply = last is not None and last.is_own
    return 0 if is_reply and not is_question(waiting.words) else waiting.newest


def _is_between(memory: Memory, person: Person) -> bool:
    """Whether it is words of a person to the agent, or of the agent to them."""
    if memory.said is not None:
        return memory.to_id == person.id
    return is_said_to_me(memory, person)


def all_waiting(
    window: Sequence[Memory],
    impulse: Impulse,
    passed_over: Collection[int] = (),
    partner: Person | None = None,
) -> list[Memory]:
    """Return every line of a person that is not answered, also those before the newest.

    The arguments are those of :func:`unanswered`.
    """
    person = partner or impulse.person
    reasons = _reasons(impulse, person)
    since = _answered_until(window, person, impulse.memory_number)
    parted = _parted_at(window, person)
    oldest = window[-1].time - TALK if window else None

    def waits(memory: Memory) -> bool:
        if memory.number <= since or memory.number in passed_over:
            return False
        if memory.event == MessageType.FORGOTTEN:  # its words are deleted
            return False
        is_reason = memory.number in reasons
        if is_reason and impulse.from_player:
            return True
        # The line of an arrival may be the reason itself.
        apart = memory.number < parted or (memory.number == parted and not is_reason)
        if apart or (oldest is not None and memory.time < oldest):
            return False
        return is_reason or is_said_to_me(memory, person)

    return [memory for memory in window if waits(memory)]


def is_moot_greeting(window: Sequence[Memory], impulse: Impulse) -> bool:
    """Return whether a turn is to greet people who have all spoken since they came.

    Their words are a reason to think of their own, for whomever they are.
    """
    if impulse.kind is not ImpulseKind.ARRIVAL:
        return False
    return all(_has_spoken_since_coming(window, each) for each in (impulse.person, *impulse.others))


def _has_spoken_since_coming(window: Sequence[Memory], person: Person) -> bool:
    came = _parted_at(window, person)
    return any(
        each.number > came
        and each.heard is not None
        and each.heard.speaker.is_same(person)
        and each.event not in BY_RULE
        for each in window
    )


def _reasons(impulse: Impulse, person: Person) -> frozenset[int]:
    """Return the numbers of the memories that are the reason of the turn, if a person caused it."""
    if not impulse.person.is_same(person):
        return frozenset()
    return frozenset({impulse.memory_number, impulse.earlier} - {0})


def is_said_to_me(memory: Memory, person: Person) -> bool:
    """Return whether a person said it to the agent, and not to everybody; no scene by rule."""
    said = memory.heard
    if memory.event in BY_RULE:  # a scene answers itself
        return False
    return said is not None and ME in said.to and said.speaker.is_same(person)


def _are_together(memories: Sequence[Memory]) -> bool:
    """Whether they are two that came at once, both openly or both whispered."""
    if len(memories) < 2:
        return False
    first, second = memories
    at_once = second.time - first.time <= TOGETHER
    return at_once and is_private(first) == is_private(second)


def _answered_until(window: Sequence[Memory], person: Person, reason: int) -> int:
    """Return the newest memory that the agent's last answer to a person took into account."""
    failed = set[int]()
    for memory in reversed(window):
        what = memory.what
        if isinstance(what, Result) and not what.done:
            failed.add(what.act)
        # A deed that replied to the words of this turn has answered only a part of them.
        left = memory.event == MessageType.DEED and memory.number > reason
        if left or memory.number in failed:
            continue
        to = _answers_whom(memory)
        if to is not None and to.is_same(person):
            return memory.answers or memory.number
    return 0


def _answers_whom(memory: Memory) -> Person | None:
    """Return the person whom an own act answers: by words, a deed, or a gesture by rule."""
    what = memory.what
    if not memory.is_own:
        return None
    if memory.event == MessageType.COURTESY or isinstance(what, Speech):
        return memory.addressee
    is_seen = isinstance(what, Deed) and what.verb not in _UNSEEN
    return memory.addressee if is_seen else None


def _parted_at(window: Sequence[Memory], person: Person) -> int:
    """Return the newest memory by which the agent and a person had parted; 0 if they have not.

    They have parted when one of them went to another place, or the person left the game.
    """
    here = next((each.place for each in reversed(window) if each.place), "")
    for memory in reversed(window):
        elsewhere = bool(memory.place) and memory.place != here
        mover = memory.actor
        moved = memory.event in _PARTINGS and mover is not None and mover.is_same(person)
        if elsewhere or moved:
            return memory.number
    return 0


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
