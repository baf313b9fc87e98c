"""What typed words mean: which of them name people, and how much of them a line has.

A person who speaks of what is theirs says *my watch*, and an answer does not name again what it was
asked about. So a name is also there if its bearer speaks, and a word if the talk before has it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate, takewhile

from keepsake.archive.records import Memory
from keepsake.happening import PersonId, addressees_of, is_me
from keepsake.language.perception import stem, words
from keepsake.tracing.wording import Wording

MOST_SEEDED = 1_000
"""The most lines of all agents that are looked at because they have only one of several words."""


class Match(StrEnum):
    """How a line has the typed words, the surest first."""

    WHOLE = "whole"
    """It has them all; who is named may also be who speaks."""
    TALK = "talk"
    """It and what it answers have them all."""
    PART = "part"
    """It has the rarest of them, or is said to who is named."""
    SOME = "some"
    """It has one that few lines have."""
    NEAR = "near"
    """It is near them in meaning, and need have none of them."""


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
        words: The words that a line must have, as compared, the rarest first; never empty.
        people: Whom it names besides.
        seeds: Those of the words that are in few lines; none if all are everyday words. Of those a
            line must have all words.
        typed: The way as it was typed.
        weights: What each of the words tells, by how rare it is; together 1.
        names: Those of the words that were typed with a capital letter or a digit, such as the name
            of a boat: who writes them so wants this very thing.
    """

    words: tuple[str, ...]
    people: tuple[Named, ...]
    seeds: tuple[str, ...]
    typed: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()


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
        texts: Texts in small letters, by which the rarest word of each way is known.
    """

    def __init__(
        self, wording: Wording, people: People = NOBODY, texts: Iterable[str] = ()
    ) -> None:
        self.wording = wording
        bearers: dict[tuple[str, ...], set[PersonId]] = defaultdict(set)
        for identity, names in people.names.items():
            for name in names:
                bearers[tuple(map(stem, words(name)))].add(identity)
        counts = Counter[str]()
        lines = 0
        several = {word for way in wording.ways if len(way) > 1 for word in way}
        for text in texts:
            lines += text.count("\n") + 1
            counts.update({word: text.count(word) for word in several})
        typed = wording.typed or tuple(map(" ".join, wording.ways))
        self.ways = tuple(
            replace(
                (read := _read(way, bearers, counts)),
                typed=as_typed,
                weights=_weights(read.words, counts, lines),
                names=_names(read.words, as_typed),
            )
            for way, as_typed in zip(wording.ways, typed, strict=True)
        )

    def has(self, word: str, line: str) -> bool:
        """Return whether a line has a word. ``line``: In small letters."""
        return self.wording.has_word(word, line)

    def names(self, somebody: Named, line: str) -> bool:
        """Return whether a line has all words of a name. ``line``: In small letters."""
        return all(self.has(word, line) for word in somebody.name)


def _names(wanted: Sequence[str], typed: str) -> tuple[str, ...]:
    """Return those of the words that were typed as names or numbers are."""
    marked = {stem(each) for each in words(typed) if each[0].isupper() or each[0].isdigit()}
    return tuple(each for each in wanted if each in marked)


def _weights(words: Sequence[str], counts: Mapping[str, int], lines: int) -> Mapping[str, float]:
    """Return what each word tells: the logarithm of in how few of all lines it is."""
    least = 0.5
    rare = {each: math.log((lines + 1) / (counts.get(each, 0) + least)) for each in words}
    whole = math.fsum(max(each, 0.0) for each in rare.values())
    return {each: max(of, 0.0) / whole if whole else 1 / len(words) for each, of in rare.items()}


def _read(
    way: Sequence[str],
    bearers: Mapping[tuple[str, ...], set[PersonId]],
    counts: Mapping[str, int],
) -> MeantWay:
    """Return a way with its names read; names alone are words as any others."""
    people = [
        Named(name, frozenset(ids))
        for name, ids in bearers.items()
        if name and set(name).issubset(way)
    ]
    of_names = {word for each in people for word in each.name}
    rest = [word for word in way if word not in of_names]
    by_rarity = tuple(sorted(rest or way, key=lambda word: counts.get(word, 0)))
    lines = accumulate(counts.get(word, 0) for word in by_rarity)
    few = takewhile(lambda each: each[1] <= MOST_SEEDED, zip(by_rarity, lines, strict=True))
    seeds = tuple(word for word, _ in few)
    return MeantWay(by_rarity, tuple(people) if rest else (), seeds)


def speaker_in(memory: Memory, own: PersonId) -> PersonId:
    """Return the identity of who spoke or acted; ``own``: that of who remembers it."""
    return own if memory.is_own else memory.source_id


def partners_in(memory: Memory, own: PersonId) -> frozenset[PersonId]:
    """Return the identities of who speaks or acts, and of those to whom it is said or done."""
    to = (own if is_me(each) else each.id for each in addressees_of(memory.what))
    return frozenset({speaker_in(memory, own), *to}) - {""}
