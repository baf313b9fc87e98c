"""A conversation to be searched by itself, as public memory benchmarks have them.

It is searched by exactly the recall that the agents use, over indexes in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic.dataclasses import dataclass

from keepsake.errors import KeepsakeError
from keepsake.lab.memories.plain import LocalVectors
from keepsake.language.perception import writable
from keepsake.ports import Embedder
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.query import spans
from keepsake.recall.search import MemorySearch
from keepsake.recall.words import WordIndex

_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_FORMATS = (
    *("%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d"),
    *("%d.%m.%Y, %H:%M:%S", "%d.%m.%Y, %H:%M", "%d.%m.%Y"),
)
"""How the public memory benchmarks write a time."""


class UnreadableTurns(KeepsakeError):
    """Turns or questions that are not of the shape that is documented."""


def _plain(written: Any) -> Any:
    """A text that can be written; what is null was left out, as many programs write it."""
    return "" if written is None else writable(written) if isinstance(written, str) else written


type _Text = Annotated[str, BeforeValidator(_plain)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTurn:
    """One line of a conversation."""

    id: str  # the conversation's own name for it: ``D1:3``
    speaker: _Text = ""  # who said it
    # as the conversation writes it: ``1:56 pm on 8 May, 2023``, ISO 8601 …; one that cannot be read
    # counts as the time of the turn before
    time: _Text = ""
    text: _Text  # what was said
    place: _Text = ""  # where


_SHAPE = 'A turn looks like {"id": "D1:1", "speaker": "Ann", "time": "8 May 2023", "text": "…"}'


class Conversation:
    """Holds one conversation at a time and finds its turns. Not for several threads at once.

    Args:
        embedder: Embeds turns and questions; None searches by words alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._hold()

    def _hold(self) -> None:
        """Begin anew, with nothing."""
        self._ids: dict[str, str] = {}  # the conversation's own, by the keys of documents
        self._now = self._last = _NO_TIME
        self.names: set[str] = set()
        self.words, self.vectors = WordIndex(), LocalVectors()
        self.recall = MemorySearch(
            self.words,
            self.vectors,
            self.embedder,
            names=lambda: self.names,
            clock=self,
        )

    def now(self) -> datetime:
        """When the conversation ended: "last week" in a question is relative to it."""
        return self._now

    def ingest(self, turns: Sequence[ConversationTurn], *, keep: bool = False) -> None:
        """Hold these turns; with ``keep`` beside those before, as what was said after them.

        Nothing changes before all of it is known to be well.

        Raises:
            UnreadableTurns: Two turns have one id, those that are kept included.
            ModelError: They could not be embedded.
        """
        after = len(self._ids) if keep else 0
        ids = [*(self._ids.values() if keep else ()), *(turn.id for turn in turns)]
        if len(set(ids)) < len(ids):
            raise UnreadableTurns("Two turns have the same id", "Give each its own")
        times = list(times_of(turns, self._last if after else _NO_TIME))
        numbered = enumerate(zip(turns, times, strict=True), after + 1)
        documents = [_document(number, turn, time) for number, (turn, time) in numbered]
        embedder = self.embedder
        vectors = embedder.embed([turn.text for turn in turns]) if embedder is not None else None
        if not after:
            self._hold()
        self.words.add(documents)
        if vectors is not None:
            self.vectors.add(documents, vectors)
        self._ids |= {d.key: turn.id for d, turn in zip(documents, turns, strict=True)}
        *_, self._last = self._last, *times
        self._now = max(self._now, *times, self._last)
        self.names |= {name for turn in turns for name in (turn.speaker, turn.place) if name}

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


def times_of(turns: Sequence[ConversationTurn], before: datetime = _NO_TIME) -> Iterator[datetime]:
    """When each turn was said: where that cannot be read, at the time of the turn before."""
    for turn in turns:
        before = moment(turn.time, before) or before
        yield before


def moment(text: str, zone: datetime) -> datetime | None:
    """The date, with its clock time if there is one, that ``text`` is; None if it is none."""
    text = text.strip()
    for form in ("", *_FORMATS):
        try:
            time = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        except ValueError:
            continue
        return time if time.tzinfo else time.replace(tzinfo=zone.tzinfo)
    return next((span.start for span in spans(text, zone)), None)


def _document(number: int, turn: ConversationTurn, time: datetime) -> Document:
    return Document(
        key=f"{DocumentKind.MEMORY}:{number}",
        kind=DocumentKind.MEMORY,
        text=turn.text,
        time=time,
        first=number,
        last=number,
        speaker=turn.speaker,
        place=turn.place,
    )


class _Turns(BaseModel):
    turns: list[ConversationTurn]


def read_turns(data: Any) -> list[ConversationTurn]:
    """The turns of a request or a data file.

    Raises:
        UnreadableTurns: There is no list of turns, or one of them has another shape.
    """
    try:
        return _Turns.model_validate(data).turns
    except ValidationError as error:
        raise UnreadableTurns(fault_of(error), _SHAPE) from error


def fault_of(error: ValidationError) -> str:
    """The first thing that is wrong with a file, and where: ``turns[0].id: Field required``."""
    first = error.errors()[0]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return ": ".join(filter(None, ("".join(parts).removeprefix("."), first["msg"])))
