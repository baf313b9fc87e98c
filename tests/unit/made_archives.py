"""Archives of some agents, written line by line, without a world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Unpack

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import ME, Manner, Person, Sight, Speech, What
from keepsake.language.sourced_text import Sources
from keepsake.tracing.facts import Fact
from keepsake.tracing.following import follow_sentence, follow_words
from keepsake.tracing.past import Archived, Past
from keepsake.tracing.standing import Standing
from keepsake.tracing.typed.choice import AS_FOUND, LineChoice
from keepsake.tracing.typed.meant import People
from keepsake.tracing.wording import Wording

PEOPLE = ("Anneke", "Bob", "Mira", "Oswin", "Bram", "Joss", "Nell")
"""Whom typed words may name."""
BEGIN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


class Village:
    """Archives of some agents. A line takes a minute; who has no archive is a player."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.now = BEGIN
        self.archives = {name: Archive(folder / name) for name in names}
        self.compactions = 0

    def remember(self, name: str, what: What, **facts: Unpack[MemoryFacts]) -> int:
        number = self.archives[name].last_number + 1
        memory = replace(Memory(number, self.now, what, place="The Kettle"), **facts)
        self.archives[name].append(memory.to_record())
        return number

    def said(
        self,
        speaker: str,
        words: str,
        *hearers: str,
        to: Sequence[str] = (),
        manner: Manner = Manner.SAY,
        rests_on: tuple[int, ...] = (),
        seen_by: Sequence[str] = (),
    ) -> dict[str, int]:
        """Have somebody say something; return the numbers of the memories by name."""
        self.now += timedelta(minutes=1)
        happening = f"h{self.now:%H%M}"
        whom = [Person(each, each.lower()) for each in to]
        numbers = {}
        if speaker in self.archives:
            speech = Speech(speaker=ME, words=words, to=tuple(whom), manner=manner)
            numbers[speaker] = self.remember(
                speaker, speech, happening=happening, rests_on=rests_on
            )
        for name in (*to, *hearers):
            if name not in self.archives:
                continue
            others = tuple(ME if each.name == name else each for each in whom)
            speech = Speech(
                speaker=Person(speaker, speaker.lower()), words=words, to=others, manner=manner
            )
            numbers[name] = self.remember(name, speech, happening=happening)
        for name in seen_by:
            sight = Sight(source=Person(speaker, speaker.lower()), shown=f"{speaker} whispers.")
            numbers[name] = self.remember(name, sight, happening=happening)
        return numbers

    def compact(self, name: str, text: str, last: int = 0, sources: Sources = ()) -> None:
        """Summarise what an agent remembers by a text, up to a memory, or all.

        ``sources``: The memories that each sentence tells.
        """
        self.now += timedelta(minutes=1)
        self.compactions += 1
        last = last or self.archives[name].last_number
        summary = Summary(Tier.RECENT, 1, last, text, "a model", self.now, sources=sources)
        state = SummaryState(None, summary, last, self.compactions, self.now)
        self.archives[name].append(state.compaction_line(self.compactions))

    def compact_on(self, name: str, text: str) -> None:
        """Summarise what came after the last compaction; its summary becomes the long-term one."""
        self.now += timedelta(minutes=1)
        self.compactions += 1
        before = self.read()[name].past.state_now
        last = self.archives[name].last_number
        assert before.recent is not None
        longterm = replace(before.recent, tier=Tier.LONGTERM)
        recent = Summary(Tier.RECENT, before.summarised + 1, last, text, "a model", self.now)
        state = SummaryState(longterm, recent, last, self.compactions, self.now)
        self.archives[name].append(state.compaction_line(self.compactions))

    def follow(self, words: str, happening: str = "", choice: LineChoice = AS_FOUND) -> Fact:
        names = {each.lower(): (each,) for each in PEOPLE}
        people = People(names, {each: each.lower() for each in self.archives})
        return follow_words(self.read(), Wording.of(words), happening, people, choice=choice)

    def follow_memory(self, name: str, number: int) -> Fact:
        """Follow the sentence in a memory."""
        (memory,) = self.archives[name].read(number, number)
        return follow_sentence(self.read(), name, memory).fact

    def read(self) -> dict[str, Archived]:
        found = {}
        for name in self.archives:
            past = Past(self.folder / name)
            past.read_on()
            found[name] = Archived(name, self.folder / name, past)
        return found


def standings(fact: Fact) -> dict[str, list[Standing]]:
    return {each.agent: [spell.standing for spell in each.spells] for each in fact.knowers}


def ways(fact: Fact) -> dict[str, list[str]]:
    """Return the path of each who knows a fact, as agents."""
    return {each.agent: [step.agent for step in each.path] for each in fact.knowers}
