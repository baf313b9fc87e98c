"""Words in the memories of all agents: read from the ends of their archives, in a view's thread.

So a search finds what no index has yet.
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
from keepsake.web.shapes import FoundView, SearchView

MOST_BYTES = 200_000_000
"""Of all archives together that are searched, each its share: about two seconds of one core."""
_WORD = re.compile(r"\w+")


class NoWord(KeepsakeError):
    """There is no word in a question."""


def search(agents: Sequence[tuple[int, str, Path]], question: str, limit: int) -> SearchView:
    """The newest memories that hold all the words, as whole words or beginnings of such.

    Raises:
        NoWord: There is no word in it.
        OSError: An archive cannot be read.
    """
    words = tuple(dict.fromkeys(_WORD.findall(question.casefold())))
    if not words:
        raise NoWord(f"There is no word in {question[:40]!r}", "Give letters or digits")
    complete = True
    found: list[FoundView] = []
    for number, name, folder in agents:
        own, whole = _newest(folder / "archive", words, limit, MOST_BYTES // len(agents))
        found += [FoundView(id=number, agent=name, memory=memory) for memory in own]
        complete = complete and whole
    newest = nlargest(limit, found, key=lambda each: each.memory.time)
    return SearchView(hits=tuple(newest), complete=complete)


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
        if all(needle in low for needle in needles):
            text = str(parsed(line).get("text", "")).casefold()
            if all(word.search(text) for word in wanted):
                found.append(line)
    return [*memories_in(map(parsed, found))], most >= 0
