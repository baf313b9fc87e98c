"""Talk of the shipped 270M model, which hardly answers: rules do, and no model is asked."""

from __future__ import annotations

from random import Random

from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.thinking.scene import TurnContext, memory_of
from keepsake.archive.records import MemoryKind
from keepsake.books.persona import open_lines
from keepsake.language.heard import heard, spoken
from keepsake.recall.related import SearchResult
from keepsake.tasks.fallback import FallbackLine, answer


def words_by_rule(
    agent: Body,
    turn: TurnContext,
    found: SearchResult | None,
    memory: MemoryComponent,
    random: Random,
) -> str:
    """Something fitting to say; ``found``: What recall brought."""
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
        rng=Random(random.random()),
        arrival=kind == "arrival" and not turn.words,
        given="something" if kind == "given" and not turn.words else "",
    )
