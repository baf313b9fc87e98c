"""Recall: from a text to the memories, summaries and notes that answer it.

Words and meaning each bring candidates, :mod:`keepsake.recall.fusion` puts them in order.
When meaning cannot be asked, words go on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add

from keepsake.errors import IndexUnavailable, KeepsakeError, ModelError
from keepsake.ports import Clock, Embedder
from keepsake.recall.documents import Document, DocumentKind, Hit, Vectors, Words
from keepsake.recall.fusion import Candidates, Weights, rank
from keepsake.recall.query import RecallQuery, read

_POOL = 120
"""Candidates from each index; the neighbours of the best come on top."""
_RARE_POOL = 30
"""The same where no raw memories are wanted: summaries and notes are few, and long to read."""
_NEAREST = 240
"""So many are asked of the vectors, which do not know what stands in the window."""
_SPREAD = 20
"""How many of each index's best bring their neighbours with them."""
_ASIDE = ThreadPoolExecutor(32, thread_name_prefix="recall")
"""Asks embedder and vectors while the words are searched; threads start when needed."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What one of several searches is to bring."""

    limit: int
    kind: DocumentKind | None = None  # None for all

    @property
    def pool(self) -> int:
        """How many candidates each index is asked for."""
        rare = self.kind not in (None, DocumentKind.MEMORY)
        return max(_RARE_POOL if rare else _POOL, self.limit)


class MemorySearch:
    """Searches what one agent has experienced, summed up and written down.

    Without ``vectors`` or ``embedder`` it goes by words. ``complain`` is called once when one of
    them begins to fail, and again only after it has worked in between.
    """

    def __init__(
        self,
        words: Words,
        vectors: Vectors | None,
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

    def search(self, text: str, *, limit: int = 10, asker: str = "") -> list[Hit] | None:
        """The best hits of all kinds for ``text``; see :meth:`search_each`."""
        found = self.search_each(text, [SearchRequest(limit)], asker=asker)
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
        """Several searches for one text, each with its own order; blocks, for worker threads.

        Args:
            text: What is asked. It is read and embedded once.
            wanted: The searches.
            before: Only documents whose last memory comes before that number, so that what is
                visible in the window is left out; notes always.
            scene: Whether what is recent counts more.
            seconds: How long meaning may take; then words go on alone.
            asker: Who says ``text``, by name.
            may: Says which documents may be found.

        Returns:
            The hits of each, best first, in the order of ``wanted``; None if nothing can be asked.
        """
        now = self._clock.now()
        question = read(text, self._names(), now, asker)
        # A scene is many words: twice would take twice as long.
        views = question.meaning if scene else question.meaning + question.nameless
        asked = _ASIDE.submit(self._near, views)
        by_words = self._attempt("words", lambda: self._by_words(question, wanted, before))
        near = self._attempt("meaning", lambda: _in_time(asked, seconds))
        if by_words is None:
            return None
        known = {each.key: each for found in by_words for each, _ in found}
        parts = [_part(near or (), each, before) for each in wanted]
        scores = [{document.key: score for document, score in found} for found in by_words]
        pools = [
            _around(own, each) | _around(part, each)
            for own, part, each in zip(scores, parts, wanted, strict=True)
        ]
        if question.asker and near is None:
            # Their own lines need share no word with it, and nothing else would find them.
            told = self._words.search((question.asker,), _POOL, DocumentKind.MEMORY, before)
            known |= {each.key: each for each, _ in told}
            for keys, each in zip(pools, wanted, strict=True):
                keys.update(d.key for d, _ in told if each.kind in (None, d.kind))
        more = {key for keys in pools for key in keys} - known.keys()
        known |= self._attempt("words", lambda: self._words.get(more)) or {}
        kept = {k: d for k, d in known.items() if (not before or d.last < before) and may(d)}
        return [
            rank(
                question,
                # In order, as sums of floats depend on it and a set's order on the process.
                Candidates(
                    {key: kept[key] for key in sorted(keys) if key in kept},
                    own,
                    None if near is None else part,
                ),
                now,
                limit=each.limit,
                scene=scene,
                weights=self._weights,
                agent=self._agent,
            )
            for keys, own, part, each in zip(pools, scores, parts, wanted, strict=True)
        ]

    def _by_words(
        self, question: RecallQuery, wanted: Sequence[SearchRequest], before: int | None
    ) -> list[list[tuple[Document, float]]]:
        terms = question.terms or question.names
        return [self._words.search(terms, each.pool, each.kind, before) for each in wanted]

    def _near(self, views: Sequence[str]) -> list[tuple[str, float]] | None:
        """What is nearest to the mean of the vectors of one question's ``views``."""
        if self._vectors is None or self._embedder is None:
            return None
        vectors = self._embedder.embed(views)
        mean = reduce(lambda one, other: [*map(add, one, other)], vectors)
        return self._vectors.query(mean, _NEAREST)

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


def _in_time[T](asked: Future[T], seconds: float | None) -> T:
    """What was asked for aside.

    Raises:
        IndexUnavailable: It does not come in time.
    """
    try:
        return asked.result(seconds)
    except TimeoutError:
        asked.cancel()  # if it has not even begun, nobody needs it any more
        raise IndexUnavailable(
            f"Embedder and vectors did not answer within {seconds:.2f} seconds",
            "Recall goes on with words; see `keepsake doctor`",
        ) from None


def _part(
    near: Iterable[tuple[str, float]], wanted: SearchRequest, before: int | None
) -> dict[str, float]:
    """What of the nearest one search asks for, best first."""
    kinds = {"memory": DocumentKind.MEMORY, "summary": DocumentKind.SUMMARY}
    found = (
        (key, score)
        for key, score in near
        if (kind := key.partition(":"))
        and wanted.kind in (None, kinds.get(kind[0], DocumentKind.NOTE))
        and not (before and kind[0] == "memory" and int(kind[2]) >= before)
    )
    return dict(islice(found, wanted.pool))


def _around(scores: Mapping[str, float], wanted: SearchRequest) -> set[str]:
    """What was found, with the keys of the raw memories beside the best of it."""
    keys = set(scores)
    for key in islice(scores, _SPREAD) if wanted.kind in (None, DocumentKind.MEMORY) else ():
        kind, _, number = key.partition(":")
        if kind == DocumentKind.MEMORY and number.isdecimal():
            keys |= {f"{kind}:{int(number) + step}" for step in (-1, 1)}
    return keys
