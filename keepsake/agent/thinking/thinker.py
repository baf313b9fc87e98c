"""When an agent thinks; what becomes of the thought is in :mod:`keepsake.agent.thinking.thinking`.

Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from keepsake.agent.attention import Attention
from keepsake.agent.body import Body, Life
from keepsake.agent.impulses import DIRECT, EventKind, Impulse, PerceivedEvent
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.surroundings import (
    identity_of,
    is_at_home,
    number,
    people_near,
    players_near,
    talkativeness,
)
from keepsake.agent.tasks import Alarm
from keepsake.agent.thinking.actor import Act
from keepsake.agent.thinking.tally import ThoughtTally
from keepsake.agent.thinking.thinking import Thinking
from keepsake.agent.thinking_config import ThinkingConfig

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


class Thinker(Thinking):
    """Decides when one agent thinks."""

    def __init__(
        self,
        life: Life,
        mind: Remembering,
        services: Services,
        *,
        spent: Callable[[int], None],
        drowsy: Callable[[], bool],
    ) -> None:
        super().__init__(life, mind, services, spent=spent)
        self._drowsy = drowsy
        self._attention = Attention(services.thinking.current, services.random)
        self._wake_up = Alarm(services.timer)
        self._closed = False

    def take_over(self, other: Thinker) -> None:
        """Go on with the counts of another: the same agent's, under its former name."""
        self.tally, self.thoughts = other.tally, other.thoughts
        other.tally = ThoughtTally()  # an answer that still comes there must not end ours

    @property
    def waited(self) -> float | None:
        """Seconds that its thought has waited; None if none is under way."""
        since = self.tally.waits_since
        return None if since is None else self._services.seconds() - since

    @property
    def thinking(self) -> bool:
        """Whether a thought is under way."""
        return self.current is not None

    # -- from the world

    def notice(self, event: PerceivedEvent) -> None:
        """Something happened that may be worth a thought; to a sleeper nothing is."""
        agent = self.agent
        if agent is None or self.asleep:
            return
        event = _as_seen_by(agent, event)
        if self._services.warming and event.from_player and event.kind in DIRECT:
            self._services.warming.drop()
        self._attention.notice(event, self._services.seconds())
        if self._attention.outranked:
            self.break_off()
        self.schedule()

    def answered(self, who: str, *, words: bool = False) -> None:
        """It has turned to somebody by rule: that they came, or gave something, is answered.

        ``words``: What they said is, too.
        """
        self._attention.answered(who, self._services.seconds(), words=words)

    def model_is_back(self) -> None:
        """A model answers again: the last unanswered words of those who are still here count."""
        agent, (missed, self._missed) = self.agent, (self._missed, {})
        if agent is None or self.asleep:
            return
        here = _present(agent)
        for impulse in missed.values():
            if impulse.who in here:
                self._attention.notice(impulse, self._services.seconds())
        self.schedule()

    @property
    def in_talk(self) -> bool:
        """Whether a player who is here talks with the agent: no moment to walk away."""
        agent = self.agent
        if agent is None:
            return False
        self._attention.only_here(_present(agent))
        return self._attention.in_talk(self._services.seconds())

    @property
    def stays(self) -> bool:
        """Whether it must not leave now: it is in a talk, or keeps this place for its guests."""
        agent = self.agent
        if agent is None:
            return False
        return self.in_talk or (is_at_home(agent) and bool(players_near(agent)))

    def _still_wanted(self, impulse: Impulse) -> Impulse | None:
        """The impulse as it is now that its turn has come; None if its cause is gone."""
        agent = self.agent
        return self._attention.still_wanted(_present(agent)) if agent is not None else None

    def start(self) -> None:
        """Begin to have idle thoughts."""
        if self._attention.due(self._services.seconds()) is None:
            self.schedule()

    def close(self) -> None:
        """Stop thinking; an answer that still comes is dropped."""
        self._closed = True
        self._wake_up.cancel()
        super().close()

    @property
    def agent(self) -> Body | None:
        """The agent as it is now; None if it has been deleted."""
        return self._find()

    @property
    def state(self) -> AgentState:
        """What the agent is about."""
        agent = self.agent
        if agent is None:
            return AgentState.GONE
        if agent.db.asleep:  # paused or not: what it does first of all is sleep
            return AgentState.ASLEEP
        if agent.db.paused:
            return AgentState.PAUSED
        if self._memory.problem is not None:
            return AgentState.TROUBLED
        return AgentState.WAITING if self.thinking else AgentState.IDLE

    @property
    def asleep(self) -> bool:
        """Whether the agent sleeps."""
        agent = self.agent
        return agent is not None and bool(agent.db.asleep)

    # -- scheduling

    def schedule(self) -> None:
        """Set the clock for the next time that a thought may be due."""
        self._wake_up.cancel()
        if self._closed or self.thinking:
            return
        at = self._attention.next_at()
        if at is not None:
            delay = max(at - self._services.seconds(), 0.0)
            self._wake_up.set(delay, self._wake)

    def _wake(self) -> None:
        agent = self.agent
        if agent is None:
            return
        now = self._services.seconds()
        self._attention.config = _config_for(agent, self._services.thinking.current)
        self._attention.set_player_near(bool(players_near(agent)), now)
        self._attention.only_here(_present(agent))
        impulse = self._attention.due(now)
        if impulse is None:
            self.schedule()
            return
        self._attention.thought_started(now)
        may_think = impulse.priority == "player" or not self._drowsy()
        if may_think and self.state is AgentState.IDLE and agent.location is not None:
            self.begin(impulse)
            return
        # Paused, asleep, nowhere, or its memory cannot be written: the moment passes.
        if self.state is AgentState.TROUBLED:
            self.show_absent(agent, impulse)
        self._thought_over(None)

    def _thought_over(self, act: Act | None) -> None:
        """A thought has ended, or a moment for one has passed."""
        spoke, silent = (act.spoke, act.command is None or act.waited) if act else (False, True)
        self._attention.thought_done(self._services.seconds(), spoke=spoke, silent=silent)
        self.schedule()


def _present(agent: Body) -> set[str]:
    """Who is here: everybody's name, and what tells them from others of that name."""
    here = people_near(agent)
    return {person.key for person in here} | {identity_of(person) for person in here}


def _as_seen_by(agent: Body, event: PerceivedEvent) -> PerceivedEvent:
    """The event as it concerns this agent."""
    if event.source and event.kind in DIRECT and event.who not in _present(agent):
        return replace(event, kind=EventKind.HEARD)  # a shout from afar: nobody to answer to
    return event


def _config_for(agent: Body, config: ThinkingConfig) -> ThinkingConfig:
    """The configured times, with the agent's own interval or talkativeness."""
    own = agent.db.idle_interval
    usual = config.idle_interval * 2.0 ** (1.0 - 2.0 * talkativeness(agent))
    interval = max(number(own, usual), SHORTEST_INTERVAL) if own else usual
    return config if interval == config.idle_interval else replace(config, idle_interval=interval)
