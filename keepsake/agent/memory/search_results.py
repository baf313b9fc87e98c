"""Search results of recall as lines of a prompt, or as one line for the agent itself.

The limits are in ``vault/config/recall.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, zip_longest

from keepsake.agent.memory.excerpt_budget import CountTokens, ExcerptBudget
from keepsake.agent.memory.telling import Shown, only_asks, tells
from keepsake.agent.settings import RecallConfig
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.replies import replies_to
from keepsake.language.perception import for_prompt, is_question, sentences, shorten
from keepsake.memory.types import MemoryContext
from keepsake.prompt.results import RECALLED, RECALLED_NOTHING
from keepsake.recall.documents import DocumentKind, Hit, memory_document
from keepsake.recall.finding import SearchResult, Wanted
from keepsake.recall.ranking.merging import fused, picked_first
from keepsake.tasks.forms.form import PromptLimits
from keepsake.tasks.scene import Excerpt

LONGEST = 300
"""The most characters of a memory or a note."""
LONGEST_SUMMARY = 450
"""The most characters of a summary, which tells of many memories."""
BRIEF = 160
"""The most characters of a summary in the result of a tool: a prompt shows it whole."""
_QUERY_LINES = 2
"""How many recent lines the query of a turn without words to answer contains."""
LONGEST_RESULT = 650
"""Maximum characters of a tool's result, which is one memory."""


def wanted_for(
    config: RecallConfig, context: MemoryContext, limits: PromptLimits, seconds: float
) -> Wanted:
    """Return what a search for a prompt looks for.

    Args:
        context: What the prompt shows already.
        seconds: How long the search may take.
    """
    before = context.searched_before(limits.shown_lines)
    return Wanted(
        memories=config.memories,
        summaries=config.summaries,
        notes=config.notes,
        before=before,
        shown=context.shown_before(before, limits.shown_lines),
        excerpts=limits.shows_excerpts,
        seconds=seconds,
    )


def hits_to_show(
    found: SearchResult,
    context: MemoryContext,
    config: RecallConfig,
    room: ExcerptBudget,
    *,
    excerpts: bool = False,
    beside: Sequence[str] = (),
    agent: str = "",
) -> tuple[Hit, ...]:
    """Select hits for a prompt: those that bear on it and tell something new, within the room.

    The best hits of each kind come first; later ones for which there is no room are left out.

    Args:
        excerpts: Whether memories are shown in excerpts of talks. Then
            ``config`` allows no summaries; see :func:`results_to_show`.
        beside: What the prompt says besides the window; see :meth:`PromptForm.beside`.
        agent: The agent's name.
    """
    summed = {(s.first, s.last) for s in (context.longterm, context.recent) if s is not None}
    before = context.searched_before() or math.inf
    also = context.shown_before(context.searched_before())
    most = {
        DocumentKind.MEMORY: config.memories,
        DocumentKind.NOTE: config.notes,
        DocumentKind.SUMMARY: config.summaries,
    }
    unseen: dict[DocumentKind, dict[str, Hit]] = {kind: {} for kind in most}
    for hit in _telling(found, Shown(beside), agent):
        document = hit.document
        of_kind = unseen[hit.document.kind]
        in_window = document.last >= before or document.last in also
        shown = document.kind is DocumentKind.SUMMARY and (document.first, document.last) in summed
        if not (in_window or shown) and len(of_kind) < most[document.kind]:
            # Skip a text that repeats another one.
            of_kind.setdefault(f"{document.title} {document.text.casefold()}", hit)
    columns = (each.values() for each in unseen.values())
    best = filter(None, chain.from_iterable(zip_longest(*columns)))
    return tuple(hit for hit in best if _takes(room, hit, excerpts=excerpts))


def _takes(room: ExcerptBudget, hit: Hit, *, excerpts: bool) -> bool:
    """Return whether there was room for a hit as the prompt shows it."""
    if excerpts and hit.document.kind is DocumentKind.MEMORY:
        return room.takes_memory(hit.document.memory(), hit.passage)
    return room.takes(line_of(hit))


def results_to_show(
    found: SearchResult,
    context: MemoryContext,
    config: RecallConfig,
    *,
    limits: PromptLimits,
    beside: Sequence[str],
    agent: str,
    count: CountTokens,
    now: datetime,
) -> SearchResult:
    """Return what a prompt of these limits shows of a search; see :func:`hits_to_show`.

    Args:
        count: Counts the tokens of a line.
        now: When the prompt is read.
    """
    excerpts = limits.shows_excerpts
    if excerpts:  # they show the memories behind a summary instead
        config = replace(config, summaries=0)
    shown = replace(context, shown=context.shown[-limits.shown_lines :])
    room = ExcerptBudget(config.budget, count, now)
    hits = hits_to_show(found, shown, config, room, excerpts=excerpts, beside=beside, agent=agent)
    return SearchResult(hits, _with_neighbours(hits, found.around, room))


