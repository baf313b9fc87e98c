"""Recall: finds the memories, summaries and notes that answer a text.

Search by words and search by meaning find candidates, :mod:`keepsake.recall.fusion` ranks them.
If search by meaning fails, recall uses words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import islice
from math import inf
from operator import add
from typing import Protocol

from keepsake.errors import IndexUnavailable, KeepsakeError, ModelError
from keepsake.happening import Person
from keepsake.ports import Clock, Embedder
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.fusion import rank
from keepsake.recall.query import read, terms_of
from keepsake.recall.words import WordIndex, row_of

_POOL = 120
"""Candidates by words, and as many by meaning, whatever the limit; neighbours are added to them."""
_RARE_POOL = 30
"""The same for summaries and notes, which are few, and long to read."""
_WINDOW = 60
"""Extra results requested from the vectors, because some of them are already in the window."""
_SPREAD = 20
"""The number of best candidates, by words and by meaning, whose neighbours are added."""
_EXECUTOR = ThreadPoolExecutor(32, thread_name_prefix="recall")
"""Threads that call embedder and vectors during the search by words; they start when needed."""


class Vectors(Protocol):
    """Finds documents of one agent by meaning. Raises ``IndexUnavailable``."""

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return keys and cosine similarities of the nearest documents of all kinds, best first."""


class MemorySearch:
    """Searches the memories, summaries and notes of one agent.

    Without ``vectors`` or ``embedder`` it searches by words alone. ``complain`` is called once when
    words or meaning begin to fail, and again only after they have worked in between.
    """

    def __init__(
        self,
        words: WordIndex,
        vectors: Vectors | None,
        embedder: Embedder | None,
        *,
        names: Callable[[], Collection[str]],
        clock: Clock,
        agent: str = "",
        complain: Callable[[KeepsakeError], None] = lambda _: None,
    ) -> None:
        self._words = words
        self._vectors = vectors
        self._embedder = embedder
        self._names = names
        self._clock = clock
        self._complain = complain
        self._agent = agent
        self._failing: set[str] = set()

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Mapping[DocumentKind, int] | None = None,
        before: int | None = None,
        scene: bool = False,
        seconds: float | None = None,
        asker: Person | None = None,
        may: Callable[[Document], bool] = lambda _: True,
    ) -> list[Hit] | None:
        """Return what answers ``text``, best first; blocks, so call it in a worker thread.

        Args:
            text: The question or the scene.
            kinds: The most hits of each kind, in place of ``limit``; other kinds are not searched.
            before: Only documents whose last memory comes before that number, so that memories
                visible in the window are left out; notes are always searched.
            scene: Whether ``text`` is a scene, in which recent memories score higher.
            seconds: How long the search by meaning may take; after that, words are used alone.
            asker: The person who says ``text``; None if that is not known.
            may: Whether a document may be found.

        Returns:
            The hits; None if the index cannot be searched.
        """
        now = self._clock.now().astimezone()  # a day begins at local midnight
        names = self._names()
        question = read(text, names, now, asker, scene=scene)
        # A scene is long: a second version of it would take twice as long to embed.
        views = question.meaning if scene else question.meaning + question.nameless
        vectors = self._vectors
        embedder = self._embedder
        if question.times and not question.terms:  # it only names a time; its meaning is noise
            vectors = None
        asked = None
        if vectors and embedder:  # search near the mean of the vectors
            embed = embedder.embed
            nearest = vectors.query
            most = _POOL + _WINDOW
            asked = _EXECUTOR.submit(
                lambda: nearest(reduce(lambda a, b: [*map(add, a, b)], embed(views)), most)
            )
        pools: dict[DocumentKind | None, int] = {None: _POOL}
        if kinds is not None:
            pools = {kind: _POOL if kind is DocumentKind.MEMORY else _RARE_POOL for kind in kinds}
        terms = question.terms or question.names
        found = self._attempt("words", lambda: self._words.search(terms, pools, before))
        near = self._attempt("meaning", lambda: asked.result(seconds) if asked else None)
        if found is None:
            return None
        scored, worths = found
        older = ((n, like) for key, like in near or () if (n := row_of(key)) < (before or inf))
        meant = dict(islice(older, _POOL))
        spread = (*islice(scored, _SPREAD), *islice(meant, _SPREAD))
        rows = {row + step for row in spread if row > 0 for step in (-1, 1)}.union(scored, meant)
        if question.asker and near is None:
            # The asker's lines may share no word with the question; only the name finds them.
            own = self._words.search((question.asker.name,), {DocumentKind.MEMORY: _POOL}, before)
            rows.update(own[0])
        for span in question.times:
            rows.update(self._words.of_time(span, _POOL, before, question.asker))
        known = self._attempt("words", lambda: self._words.read(rows))
        if known is None:
            return None
        # Other lines may say more about people and things of the best ones: "her brother Edwin".
        ranked = () if scene else (scored, meant)
        best = {next((n for n in each if n in known and may(known[n])), 0) for each in ranked}
        best.discard(0)
        told = " ".join(known[row].text for row in sorted(best))
        more_of = [w for w in terms_of(told, names) if w not in question.terms]
        linked = self._attempt("words", lambda: self._words.rare(more_of, before)) or set()
        known |= self._attempt("words", lambda: self._words.read(linked - rows)) or {}
        documents = {
            row: document
            for row, document in known.items()
            if (kinds is None or document.kind in kinds)
            and (not before or document.last < before)
            and may(document)
        }
        return rank(
            question,
            documents,
            scored,
            meant,
            now,
            worths=worths,
            linked=linked - best,
            limit=limit,
            kinds=kinds,
            scene=scene,
            agent=self._agent,
        )

    def _attempt[T](self, name: str, ask: Callable[[], T]) -> T | None:
        """Return what ``ask`` returns, or None if it fails; report the first failure in a row."""
        try:
            result = ask()
        except (IndexUnavailable, ModelError, TimeoutError) as error:
            if isinstance(error, TimeoutError):
                told = "Embedder and vectors did not answer in time"
                error = IndexUnavailable(told, "Recall uses words alone; see `keepsake doctor`")
            if name not in self._failing:
                self._complain(error)
            self._failing.add(name)
            return None
        self._failing.discard(name)
        return result
