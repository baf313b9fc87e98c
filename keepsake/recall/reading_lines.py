"""Compares lines with what somebody typed, and finds those near it in the agents' indexes.

It is what *Where did it go?* reads lines by (:class:`keepsake.tracing.typed.reading.LineReader`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from keepsake.errors import IndexUnavailable, KeepsakeError
from keepsake.language.perception import stem
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Embedder, WordVector, as_word_embedder
from keepsake.recall.documents import split_key
from keepsake.recall.index.rows import row_of
from keepsake.recall.ranking.needs import MODEL
from keepsake.recall.stores import Vectors

_NEAREST = 40
"""How many documents of each agent are asked for: summaries and notes are among them."""
_COLON = ":"
_EXECUTOR = ThreadPoolExecutor(8, thread_name_prefix="near")

log = get_logger(Subsystem.RECALL)


class IndexReader:
    """Reads lines by the embedder of the agents' indexes.

    Args:
        embedder: Only the one from which the weights were learned compares lines.
        indexes: The vectors of each agent, by key.
    """

    def __init__(self, embedder: Embedder, indexes: Mapping[str, Vectors]) -> None:
        self._embedder = embedder
        self._indexes = indexes
        self._knows = embedder.model_name == MODEL

    def near(self, typed: str) -> Callable[[], Sequence[tuple[str, int]]]:
        """Begin to look for the memories that are nearest in meaning, in threads of its own.

        Returns:
            What waits for them: the best first, none if that is unknown.
        """
        if not self._knows:
            return tuple
        try:
            vector = self._embedder.embed([typed])[0]
        except KeepsakeError as error:
            log.warning("Lines near typed words are not looked for", problem=str(error))
            return tuple
        asked = _EXECUTOR.map(partial(_nearest, vector), self._indexes.items())

        def found() -> Sequence[tuple[str, int]]:
            best = sorted((each for of in asked for each in of), reverse=True)
            return [(key, number) for _, key, number in best]

        return found

    def compare(
        self, typed: str, words: Mapping[str, float], lines: Sequence[tuple[str, str]]
    ) -> ReadLines | None:
        """Compare lines with something typed; None if that cannot be done now.

        Args:
            typed: What was typed.
            words: Its telling words, stemmed, with what each weighs.
            lines: Of each line, who says it to whom, and what.
        """
        by_words = as_word_embedder(self._embedder) if self._knows else None
        if by_words is None:
            return None
        try:
            asked, *found = by_words.embed_words([typed, *(f"{who}{said}" for who, said in lines)])
        except KeepsakeError as error:
            log.warning("Lines are not compared with typed words", problem=str(error))
            return None
        return ReadLines(asked, words, found, [bool(who) for who, _ in lines])


class ReadLines:
    """Lines beside something typed.

    Args:
        asked: The words that were typed.
        weights: What each telling word weighs, by its stem.
        lines: The words of each line; a line may have none.
        heads: Whether each begins with who says it to whom, up to a colon.

    Attributes:
        meaning: How near each line is to it as a whole, a cosine.
        likeness: How like its telling words those of each line are, each word in its context.
    """

    def __init__(
        self,
        asked: Sequence[WordVector],
        weights: Mapping[str, float],
        lines: Sequence[Sequence[WordVector]],
        heads: Sequence[bool],
    ) -> None:
        import numpy as np  # noqa: PLC0415 - slow to import

        whole = _unit(np.mean([vector for _, vector in asked], axis=0, dtype="float32"))
        telling = [(weights[root], v) for word, v in asked if (root := stem(word)) in weights]
        telling = telling or [(1.0, vector) for _, vector in asked]
        weighed = np.array([weight for weight, _ in telling], np.float32)
        words = _units(np.array([vector for _, vector in telling], np.float32))
        self.meaning: list[float] = []
        self.likeness: list[float] = []
        said = []
        for line, head in zip(lines, heads, strict=True):
            vectors = np.array([v for _, v in line] or [0.0 * whole], np.float32)
            self.meaning.append(float(_unit(vectors.mean(axis=0)) @ whole))
            best = (words @ _units(vectors).T).max(axis=1)
            self.likeness.append(float(weighed @ best / (weighed.sum() or 1.0)))
            begins = [word for word, _ in line].index(_COLON) + 1 if head else 0
            said.append(_unit((vectors[begins:] if begins < len(line) else vectors).mean(axis=0)))
        self._said: Any = np.array(said, np.float32)

    def like(self, at: int) -> Sequence[float]:
        """Return how near what is said in each line is to what is said in one of them."""
        found: list[float] = (self._said @ self._said[at]).tolist()
        return found


def _nearest(
    vector: Sequence[float], index: tuple[str, Vectors]
) -> Sequence[tuple[float, str, int]]:
    """Return the memories of an agent that are nearest, each with its likeness; blocks."""
    key, vectors = index
    try:
        found = vectors.query(vector, _NEAREST)
    except IndexUnavailable:  # it is being made
        return ()
    rows = ((like, row_of(split_key(name)[0])) for name, like in found)
    return [(like, key, row) for like, row in rows if row > 0]


def _unit(vector: Any) -> Any:
    return vector / max(math.sqrt(float(vector @ vector)), 1e-9)


def _units(vectors: Any) -> Any:
    import numpy as np  # noqa: PLC0415 - slow to import

    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
