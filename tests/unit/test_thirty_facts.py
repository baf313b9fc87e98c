"""Thirty facts, twelve of them whispered: what the page tells against a reader of its own.

The reader here uses nothing of the library: it reads the archives line by line, in order of time,
and keeps a book of who knows what from whom.
"""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from keepsake.web.pasts.fact import fact
from tests.gossip import Gossip

AGENTS = {
    name: f"{number}-20260101120000"
    for number, name in enumerate(
        ("Mira", "Oswin", "Bram", "Joss", "Wren", "Ada", "Nell", "Hale"), start=10
    )
}
PLAYERS = {"Anneke": "901-20260101120000", "Tom": "902-20260101120000"}
FACTS = [
    f"{first}{last}"
    for first in ("Zeb", "Quill", "Yar", "Obad", "Fenn", "Ivv")
    for last in ("edon", "ariel", "umper", "oskin", "ithwa")
]
WHISPERED = FACTS[::5] + FACTS[1::5]


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """Folders of eight agents after four days of talk."""
    folder = tmp_path_factory.mktemp("agents")
    folders = {name: folder / name / "archive" for name in AGENTS}
    village = Gossip(folders, AGENTS | PLAYERS, FACTS, WHISPERED, seed=7)
    village.live(1200)
    village.close()
    return [(number, name, folder / name) for number, name in enumerate(AGENTS, start=10)]


class Replay:
    """Reads archives as plain JSON, and follows one word."""

    def __init__(self, agents, word):
        self.word = word
        self.memories = defaultdict(dict)  # by happening: agent -> line
        self.states = {}
        self.order = []
        for number, _, folder in agents:
            self.read(number, folder)
        self.known = defaultdict(dict)  # agent -> number of a memory -> path to it
        self.first = {}
        self.source = {}
        # All that an agent remembers of one happening has the happening's time.
        for happening in sorted(self.memories, key=lambda each: each.split("-")[0]):
            self.follow(self.memories[happening])

    def read(self, number, folder):
        for path in sorted((folder / "archive").glob("*.jsonl")):
            for line in map(json.loads, path.read_text().splitlines()):
                if line["type"] == "compaction":
                    self.states[number] = line
                elif self.word in line.get("words", ""):
                    self.memories[line["happening"]][number] = line

    def follow(self, lines):
        speaker = next((each for each, line in lines.items() if line["kind"] == "act"), None)
        path = ()
        if speaker is not None:
            line = lines[speaker]
            (basis,) = line["rests_on"]
            path = (*self.known[speaker][basis], (speaker, line["n"]))
        for number, line in lines.items():
            if number == speaker:
                continue  # what it says itself is nothing that it learns
            self.known[number][line["n"]] = (*path, (number, line["n"]))
            if number not in self.first:
                self.first[number] = self.known[number][line["n"]]
                self.source[number] = speaker if speaker is not None else line["source"]

    def standing(self, number):
        """Return where an agent has it now."""
        state = self.states.get(number, {"recent": None, "longterm": None})
        recent = state.get("recent")
        longterm = state.get("longterm")
        summarised = recent["to"] if recent else 0
        # Its own words are in its prompts as well as those that it heard.
        if (
            max(lines[number]["n"] for lines in self.memories.values() if number in lines)
            > summarised
        ):
            return "window"
        if recent and self.word in recent["text"]:
            return "recent"
        return "longterm" if longterm and self.word in longterm["text"] else "lost"


def test_the_facts_are_what_the_table_asks_for():
    assert len(set(FACTS)) == 30
    assert len(set(WHISPERED)) == 12


@pytest.mark.parametrize("word", FACTS)
def test_a_fact_is_told_as_the_archives_have_it(agents, word):
    names = {number: name for number, name, _ in agents}
    replay = Replay(agents, word)
    assert replay.memories, "somebody told it"
    found = fact(agents, word, None, None)
    told = {each.happening: each for each in found.tellings}
    assert told.keys() == replay.memories.keys()
    for happening, lines in replay.memories.items():
        assert {each.id: each.n for each in told[happening].hearings} == {
            number: line["n"] for number, line in lines.items()
        }
        assert told[happening].private == ("whispered" if word in WHISPERED else "")
    knowers = {each.id: each for each in found.knowers}
    assert knowers.keys() == replay.first.keys()
    for number, knower in knowers.items():
        assert [(step.id, step.n) for step in knower.path] == list(replay.first[number])
        source = replay.source[number]
        assert knower.source == names.get(source, source)
        assert knower.spells[-1].standing == replay.standing(number)


@pytest.mark.parametrize("word", WHISPERED)
def test_a_whisper_reaches_nobody_whom_it_was_not_whispered_to(agents, word):
    found = fact(agents, word, None, None)
    for telling in found.tellings:
        ways = sorted(each.way for each in telling.hearings)
        assert ways in (["whispered"], ["said", "whispered"])
