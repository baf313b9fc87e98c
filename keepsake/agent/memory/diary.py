"""The journal of an agent in the game: what it writes, what is drawn out of its life, what stands.

Everything but :meth:`Diary.saw` and :meth:`Diary.lines` blocks and belongs in a worker thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from keepsake.agent.agent_log import Complaints, log, logged
from keepsake.agent.body import Life
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import NOBODY
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import (
    LEAST,
    MOST,
    EntryOrigin,
    Importance,
    JournalEntry,
    Judge,
    standing,
)
from keepsake.books.importance import draw_out, importance
from keepsake.books.journal import Journal
from keepsake.books.persona import attribute_quote
from keepsake.errors import KeepsakeError, NoteRefused
from keepsake.language.heard import heard, meant_for
from keepsake.language.perception import for_prompt
from keepsake.language.words import telling
from keepsake.recall.related import about_memory

MOST_SCORES = 4096
"""Memories whose importance is kept at hand; of others it is found again."""
RESTS_ON = 3
"""The most memories that an entry of the agent's own hand rests on."""
OTHERS_WORDS = 2
"""How much more than by the rules somebody else's words may matter, if the agent says so."""
_WEIGHED = re.compile(
    r"[\s(\[,;.–—-]*\bimportance\s*(?::|=|is|of)?\s*(?P<score>\d{1,2})(?:\s*/\s*10)?\b[\s)\].]*",
    re.I,
)


class Diary:
    """The journal of one agent, and how much each of its memories matters.

    Attributes:
        journal: The entries.
    """

    def __init__(
        self,
        life: Life,
        memory: MemoryComponent,
        met: Callable[[Memory], bool],
        services: Runtime,
    ) -> None:
        self._trouble = Complaints(f"[Journal] {life.name}")
        self.journal = Journal(
            life.folder / "journal",
            self._trouble,
            life.name,
            services.events.emit,
        )
        self.met = met
        self._name, self._memory, self._services = life.name, memory, services
        self._scores: dict[int, Importance] = {}

    # -- how much something matters

    def saw(self, memory: Memory) -> None:
        """Judge a new memory by the rules, while it is known what was new about it; quick."""
        if memory.repeats > 1:
            return
        self._scores[memory.number] = importance(memory, self._name, met=self.met(memory))
        if len(self._scores) > MOST_SCORES:
            del self._scores[next(iter(self._scores))]

    def importance_of(self, memory: Memory) -> Importance:
        """How much a memory matters; quick, and may be asked in any thread.

        What the journal says of it counts over the rules.
        """
        if (entry := self.journal.resting_on(memory.number)) is not None:
            return entry.importance
        found = self._scores.get(memory.number)
        return found or importance(memory, self._name)

    # -- what stands in the prompt

    def lines(self, about: str = "") -> tuple[str, ...]:
        """The entries that a prompt shows now, those about one person first; quick.

        ``about``: The identity of whoever is answered; empty for nobody.
        """
        services = self._services
        budget = services.journal.current.for_prompt(services.chat_tokens).budget
        if not budget:
            return ()
        window = self._memory.context().window
        now, tokens = services.clock.now(), services.tokens
        may_hear = self._memory.private.may_hear_all

        def may(entry: JournalEntry) -> bool:
            """What the window shows is to be read there; what is private is for nobody else."""
            numbers = entry.memories
            shown = window and numbers and numbers[-1] >= window[0].number
            return not shown and may_hear(numbers, audience=NOBODY)

        return standing(self.journal.known, budget, now, tokens, may, about)

    # -- writing

    def write(self, text: str) -> JournalEntry:
        """Keep what the agent wants to remember; blocks.

        Raises:
            NoteRefused: It is empty, too long, or an instruction about the agent itself.
        """
        words, judged = _judged(text)
        window = self._memory.context().window
        line = attribute_quote(words, self._memory.lately(), self._name)
        about = _about(line, window)
        mattered = self._rules(about)
        if judged is not None:
            # What somebody else said weighs as much as they like, if an agent says after them
            # how much: then it is the rules' word that counts, and little more.
            most = MOST if line == for_prompt(words) else mattered.score + OTHERS_WORDS
            mattered = replace(judged, score=min(judged.score, most))
        return self.journal.write(
            line,
            importance=mattered,
            origin=_origin(about, self._name),
            memories=[memory.number for memory in about] or self._here(),
            who=list(dict.fromkeys(m.source_id for m in about if m.source_id)),
            now=self._services.clock.now(),
        )

    def _rules(self, about: Sequence[Memory]) -> Importance:
        """How much it matters where the agent does not say: at least somewhat, since it writes."""
        of_memories = max((self.importance_of(each).score for each in about), default=LEAST)
        return Importance(min(max(of_memories, 4), MOST), Judge.RULES, ("written down",))

    def _here(self) -> list[int]:
        """The number of the act of writing itself, for what rests on no other memory."""
        return [self._memory.memory.archive.last_number]

    def leaving(self, window: Sequence[Memory]) -> None:
        """Draw out what matters before it is compacted; blocks, never raises.

        Whatever goes wrong, the compaction goes on, and the archive keeps what the journal lacks.
        """
        with logged(f"{self._name}: Drawing out broke off"):
            now = self._services.clock.now()
            try:
                drawn = draw_out(window, self._name, self.journal, self.importance_of, now)
            except KeepsakeError as error:
                self._trouble(f"Nothing was drawn out before a compaction: {error}")
                return
            if drawn:
                log(f"[Journal] {self._name}: {len(drawn)} memories were drawn out")


def _judged(text: str) -> tuple[str, Importance | None]:
    """The words without ``importance 8``, and what that says; None if it says nothing."""
    match = _WEIGHED.search(text)
    if match is None:
        return text, None
    score = int(match["score"])
    if not LEAST <= score <= MOST:
        raise NoteRefused(f"Nothing matters {score}", f"Give {LEAST} to {MOST}")
    # In the middle of a sentence the word is part of it; at its ends it is a mark.
    head, tail = text[: match.start()], text[match.end() :]
    if head.strip() and tail.strip():
        return text, None
    return f"{head}{tail}".strip(" :,;"), Importance(score, Judge.AGENT, ("said so",))


def _about(line: str, window: Sequence[Memory]) -> list[Memory]:
    """The memories of the window that an entry tells of, oldest first."""
    wanted = telling(line)
    scored = []
    for memory in window:
        if memory.kind is MemoryKind.ACT or about_memory(memory):
            continue
        shared = len(wanted & telling(f"{memory.source} {memory.text}"))
        if shared >= 2 and shared * 2 >= len(wanted):
            scored.append((shared, memory.number, memory))
    best = sorted(scored, key=lambda each: each[:2])[-RESTS_ON:]
    return sorted((memory for _, _, memory in best), key=lambda memory: memory.number)


def _origin(about: Sequence[Memory], own_name: str) -> EntryOrigin:
    """Where an entry comes from: the surest of what it rests on."""
    if not about:
        return EntryOrigin.INFERRED
    told = [said for memory in about if (said := heard(memory)) is not None]
    if told:
        to_me = any(meant_for(said, own_name) or not said.to for said in told)
        return EntryOrigin.TOLD if to_me else EntryOrigin.SURROUNDINGS
    return EntryOrigin.SEEN
