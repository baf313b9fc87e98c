"""Recall: from a text to the memories, summaries and notes that answer it.

Words and meaning each bring candidates, :mod:`keepsake.recall.fusion` puts them in order.
When one of the two cannot be asked the other goes on alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add

from keepsake.errors import IndexUnavailable, KeepsakeError, ModelError
from keepsake.ports import Clock, Embedder
from keepsake.recall.documents import Document, DocumentKind, Hit, VectorIndex, WordIndex
from keepsake.recall.fusion import Candidates, Weights, rank
from keepsake.recall.query import RecallQuery, read

_POOL = 120
"""Candidates from each index; the neighbours of the best come on top."""
_RARE_POOL = 30
"""The same where no raw memories are wanted: summaries and notes are few, and long to read."""
_SPREAD = 20
"""How many of each index's best bring their neighbours with them."""
_ASIDE = ThreadPoolExecutor(32, thread_name_prefix="recall")
"""Waits for the embedder while the words are searched; threads start when needed."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What one of several searches is to bring."""

    limit: int
    kinds: tuple[DocumentKind, ...] = ()

    @property
    def memories(self) -> bool:
        """Whether raw memories are among what is wanted."""
        return not self.kinds or DocumentKind.MEMORY in self.kinds

    @property
    def pool(self) -> int:
        """How many candidates each index is asked for."""
        return max(_POOL if self.memories else _RARE_POOL, self.limit)

    @property
    def pooled(self) -> tuple[int, tuple[DocumentKind, ...]]:
        """What each index is asked for."""
        return self.pool, self.kinds


