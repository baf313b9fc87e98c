"""An agent's recall in the game. Every search runs in a worker thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from keepsake.agent.agent_log import log
from keepsake.agent.body import Life
from keepsake.agent.happenings import searched
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import NOBODY, Audience, in_confidence, outward
from keepsake.archive.records import Memory
from keepsake.books.notes import NoteBook
from keepsake.errors import KeepsakeError
from keepsake.events.types import MemoryChange
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.related import SearchResult
from keepsake.recall.search import MemorySearch, SearchRequest

_KINDS = (DocumentKind.NOTE, DocumentKind.SUMMARY, DocumentKind.MEMORY)
"""In the order of the fields of :class:`keepsake.recall.related.SearchResult`."""
FOR_MEANING = 0.7
"""The part of the time that embedder and vectors may take; words are there sooner."""
LONGEST_WAIT = 10.0
"""Seconds that a builder waits for them."""
SPARE = 3
"""Found beyond what a prompt takes, since some of it may stand there already."""


class Recaller:
    """Searches what one agent has lived, summed up and noted."""

    def __init__(
        self,
        life: Life,
        notes: NoteBook,
        memory: MemoryComponent,
        services: Runtime,
    ) -> None:
        self._name, self._folder, self._find_names = life.name, life.folder, life.names
        self.notes, self._memory, self._services = notes, memory, services
        self._names: frozenset[str] = frozenset()
        self._index = self._opened_index()
        self._recall = self._over(self._index)

    # -- what another memory than ours does in its own way

    @property
    def context(self) -> tuple[str, ...] | None:
        """What stands in every prompt in place of summaries and books; None where those do."""
        return None

    @property
    def patience(self) -> float:
        """Seconds that a thought waits for a search; 0 for none at all."""
        config = self._services.recalling
        return config.patience if config.budget and self._recall is not None else 0.0

    def begin(self) -> None:
        """Open what is searched."""

    def saw(self, memory: Memory) -> None:
        """A memory was archived."""

    def close(self) -> None:
        """The agent is gone, or goes on under another name."""

    # -- searching

    async def search(
        self,
        text: str,
        *,
        by: str = "thought",
        before: int | None = None,
        scene: bool = False,
        seconds: float,
        audience: Audience = NOBODY,
        asker: str = "",
    ) -> SearchResult | None:
        """Search in a worker thread; None if there is nothing to search.

        ``by`` says for whom (:class:`keepsake.events.types.Recall`), ``before`` which memories the
        window does not show, ``audience`` who hears what comes of it, ``asker`` whose words they
        are. In a ``scene`` what is recent counts more.

        Raises:
            TimeoutError: It took longer than ``seconds``.
        """
        self.prepare()
        began = self._services.seconds()
        wanted = partial(self._found, text, before, scene=scene, seconds=seconds)
        what = partial(wanted, audience=audience, asker=asker)
        found: SearchResult | None = None
        try:
            found = await self._services.in_thread(what, seconds)
        finally:
            self._tell(by, text, None if found is None else found.hits, began, before)
        return found

    def find(
        self,
        text: str,
        *,
        by: str = "agent",
        before: int | None = None,
        scene: bool = False,
        seconds: float,
    ) -> SearchResult | None:
        """The same, for worker threads: blocks."""
        began = self._services.seconds()
        result = self._found(text, before, scene=scene, seconds=seconds)
        self._tell(by, text, None if result is None else result.hits, began, before)
        return result

    def _found(
        self,
        text: str,
        before: int | None,
        *,
        scene: bool,
        seconds: float,
        audience: Audience = NOBODY,
        asker: str = "",
    ) -> SearchResult | None:
        config, recall = self._services.recalling, self._recall
        if recall is None or self._index is None:
            return None
        self._index.refresh()
        most = (config.notes, config.summaries, config.memories)
        wanted = [
            SearchRequest(limit + SPARE, kind) for limit, kind in zip(most, _KINDS, strict=True)
        ]
        seconds *= FOR_MEANING
        private = self._memory.private
        confided = bool(audience) and self._services.people.current.in_confidence

        def may(document: Document) -> bool:
            # A summary is made of what anybody may hear; a note is of no memory.
            one = document.kind is DocumentKind.MEMORY and not confided
            return not one or private.may_hear(document.first, audience)

        found = recall.search_each(
            text, wanted, before=before, scene=scene, seconds=seconds, asker=asker, may=may
        )
        if found is None:
            return None
        around = self._around(found[-1], before, audience) if self._services.chat_tokens else ()
        notes, summaries, memories = map(tuple, found)
        return SearchResult(notes, summaries, memories, around)

    def _around(
        self, hits: Sequence[Hit], before: int | None, audience: Audience
    ) -> tuple[Memory, ...]:
        """The memories of hits with their neighbours, as far as the window does not show them."""
        end, read = before or math.inf, dict[int, Memory]()
        try:
            archive = self._memory.memory.archive
            for n in sorted(hit.document.first for hit in hits):
                if n - 1 not in read or n + 1 not in read:
                    read |= {each.number: each for each in archive.read(max(n - 1, 1), n + 1)}
        except (KeepsakeError, OSError, KeyError, ValueError):  # the lines of the index do
            return ()
        known = [read[n] for n in sorted(read) if n < end]
        confided = bool(audience) and self._services.people.current.in_confidence
        hidden = in_confidence if confided else outward
        return self._memory.private.heard_by(known, audience, hidden)

    def prepare(self) -> None:
        """Look up what a search needs of the world; on the reactor thread, before it."""
        self._names = self._find_names()

    def rank(self, text: str, limit: int) -> list[Hit] | None:
        """The best hits beyond the window with scores and reasons; blocks."""
        if self._recall is None or self._index is None:
            return None
        began, before = self._services.seconds(), self.window_starts_at()
        self._index.refresh()
        found = self._recall.search_each(
            text, [SearchRequest(limit)], before=before, seconds=LONGEST_WAIT
        )
        hits = None if found is None else found[0]
        self._tell("builder", text, hits, began, before)
        return hits

    def _tell(
        self, by: str, text: str, hits: Sequence[Hit] | None, began: float, before: int | None
    ) -> None:
        """Have the event log told of a search that began at ``began``; from any thread."""
        seconds = self._services.seconds() - began
        event = searched(self._name, by, text, hits, seconds=seconds, before=before)
        self._services.events.emit(event)

    def _made_anew(self, reason: str) -> None:
        by = "rules" if reason else "builder"
        self._services.events.emit(
            MemoryChange(agent=self._name, op="reindex", n=0, by=by, problem=reason)
        )

    def window_starts_at(self) -> int | None:
        """Number of the oldest memory that the prompt shows; None if there is none."""
        try:
            window = self._memory.context().window
        except KeepsakeError:  # the archive is not open yet; the memory itself says so
            return None
        return window[0].number if window else None

    # -- the index

    def forget(self) -> None:
        """The agent is gone: let go of its index, whose files stay."""
        if self._index is not None and self._services.indexes is not None:
            self._index = self._recall = None
            self._services.indexes.forget(self._folder.name)

    def _opened_index(self) -> AgentIndex | None:
        """The agent's index; None in a world without indexes."""
        if (indexes := self._services.indexes) is None:
            return None
        index = indexes.open(self._folder.name, self._folder / "archive", self.notes)
        index.on_anew = self._made_anew
        return index

    def _over(self, index: AgentIndex | None) -> MemorySearch | None:
        services = self._services
        if index is None:
            return None
        return MemorySearch(
            index,
            index.vectors,
            services.embedder,
            names=lambda: self._names,
            clock=services.clock,
            agent=self._name,
            complain=lambda problem: log(f"[Recall] {self._name}: {problem}"),
        )
