"""A thought that ends in one command: a model continues the transcript at the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from keepsake.agent.body import Body
from keepsake.agent.impulses import Impulse
from keepsake.agent.memory.keeper import LOOKUPS
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.asking import COMMAND, ThoughtAsker
from keepsake.agent.thinking.options import options_of
from keepsake.agent.thinking.scene import SceneMaker, question_of, verbs_of
from keepsake.agent.thinking.thought import ThoughtInProgress
from keepsake.agent.thinking_config import FREE, SCHEMA, ThinkingConfig
from keepsake.models.profiles import SCRIPT, ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import costs_of
from keepsake.prompt.grammars import from_json, verbs_grammar, verbs_schema
from keepsake.prompt.marks import Rendered
from keepsake.prompt.options import Options
from keepsake.prompt.verbs import Verb

SHOWN = frozenset({"say", "whisper", "emote"})
"""What a small model does not do unasked: its words made no sense to whoever stood by."""
MOST_LOOKUPS = 2
"""How often an agent may look into its memory before it has to do something."""
HOTTER, HOTTEST = 0.25, 1.5
"""What each new try adds to the temperature, and where that ends."""
JSON_TOKENS = 40
"""What the marks and names of a JSON answer may cost besides its words."""


class CommandThinking:
    """Chooses commands for one agent, and has them done; on the reactor thread."""

    def __init__(
        self,
        asker: ThoughtAsker,
        scenes: SceneMaker,
        actor: Actor,
        mind: Remembering,
        services: Services,
    ) -> None:
        self._asker, self._scenes, self._actor = asker, scenes, actor
        self._mind, self._services = mind, services

    async def take(self, thought: ThoughtInProgress) -> Act | None:
        """Choose a command, and do it."""
        asker = self._asker
        await asker.make_room()
        question = question_of(asker.body(), self._mind.memory.context())
        scene = thought.impulse.trigger == "idle"
        thought.found = await self._mind.keeper.relate(question, scene=scene)
        squeezed = False
        while True:
            agent, answer = await asker.ask(thought, partial(self._request, thought))
            if isinstance(answer, Generation):
                act = self._acted(agent, thought, answer)
                if act.result is not None:  # a tool call: what it brings is for the next thought
                    await act.result
                again = self._again(thought, act)
                if again is None:
                    return act
                thought = asker.next(again)
                squeezed = False
            elif thought.rerouted:
                return None
            elif not thought.too_large:
                asker.unanswered(agent, thought, answer)
                return None
            elif squeezed or self._mind.memory.no_room is not None:
                asker.too_large(agent, thought)
                return None
            else:  # room is made once more, now that its weight is known
                squeezed = True
            await asker.make_room()

    def _again(self, thought: ThoughtInProgress, act: Act) -> ThoughtInProgress | None:
        speaks = self._asker.profile().form == SCRIPT
        return second_thought(thought, act, self._services.thinking.current, speaks=speaks)

    def _acted(self, agent: Body, thought: ThoughtInProgress, answer: Generation) -> Act:
        self._asker.fitting.answered(answer.prompt_tokens)
        self._asker.reports.answered(answer)
        self._mind.keeper.thought_over()
        text = led(thought.lead, from_json(answer.text))
        impulse = thought.impulse
        confidant = impulse.source if self._scenes.context_of(agent, impulse).whispered else ""
        act = self._actor.act(agent, text, addressee=addressee(impulse), confidant=confidant)
        self._asker.reports.done(thought, answer, act)
        return act

    def _request(
        self, thought: ThoughtInProgress, agent: Body, profile: ModelProfile
    ) -> GenerationRequest | None:
        """The transcript up to the cursor; None if it is not to be sent."""
        asker, services = self._asker, self._services
        if thought.attempt == 1 and asker.way(profile, thought.impulse) != COMMAND:
            thought.rerouted = True
            return None
        turn, budget = self._scenes.context_of(agent, thought.impulse), services.ladder.budget
        room = asker.fitting.room(budget)
        prompt, basis = self._scenes.transcript(
            agent, turn, thought.found, room, nudge=thought.nudge
        )
        costs = costs_of(prompt.rendered, services.tokens, budget)
        if not asker.fitting.takes(costs, room):
            thought.too_large = True
            return None
        request = act_request(agent, prompt.rendered, thought, profile, services)
        request = replace(request, cache_key=asker.key)
        return asker.reports.sending(thought, request, prompt.rendered, costs, basis)


def second_thought(
    thought: ThoughtInProgress, act: Act, config: ThinkingConfig, *, speaks: bool = True
) -> ThoughtInProgress | None:
    """The thought that follows one whose answer was no use; None when it is enough.

    ``speaks``: Whether a player who was not answered is to hear something.
    """
    impulse, attempt, found = thought.impulse, thought.attempt + 1, thought.found
    waited_for = speaks and impulse.priority == "player" and config.insist
    if act.command is None and thought.attempt <= config.retries:
        # The last try for somebody who waits is made easy.
        last = waited_for and thought.attempt == config.retries
        lead = "say" if last else thought.lead
        return ThoughtInProgress(impulse, attempt, act.refusal, lead, thought.lookups, found=found)
    if act.command is not None and act.command.verb in LOOKUPS and thought.lookups < MOST_LOOKUPS:
        # It looked something up in order to use it.
        lookups = thought.lookups + 1
        return ThoughtInProgress(impulse, thought.attempt, lookups=lookups, found=found)
    if act.command is not None and waited_for and not act.answers and not thought.lead:
        lookups = thought.lookups
        return ThoughtInProgress(impulse, attempt, lead="say", lookups=lookups, found=found)
    return None


def addressee(impulse: Impulse) -> str:
    """Whom speech is for: whoever spoke, came or gave; empty for an idle thought."""
    return impulse.source if impulse.trigger in ("addressed", "named", "arrival", "given") else ""


def temperature(profile: ModelProfile, thought: ThoughtInProgress) -> float:
    """The profile's; hotter with each new try, which else would come to the same answer."""
    if thought.attempt == 1 or profile.temperature == 0:
        return profile.temperature
    return min(profile.temperature + HOTTER * (thought.attempt - 1), HOTTEST)


def act_request(
    agent: Body,
    prompt: Rendered,
    thought: ThoughtInProgress,
    profile: ModelProfile,
    services: Services,
) -> GenerationRequest:
    """What a model that continues text is sent for an act: the transcript up to the cursor."""
    options, verbs = options_of(agent), verbs_of(services)
    request = profile.request(f"{prompt.text} {thought.lead}".rstrip())
    request = replace(request, temperature=temperature(profile, thought))
    if profile.form != SCRIPT:
        verbs = tuple(each for each in verbs if each.name not in SHOWN)
    return request if thought.lead else held(request, verbs, options, profile, services)


def held(
    request: GenerationRequest,
    verbs: Sequence[Verb],
    options: Options,
    profile: ModelProfile,
    services: Services,
) -> GenerationRequest:
    """The request, held to what makes sense here as far as its server can."""
    constraint = services.thinking.current.constrain
    if constraint != FREE and profile.takes_grammar:
        return replace(request, grammar=verbs_grammar(verbs, options))
    if constraint == SCHEMA:
        # JSON may be written over several lines, and its marks and names cost tokens.
        longer = request.max_tokens + JSON_TOKENS
        schema = verbs_schema(verbs, options)
        return replace(request, json_schema=schema, stop=(), max_tokens=longer)
    return request


def led(lead: str, text: str) -> str:
    """``text`` behind the verb it was to begin with, unless it brings that verb itself."""
    return text if text.lstrip().casefold().startswith(f"{lead} ") else f"{lead}{text}"
