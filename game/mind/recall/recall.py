"""Recall: from a text to the memories, summaries and notes that answer it.

Words and meaning each bring candidates, :mod:`game.mind.recall.fusion` puts them in order.
When one of the two cannot be asked the other goes on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

from game.mind.errors import IndexUnavailable, KeepsakeError, ModelError
from game.mind.ports import Clock, Embedder
from game.mind.recall.documents import Document, DocumentKind, Hit, VectorIndex, WordIndex
from game.mind.recall.fusion import Candidates, Weights, rank
from game.mind.recall.query import Question, read

_POOL = 120
"""Candidates from each index; the neighbours of the best come on top."""
_SPREAD = 20
"""How many of each index's best bring their neighbours with them."""
_ASIDE = ThreadPoolExecutor(32, thread_name_prefix="recall")
"""Waits for embedder and vectors while the words are searched; threads start when needed."""


class Recall:
    """Searches what one agent has lived, summed up and written down.

    Args:
        words: Finds by words, and keeps the documents.
        vectors: Finds by meaning; None goes without.
        embedder: Embeds the question; None goes without.
        names: The people and places that the agent knows, asked at each search.
        clock: Tells the present time.
        weights: What each sign is worth.
        complain: Called once when an index or the embedder begins to fail, and again only
            after it has worked in between.
    """

    def __init__(
        self,
        words: WordIndex,
        vectors: VectorIndex | None,
        embedder: Embedder | None,
        *,
        names: Callable[[], Collection[str]],
        clock: Clock,
        weights: Weights = Weights(),  # noqa: B008 - frozen
        complain: Callable[[KeepsakeError], None] | None = None,
    ) -> None:
        self._words, self._vectors, self._embedder = words, vectors, embedder
        self._names, self._clock, self._weights = names, clock, weights
        self._complain = complain
        self._failing: set[str] = set()

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Collection[DocumentKind] = (),
        before: int | None = None,
        scene: bool = False,
    ) -> list[Hit] | None:
        """The best hits for ``text``; blocks (embedding, index), for worker threads only.

        Args:
            text: A question, or what is going on.
            limit: The most hits.
            kinds: Which documents; none means all.
            before: Only documents whose last memory has a lower number than this; notes,
                which have none, always. What is visible in the window is left out so.
            scene: ``text`` is a scene, not a question: what is recent counts more.

        Returns:
            Best first, ``[]`` if nothing was found, None if nobody could be asked.
        """
        now = self._clock.now()
        question = read(text, self._names(), now)
        asked = _ASIDE.submit(self._by_meaning, question, kinds)
        by_words = self._by_words(question, kinds)
        by_meaning = asked.result()
        if by_words is None and by_meaning is None:
            return None
        documents = self._documents((by_words or {}, by_meaning or {}), kinds)
        if documents is None:
            return None
        if before is not None:
            documents = {k: d for k, d in documents.items() if d.last < before}
        found = Candidates(documents, by_words, by_meaning)
        return rank(question, found, now, limit=limit, scene=scene, weights=self._weights)

    def _by_words(
        self, question: Question, kinds: Collection[DocumentKind]
    ) -> dict[str, float] | None:
        terms = question.forms() or question.names
        return self._attempt("words", lambda: dict(self._words.search(terms, _POOL, kinds)))

    def _by_meaning(
        self, question: Question, kinds: Collection[DocumentKind]
    ) -> dict[str, float] | None:
        vectors, embedder = self._vectors, self._embedder
        if vectors is None or embedder is None:
            return None

        def ask() -> dict[str, float]:
            vector = embedder.embed([question.meaning])[0]
            return dict(vectors.query(vector, _POOL, kinds))

        return self._attempt("meaning", ask)

    def _documents(
        self, found: Iterable[dict[str, float]], kinds: Collection[DocumentKind]
    ) -> dict[str, Document] | None:
        """What was found, with the raw memories beside the best of it."""
        keys = {key for scores in found for key in scores}
        if not kinds or DocumentKind.MEMORY in kinds:
            keys |= {key for scores in found for key in _beside(list(scores)[:_SPREAD])}
        return self._attempt("documents", lambda: dict(self._words.get(keys)))

    def _attempt[T](self, name: str, ask: Callable[[], T]) -> T | None:
        """What ``ask`` gives, None if it fails; the first failure in a row is told."""
        try:
            result = ask()
        except (IndexUnavailable, ModelError) as error:
            if name not in self._failing and self._complain is not None:
                self._complain(error)
            self._failing.add(name)
            return None
        self._failing.discard(name)
        return result


def _beside(keys: Iterable[str]) -> Iterable[str]:
    """The keys of the raw memories before and after those among ``keys``."""
    for key in keys:
        kind, _, number = key.partition(":")
        if kind == DocumentKind.MEMORY and number.isdecimal():
            yield from (f"{kind}:{int(number) + step}" for step in (-1, 1))
