"""When an agent thinks, and the life cycle of its thoughts.

Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent.agent_log import log
from keepsake.agent.attention import DIRECT, Attention, EventKind, Impulse
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Alarm, Runtime
from keepsake.agent.surroundings import (
    Body,
    Life,
    identity_of,
    is_at_home,
    number,
    people_near,
    players_near,
    talkativeness,
)
from keepsake.agent.thinking.acting import SPEECH, Act, Actor
from keepsake.agent.thinking.thought_log import DROPPED, ThoughtLog, Turn
from keepsake.agent.thinking.turn import Turns, show_absent, show_people
from keepsake.prompt.sections import Rendered

SHORTEST_INTERVAL = 5
"""Seconds between two idle thoughts that a builder may set."""


class AgentState(StrEnum):
    """What an agent is about."""

    IDLE = "idle"
    WAITING = "waiting for the model"
    ASLEEP = "asleep"
    PAUSED = "paused"
    TROUBLED = "memory cannot be written"
    GONE = "gone"


class Thinker:
    """Decides when one agent thinks, and sees its thoughts through, one at a time.

    Args:
        life: Whose thoughts they are.
        mind: What it remembers.
        runtime: The models, the time, and what else all agents run on.
        spent: Called with the tokens of each answer.
        drowsy: Whether it is on its way somewhere, and thinks only of players.

    Attributes:
        actor: Its hands and its voice.
        log: What came of its thoughts, since the server started.
    """

    def __init__(
        self,
        life: Life,
        mind: Remembering,
        runtime: Runtime,
        *,
        spent: Callable[[int], None],
        drowsy: Callable[[], bool],
    ) -> None:
        self.actor = Actor(mind.memory, mind.keeper, runtime.seconds)
        self.log = ThoughtLog(life.name, runtime, spent)
        self._pause, self._wake_up = Alarm(runtime.timer), Alarm(runtime.timer)
        self._attention = Attention(runtime.thinking.current, runtime.random, runtime.seconds())
        self._turns = Turns(
            *(life, mind, self.actor, self.log, runtime),
            still_wanted=lambda: self._attention.still_wanted() if self._look() else None,
            heard=self._pause.cancel,
        )
        self._find, self._runtime, self._memory = life.body, runtime, mind.memory
        self._drowsy, self._closed = drowsy, False
        self._turn: Turn | None = None
        self._since = 0.0  # since when it thinks

    @property
    def waited(self) -> float | None:
        """Seconds that its thought has waited; None if none is under way."""
        return self._runtime.seconds() - self._since if self.thinking else None

    @property
    def thinking(self) -> bool:
        """Whether a thought is under way."""
        return self._turn is not None

    @property
    def agent(self) -> Body | None:
        """The agent as it is now; None if it has been deleted."""
        return self._find()

    @property
    def asleep(self) -> bool:
        """Whether the agent sleeps."""
        agent = self._find()
        return agent is not None and bool(agent.db.asleep)

    @property
    def state(self) -> AgentState:
        """What the agent is about."""
        agent = self._find()
        if agent is None:
            return AgentState.GONE
        if agent.db.asleep:  # paused or not: what it does first of all is sleep
            return AgentState.ASLEEP
        if agent.db.paused:
            return AgentState.PAUSED
        if self._memory.problem is not None:
            return AgentState.TROUBLED
        return AgentState.WAITING if self.thinking else AgentState.IDLE

    def preview(
        self, agent: Body, partner: Any = None, words: str = ""
    ) -> Deferred[tuple[Rendered, int]]:
        """The prompt of the agent's next thought, and the tokens that it may have.

        Args:
            agent: The agent.
            partner: Who says something to it; None for a thought of its own accord.
            words: What they say.

        Returns:
            Both, once recall has answered. It fails with a KeepsakeError where the memory or a
            template cannot be read.
        """
        return Deferred.fromCoroutine(self._turns.scenes.preview(agent, partner, words))

    # -- from the world

    def notice(self, event: Impulse) -> None:
        """Something happened that may be worth a thought; to a sleeper nothing is."""
        agent = self._look()
        if agent is None or agent.db.asleep:
            return
        if event.kind in DIRECT and event.source and event.who not in self._attention.present:
            event = replace(event, kind=EventKind.HEARD)  # a shout from afar
        self._attention.notice(event, self._runtime.seconds())
        if self._attention.outranked:
            self.break_off()
        self.schedule()

    def answered(self, who: str, *, words: bool = False) -> None:
        """It has turned to somebody by rule: that they came, or gave something, is answered.

        ``words``: What they said is, too.
        """
        self._attention.answered(who, self._runtime.seconds(), words=words)

    def model_is_back(self) -> None:
        """A model answers again: the last unanswered words of those who are still here count."""
        missed, self._turns.missed = self._turns.missed, {}
        for impulse in missed.values():
            self.notice(impulse)

    @property
    def in_talk(self) -> bool:
        """Whether a player who is here talks with the agent: no moment to walk away."""
        return self._look() is not None and self._attention.in_talk(self._runtime.seconds())

    @property
    def stays(self) -> bool:
        """Whether it must not leave now: it is in a talk, or keeps this place for its guests."""
        agent = self._find()
        at_home = agent is not None and is_at_home(agent) and bool(players_near(agent))
        return self.in_talk or at_home

    def _look(self) -> Body | None:
        """See who is here now; the agent itself, None if it has been deleted."""
        if (agent := self._find()) is not None:
            people, now = people_near(agent), self._runtime.seconds()
            present = {each.key for each in people} | {identity_of(each) for each in people}
            near = any(each.has_account for each in people)
            self._attention.look(present, player_near=near, now=now)
        return agent

    def start(self) -> None:
        """Begin to have idle thoughts."""
        self.schedule()

    def close(self) -> None:
        """Stop thinking; an answer that still comes is dropped."""
        self._closed = True
        self.break_off()
        self._wake_up.cancel()
        self._pause.cancel()

    # -- scheduling

    def schedule(self) -> None:
        """Set the clock for the next time that a thought may be due."""
        agent, at = self._look(), self._attention.next_at()
        if at is None or self._closed or agent is None:
            self._wake_up.cancel()
        else:
            self._wake_up.set(max(at - self._runtime.seconds(), 0.0), self._wake)

    def _wake(self) -> None:
        agent = self._look()
        if agent is None:
            return
        config = self._runtime.thinking.current
        usual = config.idle_interval * 2.0 ** (1.0 - 2.0 * talkativeness(agent))
        own = agent.db.idle_interval
        interval = max(number(own, usual), SHORTEST_INTERVAL) if own else usual
        self._attention.config = replace(config, idle_interval=interval)
        impulse = self._attention.due(self._runtime.seconds())
        if impulse is None:
            self.schedule()
            return
        self._attention.thought_started(impulse)
        may_think, state = impulse.priority == "player" or not self._drowsy(), self.state
        if may_think and state is AgentState.IDLE and agent.location is not None:
            self._turn, self._since = Turn(impulse, agent), self._runtime.seconds()
            Deferred.fromCoroutine(self._think(self._turn))
            return
        # Paused, asleep, nowhere, or its memory cannot be written: the moment passes.
        if state is AgentState.TROUBLED:
            show_absent(agent, impulse)
        self._over(None)

    # -- one thought

    def break_off(self) -> None:
        """Let go of the thought under way; an answer that still comes is dropped."""
        if (turn := self._turn) is not None:
            turn.dropped = True
            if turn.ticket is not None:
                turn.ticket.cancel()
            self.log.ended(turn, DROPPED)
            self._over(None)

    async def _think(self, turn: Turn) -> None:
        """Think, now that the moment has come."""
        act, pause = None, self._attention.config.pause_notice
        if turn.impulse.priority == "player" and pause:
            told = f"{turn.agent.key} pauses, thinking."
            self._pause.set(pause, show_people, turn.agent, told)
        try:
            act = await self._turns.take(turn)
        except Exception as error:  # whatever breaks: the agent must be able to think again
            log(f"[Error] {turn.agent.key}: The thought broke off: {error!r}")
            self.log.ended(turn, "broke off", repr(error))
        if self._turn is turn:  # else it was broken off
            self._over(act)

    def _over(self, act: Act | None) -> None:
        """A thought has ended, or a moment for one has passed."""
        self._pause.cancel()
        self._turn = None
        self._attention.thought_done(
            self._runtime.seconds(), spoke=act is not None and act.verb in SPEECH
        )
        self.schedule()
