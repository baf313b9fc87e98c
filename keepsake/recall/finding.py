"""Finds what bears on a text in one agent's memory, with the lines beside it.

It puts index, search and privacy together. Everything here blocks, so call it in a worker thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from keepsake.archive.privacy import Audience, PrivateWords
from keepsake.archive.records import Memory
from keepsake.archive.replies import REACH, replies_to
from keepsake.errors import IndexUnavailable, KeepsakeError
from keepsake.happening import Person
from keepsake.ports import Clock, Embedder
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.ranking.floor import split
from keepsake.recall.search import MemorySearch

VECTOR_SHARE = 0.7
"""Share of a search's time that it waits for the search by meaning, after the search by words."""
EXTRA_HITS = 3
"""Extra results of each kind, because some may already be in the prompt."""
RANKED = 20
"""How many memories are ranked for a prompt at least: what bears is told from the next best."""
_WITH_NEIGHBOURS = 8
"""How many of the best memories are shown with their neighbours, if the prompt has room."""
_BESIDE = (-2, -1, 1, 2)
"""The neighbours of a memory that an excerpt shows, besides what answers it."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The results of one search."""

    hits: tuple[Hit, ...] = ()  # best first
    # the memories that bear, and lines beside or between them, as the audience may hear them;
    # empty if not requested
    around: tuple[Memory, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the memories that were found, best first, whether they bear or not."""
        return tuple(hit.document.first for hit in self.of(DocumentKind.MEMORY))

    @property
    def is_about_several(self) -> bool:
        """Whether the answer probably stands in several talks, so that all that ranks bears."""
        return any(hit.several_talks for hit in self.hits)

    def without(self, numbers: Collection[int]) -> SearchResult:
        """Return the results without the memories of those numbers."""
        left = (DocumentKind.SUMMARY, DocumentKind.NOTE)
        return SearchResult(
            tuple(
                hit
                for hit in self.hits
                if hit.document.kind in left or hit.document.first not in numbers
            ),
            tuple(each for each in self.around if each.number not in numbers),
        )

    def heard_by(self, private: PrivateWords, audience: Audience) -> SearchResult:
        """Return the results that an audience may hear, also if another one was searched for."""
        hits = (
            hit
            for hit in self.hits
            if hit.document.kind is not DocumentKind.MEMORY
            or private.may_hear([hit.document.first], audience)
        )
        return SearchResult(tuple(hits), private.heard_by(self.around, audience))

    def of(self, kind: DocumentKind) -> list[Hit]:
        """Return the hits of one kind."""
        return [hit for hit in self.hits if hit.document.kind is kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How much a search for a prompt looks for.

    Attributes:
        memories, summaries, notes: The most that the prompt shows of each kind.
        before: The number of the memory from which on the prompt shows all; None to search the
            window too.
        shown: The numbers of the memories before it that the prompt shows too.
        excerpts: Whether the prompt shows what was found with its neighbours. It belongs to a model
            that reads much: then all that ranks bears on a question about several talks.
        unprompted: Whether the text is a scene, as nobody asked: recent memories count more.
        wants_answer: Whether the text is no question, but wants what the memory has of it. Then
            only the best bears. The lines of the window are ranked too, though not returned: what
            bears less than they do is something else that is like it.
        only_usable: Whether the text is said in a talk, most of which needs no memory. Then only
            memories bear that an answer can use.
        seconds: How long the search may take.
    """

    memories: int
    summaries: int
    notes: int
    before: int | None = None
    shown: frozenset[int] = frozenset()
    excerpts: bool = False
    unprompted: bool = False
    wants_answer: bool = False
    only_usable: bool = False
    seconds: float

    def is_shown(self, document: Document) -> bool:
        """Whether the prompt shows a document, or shows its memories word for word."""
        return document.last in self.shown or document.last >= (self.before or math.inf)

    @property
    def most(self) -> Mapping[DocumentKind, int]:
        """The most hits of each kind."""
        ranked = max(self.memories, RANKED)
        most = zip(DocumentKind, (ranked, self.summaries, self.notes), strict=True)
        return {kind: count + EXTRA_HITS for kind, count in most}


class Finder:
    """Finds memories, summaries and notes of one agent.

    Args:
        agent: The agent's name.
        index: The agent's index, which is brought up to date before each search.
        embedder: Makes the vector of a question; None for words alone.
        names: Returns the names of all people and places that the agent may know.
        private: Returns which memories are private.
        complain: Called once when words or meaning begin to fail.
    """

    def __init__(
        self,
        agent: str,
        index: AgentIndex,
        embedder: Embedder | None,
        *,
        names: Callable[[], Collection[str]],
        private: Callable[[], PrivateWords],
        clock: Clock,
        complain: Callable[[KeepsakeError], None],
    ) -> None:
        self._index = index
        self._private = private
        self._search = MemorySearch(
            index.words,
            index.vectors,
            embedder,
            names=names,
            clock=clock,
            agent=agent,
            complain=complain,
        )

    def find(
        self,
        text: str,
        wanted: Wanted,
        *,
        limit: int = 0,
        audience: Audience | None,
        asker: Person | None = None,
    ) -> SearchResult | None:
        """Return what bears on ``text``; None if no index could be searched.

        Args:
            limit: The most hits; 0 for what a prompt needs of each kind.
            audience: Who may hear the results; None for somebody who may know all.
            asker: Who said ``text``; None if nobody did.
        """
        self._index.refresh()
        before = wanted.before
        hits = self._search.search(
            text,
            limit=limit,
            kinds=None if limit else wanted.most,
            before=None if wanted.wants_answer else before,
            unprompted=wanted.unprompted,
            wants_answer=wanted.wants_answer,
            only_usable=wanted.only_usable,
            several_talks=wanted.excerpts,
            seconds=wanted.seconds * VECTOR_SHARE,
            asker=asker,
            may=lambda document: self._may_find(document, wanted, audience),
        )
        if hits is None:
            return None
        if wanted.wants_answer:
            hits = _only_best(hits)
        if before is not None:
            hits = [hit for hit in hits if not wanted.is_shown(hit.document)]
        if audience is None or not wanted.excerpts:
            return SearchResult(tuple(hits))
        return SearchResult(tuple(hits), self._around(hits, wanted, audience))

    def find_memories(
        self,
        text: str,
        limit: int,
        seconds: float,
        *,
        audience: Audience | None = None,
        wants_answer: bool = False,
    ) -> list[Hit] | None:
        """Return what bears on ``text``, the window included.

        Args:
            limit: The most memories.
            seconds: How long the search may take.
            audience: Who may hear the results; None for somebody who may know all.
            wants_answer: See :class:`Wanted`.

        Returns:
            The memories, best first; None if no index could be searched.
        """
        self._index.refresh()
        return self._search.search(
            text,
            kinds={DocumentKind.MEMORY: limit},
            wants_answer=wants_answer,
            seconds=seconds * VECTOR_SHARE,
            may=lambda document: audience is None or self._may_hear(document, audience),
        )

    def _may_find(self, document: Document, wanted: Wanted, audience: Audience | None) -> bool:
        """Whether a search may rank a document; see :attr:`Wanted.wants_answer`."""
        if not wanted.wants_answer and document.last in wanted.shown:
            return False
        return audience is None or self._may_hear(document, audience)

    def _may_hear(self, document: Document, audience: Audience) -> bool:
        """Whether an audience may hear a document. Summaries hold no private words."""
        if document.kind is not DocumentKind.MEMORY:
            return True
        return self._private().may_hear([document.first], audience)

    def _around(
        self, hits: Sequence[Hit], wanted: Wanted, audience: Audience
    ) -> tuple[Memory, ...]:
        """Return the memories that bear on the query, with what is beside them and answers them.

        The prompt's window shows none of them.
        """
        bearing = (h for h in hits if h.bears and h.document.kind is DocumentKind.MEMORY)
        found = {hit.document.first: hit.document.memory() for hit in bearing}
        best = [*islice(found, _WITH_NEIGHBOURS)]
        beside = {number + step for number in best for step in _BESIDE}
        beside |= {n + 1 for n in found if n + 2 in found}  # between two that were found
        later = {number + step for number in best for step in range(1, REACH + 1)}
        with suppress(IndexUnavailable):
            unseen = (beside | later).difference(found, wanted.shown)
            new = (n for n in unseen if 0 < n < (wanted.before or math.inf))
            near = {n: each.memory() for n, each in self._index.words.documents_at(new).items()}
            following = near | found
            answers = {n for number in best for n in replies_to(found[number], following)}
            found |= {n: near[n] for n in near if n in beside | answers}
        return self._private().heard_by(found.values(), audience)


def _only_best(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, of which only the upper one of two groups of those that bear still do."""
    least = split([hit.score for hit in hits if hit.bears])
    return [replace(hit, bears=hit.bears and hit.score >= least) for hit in hits]
