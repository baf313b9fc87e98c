"""Search in the memories of all agents: by meaning and words, or by exact words.

By meaning and words, each agent's own index is asked, as for its thoughts; then the memories of its
window are found too. By exact words, the archives are read from their ends, so memories that are
not indexed yet are found as well. Everything here blocks: it runs in a view's thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from heapq import nlargest
from pathlib import Path

from keepsake.agent.memory.recaller import Recaller
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind, memories_in
from keepsake.happening import HappeningKind, addressees_of, own_deed_of
from keepsake.json_lines import parsed
from keepsake.language.perception import stems, telling
from keepsake.recall.documents import DocumentKind
from keepsake.tracing.wording import Wording
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.remembered import view_of, words_in_archive
from keepsake.web.shapes import FoundView, SearchView

MOST_BYTES = 200_000_000
"""The most bytes of all archives to search, shared equally: about two seconds of one core."""
_NOTHING_CURE = "Give letters or digits, or an agent, a person, a place, a kind or a time"
MORE = 4
"""How many times as many hits are asked of an index if a filter may drop some of them."""
_WORD = re.compile(r"\w+")
_ACT = f'"{MemoryKind.ACT.value}"'.encode()
"""What the archive line of an act has in it."""


class By(StrEnum):
    """How memories are searched."""

    MEANING = "meaning"
    """By meaning and words, best first."""
    WORDS = "words"
    """By exact words, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories are wanted; what is empty or None wants any.

    Attributes:
        agent: The number of the agent whose memories are wanted.
        person: A part of the name of who spoke, acted or was addressed, in any case of letters.
        place: A part of the place's name.
        form: The type of what happened, such as speech.
        since, until: With time zone.
        private: Whether only whispered and other private ones are wanted.
    """

    agent: int | None = None
    person: str = ""
    place: str = ""
    kind: MemoryKind | None = None
    form: HappeningKind | None = None
    since: datetime | None = None
    until: datetime | None = None
    private: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it lets everything pass."""
        return self == MemoryFilter()

    def passes(self, memory: Memory, agent: str) -> bool:
        """Return whether a memory of an agent is wanted; ``agent``: Its name."""
        actor = agent if memory.is_own else memory.source
        people = (actor, *(each.name for each in addressees_of(memory.what)))
        return (
            _in(self.person, people)
            and _in(self.place, (memory.place,))
            and self.kind in (None, memory.kind)
            and self.form in (None, memory.form)
            and (self.since is None or memory.time >= self.since)
            and (self.until is None or memory.time <= self.until)
            and not (self.private and memory.confidants is None)
        )


def _in(part: str, names: Sequence[str]) -> bool:
    wanted = part.casefold().strip()
    return not wanted or any(wanted in name.casefold() for name in names)


def words_of(question: str) -> tuple[str, ...]:
    """Return the different words of a question, in small letters."""
    return tuple(dict.fromkeys(_WORD.findall(question.casefold())))


type Searched = tuple[int, str, Path, Recaller | None]
"""Number, name and folder of an agent, and its recall; None if its memory is not open."""


def search(
    agents: Sequence[Searched], question: str, by: By, wanted: MemoryFilter, limit: int
) -> SearchView:
    """Return memories of all agents, or of the one that is wanted.

    Without an index that can be searched, exact words are searched instead, and the answer says so.
    Without a question, the newest memories are found that are wanted.

    Raises:
        BadRequest: There is no word in the question, or neither a question nor a filter.
        NotFound: There is no agent with the number that the filter has.
    """
    agents = [each for each in agents if wanted.agent in (None, each[0])]
    if not agents and wanted.agent is not None:
        raise NotFound(f"There is no agent {wanted.agent}", "GET /agents/api/agents lists all")
    has_words = bool(_WORD.search(question))
    if not has_words and (question or wanted.is_open):
        what = f"There is no word in {question[:40]!r}" if question else "Nothing is asked for"
        raise BadRequest(what, _NOTHING_CURE)
    if by is By.MEANING and has_words:
        found = _by_meaning(agents, question, wanted, limit)
        if found is not None:
            return found
    return _by_words(agents, question, wanted, limit)


