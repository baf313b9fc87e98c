"""What a prompt shows of a memory: summaries, and excerpts of talks with names that fit those here.

Nothing here knows a world, so a game and a program that is no game use the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from keepsake.agent.memory.search_results import line_of
from keepsake.agent.memory.talks import belongs, same_talk
from keepsake.agent.memory.telling import only_moves
from keepsake.archive.privacy import is_redacted
from keepsake.archive.records import Memory
from keepsake.archive.replies import replies_to
from keepsake.happening import Person, PersonId
from keepsake.language.perception import is_question, names
from keepsake.language.persons import Whom, about_whom
from keepsake.memory.types import MemoryContext
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.recall.finding import SearchResult
from keepsake.recall.ranking.reasons import BY_WORDS
from keepsake.tasks.conversation import excerpt
from keepsake.tasks.scene import Excerpt, Scene

MOST_TOLD = 2
"""The most lines of :func:`told_lines`. A small model is slow to read, and follows few lines."""

type KnownAs = Callable[[Person], str]
"""Returns the name by which a prompt calls somebody from an old memory."""


def known_among(here: Mapping[PersonId, str]) -> KnownAs:
    """Return how a prompt calls people from old memories.

    Somebody who is here under another name gets that name. Somebody else with the name of a person
    who is here is called ``another Tom``.

    ``here``: The names of those who are here, by identity.
    """
    taken = set(here.values())

    def known_as(person: Person) -> str:
        now = here.get(person.id) if person.id else None
        if now is not None:
            return now if now == person.name else f"{now} (then {person.name})"
        return f"another {person.name}" if person.id and person.name in taken else person.name

    return known_as


def with_summaries(scene: Scene, remembered: MemoryContext) -> Scene:
    """Return the scene with both summaries."""
    longterm = remembered.longterm
    recent = remembered.recent
    return replace(
        scene,
        longterm=longterm.text if longterm else "",
        longterm_span=f"{longterm.first} to {longterm.last}" if longterm else "",
        recent=recent.text if recent else "",
        recent_span=f"{recent.first} to {recent.last}" if recent else "",
    )


def with_excerpts(
    scene: Scene,
    recalled: SearchResult,
    known_as: KnownAs,
    partner: Person | None,
    now: datetime,
) -> Scene:
    """Return the scene with what its prompt shows of the results of recall.

    Args:
        partner: Who is answered; None for nobody.
        now: When the prompt is read.
    """
    lines = {
        kind: tuple(line_of(hit) for hit in recalled.of(kind))
        for kind in (DocumentKind.SUMMARY, DocumentKind.NOTE)
    }
    return replace(
        scene,
        recalled=excerpts_of(recalled, known_as, now),
        told=told_lines(recalled.hits, scene.words or scene.asked, known_as, partner),
        experiences=lines[DocumentKind.SUMMARY],
        notes=lines[DocumentKind.NOTE],
    )


def excerpts_of(recalled: SearchResult, known_as: KnownAs, now: datetime) -> tuple[Excerpt, ...]:
    """Return excerpts of the talks in which memories were found, the talk of the best one first.

    Lines around them whose private words are left out are not shown: they say nothing, and what is
    done after a prompt that shows them would count as resting on a whisper.
    """
    passages = {hit.document.first: hit.passage for hit in recalled.hits if hit.passage}
    talks = list[dict[int, Memory]]()
    for hit in recalled.hits:
        number = hit.document.first
        if hit.document.kind is not DocumentKind.MEMORY or any(number in each for each in talks):
            continue
        memory = hit.document.memory()
        talk = next((each for each in talks if belongs(memory, each)), None)
        if talk is None:
            talk = {}
            talks.append(talk)
        shown = {number for each in talks for number in each}
        talk |= {
            each.number: each
            for each in _with_answers(memory, recalled.around)
            if each.number not in shown and not is_redacted(each)
        }
    ordered = [[talk[number] for number in sorted(talk)] for talk in talks]
    return tuple(
        Excerpt(tuple(each.number for each in talk), excerpt(talk, now, known_as, passages))
        for talk in ordered
    )


def _with_answers(memory: Memory, around: Sequence[Memory]) -> list[Memory]:
    """Return a memory with those of its talk beside it, and with what answers it.

    What says only that somebody came or went is left out.
    """
    known = {each.number: each for each in around}
    beside = [each for each in same_talk(memory, around) if each == memory or not only_moves(each)]
    return [*beside, *(known[number] for number in replies_to(memory, known))]


def told_lines(
    hits: Sequence[Hit], words: str, known_as: KnownAs, partner: Person | None = None
) -> tuple[Excerpt, ...]:
    """Return what others said in the memories that were found, for the prompt of a small model.

    There are at most :data:`MOST_TOLD` lines, the best ones. The prompt shows all of them, and its
    answer rests on them.

    A small model says such a line as if it were its own. So for a question about the agent itself
    nothing is returned that others said, and for a question about the partner only what the partner
    said. People whom the question names are an exception.

    Args:
        words: What the partner said. A question uses all hits, other words only hits that share a
            word with them.
    """
    lines = list[Excerpt]()
    whom = about_whom(words)
    for hit in hits:
        if hit.document.kind is not DocumentKind.MEMORY:
            continue
        said = hit.document.memory().heard
        relevant = is_question(words) or any(each.startswith(BY_WORDS) for each in hit.reasons)
        if not said or is_question(said.words) or not relevant:
            continue
        own = partner is not None and said.speaker.is_same(partner)
        named = names(words, known_as(said.speaker)) or names(words, said.speaker.name)
        if whom is Whom.ANYBODY or named or (own and whom is Whom.ASKER):
            line = f'{known_as(said.speaker)} said, "{said.words}"'
            lines.append(Excerpt((hit.document.first,), line))
    return tuple(lines[:MOST_TOLD])
