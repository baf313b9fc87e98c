"""Recall for one agent in the game. Every search runs in a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from twisted.internet.defer import TimeoutError

from keepsake.agent.body import AgentRef
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.search_results import wanted_for
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.books.notes import NoteBook
from keepsake.events.types import MemoryChange, Recall
from keepsake.events.values import Author, MemoryOp, RecallPurpose
from keepsake.happening import Person
from keepsake.logs import Subsystem, get_logger
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.documents import Hit
from keepsake.recall.finding import Finder, SearchResult
from keepsake.recall.stores import Vectors

log = get_logger(Subsystem.RECALL)

BUILDER_SECONDS = 10.0
"""Seconds that a builder's search may take."""
FIRST_SECONDS = 4.0
"""Seconds that a thought waits for its agent's first search after a start, which may have to load
the embedding model and open the index. A player who asked before a reload waits for an answer then;
an answer takes a model several times as long."""


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
        self._finder: Finder | None = None
        # whether a search for a thought has ended, or was given up, since the start
        self._has_searched = False
        if services.indexes is not None:
            self._index = services.indexes.open(
                ref.folder.name, ref.folder / "archive", notes, name=ref.name
            )
            change = partial(MemoryChange, agent=ref.name, op=MemoryOp.REINDEX, n=0)
            self._index.on_rebuild = lambda reason: services.events.emit(
                change(by=Author.RULES if reason else Author.BUILDER, problem=reason)
            )
            self._finder = Finder(
                ref.name,
                self._index,
                services.embedder,
                names=lambda: self._names,
                private=lambda: memory.private,
                clock=services.clock,
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
        wants_answer: bool = False,
        audience: Audience = NO_PRIVATE_WORDS,
        asker: Person | None = None,
        holds_private: bool = False,
    ) -> SearchResult | None:
        """Run :meth:`recall_blocking` in a worker thread, with the time limit of a thought.

        Returns:
            The results; None without an index, without a budget for recall, or after a timeout or
            an error, because the agent must still be able to think.
        """
        config = self._services.recall_config
        if self._finder is None or not config.budget:
            return None
        self._names = self._find_names()
        wait = config.patience
        if not self._has_searched:
            wait = max(wait, FIRST_SECONDS)
        search = partial(
            self.recall_blocking,
            text,
            purpose=purpose,
            seconds=wait,
            unprompted=unprompted,
            wants_answer=wants_answer,
            audience=audience,
            asker=asker,
            holds_private=holds_private,
        )
        try:
            found = await self._services.in_thread(search, wait)
            self._has_searched = True
            return found
        except TimeoutError:
            log.info("The search took too long; the thought goes on without it", agent=self._name)
        except Exception as error:
            # A bug or a broken store: the agent must still be able to think.
            log.error("The search failed", agent=self._name, exc_info=error)
        self._has_searched = True  # a store or an embedder that hangs costs one thought, not each
        return None

    def recall_blocking(
        self,
        text: str,
        *,
        purpose: RecallPurpose = RecallPurpose.BUILDER,
        seconds: float = BUILDER_SECONDS,
        limit: int = 0,
        unprompted: bool = False,
        wants_answer: bool = False,
        audience: Audience | None = NO_PRIVATE_WORDS,
        asker: Person | None = None,
        holds_private: bool = False,
    ) -> SearchResult | None:
        """Find what bears on ``text`` outside the window; blocks.

        Args:
            purpose: What the search is for; logged with it.
            limit: The maximum number of hits; 0 for what a prompt needs of each kind.
            unprompted: Whether ``text`` is a scene, as nobody asked: recent memories count more.
            wants_answer: Whether ``text`` wants an answer although it is no question.
            audience: Who may hear the results; None for a builder, who may see all.
            asker: Who said ``text``; None if nobody did.
            holds_private: Whether a model wrote ``text`` from private words; it is not logged then.

        Returns:
            The results; None if no index could be searched.
        """
        config = self._services.recall_config
        finder = self._finder
        if finder is None:
            return None
        context = self._memory.memory.context()
        began = self._services.seconds()
        wanted = replace(
            wanted_for(config, context, self._services.limits, seconds),
            unprompted=unprompted,
            wants_answer=wants_answer,
            only_usable=True,
        )
        found = finder.find(text, wanted, limit=limit, audience=audience, asker=asker)
        took = self._services.seconds() - began
        hits = None if found is None else found.hits
        said = "" if holds_private else text
        self._log(said, purpose, hits, took, in_time=took <= seconds)
        return found

    def find_blocking(self, text: str, limit: int) -> list[Hit] | None:
        """Return what bears on ``text``, for people: the window too, private words too; blocks.

        Returns:
            At most ``limit`` memories, best first; None if no index could be searched.
        """
        if self._finder is None:
            return None
        return self._finder.find_memories(text, limit, BUILDER_SECONDS)

    @property
    def vectors(self) -> Vectors | None:
        """What finds memories by their vectors alone; None if there is no index."""
        return self._index.vectors if self._index is not None else None

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

    def forget(self) -> None:
        """Close the index of an agent that is gone. Its files stay."""
        if self._index is not None and self._services.indexes is not None:
            self._index = None
            self._finder = None
            self._services.indexes.forget(self._folder.name)
