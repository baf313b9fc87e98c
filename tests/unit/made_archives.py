"""Archives of some agents, written line by line, without a world."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import ME, Manner, Person, Sight, Speech
from keepsake.tracing.following import follow_sentence, follow_words
from keepsake.tracing.past import Archived, Past
from keepsake.tracing.typed.meant import People
from keepsake.tracing.wording import Wording

PEOPLE = ("Anneke", "Bob", "Mira", "Oswin", "Bram", "Joss", "Nell")
"""Whom typed words may name."""
BEGIN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


class Village:
    """Archives of some agents. A line takes a minute; who has no archive is a player."""

    def __init__(self, folder, *names):
        self.folder = folder
        self.now = BEGIN
        self.archives = {name: Archive(folder / name) for name in names}
        self.compactions = 0

    def remember(self, name, what, **facts):
        number = self.archives[name].last_number + 1
        memory = Memory(number=number, time=self.now, what=what, place="The Kettle", **facts)
        self.archives[name].append(memory.to_record())
        return number

    def said(self, speaker, words, *hearers, to=(), manner=Manner.SAY, rests_on=(), seen_by=()):
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

    def compact(self, name, text, last=0, sources=()):
        """Summarise what an agent remembers by a text, up to a memory, or all.

        ``sources``: The memories that each sentence tells.
        """
        self.now += timedelta(minutes=1)
        self.compactions += 1
        last = last or self.archives[name].last_number
        summary = Summary(Tier.RECENT, 1, last, text, "a model", self.now, sources=sources)
        state = SummaryState(None, summary, last, self.compactions, self.now)
        self.archives[name].append(state.compaction_line(self.compactions))

    def compact_on(self, name, text):
        """Summarise what came after the last compaction; its summary becomes the long-term one."""
        self.now += timedelta(minutes=1)
        self.compactions += 1
        before = self.read()[name].past.state_now
        last = self.archives[name].last_number
        longterm = replace(before.recent, tier=Tier.LONGTERM)
        recent = Summary(Tier.RECENT, before.summarised + 1, last, text, "a model", self.now)
        state = SummaryState(longterm, recent, last, self.compactions, self.now)
        self.archives[name].append(state.compaction_line(self.compactions))

    def follow(self, words, happening=""):
        names = {each.lower(): (each,) for each in PEOPLE}
        people = People(names, {each: each.lower() for each in self.archives})
        return follow_words(self.read(), Wording.of(words), happening, people)

    def follow_memory(self, name, number):
        """Follow the sentence in a memory."""
        (memory,) = self.archives[name].read(number, number)
        return follow_sentence(self.read(), name, memory).fact

    def read(self):
        found = {}
        for name in self.archives:
            past = Past(self.folder / name)
            past.read_on()
            found[name] = Archived(name, self.folder / name, past)
        return found


def standings(fact):
    return {each.agent: [spell.standing for spell in each.spells] for each in fact.knowers}


def ways(fact):
    """Return the path of each who knows a fact, as agents."""
    return {each.agent: [step.agent for step in each.path] for each in fact.knowers}
