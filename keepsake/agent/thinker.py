"""When an agent thinks, and the life cycle of its thoughts.

Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent.acting import Actor
from keepsake.agent.agent_log import ThoughtLog
from keepsake.agent.attention import DIRECT, IDLE, Attention, EventKind, Impulse
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.runtime import Alarm, Runtime
from keepsake.agent.surroundings import (
    Body,
    Life,
    hosts_guests,
    identity_of,
    people_near,
    show_absent,
    show_people,
    talkativeness,
)
from keepsake.agent.turn import Turn
from keepsake.prompt.sections import Rendered


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
        keeper: What it has experienced.
        actor: Its hands and its voice.
        services: What all agents run on.
        drowsy: Whether it is on its way somewhere, and thinks only of players.

    Attributes:
        body: Gives the agent as it is now; None if it has been deleted.
        log: What came of its thoughts since the server started.
        turn: The thought under way; None if none is.
    """

    def __init__(
        self,
        life: Life,
        keeper: MemoryTools,
        actor: Actor,
        services: Runtime,
        *,
        drowsy: Callable[[], bool],
    ) -> None:
        self.log = ThoughtLog(life.name, services.events)
        self.turn: Turn | None = None
        self.body, self._memory, self._services = life.body, keeper.memory, services
        self._seconds, self._drowsy = services.seconds, drowsy
        self._pause, self._wake_up = Alarm(services.timer), Alarm(services.timer)
        settings = services.thinking.current
        self._attention = Attention(settings, services.random, self._seconds())
        self._begun = partial(
            Turn,
            life=life,
            keeper=keeper,
            actor=actor,
            thoughts=self.log,
            services=services,
            pause=self._pause,
            still_wanted=lambda: self._attention.still_wanted() if self._look() else None,
        )
        self._closed = False
        self._missed: dict[str, Impulse] = {}  # of players whom no model has answered
        self._since = 0.0  # since when it thinks

    @property
    def waited(self) -> float | None:
        """Seconds that its thought has waited; None if none is under way."""
        return self._seconds() - self._since if self.turn is not None else None

    @property
    def state(self) -> AgentState:
        """What the agent is about."""
        agent = self.body()
        if agent is None:
            return AgentState.GONE
        if agent.db.asleep:  # paused or not: what it does first of all is sleep
            return AgentState.ASLEEP
        if agent.db.paused:
            return AgentState.PAUSED
        if self._memory.problem is not None:
            return AgentState.TROUBLED
        return AgentState.WAITING if self.turn is not None else AgentState.IDLE

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
            template cannot be read, or no model can be asked.
        """
        impulse = IDLE
        if partner is not None:
            who = identity_of(partner)
            impulse = Impulse(EventKind.ADDRESSED, True, partner.key, source_id=who)
        return Deferred.fromCoroutine(self._begun(impulse=impulse, agent=agent).preview(words))

    # -- from the world

    def notice(self, event: Impulse) -> None:
        """Something happened that may be worth a thought; to a sleeper nothing is."""
        agent = self._look()
        if agent is None or agent.db.asleep:
            return
        if event.kind in DIRECT and event.source and event.who not in self._attention.present:
            event = replace(event, kind=EventKind.HEARD)  # a shout from afar
        if self._attention.notice(event, self._seconds()):
            self.break_off()
        self._set_clock(agent)

    def answered(self, who: str, *, words: bool = False) -> None:
        """It has turned to somebody by rule: that they came, or gave something, is answered.

        ``words``: What they said is, too.
        """
        if self._attention.answered(who, self._seconds(), words=words):
            self.break_off()
        if self.turn is None and (agent := self._look()) is not None:
            self._begun(impulse=IDLE, agent=agent).warm()  # they will speak next

    def model_is_back(self) -> None:
        """A model answers again: the last unanswered words of those who are still here count."""
        missed, self._missed = self._missed, {}
        for impulse in missed.values():
            if self._look() is not None and impulse.who in self._attention.present:
                self.notice(impulse)

    @property
    def in_talk(self) -> bool:
        """Whether a player who is here talks with the agent: no moment to walk away."""
        return self._look() is not None and self._attention.in_talk(self._seconds())

    @property
    def stays(self) -> bool:
        """Whether it must not leave now: it is in a talk, or keeps this place for its guests."""
        agent = self.body()
        at_home = agent is not None and agent.location is agent.home and hosts_guests(agent)
        return self.in_talk or at_home

    def _look(self) -> Body | None:
        """See who is here now; the agent itself, None if it has been deleted."""
        if (agent := self.body()) is not None:
            people, now = people_near(agent), self._seconds()
            present = {each.key for each in people} | {identity_of(each) for each in people}
            near = any(each.has_account for each in people)
            self._attention.look(present, player_near=near, now=now)
        return agent

    def close(self) -> None:
        """Stop thinking; what players wait for is kept with the agent, for :meth:`take_up`."""
        self._closed = True
        owed = [*self._attention.owed, *self._missed.values()]
        if owed and (agent := self.body()) is not None:
            agent.db.owed = [(e.kind.value, e.source, e.memory, e.source_id) for e in owed]
        self.break_off()
        self._wake_up.cancel()
        self._pause.cancel()

    def take_up(self) -> None:
        """Answer the players who waited when the game was reloaded."""
        if (agent := self.body()) is not None and (owed := agent.db.owed):
            agent.attributes.remove("owed")
            waited = [Impulse(EventKind(kind), True, *who) for kind, *who in owed]
            self._missed = {each.key: each for each in waited}
            self.model_is_back()

    # -- one thought after the other

    def schedule(self) -> None:
        """Set the clock for the next time that a thought may be due."""
        self._set_clock(self._look())

    def _set_clock(self, agent: Body | None) -> None:
        due = self._attention.upcoming()
        if due is None or self._closed or agent is None:
            self._wake_up.cancel()
        else:
            self._wake_up.set(max(due[0] - self._seconds(), 0.0), self._wake)

    def _wake(self) -> None:
        attention, now = self._attention, self._seconds()
        if (agent := self._look()) is None:
            return
        attention.config = self._services.thinking.current
        attention.talkativeness = talkativeness(agent)
        due = attention.upcoming()
        if due is None or due[0] > now:
            self._set_clock(agent)
            return
        impulse = due[1]
        attention.begin(impulse)
        may_think, state = impulse.priority == "player" or not self._drowsy(), self.state
        if may_think and state is AgentState.IDLE and agent.location is not None:
            self.turn = turn = self._begun(impulse=impulse, agent=agent)
            self._since = now
            if impulse.priority == "player" and (pause := attention.config.pause_notice):
                self._pause.set(pause, show_people, agent, f"{agent.key} pauses, thinking.")
            Deferred.fromCoroutine(turn.run()).addCallback(lambda _: self._over(turn))
            return
        # Paused, asleep, nowhere, or its memory cannot be written: the moment passes.
        if state is AgentState.TROUBLED:
            show_absent(agent, impulse)
        self._over(None)

    def break_off(self) -> None:
        """Let go of the thought under way; an answer that still comes is dropped."""
        if self.turn is not None:
            self.turn.drop()
            self._over(self.turn)

    def _over(self, turn: Turn | None) -> None:
        """A thought has ended, or a moment for one has passed."""
        if turn is not self.turn:  # it was broken off
            return
        if turn is not None and not turn.dropped:
            self._missed.pop(turn.impulse.key, None)
            if turn.unanswered:
                self._missed[turn.impulse.key] = turn.impulse
        self._pause.cancel()
        self.turn = None
        spoke = turn is not None and turn.spoke and not turn.dropped
        if turn and spoke and turn.sent is not None and not turn.sent.request.messages:
            turn.warm()  # they will speak again
        self._attention.ended(self._seconds(), spoke=spoke)
        self.schedule()
