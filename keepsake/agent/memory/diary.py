"""The journal of an agent in the game: what it writes, and what of it stands in prompts.

Everything but :meth:`Diary.lines` blocks and belongs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.agent.agent_log import Complaints
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Life
from keepsake.archive.privacy import NOBODY
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import EntryOrigin, JournalEntry, standing
from keepsake.books.files import Owner
from keepsake.books.journal import Journal, importance
from keepsake.books.persona import attribute_quote
from keepsake.language.heard import heard, meant_for
from keepsake.language.perception import telling
from keepsake.prompt.script import about_memory

RESTS_ON = 3
"""The most memories that an entry of the agent's own hand rests on."""
_WRITTEN = 4
"""How much an entry of the agent's own hand matters at least."""


class Diary:
    """The journal of one agent, and how much each of its memories matters.

    Attributes:
        journal: The entries.
    """

    def __init__(self, life: Life, memory: MemoryComponent, services: Runtime) -> None:
        self._trouble = Complaints(f"[Journal] {life.name}")
        emit = services.events.emit
        self.journal = Journal(life.folder / "journal", Owner(life.name, self._trouble, emit))
        self._name, self._memory, self._services = life.name, memory, services

    def importance_of(self, memory: Memory) -> int:
        """How much a memory matters, 1 to 10; quick, and may be asked in any thread.

        What the journal says of it counts over the rules.
        """
        entry = self.journal.resting_on(memory.number)
        return entry.importance if entry is not None else importance(memory, self._name)

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

    def write(self, text: str) -> JournalEntry:
        """Keep what the agent wants to remember; blocks.

        It matters as much as what it rests on, and at least somewhat, since the agent writes it.

        Raises:
            NoteRefused: It is empty, too long, or an instruction about the agent itself.
        """
        line = attribute_quote(text, self._memory.lately(), self._name)
        about = _about(line, self._memory.context().window)
        score = max([_WRITTEN, *map(self.importance_of, about)])
        # What rests on no other memory rests on the act of writing itself.
        here = [self._memory.memory.archive.last_number]
        return self.journal.write(
            line,
            importance=score,
            origin=_origin(about, self._name),
            memories=[memory.number for memory in about] or here,
            who=[memory.source_id for memory in about if memory.source_id],
            now=self._services.clock.now(),
        )


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
