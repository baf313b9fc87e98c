"""When an agent thinks, and the life cycle of its thoughts.

The agent's ``msg`` hands over an :class:`Impulse` by :meth:`Thinker.notice`. The :class:`Attention`
decides when it is due; an alarm then begins a :class:`~keepsake.agent.turns.state.Turn`.

Everything runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

from twisted.internet.defer import Deferred

from keepsake.agent.acting import Actor
from keepsake.agent.agent_log import ThoughtLog
from keepsake.agent.attention import DIRECT, IDLE, Attention, Impulse, ImpulseKind
from keepsake.agent.body import CharacterObject
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.occasions import Occasion, Occasions
from keepsake.agent.outage import Outage
from keepsake.agent.plans import Due, Plans
from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings import (
    AgentRef,
    Body,
    hosts_guests,
    identity_of,
    is_agent,
    name_of,
    people_near,
    show_players,
    talkativeness,
)
from keepsake.agent.turns.aside import AsideAnswer, ask_aside
from keepsake.agent.turns.prompts.prompting import preview
from keepsake.agent.turns.reading_ahead import read_ahead
from keepsake.agent.turns.state import Turn
from keepsake.agent.turns.turn import drop_turn, run_turn
from keepsake.agent.turns.waiting import all_waiting
from keepsake.books.plans import Plan
from keepsake.events.values import Urgency
from keepsake.happening import KnownVerb, Person
from keepsake.prompt.sections import Rendered

_NO_STEP = frozenset({KnownVerb.EMOTE, KnownVerb.WALK, KnownVerb.DONE, KnownVerb.CANCEL})
"""Verbs after which a plan does not go on by itself: they are no step, have ended it, or it goes on
when the agent arrives. After ``wait`` it never does."""


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


class Thinker:
    """Decides when one agent thinks, and runs its thoughts one at a time.

    Args:
        actor: Executes the agent's commands.
        walking: Returns whether the agent walks somewhere; then it thinks only about players.

    Attributes:
        body: Returns the agent; None if it has been deleted.
        log: The outcomes of its thoughts since the server started.
        turn: The current thought; None if there is none.
        plans: The plans that wake it; None before the mind has connected them.
        keep_by_rule: Goes on with a plan without a model.
        begin_talk: Begins a talk with another agent who is here; returns whether it began one.
        talks_to: The identity of the agent with whom it talks in a talk of two; empty for none.
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
        self.turn: Turn | None = None
        self.body = ref.body
        self._ref = ref
        self._tools = tools
        self._memory = tools.memory
        self._services = services
        self._seconds = services.seconds
        self._walking = walking
        self._pause = Alarm(services.scheduler)
        self._next_thought = Alarm(services.scheduler)
        settings = services.thinking.current
        self._attention = Attention(settings, services.random, self._seconds())
        self._outage = Outage()
        self._new_turn = partial(
            Turn,
            ref=ref,
            tools=tools,
            actor=actor,
            thoughts=self.log,
            services=services,
            pause=self._pause,
            outage=self._outage,
            begin_plan=self._begin_due_plan,
            take_newer=lambda: self._attention.take_newer() if self._update_present() else None,
            put_back=lambda: self._attention.put_back(self._seconds()),
        )
        self.plans: Plans | None = None
        self.keep_by_rule: Callable[[Plan], None] = lambda _: None
        self.begin_talk: Callable[[Body], bool] = lambda _: False
        self.talks_to = ""
        self._occasions = Occasions(self._memory, tools.books.importance_of, services)
        self._closed = False
        self._unanswered: dict[str, Impulse] = {}  # of players who got no answer from a model
        self._since = 0.0  # when the current thought began

    @property
    def waited(self) -> float | None:
        """Seconds since the current thought began; None if there is none."""
        return self._seconds() - self._since if self.turn is not None else None

    @property
    def state(self) -> AgentState:
        """The agent's state."""
        agent = self.body()
        if agent is None:
            return AgentState.GONE
        if agent.db.asleep:  # sleep counts before a pause
            return AgentState.ASLEEP
        if agent.db.paused:
            return AgentState.PAUSED
        if self._memory.problem is not None:
            return AgentState.UNWRITABLE
        return AgentState.WAITING if self.turn is not None else AgentState.IDLE

    def preview(
        self, agent: Body, partner: CharacterObject | None = None, words: str = ""
    ) -> Deferred[tuple[Rendered, int]]:
        """Build the prompt of the agent's next thought, with its token budget, after recall.

        The result fails with a KeepsakeError if the memory or a template cannot be read, or no
        model can be asked.

        Args:
            partner: Who says ``words`` to it; None for an unprompted thought.
        """
        impulse = IDLE
        if partner is not None:
            who = identity_of(partner)
            impulse = Impulse(ImpulseKind.ADDRESSED, True, name_of(partner, agent), source_id=who)
        tools = self._tools
        return Deferred.fromCoroutine(preview(agent, impulse, words, tools, self._services))

    def ask_aside(self, question: str, without: Collection[int] = ()) -> Deferred[AsideAnswer]:
        """Ask the agent a question outside the game, of which it will know nothing.

        ``without``: The numbers of memories to leave out of its prompt.

        The result fails with a KeepsakeError; see :func:`keepsake.agent.turns.aside.ask_aside`.
        """
        asked = ask_aside(self._ref, question, self._tools, self._services, without)
        return Deferred.fromCoroutine(asked)

    # -- events

    def notice(self, impulse: Impulse) -> None:
        """Take in an impulse that may be worth a thought. A sleeping agent ignores it."""
        agent = self._update_present()
        if agent is None or agent.db.asleep:
            return
        if self.talks_to and impulse.who == self.talks_to:
            return  # the next line of their talk answers it
        if impulse.kind in DIRECT and impulse.source and impulse.who not in self._attention.present:
            impulse = replace(impulse, kind=ImpulseKind.HEARD)  # a shout from another room
        is_urgent = self._attention.notice(impulse, self._seconds())
        if self._overtakes(impulse):
            self.cancel_thought()
        elif is_urgent and not self._finishes_plan_first(impulse):
            self._interrupt()
        self._set_alarm(agent)

    def _overtakes(self, event: Impulse) -> bool:
        """Drop an older line of the same person that no model answered, for a newer one.

        Returns:
            Whether the current thought tries that older line again, and has said nothing yet.
        """
        old = self._unanswered.get(event.key)
        if event.failed or event.kind not in DIRECT or old is None or not old.failed:
            return False
        del self._unanswered[event.key]
        turn = self.turn
        is_tried = turn is not None and turn.impulse.key == event.key and turn.impulse.failed
        if is_tried and turn is not None and turn.has_begun:
            return False
        self._pass_over(old)
        return is_tried

    def _pass_over(self, failed: Impulse) -> None:
        """Record that what was said up to an impulse gets no answer any more."""
        memory = self._memory
        lines = all_waiting(memory.memory.context().window, failed, memory.passed_over)
        memory.passed_over.update(
            each.number for each in lines if each.number <= failed.memory_number
        )

    def _finishes_plan_first(self, event: Impulse) -> bool:
        """Whether the current thought ends before a player's words to the agent are answered.

        What a model decides for a plan now is done, unless the words are from the plan's person.
        """
        turn = self.turn
        if turn is None or not turn.decides_for_plan:
            return False
        plan = None
        if self.plans is not None:
            number = turn.impulse.plan
            plan = self.plans.named(number) if number else self.plans.begun
        whom = plan.whom if plan is not None else None
        return whom is None or whom.id != event.who

    def _interrupt(self) -> None:
        """Cancel the current thought for something more urgent; a plan's step comes again."""
        turn = self.turn
        self.cancel_thought()
        if turn is not None and turn.impulse.plan and not turn.did and self.plans is not None:
            self.plans.go_on_later(turn.impulse.plan)

    def is_asked_by(self, who: str) -> bool:
        """Return whether it is about to answer words of that person, or does so now."""
        able = self.state in (AgentState.IDLE, AgentState.WAITING)
        return able and self._attention.is_asked_by(who)

    def begin_plan(self, due: Due) -> None:
        """Think of a plan that is due, as soon as no player waits.

        Without a model that can act, the plan is kept by rule.
        """
        plan = due.plan
        if not self._services.acts_unprompted:
            self.keep_by_rule(plan)
            return
        whom = due.answered_by or plan.whom or Person("")
        impulse = Impulse(
            ImpulseKind.PLAN,
            from_player=False,
            source=whom.name,
            source_id=whom.id,
            plan=plan.number,
            why=due.why,
            confided=plan.private,
        )
        self._attention.notice_plan(impulse, self._seconds())
        self.schedule()

    def answered(self, who: str, *, words: bool = False) -> None:
        """Record that a rule has answered somebody's arrival or gift.

        ``words``: Whether their words are answered too.
        """
        if self._attention.answered(who, self._seconds(), words=words):
            self.cancel_thought()
        if self.turn is None and self._update_present() is not None:
            self._read_ahead(IDLE)  # the person will speak next

    def answer_waiting(self) -> None:
        """Answer the last words of players who are still here: it could not think before."""
        agent = self._update_present()
        for key, impulse in list(self._unanswered.items()):
            here = agent is not None and impulse.who in self._attention.present
            if here and self.turn is not None and self.turn.impulse.key == key:
                continue  # it is answered now
            if not here or self.state is AgentState.ASLEEP:
                del self._unanswered[key]
            if here:
                self.notice(impulse)
            elif impulse.failed:
                self._pass_over(impulse)

    @property
    def in_talk(self) -> bool:
        """Whether the agent is in a talk with a player who is here, and should not walk away."""
        return self._update_present() is not None and self._attention.in_talk(self._seconds())

    @property
    def must_stay(self) -> bool:
        """Whether it must not leave now: it is in a talk, or hosts guests at its place."""
        agent = self.body()
        at_home = agent is not None and agent.location is agent.home and hosts_guests(agent)
        return self.in_talk or at_home

    @property
    def is_occupied(self) -> bool:
        """Whether it is about a plan, which its ordinary day and its guests do not interrupt."""
        return self.plans is not None and self.plans.occupies

    def _update_present(self) -> Body | None:
        """Update who is here now. Return the agent; None if it has been deleted."""
        if (agent := self.body()) is not None:
            people = people_near(agent)
            now = self._seconds()
            present = {each.key for each in people} | {identity_of(each) for each in people}
            near = any(each.has_account for each in people)
            self._attention.set_present(present, player_near=near, now=now)
            self._outage.set_present(present)
            if self.plans is not None and not agent.db.asleep:
                met = [Person(name_of(each, agent), identity_of(each)) for each in people]
                self.plans.set_present(met)
        return agent

    def close(self) -> None:
        """Stop thinking. Store on the agent which players wait for an answer."""
        self._closed = True
        owed = [*self._unanswered.values(), *self._attention.owed]  # the newest last
        if owed and (agent := self.body()) is not None:
            agent.db.owed = [(e.kind.value, e.source, e.memory_number, e.source_id) for e in owed]
        self.cancel_thought()
        self._next_thought.cancel()
        self._pause.cancel()

    def resume_unanswered(self) -> None:
        """Answer the players whom :meth:`close` stored before a reload."""
        if (agent := self.body()) is not None and (owed := agent.db.owed):
            agent.attributes.remove("owed")
            waited = [Impulse(ImpulseKind(kind), True, *who) for kind, *who in owed]
            self._unanswered = {each.key: each for each in waited}
            self.answer_waiting()

    # -- thoughts

    def schedule(self) -> None:
        """Set the alarm for the next time that a thought may be due."""
        self._set_alarm(self._update_present())

    def _set_alarm(self, agent: Body | None) -> None:
        due = self._attention.upcoming()
        if due is None or self._closed or agent is None:
            self._next_thought.cancel()
        else:
            self._next_thought.set(max(due[0] - self._seconds(), 0.0), self._begin_if_due)

    def _begin_if_due(self) -> None:
        attention = self._attention
        now = self._seconds()
        if (agent := self._update_present()) is None:
            return
        attention.config = self._services.thinking.current
        attention.talkativeness = talkativeness(agent)
        due = attention.upcoming()
        if due is None or due[0] > now:
            self._set_alarm(agent)
            return
        impulse = due[1]
        attention.begin(impulse)
        for_player = impulse.priority is Urgency.PLAYER
        may_think = for_player or not (self._walking() or self.talks_to)
        state = self.state
        if impulse is IDLE and may_think and state is AgentState.IDLE:
            begun = self._begin_something(agent)
            if begun is None:
                self._finish(None)
                return
            impulse = begun
            attention.begin(impulse)
        if may_think and state is AgentState.IDLE and agent.location is not None:
            self.turn = turn = self._new_turn(impulse=impulse, agent=agent)
            self._since = now
            if impulse.priority is Urgency.PLAYER and (pause := attention.config.pause_notice):
                self._pause.set(pause, show_players, agent, f"{agent.key} pauses, thinking.")
            Deferred.fromCoroutine(run_turn(turn)).addCallback(lambda _: self._finish(turn))
            return
        # Paused, asleep, walking, nowhere, or memory cannot be written: it skips this thought.
        if state is AgentState.UNWRITABLE:
            self._outage.tell(agent, impulse, state)
        if state is AgentState.PAUSED and impulse.priority is Urgency.PLAYER:
            self._unanswered[impulse.key] = impulse
        self._finish(None)

    def _begin_something(self, agent: Body) -> Impulse | None:
        """Return the impulse of an unprompted thought; None if there is nothing to think about.

        If the occasion is another agent who is free, the two talk instead.
        """
        if agent.location is None or not self._services.acts_unprompted:
            return None
        self._occasions.plans = self.plans
        occasions = self._occasions.take(agent, self._services.clock.now())
        if not occasions or self._talks_about(occasions):
            return None
        return replace(IDLE, why=" ".join(each.text for each in occasions))

    def has_news_for(self, other: Body) -> bool:
        """Return whether the agent, with a model that can act, has news for another one here."""
        agent = self.body()
        if agent is None or not self._services.acts_unprompted:
            return False
        return self._occasions.has_news_for(agent, other, self._services.clock.now())

    def _talks_about(self, occasions: Sequence[Occasion]) -> bool:
        """Begin a talk with the first agent whom an occasion is about; return whether it began."""
        others = (each.about for each in occasions if each.about is not None)
        other = next((each for each in others if is_agent(each)), None)
        return other is not None and self.begin_talk(other)

    def talk_with(self, other: Body | None) -> None:
        """Begin to talk with another agent in a talk of two, or end that with None."""
        self.talks_to = identity_of(other) if other is not None else ""
        if other is not None:
            self._occasions.met(other, self._services.clock.now())
        else:
            self.schedule()

    def _begin_due_plan(self, number: int) -> Deferred[None] | None:
        return self.plans.begin(number) if self.plans is not None else None

    def _follow_plan(self, turn: Turn) -> None:
        """Go on with a plan after a thought in which the agent acted."""
        plans = self.plans
        if plans is None or not turn.verbs:
            return
        due = plans.named(turn.impulse.plan) if turn.impulse.plan else None
        plan = due or plans.begun
        if plan is None:
            return
        why = f"you did this for it: {turn.done}"
        asked = self._asked_by(turn)
        if asked is not None:
            plans.go_on_after_answer(plan, why, asked)
        elif not (KnownVerb.WAIT in turn.verbs or turn.verbs <= _NO_STEP):
            plans.go_on(plan, why)

    def _asked_by(self, turn: Turn) -> Person | None:
        """Return the agent here who is about to answer what was said in a thought; else None."""
        agent = self.body()
        if agent is None or KnownVerb.WALK in turn.verbs:  # it does not stay for the answer
            return None
        me = identity_of(agent)
        for each in people_near(agent):
            who = identity_of(each)
            if who not in turn.spoken_to or not is_agent(each) or each.mind is None:
                continue
            if each.mind.thinker.is_asked_by(me):
                return Person(name_of(each, agent), who)
        return None

    def read_ahead(self, player: CharacterObject) -> None:
        """Have a slow model read the agent's prompt before a player who is here speaks to it."""
        agent = self._update_present()
        if agent is None or self.state is not AgentState.IDLE or self._walking():
            return
        name = name_of(player, agent)
        may_speak = Impulse(ImpulseKind.ADDRESSED, True, name, source_id=identity_of(player))
        self._read_ahead(may_speak, in_talk=self.in_talk)

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
        if turn is not None and not turn.dropped:
            self._keep_unanswered(turn)
            self._follow_plan(turn)
        self._pause.cancel()
        self.turn = None
        spoke = turn is not None and turn.spoke and not turn.dropped
        if turn is not None and spoke:
            self._read_ahead(turn.impulse)  # the person will speak again
        self._attention.ended(self._seconds(), spoke=spoke)
        self.schedule()

    def _keep_unanswered(self, turn: Turn) -> None:
        """Keep a line without an answer for another try, unless its speaker has gone on."""
        impulse = turn.impulse
        self._unanswered.pop(impulse.key, None)
        if turn.is_unanswered:
            impulse = replace(impulse, failed=True)
            newer = self._attention.waiting_of(impulse.key)
            if newer is not None and newer.kind in DIRECT:
                self._pass_over(impulse)
                return
        elif self.state is not AgentState.PAUSED or turn.did:
            return
        self._unanswered[impulse.key] = impulse
