"""The same turn once more, without private words: what it plans then is known to be open.

A prompt for somebody who has whispered to the agent shows the whispers. What the agent plans or
promises then may hold them, so it is private, even if it was asked for aloud. Then it cannot be
done among others. No comparison of words can tell whether it holds any. So the turn is asked once
more, from the prompt that it would have if others heard: what the model plans there is open,
because nothing private was in the prompt. It takes the place of the private plan. If the model
plans nothing there, the private plan stays.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.acting import Basis
from keepsake.agent.agent_log import Sent
from keepsake.agent.turns.abilities import available_verbs
from keepsake.agent.turns.answering import Answering
from keepsake.agent.turns.asking import ModelCall, as_model_error, whole_answer
from keepsake.agent.turns.attempt import AttemptState, TurnDropped
from keepsake.agent.turns.context import TurnContext
from keepsake.agent.turns.ending import log_end
from keepsake.agent.turns.prompts.prompting import BuiltPrompt, prompt_of
from keepsake.agent.turns.prompts.recalling import recall_for_turn
from keepsake.agent.turns.state import Turn
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.errors import KeepsakeError
from keepsake.events.values import ThoughtOutcome
from keepsake.happening import KnownVerb
from keepsake.models.profiles import ModelProfile
from keepsake.models.tickets import Outcome
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import costs_of
from keepsake.prompt.verbs import Command
from keepsake.recall.finding import SearchResult
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import deed_of, read_deed

_OPENED = frozenset({KnownVerb.PLAN, KnownVerb.PROMISE})
"""Verbs that lead to deeds among others. A private note or pin is of use as it is."""
_READ = _OPENED | {KnownVerb.WAIT}
"""Verbs that are read in the second answer. Everything else was done by the first."""
_NOTHING_OPEN = "Without private words it planned and promised nothing: it stays private"


async def ask_openly(turn: Turn) -> None:
    """Ask once more without private words, if they alone made a plan or promise private."""
    opens = _private_acts(turn.context, turn.attempt)
    if not opens:
        return
    before = turn.attempt
    turn.attempt = AttemptState(number=before.number + 1, impulse=before.impulse)
    question = _OpenQuestion(turn, before.basis.seen, opens)
    try:
        outcome = await question.ask()
        if isinstance(outcome, Generation):
            turn.register_answer(outcome)
            answering = Answering(turn, guard=None, context=question.context)
            for part in question.read(outcome):
                await answering.carry_out(part)
    except TurnDropped:
        if not turn.dropped:
            log_end(turn, turn.attempt.as_attempt(), ThoughtOutcome.DROPPED)
        return
    attempt = turn.attempt.as_attempt(outcome)
    ended = ThoughtOutcome.ACTED if attempt.did else ThoughtOutcome.REFUSED
    problem = "" if attempt.did else _NOTHING_OPEN
    if attempt.failure is not None:
        ended = ThoughtOutcome.NO_ANSWER
        problem = str(attempt.failure)
    log_end(turn, attempt, ended, problem)


def _private_acts(context: TurnContext, state: AttemptState) -> tuple[int, ...]:
    """Return the plans and promises that are private only because of the rest of the prompt.

    Returns:
        The numbers of the memories of these acts; empty if there is nothing to ask once more.
    """
    answers_open_words = bool(context.words) and not context.whispered
    if not answers_open_words or state.basis.confidants is None:
        return ()
    acts = (act for act in state.acts if act.command is not None and act.memory_number)
    return tuple(act.memory_number for act in acts if act.command and act.command.verb in _OPENED)


class _OpenQuestion:
    """The second question of a turn; it fills in the attempt that the turn is at.

    Args:
        seen: The newest memory that the first prompt showed.
        opens: The private acts; see :func:`_private_acts`.

    Attributes:
        context: The context of the turn as if nobody might know private words.
    """

    def __init__(self, turn: Turn, seen: int, opens: tuple[int, ...]) -> None:
        self.context = replace(turn.context, audience=NO_PRIVATE_WORDS)
        self._turn = turn
        self._state = turn.attempt
        self._seen = seen
        self._opens = opens
        self._recalled: SearchResult | None = None
        self._built: BuiltPrompt | None = None

    async def ask(self) -> Outcome:
        """Search the memory, ask the question, and return what came of it.

        Raises:
            TurnDropped: The turn has ended.
        """
        turn = self._turn
        recalled = recall_for_turn(turn.agent, self.context, turn.tools)
        self._recalled = await turn.wait(recalled)
        turn.call = ModelCall(turn.services, turn.key, turn.priority, self._request)
        try:
            return await whole_answer(turn.call, turn.wait)
        except KeepsakeError as error:
            return as_model_error(error)

    def _request(self, profile: ModelProfile, waited: float) -> GenerationRequest | None:
        """Return the request; None if its prompt is too large, or not free of private words.

        ``waited``: Seconds in the model queue.
        """
        turn = self._turn
        services = turn.services
        form = services.prompt_form(profile)
        built = prompt_of(
            turn.agent,
            self.context,
            turn.tools,
            services,
            form=form,
            recalled=self._recalled,
            until=self._seen,
        )
        prompt = built.prompt
        state = self._state
        costs = costs_of(prompt.rendered, services.tokens, prompt.budget)
        shown = {*prompt.rests_on, *built.private}
        if turn.tools.memory.private.confidants_of(shown) is not None:
            return None
        if costs.used > prompt.budget:
            state.too_large = costs
            return None
        state.basis = Basis(seen=self._seen, rests_on=prompt.rests_on, opens=self._opens)
        request = profile.request(prompt.request)
        made_from = {**built.made_from, "openly": True}
        now = services.clock.now()
        state.sent = Sent(now, state.impulse, prompt.rendered, request, costs, waited, made_from)
        self._built = built
        return request

    def read(self, answer: Generation) -> list[AnswerPart]:
        """Return the plans and promises of the answer."""
        assert self._built is not None
        agent = self._turn.agent
        reader = self._built.form.answer_reader(str(agent.key), self._built.prompt.others)
        parts = [*reader.feed(answer.text), *reader.end()]
        parts += [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        able = available_verbs(agent, self.context, self._turn.tools)
        wanted = list[AnswerPart]()
        for part in parts:
            read = read_deed(part.text, *able) if part.kind is PartKind.DEED else None
            if isinstance(read, Command) and read.verb in _READ:
                wanted.append(part)
        return wanted
