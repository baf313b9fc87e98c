"""Lines that have the rarest of typed words: what is rare is seldom there by chance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile

from keepsake.tracing.past import Archived
from keepsake.tracing.texts import NO_HAPPENING, lines_with
from keepsake.tracing.typed.gathering import Line
from keepsake.tracing.wording import Wording

_MOST_READ = 1_000
"""The most lines of all agents that are looked at: words that are in more are everyday words."""


def with_rarest(archives: Mapping[str, Archived], wording: Wording, most: int) -> Sequence[Line]:
    """Return lines that have the rarest of typed words, those with most of them first; blocks.

    A word weighs the logarithm of in how few lines it is.

    Args:
        archives: The agents' archives, by key.
        most: The most lines, each as one of those remembers it who heard it.
    """
    segments = [(key, each) for key, of in archives.items() for each in of.texts.of(of.folder)]
    wanted = {word for way in wording.ways for word in way}
    # Within other words, too: that is quick to count.
    counts = {word: sum(each.text.count(word) for _, each in segments) for word in wanted}
    by_rarity = sorted(wanted, key=counts.__getitem__)
    read = accumulate(counts[word] for word in by_rarity)
    few = takewhile(lambda each: each[1] <= _MOST_READ, zip(by_rarity, read, strict=True))
    has = defaultdict[object, set[str]](set)
    line_of: dict[object, Line] = {}
    for word in [word for word, _ in few if counts[word]]:
        for key, segment in segments:
            for at, line in lines_with(segment.text, word):
                if wording.has_word(word, line):
                    number = segment.numbers[at]
                    happening = segment.happenings[at]
                    told = happening if happening != NO_HAPPENING else (key, number)
                    has[told].add(word)
                    line_of.setdefault(told, (key, number))
    within = Counter(word for of in has.values() for word in of)
    total = sum(len(each.numbers) for _, each in segments)
    weights = {word: math.log((total + 1) / count) for word, count in within.items()}
    best = sorted(has, key=lambda told: sum(weights[word] for word in has[told]), reverse=True)
    return [line_of[each] for each in best[:most]]
