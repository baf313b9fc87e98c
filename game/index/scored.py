"""Rows with what each is worth: added up over the terms of a question, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

type Scored = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Row numbers in rising order, and the worth of each."""


def divided(rows: Sequence[tuple[int, int, float]], count: int) -> list[Scored]:
    """Rows that say first to which of ``count`` parts they belong, part by part."""
    flat = np.fromiter(chain.from_iterable(rows), np.float64, 3 * len(rows)).reshape(-1, 3)
    ends = np.searchsorted(flat[:, 0], np.arange(count + 1))
    return [
        (flat[one:other, 1].astype(np.int64), flat[one:other, 2].copy())
        for one, other in pairwise(ends)
    ]


def added(parts: Sequence[Scored]) -> Scored:
    """What rows are worth in all ``parts`` together, added in their order."""
    if len(parts) == 1:
        return parts[0]
    numbers, places = np.unique(np.concatenate([each for each, _ in parts]), return_inverse=True)
    worths = np.concatenate([each for _, each in parts])
    return numbers, np.bincount(places, weights=worths, minlength=len(numbers))


def within(rows: Scored, spans: Sequence[range]) -> Scored:
    """Those rows whose numbers lie in one of the spans, which rise."""
    numbers, worths = rows
    places = [slice(*np.searchsorted(numbers, (span.start, span.stop))) for span in spans]
    return (
        np.concatenate([numbers[each] for each in places]),
        np.concatenate([worths[each] for each in places]),
    )


def highest[T: np.floating](
    numbers: NDArray[np.int64], worths: NDArray[T], limit: int
) -> list[tuple[int, float]]:
    """The best, best first; of those worth the same the lowest number."""
    if len(numbers) > limit:
        kept = worths >= np.partition(worths, -limit)[-limit]
        numbers, worths = numbers[kept], worths[kept]
    order = np.lexsort((numbers, -worths))[:limit]
    return list(zip(numbers[order].tolist(), worths[order].tolist(), strict=True))
