"""The prompt that an agent would send now, for builders and for a server's cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body
from keepsake.agent.impulses import IDLE, EventKind, Impulse
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import identity_of
from keepsake.agent.thinking.asking import ThoughtAsker
from keepsake.agent.thinking.scene import SceneMaker, TurnContext
from keepsake.agent.thinking.thought import PROFILE
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import CHAT, DIALOGUE, SHIPPED, ModelProfile
from keepsake.ports import GenerationRequest
from keepsake.prompt.marks import Rendered
from keepsake.recall.related import SearchResult
from keepsake.tasks.talk_scene import TalkPrompt


class PromptPreview:
    """Makes the prompts of one agent without sending them; on the reactor thread."""

    def __init__(
        self, asker: ThoughtAsker, scenes: SceneMaker, memory: MemoryComponent, services: Runtime
    ) -> None:
        self._asker, self._scenes = asker, scenes
        self._memory, self._services = memory, services

    def show(
        self,
        agent: Body,
        show: Callable[[Rendered, int], None],
        partner: Any = None,
        words: str = "",
    ) -> None:
        """Hand over the prompt of the agent's next thought, and the tokens that it may have.

        Args:
            agent: The agent.
            show: Called with both once recall has answered, and not if its memory is closed.
            partner: Who says something to it; None for a thought of its own accord.
            words: What they say.

        Raises:
            KeepsakeError: The memory or a template cannot be read.
        """
        said = self._said(agent, partner, words) if partner is not None else None
        turn = self._scenes.context_of(agent, IDLE)
        if said is not None:
            asked = Impulse(
                EventKind.ADDRESSED, True, said.source, source_id=said.source_id, priority="player"
            )
            turn = replace(self._scenes.context_of(agent, asked), words=words)
        try:
            profile = self._asker.profile()
        except KeepsakeError:  # no model can be asked: that is told when one is
            profile = SHIPPED[PROFILE].suited(CHAT)

        def found(result: SearchResult | None) -> None:
            prompt, budget = self._prompt(agent, turn, result, profile, said)
            show(prompt.rendered, budget)

        searching = Deferred.fromCoroutine(self._scenes.relate(agent, turn, by="builder"))
        searching.addCallback(found).addErrback(
            lambda failure: log(f"[Error] {agent.key}: No prompt to show: {failure.value!r}")
        )

    def head(self, agent: Body, profile: ModelProfile) -> GenerationRequest | None:
        """The prompt of an answer to nobody, for a server's cache; None if no model is asked."""
        if profile.is_stopgap and profile.form == DIALOGUE:
            return None
        prompt, _ = self._prompt(agent, self._scenes.context_of(agent, IDLE), None, profile)
        return profile.request_for(prompt.question)

    def _prompt(
        self,
        agent: Body,
        turn: TurnContext,
        found: SearchResult | None,
        profile: ModelProfile,
        said: Memory | None = None,
    ) -> tuple[TalkPrompt, int]:
        """A prompt, and the tokens that it may have."""
        budget, room = self._asker.fitting.sizes(profile)
        talk, _ = self._scenes.talk(agent, turn, found, said)
        return talk.prompt(replace(profile, prompt_tokens=room)), budget

    def _said(self, agent: Body, partner: Any, words: str) -> Memory:
        """Words as the agent would remember them, had they been said now."""
        return Memory(
            number=self._memory.newest + 1,
            time=self._services.clock.now(),
            kind=MemoryKind.PERCEPTION,
            text=f'{partner.key} says to you, "{words}"',
            place=agent.location.key if agent.location else "",
            source=partner.key,
            source_id=identity_of(partner),
        )
