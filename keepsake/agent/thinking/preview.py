"""The prompt that an agent would send now, for builders and for a server's cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent.attention import IDLE, EventKind, Impulse
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import identity_of, place_of
from keepsake.agent.thinking.scene import TurnContext
from keepsake.agent.thinking.turn import PROFILE, Turns
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import CHAT, SHIPPED, ModelProfile
from keepsake.prompt.marks import Rendered
from keepsake.recall.related import SearchResult
from keepsake.tasks.talk_scene import TalkPrompt


class PromptPreview:
    """Makes the prompts of one agent without sending them; on the reactor thread."""

    def __init__(self, turns: Turns, memory: MemoryComponent, runtime: Runtime) -> None:
        self._turns, self._memory, self._runtime = turns, memory, runtime

    def show(
        self, agent: Body, partner: Any = None, words: str = ""
    ) -> Deferred[tuple[Rendered, int]]:
        """The prompt of the agent's next thought, and the tokens that it may have.

        Args:
            agent: The agent.
            partner: Who says something to it; None for a thought of its own accord.
            words: What they say.

        Returns:
            Both, once recall has answered. It fails with a KeepsakeError where the memory or a
            template cannot be read.
        """
        return Deferred.fromCoroutine(self._show(agent, partner, words))

    async def _show(self, agent: Body, partner: Any, words: str) -> tuple[Rendered, int]:
        said, turn = None, self._turns.scenes.context_of(agent, IDLE)
        if partner is not None:
            said = self._said(agent, partner, words)
            asked = Impulse(
                EventKind.ADDRESSED, True, said.source, source_id=said.source_id, priority="player"
            )
            turn = replace(self._turns.scenes.context_of(agent, asked), words=words)
        try:
            profile = self._turns.profile()
        except KeepsakeError:  # no model can be asked: that is told when one is
            profile = SHIPPED[PROFILE].suited(CHAT)
        found = await self._turns.scenes.relate(agent, turn, by="builder")
        prompt, budget = self._prompt(agent, turn, found, profile, said)
        return prompt.rendered, budget

    def _prompt(
        self,
        agent: Body,
        turn: TurnContext,
        found: SearchResult | None,
        profile: ModelProfile,
        said: Memory | None = None,
    ) -> tuple[TalkPrompt, int]:
        """A prompt, and the tokens that it may have."""
        budget = self._turns.fitting.budget(profile)
        talk, _ = self._turns.scenes.talk(agent, turn, found, said)
        return talk.prompt(replace(profile, prompt_tokens=budget)), budget

    def _said(self, agent: Body, partner: Any, words: str) -> Memory:
        """Words as the agent would remember them, had they been said now."""
        return Memory(
            number=self._memory.newest + 1,
            time=self._runtime.clock.now(),
            kind=MemoryKind.PERCEPTION,
            text=f'{partner.key} says to you, "{words}"',
            place=place_of(agent),
            source=partner.key,
            source_id=identity_of(partner),
        )
