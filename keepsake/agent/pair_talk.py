"""Agents who talk among themselves: one call of a model writes a short talk of two.

The talk begins when an agent has an occasion for it: news for another agent who is here, or nobody
of the two has spoken to the other today. Both then speak their lines in turn, with pauses, as
anything that they say. A player who comes in or turns to one of them interrupts the talk; the rest
of it is then never said. Everything runs on the reactor thread, but for the wait for the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from twisted.python.failure import Failure

from keepsake.agent.acting import Actor
from keepsake.agent.acts import Basis
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
from keepsake.agent.memory.shown_plans import lines_of
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans import Plans
from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.people import people_near, players_near
from keepsake.agent.thinker import Thinker
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.archive.transcript import day_and_time
from keepsake.books.persona import open_lines
from keepsake.errors import KeepsakeError
from keepsake.events.types import PairTalk
from keepsake.happening import Deed, KnownVerb, Person, Speech
from keepsake.logs import Subsystem, get_logger
from keepsake.models.tickets import Priority
from keepsake.ports import Generation, GenerationRequest, TargetModel
from keepsake.prompt.verbs import Command
from keepsake.tasks.deed import spoken_to
from keepsake.tasks.pair_talk import Beat, PairTalkTask, Speaker
from keepsake.tasks.task import Ask, TaskResult, run

log = get_logger(Subsystem.THOUGHTS)

LINE_SECONDS = 5.0
"""Seconds between two lines: a player who reads along has time for each."""
TALK_TIMEOUT = 180.0
"""Seconds after which an answer is not waited for: the two have long gone on."""
MOST_NEWS = 8
"""The most memories that each of the two may pass on, the newest first. A talk has six lines."""
MOST_BEFORE = 6
"""How many lines the two said to each other last are shown."""
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
class _Side:
    """One of the two: its mind, and its object in the game."""

    mind: TalkingMind
    body: Body

    @property
    def is_free(self) -> bool:
        """Whether it can talk to another agent now: no player waits for it or talks with it."""
        body = self.body
        kept = body.db.asleep or body.db.paused or body.has_account
        thinker = self.mind.thinker
        return not (kept or thinker.turn is not None or thinker.in_talk)

    @property
    def person(self) -> Person:
        """It, by its own name."""
        return Person(str(self.body.key), identity_of(self.body))


class TalkOfTwo:
    """One talk of two agents, from the question to the model until its last line.

    Args:
        ended: Called once when the talk is over.
    """

    def __init__(
        self, one: TalkingMind, other: TalkingMind, services: Runtime, ended: Callable[[], None]
    ) -> None:
        self._minds = (one, other)
        self._services = services
        self._ended = ended
        self._alarm = Alarm(services.scheduler)
        self._players: frozenset[str] = frozenset()  # who was here when it began
        self._asked: datetime = services.clock.now()
        self._calls: list[Generation] = []

    @staticmethod
    def may_begin(one: TalkingMind, other: TalkingMind) -> bool:
        """Return whether two agents are together and free."""
        sides = _sides(one, other)
        return sides is not None and all(each.is_free for each in sides)

    def start(self) -> bool:
        """Ask the model for the talk; return whether it was asked.

        Raises:
            KeepsakeError: A memory, or the profile of the model, cannot be read.
        """
        sides = _sides(*self._minds)
        services = self._services
        if sides is None or not services.acts_unprompted:
            return False
        body = sides[0].body
        seen = players_near(body)
        self._players = frozenset(map(identity_of, seen))
        asker = services.asker(PROFILE, Priority.EVENT if seen else Priority.IDLE)
        if asker is None:
            return False
        task = self._task(*sides)
        work = partial(run, task, self._counted(asker))
        self._asked = services.clock.now()
        services.in_thread(work, TALK_TIMEOUT).addCallbacks(self._play, self._failed)
        return True

    def stop(self) -> None:
        """End the talk; what has not been said is never said."""
        self._alarm.cancel()
        self._ended()

    def _counted(self, ask: Ask) -> Ask:
        """Return ``ask``, with each answer noted for the event log."""

        def counted(build: Callable[[TargetModel], GenerationRequest]) -> Generation:
            answer = ask(build)
            self._calls.append(answer)
            return answer

        return counted

    # -- what each may tell

    def _task(self, one: _Side, other: _Side) -> PairTalkTask:
        services = self._services
        now = services.clock.now()
        near = people_near(one.body)
        present = [name_of(each, one.body) for each in near if each is not other.body]
        return PairTalkTask(
            services.prompts["pair_talk"].current,
            _speaker(one, other, now),
            _speaker(other, one, now),
            place_of(one.body),
            f"{day_and_time(now)}, {now.astimezone():%H:%M}",
            present,
            _said_before(one, other),
        )

    # -- the lines

    def _play(self, found: TaskResult[tuple[Beat, ...]]) -> None:
        self._log(lines=len(found.value), problem="; ".join(r.reason for r in found.refusals))
        self._next(list(found.value))

    def _next(self, beats: list[Beat]) -> None:
        """Let the next line be said, and wait before the one after it."""
        sides = _sides(*self._minds)
        if not beats or sides is None or not self._goes_on(sides):
            self.stop()
            return
        beat = beats.pop(0)
        speaker, listener = sides
        if beat.by != speaker.body.key:
            speaker, listener = listener, speaker
        _speak(beat, speaker, listener)
        if beats:
            self._alarm.set(LINE_SECONDS, self._next, beats)
        else:
            self.stop()

    def _goes_on(self, sides: Sequence[_Side]) -> bool:
        """Return whether both are still free, and no player has come in."""
        here = frozenset(map(identity_of, players_near(sides[0].body)))
        return here <= self._players and all(each.is_free for each in sides)

    def _failed(self, failure: Failure) -> None:
        problem = str(failure.value) or repr(failure.value)
        name = self._minds[0].memory.name
        if not isinstance(failure.value, KeepsakeError):
            log.error("A talk of two agents failed", agent=name, exc_info=failure.value)
        self._log(lines=0, problem=problem)
        self.stop()

    def _log(self, *, lines: int, problem: str) -> None:
        """Log what the talk cost and how many lines it has."""
        one, other = (mind.memory.name for mind in self._minds)
        spent = (self._services.clock.now() - self._asked).total_seconds()
        calls = self._calls
        self._services.events.emit(
            PairTalk(
                agent=one,
                other=other,
                lines=lines,
                calls=len(calls),
                prompt_tokens=sum(each.prompt_tokens for each in calls),
                completion_tokens=sum(each.completion_tokens for each in calls),
                seconds=round(max(spent, sum(each.seconds for each in calls)), 6),
                model=calls[-1].model if calls else "",
                problem=problem,
            )
        )


def _sides(one: TalkingMind, other: TalkingMind) -> tuple[_Side, _Side] | None:
    """Return the two with their objects; None if they are not together any more."""
    body = one.thinker.body()
    their = other.thinker.body()
    if body is None or their is None or one.closed or other.closed:
        return None
    if body.location is None or body.location is not their.location:
        return None
    return _Side(one, body), _Side(other, their)


def _speaker(side: _Side, other: _Side, now: datetime) -> Speaker:
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


def _said_before(one: _Side, other: _Side) -> list[str]:
    """Return what the two said to each other last, as the first of them remembers it."""
    key = identity_of(other.body)
    lines = list[str]()
    for memory in one.mind.memory.usable:
        if memory.confidants is not None:
            continue
        heard = memory.heard
        if heard is not None and heard.speaker.id == key and heard.is_to_me_or_all:
            lines.append(f"{other.body.key}: {heard.words}")
        elif memory.said is not None and memory.to_id == key:
            lines.append(f"{one.body.key}: {memory.said.words}")
    return lines[-MOST_BEFORE:]


def _speak(beat: Beat, speaker: _Side, listener: _Side) -> None:
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
