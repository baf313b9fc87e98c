"""Whatever id a program gives to people: one is forgotten, the others stay, the memory opens."""

from __future__ import annotations

import json

import pytest

from keepsake import Memory, Person, Speech

IDS = ["7", "0", "t", "memory", "type", "01T00", "anneke", "discord:7", "2026", "a-1", "recent"]
MOMENT = "2000-01-01T00:00:00+00:00"


def told(mira: Memory, anneke: Person, bram: Person) -> None:
    """Let both say some lines, the same ones among them, and compact."""
    for number in range(40):
        mira.perceive(Speech(anneke, f"My herring number {number} is salted.", to=["Mira"]))
        mira.perceive(Speech(bram, f"I have 7 sacks, and 0 of them at {number}.", to=["Mira"]))
    mira.plan("tomorrow 12:00, Bram: show him 7 boats")
    mira.compact()
    mira.perceive(Speech(anneke, f"It was {MOMENT}, the compaction longterm.", to=["Mira"]))


@pytest.mark.parametrize("key", IDS)
def test_one_is_forgotten_and_the_memory_opens_again(tmp_path, key):
    anneke = Person("Anneke", key)
    bram = Person("Bram", "discord:77")
    with Memory(tmp_path / "mira", settings={"immediate_window": 16}) as mira:
        told(mira, anneke, bram)
        number = mira.perceive(Speech(bram, "It is 7 o'clock.", to=["Mira"]))
        done = mira.forget(anneke)
        assert done.memories >= 41
        assert not done.problems
    with Memory(tmp_path / "mira") as mira:
        assert [each.id for each in mira.people()] == ["discord:77"]
        assert mira.status().memories == number
        assert mira.summaries().recent
        assert "7 boats" in mira.plans()[0].line
        assert mira.recall("sacks", limit=3)
        assert not [each for each in mira.recall("herring", limit=9) if "herring" in each.text]
    (archive,) = (tmp_path / "mira" / "archive").glob("*.jsonl")
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    assert all(each.get("t", MOMENT) for each in lines)
    assert "damaged" not in {each["type"] for each in lines}


@pytest.mark.parametrize("name", ["Longterm", "Recent", "Text", "T", "Compaction", "(forgotten)"])
def test_a_name_that_is_a_field_of_the_archive_breaks_nothing(tmp_path, name):
    with Memory(tmp_path / "mira", settings={"immediate_window": 16}) as mira:
        told(mira, Person(name, "discord:7"), Person("Bram", "discord:77"))
        assert not mira.forget(Person(name, "discord:7")).problems
    with Memory(tmp_path / "mira") as mira:
        assert [each.name for each in mira.people()] == ["Bram"]
        assert mira.summaries().recent


def test_a_namesake_keeps_page_and_words(tmp_path):
    one = Person("Anneke", "discord:1")
    other = Person("Anneke", "discord:2")
    with Memory(tmp_path / "mira") as mira:
        mira.perceive(Speech(one, "My herring is salted.", to=["Mira"]))
        mira.perceive(Speech(other, "My boat is called Biscuit.", to=["Mira"]))
        assert mira.forget(one).memories == 1
        assert [(each.id, each.name) for each in mira.people()] == [("discord:2", "Anneke")]
        assert "Biscuit" in mira.recall("boat")[0].text
