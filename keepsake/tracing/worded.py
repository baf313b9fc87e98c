"""The memories of an archive that have words which a person typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from keepsake.archive.line_types import LineType
from keepsake.archive.records import Memory
from keepsake.json_lines import parsed
from keepsake.tracing.lines import segments_of
from keepsake.tracing.wording import Wording

_MEMORY = LineType.MEMORY.start


def memories_with(folder: Path, wording: Wording, happening: str) -> list[Memory]:
    """Return the memories of an archive that may bear on a fact: they say it, or rest on others.

    ``happening``: The identifier of the happening that is the fact itself; empty if it is none.
    """
    found = []
    for data in segments_of(folder):
        for line in _lines_at(data, _places_in(data, wording, happening)):
            # Opening the memory reports damaged lines.
            with suppress(KeyError, ValueError, TypeError):
                memory = Memory.from_record(parsed(line))
                if memory.happening == happening != "" or wording.is_said_in(
                    memory.words or memory.text
                ):
                    found.append(memory)
    return found


def _places_in(data: bytes, wording: Wording, happening: str) -> list[int]:
    """Return places in all lines that may say a fact, in order: few lines have its words."""
    found = list(wording.places_in(data.lower()))
    if happening:
        found += (each.start() for each in re.finditer(re.escape(f'"{happening}"'.encode()), data))
    return sorted(found)


def _lines_at(data: bytes, places: Iterable[int]) -> Iterator[bytes]:
    """Yield the lines of memories that have these places, each once."""
    end = -1
    for place in places:
        if place < end:
            continue
        start = data.rfind(b"\n", 0, place) + 1
        end = data.index(b"\n", place)
        if data.startswith(_MEMORY, start):
            yield data[start:end]