def _with_neighbours(
    hits: Sequence[Hit], around: Sequence[Memory], room: ExcerptBudget
) -> tuple[Memory, ...]:
    """Return the memories of hits, and as many of those beside them as there is room for.

    What answers a memory comes first, since a question tells nothing without. Then come the direct
    neighbours of the best hits, then the lines beyond.

    Args:
        hits: What the prompt shows, best first.
        around: All memories that were found, and those beside them.
        room: What the hits leave.
    """
    known = {each.number: each for each in around}
    found = [hit.document.first for hit in hits if hit.document.kind is DocumentKind.MEMORY]
    order = (
        *(answer for n in found if n in known for answer in replies_to(known[n], known)),
        *(n + step for n in found for step in (-1, 1)),
        *(n + step for n in found for step in (-2, 2)),
    )
    chosen = {n for n in found if n in known}
    for number in dict.fromkeys(order):
        if number in chosen or number not in known:
            continue
        if not room.takes_memory(known[number]):
            break
        chosen.add(number)
    return tuple(known[number] for number in sorted(chosen))


def _telling(found: SearchResult, beside: Shown, agent: str) -> Iterator[Hit]:
    """Yield the hits that bear on the query and tell something new, best first.

    If the prompt says a memory beside them, the answer is there, and memories that rank lower are
    not needed; but they are if the answer stands in several talks.
    """
    around = {each.number: each for each in found.around}
    answered = False
    for hit in found.hits:
        if not hit.bears:
            continue
        if hit.document.kind is not DocumentKind.MEMORY:
            yield hit
            continue
        memory = hit.document.memory()
        if answered or not tells(memory, around, agent):
            continue
        if not beside.says(memory.words or memory.line):
            yield hit
        elif not found.is_about_several:
            answered = True


def line_of(hit: Hit, most: int = LONGEST_SUMMARY) -> str:
    """Return ``garden: …``, ``… (memories 65-128)``, ``[1 May 2026, The Inn] Tom: … (memory 17)``.

    The text is cut to ``most`` characters, and that of a note or a memory to :data:`LONGEST` too.
    Of a long text the passage that was found is shown.
    """
    document = hit.document
    text = for_prompt(document.text)
    if hit.passage:
        text = f"… {for_prompt(hit.passage.removeprefix(f'{document.title}: '))}"
    longest = min(most, LONGEST)
    if document.kind is DocumentKind.NOTE:
        if len(text) > longest and not hit.passage:  # keep the end, because a note grows at its end
            text = f"… {text[-longest:].partition(' ')[2]}"
        return f"{document.title}: {shorten(text, longest) if hit.passage else text}"
    numbers = f"memories {document.first}-{document.last}"
    if document.kind is DocumentKind.SUMMARY:
        return f"{shorten(text, most)} ({numbers})"
    if document.speaker and document.speaker.casefold() not in text.casefold():
        text = f"{document.speaker}: {text}"
    if document.first == document.last:
        numbers = f"memory {document.first}"
    return f"{_when(document.time, document.place)} {shorten(text, longest)} ({numbers})"


def telling(found: SearchResult, agent: str) -> SearchResult:
    """Return results without memories that tell nothing: greetings, arrivals, mere questions.

    A question is followed by its answer. If nothing else was found, all stay: who came is an
    answer, too.
    """
    around = {each.number: each for each in found.around}
    kept = dict[str, Hit]()
    for hit in found.hits:
        for each in _told_by(hit, around, agent):
            kept.setdefault(each.document.key, each)
    return replace(found, hits=tuple(kept.values())) if kept else found


def _told_by(hit: Hit, around: Mapping[int, Memory], agent: str) -> list[Hit]:
    """Return a hit, and the answer if it is a question; nothing if it tells nothing."""
    if hit.document.kind is not DocumentKind.MEMORY:
        return [hit]
    memory = hit.document.memory()
    if not tells(memory, around, agent):
        return []
    answers = _answers_to(memory, around)
    documents = (memory_document(each, agent) for each in answers)
    return [hit, *(replace(hit, document=each, passage="") for each in documents)]


