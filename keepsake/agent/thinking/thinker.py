"""When an agent thinks, and the life cycle of its thoughts.

Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.agent_log import log
from keepsake.agent.attention import Attention
from keepsake.agent.body import Body, Life
from keepsake.agent.impulses import DIRECT, EventKind, Impulse, PerceivedEvent
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import (
    identity_of,
    is_at_home,
    number,
    people_near,
    players_near,
    talkativeness,
)
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.asking import (
    RULES,
    TURN,
    ThoughtAsker,
    ThoughtDropped,
    show_absent,
    show_people,
)
from keepsake.agent.thinking.preview import PromptPreview
from keepsake.agent.thinking.reports import ThoughtReports
from keepsake.agent.thinking.scene import SceneMaker
from keepsake.agent.thinking.tally import ThoughtTally
from keepsake.agent.thinking.thought import ThoughtInProgress
from keepsake.agent.thinking.turn import TurnThinking
from keepsake.agent.thinking_config import ThinkingConfig
from keepsake.agent.waiting import Alarm
from keepsake.errors import KeepsakeError
from keepsake.tasks.task import TRIES

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
    """Decides when one agent thinks, and sees its thoughts through, one at a time."""

    def __init__(
        self,
        life: Life,
        mind: Remembering,
        services: Runtime,
        *,
        spent: Callable[[int], None],
        drowsy: Callable[[], bool],
    ) -> None:
        memory = mind.memory
        self.actor = actor = Actor(memory, mind.keeper, services)
        self._reports = ThoughtReports(memory.name, services, spent)
        self._asker = ThoughtAsker(life, memory, self._reports, services, self._still_wanted)
        self.fitting = self._asker.fitting
        scenes = SceneMaker(mind, services)
        self._notice = Alarm(services.timer)
        self._turn = TurnThinking(
            self._asker, scenes, actor, mind, services, heard=self._notice.cancel
        )
        self.following = self._turn.following
        self.preview = PromptPreview(self._asker, scenes, memory, services)
        self._find, self._services, self._memory = life.body, services, memory
        self._drowsy = drowsy
        self._attention = Attention(services.thinking.current, services.random)
        self._wake_up = Alarm(services.timer)
        self._closed = False

    def take_over(self, other: Thinker) -> None:
        """Go on with the counts of another: the same agent's, under its former name."""
        self._reports.tally = other.tally
        other._reports.tally = ThoughtTally()  # an answer that still comes there must not end ours

    @property
    def tally(self) -> ThoughtTally:
        """What came of its thoughts, since the server started."""
        return self._reports.tally

    @property
    def waited(self) -> float | None:
        """Seconds that its thought has waited; None if none is under way."""
        since = self.tally.waits_since
        return None if since is None else self._services.seconds() - since

    @property
    def thinking(self) -> bool:
        """Whether a thought is under way."""
        return self._asker.current is not None

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
        agent, (missed, self._asker.missed) = self.agent, (self._asker.missed, {})
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
        at_home = agent is not None and is_at_home(agent) and bool(players_near(agent))
        return self.in_talk or at_home

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
        if self.thinking:
            self._drop()
        self._end()

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
            self._begin(impulse)
            return
        # Paused, asleep, nowhere, or its memory cannot be written: the moment passes.
        if self.state is AgentState.TROUBLED:
            show_absent(agent, impulse)
        self._thought_over(None)

    # -- one thought

    def break_off(self) -> None:
        """Let go of the thought under way; an answer that still comes is dropped."""
        if self.thinking:
            self._drop()
            self._end()
            self._thought_over(None)

    def _begin(self, impulse: Impulse) -> None:
        """Think, now that the moment has come."""
        self.tally.waits_since = self._services.seconds()
        self._asker.current = thought = ThoughtInProgress(impulse)
        pause = self._services.thinking.current.pause_notice
        if impulse.priority == "player" and pause:
            self._notice.set(pause, self._show_thinking)
        thinking = Deferred.fromCoroutine(self._think(thought))
        thinking.addCallbacks(self._finish, self._broke_off, (thought,), {}, (thought,), {})

    async def _think(self, thought: ThoughtInProgress) -> Act | None:
        """What is done in the end; None for nothing."""
        try:
            for _ in range(TRIES):
                thought.rerouted, way = False, self._way(thought.impulse)
                if way == RULES:
                    return await self._turn.by_rules(thought)
                act = await self._turn.take(thought) if way == TURN else None
                if not thought.rerouted:
                    return act
        except ThoughtDropped:
            pass
        return None

    def _way(self, impulse: Impulse) -> str:
        try:
            return self._asker.way(self._asker.profile(), impulse)
        except KeepsakeError:  # there is no model to ask, which is told when it is asked
            return TURN

    def _drop(self) -> None:
        thought, self._asker.current = self._asker.current, None
        assert thought is not None
        if thought.ticket is not None:
            thought.ticket.cancel()
        self._reports.ended(thought, "dropped")

    def _finish(self, act: Act | None, thought: ThoughtInProgress) -> None:
        if self._asker.current is thought:  # else it was broken off
            self._end()
            self._thought_over(act)

    def _end(self) -> None:
        self._notice.cancel()
        self._asker.current = self.tally.waits_since = None

    def _broke_off(self, failure: Failure, thought: ThoughtInProgress) -> None:
        """Whatever breaks ends the thought: the agent must be able to think again."""
        agent, error = self._find(), failure.value
        what = "The answer could not be acted out" if thought.answer else "The thought broke off"
        log(f"[Error] {agent.key if agent else self._asker.key}: {what}: {error!r}")
        self._reports.ended(thought, "broke off", problem=repr(error))
        self._finish(None, thought)

    def _show_thinking(self) -> None:
        if agent := self._find():
            show_people(agent, f"{agent.key} pauses, thinking.")

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
