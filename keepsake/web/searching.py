"""Search in the memories of all agents: by meaning and words, or by exact words.

By meaning and words, each agent's own index is asked, as for its thoughts; then the memories of its
window are found too. By exact words, the archives are read from their ends, so memories that are
not indexed yet are found as well. Everything here blocks: it runs in a view's thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from heapq import merge
from itertools import batched, islice, repeat
from pathlib import Path

from keepsake.agent.memory.recaller import Recaller
from keepsake.archive.log import Archive
from keepsake.archive.newest_lines import LinesWithNeedles, needle_of
from keepsake.archive.records import Memory, MemoryKind, memories_in
from keepsake.happening import (
    ME,
    Deed,
    HappeningKind,
    Manner,
    Speech,
    addressees_of,
    own_deed_of,
)
from keepsake.json_lines import parsed
from keepsake.language.perception import COMMON_WORDS, stems, telling
from keepsake.recall.documents import DocumentKind
from keepsake.tracing.wording import Wording
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.remembered import PlanWords, view_of, words_in_archive
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

    def texts_in_lines(self, agent: str) -> Sequence[str]:
        """Return what the line of any wanted memory has; ``agent``: the name of whose it is."""
        # In its own lines an agent has no name.
        by_name = _in(self.person, (agent, ME.name))
        return (self.place.strip(), *(() if by_name else (self.person.strip(),)))

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


def telling_words_of(question: str) -> tuple[str, ...]:
    """Return the words of a question without stop words; all of them if it has no others."""
    every = words_of(question)
    return tuple(each for each in every if each not in COMMON_WORDS) or every


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
    scored = best_by_meaning(agents, question, limit if wanted.is_open else limit * MORE)
    if scored is None:
        return None
    wording = any_word_of(question)
    shown = _Shown()
    best: list[FoundView] = []
    for some in batched(scored, limit):
        for memory, agent in read_found(some):
            if wanted.passes(memory, name := agent[1]):
                told = f"{memory.text} {own_deed_of(memory.what, name)}"
                best.append(shown.found(memory, agent, has_words=wording.is_said_in(told)))
        if len(best) >= limit:
            break
    return _answer(best[:limit], question, By.MEANING)


def best_by_meaning(
    agents: Sequence[Searched], question: str, most: int
) -> list[tuple[Searched, int]] | None:
    """Return the memories that are best by meaning and words, by agent and number, best first.

    Several agents may remember the same.

    Args:
        most: The most memories of each agent.

    Returns:
        None if no index can be searched.
    """
    scored: list[tuple[float, Searched, int]] = []
    searched = 0
    for each in agents:
        recaller = each[-1]
        hits = recaller.find_blocking(question, most) if recaller is not None else None
        if hits is None:
            continue
        searched += 1
        scored += [
            (hit.score, each, hit.document.first)
            for hit in hits
            if hit.document.kind is DocumentKind.MEMORY
        ]
    scored.sort(key=lambda each: each[0], reverse=True)
    return [each[1:] for each in scored] if searched else None


def read_found(wanted: Sequence[tuple[Searched, int]]) -> Iterator[tuple[Memory, Searched]]:
    """Yield memories by the agent and the number of each, in this order; those that there are.

    The archive of each agent is read once for all of them, as reading is what takes long.
    """
    numbers: dict[Path, list[int]] = {}
    for (_, _, folder, _), number in wanted:
        numbers.setdefault(folder, []).append(number)
    found = {
        folder: Archive(folder / "archive", read_only=True).read_each(each)
        for folder, each in numbers.items()
    }
    for agent, number in wanted:
        memory = found[agent[2]].get(number)
        if memory is not None:
            yield memory, agent


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
    streams: list[Iterator[tuple[Memory, Searched]]] = []
    read: list[NewestMemories] = []
    words = words_of(question)
    most = MOST_BYTES // max(len(agents), 1)
    for each in agents:
        _, name, folder, _ = each
        memories = NewestMemories(folder / "archive", name, words, wanted, most)
        read.append(memories)
        streams.append(zip(memories, repeat(each)))
    # Each archive is only read as far as the newest memories of all need it.
    newest = islice(merge(*streams, key=lambda hit: hit[0].time, reverse=True), limit)
    shown = _Shown()
    hits = [shown.found(memory, agent, has_words=True) for memory, agent in newest]
    complete = all(each.complete for each in read)
    return _answer(hits, question, By.WORDS, complete=complete)


def _answer(
    hits: Sequence[FoundView], question: str, by: By, *, complete: bool = True
) -> SearchView:
    marked = telling_words_of(question)
    return SearchView(hits=tuple(hits), by=by, words=marked, complete=complete)


class _Shown:
    """Makes what pages show of memories; the plans of each agent are read once, if they matter."""

    def __init__(self) -> None:
        self._words: dict[Path, PlanWords] = {}

    def found(self, memory: Memory, agent: Searched, *, has_words: bool) -> FoundView:
        """Return a memory of an agent as pages show it."""
        number, name, folder, _ = agent
        if folder not in self._words:
            self._words[folder] = words_in_archive(Archive(folder / "archive", read_only=True))
        view = view_of(memory, self._words[folder])
        return FoundView(id=number, agent=name, memory=view, has_words=has_words)


class NewestMemories:
    """An agent's memories with all words of a question that a filter lets pass, newest first.

    It can be iterated over once; reads as far as needed, and blocks.

    Args:
        folder: That of the archive, which may be missing.
        agent: The agent's name.
        words: In small letters; none for all memories that the filter lets pass.
        most: The most bytes to read, from the end of the archive.
    """

    def __init__(
        self, folder: Path, agent: str, words: Sequence[str], wanted: MemoryFilter, most: int
    ) -> None:
        self._folder = folder
        self._agent = agent
        self._wanted = wanted
        self._patterns = [re.compile(rf"\b{re.escape(word)}") for word in words]
        told = _told_of_any_act(agent)
        # The line of an act has neither the agent's name nor a verb in the third person.
        everywhere = [word for word in words if not re.search(rf"\b{re.escape(word)}", told)]
        self._in_acts = [*map(needle_of, (*everywhere, *wanted.texts_in_lines(agent)))]
        self._in_others = [*self._in_acts, *map(needle_of, words)]
        self._lines = LinesWithNeedles(folder, [max(self._in_acts, key=len, default=b"")], most)

    @property
    def complete(self) -> bool:
        """Whether the bytes that may be read were enough so far."""
        return self._lines.complete

    def __iter__(self) -> Iterator[Memory]:
        if not self._folder.is_dir():
            return
        for line in self._lines:
            small = line.lower()
            needles = self._in_acts if _ACT in small else self._in_others
            if not all(needle in small for needle in needles):
                continue
            for memory in memories_in([parsed(line)]):
                told = f"{memory.text} {own_deed_of(memory.what, self._agent)}".casefold()
                said = all(each.search(told) for each in self._patterns)
                if said and self._wanted.passes(memory, self._agent):
                    yield memory


def _told_of_any_act(agent: str) -> str:
    """Return the words besides its own in what tells an act of an agent, in small letters."""
    said = (
        own_deed_of(Speech(speaker=ME, words="", to=(ME,), manner=each), agent) for each in Manner
    )
    return " ".join((*said, own_deed_of(Deed(actor=ME, verb=""), agent))).casefold()
