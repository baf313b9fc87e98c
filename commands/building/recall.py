"""Builders look into what an agent remembers, and how it finds it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from commands.base import player_named
from commands.building.base import BuilderCommand, plain, shortened
from commands.wording import counted, quoted
from keepsake.archive.log import Archive
from keepsake.archive.records import EDITED, Memory, MemoryKind, Summary, Tier
from keepsake.errors import KeepsakeError
from keepsake.recall.documents import DocumentKind, Hit
from typeclasses.absence import TOLD
from typeclasses.agents import find_agents

HITS = 12
NEWEST = 100
"""Memories that are shown when no range is given."""
MOST = 5000
_MARKS = {MemoryKind.ACT: "|c~|n", MemoryKind.RESULT: "|x=|n", MemoryKind.PERCEPTION: " "}


class CmdRecall(BuilderCommand):
    """Search an agent's memory as its own thoughts do, and see why.

    Usage:
      @recall <agent> = <words>

    Without a name the agent in the room is meant: |w@recall = brass key|n.
    Shows the best notes, summaries and raw memories with their scores, where they
    come from, and what led to each: words, meaning, names, times, neighbours. The
    scores of one search can be compared with each other and with nothing else.
    What stands in the agent's window is not searched; it has that before it.
    A reply also chooses from window and summaries: see |w@agent/prompt <agent> = <words>|n.

    Example:
      @recall Mira = who lost a brass key?

    See also: |whelp @memories|n, |whelp @notes|n
    """

    key = "@recall"

    def run(self) -> None:
        """Search in the background."""
        if not self.rhs:
            raise KeepsakeError("Give words to look for", "As in: @recall Mira = the brass key")
        agent, words = self.agent_named(self.lhs), self.rhs
        name, mind = agent.key, self.mind(agent)
        recaller, window = mind.keeper.recaller, len(mind.memory.context().window)

        def work() -> str:
            hits = recaller.rank(words, HITS)
            if hits is None:
                raise KeepsakeError(
                    f"{name}'s memory cannot be searched now", "agents.log says why; try again"
                )
            return hits_shown(name, words, hits, window)

        recaller.prepare()
        self.answer(work)


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
        found = player_named(self.args)
        if found is None or found.is_agent:
            name = quoted(plain(shortened(self.args.strip())))
            raise KeepsakeError(f"There is no player {name}", "As in: @away Tom")
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


class CmdMemories(BuilderCommand):
    """Read an agent's raw memories, and what is under a summary.

    Usage:
      @memories <agent>                the newest
      @memories <agent> <from>-<to>    these; also a single number
      @memories <agent>/summary        its short-term summaries
      @memories <agent>/summary <n>    one of them, and the memories that it covers

    Without a name the agent in the room is meant, as in |w@memories 65-128|n.
    Memories are numbered in the order lived. |c~|n marks what the agent did itself,
    with its private reason, |x=|n what came of it.

    Example:
      @memories Mira/summary 3

    See also: |whelp @memory-status|n, |whelp @recall|n
    """

    key = "@memories"
    switch_options = ("summary",)

    def run(self) -> None:
        """Read the archive in the background."""
        words, behind = re.subn(r"\s*/\s*summar(y|ies)\b", " ", self.args)
        summary = behind or "summary" in self.switches
        words = re.sub(r"(?<=\d)\s*-\s*(?=\d)", "-", words)
        agent, number = self.agent_and_last(words, r"\d{1,9}(-\d{1,9})?")
        numbers = sorted(map(int, number.split("-"))) if number else []
        name, archive = agent.key, self.mind(agent).memory.memory.archive
        if not summary:
            self.answer(lambda: _memories(name, archive, numbers))
        elif numbers:
            self.answer(lambda: _summary(name, archive, numbers[0]))
        else:
            self.answer(lambda: _summaries(name, archive))


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


def _short_term(archive: Archive) -> dict[int, Summary]:
    """The short-term summaries that stand, by their compaction, as they were edited last."""
    found: dict[int, Summary] = {}
    for _, record in archive.changes():
        try:
            match record:
                case {"type": "compaction", "recent": dict(recent)}:
                    found[int(record["id"])] = Summary.from_record(Tier.RECENT, recent)
                case {"type": "undo", "id": int(number)}:
                    found.pop(number, None)
                case {"type": "edit", "tier": "recent", "text": str(text)} if found:
                    newest = next(reversed(found))
                    found[newest] = replace(found[newest], text=text, model=EDITED)
        except (KeyError, ValueError, TypeError):
            continue  # @memory-status reports lines that cannot be read
    return found


def _summaries(name: str, archive: Archive) -> str:
    found = _short_term(archive)
    if not found:
        return f"{name} has no short-term summaries yet."
    lines = [
        f"{number:>4}  {each.time:%Y-%m-%d %H:%M}  memories {each.first}-{each.last}  "
        f"{plain(shortened(each.text, 300))}"
        for number, each in found.items()
    ]
    return "\n".join([f"|w{name}'s short-term summaries|n", *lines])


def author_of(model: str) -> str:
    """Who wrote a summary, to be said after its memories."""
    return EDITED if model == EDITED else f"by {plain(model)}"


def _summary(name: str, archive: Archive, number: int) -> str:
    found = _short_term(archive)
    if number not in found:
        there = f"There are 1 to {max(found)}" if found else "There are none yet"
        raise KeepsakeError(f"{name} has no short-term summary {number}", there)
    summary = found[number]
    title = (
        f"|w{name}'s short-term summary {number}|n (memories {summary.first}-{summary.last}, "
        f"{author_of(summary.model)}, {summary.time:%Y-%m-%d %H:%M} UTC)"
    )
    memories = memory_lines(archive.read(summary.first, summary.last))
    return "\n".join([title, plain(summary.text), "", "|wIt covers|n", *memories])
