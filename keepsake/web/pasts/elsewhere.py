"""Who still has what a compaction lost: the agent in its books, and other agents in their memories.

Runs in a view's thread, because it reads files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from keepsake.agent.memory.books import Books
from keepsake.archive.records import Memory
from keepsake.language.languages import language_of
from keepsake.tracing.content import Content, Rarity
from keepsake.tracing.standing import TIERS, Standing
from keepsake.tracing.texts import SegmentTexts, key_of
from keepsake.web.pasts.archives import Folders, past_of
from keepsake.web.pasts.loss_shapes import ElsewhereView
from keepsake.web.people.noted import places_in
from keepsake.web.remembered import TEXTS

MOST_LOOKED = 100
"""The most lost memories for which it is looked: the greatest losses come first."""
_SAID = 8.0
"""Bits by which words must be more than chance in a line of a book that tells a memory."""


type Elsewhere = Mapping[int, tuple[ElsewhereView, ...]]
"""By number of a memory."""


def elsewhere(memories: Iterable[Memory], books: Books | None, others: Folders) -> Elsewhere:
    """Return where else memories stand, by number.

    Args:
        memories: The lost ones, the greatest losses first.
        books: The agent's books; None if its memory is not open.
        others: The other agents.
    """
    looked = [*islice(memories, MOST_LOOKED)]
    found: dict[int, dict[ElsewhereView, None]] = {}
    for number, place in (*_in_books(looked, books), *_with_others(looked, others)):
        found.setdefault(number, {})[place] = None
    return {number: tuple(places) for number, places in found.items()}


def _in_books(
    memories: Sequence[Memory], books: Books | None
) -> Iterator[tuple[int, ElsewhereView]]:
    if books is None:
        return
    books.people.refresh()
    places = [*places_in(books)]
    language = language_of("\n".join(each.words for each in memories))
    rarity = Rarity.among((text for _, _, text, _, _ in places), language)
    contents = [
        (each.number, Content(each.words or each.text, rarity, language)) for each in memories
    ]
    for book, title, text, numbers, _ in places:
        place = ElsewhereView(book=book, title=title, standing=None)
        for number, content in contents:
            if number in numbers or _is_told(content, text, len(places)):
                yield number, place


def _is_told(content: Content, text: str, among: int) -> bool:
    # The second is quicker, and mostly says no.
    return content.is_mostly_in(text) and content.beyond_chance(text, among) >= _SAID


def _with_others(
    memories: Sequence[Memory], others: Folders
) -> Iterator[tuple[int, ElsewhereView]]:
    """Yield who else has a memory: in the window, or in a summary as its writer says."""
    wanted = {key_of(each.happening): each.number for each in memories if each.happening}
    for _, name, folder in others:
        if not (folder / "archive").is_dir():
            continue
        state = past_of(folder).state_now
        segments = TEXTS.of(folder / "archive")
        told = {
            happening: TIERS[summary.tier]
            for summary in (state.longterm, state.recent)
            if summary is not None
            for happening in _happenings(segments, chain(*summary.cited.values()))
        }
        newest = chain(*(each.happenings_from(state.summarised + 1) for each in segments))
        has = told | dict.fromkeys(newest, Standing.WINDOW)
        for happening in wanted.keys() & has.keys():
            place = ElsewhereView(book=None, title=name, standing=has[happening])
            yield wanted[happening], place


def _happenings(segments: Sequence[SegmentTexts], numbers: Iterable[int]) -> Iterator[int]:
    """Yield what stands for the happenings of memories."""
    for number in numbers:
        for segment in segments:
            if (place := segment.place_of(number)) is not None:
                yield segment.happenings[place]
