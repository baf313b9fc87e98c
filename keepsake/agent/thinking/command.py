"""A thought that ends in one command: a model continues the transcript at the cursor."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from keepsake.agent.body import Body
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.asking import COMMAND, ThoughtAsker
from keepsake.agent.thinking.scene import SceneMaker, question_of
from keepsake.agent.thinking.thought import (
    ThoughtInProgress,
    act_request,
    addressee,
    led,
    second_thought,
)
from keepsake.models.profiles import SCRIPT, ModelProfile
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import costs_of
from keepsake.prompt.grammars import from_json


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
