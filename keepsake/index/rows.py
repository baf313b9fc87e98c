"""Vectors of 16 bits a number, and the nearest of them by one product.

A row is a vector in steps of a 32,767th of its largest number, with what makes its length one:
772 bytes for 384 numbers. The nearest are those that single precision finds; with 8 bits one in
two hundred of them is another, and the shipped data sets lose half a point.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsake.errors import IndexUnavailable
from keepsake.index.scored import highest

_STEPS = 32_767.0
_BLOCK = 256
"""Rows that are widened at a time: they stay in the processor's cache."""
_SCANNED = 4_000
"""So many rows are compared one by one; of more, those whose signs agree best with the question."""
_AGREEING = 3_000

type Vector = Sequence[float] | NDArray[np.float32]
type Rows = NDArray[np.void]
"""One record a vector: ``row``, its numbers, and ``scale``."""


def shape(dimension: int) -> np.dtype[np.void]:
    """The form of a record for vectors of so many numbers."""
    return np.dtype([("row", "<i2", (dimension,)), ("scale", "<f4")])


def packed(vectors: Sequence[Sequence[float]]) -> Rows:
    """Vectors of any length as records."""
    wide = np.asarray(vectors, dtype=np.float32)
    steps = np.maximum(np.abs(wide).max(axis=1, keepdims=True), 1e-12) / _STEPS
    found = np.empty(len(wide), shape(wide.shape[1]))
    found["row"] = np.rint(wide / steps)
    lengths = np.linalg.norm(found["row"].astype(np.float32), axis=1)
    found["scale"] = 1.0 / np.maximum(lengths, 1.0)
    return found


def unpacked(stored: Sequence[bytes], dimension: int) -> Rows:
    """Records from their bytes.

    Raises:
        IndexUnavailable: They are of another dimension.
    """
    whole = b"".join(stored)
    if len(whole) != shape(dimension).itemsize * len(stored):
        raise IndexUnavailable(
            f"The vectors that are stored have other than {dimension} numbers",
            "Make the index anew with `keepsake index rebuild`",
        )
    return np.frombuffer(whole, shape(dimension))


class VectorRows:
    """Rows that do not change, with the number of each. Any thread may search."""

    def __init__(self, numbers: NDArray[np.int64], rows: Rows) -> None:
        self.numbers = numbers
        self._rows, self._scales = np.ascontiguousarray(rows["row"]), rows["scale"].copy()
        self._signs = _signs(self._rows).T.copy() if len(rows) > _SCANNED else None

    def changed(self, numbers: Sequence[int], rows: Rows) -> VectorRows:
        """With these rows in place of those of their numbers, and beside the others."""
        new = np.array(numbers, np.int64)
        stay = np.isin(self.numbers, new, invert=True)
        kept = np.empty(int(stay.sum()), rows.dtype)
        kept["row"], kept["scale"] = self._rows[stay], self._scales[stay]
        together = np.concatenate([self.numbers[stay], new])
        order = np.argsort(together)
        return VectorRows(together[order], np.concatenate([kept, rows])[order])

    @property
    def dimension(self) -> int:
        """Numbers in each."""
        return int(self._rows.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        signs = 0 if self._signs is None else self._signs.nbytes
        return int(self.numbers.nbytes + self._rows.nbytes + self._scales.nbytes + signs)

    def nearest(
        self, vector: Vector, limit: int, spans: Sequence[slice] = (slice(None),)
    ) -> list[tuple[int, float]]:
        """Places and cosine similarities of the nearest rows within ``spans``, best first.

        Raises:
            IndexUnavailable: The vector is not of the dimension of the rows.
        """
        asked = self._asked(vector)
        among = [self._compared(asked, span) for span in spans]
        places = np.concatenate([place for place, _ in among])
        likeness = np.concatenate([near for _, near in among])
        return highest(places, likeness, limit)

    def _asked(self, vector: Vector) -> NDArray[np.float32]:
        asked = np.asarray(vector, dtype=np.float32)
        if len(asked) != self.dimension:
            raise IndexUnavailable(
                f"A vector has {len(asked)} numbers, those held have {self.dimension}",
                "Make the index anew with one embedding model",
            )
        unit: NDArray[np.float32] = asked / max(float(np.linalg.norm(asked)), 1e-12)
        return unit

    def _compared(
        self, asked: NDArray[np.float32], span: slice
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Places, and how near each is: of all in the span, or of those that may be."""
        first, last, _ = span.indices(len(self._rows))
        if self._signs is not None and last - first > _SCANNED:
            places = first + _agreeing(self._signs[:, span], _signs(asked[None])[0])
        else:
            places = np.arange(first, max(first, last), dtype=np.int64)
        return places, self._likeness(places, asked)

    def _likeness(
        self, places: NDArray[np.int64], asked: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        found = np.empty(len(places), np.float32)
        for start in range(0, len(places), _BLOCK):
            block = self._rows.take(places[start : start + _BLOCK], axis=0).astype(np.float32)
            np.dot(block, asked, out=found[start : start + _BLOCK])
        found *= self._scales[places]
        return found


def _signs(rows: NDArray[np.int16] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """A bit for each number, 64 in one, set where it is above zero."""
    bits = np.packbits(rows > 0, axis=1)
    spare = -bits.shape[1] % 8
    return np.pad(bits, ((0, 0), (0, spare))).view(np.uint64)


def _agreeing(signs: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Places of some :data:`_AGREEING` rows that differ from the question in the fewest signs."""
    differing = np.zeros(signs.shape[1], np.uint16)
    for own, wanted in zip(signs, asked, strict=True):
        differing += np.bitwise_count(own ^ wanted)
    last = min(_AGREEING, len(differing)) - 1
    return np.flatnonzero(differing <= np.partition(differing, last)[last])
