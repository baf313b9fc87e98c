"""The records of the archive: memories and summaries, and how they become archive lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypedDict


class MemoryKind(StrEnum):
    """The origin of a memory."""

    PERCEPTION = "perception"  # something the agent saw or heard
    ACT = "act"  # an action of the agent: its command, without the cursor
    RESULT = "result"  # the result of its own act: a look, a failure, a tool result


SHRUG = "shrug"  # ``event`` of an act: a stock phrase, said because the model had no answer
COURTESY = "courtesy"  # ``event`` of an act: words said by rule, where nothing was asked
STOCK = frozenset({SHRUG, COURTESY})  # ``event`` of acts whose words are not the agent's own

POSE = "pose"  # ``event`` of a deed that somebody only acts out
SCENE = "scene"
HEARSAY = "hearsay"
"""``event`` of a scene of an ordinary day (made by rule), and of words that an agent passes on.

Neither creates a rule, a promise or a question.
"""
BY_RULE = frozenset({SCENE, HEARSAY})
_WORDS = ("place", "source", "source_id", "reason", "event", "to", "to_id", "chain")
"""Text fields of a memory that its archive line omits if empty."""


EDITED = "edited by hand"  # ``model`` of a summary that a person changed in the vault


class Tier(StrEnum):
    """The two summaries; the third tier is the window itself."""

    LONGTERM = "longterm"
    RECENT = "recent"


class MemoryFacts(TypedDict, total=False):
    """Optional fields of a :class:`Memory`."""

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

    number: int  # 1, 2, 3 … in order of time; unique for one agent
    time: datetime  # with time zone
    kind: MemoryKind
    text: str
    place: str = ""
    source: str = ""  # name of who caused it; empty for the agent itself or nobody
    reason: str = ""
    repeats: int = 1
    # the source's id, which stays the same under another name; empty if not known, as in old
    # archives
    source_id: str = ""
    # the kind of message: ``say``, ``talk``, ``whisper``, ``pose``, ``give`` …; empty if not known,
    # as in old archives. A pose by a player may read like a deed but is none: see
    # :mod:`keepsake.language.heard`
    event: str = ""
    # name of the addressee of the agent's own act; empty if it has none or that is not known, as in
    # old archives
    to: str = ""
    # the addressee's id; set for the agent's own words and for acts by rule. For hearsay that the
    # agent heard: the id of the person whom it is about
    to_id: str = ""
    # importance, 1 to 10, if the world itself rates it, as for a deed; else 0
    importance: int = 0
    # for hearsay: the memories it rests on, ``Nell 17; Joss 41``, the eyewitness first
    chain: str = ""
    # for an own act: the newest memory in the prompt that it answers, if more memories came while
    # it was written; else 0
    answers: int = 0

    def repeated(self, times: int) -> Memory:
        """Return the same memory with ``times`` occurrences in a row."""
        return replace(self, repeats=times)

    @property
    def line(self) -> str:
        """The text as shown outside the archive, with the number of repeats.

        A pose is marked as one: the player chooses its words, and they may read like speech or a
        departure. No other input of a player comes out as ``Tom poses: …``.
        """
        text = self.text
        if self.kind is MemoryKind.PERCEPTION and self.event == POSE:
            played = text.removeprefix(self.source).strip()
            text = f"{self.source or 'Somebody'} poses: {played}".replace('"', "'")
        elif self.kind is MemoryKind.PERCEPTION and self.source and text.endswith('"'):
            # A speaker cannot close the quotation and continue as somebody else.
            head, said, words = text[:-1].partition(', "')
            text = f'{head}{said}{words.replace('"', "'")}"' if '"' in words else text
        return f"{text} (repeated {self.repeats}×)" if self.repeats > 1 else text

    def to_record(self) -> dict[str, Any]:
        """Return the archive line; empty fields are omitted."""
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
    """Yield the memories among archive lines; skip damaged lines, which are reported elsewhere."""
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
    model: str  # its author: a model's name, ``extractive`` or ``edited by hand``
    time: datetime
    tokens_before: int = 0  # estimated tokens of the text that was summarised
    tokens_after: int = 0

    def to_record(self) -> dict[str, Any]:
        """Return the summary's part of an archive line of type ``compaction``."""
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
