"""Lines that have the rarest of typed words: what is rare is seldom there by chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, takewhile

from keepsake.tracing.past import Archived
from keepsake.tracing.texts import NO_HAPPENING, SegmentTexts, lines_with
from keepsake.tracing.typed.gathering import Line
from keepsake.tracing.wording import Wording

_MOST_READ = 1_000
"""The most lines of all agents that are looked at: words that are in more are everyday words."""


def with_rarest(archives: Mapping[str, Archived], wording: Wording, most: int) -> Sequence[Line]:
    """Return lines that have the rarest of typed words, those with most of them first; blocks.

    A word weighs the logarithm of in how few lines of all archives it is.

    Args:
        archives: The agents' archives, by key.
        most: The most lines, each as one of those remembers it who heard it.
    """
    segments = [(key, each) for key, of in archives.items() for each in of.texts.of(of.folder)]
    wanted = {word for way in wording.ways for word in way}
    counts = {word: sum(each.text.count(word) for _, each in segments) for word in wanted}
    lines = sum(len(each.numbers) for _, each in segments)
    weights = {word: math.log((lines + 1) / (count + 1)) for word, count in counts.items()}
    by_rarity = sorted(wanted, key=lambda word: counts[word])
    read = accumulate(counts[word] for word in by_rarity)
    few = takewhile(lambda each: each[1] <= _MOST_READ, zip(by_rarity, read, strict=True))
    rare = [word for word, _ in few if counts[word]]
    found: dict[object, tuple[float, Line]] = {}
    for key, segment in segments:
        for at, line in _lines(segment, rare):
            weight = sum(weights[word] for word in wanted if wording.has_word(word, line))
            told = segment.happenings[at]
            number = segment.numbers[at]
            stands = told if told != NO_HAPPENING else (key, number)
            if weight:
                found.setdefault(stands, (weight, (key, number)))
    best = sorted(found.values(), key=lambda each: -each[0])
    return [line for _, line in best[:most]]


def _lines(segment: SegmentTexts, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that have any of some words, each once, with its place."""
    found = {at: line for word in words for at, line in lines_with(segment.text, word)}
    yield from found.items()
