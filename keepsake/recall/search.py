"""Recall: finds the memories, summaries and notes that answer a text.

Search by words and search by meaning find candidates, :mod:`keepsake.recall.ranking` ranks them. If
search by meaning fails, recall uses words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from itertools import islice
from math import inf
from operator import add

from keepsake.errors import IndexUnavailable, KeepsakeError, ModelError
from keepsake.happening import Person
from keepsake.language.languages import language_of
from keepsake.language.questions import usual_questions
from keepsake.ports import Clock, Embedder, as_word_embedder, likens_questions
from keepsake.recall.comparing import NOTHING_ASKED, Asked, beside_memories, shown_from
from keepsake.recall.documents import Document, DocumentKind, Hit, split_key
from keepsake.recall.foreign_words import scores_in_own_language
from keepsake.recall.index.rows import row_of
from keepsake.recall.index.words import WordIndex
from keepsake.recall.query import RecallQuery, query_of, terms_of
from keepsake.recall.ranking.needs import need
from keepsake.recall.ranking.rank import rank
from keepsake.recall.stores import Nearest, Vectors

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


class MemorySearch:
    """Searches the memories, summaries and notes of one agent.

    Without ``vectors`` or ``embedder`` it searches by words alone. A hit *bears* on the text if it
    is relevant enough to be shown.

    Args:
        names: Returns the names of people and places, which a query may have.
        complain: Called once when words or meaning begin to fail, and again only after they have
            worked in between.
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
        unprompted: bool = False,
        wants_answer: bool = False,
        only_usable: bool = False,
        several_talks: bool = False,
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
            unprompted: Whether ``text`` is a scene, as nobody asked: recent memories score higher.
            wants_answer: Whether ``text`` wants an answer although it is no question.
            only_usable: Whether of the memories only those bear that an answer in a talk can use.
            several_talks: Whether all that is found bears if the answer stands in several talks.
            seconds: How long to wait for the search by meaning once the search by words has ended;
                after that, words are used alone.
            asker: The person who says ``text``; None if that is not known.
            may: Whether a document may be found.

        Returns:
            The hits; None if the index cannot be searched.
        """
        now = self._clock.now().astimezone()  # a day begins at local midnight
        names = self._names()
        query = query_of(text, names, now, asker, unprompted=unprompted)
        if wants_answer:
            query = replace(query, asks=True)
        # Embedder and vectors work in another thread while this one searches by words.
        nearest = self._ask_vectors(query, is_said=asker is not None, unprompted=unprompted)
        by_words = self._unless_failing("words", lambda: self._search_words(query, kinds, before))
        by_meaning = self._unless_failing(
            "meaning", lambda: nearest.result(seconds) if nearest else None
        )
        if by_words is None:
            return None
        word_scores, worths = by_words
        nearest_passages, asked = by_meaning or ((), NOTHING_ASKED)
        judges = only_usable and asker is not None
        passages = _by_row(nearest_passages, before)
        likenesses = {row: max(found.values()) for row, found in passages.items()}
        rows = self._candidates(
            query, word_scores, likenesses, before, has_meaning=by_meaning is not None
        )
        known = self._unless_failing("words", lambda: self._words.documents_at(rows))
        if known is None:
            return None
        word_scores = scores_in_own_language(query, word_scores, known)
        best = set[int]()
        if not unprompted:
            best = _best(word_scores, likenesses, lambda row: row in known and may(known[row]))
        linked = self._linked(query, [known[row].text for row in sorted(best)], names, before)
        known |= (
            self._unless_failing("words", lambda: self._words.documents_at(linked - rows)) or {}
        )
        documents = {
            row: document
            for row, document in known.items()
            if (kinds is None or document.kind in kinds)
            and (not before or document.last < before)
            and may(document)
        }
        shown = self._unless_failing(
            "words", lambda: shown_from(self._words, before, text, may) if judges and before else ()
        )
        alike = self._unless_failing(
            "words",
            lambda: beside_memories(
                self._words, query, asked, worths, documents, shown=shown or ()
            ),
        )
        return rank(
            query,
            documents,
            word_scores,
            passages,
            now,
            worths=worths,
            linked=linked - best,
            alike=alike,
            limit=limit,
            kinds=kinds,
            unprompted=unprompted,
            agent=self._agent,
            asker=asker,
            only_usable=only_usable,
            several_talks=several_talks,
        )

    def _ask_vectors(
        self, query: RecallQuery, *, is_said: bool, unprompted: bool
    ) -> Future[tuple[Nearest, Asked]] | None:
        """Begin a search by meaning in another thread; None if there is nothing to search by.

        It also returns the words of a question, and of what is said, if the embedder makes vectors
        of words.

        ``is_said``: Whether somebody says the text.
        """
        vectors = self._vectors
        embedder = self._embedder
        if vectors is None or embedder is None:
            return None
        if query.times and not query.terms:  # it only names a time; its meaning is noise
            return None
        # A scene is long: a second version of it would take twice as long to embed.
        texts = query.meaning if unprompted else query.meaning + query.nameless

        def search() -> tuple[Nearest, Asked]:
            """Search near the sum of the vectors."""
            made = embedder.embed(texts)
            found = _sum(made)
            if likens_questions(embedder):
                # A scene embeds them, too: so they are ready before the first question.
                usual = embedder.embed(usual_questions(query.text))
                share = len(texts) / len(usual)
                if query.asks:
                    found = [a - share * b for a, b in zip(found, _sum(usual), strict=True)]
            by_words = as_word_embedder(embedder) if query.asks or is_said else None
            words = by_words.embed_words(texts[:1])[0] if by_words is not None else ()
            asked = Asked(words, need(made[0], embedder.model_name))
            return vectors.query(found, _POOL + _WINDOW), asked

        return _EXECUTOR.submit(search)

    def _search_words(
        self, query: RecallQuery, kinds: Mapping[DocumentKind, int] | None, before: int | None
    ) -> tuple[dict[int, float], dict[str, float]]:
        """Return the rows that share terms with a query, and what each term is worth."""
        pools: dict[DocumentKind | None, int] = {None: _POOL}
        if kinds is not None:
            pools = {kind: _POOL if kind is DocumentKind.MEMORY else _RARE_POOL for kind in kinds}
        beside = query.asking if query.asks else ()  # only a question is compared by its words
        return self._words.search(
            query.terms or query.names, pools, before, query.language, beside=beside
        )

    def _candidates(
        self,
        query: RecallQuery,
        word_scores: Mapping[int, float],
        likenesses: Mapping[int, float],
        before: int | None,
        *,
        has_meaning: bool,
    ) -> set[int]:
        """Return the rows to rank: those found, their neighbours, and what the query names."""
        spread = (*islice(word_scores, _SPREAD), *islice(likenesses, _SPREAD))
        rows = {row + step for row in spread if row > 0 for step in (-1, 1)}.union(
            word_scores, likenesses
        )
        if query.asker and not has_meaning:
            # The asker's lines may share no word with the question; only the name finds them.
            own, _ = self._words.search((query.asker.name,), {DocumentKind.MEMORY: _POOL}, before)
            rows.update(own)
        for span in query.times:
            rows.update(self._words.of_time(span, _POOL, before, query.asker))
        return rows

    def _linked(
        self, query: RecallQuery, best: Sequence[str], names: Collection[str], before: int | None
    ) -> set[int]:
        """Return rows about the people and things of the best texts: "her brother Edwin"."""
        text = " ".join(best)
        more_of = [word for word in terms_of(text, names) if word not in query.terms]
        language = language_of(text)
        found = self._unless_failing("words", lambda: self._words.rare(more_of, before, language))
        return found or set()

    def _unless_failing[T](self, name: str, ask: Callable[[], T]) -> T | None:
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


def _sum(vectors: Sequence[Sequence[float]]) -> Sequence[float]:
    return reduce(lambda a, b: [*map(add, a, b)], vectors)


def _by_row(nearest: Nearest, before: int | None) -> dict[int, dict[int, float]]:
    """Return the similarities of passages by their number, by the row of their document.

    Rows come best first, and are as many as a search ranks.

    Args:
        nearest: Keys and similarities of passages, best first.
        before: Only rows of memories before that number; None for all.
    """
    found = dict[int, dict[int, float]]()
    for key, like in nearest:
        whole, number = split_key(key)
        row = row_of(whole)
        if row < (before or inf) and (row in found or len(found) < _POOL):
            found.setdefault(row, {})[number] = like
    return found


def _best(
    word_scores: Mapping[int, float], likenesses: Mapping[int, float], may: Callable[[int], bool]
) -> set[int]:
    """Return the best row by words and the best by meaning, of those that may be found."""
    found = (next(filter(may, rows), 0) for rows in (word_scores, likenesses))
    return {row for row in found if row}
