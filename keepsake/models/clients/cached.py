"""What was embedded once is not embedded again, whoever asks and for what.

A line that is said is a question of whoever answers it, what its hearers weigh as they speak of it,
and in the end a memory of each of them: one text, if each embeds its bare words.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol

from keepsake.ports import Embedder

type Vectors = Mapping[str, array[float]]

MOST_KEPT = 32_768
"""A hundred for each of three hundred agents who talk: 57 MB at 384 numbers each."""
WHOLE_BATCH = 32
"""Who asks later for so many makes an index anew: they are asked for once, and would push out what
is asked for again and again."""


class ClosableEmbedder(Embedder, Protocol):
    """An embedder with something to let go of."""

    def close(self) -> None:
        """Let go of it."""
        ...


class AskedLater:
    """An embedder as an index asks it: after all that somebody waits for.

    Args:
        embedder: Whose model it is.
        embed: How it is asked for what nobody waits for.
    """

    def __init__(
        self, embedder: Embedder, embed: Callable[[Sequence[str]], Sequence[Sequence[float]]]
    ) -> None:
        self._embedder, self.embed = embedder, embed

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self._embedder.model_name


class CachedEmbedder:
    """An embedder that keeps the vectors it gave last, in single precision. Safe in any thread.

    Attributes:
        later: The same for what nobody waits for.
    """

    def __init__(self, embedder: ClosableEmbedder, most: int = MOST_KEPT) -> None:
        self.later: Embedder = AskedLater(self, self.embed_later)
        self._embedder, self._most = embedder, most
        self._unhurried: Embedder = getattr(embedder, "later", embedder)
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
        mine = Future[Vectors]()
        with self._lock:
            known = self._known(texts)
            waited = {text: self._asked[text] for text in texts if text in self._asked}
            new = [t for t in dict.fromkeys(texts) if t not in known and t not in waited]
            self._asked |= dict.fromkeys(new, mine)
        made = dict(self._embedded(new, mine)) if new else {}
        made |= {text: asked.result()[text] for text, asked in waited.items()}
        together = _together(texts, known, made)
        return self.embed(texts) if together is None else together

    def embed_later(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """The same for what nobody waits for: no question waits for it either."""
        with self._lock:
            known = self._known(texts)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made: Vectors = _rows(new, self._unhurried.embed(new)) if new else {}
        self._keep(made, most=0 if len(texts) >= WHOLE_BATCH else math.inf)
        together = _together(texts, known, made)
        return self.embed_later(texts) if together is None else together

    def close(self) -> None:
        """Close the embedder."""
        self._embedder.close()

    def _known(self, texts: Sequence[str]) -> Vectors:
        """Those that are kept; call under the lock."""
        found = {text: self._kept[text] for text in texts if text in self._kept}
        for text in found:
            self._kept.move_to_end(text)
        return found

    def _embedded(self, texts: Sequence[str], mine: Future[Vectors]) -> Vectors:
        try:
            found = _rows(texts, self._embedder.embed(texts))
            self._keep(found)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(found)
            return found
        finally:
            with self._lock:
                for text in texts:
                    del self._asked[text]

    def _keep(self, made: Vectors, most: float = math.inf) -> None:
        """Keep them if they are not more than ``most``, and no other model's beside them."""
        with self._lock:
            if not _alike(self._kept, made):
                self._kept.clear()
            if len(made) <= most:
                self._kept |= made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


def _rows(texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> Vectors:
    return {text: array("f", vector) for text, vector in zip(texts, vectors, strict=True)}


def _together(texts: Sequence[str], known: Vectors, made: Vectors) -> list[Sequence[float]] | None:
    """The vectors in order; None if some are of another model by the same name."""
    rows: list[Sequence[float]] = [(made.get(t) or known[t]) for t in texts]
    return rows if len({len(each) for each in rows}) < 2 else None


def _alike(some: Vectors, others: Vectors) -> bool:
    """Whether both are of one dimension, each being so."""
    return len({len(next(iter(each.values()))) for each in (some, others) if each}) < 2
