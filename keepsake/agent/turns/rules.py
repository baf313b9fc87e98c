"""An answer by rule, for an agent without a model."""

from __future__ import annotations

from random import Random

from keepsake.agent.acting import Basis
from keepsake.agent.attention import Impulse, ImpulseKind
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.search_results import SearchResult
from keepsake.agent.surroundings import Body, place_names
from keepsake.agent.turns.context import TurnContext
from keepsake.books.persona import open_lines
from keepsake.happening import Person, Pose
from keepsake.language.perception import names
from keepsake.language.when import names_an_hour
from keepsake.prompt.verbs import bare_name
from keepsake.recall.documents import DocumentKind
from keepsake.tasks.answer import AnswerPart
from keepsake.tasks.fallback import FallbackLine, answer


def basis_of_rule(impulse: Impulse, recalled: SearchResult | None) -> Basis:
    """Return what a reply by rule rests on: the words that it answers, and what was recalled."""
    hits = recalled.of(DocumentKind.MEMORY) if recalled else []
    numbers = {hit.document.first for hit in hits} | {impulse.memory_number}
    return Basis(rests_on=tuple(sorted(numbers - {0})))


def hint_to_meet(agent: Body, words: str) -> str:
    """Return how a player asks an agent to meet, if the words name a place and an hour; else empty.

    A rule does not understand a request in free words. It does not guess what was asked, and says
    how to ask.
    """
    if not names_an_hour(words):
        return ""
    place = next((each for each in sorted(place_names(agent)) if names(words, bare_name(each))), "")
    name = agent.key.casefold()
    return f"(To ask {agent.key} to meet you: meet {name} at {place} <when>)" if place else ""


def reply_by_rule(
    agent: Body,
    context: TurnContext,
    partner: Person,
    recalled: SearchResult | None,
    memory: MemoryComponent,
) -> AnswerPart:
    """Return a reply to the partner, for when there is no model.

    It uses the agent's persona, and what this partner said before.
    """
    window = memory.private.heard_by(memory.memory.context().window, context.audience)
    hits = recalled.of(DocumentKind.MEMORY) if recalled else []
    scores = {hit.document.first: hit.score for hit in hits}
    lines = [FallbackLine(text) for text in open_lines(str(agent.db.profile or ""))]
    for each in (*(hit.document.memory() for hit in hits), *window):
        told = each.heard if each.number < context.impulse.memory_number else None
        if told is not None and told.speaker.is_same(partner):
            score = scores.get(each.number, 0.0)
            whole = told.words == told.shown
            lines.append(FallbackLine(told.words, each.number, score, whole))
    kind = context.impulse.kind
    own = [each for each in window if each.is_own]
    said_before = [each.what.gesture if isinstance(each.what, Pose) else each.words for each in own]
    return answer(
        context.words,
        agent=agent.key,
        partner=partner.name,
        said_before=said_before,
        lines=lines,
        rng=Random(memory.newest),
        arrival=kind is ImpulseKind.ARRIVAL and not context.words,
        asks_to_meet=bool(hint_to_meet(agent, context.words)),
        given="something" if kind is ImpulseKind.GIVEN and not context.words else "",
    )
