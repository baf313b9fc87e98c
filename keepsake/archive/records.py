"""What the archive holds: memories, summaries and the lines that move them between tiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypedDict


class MemoryKind(StrEnum):
    """What a memory came from."""

    PERCEPTION = "perception"
    """Something the agent saw or heard."""
    ACT = "act"
    """What the agent did itself: its command, without the cursor."""
    RESULT = "result"
    """What came of its own act: a look, a failure, a tool result."""


SHRUG = "shrug"
"""The ``event`` of an act: a stock phrase that the agent said because its model had no answer."""
COURTESY = "courtesy"
"""The ``event`` of an act: what it said by rule, where nothing was asked."""
STOCK = frozenset({SHRUG, COURTESY})
"""The ``event`` of an act in which the agent said nothing of its own."""

POSE = "pose"
"""The ``event`` of what somebody only plays."""
SCENE, HEARSAY = "scene", "hearsay"
"""The ``event`` of what an ordinary day brings by rule, and of what one agent tells on to another:
nobody's rule, promise or question."""
BY_RULE = frozenset({SCENE, HEARSAY})
_WORDS = ("place", "source", "source_id", "reason", "event", "to", "to_id", "chain")
"""Fields of a memory that its archive line leaves out where they are empty."""


EDITED = "edited by hand"
"""The ``model`` of a summary that a person changed in the vault."""


class Tier(StrEnum):
    """The two summaries; the third tier is the window itself."""

    LONGTERM = "longterm"
    RECENT = "recent"


class MemoryFacts(TypedDict, total=False):
    """What may be known of a memory beside its line, as :class:`Memory` has it."""

    place: str
    source: str
    reason: str
    source_id: str
    event: str
    to: str
    to_id: str
    importance: int
    chain: str
    answers: int


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory of an agent: a perception, an act or a result."""

    number: int  # 1, 2, 3 … in the order lived; never repeats for one agent
    time: datetime  # when, with time zone
    kind: MemoryKind
    text: str
    place: str = ""
    source: str = ""  # who caused it, by name; empty for the agent itself or nobody
    reason: str = ""
    repeats: int = 1
    # who that is, whatever they are called; empty where it is not known, as in archives of before
    # it was kept
    source_id: str = ""
    # what kind of message told of it: ``say``, ``talk``, ``whisper``, ``pose``, ``give`` …; empty
    # where that is not known, as in archives of before it was kept. What a player only plays in a
    # pose may read like a deed, and is none: see :mod:`keepsake.language.heard`
    event: str = ""
    # to whom an own act was meant, by name; empty where it was meant for nobody, or that is not
    # known, as in archives of before it was kept
    to: str = ""
    # who that is, whatever they are called; kept of own words, and of what is done by rule. Of
    # hearsay that was heard: whom it tells of
    to_id: str = ""
    # how much it matters, 1 to 10, where the world itself says so, as of a deed; 0 where it does
    # not
    importance: int = 0
    # of hearsay, whose memories it rests on: ``Nell 17; Joss 41``, who saw it first
    chain: str = ""
    # of an own act: the newest memory that stood in the prompt that it answers, where others came
    # while it was written; 0 where none did
    answers: int = 0

    def repeated(self, times: int) -> Memory:
        """The same memory, having happened ``times`` times in a row."""
        return replace(self, repeats=times)

    @property
    def line(self) -> str:
        """The text as others than the archive show it, repeats folded.

        What is only played says that it is. Whoever poses finds the words, and they may read like
        speech or a departure; nothing else that a player types comes out as ``Tom poses: …``.
        """
        text = self.text
        if self.kind is MemoryKind.PERCEPTION and self.event == POSE:
            played = text.removeprefix(self.source).strip()
            text = f"{self.source or 'Somebody'} poses: {played}".replace('"', "'")
        elif self.kind is MemoryKind.PERCEPTION and self.source and text.endswith('"'):
            # Whoever speaks cannot end their own words and go on as somebody else.
            head, said, words = text[:-1].partition(', "')
            text = f'{head}{said}{words.replace('"', "'")}"' if '"' in words else text
        return f"{text} (repeated {self.repeats}×)" if self.repeats > 1 else text

    def to_record(self) -> dict[str, Any]:
        """The archive line; empty fields are left out."""
        record: dict[str, Any] = {
            "type": "memory",
            "n": self.number,
            "t": self.time.isoformat(),
            "kind": self.kind.value,
            "text": self.text,
        }
        record |= {name: value for name in _WORDS if (value := getattr(self, name))}
        record |= {"importance": self.importance} if self.importance else {}
        return record | ({"answers": self.answers} if self.answers else {})

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Memory:
        """Read an archive line of type ``memory``.

        Raises:
            KeyError, ValueError: The line lacks a field or holds a wrong one.
        """
        words: dict[str, Any] = {name: str(record.get(name, "")) for name in _WORDS}
        return cls(
            number=int(record["n"]),
            time=datetime.fromisoformat(record["t"]),
            kind=MemoryKind(record["kind"]),
            text=str(record["text"]),
            importance=int(record.get("importance", 0)),
            answers=int(record.get("answers", 0)),
            **words,
        )


def memories_in(records: Iterable[Mapping[str, Any]]) -> Iterator[Memory]:
    """The memories among archive lines; damaged ones are passed over, and told of elsewhere."""
    for record in records:
        if record.get("type") == "memory":
            with suppress(KeyError, ValueError, TypeError):
                yield Memory.from_record(record)


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the memories ``first`` … ``last``, both included."""

    tier: Tier
    first: int
    last: int
    text: str
    model: str  # who wrote it: a model's name, ``extractive`` or ``edited by hand``
    time: datetime
    tokens_before: int = 0  # estimated tokens of what it was made from
    tokens_after: int = 0

    def to_record(self) -> dict[str, Any]:
        """Part of an archive line of type ``compaction``."""
        return {
            "from": self.first,
            "to": self.last,
            "text": self.text,
            "model": self.model,
            "t": self.time.isoformat(),
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
        }

    @classmethod
    def from_record(cls, tier: Tier, record: Mapping[str, Any]) -> Summary:
        """Read the summary back from a ``compaction`` line.

        Raises:
            KeyError, ValueError: A field is missing or wrong.
        """
        return cls(
            tier=tier,
            first=int(record["from"]),
            last=int(record["to"]),
            text=str(record["text"]),
            model=str(record["model"]),
            time=datetime.fromisoformat(record["t"]),
            tokens_before=int(record.get("tokens_before", 0)),
            tokens_after=int(record.get("tokens_after", 0)),
        )