def _by_meaning(
    agents: Sequence[Searched], question: str, wanted: MemoryFilter, limit: int
) -> SearchView | None:
    """Return the best memories; None if no index can be searched."""
    scored: list[tuple[float, int, str, Archive, int]] = []
    searched = 0
    most = limit if wanted.is_open else limit * MORE
    for number, name, folder, recaller in agents:
        hits = recaller.find_blocking(question, most) if recaller is not None else None
        if hits is None:
            continue
        searched += 1
        archive = Archive(folder / "archive", read_only=True)
        scored += [
            (hit.score, number, name, archive, hit.document.first)
            for hit in hits
            if hit.document.kind is DocumentKind.MEMORY
        ]
    if not searched:
        return None
    scored.sort(key=lambda each: each[0], reverse=True)
    wording = any_word_of(question)
    best: list[FoundView] = []
    for _, number, name, archive, memory_number in scored:  # reading is what takes long
        for memory in archive.read(memory_number, memory_number):
            if wanted.passes(memory, name):
                shown = f"{memory.text} {own_deed_of(memory.what, name)}"
                has_words = wording.is_said_in(shown)
                best.append(_found(number, name, archive, memory, has_words=has_words))
        if len(best) >= limit:
            break
    return SearchView(hits=tuple(best), complete=True, by=By.MEANING)


def any_word_of(question: str) -> Wording:
    """Return what says any word of a question; of stop words only if it has no others."""
    wanted = telling(question) or stems(question)
    return Wording(tuple((each,) for each in sorted(wanted)))


def _by_words(
    agents: Sequence[Searched], question: str, wanted: MemoryFilter, limit: int
) -> SearchView:
    """Return the newest memories that hold all words of a question, whole or as prefixes.

    What an agent said or did is searched as the pages show it: ``Mira says to Bob, "…"``.
    """
    words = words_of(question)
    complete = True
    found: list[FoundView] = []
    for number, name, folder, _ in agents:
        most = MOST_BYTES // len(agents)
        own, whole = newest_memories(
            folder / "archive", name, words, wanted, limit=limit, most=most
        )
        if own:
            archive = Archive(folder / "archive", read_only=True)
            found += [_found(number, name, archive, memory, has_words=True) for memory in own]
        complete = complete and whole
    newest = nlargest(limit, found, key=lambda each: each.memory.time)
    return SearchView(hits=tuple(newest), complete=complete, by=By.WORDS)


def _found(
    number: int, name: str, archive: Archive, memory: Memory, *, has_words: bool
) -> FoundView:
    view = view_of(memory, words_in_archive(archive))
    return FoundView(id=number, agent=name, memory=view, has_words=has_words)


def newest_memories(
    folder: Path, agent: str, words: Sequence[str], wanted: MemoryFilter, *, limit: int, most: int
) -> tuple[list[Memory], bool]:
    """Return an agent's newest memories with all the words; whether ``most`` bytes were enough.

    ``folder``: Its archive's. No words: its newest memories that are wanted.
    """
    found: list[Memory] = []
    if not folder.is_dir():
        return [], True
    patterns = [re.compile(rf"\b{re.escape(word)}") for word in words]
    # Other letters may be escaped in a JSON line, and the line of an act has neither the agent's
    # name nor a verb in the third person: these are only compared in the text.
    needles = [word.encode() for word in words if word.isascii()]
    left = most
    for line in Archive(folder, read_only=True).lines_back():
        if len(found) == limit:
            break
        left -= len(line)
        if left < 0:
            break
        low = line.lower()
        if _ACT not in low and not all(needle in low for needle in needles):
            continue
        for memory in memories_in([parsed(line)]):
            told = f"{memory.text} {own_deed_of(memory.what, agent)}".casefold()
            if all(each.search(told) for each in patterns) and wanted.passes(memory, agent):
                found.append(memory)
    return found, left >= 0
