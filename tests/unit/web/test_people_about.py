"""What an agent has about a person besides their page: memories, and passages of summaries."""

from __future__ import annotations

import pytest

from keepsake.archive.summaries import Summary, Tier
from keepsake.happening import Manner
from keepsake.tracing.texts import Texts
from keepsake.web.people.about import (
    MOST_MEMORIES,
    memories_about,
    passages_about,
    private_sentences,
)
from tests.unit.made_archives import BEGIN, Village

TEXT = """Anneke told me that she is a map-maker. I told her to sit by the fire. She is drawing the
coast for her daughter Silke.""".replace("\n", " ")
WHOLE = f"Bob went down to the Quay. {TEXT} Bram gave her a jar of honey. I like her.\n\nIt rained."


def passages(text, *, sources=(), cites=()):
    summary = Summary(Tier.RECENT, 1, 9, text, "a model", BEGIN, sources=sources)
    return [*passages_about(summary, ["Anneke"], {"Bob", "Bram", "Wren"}, lambda n: n in cites)]


def test_a_sentence_that_names_nobody_goes_on_about_who_was_named_before():
    assert passages(WHOLE) == [(TEXT, ())]


def test_a_paragraph_begins_anew():
    assert passages("Anneke came in.\n\nIt rained.") == [("Anneke came in.", ())]


def test_a_sentence_that_tells_what_somebody_said_is_about_them_whoever_it_names():
    sources = ((), (), (), (), (7,), (8,), ())
    told = "Bram gave her a jar of honey. I like her."
    assert passages(WHOLE, sources=sources, cites={7}) == [(f"{TEXT} {told}", (7, 8))]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (((), (7,)), ("She whispered with me.",)),
        (((7,), (7, 8)), ()),
        (((8,), (8,)), ()),
        ((), ()),
    ],
    ids=["one of two", "all", "none", "not known"],
)
def test_only_the_sentences_that_rest_on_private_memories_are_private(sources, expected):
    text = "Anneke came in. She whispered with me."
    summary = Summary(Tier.RECENT, 1, 9, text, "a model", BEGIN, sources=sources)
    assert private_sentences(text, summary, lambda n: n == 7) == expected


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira")


def about(village, names=("Anneke",), known=(), most=1_000_000):
    segments = Texts().of(village.folder / "Mira")
    found, total, complete = memories_about(segments, "anneke", names, known, most)
    return [each.number for each in found], total, complete


def test_what_somebody_said_to_others_and_who_named_them_is_about_them(village):
    village.said("Anneke", "Good evening.", to=("Mira",))
    village.said("Anneke", "I'm drawing the coast for my daughter.", "Mira", to=("Bram",))
    village.said("Bob", "It rains.", "Mira")
    village.said("Anneke", "Psst.", seen_by=("Mira",))
    village.said("Mira", "Anneke has a daughter.", to=("Bob",))
    village.said("Bram", "I like you.", "Mira", to=("Anneke",))
    village.said("Anneke", "Hush.", to=("Mira",), manner=Manner.WHISPER)
    assert about(village, known={1}) == ([7, 6, 5, 2], 4, True)
    assert about(village, names=("Änneke",)) == ([7, 6, 2, 1], 4, True)


def test_the_newest_are_shown_and_all_are_counted(village):
    for n in range(MOST_MEMORIES + 5):
        village.said("Anneke", f"Wave {n}.", "Mira")
    numbers, total, complete = about(village)
    assert numbers == [*range(15, 5, -1)]
    assert (total, complete) == (15, True)
    assert about(village, most=12) == (numbers, 12, False)
    assert about(village, most=15) == (numbers, 15, True)


def test_names_are_found_with_either_apostrophe_in_the_words(village):
    village.said("Bob", "I saw O’Hara and Ö'Neill.", "Mira")
    village.said("Bob", "Oh, Ara.", "Mira")
    for name in ("O'Hara", "Ö'NEILL"):
        assert about(village, names=(name,))[0] == [1]
