"""A turn of an agent, from its impulse to its deeds.

    Impulse → context → recall → Scene → Prompt → Attempt → [AnswerPart] → [Act] → Thought

Each step is a function or a small class. :class:`Turn` runs them in order and holds what changes:
the agent's body, the impulse, the context, the current attempt, and whether the turn was cancelled.
A thought waits in the model queue; its prompt is built when the queue reaches it, and its answer is
applied to the agent as it is by then. Everything runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from twisted.internet.defer import Deferred

from keepsake.agent.acting import Actor, Basis
from keepsake.agent.agent_log import Sent, ThoughtLog
from keepsake.agent.appointments import Invitation
from keepsake.agent.attention import DIRECT, Impulse, ImpulseKind
from keepsake.agent.memory.search_results import SearchResult
from keepsake.agent.memory.tools import TOOL_SECONDS, MemoryTools
from keepsake.agent.outage import Outage
from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings import (
    AgentRef,
    Body,
    players_near,
    show_person,
    show_silence,
)
from keepsake.agent.turns.answering import Answering
from keepsake.agent.turns.asking import AnswerEnd, ModelCall, Reading, assent
from keepsake.agent.turns.attempt import Attempt, AttemptState, TurnDropped, thought_of
from keepsake.agent.turns.context import (
    UNPROMPTED,
    TurnContext,
    context_of,
    renewed,
    speaks_openly_now,
)
from keepsake.agent.turns.offers import offers_of
from keepsake.agent.turns.openly import OpenQuestion, private_acts
from keepsake.agent.turns.prompting import BuiltPrompt, prompt_of
from keepsake.agent.turns.rules import basis_of_rule, hint_to_meet, reply_by_rule
from keepsake.agent.turns.scene import invitation_to, recall_for_turn
from keepsake.books.persona import secret_lines
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.events.types import Agreement
from keepsake.events.values import Assent, ThoughtOutcome, Urgency
from keepsake.happening import Person, PersonId
from keepsake.language.perception import shorten
from keepsake.logs import Subsystem, get_logger
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import Outcome, Priority
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import costs_of
from keepsake.tasks.agreed import Agreed
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.forms.form import PromptForm
from keepsake.tasks.guard import SpeechGuard
from keepsake.tasks.task import TRIES

log = get_logger(Subsystem.THOUGHTS)

_LONGEST_DONE = 200
"""The most characters of the last deeds that the next step of a plan shows."""
_NOTHING_OPEN = "Without private words it planned and promised nothing: it stays private"
MOST_LOOKUPS = 3
"""How many times a look-up may return its result to the model within one turn."""


class Turn:
    """One thought of an agent, and its speech and deeds.

    Args:
        impulse: Why it thinks.
        agent: Who thinks.
        ref: How to find the agent again after a wait.
        tools: Its memory.
        actor: Executes its commands.
        take_newer: Called before a request is sent: returns the current impulse; None if the
            reason has gone.
        put_back: Lets the current impulse begin another turn.
        pause: Shows people that it thinks, until the first part of the answer.
        outage: Tells players that no model answers.
        begin_plan: Records that a plan, by its number, is acted on; fires when that is on disk.

    Attributes:
        impulse: Why it thinks; before a request is sent, newer words of the same person are added.
        dropped: Whether it was cancelled.
        attempts: The attempts that have ended.
    """

    def __init__(
        self,
        impulse: Impulse,
        agent: Body,
        *,
        ref: AgentRef,
        tools: MemoryTools,
        actor: Actor,
        thoughts: ThoughtLog,
        services: Runtime,
        take_newer: Callable[[], Impulse | None],
        put_back: Callable[[], None],
        pause: Alarm,
        outage: Outage,
        begin_plan: Callable[[int], Deferred[None] | None],
    ) -> None:
        self.impulse = impulse
        self.dropped = False
        self.attempts: list[Attempt] = []
        self._agent = agent
        self._context = UNPROMPTED
        self._state = AttemptState(number=1, impulse=impulse)
        self._call: ModelCall | None = None
        self._reading: Reading | None = None
        self._ref = ref
        self._tools = tools
        self._actor = actor
        self._thoughts = thoughts
        self._services = services
        self._take_newer = take_newer
        self._put_back = put_back
        self._pause = pause
        self._outage = outage
        self._begin_plan = begin_plan
        self._plan_begun = False

    # -- the result

    @property
    def spoke(self) -> bool:
        """Whether the agent said something to others."""
        return any(each.spoke for each in self.attempts)

    @property
    def has_begun(self) -> bool:
        """Whether any part of an answer was said or done, also before its end."""
        return bool(self._state.acts) or any(each.did for each in self.attempts)

    @property
    def did(self) -> bool:
        """Whether any part of the last answer was done."""
        return bool(self.attempts) and self.attempts[-1].did

    @property
    def verbs(self) -> frozenset[str]:
        """The verbs of what the agent did in the last attempt; empty if it did nothing."""
        acts = self.attempts[-1].acts if self.attempts else ()
        return frozenset(each.command.verb for each in acts if each.command is not None)

    @property
    def done(self) -> str:
        """What the agent did in the last attempt, as it wrote it, in one line."""
        acts = self.attempts[-1].acts if self.attempts else ()
        lines = (f"> {act.command.line}" for act in acts if act.command is not None)
        return shorten("; ".join(lines), _LONGEST_DONE)

    @property
    def spoken_to(self) -> frozenset[PersonId]:
        """The identities of the people to whom the agent spoke in the last attempt."""
        acts = self.attempts[-1].acts if self.attempts else ()
        numbers = {act.memory_number for act in acts if act.memory_number}
        window = self._tools.memory.memory.context().window
        said = (each for each in window if each.number in numbers and each.said is not None)
        return frozenset(each.to_id for each in said if each.to_id)

    @property
    def decides_for_plan(self) -> bool:
        """Whether a model answers now what is done for a plan, or what was asked for one."""
        impulse = self.impulse
        if self._state.sent is None or impulse.kind not in (ImpulseKind.PLAN, *DIRECT):
            return False
        return impulse.errand or self._plan_number != 0

    @property
    def is_unanswered(self) -> bool:
        """Whether a player waits for an answer, because no model gave one."""
        last = self.attempts[-1] if self.attempts else None
        gone = last is not None and last.failure is not None and not last.has_answer
        return gone and self.impulse.priority is Urgency.PLAYER

    # -- the turn

    async def run(self) -> None:
        """Answer somebody, or act unprompted.

        Every exception is logged and suppressed, so that the agent can think again.
        """
        try:
            await self._think()
        except TurnDropped:
            if not self.dropped:
                self._end(self._state.as_attempt(), ThoughtOutcome.DROPPED)
        except Exception as error:
            # A bug must not keep the agent from thinking again.
            log.error("The thought failed", agent=self._agent.key, exc_info=error)
            self._end(self._state.as_attempt(), ThoughtOutcome.BROKE_OFF, repr(error))

    async def _think(self) -> None:
        """Recall, ask the model, and do what it answers.

        The model sees the result of a look-up and goes on.
        """
        has_model = self._find_model()
        self.impulse = self._as_planned(self.impulse)
        self._context = context_of(self._agent, self.impulse, self._tools.memory)
        self.impulse = self._context.impulse
        if self._context.answered or self._is_plan_gone():  # an earlier answer covered it already
            raise TurnDropped
        if not (has_model or self._context.partner):
            raise TurnDropped  # without a model, an agent does nothing unprompted
        invited = invitation_to(self._tools, self._context) is not None
        by_rule = not has_model or (invited and not self._services.acts_unprompted)
        for _ in range(1 + MOST_LOOKUPS):
            recalled = await self._wait(recall_for_turn(self._agent, self._context, self._tools))
            if by_rule:
                await self._answer_by_rule(recalled)
                return
            last = await self._answer(recalled)
            await self._ask_openly()
            if not last.looked_up:
                return
            looked_up = (*self._context.looked_up, *last.looked_up)
            self._context = replace(self._context, looked_up=looked_up)

    def drop(self) -> None:
        """Cancel the turn. If an answer still arrives, it is dropped."""
        self.dropped = True
        if self._call is not None:
            self._call.cancel()
        self._end(self._state.as_attempt(), ThoughtOutcome.DROPPED)

    def _find_model(self) -> bool:
        """Publish the limits of the agents' model; return whether there is one, or rules answer."""
        try:
            self._services.update_limits()
            return self._services.agent_profile is not None
        except KeepsakeError:
            return True  # the model call reports a profile that cannot be used

    async def _wait[T](self, result: Awaitable[T]) -> T:
        """Return a result. Raise TurnDropped if the turn is cancelled or the agent cannot act."""
        value = await result
        agent = self._ref.body()
        if self.dropped or agent is None or agent.db.paused or agent.db.asleep or agent.has_account:
            raise TurnDropped
        self._agent = agent
        return value

    def _is_plan_gone(self) -> bool:
        """Whether the turn is about a plan that has ended, or whose person has gone again."""
        number = self.impulse.plan
        plans = self._tools.plans
        if not number or plans is None:
            return False
        plan = plans.named(number)
        return plan is None or not plans.is_met(plan)

    @property
    def _plan_number(self) -> int:
        """The number of the plan that the agent is about: the due one, or one begun; else 0."""
        plans = self._tools.plans
        if self.impulse.plan or plans is None or plans.begun is None:
            return self.impulse.plan
        return plans.begun.number

    def _as_planned(self, impulse: Impulse) -> Impulse:
        """Return the impulse with who may know of its plan now: a private one may have opened."""
        plans = self._tools.plans
        plan = plans.named(impulse.plan) if plans is not None and impulse.plan else None
        return impulse if plan is None else replace(impulse, confided=plan.private)

    def _go_on(self, impulse: Impulse) -> None:
        """Take in what came since the turn began: newer words, or a whisper."""
        impulse = self._as_planned(impulse)
        self._context = renewed(self._agent, self._context, impulse, self._tools.memory)
        self.impulse = self._context.impulse

    # -- an answer

    async def _answer_by_rule(self, recalled: SearchResult | None) -> None:
        """Answer a person by rule."""
        wanted = self._take_newer()
        if wanted is None:
            raise TurnDropped
        self._go_on(wanted)
        partner = self._context.partner
        if partner is None:
            raise TurnDropped
        basis = basis_of_rule(self.impulse, recalled)
        self._state = state = AttemptState(number=1, impulse=self.impulse, basis=basis)
        invitation = invitation_to(self._tools, self._context)
        if invitation is None:
            memory = self._tools.memory
            part = reply_by_rule(self._agent, self._context, partner, recalled, memory)
            if hint := hint_to_meet(self._agent, self._context.words):
                show_person(self._agent, partner, hint)
        else:
            words = await self._settle_by_rule(invitation, partner)
            part = AnswerPart(PartKind.SPEECH, words)
        await self._answering(None).carry_out(part, self._wait)
        self._end_answered(state.as_attempt())

    async def _settle_by_rule(self, invitation: Invitation, partner: Person) -> str:
        """Answer an invitation by rule, and return the words: yes if the agent is free then."""
        appointments = self._tools.appointments
        assert appointments is not None  # it has the invitation
        agrees = appointments.is_free(invitation.at)
        settle = partial(appointments.settle, partner, agrees=agrees)
        try:
            await self._wait(self._services.in_thread(settle, TOOL_SECONDS))
        except KeepsakeError as error:
            log.warning("An invitation failed", agent=self._agent.key, exc_info=error)
            agrees = False
        return appointments.answer_line(invitation, self._context.words, agrees=agrees)

    async def _answer(self, recalled: SearchResult | None) -> Attempt:
        """Ask the model, and do what it answers: one attempt, and a second one after a refusal.

        The second attempt tells the model why the first part of its answer was refused.
        """
        refused = ""
        for number in range(1, TRIES + 1):
            self._state = AttemptState(number=number, impulse=self.impulse)
            self._reading = None
            await self._wait(self._tools.compactions.make_room())
            attempt = await self._attempt(recalled, refused)
            refused = attempt.fault
            if attempt.too_large and number < TRIES and self._tools.compactions.no_room is None:
                continue  # its size is known now, so a compaction may make room
            if not attempt.has_answer:
                self._end_unanswered(attempt)
                return attempt
            self._end_answered(attempt)
            if not attempt.goes_again:
                return attempt
        if not attempt.vetoed:  # a game that forbids an answer wants silence
            show_silence(self._agent, self.impulse)
        return attempt

    async def _attempt(self, recalled: SearchResult | None, refused: str) -> Attempt:
        """Ask the model once, and do each part of the answer as soon as it is complete."""
        state = self._state
        services = self._services
        self._call = call = ModelCall(
            services,
            f"agent-{self._ref.number}",
            self._priority,
            lambda profile, waited: self._request(profile, recalled, refused, waited),
        )
        try:
            call.submit()
        except KeepsakeError as error:
            failed = error if isinstance(error, ModelError) else ModelUnavailable(str(error))
            return state.as_attempt(failed)
        try:
            piece = await self._wait(call.next())
            while not isinstance(piece, AnswerEnd):
                # Before it sent the request, the queue called _request, which began the reading.
                assert self._reading is not None
                await self._reading.take(piece, self._wait)
                if state.is_refused:
                    return state.as_attempt()  # skip the rest: the model is asked again
                piece = await self._wait(call.next())
            outcome = piece.outcome
            if isinstance(outcome, Generation) and self._reading is not None:
                self._register_answer(outcome)
                await self._reading.end(outcome, self._wait)
                await self._do_agreed()
            return state.as_attempt(outcome)
        finally:
            call.cancel()  # for a turn that ended early

    async def _ask_openly(self) -> None:
        """Ask once more without private words, if they alone made a plan or promise private."""
        before = self._state
        opens = private_acts(self._context, before)
        if not opens:
            return
        self._state = state = AttemptState(number=before.number + 1, impulse=before.impulse)
        question = OpenQuestion(
            lambda: self._agent,
            self._context,
            state,
            tools=self._tools,
            services=self._services,
            seen=before.basis.seen,
            opens=opens,
        )
        try:
            recalled = await self._wait(recall_for_turn(self._agent, question.context, self._tools))
            outcome = await self._outcome_of(question, recalled)
            if isinstance(outcome, Generation):
                self._register_answer(outcome)
                answering = self._answering(None, question.context)
                for part in question.read(outcome):
                    await answering.carry_out(part, self._wait)
        except TurnDropped:
            if not self.dropped:
                self._log_end(state.as_attempt(), ThoughtOutcome.DROPPED)
            return
        attempt = state.as_attempt(outcome)
        ended = ThoughtOutcome.ACTED if attempt.did else ThoughtOutcome.REFUSED
        problem = "" if attempt.did else _NOTHING_OPEN
        if attempt.failure is not None:
            ended = ThoughtOutcome.NO_ANSWER
            problem = str(attempt.failure)
        self._log_end(attempt, ended, problem)

    async def _outcome_of(self, question: OpenQuestion, recalled: SearchResult | None) -> Outcome:
        """Ask the question, and return what came of it."""
        self._call = call = ModelCall(
            self._services,
            f"agent-{self._ref.number}",
            self._priority,
            lambda profile, waited: question.request(profile, recalled, waited),
        )
        try:
            call.submit()
            piece = await self._wait(call.next())
            while not isinstance(piece, AnswerEnd):
                piece = await self._wait(call.next())
            return piece.outcome
        except KeepsakeError as error:
            return error if isinstance(error, ModelError) else ModelUnavailable(str(error))
        finally:
            call.cancel()

    async def _do_agreed(self) -> None:
        """Do what the words of the answer agree to, if its model writes no commands."""
        state = self._state
        partner = self._context.partner
        spoken = state.spoken
        if state.writes_deeds or partner is None or not spoken:
            return
        agent = self._agent
        asked = self._context.words
        prompts = self._services.prompts["agreed"].current
        for offer in offers_of(agent, self._context, self._tools, asked, spoken):
            task = Agreed(prompts, str(agent.key), partner.name, asked, spoken, offer.deed)
            key = f"deed-{self._ref.number}"
            began = self._services.seconds()
            found = await assent(self._services, key, self._priority, task, self._wait)
            agreed = found is Assent.AGREED
            self._services.events.emit(
                Agreement(
                    agent=self._thoughts.name,
                    deed=offer.deed,
                    found=found,
                    hint=offer.needs if agreed else "",
                    seconds=round(self._services.seconds() - began, 2),
                    cause=state.impulse.memory_number,
                )
            )
            if not agreed:
                continue
            if offer.needs:
                show_person(self._agent, partner, offer.needs)
            else:
                part = AnswerPart(PartKind.DEED, offer.deed)
                await self._answering(None).carry_out(part, self._wait)
            return

    @property
    def _priority(self) -> Priority:
        """The priority of the request: what no player sees can wait."""
        priority = Priority[self.impulse.priority.name]
        if priority is Priority.EVENT and not players_near(self._agent):
            return Priority.IDLE
        return priority

    def _request(
        self, profile: ModelProfile, recalled: SearchResult | None, refused: str, waited: float
    ) -> GenerationRequest | None:
        """Build the request when the queue reaches the turn; None cancels it."""
        services = self._services
        form = services.prompt_form(profile)
        wanted = self._still_wanted(form)
        if wanted is None:
            return None
        self._go_on(wanted)
        now = services.clock.now()
        self._state.writes_deeds = form.writes_deeds
        built = prompt_of(
            self._agent,
            self._context,
            self._tools,
            services,
            form=form,
            recalled=recalled,
            refused=refused,
        )
        prompt = built.prompt
        costs = costs_of(prompt.rendered, services.tokens, prompt.budget)
        self._tools.memory.memory.report_prompt(costs.used)
        state = self._state
        state.impulse = self.impulse
        state.place = self._agent.location
        if costs.used > prompt.budget:  # the server would cut it at an arbitrary place
            state.too_large = costs
            return None
        request = profile.request(prompt.request)
        sent = Sent(now, self.impulse, prompt.rendered, request, costs, waited, built.made_from)
        self._begin_answer(sent, built)
        return request

    def _still_wanted(self, form: PromptForm) -> Impulse | None:
        """Return the current impulse; None if the reason has gone, or the agent cannot act now."""
        agent = self._ref.body()
        if agent is None or agent.location is None or agent.has_account:  # a builder plays it
            return None
        if agent.db.paused or agent.db.asleep or self._is_plan_gone():
            return None
        wanted = self._take_newer()
        if not (form.acts_unprompted or self._context.partner):
            return None
        memory = self._tools.memory
        if wanted is not None and speaks_openly_now(agent, self._context, wanted, memory):
            self._put_back()
            return None
        self._agent = agent
        return wanted

    def _begin_answer(self, sent: Sent, built: BuiltPrompt) -> None:
        """Record what is sent and what the answer will rest on, and prepare to read the answer."""
        state = self._state
        memory = self._tools.memory
        prompt = built.prompt
        state.basis = Basis(
            seen=memory.newest,
            rests_on=prompt.rests_on,
            confidants=memory.private.confidants_of({*prompt.rests_on, *built.private}),
            audience=self._context.audience,
            plan=self._plan_number,
        )
        state.sent = sent
        self._thoughts.begin(sent)
        guard = SpeechGuard(
            prompt.instructions,
            prompt.said,
            asked=prompt.asked,
            secrets=secret_lines(str(self._agent.db.profile or "")),
            last_try=state.number == TRIES,
        )
        reader = built.form.read(str(self._agent.key), prompt.others)
        self._reading = Reading(reader, self._answering(guard), state, self._thoughts)

    def _answering(
        self, guard: SpeechGuard | None, context: TurnContext | None = None
    ) -> Answering:
        """Return what carries out an answer.

        Args:
            guard: None for words by rule, or for deeds alone.
            context: The context of the answer; None for that of the turn.
        """
        return Answering(
            lambda: self._agent,
            context or self._context,
            self._state,
            guard,
            tools=self._tools,
            actor=self._actor,
            thoughts=self._thoughts,
            begins=self._begins,
        )

    def _begins(self) -> Deferred[None] | None:
        """Prepare for a part of the answer: before the first, its plan is marked as begun."""
        self._pause.cancel()
        number = self.impulse.plan
        if not number or self._plan_begun:
            return None
        self._plan_begun = True
        return self._begin_plan(number)

    def _register_answer(self, answer: Generation) -> None:
        """Add the answer to the request, and learn from the server's count of tokens."""
        state = self._state
        if state.sent is not None:
            state.sent = self._thoughts.sent = replace(state.sent, answer=answer)
            self._services.tokens.heard(state.sent.costs.used, answer.prompt_tokens)

    # -- the end

    def _end_answered(self, attempt: Attempt) -> None:
        """Log an attempt with an answer, by a model or by rule."""
        problem = attempt.fault or str(attempt.failure or "")
        outcome = ThoughtOutcome.ACTED if attempt.did else ThoughtOutcome.REFUSED
        memory = self._tools.memory
        memory.considered = max(memory.considered, self._state.basis.seen)
        self._outage.end()
        self._end(attempt, outcome, problem)

    def _end_unanswered(self, attempt: Attempt) -> None:
        """Log an attempt without an answer: its prompt is too large, or no model answered."""
        compactions = self._tools.compactions
        if costs := attempt.too_large:
            needs = f"Its prompt needs {costs.used:,} tokens and may have {costs.budget:,}"
            reason = ThoughtOutcome.TOO_LARGE
            largest = max(costs.sections, key=lambda name: costs.sections[name])
            self._end(
                attempt,
                reason,
                f"{compactions.no_room or needs}. Its largest part is {largest!r}. "
                "Shorten that, or raise context_tokens in memory_compaction.md",
            )
        elif attempt.failure is not None:
            reason = ThoughtOutcome.NO_ANSWER
            self._end(attempt, reason, str(attempt.failure))
        else:
            raise TurnDropped
        self._outage.tell(self._agent, self.impulse, reason)

    def _end(self, attempt: Attempt, outcome: ThoughtOutcome, problem: str = "") -> None:
        """Log the end of the turn, or of one of its attempts."""
        self.attempts.append(attempt)
        self._log_end(attempt, outcome, problem)

    def _log_end(self, attempt: Attempt, outcome: ThoughtOutcome, problem: str = "") -> None:
        """Log an attempt. What the turn did is what its other attempts say."""
        sent = attempt.sent
        spent = (self._services.clock.now() - sent.time).total_seconds() if sent else 0.0
        event = thought_of(self._thoughts.name, attempt, outcome, problem, spent)
        self._thoughts.ended(event, [act.refusal for act in attempt.acts if act.refusal])
