"""Recall for one agent in the game. Every search runs in a worker thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice

from twisted.internet.defer import TimeoutError

from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.search_results import SearchResult
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import AgentRef
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory
from keepsake.books.notes import NoteBook
from keepsake.errors import IndexUnavailable
from keepsake.events.types import MemoryChange, Recall
from keepsake.events.values import Author, MemoryOp, RecallPurpose
from keepsake.happening import Person
from keepsake.logs import Subsystem, get_logger
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.search import MemorySearch

log = get_logger(Subsystem.RECALL)

VECTOR_SHARE = 0.7
"""Share of a search's time that the embedder and vectors may use. Word search needs less."""
BUILDER_SECONDS = 10.0
"""Seconds that a builder's search may take."""
EXTRA_HITS = 3
"""Extra results of each kind, because some may already be in the prompt."""
RANKED = 20
"""A prompt's search ranks at least this many memories, to tell which of them bear on it."""
_BESIDE = (-2, -1, 1, 2)
"""The neighbours of a memory that an excerpt shows: what it answers, and what was said to it."""


class Recaller:
    """Searches the memories, summaries and notes of one agent."""

    def __init__(
        self, ref: AgentRef, notes: NoteBook, memory: MemoryComponent, services: Runtime
    ) -> None:
        self._name = ref.name
        self._folder = ref.folder
        self._find_names = ref.names
        self._memory = memory
        self._services = services
        self._names: frozenset[str] = frozenset()
        self._index: AgentIndex | None = None
        self._memory_search: MemorySearch | None = None
        if services.indexes is not None:
            self._index = services.indexes.open(
                ref.folder.name, ref.folder / "archive", notes, name=ref.name
            )
            change = partial(MemoryChange, agent=ref.name, op=MemoryOp.REINDEX, n=0)
            self._index.on_rebuild = lambda reason: services.events.emit(
                change(by=Author.RULES if reason else Author.BUILDER, problem=reason)
            )
            self._memory_search = MemorySearch(
                self._index.words,
                self._index.vectors,
                services.embedder,
                names=lambda: self._names,
                clock=services.clock,
                agent=ref.name,
                complain=lambda problem: log.info(str(problem), agent=ref.name),
            )

    def read_names(self) -> None:
        """Read the names that a search needs; on the reactor thread, before recall_blocking."""
        self._names = self._find_names()

    async def recall(
        self,
        text: str,
        *,
        purpose: RecallPurpose = RecallPurpose.THOUGHT,
        unprompted: bool = False,
        seeks: bool = False,
        audience: Audience = NO_PRIVATE_WORDS,
        asker: Person | None = None,
    ) -> SearchResult | None:
        """Run :meth:`recall_blocking` in a worker thread, with the time limit of a thought.

        Returns:
            The results; None without an index, or after a timeout or an error, because the agent
            must still be able to think.
        """
        config = self._services.recall_config
        if self._memory_search is None or not config.budget:
            return None
        self._names = self._find_names()
        wait = config.patience
        search = partial(
            self.recall_blocking,
            text,
            purpose=purpose,
            seconds=wait,
            unprompted=unprompted,
            seeks=seeks,
            audience=audience,
            asker=asker,
        )
        try:
            return await self._services.in_thread(search, wait)
        except TimeoutError:
            log.info("The search took too long; the thought goes on without it", agent=self._name)
        except Exception as error:
            # A bug or a broken store: the agent must still be able to think.
            log.error("The search failed", agent=self._name, exc_info=error)
        return None

    def recall_blocking(
        self,
        text: str,
        *,
        purpose: RecallPurpose = RecallPurpose.BUILDER,
        seconds: float = BUILDER_SECONDS,
        limit: int = 0,
        unprompted: bool = False,
        seeks: bool = False,
        audience: Audience | None = NO_PRIVATE_WORDS,
        asker: Person | None = None,
    ) -> SearchResult | None:
        """Find what bears on ``text`` outside the window; blocks.

        Args:
            purpose: What the search is for; logged with it.
            limit: The maximum number of hits; 0 for what a prompt needs of each kind.
            unprompted: Whether ``text`` is a scene, as nobody asked: recent memories count more.
            seeks: Whether ``text`` wants an answer from the memory although it is no question.
            audience: Who may hear the results; None for a builder, who may see all.
            asker: Who said ``text``; None if nobody did.

        Returns:
            The results; None if no index could be searched.
        """
        config = self._services.recall_config
        search = self._memory_search
        index = self._index
        if search is None or index is None:
            return None
        began = self._services.seconds()
        before = self._memory.memory.context().shown_from(self._services.limits.shown_lines)
        ranked = max(config.memories, RANKED)
        most = zip(DocumentKind, (ranked, config.summaries, config.notes), strict=True)
        index.refresh()
        hits = search.search(
            text,
            limit=limit,
            kinds=None if limit else {kind: n + EXTRA_HITS for kind, n in most},
            before=before,
            unprompted=unprompted,
            seeks=seeks,
            seconds=seconds * VECTOR_SHARE,
            asker=asker,
            may=lambda document: audience is None or self._may_hear(document, audience),
        )
        took = self._services.seconds() - began
        self._log(text, purpose, hits, took, in_time=took <= seconds)
        if hits is None:
            return None
        if audience is None or not self._services.limits.shows_excerpts:
            return SearchResult(tuple(hits))
        return SearchResult(tuple(hits), self._around(index, hits, before, audience))

    def find_blocking(self, text: str, limit: int) -> list[Hit] | None:
        """Return what bears on ``text``, for people: the window too, private words too; blocks.

        Returns:
            At most ``limit`` memories, best first; None if no index could be searched.
        """
        if self._memory_search is None or self._index is None:
            return None
        self._index.refresh()
        return self._memory_search.search(
            text,
            kinds={DocumentKind.MEMORY: limit},
            seconds=BUILDER_SECONDS * VECTOR_SHARE,
        )

    def _may_hear(self, document: Document, audience: Audience) -> bool:
        """Whether an audience may hear a document. Summaries hold no private words."""
        if document.kind is not DocumentKind.MEMORY:
            return True
        return self._memory.private.may_hear([document.first], audience)

    def _log(
        self,
        text: str,
        purpose: RecallPurpose,
        hits: Sequence[Hit] | None,
        took: float,
        *,
        in_time: bool,
    ) -> None:
        """Log a search. ``took``: Seconds."""
        self._services.events.emit(
            Recall(
                agent=self._name,
                by=purpose,
                question=text,
                searched=hits is not None and in_time,
                found=len(hits or ()),
                best=round(max((hit.score for hit in hits or ()), default=0.0), 4),
                seconds=round(took, 6),
            )
        )

    def _around(
        self, index: AgentIndex, hits: Sequence[Hit], before: int | None, audience: Audience
    ) -> tuple[Memory, ...]:
        """Return the memories that bear on the query, and those beside them, for excerpts of talks.

        ``before``: The number of the first memory of the window, which the prompt shows anyway.
        """
        bearing = (h for h in hits if h.bears and h.document.kind is DocumentKind.MEMORY)
        found = {hit.document.first: hit.document for hit in bearing}
        best = islice(found, self._services.recall.current.memories)
        beside = {number + step for number in best for step in _BESIDE}
        beside |= {n + 1 for n in found if n + 2 in found}  # between two that were found
        with suppress(IndexUnavailable):
            new = (n for n in beside.difference(found) if 0 < n < (before or math.inf))
            found |= index.words.read(new)
        return self._memory.private.heard_by((each.memory() for each in found.values()), audience)

    def forget(self) -> None:
        """Close the index of an agent that is gone. Its files stay."""
        if self._index is not None and self._services.indexes is not None:
            self._index = self._memory_search = None
            self._services.indexes.forget(self._folder.name)
