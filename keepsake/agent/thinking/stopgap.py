"""Talk of the shipped 270M model, which hardly answers: rules do, and no model is asked."""

from __future__ import annotations

from random import Random

from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.services import Services
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.asking import ThoughtAsker
from keepsake.agent.thinking.scene import SceneMaker, TurnContext, memory_of
from keepsake.agent.thinking.thought import ThoughtInProgress
from keepsake.archive.records import COURTESY, MemoryKind
from keepsake.language.heard import heard, spoken
from keepsake.recall.related import SearchResult
from keepsake.records.open_lines import open_lines
from keepsake.tasks.fallback import FallbackLine, answer


class RuleThinking:
    """Answers without a model for one agent; on the reactor thread."""

    def __init__(
        self,
        asker: ThoughtAsker,
        scenes: SceneMaker,
        actor: Actor,
        memory: MemoryComponent,
        services: Services,
    ) -> None:
        self._asker, self._scenes, self._actor = asker, scenes, actor
        self._memory, self._services = memory, services

    async def take(self, thought: ThoughtInProgress) -> Act | None:
        """Say something fitting."""
        asker, scenes = self._asker, self._scenes
        agent = asker.body()
        turn = scenes.context_of(agent, thought.impulse)
        thought.found = await scenes.relate(agent, turn)
        agent = asker.able_body(thought)
        if not asker.is_wanted(agent, thought):
            asker.reports.ended(thought, "dropped")
            return None
        words = _words_of(agent, turn, thought.found, self._memory, self._services)
        whispered = scenes.is_whispered(agent, turn, thought.found)
        act = self._actor.speak(agent, words, turn.partner, whispered=whispered, event=COURTESY)
        if act.result is not None:
            await act.result
        asker.reports.done(thought, None, act)
        return act


def _words_of(
    agent: Body,
    turn: TurnContext,
    found: SearchResult | None,
    memory: MemoryComponent,
    services: Services,
) -> str:
    window = memory.private.heard_by(memory.context().window, turn.audience)
    scores = {hit.document.first: hit.score for hit in (found.memories if found else ())}
    lines = [FallbackLine(text) for text in open_lines(str(agent.db.profile or ""))]
    before_window = [memory_of(hit, agent.key) for hit in (found.memories if found else ())]
    for each in (*before_window, *window):
        told = heard(each) if each.number < turn.impulse.memory else None
        if told is not None:
            score = scores.get(each.number, 0.0)
            lines.append(FallbackLine(told.words, told.who, each.number, score))
    before = [own.words for m in window if m.kind is MemoryKind.ACT and (own := spoken(m))]
    kind = turn.impulse.trigger
    return answer(
        turn.words,
        agent=agent.key,
        partner=turn.partner,
        said_before=before,
        lines=lines,
        rng=Random(services.random.random()),
        arrival=kind == "arrival" and not turn.words,
        given="something" if kind == "given" and not turn.words else "",
    )
