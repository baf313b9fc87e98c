"""The vectors of one agent's documents: made in the background, searched, made again if lost.

They are in a collection of their own. The index of words knows which documents wait for theirs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from keepsake.errors import BadAnswer, IndexUnavailable, ModelError, ModelFailed, ModelRejected
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import PROBE, Embedder, as_word_embedder, is_same_model
from keepsake.recall.documents import Document, passage_key, passages_in
from keepsake.recall.index.words import WordIndex
from keepsake.recall.ranking.word_vectors import signs
from keepsake.recall.stores import Collected, Nearest, VectorsSilent, VectorStore, VectorsUnusable

log = get_logger(Subsystem.INDEX)

VECTORS_BATCH = 64
"""Documents whose vectors are made and stored at once; between batches the thread pauses."""
MOST_SILENT = 3
"""Requests in a row that Chroma takes and does not answer, after which its store counts as broken.
In a damaged graph a search goes round for ever, while the server answers its health checks. Each
waits ten seconds, which no healthy search needs on any machine."""
_PROBE_KEPT = "probe"
"""The name under which the vector of :data:`PROBE` by the model of an index is stored."""
_DIGITS = 5
"""Decimals of the numbers of the stored vector."""


class StoreDamaged(IndexUnavailable):
    """Chroma cannot create a collection: its store is broken."""


class MeaningIndex:
    """Searches the documents of one agent by meaning.

    Any thread that may block can search; only one thread may call :meth:`embed`.

    Args:
        words: The documents.
        store: Stores the vectors; None for no vectors.
        embedder: Makes them.
        agent: The agent: the name of its folder.
        name: Its name, for the log.

    Attributes:
        closed: Whether :meth:`embed` is to end with the current batch.
    """

    def __init__(
        self,
        words: WordIndex,
        store: VectorStore | None,
        embedder: Embedder,
        *,
        agent: str,
        name: str,
    ) -> None:
        self.closed = False
        self._words = words
        self._store = store
        self._embedder = embedder
        self._agent = agent
        self._name = name
        self._loss = ""  # why the vectors must be rebuilt
        self.reset()

    def reset(self) -> None:
        """Begin anew, because the index of words does."""
        self._collection: Collected | None = None  # None until it is complete
        self._refused: set[int] = set()  # waiting documents that the embedder cannot embed
        self._silent = 0  # requests to the store in a row that got no answer

    @property
    def is_complete(self) -> bool:
        """Whether documents can be found by meaning now."""
        return self._collection is not None

    def query(self, vector: Sequence[float], limit: int) -> Nearest:
        """Return keys and cosine similarities of the nearest documents, best first.

        Raises:
            IndexUnavailable: The vectors are being made, or Chroma does not answer.
        """
        if self._collection is None:
            raise IndexUnavailable(
                "The vectors are being made", "Recall uses words alone until they are ready"
            )
        try:
            found = self._collection.query(vector, limit)
        except VectorsSilent:
            self._silent += 1
            raise
        except VectorsUnusable as problem:
            self._loss = problem.what
            self._collection = None
            raise
        self._silent = 0
        return found

    def embed(self, pause: Callable[[], object] = lambda: None) -> None:
        """Make the missing vectors; ``pause`` is called between batches.

        Raises:
            ModelError: The embedder does not answer.
            IndexUnavailable: The vectors cannot be used now; with :class:`StoreDamaged` their store
                is broken.
        """
        try:
            if self._silent >= MOST_SILENT:
                self._silent = 0
                self._collection = None
                raise StoreDamaged(f"it did not answer {MOST_SILENT} requests in a row")
            if self._store is not None and not self.closed:
                self._embed_waiting(self._store, pause)
        except (IndexUnavailable, ModelError) as error:
            self._silent += isinstance(error, VectorsSilent)
            if isinstance(error, VectorsUnusable):
                self._loss = error.what
                self._collection = None
            raise

    def _embed_waiting(self, store: VectorStore, pause: Callable[[], object]) -> None:
        vectors = self._collection or self._opened(store)
        while not self.closed and (waiting := self._next_waiting()):
            found = self._words.get(waiting)
            gone = waiting.keys() - found.keys()
            made = self._embedded([*found.values()])
            if not self._is_known(self._embedder.embed([PROBE])[0]):
                self._collection = None  # no search compares vectors of two models
                vectors = self._opened(store)
                continue  # now all documents wait
            # First what is no longer true, then the numbers of passages, then their vectors: after
            # a crash at any line the document still waits, and no vector is left unknown.
            passages = dict.fromkeys(gone, 0) | {each.key: len(own) for each, own in made}
            if surplus := _surplus(self._words.embeddings.passages(passages), passages):
                vectors.remove(surplus)
            self._words.embeddings.save_passages(passages)
            if made:
                vectors.add(made)
            self._words.embeddings.save_signs(self._signs([each for each, _ in made]))
            done = gone | {each.key for each, _ in made}
            self._refused |= {waiting[key] for key in waiting.keys() - done}
            self._words.embeddings.embedded([waiting[key] for key in done])
            pause()
        self._collection = None if self.closed else vectors

    def _next_waiting(self) -> dict[str, int]:
        """Return the next documents that wait for their vectors, without those refused before."""
        waiting = self._words.embeddings.waiting(VECTORS_BATCH + len(self._refused))
        left = [(key, each) for key, each in waiting.items() if each not in self._refused]
        return dict(left[:VECTORS_BATCH])

    def _embedded(
        self, documents: Sequence[Document], *, works: bool = False
    ) -> list[tuple[Document, Sequence[Sequence[float]]]]:
        """Embed the passages of documents, without documents that the embedder refuses.

        Those wait until a restart. One text at fault must not keep all others from being found by
        meaning: some models make no vector of some texts.

        ``works``: Whether the embedder is known to embed other texts.

        Raises:
            ModelError: The embedder embeds nothing now.
        """
        passages = [passages_in(each, self._agent) for each in documents]
        texts = [text for each in passages for text in each]
        try:
            vectors = iter(self._embedder.embed(texts) if texts else ())
            return [
                (document, [*islice(vectors, len(own))])
                for document, own in zip(documents, passages, strict=True)
            ]
        except (ModelRejected, ModelFailed, BadAnswer) as error:
            if not works:
                # A text that any embedder can embed, and that is in no cache.
                self._embedder.embed([f"Good day. It is {time.time_ns()}."])
            if len(documents) == 1:
                what = f"{documents[0].key} is not found by meaning: {error}"
                log.warning(what, agent=self._name, subsystem=Subsystem.EMBEDDING)
                return []
        middle = len(documents) // 2
        parts = documents[:middle], documents[middle:]
        return [each for part in parts for each in self._embedded(part, works=True)]

    def _signs(self, documents: Sequence[Document]) -> Mapping[str, bytes]:
        """Return the signs of the words of documents of one passage, by key."""
        by_words = as_word_embedder(self._embedder)
        if by_words is None:
            return {}
        passages = {each.key: passages_in(each, self._agent) for each in documents}
        short = {key: own[0] for key, own in passages.items() if len(own) == 1}
        found = by_words.embed_words([*short.values()])
        return dict.fromkeys(passages, b"") | dict(zip(short, map(signs, found), strict=True))

    def _opened(self, store: VectorStore) -> Collected:
        """Open the current model's collection; create one if it is missing or incomplete.

        Raises:
            ModelError: The embedder does not answer.
        """
        name = self._words.embeddings.collection
        reason = self._loss
        model = self._embedder.model_name
        probe = self._embedder.embed([PROBE])[0]
        try:
            vectors = store.open(name)
            counts = self._words.counts()
            lost = counts.vectors - vectors.count()
            if vectors.model != model:
                reason = f"they were made with {vectors.model}, and {model} is in use now"
            elif lost > 0:
                reason = f"Chroma has lost {lost} of them"
            elif not self._is_known(probe):
                reason = f"another model answers under the name {model} now"
            if not reason:
                if not self._words.kept(_PROBE_KEPT):  # an index of an earlier version
                    self._keep(probe)
                return vectors
        except VectorsUnusable as problem:
            reason = problem.what
        if name:
            log.info(f"rebuilding the vectors: {reason}", agent=self._name)
        try:
            vectors = store.create(self._agent, model, name)
        except VectorsUnusable as problem:
            raise StoreDamaged(problem.what, problem.cure) from problem
        self._words.embeddings.save(vectors.name)
        self._keep(probe)
        self._loss = ""
        return vectors

    def _is_known(self, probe: Sequence[float]) -> bool:
        """Whether a vector of :data:`PROBE` is that of the model that made the stored vectors."""
        kept = self._words.kept(_PROBE_KEPT)
        if not kept:
            return True
        before: list[float] = json.loads(kept)
        return is_same_model(before, probe)

    def _keep(self, probe: Sequence[float]) -> None:
        """Store the vector of :data:`PROBE` by the model that makes the stored vectors."""
        numbers = [round(number, _DIGITS) for number in probe]
        self._words.keep(_PROBE_KEPT, json.dumps(numbers))


def _surplus(before: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """Return the keys of passages that documents had and have no longer.

    Args:
        before: The numbers of passages by key; one if it is not there.
        now: The numbers of passages by key, 0 for a document that is gone.
    """
    return [
        passage_key(key, number)
        for key, count in now.items()
        for number in range(count, before.get(key, 1))
    ]
