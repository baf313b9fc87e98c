"""What an agent said, newest first: each line leads to why it said so.

Runs in a view's thread, because it reads the archive from its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import HappeningKind, Speech, addressees_of, own_deed_of
from keepsake.web.searching import MOST_BYTES, MemoryFilter, newest_memories, words_of

MOST_LINES = 60
"""The most lines of a page; more are found by their words."""


@dataclass(frozen=True, slots=True)
class SaidLine:
    """Something that an agent said or did.

    Attributes:
        number: The memory of it.
        to: The names of those to whom it was said.
        manner: ``say``, ``whisper`` …; empty for a deed.
        words: What was said; of a deed what it did, as somebody else would tell it.
        private: Whether it was said in private.
    """

    number: int
    time: datetime
    to: str
    manner: str
    words: str
    private: bool
    place: str


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent said, as it was asked for; each list newest first.

    Attributes:
        whom: The names of the people whom the question names, and to whom something was said.
        to_them: What was said to them.
        others: Everything else that has the words.
        complete: Whether these are all that its archive has of the kind.
    """

    whom: str
    to_them: Sequence[SaidLine]
    others: Sequence[SaidLine]
    complete: bool


def said(folder: Path, agent: str, question: str, *, deeds: bool = False) -> Said:
    """Return what an agent said to whom, or with words, that a question names; empty: its newest.

    Args:
        folder: The agent's.
        agent: Its name.
        question: All its words must stand in ``Mira says to Bob, "…"``, whole or as prefixes.
        deeds: Whether what it did besides speaking is wanted, too.
    """
    words = words_of(question)
    form = None if deeds else HappeningKind.SPEECH
    wanted = MemoryFilter(kind=MemoryKind.ACT, form=form)
    found, whole = newest_memories(
        folder / "archive", agent, words, wanted, limit=MOST_LINES + 1, most=MOST_BYTES
    )
    shown = found[:MOST_LINES]
    to_them = [each for each in shown if _named(each, words)]
    whom = dict.fromkeys(name for each in to_them for name in _named(each, words))
    return Said(
        whom=", ".join(whom),
        to_them=[_line(each, agent) for each in to_them],
        others=[_line(each, agent) for each in shown if each not in to_them],
        complete=whole and len(found) <= MOST_LINES,
    )


def _named(memory: Memory, words: Sequence[str]) -> list[str]:
    """Return the names of those whom it addresses that have one of the words."""
    names = (each.name for each in addressees_of(memory.what))
    return [name for name in names if not set(words_of(name)).isdisjoint(words)]


def _line(memory: Memory, agent: str) -> SaidLine:
    spoken = memory.what if isinstance(memory.what, Speech) else None
    return SaidLine(
        number=memory.number,
        time=memory.time,
        to=", ".join(each.name for each in addressees_of(memory.what)),
        manner=spoken.manner.value if spoken else "",
        words=spoken.words if spoken else own_deed_of(memory.what, agent),
        private=memory.confidants is not None,
        place=memory.place,
    )
