"""What typed words mean: which of them name people, and whether a line has them.

A person who speaks of what is theirs says *my watch*. So a name is also there if its bearer speaks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keepsake.archive.records import Memory
from keepsake.happening import PersonId
from keepsake.language.perception import SENTENCE_GAP, stem, words
from keepsake.tracing.wording import Wording


@dataclass(frozen=True, slots=True)
class Named:
    """A person whom typed words name.

    Attributes:
        name: The words of the name, as compared.
        ids: The identities of those who bear it.
    """

    name: tuple[str, ...]
    ids: frozenset[PersonId]


@dataclass(frozen=True, slots=True)
class MeantWay:
    """One way of saying it.

    Attributes:
        words: The words that a line must have, as compared; never empty.
        people: Whom it names besides.
    """

    words: tuple[str, ...]
    people: tuple[Named, ...]


@dataclass(frozen=True)
class People:
    """The people of the world.

    Attributes:
        names: Their names, by identity.
        agents: The identity of each agent, by key.
    """

    names: Mapping[PersonId, Sequence[str]] = field(default_factory=dict)
    agents: Mapping[str, PersonId] = field(default_factory=dict)


NOBODY = People()


class Meant:
    """What typed words mean.

    Args:
        wording: The words.
        people: Whom they may name.
    """

    def __init__(self, wording: Wording, people: People = NOBODY) -> None:
        self.wording = wording
        bearers: dict[tuple[str, ...], set[PersonId]] = defaultdict(set)
        for identity, names in people.names.items():
            for name in names:
                bearers[tuple(map(stem, words(name)))].add(identity)
        self.ways = tuple(_read(way, bearers) for way in wording.ways)

    def has(self, word: str, line: str) -> bool:
        """Return whether a line has a word. ``line``: In small letters."""
        return self.wording.has_word(word, line)

    def names(self, somebody: Named, line: str) -> bool:
        """Return whether a line has all words of a name. ``line``: In small letters."""
        return all(self.has(word, line) for word in somebody.name)

    def is_said_in(self, memory: Memory, own: PersonId) -> bool:
        """Return whether a memory says it: one sentence has all words of a way.

        In several sentences they are about several things.

        ``own``: The identity of who remembers it.
        """
        text = memory.words or memory.text
        line = text.casefold()
        speaker = speaker_in(memory, own)
        return any(
            all(speaker in each.ids or self.names(each, line) for each in way.people)
            and any(
                all(self.has(word, sentence) for word in way.words)
                for sentence in SENTENCE_GAP.split(line)
            )
            and self.wording.has_names(way.words, text)
            for way in self.ways
        )


def _read(way: Sequence[str], bearers: Mapping[tuple[str, ...], set[PersonId]]) -> MeantWay:
    """Return a way with its names read; names alone are words as any others."""
    people = tuple(
        Named(name, frozenset(ids))
        for name, ids in bearers.items()
        if name and set(name).issubset(way)
    )
    of_names = {word for each in people for word in each.name}
    rest = tuple(word for word in way if word not in of_names)
    return MeantWay(rest, people) if rest else MeantWay(tuple(way), ())


def speaker_in(memory: Memory, own: PersonId) -> PersonId:
    """Return the identity of who spoke or acted; ``own``: that of who remembers it."""
    return own if memory.is_own else memory.source_id
