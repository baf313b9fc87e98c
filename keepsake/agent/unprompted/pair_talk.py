"""Agents who talk among themselves: one call of a model writes a short talk of two.

The talk begins when an agent has an occasion for it: news for another agent who is here, or nobody
of the two has spoken to the other today. Both then speak their lines in turn, with pauses, as
anything that they say. A player who comes in or turns to one of them interrupts the talk; the rest
of it is then never said. Everything runs on the reactor thread, but for the wait for the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from twisted.python.failure import Failure

from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.people import people_near, players_near
from keepsake.agent.unprompted.pair_speakers import (
    PairSide,
    TalkingMind,
    said_before,
    sides_of,
    speak,
    speaker_of,
)
from keepsake.archive.transcript import day_and_time
from keepsake.errors import KeepsakeError
from keepsake.events.types import PairTalk
from keepsake.logs import Subsystem, get_logger
from keepsake.models.tickets import Priority
from keepsake.ports import Generation, GenerationRequest, TargetModel
from keepsake.tasks.pair_talk import Beat, PairTalkTask
from keepsake.tasks.task import Ask, TaskResult, run

log = get_logger(Subsystem.THOUGHTS)

LINE_SECONDS = 5.0
"""Seconds between two lines: a player who reads along has time for each."""
TALK_TIMEOUT = 180.0
"""Seconds after which an answer is not waited for: the two have long gone on."""


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
        sides = sides_of(one, other)
        return sides is not None and all(each.is_free for each in sides)

    def start(self) -> bool:
        """Ask the model for the talk; return whether it was asked.

        Raises:
            KeepsakeError: A memory, or the profile of the model, cannot be read.
        """
        sides = sides_of(*self._minds)
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

    def _task(self, one: PairSide, other: PairSide) -> PairTalkTask:
        services = self._services
        now = services.clock.now()
        near = people_near(one.body)
        present = [name_of(each, one.body) for each in near if each is not other.body]
        return PairTalkTask(
            services.prompts["pair_talk"].current,
            speaker_of(one, other, now),
            speaker_of(other, one, now),
            place_of(one.body),
            f"{day_and_time(now)}, {now.astimezone():%H:%M}",
            present,
            said_before(one, other),
        )

    # -- the lines

    def _play(self, found: TaskResult[tuple[Beat, ...]]) -> None:
        self._log(lines=len(found.value), problem="; ".join(r.reason for r in found.refusals))
        self._next(list(found.value))

    def _next(self, beats: list[Beat]) -> None:
        """Let the next line be said, and wait before the one after it."""
        sides = sides_of(*self._minds)
        if not beats or sides is None or not self._goes_on(sides):
            self.stop()
            return
        beat = beats.pop(0)
        speaker, listener = sides
        if beat.by != speaker.body.key:
            speaker, listener = listener, speaker
        speak(beat, speaker, listener)
        if beats:
            self._alarm.set(LINE_SECONDS, self._next, beats)
        else:
            self.stop()

    def _goes_on(self, sides: Sequence[PairSide]) -> bool:
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
