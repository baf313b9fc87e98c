"""The same turn once more, without private words: what it plans then is known to be open.

A prompt for somebody who has whispered to the agent shows the whispers. What the agent plans or
promises then may hold them, so it is private, even if it was asked for aloud. Then it cannot be
done among others. No comparison of words can tell whether it holds any. So the turn is asked once
more, from the prompt that it would have if others heard: what the model plans there is open,
because nothing private was in the prompt. It takes the place of the private plan. If the model
plans nothing there, the private plan stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from keepsake.agent.acting import Basis
from keepsake.agent.agent_log import Sent
from keepsake.agent.memory.search_results import SearchResult
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Body
from keepsake.agent.turns.attempt import AttemptState
from keepsake.agent.turns.context import TurnContext
from keepsake.agent.turns.prompting import BuiltPrompt, prompt_of
from keepsake.agent.turns.scene import available_verbs
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.happening import KnownVerb
from keepsake.models.profiles import ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import costs_of
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import deed_of, read_deed

_OPENED = frozenset({KnownVerb.PLAN, KnownVerb.PROMISE})
"""Verbs of what is done later, among others. A private note or pin is of use as it is."""
_READ = _OPENED | {KnownVerb.WAIT}
"""Verbs that are read in the second answer. Everything else was done by the first."""


def private_acts(context: TurnContext, state: AttemptState) -> tuple[int, ...]:
    """Return the plans and promises that are private only because of the rest of the prompt.

    Returns:
        The numbers of the memories of these acts; empty if there is nothing to ask once more.
    """
    answers_open_words = bool(context.words) and not context.whispered
    if not answers_open_words or state.basis.confidants is None:
        return ()
    acts = (act for act in state.acts if act.command is not None and act.memory_number)
    return tuple(act.memory_number for act in acts if act.command and act.command.verb in _OPENED)


class OpenQuestion:
    """The second question of a turn.

    Args:
        body: Returns the agent, which is looked up again after each wait.
        context: The context of the turn.
        state: The attempt of the second question, which is filled in.
        seen: The newest memory that the first prompt showed.
        opens: The private acts; see :func:`private_acts`.

    Attributes:
        context: The same context as if nobody might know private words.
    """

    def __init__(
        self,
        body: Callable[[], Body],
        context: TurnContext,
        state: AttemptState,
        *,
        tools: MemoryTools,
        services: Runtime,
        seen: int,
        opens: tuple[int, ...],
    ) -> None:
        self.context = replace(context, audience=NO_PRIVATE_WORDS)
        self._body = body
        self._state = state
        self._tools = tools
        self._services = services
        self._seen = seen
        self._opens = opens
        self._built: BuiltPrompt | None = None

    def request(
        self, profile: ModelProfile, recalled: SearchResult | None, waited: float
    ) -> GenerationRequest | None:
        """Return the request; None if its prompt is too large, or not free of private words.

        Args:
            recalled: The result of recall for :attr:`context`.
            waited: Seconds in the model queue.
        """
        services = self._services
        form = services.prompt_form(profile)
        built = prompt_of(
            self._body(),
            self.context,
            self._tools,
            services,
            form=form,
            recalled=recalled,
            until=self._seen,
        )
        prompt = built.prompt
        state = self._state
        costs = costs_of(prompt.rendered, services.tokens, prompt.budget)
        shown = {*prompt.rests_on, *built.private}
        if self._tools.memory.private.confidants_of(shown) is not None:
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
        agent = self._body()
        reader = self._built.form.read(str(agent.key), self._built.prompt.others)
        parts = [*reader.feed(answer.text), *reader.end()]
        parts += [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        able = available_verbs(agent, self.context, self._tools)
        wanted = list[AnswerPart]()
        for part in parts:
            read = read_deed(part.text, *able) if part.kind is PartKind.DEED else None
            if isinstance(read, Command) and read.verb in _READ:
                wanted.append(part)
        return wanted
