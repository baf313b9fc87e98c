"""One question, asked by many at once, is embedded once.

Ten agents in a room hear one sentence, and all ten look for what they know of it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from game.mind.ports import Embedder

MOST_TEXTS = 4
"""What is longer is no question."""
MOST_KEPT = 256
"""Questions whose vectors are remembered: some 10 kB each."""


class ClosableEmbedder(Embedder, Protocol):
    """An embedder with something to let go of."""

    def close(self) -> None:
        """Let go of it."""
        ...


class SharedQuestions:
    """Remembers the vectors of the last questions. Safe to use from several threads.

    The texts of one request stay together, as vectors of a batch differ a little from those of
    each text alone.

    Attributes:
        later: What embeds where nobody waits.
    """

    def __init__(self, embedder: ClosableEmbedder) -> None:
        self.later: Embedder = getattr(embedder, "later", embedder)
        self._embedder = embedder
        self._lock = threading.Lock()
        self._asked: OrderedDict[tuple[str, ...], Future[list[list[float]]]] = OrderedDict()

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self._embedder.model_name

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text; blocks.

        Raises:
            ModelError: As the embedder does; the next one to ask tries again.
        """
        if len(texts) > MOST_TEXTS:
            return self._embedder.embed(texts)
        key = tuple(texts)
        with self._lock:
            known = self._asked.get(key)
            if known is None:
                mine = self._asked[key] = Future()
                while len(self._asked) > MOST_KEPT:
                    self._asked.popitem(last=False)
            else:
                self._asked.move_to_end(key)
        return known.result() if known is not None else self._embedded(key, mine)

    def _embedded(self, key: tuple[str, ...], mine: Future[list[list[float]]]) -> list[list[float]]:
        try:
            found = self._embedder.embed(key)
        except BaseException as error:
            with self._lock:
                self._asked.pop(key, None)
            mine.set_exception(error)
            raise
        mine.set_result(found)
        return found

    def close(self) -> None:
        """Close the embedder."""
        self._embedder.close()
