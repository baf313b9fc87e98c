"""Which agents have talked, and know of each other, at the start and at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from keepsake.archive.message_types import BY_RULE, STOCK
from keepsake.archive.records import Memory
from keepsake.happening import ME, Person, actor_of, addressees_of
from keepsake.lab.simulations.record import SimulationRecord
from keepsake.language.perception import names


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Two agents.

    Attributes:
        lines: How many lines the two have said to each other in words of their models.
        by_rule: How many they have said by rule: a scene, news, a stock phrase.
        knew: Whether each knew of the other at the start: its persona says something of the other.
        knows: The same at the end: its persona does, or it has met, or heard of, the other.
    """

    one: str
    other: str
    lines: int
    by_rule: int
    knew: bool
    knows: bool


@dataclass(frozen=True)
class AcquaintanceGraph:
    """All pairs of agents of a simulation."""

    pairs: Sequence[Acquaintance]

    @property
    def talked(self) -> int:
        """How many pairs have talked in words of their models."""
        return sum(pair.lines > 0 for pair in self.pairs)

    @property
    def talked_at_all(self) -> int:
        """How many pairs have talked, also by rule."""
        return sum(pair.lines + pair.by_rule > 0 for pair in self.pairs)

    @property
    def knew(self) -> int:
        """How many pairs knew of each other at the start."""
        return sum(pair.knew for pair in self.pairs)

    @property
    def knows(self) -> int:
        """How many pairs know of each other at the end."""
        return sum(pair.knows for pair in self.pairs)

    def density(self, pairs: int) -> float | None:
        """Return the share of all pairs, 0 to 1; None if there is only one agent."""
        return pairs / len(self.pairs) if self.pairs else None


def acquaintances_of(record: SimulationRecord) -> AcquaintanceGraph:
    """Return which pairs of agents have talked, and know of each other."""
    pairs = list[Acquaintance]()
    for one, other in combinations(record.names, 2):
        said = [*_said_to(record, one, other), *_said_to(record, other, one)]
        by_rule = sum(_is_by_rule(memory) for memory in said)
        knew = _knew_of(record, one, other) and _knew_of(record, other, one)
        knows = _knows_of(record, one, other) and _knows_of(record, other, one)
        pairs.append(Acquaintance(one, other, len(said) - by_rule, by_rule, knew, knows))
    return AcquaintanceGraph(tuple(pairs))


def _said_to(record: SimulationRecord, speaker: str, to: str) -> Iterator[Memory]:
    """Yield what an agent said to another, from its own archive."""
    identity = record.cast[to].identity
    for memory in record.memories[speaker]:
        if memory.said is not None and any(each.id == identity for each in memory.said.to):
            yield memory


def _is_by_rule(memory: Memory) -> bool:
    return memory.event in BY_RULE | STOCK


def _knew_of(record: SimulationRecord, one: str, other: str) -> bool:
    return other in record.cast[one].knows


def _knows_of(record: SimulationRecord, one: str, other: str) -> bool:
    """Whether an agent knows of another at the end."""
    if _knew_of(record, one, other):
        return True
    identity = record.cast[other].identity
    for memory in record.memories[one]:
        if any(person.id == identity for person in _people_in(memory)):
            return True
        if memory.heard is not None and names(memory.heard.words, other):
            return True
    return False


def _people_in(memory: Memory) -> Iterator[Person]:
    """Yield the people who did something in a memory, or to whom it was done."""
    actor = actor_of(memory.what)
    if actor is not None and actor != ME:
        yield actor
    yield from addressees_of(memory.what)
