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
from keepsake.agent.attention import (
    DIRECT,
    Attention,
    EventKind,
    Impulse,
    PerceivedEvent,
    ThinkingConfig,
)
from keepsake.agent.body import Body, Life
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import (
    is_at_home,
    number,
    players_near,
    present,
    talkativeness,
)
from keepsake.agent.thinking.acting import Act, Actor
from keepsake.agent.thinking.preview import PromptPreview
from keepsake.agent.thinking.reports import ThoughtReports, ThoughtTally
from keepsake.agent.thinking.turn import Turn, Turns, show_absent, show_people
from keepsake.agent.waiting import Alarm

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
        turns: How its thoughts are thought.
        preview: Its prompts, for builders.
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
        memory = mind.memory
        self.actor = Actor(memory, mind.keeper, runtime.seconds)
        self._reports = ThoughtReports(memory.name, runtime, spent)
        self._notice, self._wake_up = Alarm(runtime.timer), Alarm(runtime.timer)
        self.turns = Turns(
            life,
            mind,
            self.actor,
            self._reports,
            runtime,
            still_wanted=self._still_wanted,
            heard=self._notice.cancel,
        )
        self.preview = PromptPreview(self.turns, memory, runtime)
        self._find, self._runtime, self._memory = life.body, runtime, memory
        self._drowsy = drowsy
        self._attention = Attention(runtime.thinking.current, runtime.random)
        self._since: float | None = None  # since when its thought waits
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
        return None if self._since is None else self._runtime.seconds() - self._since

    @property
    def thinking(self) -> bool:
        """Whether a thought is under way."""
        return self.turns.current is not None

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
        return AgentState.WAITING if self.turns.current is not None else AgentState.IDLE

    # -- from the world

    def notice(self, event: PerceivedEvent) -> None:
        """Something happened that may be worth a thought; to a sleeper nothing is."""
        agent = self._find()
        if agent is None or agent.db.asleep:
            return
        if event.kind in DIRECT and event.source and event.who not in present(agent):
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
        agent, (missed, self.turns.missed) = self._find(), (self.turns.missed, {})
        if agent is None or agent.db.asleep:
            return
        here = present(agent)
        for impulse in missed.values():
            if impulse.who in here:
                self._attention.notice(impulse, self._runtime.seconds())
        self.schedule()

    @property
    def in_talk(self) -> bool:
        """Whether a player who is here talks with the agent: no moment to walk away."""
        agent = self._find()
        if agent is None:
            return False
        self._attention.only_here(present(agent))
        return self._attention.in_talk(self._runtime.seconds())

    @property
    def stays(self) -> bool:
        """Whether it must not leave now: it is in a talk, or keeps this place for its guests."""
        agent = self._find()
        at_home = agent is not None and is_at_home(agent) and bool(players_near(agent))
        return self.in_talk or at_home

    def _still_wanted(self, impulse: Impulse) -> Impulse | None:
        """The impulse as it is now that its turn has come; None if its cause is gone."""
        agent = self._find()
        return self._attention.still_wanted(present(agent)) if agent is not None else None

    def start(self) -> None:
        """Begin to have idle thoughts."""
        if self._attention.due(self._runtime.seconds()) is None:
            self.schedule()

    def close(self) -> None:
        """Stop thinking; an answer that still comes is dropped."""
        self._closed = True
        self._wake_up.cancel()
        self._notice.cancel()
        self.turns.drop()

    # -- scheduling

    def schedule(self) -> None:
        """Set the clock for the next time that a thought may be due."""
        self._wake_up.cancel()
        at = self._attention.next_at()
        if at is not None and not (self._closed or self.thinking):
            self._wake_up.set(max(at - self._runtime.seconds(), 0.0), self._wake)

    def _wake(self) -> None:
        agent, now = self._find(), self._runtime.seconds()
        if agent is None:
            return
        self._attention.config = _config_for(agent, self._runtime.thinking.current)
        self._attention.set_player_near(bool(players_near(agent)), now)
        self._attention.only_here(present(agent))
        impulse = self._attention.due(now)
        if impulse is None:
            self.schedule()
            return
        self._attention.thought_started(now)
        may_think, state = impulse.priority == "player" or not self._drowsy(), self.state
        if may_think and state is AgentState.IDLE and agent.location is not None:
            self._begin(impulse)
            return
        # Paused, asleep, nowhere, or its memory cannot be written: the moment passes.
        if state is AgentState.TROUBLED:
            show_absent(agent, impulse)
        self._over(None)

    # -- one thought

    def break_off(self) -> None:
        """Let go of the thought under way; an answer that still comes is dropped."""
        if self.turns.drop():
            self._over(None)

    def _begin(self, impulse: Impulse) -> None:
        """Think, now that the moment has come."""
        self._since = self._runtime.seconds()
        self.turns.current = turn = Turn(impulse)
        pause = self._runtime.thinking.current.pause_notice
        if impulse.priority == "player" and pause:
            self._notice.set(pause, self._show_thinking)

        def broke_off(failure: Failure) -> None:
            """Whatever breaks ends the thought: the agent must be able to think again."""
            what = "The answer could not be acted out" if turn.answer else "The thought broke off"
            log(f"[Error] {self._memory.name}: {what}: {failure.value!r}")
            self._reports.ended(turn, "broke off", problem=repr(failure.value))

        def finish(act: Act | None) -> None:
            if self.turns.current is turn:  # else it was broken off
                self._over(act)

        Deferred.fromCoroutine(self.turns.take(turn)).addErrback(broke_off).addCallback(finish)

    def _show_thinking(self) -> None:
        if agent := self._find():
            show_people(agent, f"{agent.key} pauses, thinking.")

    def _over(self, act: Act | None) -> None:
        """A thought has ended, or a moment for one has passed."""
        self._notice.cancel()
        self.turns.current = self._since = None
        spoke, silent = (act.spoke, act.verb in ("", "wait")) if act else (False, True)
        self._attention.thought_done(self._runtime.seconds(), spoke=spoke, silent=silent)
        self.schedule()


def _config_for(agent: Body, config: ThinkingConfig) -> ThinkingConfig:
    """The configured times, with the agent's own interval or talkativeness."""
    own = agent.db.idle_interval
    usual = config.idle_interval * 2.0 ** (1.0 - 2.0 * talkativeness(agent))
    interval = max(number(own, usual), SHORTEST_INTERVAL) if own else usual
    return config if interval == config.idle_interval else replace(config, idle_interval=interval)
