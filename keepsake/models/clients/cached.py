"""What was embedded once is not embedded again, whoever asks and for what.

A line that is said is a question of whoever answers it, what its hearers weigh as they speak of it,
and in the end a memory of each of them: one text, if each embeds its bare words.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol

from keepsake.ports import Embedder

type Vectors = Mapping[str, array[float]]

MOST_KEPT = 32_768
"""A hundred for each of three hundred agents who talk: 57 MB at 384 numbers each."""
WHOLE_BATCH = 32
"""Who asks for so many makes an index anew: they are asked for once, and would push out what
is asked for again and again."""


class ClosableEmbedder(Embedder, Protocol):
    """An embedder with something to let go of."""

    def close(self) -> None:
        """Let go of it."""
        ...


class CachedEmbedder:
    """An embedder that keeps the vectors it gave last, in single precision. Safe in any thread."""

    def __init__(self, embedder: ClosableEmbedder, most: int = MOST_KEPT) -> None:
        self._embedder, self._most = embedder, most
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, array[float]] = OrderedDict()
        self._asked: dict[str, Future[Vectors]] = {}

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self._embedder.model_name

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector a text; blocks.

        Raises:
            ModelError: As the embedder does; the next one to ask tries again.
        """
        large, mine = len(texts) >= WHOLE_BATCH, Future[Vectors]()
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
            waited = {t: self._asked[t] for t in texts if t in self._asked and not large}
            new = [t for t in dict.fromkeys(texts) if t not in found and t not in waited]
            self._asked |= {} if large else dict.fromkeys(new, mine)
        found |= self._embedded(new, mine, keep=not large) if new else {}
        found |= {text: asked.result()[text] for text, asked in waited.items()}
        if len({len(vector) for vector in found.values()}) > 1:  # another model by the same name
            with self._lock:
                self._kept.clear()
            return self.embed(texts)
        return [found[text] for text in texts]

    def close(self) -> None:
        """Close the embedder."""
        self._embedder.close()

    def _embedded(self, texts: Sequence[str], mine: Future[Vectors], *, keep: bool) -> Vectors:
        """The vectors of texts that are not kept; those who wait for them get them as well."""
        try:
            vectors = self._embedder.embed(texts)
            made = {text: array("f", each) for text, each in zip(texts, vectors, strict=True)}
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(made)
            return made
        finally:
            with self._lock:
                for text in texts if keep else ():
                    del self._asked[text]
                if keep and mine.exception() is None:
                    self._kept |= made
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
