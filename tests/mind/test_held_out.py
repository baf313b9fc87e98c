"""Sentences that nobody has tuned the patterns for: they were written before these were read.

Nothing in the lists may be changed to please the patterns, nor they be made to please a list.
"""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.noticing import rules_in
from keepsake.books.profiles.profile import Fact
from keepsake.language.facts import SAID, told
from keepsake.language.heard import heard
from keepsake.language.words import telling

FACTS: tuple[tuple[str, set[tuple[str, str]]], ...] = (
    ("My name is Oswin, by the way.", {("name", "Oswin")}),
    ("People call me Fenna.", {("name", "Fenna")}),
    ("I live above the old chandlery.", {("home", "above the old chandlery")}),
    ("I've just moved to Greyford.", {("home", "Greyford")}),
    ("I come from a village in the hills.", {("origin", "a village in the hills")}),
    ("I was born in 1962.", set()),
    ("I was born in Harrow Vale.", {("origin", "Harrow Vale")}),
    ("I work as a glassblower.", {("work", "glassblower")}),
    ("I used to be a soldier.", {("-work", "soldier")}),
    ("I am a beekeeper these days.", {("work", "beekeeper")}),
    ("I'm a bit tired today.", set()),
    ("I left my scarf at the inn.", set()),
    ("I lost my keys behind the mill.", set()),
    ("My brother Tam mends nets.", {("relation", "brother Tam")}),
    ("My wife is called Ottilie.", {("relation", "wife Ottilie")}),
    ("My sister says the bridge is closed.", set()),
    ("I have no idea what you mean.", set()),
    ("I wish I were a sailor.", set()),
    ("Do you think I am a thief?", set()),
    ("I am from the city watch and I have questions.", set()),
    ("I am allergic to nuts.", set()),
    ("If I lived in Dorn I would visit you.", set()),
    ("I don't work at the bakery any more.", {("-work", "bakery")}),
    ("He said: I am the king of the marsh.", set()),
    ("I'm not called Peter.", set()),
    ("I love the smell of rain.", set()),
    ("I have two daughters.", set()),
    ("I am in the middle of a meal.", set()),
    ("I live for music.", set()),
    ("I work best in the morning.", set()),
)

RULES: tuple[tuple[str, bool], ...] = (
    ("From now on, knock before you come in.", True),
    ("Never tell anyone about the tunnel.", True),
    ("Please always lock the gate at dusk.", True),
    ("Whatever happens, don't open the red box.", True),
    ("Remember to feed the cat every morning.", True),
    ("You must not speak to the miller.", True),
    ("I always forget where I put my hat.", False),
    ("It never rains here in June.", False),
    ("Have you always lived here?", False),
    ("I would never lie to you.", False),
    ("She told me never to go there alone.", False),
    ("You never told me your name.", False),
    ("That must be the old lighthouse.", False),
    ("Don't worry about it.", False),
    ("We always meet at the well.", False),
    ("Nobody must know, he said.", False),
)


def typed(sentence: str) -> list[Fact]:
    """What is typed of a sentence, less what is kept as it was said."""
    time, said = datetime(2026, 5, 1, 12, 0, tzinfo=UTC), f'Tom says to you, "{sentence}"'
    memory = Memory(7, time, MemoryKind.PERCEPTION, said, "The Kettle", "Tom", source_id="12-1")
    words = heard(memory)
    assert words is not None
    return [fact for fact in told(words, memory, "Mira") if fact.attribute != SAID]


def is_told(fact: Fact, allowed: set[tuple[str, str]]) -> bool:
    """Whether a fact is among what a sentence tells; ``relation`` is any attribute."""
    attribute = fact.attribute if fact.holds else f"-{fact.attribute}"
    return any(
        each in (attribute, "relation") and telling(fact.value) <= telling(value)
        for each, value in allowed
    )


def test_no_fact_is_wrong():
    wrong = [(said, f) for said, allowed in FACTS for f in typed(said) if not is_told(f, allowed)]
    assert wrong == []


def test_most_of_what_is_typed_is_found():
    found = sum(len(typed(said)) for said, _ in FACTS)
    assert found >= 9


def test_most_rules_are_told_from_what_is_none():
    right = sum(bool(rules_in(said, "Mira")) == rule for said, rule in RULES)
    assert right >= 14
