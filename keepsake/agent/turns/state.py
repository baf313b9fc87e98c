"""One turn of an agent: what its steps use, and what changes while it goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from twisted.internet.defer import Deferred

from keepsake.agent.acting.actor import Actor
from keepsake.agent.agent_log import ThoughtLog
from keepsake.agent.attention.impulse import DIRECT, Impulse, ImpulseKind
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.next_steps import is_of
from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.people import people_near, players_near
from keepsake.agent.turns.asking import ModelCall
from keepsake.agent.turns.attempt import Attempt, AttemptState, TurnDropped
from keepsake.agent.turns.consent.carried import with_errand
from keepsake.agent.turns.consent.replies import with_replies
from keepsake.agent.turns.context import UNPROMPTED, TurnContext, renewed
from keepsake.agent.turns.outage import Outage
from keepsake.agent.turns.waiting import unanswered
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.books.plan import Plan
from keepsake.events.values import Urgency
from keepsake.happening import Person, PersonId
from keepsake.models.tickets import Priority
from keepsake.ports import Generation
from keepsake.recall.finding import SearchResult


@dataclass(eq=False, kw_only=True)
class Turn:
    """One thought of an agent; :func:`keepsake.agent.turns.turn.run_turn` runs its steps.

    Attributes:
        impulse: Why the agent thinks; before a request is sent, newer words of the same person are
            added.
        agent: Who thinks; looked up again after each wait.
        ref: How to find the agent again after a wait.
        tools: Its memory.
        actor: Executes its commands.
        thoughts: Records the attempts that have ended.
        services: What all agents share.
        take_newer: Called before a request is sent: returns the current impulse; None if the
            reason has gone.
        put_back: Lets the current impulse begin another turn.
        next_players: Returns the impulses of players here who wait for an answer behind this turn.
        pause: Shows people that it thinks, until the first part of the answer.
        outage: Tells players that no model answers.
        beside: A plan that is due, with the player whose words are answered; None for none. The
            answer may do its next steps, unless it is whispered.
        begin_plan: Records that a plan, by its number, is acted on; fires when that is on disk.
        context: Whom it answers, and who will hear the answer.
        attempt: The current attempt.
        attempts: The attempts that have ended.
        call: The request that is under way, or the last one; None before the first.
        dropped: Whether the turn was cancelled.
        taken_up: The number of the plan that it has made and begun; 0 for none.
        reread: The words of a question about several talks, and what a model made of the results;
            None before it read any.
        questions: How many times the model was asked whether words may reach somebody.
        hides_replies: Whether its prompt leaves out what was whispered back for its plan, because
            an answer that may hold it got no leave.
    """

    impulse: Impulse
    agent: Body
    ref: AgentRef
    tools: MemoryTools
    actor: Actor
    thoughts: ThoughtLog
    services: Runtime
    take_newer: Callable[[], Impulse | None]
    put_back: Callable[[], None]
    next_players: Callable[[], Sequence[Impulse]]
    pause: Alarm
    outage: Outage
    begin_plan: Callable[[int], Deferred[None] | None]
    beside: Impulse | None = None
    context: TurnContext = field(default=UNPROMPTED, init=False)
    attempt: AttemptState = field(init=False)
    attempts: list[Attempt] = field(default_factory=list, init=False)
    call: ModelCall | None = field(default=None, init=False)
    dropped: bool = field(default=False, init=False)
    taken_up: int = field(default=0, init=False)
    reread: tuple[str, SearchResult] | None = field(default=None, init=False)
    questions: int = field(default=0, init=False)
    hides_replies: bool = field(default=False, init=False)
    _plan_begun: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.attempt = AttemptState(number=1, impulse=self.impulse)

    # -- what came of it

    @property
    def last(self) -> Attempt | None:
        """The last attempt that has ended; None before the first."""
        return self.attempts[-1] if self.attempts else None

    @property
    def spoke(self) -> bool:
        """Whether the agent said something to others."""
        return any(each.spoke for each in self.attempts)

    @property
    def has_begun(self) -> bool:
        """Whether any part of an answer was said or done, also before its end."""
        return bool(self.attempt.acts) or any(each.did for each in self.attempts)

    @property
    def is_walking(self) -> bool:
        """Whether it waits for a walk to end, with more to do there."""
        return self.attempt.is_walking

    @property
    def did(self) -> bool:
        """Whether any part of the last answer was done."""
        return self.last is not None and self.last.did

    @property
    def verbs(self) -> frozenset[str]:
        """The verbs of what the agent did in the last attempt; empty if it did nothing."""
        return self.last.verbs if self.last is not None else frozenset()

    @property
    def is_on_its_way(self) -> bool:
        """Whether the agent is on a walk that it began in the last attempt."""
        return self.last is not None and self.last.is_on_its_way

    @property
    def has_arrived(self) -> bool:
        """Whether a walk ended in the last attempt, and something was done there."""
        return self.last is not None and self.last.has_arrived

    @property
    def missed(self) -> str:
        """That the last attempt's walk did not get there, as its plan is told; else empty."""
        return self.last.missed if self.last is not None else ""

    @property
    def kept_by(self) -> str:
        """The player for whose answer the agent did not set off in the last attempt; else empty."""
        return self.last.kept_by if self.last is not None else ""

    @property
    def waits_for(self) -> str:
        """What the agent waits for after the last attempt: ``for Bob``; empty for nothing."""
        return self.last.waits_for if self.last is not None else ""

    @property
    def next_player(self) -> Person | None:
        """The player here who waits for an answer behind this turn; None for nobody.

        One whose words the turn has answered already, beside those that it is about, does not wait.
        """
        memory = self.tools.memory
        window = memory.memory.context().window
        waiting = (
            each.person
            for each in self.next_players()
            if each.kind not in DIRECT or unanswered(window, each, memory.passed_over).memories
        )
        return next(waiting, None)

    @property
    def spoken_to(self) -> frozenset[PersonId]:
        """The identities of the people to whom the agent spoke in the last attempt."""
        acts = self.last.acts if self.last is not None else ()
        numbers = {act.memory_number for act in acts if act.memory_number}
        window = self.tools.memory.memory.context().window
        said = (each for each in window if each.number in numbers and each.said is not None)
        return frozenset(each.to_id for each in said if each.to_id)

    def has_no_answer_from(self, who: PersonId) -> bool:
        """Whether the agent's last words to a person are newer than theirs to anybody."""
        for each in reversed(self.tools.memory.memory.context().window):
            if each.heard is not None and each.source_id == who:
                return False
            if each.said is not None and each.to_id == who:
                return True
        return False

    @property
    def is_unanswered(self) -> bool:
        """Whether a player waits for an answer, because no model gave one."""
        last = self.last
        failed = last is not None and last.failure is not None and not last.has_answer
        return failed and self.impulse.priority is Urgency.PLAYER

    # -- its plan

    @property
    def plan_number(self) -> int:
        """The number of the plan that the agent is about: the due one, or one begun; else 0."""
        plans = self.tools.plans
        if self.impulse.plan or plans is None or plans.steps.begun is None:
            return self.impulse.plan
        return plans.steps.begun.number

    def take_up(self, number: int) -> Deferred[None] | None:
        """Begin a plan that this turn has made; what is done from now on is for it.

        Returns:
            Fires when that is on disk; None if it is there already.
        """
        self.taken_up = number
        return self.begin_plan(number)

    @property
    def decides_for_plan(self) -> bool:
        """Whether a model answers now what is done for a plan, or what was asked for one."""
        impulse = self.impulse
        if self.attempt.sent is None or impulse.kind not in (ImpulseKind.PLAN, *DIRECT):
            return False
        if self.is_walking:  # it has decided, and a walk takes long
            return False
        return impulse.errand or self.plan_number != 0

    @property
    def plan_left(self) -> Impulse | None:
        """The plan that was due beside the words that it answers, if nothing was done for it."""
        beside = self.beside
        was_begun = beside is not None and self.has_begun and self.impulse.plan == beside.plan
        return None if was_begun else beside

    def take_step(self) -> Impulse | None:
        """Take out the plan that is due, or was due beside words: its step comes another time."""
        step = self.impulse if self.impulse.kind is ImpulseKind.PLAN else self.beside
        self.beside = None
        return step

    @property
    def is_plan_gone(self) -> bool:
        """Whether the turn is about a plan that has ended, or whose person has gone again."""
        number = self.impulse.plan
        plans = self.tools.plans
        if self.impulse.kind is not ImpulseKind.PLAN or plans is None:
            return False
        plan = plans.named(number)
        return plan is None or not plans.meetings.is_met(plan)

    def as_planned(self, impulse: Impulse) -> Impulse:
        """Return the impulse with who may know of its plan now, and how far it is now.

        A person may have edited it, and a thought may wait while the agent does more for it. Words
        of the person of a plan that is due are answered together with it, if all who are here may
        know of it.
        """
        plans = self.tools.plans
        due = impulse if impulse.plan else self.beside
        plan = plans.named(due.plan) if plans is not None and due is not None else None
        if plans is None or due is None or plan is None:
            return impulse
        here = frozenset(map(identity_of, people_near(self.agent)))
        if due is self.beside and not plan.may_be_done_before(here):
            return impulse
        why = plans.steps.whys.get(plan.number, due.why)
        return replace(impulse, plan=plan.number, confided=plan.confided, why=why)

    def take_context(self, context: TurnContext) -> None:
        """Set the context, and the impulse that it is about. A whisper is answered by itself."""
        impulse = context.impulse
        if context.whispered and impulse.plan and impulse.kind is not ImpulseKind.PLAN:
            impulse = replace(impulse, plan=0, why="")
            context = replace(context, impulse=impulse)
        self.impulse = impulse
        plans = self.tools.plans
        plan = plans.named(self.plan_number) if plans is not None else None
        if plan is not None and plan.confided is None and self._talks_about(plan, context):
            # What the answer says is for others too, so it must not hold what the two alone know.
            context = replace(context, audience=NO_PRIVATE_WORDS)
        carried = with_errand(context, self.tools, identity_of(self.agent))
        if carried is not None:
            self.context = carried
            return
        window = self.tools.memory.memory.context().window
        self.context = with_replies(context, None if self.hides_replies else plan, window)

    def _talks_about(self, plan: Plan, context: TurnContext) -> bool:
        """Whether a turn talks openly with another agent here, whom a plan names."""
        partner = context.partner
        if partner is None or context.whispered or not is_of(plan, partner):
            return False
        agents = map(identity_of, filter(is_agent, people_near(self.agent)))
        return partner.id in agents

    def begins(self) -> Deferred[None] | None:
        """Prepare for a part of the answer: before the first, its plan is marked as begun."""
        self.pause.cancel()
        number = self.impulse.plan
        if not number or self._plan_begun:
            return None
        self._plan_begun = True
        return self.begin_plan(number)

    # -- going on

    @property
    def key(self) -> str:
        """Identifies the agent to the model queue, and to the server's prompt cache."""
        return f"agent-{self.ref.number}"

    @property
    def priority(self) -> Priority:
        """The priority of its requests: what no player sees can wait."""
        priority = Priority[self.impulse.priority.name]
        if priority is Priority.EVENT and not players_near(self.agent):
            return Priority.IDLE
        return priority

    async def wait[T](self, result: Awaitable[T]) -> T:
        """Return a result. Raise TurnDropped if the turn is cancelled or the agent cannot act."""
        value = await result
        agent = self.ref.body()
        if self.dropped or agent is None or agent.db.paused or agent.db.asleep or agent.has_account:
            raise TurnDropped
        self.agent = agent
        return value

    def take_in(self, impulse: Impulse) -> None:
        """Take in what came since the turn began: newer words, or a whisper."""
        impulse = self.as_planned(impulse)
        self.take_context(renewed(self.agent, self.context, impulse, self.tools.memory))

    def register_answer(self, answer: Generation) -> None:
        """Add the answer to the request, and learn from the server's count of tokens."""
        attempt = self.attempt
        if attempt.sent is not None:
            attempt.sent = replace(attempt.sent, answer=answer)
            self.thoughts.sent = attempt.sent
            self.services.tokens.heard(attempt.sent.costs.used, answer.prompt_tokens)
