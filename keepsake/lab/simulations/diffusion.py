"""How an item spreads: who knows it, by which path of happenings, and who claims it without one.

:mod:`keepsake.tracing.paths` finds the paths. An item that is said without a path is *invented*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from keepsake.archive.records import Memory
from keepsake.lab.simulations.items import Item
from keepsake.lab.simulations.record import SimulationRecord, text_of
from keepsake.tracing.items import Words
from keepsake.tracing.paths import Path, Tracer, Witness


@dataclass(frozen=True, slots=True)
class Claim:
    """An item that is said, or passed on, without what would make it knowledge."""

    agent: str
    memory: int  # 0 for an answer of the interview
    time: datetime | None
    text: str


@dataclass(frozen=True)
class Spread:
    """How one item has spread.

    Attributes:
        paths: By agent: the path by which it first knew the item. It ends at that agent.
        invented: What agents said without having heard it, in the game and in the interview.
        misled: Agents who heard the item only as somebody's invention.
        untraced: What agents heard from people whose memory is not archived, such as players.
        wordless: What was said resting on the item, but in none of its ways of saying.
        says: By agent: whether it says the item when it is asked at the end; without those who were
            not asked.
        given: Whether the item was given to anybody: else nothing is known.
    """

    item: Item
    paths: Mapping[str, Path]
    invented: Sequence[Claim] = ()
    misled: frozenset[str] = frozenset()
    untraced: Sequence[Claim] = ()
    wordless: Sequence[Claim] = ()
    says: Mapping[str, bool] = field(default_factory=dict)

    @property
    def given(self) -> bool:
        """Whether somebody got the item."""
        return bool(self.paths)

    def knows_by(self, time: datetime) -> frozenset[str]:
        """Return the agents who knew the item at a time."""
        return frozenset(name for name, path in self.paths.items() if path[-1].time <= time)


def spread_of(item: Item, record: SimulationRecord) -> Spread:
    """Return how an item has spread in a simulation."""
    witnesses = {
        name: Witness(name, memories, record.bases.get(name, {}))
        for name, memories in record.memories.items()
    }
    words = Words(item.is_said_in, lambda _, memory: memory.happening == item.happening)
    tracer = Tracer(witnesses, words)
    tracer.run()
    says = dict[str, bool]()
    invented = [_claim(*each) for each in tracer.invented]
    for answer in record.answers:
        name = text_of(answer, "agent")
        said = item.is_said_in(text_of(answer, "words"))
        if text_of(answer, "item") == item.id and not text_of(answer, "problem"):
            says[name] = said
        if said and name not in tracer.paths and name in record.cast:
            question = text_of(answer, "question")
            invented.append(Claim(name, 0, None, f"{question} – {text_of(answer, 'words')}"))
    return Spread(
        item=item,
        paths=tracer.paths,
        invented=tuple(invented),
        misled=frozenset(tracer.misled - tracer.paths.keys()),
        untraced=tuple(_claim(*each) for each in tracer.untraced),
        wordless=tuple(_claim(*each) for each in tracer.wordless),
        says=says,
    )


def _claim(name: str, memory: Memory) -> Claim:
    who = f"{memory.source}: " if memory.source else ""
    return Claim(name, memory.number, memory.time, f"{who}{memory.words or memory.text}")