def _answers_to(memory: Memory, around: Mapping[int, Memory]) -> list[Memory]:
    """Return what was answered to a question: the agent's own words that rest on it, or the next.

    "Good evening. Is it true?" is more than a question, and the agent's answer tells what it said.
    """
    if not any(map(is_question, sentences(memory.words))):
        return []
    after = [around[number] for number in replies_to(memory, around)]
    own = [each for each in after if each.said is not None and memory.number in each.rests_on]
    return own or (after[:1] if only_asks(memory.words) else [])


def result_line(found: SearchResult | None, words: str, told: Sequence[Excerpt] = ()) -> Excerpt:
    """Return the result of the verb `recall`: one line with the best of each kind.

    It has the numbers of the memories that it shows, whether they bear on ``words`` or not. Lines
    are whole; what there is no room for is left out.

    Args:
        told: What was told in confidence, newest first, if the agent asked for it.
    """
    if found is None and not told:
        return Excerpt((), "You cannot remember just now; try again later")
    found = found or SearchResult()
    if not found.hits and not told:
        return Excerpt((), f"{RECALLED_NOTHING}{shorten(words, 80)}")
    memories, notes, summaries = map(
        found.of, (DocumentKind.MEMORY, DocumentKind.NOTE, DocumentKind.SUMMARY)
    )
    best = [*memories[:3], *notes[:2], *summaries[:1], *memories[3:]]
    lines = [*told, *map(_told_in_result, best)]
    parts = list[str]()
    numbers = set[int]()
    room = LONGEST_RESULT - len(RECALLED)
    for line in lines:
        if parts and len(line.text) + 2 > room:
            continue
        room -= len(line.text) + 2
        parts.append(line.text)
        numbers.update(line.numbers)
    return Excerpt(tuple(sorted(numbers)), f"{RECALLED}{'; '.join(parts)}")


def _told_in_result(hit: Hit) -> Excerpt:
    """Return a hit as a part of a result."""
    document = hit.document
    if document.kind is DocumentKind.SUMMARY:
        return Excerpt((), line_of(hit, BRIEF))
    numbers = (document.first,) if document.kind is DocumentKind.MEMORY else ()
    return Excerpt(numbers, line_of(hit))


def one_result(found: Sequence[SearchResult | None]) -> SearchResult | None:
    """Return the results of searches for several things as one; None if no search worked."""
    worked = [each for each in found if each is not None]
    if len(worked) < 2:
        return next(iter(worked), None)
    best = {hit.document.key: hit for each in reversed(worked) for hit in each.hits}
    keys = fused([[hit.document.key for hit in each.hits] for each in worked])
    around = {memory.number: memory for each in worked for memory in each.around}
    return SearchResult(tuple(best[key] for key in keys), tuple(around[n] for n in sorted(around)))


def reread_result(
    found: SearchResult,
    picked: Sequence[Hit],
    shown: int,
    further: Sequence[SearchResult],
) -> SearchResult:
    """Return what a search found, in the order that a model gave it, with what it searched further.

    Args:
        picked: The memories that it picked, the most important first.
        shown: How many of the memories it read.
        further: The results of its searches.
    """
    results = (found, *further)
    best = {hit.document.key: hit for each in reversed(results) for hit in each.hits}
    rankings = [[hit.document.key for hit in each.of(DocumentKind.MEMORY)] for each in results]
    keys = picked_first([hit.document.key for hit in picked], rankings[0], shown, rankings[1:])
    best |= {hit.document.key: hit for hit in picked}
    others = (hit for hit in found.hits if hit.document.kind is not DocumentKind.MEMORY)
    around = {memory.number: memory for each in results for memory in each.around}
    # All that ranks bears on such a question, so what was found further does, too.
    memories = (replace(best[key], bears=True, several_talks=True) for key in keys)
    return SearchResult((*memories, *others), tuple(around[n] for n in sorted(around)))


def scene_query(context: MemoryContext, place: str, present: Sequence[str]) -> str:
    """Return the query of a turn without words to answer: recent lines, place, who is here."""
    said: list[str] = []
    for memory in reversed(context.window):  # back to the agent's last act
        if (memory.kind is MemoryKind.ACT and said) or len(said) == _QUERY_LINES:
            break
        if memory.kind is MemoryKind.PERCEPTION and memory.source:
            words = memory.heard
            said.append(f"{memory.source}: {words.words}" if words else memory.text)
    # One line each: a check of the log for private words must see where speech ends.
    return "\n".join([*said[::-1], place] if said else [place, *present]).strip()


def _when(time: datetime, place: str) -> str:
    where = f", {for_prompt(place)}" if place else ""
    time = time.astimezone()
    return f"[{time.day} {time:%B %Y, %H:%M}{where}]"
