"""A conversation to be searched by itself, as public memory benchmarks have them.

It is searched by exactly the recall that the agents use, over indexes in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from game.index.local import ExactVectors
from game.index.words import Fts5Index
from game.mind.errors import KeepsakeError
from game.mind.language.times import moment
from game.mind.language.words import writable
from game.mind.ports import Embedder
from game.mind.recall.documents import Document, DocumentKind
from game.mind.recall.fusion import Weights
from game.mind.recall.recall import MemorySearch

_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)


class UnreadableTurns(KeepsakeError):
    """Turns or questions that are not of the shape that is documented."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One line of a conversation."""

    id: str  # the conversation's own name for it: ``D1:3``
    speaker: str  # who said it; may be empty
    # as the conversation writes it: ``1:56 pm on 8 May, 2023``, ISO 8601 …; one that cannot be read
    # counts as the time of the turn before
    time: str
    text: str  # what was said
    place: str = ""  # where; may be empty

    @classmethod
    def read(cls, data: object) -> ConversationTurn:
        """A turn from JSON.

        Raises:
            UnreadableTurns: It is no object, or a field is missing or no text.
        """
        if not isinstance(data, Mapping):
            raise UnreadableTurns(f"A turn is an object, not {data!r:.60}", _SHAPE)
        # What is null was left out, as many programs write it.
        fields = {"speaker": "", "time": "", "place": ""} | {
            name: data[name] for name in cls.__slots__ if data.get(name) is not None
        }
        for name in cls.__slots__:
            if not isinstance(fields.get(name), str):
                raise UnreadableTurns(f"The turn {data!r:.60} has no text in its {name!r}", _SHAPE)
        return cls(**{n: each if n == "id" else writable(each) for n, each in fields.items()})


_SHAPE = 'A turn looks like {"id": "D1:1", "speaker": "Ann", "time": "8 May 2023", "text": "…"}'


class Conversation:
    """Holds one conversation at a time and finds its turns. Not for several threads at once.

    Args:
        embedder: Embeds turns and questions; None searches by words alone.
        weights: What each sign is worth.
    """

    def __init__(self, embedder: Embedder | None, weights: Weights = Weights()) -> None:  # noqa: B008 - frozen
        self.embedder = embedder
        self._weights = weights
        self._ids: dict[str, str] = {}
        self._now = _NO_TIME
        self.names: set[str] = set()
        self._hold([], [])

    def now(self) -> datetime:
        """When the conversation ended: "last week" in a question is relative to it."""
        return self._now

    def ingest(self, turns: Sequence[ConversationTurn]) -> None:
        """Hold these turns instead of those before.

        Raises:
            UnreadableTurns: Two turns have one id.
            ModelError: They could not be embedded.
        """
        if len({turn.id for turn in turns}) < len(turns):
            raise UnreadableTurns("Two turns have the same id", "Give each its own")
        documents = _documents(turns)
        vectors = self.embedder.embed([turn.text for turn in turns]) if self.embedder else []
        self._hold(documents, vectors)
        self._ids = {d.key: turn.id for d, turn in zip(documents, turns, strict=True)}
        self._now = max((document.time for document in documents), default=_NO_TIME)
        self.names = {name for turn in turns for name in (turn.speaker, turn.place) if name}

    def query(self, text: str, limit: int) -> list[str]:
        """Ids of the turns that answer ``text``, best first.

        Raises:
            UnreadableTurns: Nobody could be asked.
        """
        hits = self.recall.search(text, limit=limit)
        if hits is None:
            raise UnreadableTurns("The turns could not be searched", "Ingest them again")
        return [self._ids[hit.document.key] for hit in hits]

    def id_of(self, key: str) -> str:
        """The conversation's own name for a document."""
        return self._ids[key]

    def _hold(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        words_there, vectors_there = Fts5Index(), ExactVectors()
        words_there.add(documents)
        if self.embedder is not None:
            vectors_there.add(documents, vectors)
        self.words, self.vectors = words_there, vectors_there
        self.recall = MemorySearch(
            self.words,
            self.vectors,
            self.embedder,
            names=lambda: self.names,
            clock=self,
            weights=self._weights,
        )


def _documents(turns: Sequence[ConversationTurn]) -> list[Document]:
    time, found = _NO_TIME, []
    for number, turn in enumerate(turns, 1):
        time = moment(turn.time, time) or time
        found.append(
            Document(
                key=f"{DocumentKind.MEMORY}:{number}",
                kind=DocumentKind.MEMORY,
                text=turn.text,
                time=time,
                first=number,
                last=number,
                speaker=turn.speaker,
                place=turn.place,
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class MarkedQuestion:
    """A question with the turns that answer it."""

    text: str
    evidence: frozenset[str]
    kind: str


def read_questions(data: Any, ids: Collection[str]) -> list[MarkedQuestion]:
    """Questions from JSON: ``{"text": …, "evidence": [ids], "kind": …}``.

    Raises:
        UnreadableTurns: They have another shape, or name a turn that is not there.
    """
    if not isinstance(data, list):
        raise UnreadableTurns("There is no list of questions", _ASKED)
    return [_marked(each, ids) for each in data]


_ASKED = 'A question looks like {"kind": "fact", "text": "…?", "evidence": ["D1:3"]}'


def _marked(data: Any, ids: Collection[str]) -> MarkedQuestion:
    try:
        text, evidence, kind = data["text"], data["evidence"], data.get("kind", "all")
    except (TypeError, KeyError, AttributeError) as error:
        raise UnreadableTurns(f"The question {data!r:.60} cannot be read", _ASKED) from error
    if not isinstance(evidence, list) or not all(isinstance(e, str) for e in (text, *evidence)):
        raise UnreadableTurns(f"The question {data!r:.60} cannot be read", _ASKED)
    found = MarkedQuestion(text, frozenset(evidence), str(kind))
    if not found.evidence or found.evidence.difference(ids):
        raise UnreadableTurns(
            f"The question {found.text!r} has no evidence or names unknown turns", _ASKED
        )
    return found
