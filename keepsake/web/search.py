"""Words in the memories of all agents; in a view's thread.

The archives are read from their ends, so that a search finds what no index has yet. What it costs
is bounded by bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from heapq import nlargest
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.errors import KeepsakeError
from keepsake.json_lines import parsed
from keepsake.web.agents import Inhabitant, inhabitants
from keepsake.web.shapes import FoundView, SearchView, iso

MOST_BYTES = 200_000_000
"""Of all archives together, each its share: about two seconds of one core."""
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
    agents, complete = inhabitants(), True
    found: list[tuple[Inhabitant, Memory]] = []
    for agent in agents:
        own, whole = _newest(agent.folder / "archive", words, limit, MOST_BYTES // len(agents))
        found += [(agent, memory) for memory in own]
        complete = complete and whole
    newest = nlargest(limit, found, key=lambda each: each[1].time)
    hits = tuple(_view(*each) for each in newest)
    return SearchView(question=question, hits=hits, complete=complete)


def _newest(folder: Path, words: Sequence[str], limit: int, most: int) -> tuple[list[Memory], bool]:
    """An agent's newest memories with all the words; whether ``most`` bytes were enough."""
    found: list[bytes] = []
    if not folder.is_dir():
        return [], True
    wanted = [re.compile(rf"\b{re.escape(word)}") for word in words]
    # What is no ASCII may stand in a line in other letters: only its parsed text tells.
    needles = [word.encode() for word in words if word.isascii()]
    for line in Archive(folder, read_only=True).lines_back():
        if len(found) == limit or (most := most - len(line)) < 0:
            break
        low = line.lower()
        if all(needle in low for needle in needles) and _holds(line, wanted):
            found.append(line)
    return [*memories_in(map(parsed, found))], most >= 0


def _holds(line: bytes, wanted: Sequence[re.Pattern[str]]) -> bool:
    text = str(parsed(line).get("text", "")).casefold()
    return all(word.search(text) for word in wanted)


def _view(agent: Inhabitant, memory: Memory) -> FoundView:
    return FoundView.of(
        memory,
        id=agent.number,
        agent=agent.name,
        n=memory.number,
        at=iso(memory.time),
        kind=memory.kind.value,
    )
