"""Typed words find what was told in others: lines are judged by words, talk, people and meaning."""

from __future__ import annotations

import math

import pytest

from keepsake.happening import Manner, Person
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.recall.reading_lines import IndexReader
from keepsake.tracing.following import follow_words
from keepsake.tracing.typed.judging import LIKELY, PERHAPS, LineSignals, probabilities
from keepsake.tracing.typed.meant import People
from keepsake.tracing.wording import Wording
from tests.unit.made_archives import PEOPLE, Village

SMALL_TALK = (
    "The soup is thin today, but there is more bread.",
    "Have you seen the tide? It comes up to the fourth step.",
    "I keep bees at Whitby, eleven hives of them.",
    "The clock on the square is four minutes late again.",
    "Who takes the ferry at six?",
    "My watch stopped at ten past four.",
    "Bring two apples and a herring from the market.",
    "The lamp must be lit before the fog comes.",
    "A letter came back from the sea this morning.",
    "Leeks want more salt than you would think.",
    "The organ in the chapel had one stop.",
    "I walked over from Husum with my dog.",
)
DEAF = "Between us: I have lost the hearing of my left ear since March."


class Near:
    """Vectors of an agent's memories, compared one by one."""

    def __init__(self, embedder, archive):
        memories = archive.read(1, archive.last_number)
        self.numbers = [each.number for each in memories]
        self.vectors = embedder.embed([each.text for each in memories])

    def query(self, vector, limit):
        likes = [math.sumprod(vector, each) for each in self.vectors]
        found = sorted(zip(likes, self.numbers, strict=True), reverse=True)
        return [(f"memory:{number}", like) for like, number in found[:limit]]


@pytest.fixture(scope="module")
def embedder():
    return MiniLMEmbedder()


@pytest.fixture
def village(tmp_path):
    made = Village(tmp_path, "Mira", "Oswin", "Nell")
    for at, line in enumerate(SMALL_TALK):
        made.said("Bob", line, to=["Mira" if at % 2 else "Oswin"])
    return made


def known(village, embedder, words):
    """Return who knows what some words mean, and who perhaps does."""
    names = {each.lower(): (each,) for each in PEOPLE}
    people = People(names, {each: each.lower() for each in village.archives})
    indexes = {name: Near(embedder, each) for name, each in village.archives.items()}
    reader = IndexReader(embedder, indexes)
    fact = follow_words(village.read(), Wording.of(words), people=people, reader=reader)
    perhaps = (each for each in fact.strands if PERHAPS <= (each.chance or 0.0) < LIKELY)
    return {each.agent for each in fact.knowers}, {key for each in perhaps for key in each.memories}


def test_what_was_said_in_other_words_is_found_with_all_who_heard_it(village, embedder):
    village.said("Anneke", DEAF, to=["Mira"], manner=Manner.WHISPER)
    again = "You all know that my left ear is no longer any good for hearing."
    village.said("Anneke", again, "Oswin", to=["Nell"])
    for words in ("deaf in the left ear", "Anneke has lost the hearing of an ear"):
        assert len(village.follow(words).knowers) < 2  # by the words
        sure, perhaps = known(village, embedder, words)
        assert "Mira" in sure
        assert sure | perhaps == {"Mira", "Nell", "Oswin"}, words


def test_a_word_in_another_sense_is_not_counted(village, embedder):
    village.said("Nell", "I took my mother's blue cup from its hook.", "Mira", to=["Oswin"])
    village.said("Bob", "I'm sorry that the walk took two years.", to=["Oswin"])
    sure, perhaps = known(village, embedder, "Nell took the blue cup")
    assert sure == {"Nell", "Mira", "Oswin"}
    assert not perhaps
    fact = follow_words(village.read(), Wording.of("Nell took the blue cup"))
    assert all("two years" not in each.text for each in fact.tellings)


def test_a_rare_name_in_other_words_is_counted(village, embedder):
    village.said("Bob", "I painted the Liesbet blue, and she leaks all the same.", to=["Mira"])
    village.said("Nell", "A boat with a hole is a bath.", to=["Oswin"])
    for words in ("the ship Liesbet is not watertight", "Liesbet"):
        sure, perhaps = known(village, embedder, words)
        assert (sure, perhaps - sure) == ({"Mira"}, set()), words


def test_among_few_lines_the_words_alone_decide(tmp_path, embedder):
    small = Village(tmp_path, "Mira", "Oswin", "Nell")
    small.said("Anneke", DEAF, to=["Mira"])
    assert known(small, embedder, "my left ear")[0] == {"Mira"}
    assert known(small, embedder, "she is deaf") == (set(), set())


def test_an_embedder_from_which_nothing_was_learned_compares_nothing(village):
    class Other:
        model_name = "another"

        def embed(self, texts):
            raise AssertionError(texts)

    reader = IndexReader(Other(), {})
    assert reader.near("she is deaf")() == ()
    assert reader.compare("she is deaf", {}, [("Anneke says: ", DEAF)]) is None
    people = People({"anneke": ("Anneke",)}, {})
    found = follow_words(village.read(), Wording.of("my watch"), people=people, reader=reader)
    assert {each.agent for each in found.knowers} == {"Mira"}
    assert Person("Anneke", "anneke").id in people.names


def test_a_line_far_behind_the_best_one_is_less_probable_than_alone():
    def signals(share, like):
        return LineSignals(words=share, of_talk=share, people=1.0, meaning=like, likeness=like)

    best, worse, other = probabilities(
        [signals(1.0, 0.9), signals(0.5, 0.6), signals(0.0, 0.2)], lambda _: [1.0, 0.6, 0.1]
    )
    assert best > LIKELY > worse > other
    (beside,) = probabilities([signals(0.5, 0.6)], lambda _: [1.0])
    again, _ = probabilities([signals(0.5, 0.6), signals(0.0, 0.2)], lambda _: [1.0, 0.6])
    assert again > worse
    assert 0.0 < beside < 1.0
