"""How an agent is now, who is with it, and whether it can think, stay or go.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from keepsake.agent.attention.attention import Attention
from keepsake.agent.attention.current_thought import CurrentThought
from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import hosts_guests, people_near, persons_near
from keepsake.agent.turns.outage import Outage
from keepsake.agent.unprompted.unprompted import Unprompted
from keepsake.events.values import Urgency
from keepsake.happening import PersonId


class AgentState(StrEnum):
    """The state of an agent."""

    IDLE = "idle"
    WAITING = "waiting for the model"
    ASLEEP = "asleep"
    GOING_HOME = "going home to sleep"
    PAUSED = "paused"
    UNWRITABLE = "memory cannot be written"
    GONE = "gone"
    OPENING = "opening"
    """Its mind is not open yet; only the dashboard can see that, soon after a start."""


class Presence:
    """How one agent is now, and who is with it.

    Args:
        attention: Its schedule, which has to know who is here.
        thought: The thought that it has now.
        unprompted: What it begins by itself, such as a talk with another agent.
        outage: Who was told that it cannot answer.
        walking: Returns whether it walks somewhere.
    """

    def __init__(
        self,
        ref: AgentRef,
        tools: MemoryTools,
        *,
        attention: Attention,
        thought: CurrentThought,
        unprompted: Unprompted,
        outage: Outage,
        seconds: Callable[[], float],
        walking: Callable[[], bool],
    ) -> None:
        self._body = ref.body
        self._tools = tools
        self._attention = attention
        self._thought = thought
        self._unprompted = unprompted
        self._outage = outage
        self._seconds = seconds
        self._walking = walking

    # -- who is here

    def update(self) -> Body | None:
        """Update who is here now. Return the agent; None if it has been deleted."""
        agent = self._body()
        if agent is None:
            return None
        people = people_near(agent)
        present = {each.key for each in people} | {identity_of(each) for each in people}
        near = any(each.has_account for each in people)
        self._attention.set_present(present, player_near=near, now=self._seconds())
        self._outage.set_present(present)
        plans = self._tools.plans
        if plans is not None and not agent.db.asleep:
            turn = self._thought.turn
            # What was written after a walk is still to be done with those whom it reaches.
            walks = turn is not None and turn.attempt.journey is not None
            about = turn.taken_up or turn.plan_number if turn is not None and walks else 0
            plans.meetings.set_present(persons_near(agent), but=about)
        self.pass_on_unheard(agent)
        return agent

    def pass_on_unheard(self, agent: Body) -> None:
        """Pass on questions to everybody that this agent will not think about."""
        unheard = self._attention.unheard
        self._attention.unheard = []
        for each in unheard:
            if agent.pass_on(each):
                self._attention.passed_on(each)

    # -- how it is

    @property
    def state(self) -> AgentState:
        """The agent's state."""
        agent = self._body()
        if agent is None:
            return AgentState.GONE
        if agent.db.asleep:  # sleep counts before a pause
            return AgentState.ASLEEP
        if agent.db.paused:
            return AgentState.PAUSED
        if self._tools.memory.problem is not None:
            return AgentState.UNWRITABLE
        return AgentState.WAITING if self._thought.is_thinking else AgentState.IDLE

    @property
    def can_think(self) -> bool:
        """Whether it thinks at all: it is idle, or thinks now."""
        return self.state in (AgentState.IDLE, AgentState.WAITING)

    @property
    def in_talk(self) -> bool:
        """Whether the agent is in a talk with a player who is here, and should not walk away."""
        return self.update() is not None and self._attention.in_talk(self._seconds())

    def is_free(self, seconds: float) -> bool:
        """Return whether it does not think, and no player here spoke with it for that long."""
        if self.update() is None or self.state is not AgentState.IDLE:
            return False
        is_idle = not self._attention.next_players and not self._unprompted.talks_to
        return is_idle and not self._attention.in_talk(self._seconds(), seconds)

    @property
    def is_leaving(self) -> bool:
        """Whether it cannot stay for a talk: it walks, or it does not think at all."""
        return self._walking() or not self.can_think

    def is_busy_with_others(self, who: PersonId) -> bool:
        """Return whether it thinks about a plan or answers somebody else than that person."""
        turn = self._thought.turn
        if turn is None or turn.impulse.who == who:
            return bool(self._unprompted.talks_to)
        return turn.impulse.priority is Urgency.PLAYER or turn.impulse.kind is ImpulseKind.PLAN

    @property
    def must_stay(self) -> bool:
        """Whether it must not leave now: it is in a talk, or hosts guests at its place."""
        agent = self._body()
        at_home = agent is not None and agent.location is agent.home and hosts_guests(agent)
        return self.in_talk or at_home

    @property
    def is_occupied(self) -> bool:
        """Whether it is about a plan, which its ordinary day and its guests do not interrupt.

        It is so too while the people of an appointment are together.
        """
        if self._tools.plans is not None and self._tools.plans.occupies:
            return True
        agent = self._body()
        appointments = self._tools.appointments
        return agent is not None and appointments is not None and appointments.stays(agent)
