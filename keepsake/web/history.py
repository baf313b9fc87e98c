"""What agents experienced, read from their archives; in a view's thread, never the reactor's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from pathlib import Path

from keepsake.archive import history
from keepsake.archive.history import PastCompaction
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.archive.tier_lines import SummaryState
from keepsake.errors import KeepsakeError
from keepsake.json_lines import parsed
from keepsake.prompt.tokens import Heuristic
from keepsake.web.shapes import Compactions, CompactionView, FoundView, SearchView, SummaryView, iso
from keepsake.web.world import ArchiveAccess, inhabitants, summary_view

_HEURISTIC = Heuristic()
MOST_MEMORIES = 200
MOST_LIVES = 8
"""Lives whose compactions are kept in RAM: about 2 MB for each 10,000 memories."""
MOST_BYTES = 200_000_000
"""Of all archives together that are searched, each its share: about two seconds of one core."""
_WORD = re.compile(r"\w+")


class NoWord(KeepsakeError):
    """There is no word in a question."""


@lru_cache(maxsize=MOST_LIVES)
def _past(archive: Archive, _state: tuple[object, ...]) -> Sequence[PastCompaction]:
    """All compactions of an archive in that state, oldest first: reading them takes a while."""
    return history.compactions(archive)


def compactions(life: ArchiveAccess, limit: int, before: int | None = None) -> Compactions:
    """The newest compactions, or those older than ``before``, newest first; undone ones as well.

    Raises:
        OSError: The archive cannot be read.
    """
    past = _past(life.archive, life.state)
    wanted = [each for each in past if before is None or each.number < before]
    undone = {each.number for each in past if each.undone is not None}
    newest = reversed(wanted[-limit:])
    shown = tuple(_compaction(each, undone) for each in newest)
    return Compactions(compactions=shown, total=len(past))


def _compaction(past: PastCompaction, undone: Collection[int]) -> CompactionView:
    first, last = past.covered or (0, 0)
    return CompactionView.of(
        past,
        at=iso(past.time),
        outcome=past.outcome.value,
        first=first,
        last=last,
        undone=past.undone is not None,
        good=past.verdict.good if past.verdict else None,
        verdict=past.verdict.words if past.verdict else "not checked",
        before=tuple(_texts(past.before, undone)),
        after=tuple(_texts(past.after, undone)),
    )


def _texts(texts: SummaryState, undone: Collection[int]) -> Iterator[SummaryView]:
    for each in (texts.longterm, texts.recent):
        if each is not None:
            tokens = each.tokens_after or _HEURISTIC.of(each.text)  # as they were counted then
            undone_since = texts.standing in undone
            yield summary_view(each, texts.standing, tokens, undone=undone_since)


# -- words in the memories of all agents: archives are read from their ends, so that a search finds
# what no index has yet


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
    found: list[tuple[int, str, Memory]] = []
    for agent in agents:
        own, whole = _newest(agent.folder / "archive", words, limit, MOST_BYTES // len(agents))
        found += [(agent.number, agent.name, memory) for memory in own]
        complete = complete and whole
    newest = nlargest(limit, found, key=lambda each: each[2].time)
    hits = tuple(FoundView(id=n, agent=name, memory=memory) for n, name, memory in newest)
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
