"""An agent's recall in the game. Every search runs in a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from twisted.internet.defer import TimeoutError

from keepsake.agent.agent_log import log
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.related import SearchResult, memory_of
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Life
from keepsake.archive.privacy import NOBODY, Audience
from keepsake.archive.records import Memory
from keepsake.books.notes import NoteBook
from keepsake.errors import IndexUnavailable, KeepsakeError
from keepsake.events.types import MemoryChange, Recall
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.search import MemorySearch

FOR_MEANING = 0.7
"""The part of the time that embedder and vectors may take; words are there sooner."""
LONGEST_WAIT = 10.0
"""Seconds that a builder waits for them."""
SPARE = 3
"""Found beyond what a prompt takes, since some of it may stand there already."""


class Recaller:
    """Searches what one agent has lived, summed up and noted."""

    def __init__(
        self, life: Life, notes: NoteBook, memory: MemoryComponent, services: Runtime
    ) -> None:
        self._name, self._folder, self._find_names = life.name, life.folder, life.names
        self.notes, self._memory, self._services = notes, memory, services
        self._names: frozenset[str] = frozenset()
        self._index: AgentIndex | None = None
        self._recall: MemorySearch | None = None
        if services.indexes is not None:
            self._index = services.indexes.open(life.folder.name, life.folder / "archive", notes)
            self._index.on_anew = self._made_anew
            self._recall = MemorySearch(
                self._index.words,
                self._index.vectors,
                services.embedder,
                names=lambda: self._names,
                clock=services.clock,
                agent=life.name,
                complain=lambda problem: log(f"[Recall] {life.name}: {problem}"),
            )

    @property
    def patience(self) -> float:
        """Seconds that a thought waits for a search; 0 for none at all."""
        config = self._services.recalling
        return config.patience if config.budget and self._recall is not None else 0.0

    # -- searching

    async def search(
        self,
        text: str,
        *,
        by: str = "thought",
        scene: bool = False,
        audience: Audience = NOBODY,
        asker: str = "",
    ) -> SearchResult | None:
        """Search in a worker thread, as long as a thought waits for that.

        Args:
            text: The question.
            by: For whom (:class:`keepsake.events.types.Recall`).
            scene: Whether what is recent counts more.
            audience: Who hears what comes of it.
            asker: Whose words they are.

        Returns:
            None if nothing could be searched, or not in time; whatever breaks in an index, the
            agent can still think.
        """
        if not (seconds := self.patience):
            return None
        self.prepare()
        began, before = self._services.seconds(), self.window_starts_at()
        found = partial(self._found, text, before, scene, seconds, audience, asker)
        result: SearchResult | None = None
        try:
            result = await self._services.in_thread(found, seconds)
        except TimeoutError:
            log(f"[Recall] {self._name}: no answer in time; the thought goes on without")
        except Exception as error:
            log(f"[Error] {self._name}: The search broke off: {error!r}")
        self._tell(by, text, None if result is None else result.hits, began, before)
        return result

    def find(self, text: str, *, by: str = "agent", seconds: float) -> SearchResult | None:
        """The same, for worker threads: blocks."""
        began, before = self._services.seconds(), self.window_starts_at()
        result = self._found(text, before, False, seconds, NOBODY, "")
        self._tell(by, text, None if result is None else result.hits, began, before)
        return result

    def _found(  # noqa: PLR0917 - each is another thing, and none can be left out
        self,
        text: str,
        before: int | None,
        scene: bool,
        seconds: float,
        audience: Audience,
        asker: str,
    ) -> SearchResult | None:
        """What bears on ``text``; ``before`` is the first memory of the window."""
        config, recall = self._services.recalling, self._recall
        if recall is None or self._index is None:
            return None
        self._index.refresh()
        private = self._memory.private

        def may(document: Document) -> bool:
            # A summary is made of what anybody may hear; a note is of no memory.
            kind, number = document.kind, document.first
            return kind is not DocumentKind.MEMORY or private.may_hear(number, audience)

        most = (config.memories, config.summaries, config.notes)
        hits = recall.search(
            text,
            kinds={kind: n + SPARE for kind, n in zip(DocumentKind, most, strict=True)},
            before=before,
            scene=scene,
            seconds=seconds * FOR_MEANING,
            asker=asker,
            may=may,
        )
        if hits is None:
            return None
        memories, summaries, notes = (
            tuple(hit for hit in hits if hit.document.kind is kind) for kind in DocumentKind
        )
        around: tuple[Memory, ...] = ()
        if self._services.chat_tokens:
            numbers = sorted({hit.document.first + n for hit in memories for n in (-1, 0, 1)})
            keys = (f"{DocumentKind.MEMORY}:{n}" for n in numbers if not before or n < before)
            with suppress(IndexUnavailable):
                near = self._index.words.get(keys).values()
                known = (memory_of(each, self._name) for each in near)
                around = private.heard_by(known, audience)
        return SearchResult(notes, summaries, memories, around)

    def prepare(self) -> None:
        """Look up what a search needs of the world; on the reactor thread, before it."""
        self._names = self._find_names()

    def rank(self, text: str, limit: int) -> list[Hit] | None:
        """The best hits beyond the window with scores and reasons; blocks."""
        if self._recall is None or self._index is None:
            return None
        began, before = self._services.seconds(), self.window_starts_at()
        self._index.refresh()
        hits = self._recall.search(text, limit=limit, before=before, seconds=LONGEST_WAIT)
        self._tell("builder", text, hits, began, before)
        return hits

    def _tell(
        self, by: str, text: str, hits: Sequence[Hit] | None, began: float, before: int | None
    ) -> None:
        """Have the event log told of a search that began at ``began``; from any thread."""
        event = Recall(
            agent=self._name,
            by=by,
            question=text,
            searched=hits is not None,
            found=len(hits or ()),
            best=round(max((hit.score for hit in hits or ()), default=0.0), 4),
            seconds=round(self._services.seconds() - began, 6),
            window_first=before or 0,
        )
        self._services.events.emit(event)

    def _made_anew(self, reason: str) -> None:
        by = "rules" if reason else "builder"
        self._services.events.emit(
            MemoryChange(agent=self._name, op="reindex", n=0, by=by, problem=reason)
        )

    def window_starts_at(self) -> int | None:
        """Number of the oldest memory that the prompt shows; None if there is none."""
        try:
            window = self._memory.shown().window
        except KeepsakeError:  # the archive is not open yet; the memory itself says so
            return None
        return window[0].number if window else None

    def forget(self) -> None:
        """The agent is gone: let go of its index, whose files stay."""
        if self._index is not None and self._services.indexes is not None:
            self._index = self._recall = None
            self._services.indexes.forget(self._folder.name)
