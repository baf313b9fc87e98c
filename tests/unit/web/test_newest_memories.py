"""Search by exact words: the newest memories of an agent, as the pages show them."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind, memories_in
from keepsake.happening import ME, Deed, Manner, Person, Speech, own_deed_of, shown_speech
from keepsake.web.searching import By, MemoryFilter, NewestMemories, search, words_of
from tests.unit.made_archives import Village

ALL = 1_000_000


class Shown(Village):
    """A village whose lines are also read on a screen."""

    def heard(self, name, speaker, words, to=(), manner=Manner.SAY):
        self.now += timedelta(minutes=1)
        somebody = Person(speaker, speaker.lower())
        shown = shown_speech(speaker, words, to, manner)
        speech = Speech(speaker=somebody, words=words, to=to, manner=manner, shown=shown)
        self.remember(name, speech)


@pytest.fixture
def village(tmp_path):
    village = Shown(tmp_path, "Mira", "Says")
    for name in ("Mira", "Says"):
        village.heard(name, "Anneke", "I have silver spoons.")
        village.said(name, "Silver? Says who?", to=("Anneke",))
        village.heard(name, "Anneke", "Mira shouts, and you say nothing.", to=(ME,))
        village.said(name, "Whisper it to Zoë.", to=("Bob",), manner=Manner.SHOUT)
        village.heard(name, "Bob", "The café has ÉCLAIRS.", to=(Person("Mira", "m"),))
        deed = Deed(actor=ME, verb="give", to=(Person("Bob", "bob"),), shown="give bun to Bob")
        village.remember(name, deed)
    return village


@pytest.mark.parametrize("name", ["Mira", "Says"])
@pytest.mark.parametrize(
    "wanted",
    [
        MemoryFilter(),
        MemoryFilter(person="mira"),
        MemoryFilter(person="you"),
        MemoryFilter(person="ann"),
        MemoryFilter(place="kettle"),
        MemoryFilter(place="mill"),
        MemoryFilter(kind=MemoryKind.ACT),
    ],
)
@pytest.mark.parametrize(
    "question",
    [
        "silver",
        "mira says",
        "says",
        "says silver",
        "you",
        "to",
        "does",
        "café",
        "éclairs",
        "bob",
        "",
    ],
)
def test_they_are_those_that_a_look_at_each_memory_finds(village, name, wanted, question):
    expected = []
    for memory in memories_in(Archive(village.folder / name, read_only=True).backwards()):
        told = f"{memory.text} {own_deed_of(memory.what, name)}".casefold()
        has = all(re.search(rf"\b{re.escape(each)}", told) for each in words_of(question))
        if has and wanted.passes(memory, name):
            expected.append(memory.number)
    memories = NewestMemories(village.folder / name, name, words_of(question), wanted, ALL)
    assert [each.number for each in memories] == expected


def test_of_many_agents_the_newest_come_first_and_no_archive_is_read_further(tmp_path):
    village = Shown(tmp_path, "Mira/archive", "Joss/archive")
    for n in range(30):
        village.heard(("Mira/archive", "Joss/archive")[n % 2], "Anneke", f"Wave {n}.")
    agents = [(n, name, tmp_path / name, None) for n, name in ((1, "Mira"), (2, "Joss"))]
    answer = search(agents, "wave", By.WORDS, MemoryFilter(), 5)
    said = [f'Anneke says, "Wave {n}."' for n in range(29, 24, -1)]
    assert [each.memory.text for each in answer.hits] == said
    assert [each.agent for each in answer.hits] == ["Joss", "Mira", "Joss", "Mira", "Joss"]
    assert answer.complete


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("The Name of the bell", ("name", "bell")),
        ("the of", ("the", "of")),  # else nothing would show why a memory was found
        ("", ()),
    ],
)
def test_the_answer_names_the_words_that_tell_something(village, question, words):
    agents = [(1, "Mira", village.folder / "Mira", None)]
    answer = search(agents, question, By.WORDS, MemoryFilter(person="Anneke"), 5)
    assert answer.words == words
