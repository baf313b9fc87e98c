"""Which lines of a person tell an agent most, whoever they were said to.

A word counts the more, the fewer lines of the agent's memory have it; a question tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import log2

from keepsake.archive.records import Memory
from keepsake.happening import Speech
from keepsake.language.languages import language_of, stop_words, telling_terms
from keepsake.language.perception import names as is_named
from keepsake.language.perception import stem, words
from keepsake.tracing.content import told_in
from keepsake.tracing.texts import SegmentTexts, key_of

MOST_COUNTED = 2_000
"""The newest lines of an agent among which words are counted: a fiftieth of a second."""
MOST_LOOKED = 300
"""The newest memories of a person among which those are looked for that tell most."""
MOST_HEARD = 12
"""The most of them that are shown."""


type Telling = tuple[float, float]
"""How much a text tells, in bits: by words that were said again, and by all."""


@lru_cache(maxsize=16_384)  # the same lines are weighed again, and parts of them
def terms(text: str) -> frozenset[str]:
    """Return the words of a text that say something in its language, as compared."""
    common = stop_words()[language_of(text)]
    return telling_terms(text) - {stem(each) for each in words(text) if each.casefold() in common}


class Weights:
    """How much lines tell, in bits.

    Args:
        lines: Those among which words are counted.
        of_them: The places of those lines that are about a person: then a word counts by how much
            of what has it is about them. All talk of the weather, or wish a good night. Empty if
            no person is meant.
    """

    def __init__(self, lines: Sequence[str], of_them: Collection[int] = ()) -> None:
        found = [terms(line) for line in lines]
        self._counts = Counter(stem for each in found for stem in each)
        # What is said a hundred times is said once, and not taken up.
        self._said = Counter(stem for each in {*found} for stem in each)
        self._theirs = Counter(stem for at in of_them for stem in found[at])
        self._of_them = bool(of_them)
        self._total = len(lines)

    def of(self, text: str) -> float:
        """Return how much a text tells besides its questions."""
        return self.bits(terms(told_in(text)))

    def telling(self, text: str, known: Collection[str] = ()) -> Telling:
        """Return what a text tells, first by words that were said again.

        What is talked of comes up again, and not only once: a riddle or a flourish has rare words,
        too, but nobody takes them up.

        Args:
            known: Words, as compared, that do not count.
        """
        words = terms(told_in(text)) - {*known}
        return self.bits(each for each in words if self._said[each] > 1), self.bits(words)

    def bits(self, stems: Iterable[str]) -> float:
        """Return how much words tell. ``stems``: as compared."""
        most = self._total + 1
        return sum(log2(most / max(self._counts[each], 1)) * self._share(each) for each in stems)

    def _share(self, stem: str) -> float:
        """Return how much of what has a word is about the person."""
        if not self._of_them or not self._counts[stem]:
            return 1.0
        return self._theirs[stem] / self._counts[stem]


def weights_in(
    segments: Sequence[SegmentTexts], key: str = "", names: Collection[str] = ()
) -> Weights:
    """Return how much lines tell an agent, or tell it of a person.

    Args:
        segments: What its memories say.
        key: The identity of the person; empty for nobody in particular.
        names: Their names.
    """
    lines = [*newest_lines(segments)]
    return Weights(lines, [*_places_of(segments, key, names)] if key else ())


def _places_of(segments: Sequence[SegmentTexts], key: str, names: Collection[str]) -> Iterator[int]:
    """Yield which of the newest lines are of a person, to them, or name them."""
    called = [each.casefold() for each in names]
    begin = 0
    for segment in reversed(segments):
        lines = segment.text.split("\n")
        theirs = {*segment.places_with(key_of(key))}
        for back, line in enumerate(reversed(lines)):
            if begin + back >= MOST_COUNTED:
                return
            if len(lines) - 1 - back in theirs or any(is_named(line, each) for each in called):
                yield begin + back
        begin += len(lines)


def newest_lines(segments: Sequence[SegmentTexts]) -> Iterator[str]:
    """Yield the newest lines of an agent, at most :data:`MOST_COUNTED`."""
    lines = (line for each in reversed(segments) for line in reversed(each.text.split("\n")))
    return islice(lines, MOST_COUNTED)


def heard_from(
    segments: Sequence[SegmentTexts], key: str, known: Collection[int], weights: Weights
) -> list[Memory]:
    """Return what somebody said in an agent's hearing, what tells most first; blocks.

    Args:
        segments: What the agent's memories say.
        key: The identity of the person.
        known: The memories that are shown besides.
    """
    newest = islice(_memories_with(segments, key, known), MOST_LOOKED)
    said = {each.words: each for each in newest if _is_said_by(each, key)}
    best = sorted(said.values(), key=lambda each: weights.of(each.words), reverse=True)
    return [each for each in best[:MOST_HEARD] if told_in(each.words)]


def _memories_with(
    segments: Sequence[SegmentTexts], key: str, known: Collection[int]
) -> Iterator[Memory]:
    for segment in reversed(segments):
        places = sorted(segment.places_with(key_of(key)), reverse=True)
        yield from segment.memories(at for at in places if segment.numbers[at] not in known)


def _is_said_by(memory: Memory, key: str) -> bool:
    return isinstance(memory.what, Speech) and not memory.is_own and memory.source_id == key
