"""The two agents of a talk of two: what each is, what it may tell, and how it says a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from keepsake.agent.acting.actor import Actor
from keepsake.agent.acting.acts import Basis
from keepsake.agent.body import Body
from keepsake.agent.memory.books import Books
from keepsake.agent.memory.known_news import (
    LINK,
    concerns,
    known_to,
    origins_of,
    tells_something,
)
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.shelf import PageNeeds
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.plans import Plans
from keepsake.agent.plans.shown_plans import lines_of
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of
from keepsake.agent.thinker import Thinker
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.books.persona import open_lines
from keepsake.happening import Deed, KnownVerb, Person, Speech
from keepsake.prompt.verbs import Command
from keepsake.tasks.deed import spoken_to
from keepsake.tasks.pair_talk import Beat, Speaker

MOST_NEWS = 8
"""The most memories that each of the two may pass on, the newest first. A talk has six lines."""
MOST_BEFORE = 6
"""How many lines the two said to each other last are shown."""
IN_PRIVATE = "(Then they spoke of something in private, which nobody else here knows.)"
"""In the place of what the two said to each other in private, in a talk that others may hear."""
NEWS_AGE = timedelta(days=2)
"""How old what they tell each other may be."""


class TalkingMind(Protocol):
    """The components of an agent that its talk with another agent uses."""

    memory: MemoryComponent
    books: Books
    tools: MemoryTools
    plans: Plans
    actor: Actor
    thinker: Thinker
    closed: bool


@dataclass(frozen=True, slots=True)
class PairSide:
    """One of the two: its mind, and its object in the game."""

    mind: TalkingMind
    body: Body

    @property
    def is_free(self) -> bool:
        """Whether it can talk to another agent now: no player waits for it or talks with it."""
        body = self.body
        kept = body.db.asleep or body.db.paused or body.has_account
        thinker = self.mind.thinker
        return not (kept or thinker.turn is not None or thinker.presence.in_talk)

    @property
    def person(self) -> Person:
        """It, by its own name."""
        return Person(str(self.body.key), identity_of(self.body))


def sides_of(one: TalkingMind, other: TalkingMind) -> tuple[PairSide, PairSide] | None:
    """Return the two with their objects; None if they are not together any more."""
    body = one.thinker.body()
    their = other.thinker.body()
    if body is None or their is None or one.closed or other.closed:
        return None
    if body.location is None or body.location is not their.location:
        return None
    return PairSide(one, body), PairSide(other, their)


def speaker_of(side: PairSide, other: PairSide, now: datetime) -> Speaker:
    """Return what one of the two is and may tell the other."""
    mind = side.mind
    private = mind.memory.private
    key = identity_of(other.body)
    window = private.heard_by(mind.memory.usable, NO_PRIVATE_WORDS)
    known = known_to(other.body)
    told = [memory for memory in window if _can_be_told(memory, now, key) and not known.has(memory)]
    needs = PageNeeds(partner=key)
    people = mind.books.people_lines(
        side.body, private, mind.tools.shown_from, NO_PRIVATE_WORDS, needs
    )
    name = name_of(other.body, side.body)
    of_other = next((each.text for each in people if each.about.startswith(name)), "")
    return Speaker(
        str(side.body.key),
        " ".join(open_lines(str(side.body.db.profile or ""))),
        {memory.number: memory.line for memory in told[-MOST_NEWS:]},
        lines_of(mind.plans.shown(NO_PRIVATE_WORDS)),
        of_other,
    )


def _can_be_told(memory: Memory, now: datetime, key: str) -> bool:
    """Return whether a public memory is something that was seen or heard of others lately.

    ``key``: The identity of the listener. Words that the listener said or heard are no news.
    """
    if memory.confidants is not None:  # that something was whispered says nothing
        return False
    if concerns(memory, key) or (memory.heard is not None and not tells_something(memory.heard)):
        return False
    is_event = isinstance(memory.what, Speech | Deed) and not memory.is_own
    return is_event and memory.actor is not None and now - memory.time <= NEWS_AGE


def said_before(one: PairSide, other: PairSide) -> list[str]:
    """Return what the two said to each other last, as the first of them remembers it.

    Where they told each other something in private, a line says so and no more: else they would
    begin again with what was settled then.
    """
    key = identity_of(other.body)
    lines = list[str]()
    for memory in one.mind.memory.usable:
        heard = memory.heard
        is_theirs = heard is not None and heard.speaker.id == key and heard.is_to_me_or_all
        is_own = memory.said is not None and memory.to_id == key
        if not (is_theirs or is_own):
            continue
        who = other.body.key if is_theirs else one.body.key
        line = IN_PRIVATE if memory.confidants is not None else f"{who}: {memory.words}"
        if lines[-1:] != [line]:
            lines.append(line)
    return lines[-MOST_BEFORE:]


def speak(beat: Beat, speaker: PairSide, listener: PairSide) -> None:
    """Let one line of the talk be said or done, and its plan be noted."""
    mind = speaker.mind
    body = speaker.body
    to = Person(name_of(listener.body, body), identity_of(listener.body))
    memory = mind.memory
    basis = Basis(seen=memory.newest, rests_on=beat.rests_on)
    if beat.says:
        command = spoken_to(KnownVerb.TALK, to.name, beat.says)
        passed = _passed_on(mind, beat.rests_on)
        mind.actor.do(body, command, to, basis=basis, passed=passed)
    elif beat.does:
        mind.actor.do(body, Command("emote", beat.does, words=beat.does), to, basis=basis)
    if beat.plan and mind.plans.enabled:
        mind.actor.do(body, Command(KnownVerb.PLAN, beat.plan, words=beat.plan), basis=basis)


def _passed_on(mind: TalkingMind, numbers: Sequence[int]) -> MemoryFacts:
    """Return what words that pass memories on keep of them: the chain, the eyewitness first."""
    window = {each.number: each for each in mind.memory.context().window}
    links = list[str]()
    origins = list[str]()
    for number in numbers:
        memory = window.get(number)
        if memory is not None:
            links += memory.chain.split(LINK) if memory.chain else []
            origins += origins_of(memory)
        links.append(f"{mind.memory.name} {number}")
    chain = LINK.join(dict.fromkeys(links))
    return MemoryFacts(chain=chain, origins=tuple(dict.fromkeys(origins)))