class MemorySearch:
    """Searches what one agent has lived, summed up and written down.

    Without ``vectors`` or ``embedder`` it goes by words. ``complain`` is called once when one of
    them begins to fail, and again only after it has worked in between.
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
        agent: str = "",
        complain: Callable[[KeepsakeError], None] | None = None,
    ) -> None:
        self._words, self._vectors, self._embedder = words, vectors, embedder
        self._names, self._clock, self._weights = names, clock, weights
        self._complain, self._agent = complain, agent
        self._failing: set[str] = set()

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: Collection[DocumentKind] = (),
        before: int | None = None,
        scene: bool = False,
        asker: str = "",
    ) -> list[Hit] | None:
        """The best hits for ``text``; blocks (embedding, index), for worker threads only.

        Only documents whose last memory comes ``before`` that number, so that what is visible in
        the window is left out; notes always. In a ``scene`` what is recent counts more. ``asker``
        is who says ``text``, by name.

        Returns:
            Best first, ``[]`` if nothing was found, None if nobody could be asked.
        """
        found = self.search_each(
            text, [SearchRequest(limit, tuple(kinds))], before=before, scene=scene, asker=asker
        )
        return None if found is None else found[0]

    def search_each(
        self,
        text: str,
        wanted: Sequence[SearchRequest],
        *,
        before: int | None = None,
        scene: bool = False,
        seconds: float | None = None,
        asker: str = "",
        may: Callable[[Document], bool] = lambda _: True,
    ) -> list[list[Hit]] | None:
        """Several searches for one text, each with its own order; see :meth:`search`.

        The text is read and embedded once. What the words bring is fetched while the embedder
        is waited for, at most ``seconds``; then words go on alone. The vectors are searched in
        this thread: beside the words the two would only take the interpreter from each other.
        Only what ``may`` be found is.

        Returns:
            The hits of each, in the order of ``wanted``; None if one could not be asked.
        """
        now = self._clock.now()
        question = read(text, self._names(), now, asker)
        # A scene is many words: twice would take twice as long.
        views = question.meaning if scene else question.meaning + question.nameless
        embedding = _ASIDE.submit(self._embedded, views)
        worded = self._by_words(question, wanted)
        # One look for the documents of all, while the embedder is waited for.
        documents = self._documents({key for _, keys in worded or () for key in keys})
        near = self._by_meaning(self._in_time(embedding, seconds), wanted)
        around = [_around(scores or {}, each) for scores, each in zip(near, wanted, strict=True)]
        more = self._documents({key for keys in around for key in keys}.difference(documents or ()))
        if more is None:
            return None
        last = math.inf if before is None else before
        known = (documents or {}) | more
        kept = {k: d for k, d in known.items() if d.last < last and may(d)}
        results: list[list[Hit]] = []
        for place, each in enumerate(wanted):
            scores, keys = worded[place] if worded and documents is not None else (None, set())
            if scores is None and near[place] is None:
                return None
            # In order, as sums of floats depend on it and a set's order on the process.
            own = {key: kept[key] for key in sorted(keys | around[place]) if key in kept}
            ranked = rank(
                question,
                Candidates(own, scores, near[place]),
                now,
                limit=each.limit,
                scene=scene,
                weights=self._weights,
                agent=self._agent,
            )
            results.append(ranked)
        return results

    def _by_words(
        self, question: RecallQuery, wanted: Sequence[SearchRequest]
    ) -> list[tuple[dict[str, float], set[str]]] | None:
        """The scores of what was found by words, and the keys of it and of its neighbours."""
        terms = question.terms or question.names
        found = self._search(terms, wanted)
        if found is None:
            return None
        keys = [_around(scores, each) for scores, each in zip(found, wanted, strict=True)]
        if question.asker and (self._vectors is None or self._embedder is None):
            # Their own lines need share no word with it, and nothing else would find them.
            told = self._search((question.asker,), wanted) or [{}] * len(wanted)
            for own, theirs, each in zip(keys, told, wanted, strict=True):
                own.update(theirs if each.memories else ())
        return list(zip(found, keys, strict=True))

    def _search(
        self, terms: Sequence[str], wanted: Sequence[SearchRequest]
    ) -> list[dict[str, float]] | None:
        def ask() -> list[dict[str, float]]:
            return [*map(dict, self._words.search_each(terms, [each.pooled for each in wanted]))]

        return self._attempt("words", ask)

    def _embedded(self, views: Sequence[str]) -> Sequence[float] | None:
        """What points where the mean of the vectors of one question's ``views`` does."""
        embedder = self._embedder
        if self._vectors is None or embedder is None:
            return None

        def ask() -> Sequence[float]:
            return reduce(lambda one, other: [*map(add, one, other)], embedder.embed(views))

        return self._attempt("embedder", ask)

    def _by_meaning(
        self, vector: Sequence[float] | None, wanted: Sequence[SearchRequest]
    ) -> Sequence[dict[str, float] | None]:
        """How like the ``vector`` of a question is what is nearest."""
        vectors = self._vectors
        if vectors is None or vector is None:
            return [None] * len(wanted)

        def ask() -> list[dict[str, float] | None]:
            return [*map(dict, vectors.query_each(vector, [each.pooled for each in wanted]))]

        return self._attempt("vectors", ask) or [None] * len(wanted)

    def _in_time[T](self, asked: Future[T], seconds: float | None) -> T | None:
        """What was asked for aside; None if it does not come in time."""

        def ask() -> T:
            try:
                return asked.result(seconds)
            except TimeoutError:
                asked.cancel()  # if it has not even begun, nobody needs it any more
                raise IndexUnavailable(
                    f"The embedder did not answer within {seconds:.2f} seconds",
                    "Recall goes on with words; see `keepsake doctor`",
                ) from None

        return self._attempt("time", ask)

    def _documents(self, keys: Collection[str]) -> dict[str, Document] | None:
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


def _around(scores: Mapping[str, float], wanted: SearchRequest) -> set[str]:
    """What was found, with the keys of the raw memories beside the best of it."""
    keys = set(scores)
    for key in islice(scores, _SPREAD) if wanted.memories else ():
        kind, _, number = key.partition(":")
        if kind == DocumentKind.MEMORY and number.isdecimal():
            keys |= {f"{kind}:{int(number) + step}" for step in (-1, 1)}
    return keys
