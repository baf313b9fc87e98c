"""Builders look into what an agent remembers, and how it finds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from keepsake.archive.log import Archive
from keepsake.archive.records import EDITED, Memory, MemoryKind
from keepsake.contrib.evennia.characters import TOLD
from keepsake.contrib.evennia.commands.base import (
    BuilderCommand,
    Query,
    find_player,
    plain,
    shortened,
)
from keepsake.contrib.evennia.creation import find_agents
from keepsake.contrib.evennia.wording import counted, quoted
from keepsake.errors import KeepsakeError
from keepsake.recall.documents import DocumentKind, Hit

HITS = 12
NEWEST = 100
"""Memories that are shown when no range is given."""
MOST = 5000
_MARKS = {MemoryKind.ACT: "|c~|n", MemoryKind.RESULT: "|x=|n", MemoryKind.PERCEPTION: " "}


def search(query: Query) -> Callable[[], str]:
    """``@recall``: search as the agent's own thoughts do; raises KeepsakeError without words."""
    name, words, memory = query.name, query.words, query.mind.memory
    if not words:
        raise KeepsakeError("Give words to look for", "As in: @recall Mira = the brass key")
    recaller, window = query.mind.keeper.recaller, len(memory.context().window)

    def work() -> str:
        hits = recaller.rank(words, HITS)
        if hits is None:
            raise KeepsakeError(
                f"{name}'s memory cannot be searched now", "agents.log says why; try again"
            )
        return hits_shown(name, words, hits, window)

    recaller.prepare()
    return work


def hits_shown(name: str, words: str, hits: Sequence[Hit], window: int) -> str:
    """The hits of one search, best first, each with its score, source and reasons.

    ``window``: How many memories were not searched, since they stand in every prompt.
    """
    title = f"|w{name} recalls|n {plain(shortened(words))}"
    if not hits:
        beyond = f" beyond the {counted(window, 'memory')} of its window" if window else ""
        return f"{title}\n  nothing{beyond}"
    return "\n".join([title, *(_hit(place, hit) for place, hit in enumerate(hits, start=1))])


def _hit(place: int, hit: Hit) -> str:
    document = hit.document
    where = f", {plain(document.place)}" if document.place else ""
    text = plain(shortened(" ".join(document.text.split()), 200))
    reasons = plain("; ".join(hit.reasons)) or "beside one that was found"
    return (
        f"{place:>3}. |w{hit.score:6.2f}|n  {_source(hit)}  "
        f"|x{document.time:%Y-%m-%d %H:%M}{where}|n\n      {text}\n      |xwhy:|n {reasons}"
    )


def _source(hit: Hit) -> str:
    document = hit.document
    if document.kind is DocumentKind.NOTE:
        return f"|ynote|n {plain(document.title)}"
    number = document.key.partition(":")[2]
    if document.kind is DocumentKind.SUMMARY:
        return f"|ysummary|n {number} (memories {document.first}-{document.last})"
    return f"|ymemory|n {number}"


class CmdAwayNews(BuilderCommand):
    """See on which memories "While you were away" rested, at a player's last login.

    Usage:
      @away <player>

    Whoever logs in reads three lines at most of what concerned them meanwhile: who
    asked after them or spoke of them, what came of a deed, a promise. Each line comes
    from one memory of one agent, and this shows them. It has nothing to do with |wafk|n.

    Example:
      @away Tom

    See also: |whelp @memories|n
    """

    key = "@away"

    def run(self) -> None:
        """Read the memories in the background."""
        found = find_player(self.args, "As in: @away Tom")
        told = [
            (agent, self.mind(agent).memory.memory.archive, number)
            for name, number in found.attributes.get(TOLD) or ()
            for agent in find_agents(name)[:1]
        ]

        def work() -> str:
            rows = (
                f"|w{agent.key}|n\n" + "\n".join(memory_lines(archive.read(number, number)))
                for agent, archive, number in told
            )
            return "\n".join(rows) or f"{found.key} was told nothing at the last login."

        self.answer(work)


def memories(query: Query) -> Callable[[], str]:
    """``@memories``: some memories, word for word."""
    name, archive = query.name, query.mind.memory.memory.archive
    words = query.words.replace(" ", "")
    if not re.fullmatch(r"(\d{1,9}(-\d{1,9})?)?", words):
        raise KeepsakeError(f"{quoted(words)} is no range", "As in: @memories Mira 65-128")
    numbers = sorted(map(int, words.split("-"))) if words else []
    return lambda: _memories(name, archive, numbers)


def _memories(name: str, archive: Archive, numbers: Sequence[int]) -> str:
    newest = archive.last_number
    first, last = (numbers[0], numbers[-1]) if numbers else (max(newest - NEWEST + 1, 1), newest)
    if not newest:
        return f"{name} has no memories yet."
    if not 1 <= first <= newest:
        raise KeepsakeError(f"{name} has no memory {first}", f"There are 1 to {newest}")
    last = min(last, newest, first + MOST - 1)
    title = f"|w{name}'s memories {first}-{last}|n of {newest}"
    return "\n".join([title, *memory_lines(archive.read(first, last))])


def memory_lines(memories: Sequence[Memory]) -> list[str]:
    """One line a memory: number, time, place, what; the day and place only when they change."""
    lines, scene = [], ""
    for memory in memories:
        here = f"{memory.time:%A %d %B %Y}" + (f", {memory.place}" if memory.place else "")
        if here != scene:
            lines.append(f"|x-- {plain(here)} --|n")
            scene = here
        reason = f" |x({plain(memory.reason)})|n" if memory.reason else ""
        mark = _MARKS[memory.kind]
        lines.append(
            f"{memory.number:>6} |x{memory.time:%H:%M}|n {mark}  {plain(memory.line)}{reason}"
        )
    return lines


def author_of(model: str) -> str:
    """Who wrote a summary, to be said after its memories."""
    return EDITED if model == EDITED else f"by {plain(model)}"
