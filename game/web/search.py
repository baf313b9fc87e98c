"""Words in the memories of all agents; in a view's thread.

The archives are read from their ends, so that a search finds what no index has yet. What it costs
is bounded by bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from heapq import nlargest
from itertools import islice

from game.web.agents import Inhabitant, inhabitants
from game.web.shapes import FoundOf, FoundView, SearchView, iso
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.errors import KeepsakeError
from keepsake.json_lines import parsed

MOST_BYTES = 200_000_000
"""Of all archives together, each its share: about two seconds of one core."""
MOST_EACH = 200
"""Memories of one agent that are found: reading ends there, and what all of them say is quick."""
_WORD = re.compile(r"\w+")


class NoWord(KeepsakeError):
    """There is no word in a question."""


def search(question: str, limit: int) -> SearchView:
    """The newest memories that hold all the words, as whole words or beginnings of such.

    Raises:
        NoWord: There is no word in it.
        OSError: An archive cannot be read.
    """
    words = tuple(dict.fromkeys(_WORD.findall(question.casefold())))
    if not words:
        raise NoWord(f"There is no word in {question[:40]!r}", "Give letters or digits")
    there = inhabitants()
    share, complete = MOST_BYTES // max(len(there), 1), True
    counts: list[FoundOf] = []
    found: list[tuple[Inhabitant, Memory]] = []
    for agent in there:
        reading = _Reading(agent, words, share)
        own = [*islice(reading, MOST_EACH)]
        complete = complete and reading.complete
        found += [(agent, memory) for memory in own[:limit]]
        if own:
            counts.append(FoundOf(id=agent.number, name=agent.name, found=len(own)))
    newest = nlargest(limit, found, key=lambda each: each[1].time)
    return SearchView(
        question=question,
        hits=tuple(_view(*each) for each in newest),
        agents=tuple(sorted(counts, key=lambda each: (-each.found, each.name))),
        complete=complete,
        most_each=MOST_EACH,
    )


class _Reading:
    """The memories of one agent with all the words, the newest first.

    Attributes:
        complete: Whether its whole archive was read.
    """

    def __init__(self, agent: Inhabitant, words: Collection[str], most: int) -> None:
        self.complete, self._most = True, most
        self._folder = agent.folder / "archive"
        self._wanted = [re.compile(rf"\b{re.escape(word)}") for word in words]
        # What is no ASCII may stand in a line in other letters: only its parsed text tells.
        self._needles = [word.encode() for word in words if word.isascii()]

    def __iter__(self) -> Iterator[Memory]:
        if self._folder.is_dir():
            yield from memories_in(map(parsed, self._lines()))

    def _lines(self) -> Iterator[bytes]:
        left = self._most
        for line in Archive(self._folder, read_only=True).lines_back():
            if (left := left - len(line)) < 0:
                self.complete = False
                return
            low = line.lower()
            if all(needle in low for needle in self._needles) and self._holds(line):
                yield line

    def _holds(self, line: bytes) -> bool:
        text = str(parsed(line).get("text", "")).casefold()
        return all(word.search(text) for word in self._wanted)


def _view(agent: Inhabitant, memory: Memory) -> FoundView:
    return FoundView.of(
        memory,
        id=agent.number,
        agent=agent.name,
        n=memory.number,
        at=iso(memory.time),
        kind=memory.kind.value,
    )
