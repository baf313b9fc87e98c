"""One attempt of a turn to get an answer from the model: the request, and what is done of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from keepsake.agent.acting.acts import Basis
from keepsake.agent.agent_log import Sent
from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.turns.agreeing import do_agreed
from keepsake.agent.turns.answers.answering import Answering, Reading
from keepsake.agent.turns.asking import AnswerEnd, ModelCall, as_model_error
from keepsake.agent.turns.attempt import Attempt
from keepsake.agent.turns.context import speaks_openly_now
from keepsake.agent.turns.prompts.plans_shown import spoken_of_by
from keepsake.agent.turns.prompts.prompting import BuiltPrompt, prompt_of
from keepsake.agent.turns.state import Turn
from keepsake.agent.turns.waiting import is_moot_greeting
from keepsake.archive.privacy import Audience
from keepsake.books.persona import secret_lines
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import ModelProfile
from keepsake.models.tickets import Outcome
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, costs_of
from keepsake.recall.finding import SearchResult
from keepsake.tasks.forms.form import PromptForm
from keepsake.tasks.task import TRIES


async def attempt_by_model(turn: Turn, recalled: SearchResult | None, refused: str) -> Attempt:
    """Ask the model once, and do each part of the answer as soon as it is complete.

    Args:
        recalled: The result of recall; None without one.
        refused: Why the last answer was refused; empty at the first attempt.
    """
    request = _Request(turn, recalled, refused)
    call = ModelCall(turn.services, turn.key, turn.priority, request.build)
    turn.call = call
    try:
        call.submit()
    except KeepsakeError as error:
        return turn.attempt.as_attempt(as_model_error(error))
    try:
        outcome = await _carry_out(turn, call, request)
        return turn.attempt.as_attempt(outcome)
    finally:
        call.cancel()  # for a turn that ended early


async def _carry_out(turn: Turn, call: ModelCall, request: _Request) -> Outcome:
    """Do the parts of an answer as they come. Return what came of the request.

    It is None if the answer was refused before its end: the rest is not read, and the model is
    asked again.
    """
    piece = await turn.wait(call.next())
    while not isinstance(piece, AnswerEnd):
        # Before it sent the request, the queue called `build`, which began the reading.
        assert request.reading is not None
        await request.reading.take(piece)
        if turn.attempt.is_refused:
            return None
        piece = await turn.wait(call.next())
    outcome = piece.outcome
    if isinstance(outcome, Generation) and request.reading is not None:
        turn.register_answer(outcome)
        await request.reading.end(outcome)
        await do_agreed(turn)
    elif outcome is not None and request.reading is not None:
        await request.reading.break_off()
    return outcome


class _Request:
    """The request of an attempt, which is built when the queue reaches it.

    Args:
        recalled: The result of recall; None without one.
        refused: Why the last answer was refused; empty at the first attempt.

    Attributes:
        reading: Reads the answer and does its parts; None before the request is built.
    """

    def __init__(self, turn: Turn, recalled: SearchResult | None, refused: str) -> None:
        self.reading: Reading | None = None
        self._turn = turn
        self._recalled = recalled
        self._refused = refused

    def build(self, profile: ModelProfile, waited: float) -> GenerationRequest | None:
        """Return the request; None cancels it. ``waited``: Seconds in the model queue."""
        turn = self._turn
        services = turn.services
        form = services.prompt_form(profile)
        wanted = self._still_wanted(form)
        if wanted is None:
            return None
        turn.take_in(wanted)
        now = services.clock.now()
        attempt = turn.attempt
        attempt.writes_deeds = form.writes_deeds
        built, costs = self._fitting(form)
        prompt = built.prompt
        attempt.impulse = turn.impulse
        attempt.place = turn.agent.location
        if costs.used > prompt.budget:  # the server would cut it at an arbitrary place
            attempt.too_large = costs
            return None
        request = profile.request(prompt.request)
        sent = Sent(now, turn.impulse, prompt.rendered, request, costs, waited, built.made_from)
        self._begin_answer(sent, built)
        return request

    def _fitting(self, form: PromptForm) -> tuple[BuiltPrompt, Costs]:
        """Return the prompt and its costs; within its budget, if lines can be left out of it.

        How many must be left out is known only when the rest of the prompt was counted. So a prompt
        that is over its budget is built once more: the first after a start, or one with more about
        people or from recall than the last. The form, too, leaves out lines for which it has no
        room, but from another line on in each prompt.
        """
        turn = self._turn
        services = turn.services
        for _ in range(2):
            built = prompt_of(
                turn.agent,
                turn.context,
                turn.tools,
                services,
                form=form,
                recalled=self._recalled,
                refused=self._refused,
            )
            costs = costs_of(built.prompt.rendered, services.tokens, built.prompt.budget)
            needed = max(costs.used, built.prompt.needed)
            turn.tools.memory.memory.report_prompt(needed)
            if needed <= built.prompt.budget:
                break
        return built, costs

    def _still_wanted(self, form: PromptForm) -> Impulse | None:
        """Return the current impulse; None if the reason has gone, or the agent cannot act now."""
        turn = self._turn
        agent = turn.ref.body()
        if agent is None or agent.location is None or agent.has_account:  # a builder plays it
            return None
        if agent.db.paused or agent.db.asleep or turn.is_plan_gone:
            return None
        wanted = turn.take_newer()
        window = turn.tools.memory.memory.context().window
        if wanted is not None and is_moot_greeting(window, wanted):
            return None
        if not (form.acts_unprompted or turn.context.partner):
            return None
        if wanted is not None and speaks_openly_now(agent, turn.context, wanted, turn.tools.memory):
            turn.put_back()
            return None
        turn.agent = agent
        return wanted

    def _confidants(self, numbers: Collection[int]) -> Audience | None:
        """Return who alone may know what the answer says; None for everybody.

        Those who know the private words of its prompt, and of these who may know of the plan that
        is due: it may rest on no memory at all, if a person wrote it.

        Args:
            numbers: The numbers of the memories that its prompt shows.
        """
        known = self._turn.tools.memory.private.confidants_of(numbers)
        confided = self._turn.impulse.confided
        if known is None or confided is None:
            return confided if known is None else known
        return known & confided

    def _begin_answer(self, sent: Sent, built: BuiltPrompt) -> None:
        """Record what is sent and what the answer will rest on, and prepare to read the answer."""
        turn = self._turn
        attempt = turn.attempt
        memory = turn.tools.memory
        prompt = built.prompt
        if prompt.stated is not None:
            shown = memory.memory.context()
            asides = shown.asides_through, shown.compaction
            turn.tools.stated = replace(prompt.stated, asides_through=asides)
        numbers = {*prompt.rests_on, *built.private}
        attempt.basis = Basis(
            seen=memory.newest,
            rests_on=prompt.rests_on,
            confidants=self._confidants(numbers),
            aloud=None if turn.context.whispered else turn.context.aloud,
            audience=turn.context.audience,
            plan=turn.plan_number,
            due=turn.impulse.plan,
            private=tuple(n for n in sorted(numbers) if memory.private.confidants(n) is not None),
            partner=turn.context.partner.id if turn.context.partner is not None else "",
            named=tuple(each.id for each in spoken_of_by(turn.agent, turn.context, turn.tools)),
        )
        attempt.sent = sent
        turn.thoughts.begin(sent)
        secrets = secret_lines(str(turn.agent.db.profile or ""))
        guard = prompt.guard(secrets, last_try=attempt.number == TRIES)
        reader = built.form.answer_reader(str(turn.agent.key), prompt.others)
        self.reading = Reading(reader, Answering(turn, guard))
