"""When an agent thinks, and the life cycle of its thoughts.

The agent's ``msg`` hands over an :class:`Impulse` by :meth:`Thinker.notice`. The :class:`Attention`
decides when it is due; an alarm then begins a :class:`~keepsake.agent.turns.state.Turn`.

Everything runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from twisted.internet.defer import Deferred

from keepsake.agent.acting.actor import Actor
from keepsake.agent.agent_log import ThoughtLog
from keepsake.agent.attention.attention import Attention
from keepsake.agent.attention.current_thought import CurrentThought
from keepsake.agent.attention.impulse import ANSWERED, DIRECT, IDLE, Impulse, ImpulseKind
from keepsake.agent.attention.presence import AgentState, Presence
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.due import Due, impulse_of_plan
from keepsake.agent.plans.plans import Plans
from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of
from keepsake.agent.surroundings.people import (
    people_near,
    persons_near,
    players_near,
)
from keepsake.agent.turns.outage import Outage
from keepsake.agent.turns.plan_steps import finishes_plan_first, follow_plan, left_to_answer
from keepsake.agent.turns.reading_ahead import read_ahead
from keepsake.agent.turns.state import Turn
from keepsake.agent.turns.turn import drop_turn, run_turn
from keepsake.agent.turns.waiting_players import WaitingPlayers
from keepsake.agent.unprompted.unprompted import Unprompted, talkativeness
from keepsake.books.plan import Plan
from keepsake.errors import KeepsakeError
from keepsake.events.values import Urgency
from keepsake.happening import Person


class Thinker:
    """Decides when one agent thinks, and runs its thoughts one at a time.

    Args:
        actor: Executes the agent's commands.
        walking: Returns whether the agent walks somewhere; then it thinks only about players.

    Attributes:
        body: Returns the agent; None if it has been deleted.
        log: The outcomes of its thoughts since the server started.
        thought: The current thought.
        presence: How the agent is now, and who is with it.
        keep_by_rule: Goes on with a plan without a model.
        unprompted: What it thinks or talks about by itself.
    """

    def __init__(
        self,
        ref: AgentRef,
        tools: MemoryTools,
        actor: Actor,
        services: Runtime,
        walking: Callable[[], bool],
    ) -> None:
        self.log = ThoughtLog(ref.name, services.events)
        self.body = ref.body
        self._ref = ref
        self._tools = tools
        self._memory = tools.memory
        self._services = services
        self._seconds = services.seconds
        self._walking = walking
        self.thought = CurrentThought(services.scheduler)
        self._next_thought = Alarm(services.scheduler)
        settings = services.thinking.current
        self._attention = Attention(settings, services.random, self._seconds())
        self._waiting = WaitingPlayers(self._memory, self._attention)
        self._outage = Outage()
        self.unprompted = Unprompted(tools, services, ref.names)
        self.presence = Presence(
            ref,
            tools,
            attention=self._attention,
            thought=self.thought,
            unprompted=self.unprompted,
            outage=self._outage,
            seconds=self._seconds,
            walking=walking,
        )
        self._new_turn = partial(
            Turn,
            ref=ref,
            tools=tools,
            actor=actor,
            thoughts=self.log,
            services=services,
            pause=self.thought.pause,
            outage=self._outage,
            begin_plan=self._begin_due_plan,
            take_newer=lambda: self._attention.take_newer() if self.presence.update() else None,
            put_back=lambda: self._attention.put_back(self._seconds()),
            next_players=lambda: self._attention.next_players if self.presence.update() else [],
        )
        self.keep_by_rule: Callable[[Plan], None] = lambda _: None
        self._closed = False

    @property
    def turn(self) -> Turn | None:
        """The turn of the current thought; None if there is none."""
        return self.thought.turn

    # -- events

    def notice(self, impulse: Impulse) -> None:
        """Take in an impulse that may be worth a thought. A sleeping agent ignores it.

        It ends the current thought in two cases: a player waits, and the thought is about something
        less urgent (with the exception of :func:`finishes_plan_first`); or the thought tries an
        older line of the same player again, which no model has answered, and has said nothing yet.
        """
        agent = self.presence.update()
        if agent is None or agent.db.asleep:
            return
        partner = self.unprompted.talks_to
        if partner and impulse.who == partner:
            return  # the next line of their talk answers it
        if impulse.kind in DIRECT and impulse.source and impulse.who not in self._attention.present:
            # a shout from another room
            impulse = replace(impulse, kind=ImpulseKind.HEARD, from_afar=True)
        is_urgent = self._attention.notice(impulse, self._seconds())
        if self._waiting.drop_older(impulse, self.turn):
            self.cancel_thought()
        elif is_urgent and not finishes_plan_first(self.turn, self._tools.plans, impulse):
            self._interrupt(impulse)
        self._set_alarm(agent)

    def drop_greeting(self, who: str) -> None:
        """Take in that a player has turned to somebody else here, and needs no greeting."""
        self._attention.drop_greeting(who)

    def _interrupt(self, event: Impulse) -> None:
        """Cancel the current thought for something more urgent.

        What somebody has said waits again. A plan's step comes again: with the answer to its person
        if they have spoken, else later.
        """
        turn = self.turn
        begun = turn is not None and turn.has_begun
        if turn is not None and turn.impulse.kind in DIRECT and not begun:
            self._attention.put_back(self._seconds())
        step = turn.take_step() if turn is not None and not begun else None
        self.cancel_thought()
        if step is None:
            return
        if step.who == event.who:
            self._attention.notice_plan(step, self._seconds())
        elif self._tools.plans is not None:
            self._tools.plans.steps.go_on_later(step.plan)

    def is_asked_by(self, who: str) -> bool:
        """Return whether it is about to answer words of that person, or does so now."""
        return self.presence.can_think and self._attention.is_asked_by(who)

    def answer_agent(self, person: Person) -> None:
        """Answer the last words of another agent here, whose plan waits for that."""
        try:
            window = reversed(self._memory.memory.context().window)
        except KeepsakeError:  # it cannot think either
            return
        heard = (x.number for x in window if x.heard is not None and x.source_id == person.id)
        self.notice(
            Impulse(
                ImpulseKind.ADDRESSED,
                from_player=False,
                source=person.name,
                memory_number=next(heard, 0),
                source_id=person.id,
                errand=True,
            )
        )

    def begin_plan(self, due: Due) -> None:
        """Think of a plan that is due, as soon as no player waits.

        Without a model that can act, the plan is kept by rule.
        """
        plan = due.plan
        plans = self._tools.plans
        if not self._services.acts_unprompted or (plans is not None and plans.is_by_rule(plan)):
            self.keep_by_rule(plan)
            return
        agent = self.body()
        here = persons_near(agent) if agent is not None else ()
        impulse = impulse_of_plan(due, (*self._tools.people_known, *here))
        players = map(identity_of, players_near(agent)) if agent is not None else ()
        gather = due.gathers and impulse.who in players
        self._attention.notice_plan(impulse, self._seconds(), gather=gather)
        self.schedule()

    def answered(self, who: str, *, words: bool = False) -> None:
        """Record that a rule has answered somebody's arrival or gift.

        ``words``: Whether their words are answered too.
        """
        if self._attention.answered(who, self._seconds(), words=words):
            self.cancel_thought()
        if self.turn is None and self.presence.update() is not None:
            self._read_ahead(IDLE)  # the person will speak next

    def answer_waiting(self) -> None:
        """Answer the last words of players who are still here: it could not think before."""
        agent = self.presence.update()
        for impulse in self._waiting.impulses:
            here = agent is not None and impulse.who in self._attention.present
            if here and self.turn is not None and self.turn.impulse.key == impulse.key:
                continue  # it is answered now
            if not here or self.presence.state is AgentState.ASLEEP:
                self._waiting.remove(impulse)
            if here:
                self.notice(impulse)
            elif impulse.failed:
                self._waiting.pass_over(impulse)

    @property
    def acts_unprompted(self) -> bool:
        """Whether its model can act without being spoken to."""
        return self._services.acts_unprompted

    def close(self) -> None:
        """Stop thinking. Store on the agent which players wait for an answer."""
        self._closed = True
        agent = self.body()
        if agent is not None:
            self._waiting.store(agent, self._seconds(), self._services.clock.now())
        self.cancel_thought()
        self._next_thought.cancel()
        self.thought.end()

    def resume_unanswered(self) -> None:
        """Answer the players whom :meth:`close` stored before a reload."""
        agent = self.body()
        if agent is None:
            return
        if self._waiting.restore(agent, self._seconds(), self._services.clock.now()):
            self.answer_waiting()

    # -- thoughts

    def schedule(self) -> None:
        """Set the alarm for the next time that a thought may be due."""
        self._set_alarm(self.presence.update())

    def _set_alarm(self, agent: Body | None) -> None:
        """Set the alarm for the next impulse that is due; None: the agent has been deleted."""
        due = self._attention.upcoming()
        if due is None or self._closed or agent is None:
            self._next_thought.cancel()
        else:
            self._next_thought.set(max(due[0] - self._seconds(), 0.0), self._begin_if_due)

    def _begin_if_due(self) -> None:
        """Begin the thought that is due; an agent that cannot think now skips it."""
        attention = self._attention
        agent = self.presence.update()
        if agent is None:
            return
        attention.config = self._services.thinking.current
        attention.talkativeness = talkativeness(agent)
        due = attention.upcoming()
        if due is None or due[0] > self._seconds():
            self._set_alarm(agent)
            return
        impulse = due[1]
        attention.begin(impulse)
        self.presence.pass_on_unheard(agent)
        for_player = impulse.priority is Urgency.PLAYER
        may_think = for_player or not (self._walking() or self.unprompted.talks_to)
        if not may_think or self.presence.state is not AgentState.IDLE:
            self._skip(agent, impulse)
            return
        if impulse is IDLE:
            begun = self.unprompted.begin(agent, self._tools.plans)
            if begun is None:
                self._finish(None)
                return
            impulse = begun
            attention.begin(impulse)
        if agent.location is None:
            self._skip(agent, impulse)
        else:
            self._begin_turn(agent, impulse)

    def _begin_turn(self, agent: Body, impulse: Impulse) -> None:
        """Begin a thought; if a player waits, players are shown after some seconds: it thinks."""
        is_answer = impulse.from_player and impulse.kind in ANSWERED
        here = frozenset(map(identity_of, people_near(agent)))
        beside = self._attention.take_plan_with(impulse.who, here) if is_answer else None
        if beside is None and impulse.from_player and impulse.kind in DIRECT:
            plans = self._tools.plans
            due = plans.take_due_with(impulse.who, here) if plans is not None else None
            beside = impulse_of_plan(due) if due is not None else None
        turn = self._new_turn(impulse=impulse, agent=agent, beside=beside)
        self.thought.begin(turn, agent, self._attention.config.pause_notice)
        Deferred.fromCoroutine(run_turn(turn)).addCallback(lambda _: self._finish(turn))

    def _skip(self, agent: Body, impulse: Impulse) -> None:
        """Skip a thought of an agent that cannot think now; its state says why."""
        state = self.presence.state
        if impulse.to_all and agent.pass_on(impulse):
            self._finish(None)
            return
        if state is AgentState.UNWRITABLE:
            self._outage.tell(agent, impulse, state)
        if state is AgentState.PAUSED and impulse.priority is Urgency.PLAYER:
            self._waiting.add(impulse)
        self._finish(None)

    def has_news_for(self, other: Body) -> bool:
        """Return whether the agent, with a model that can act, has news for another one here."""
        agent = self.body()
        return agent is not None and self.unprompted.has_news_for(agent, other)

    def talk_with(self, other: Body | None) -> None:
        """Begin to talk with another agent in a talk of two, or end that with None."""
        self.unprompted.talk_with(other)
        if other is None:
            self.schedule()

    def _answer_what_is_left(self, turn: Turn, plans: Plans) -> None:
        """Answer words that went to a plan, and which its step has not answered."""
        agent = self.body()
        for each in left_to_answer(turn, plans, agent) if agent is not None else ():
            self._attention.notice(each, self._seconds())

    def _begin_due_plan(self, number: int) -> Deferred[None] | None:
        plans = self._tools.plans
        return plans.begin(number) if plans is not None else None

    def read_ahead(self, player: CharacterObject | None) -> None:
        """Have a slow model read the agent's prompt before a player speaks to it.

        ``player``: Who is here; None for anybody who may come.
        """
        agent = self.presence.update()
        if agent is None or self.presence.state is not AgentState.IDLE or self._walking():
            return
        if player is None:
            self._read_ahead(IDLE, in_talk=False)
            return
        name = name_of(player, agent)
        may_speak = Impulse(ImpulseKind.ADDRESSED, True, name, source_id=identity_of(player))
        self._read_ahead(may_speak, in_talk=self.presence.in_talk)

    def _read_ahead(self, impulse: Impulse, *, in_talk: bool = True) -> None:
        read_ahead(self._ref, impulse, self._tools, self._services, in_talk=in_talk)

    def cancel_thought(self) -> None:
        """Cancel the current thought. If an answer still arrives, it is dropped."""
        if self.turn is not None:
            drop_turn(self.turn)
            self._finish(self.turn)

    def _finish(self, turn: Turn | None) -> None:
        """Clean up after a thought that has ended or was skipped, and schedule the next."""
        if turn is not self.turn:  # it was cancelled
            return
        plans = self._tools.plans
        if turn is not None and not turn.dropped:
            self._waiting.keep(turn, paused=self.presence.state is AgentState.PAUSED)
            if plans is not None:
                follow_plan(turn, plans, self.body())
                self._answer_what_is_left(turn, plans)
        left = turn.plan_left if turn is not None else None
        if left is not None and plans is not None:
            plans.steps.go_on_later(left.plan, left.why)
        self.thought.end()
        spoke = turn is not None and turn.spoke and not turn.dropped
        if turn is not None and spoke:
            self._read_ahead(turn.impulse)  # the person will speak again
        self._attention.ended(self._seconds(), spoke=spoke)
        self.schedule()
