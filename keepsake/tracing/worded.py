"""The memories of an archive that have words which a person typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keepsake.archive.records import Memory
from keepsake.tracing.texts import SegmentTexts, key_of
from keepsake.tracing.wording import Wording


def memories_with(
    segments: Sequence[SegmentTexts], wording: Wording, happening: str
) -> Iterator[Memory]:
    """Yield the memories of an archive that may bear on a fact, newest first; reads as needed.

    ``happening``: The identifier of the happening that is the fact itself; empty if it is none.
    """
    for segment in reversed(segments):
        places = {*wording.lines_in(segment.text)}
        if happening:
            places.update(segment.places_of(key_of(happening)))
        for memory in segment.memories(sorted(places, reverse=True)):
            if memory.happening == happening != "" or wording.is_said_in(
                memory.words or memory.text
            ):
                yield memory
