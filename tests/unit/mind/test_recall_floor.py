"""What of a ranking a prompt shows: what bears on the line, and tells something new."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.memory.telling import Shown, tells
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory
from keepsake.happening import ME, Deed, Person, Sight, Speech, What
from keepsake.lab.memories.plain import LineIndex
from keepsake.language.languages import language_of
from keepsake.ports import FixedClock
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.index.words import WordIndex
from keepsake.recall.ranking.floor import bearing, noise, split
from keepsake.recall.search import MemorySearch
from tests.fakes.embedder import BagOfWords

NOON = datetime(2026, 5, 14, 12, 0, tzinfo=UTC)
TOM = Person("Tom", "41-1")
ANN = Person("Ann", "42-1")


class TestSplit:
    def test_it_separates_two_groups(self):
        assert split([9.0, 8.5, 8.8, 1.0, 0.5, 0.2, 0.1]) == 8.5

    def test_equal_values_are_one_group(self):
        assert split([2.0, 2.0, 2.0]) == 2.0
        assert split([2.0]) == 2.0
        assert split([]) == 0.0

    @given(st.lists(st.floats(-1e6, 1e6), min_size=1))
    def test_the_best_value_always_passes(self, values):
        assert min(values) <= split(values) <= max(values)

    def test_of_pure_noise_next_to_nothing_stands_out(self):
        rng = Random(51)
        passed = 0
        for _ in range(100):
            values = [rng.gauss(0.0, 1.0) for _ in range(200)]
            passed += sum(value > noise(values) for value in values)
        assert passed < 60, "of 20,000"
        assert noise([*(rng.gauss(0.0, 1.0) for _ in range(200)), 50.0]) < 5.0


def test_who_spoke_ranks_and_does_not_admit():
    scores = [20.0, 12.0, 11.9, 11.8, 2.0, 1.0]
    content = [12.0, 1.0, 0.9, 0.8, 1.1, 0.2]  # all but one score by their speaker alone
    assert bearing([0, 1, 2, 3], [0, 1, 2, 3], scores, content, asks=True) == {0}


class World:
    """An index of thirty lines of two people, in a world of one day."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        words = WordIndex()
        embedder = BagOfWords()
        index = LineIndex(embedder, words.add)
        for number, (who, text) in enumerate(lines, 1):
            time = NOON + timedelta(minutes=number)
            key = f"memory:{number}"
            kind = DocumentKind.MEMORY
            index.add(Document(key, kind, text, time, number, number, who))
        index.flush()
        clock = FixedClock(NOON + timedelta(days=2))
        self.recall = MemorySearch(
            words, index, embedder, names=lambda: ["Tom", "Ann"], clock=clock
        )

    def bearing(self, text: str, asker: Person | None = None) -> list[str]:
        hits = self.recall.search(text, asker=asker, limit=20)
        assert hits is not None
        return [hit.document.text for hit in hits if hit.bears]


CHATTER = tuple(
    ("Tom" if n % 2 else "Ann", f"The {thing} is {how} today.")
    for n, (thing, how) in enumerate(
        (thing, how)
        for thing in ("soup", "fire", "road", "dog", "wind", "tide")
        for how in ("good", "cold", "late", "loud")
    )
)
SISTER = "My sister Lotte keeps bees above Tollen."


class TestBearing:
    def test_a_question_gets_its_answer_and_not_all_that_the_asker_said(self):
        found = World(*CHATTER, ("Tom", SISTER)).bearing("Where does my sister live?", TOM)
        assert found == [SISTER]

    def test_the_ranking_itself_is_as_long_as_before(self):
        world = World(*CHATTER, ("Tom", SISTER))
        hits = world.recall.search("Where does my sister live?", asker=TOM, limit=20)
        assert hits is not None
        assert len(hits) == 20

    def test_words_that_nothing_bears_on_get_an_empty_list(self):
        assert World(*CHATTER, ("Tom", SISTER)).bearing("Hm, quite so.", ANN) == []


class TestLanguages:
    LINES = (
        ("Ann", "Die Fähre kommt heute nicht, und die Suppe ist kalt."),
        ("Ann", "Hast du die Katze von Wren gesehen?"),
        ("Tom", "She died in March, it was her lungs."),
        ("Tom", "Ich habe dreiundvierzig Kräuter auf dem Karren."),
    )

    def words_of(self, text: str) -> dict[str, list[str]]:
        hits = World(*CHATTER, *self.LINES).recall.search(text, limit=40)
        assert hits is not None
        reasons = {hit.document.text: hit.reasons for hit in hits}
        return {
            text: [each for each in found if each.startswith("words: ")]
            for text, found in reasons.items()
        }

    def test_an_english_word_is_not_found_in_an_article_of_another_language(self):
        found = self.words_of("When did Lotte die?")
        assert found.get(self.LINES[0][1], []) == found.get(self.LINES[1][1], []) == []

    def test_a_german_question_is_searched_by_its_telling_words(self):
        found = self.words_of("Wie viele Kräuter habe ich auf dem Karren?")
        assert found[self.LINES[3][1]] == ["words: kräuter, karren"]
        assert found.get(self.LINES[0][1], []) == []

    def test_a_text_is_in_the_language_of_most_of_its_stop_words(self):
        for language, text in {
            "en": "When did Lotte die?",
            "de": "Wo ist die Katze?",
            "es": "¿Dónde está el pan de la casa?",
            "fr": "Où est le pain de la maison ?",
            "it": "Dove sono le barche della città?",
            "nl": "Waar is het brood van de molen?",
            "pt": "Onde está o pão da casa?",
        }.items():
            assert language_of(text) == language


def memory(number: int, what: What, event: str = "") -> Memory:
    return Memory(number, NOON + timedelta(minutes=number), what, "The Inn", event=event)


def says(number: int, words: str, who: Person = TOM, to: Person = ME) -> Memory:
    return memory(number, Speech(speaker=who, words=words, to=(to,)))


def told(each: Memory, *others: Memory) -> bool:
    return tells(each, {other.number: other for other in (each, *others)}, "Mira")


class TestTelling:
    def test_a_question_tells_nothing_without_its_answer(self):
        asked = says(1, "Where is the boat?")
        assert not told(asked)
        assert told(asked, says(2, "At the quay.", ME, TOM))
        assert not told(asked, says(2, "What boat?", ME, TOM)), "a question answers nothing"
        assert not told(asked, says(2, "At the quay.", ANN)), "Ann was not asked"
        assert told(says(1, "My boat is at the quay. Have you seen it?"))

    def test_a_question_in_another_script_is_one(self):
        assert not told(says(1, "船在哪里？"))

    def test_greetings_and_arrivals_tell_nothing_in_any_language_that_is_known(self):
        for words in ("Good evening, Mira!", "Guten Abend!"):
            assert not told(says(1, words)), words
        comes = Sight(source=TOM, shown="Tom arrives from the quay.")
        assert not told(memory(1, comes, MessageType.MOVE))
        assert not told(memory(1, Deed(actor=ME, verb="go", objects=("south",), shown="go south")))
        gives = Deed(actor=TOM, verb="give", objects=("cup",), to=(ME,), shown="Tom gives a cup.")
        assert told(memory(1, gives))

    def test_what_a_summary_says_is_shown_once(self):
        beside = Shown(["- Tom told me: his sister Lotte keeps bees above Tollen.\n- It rained."])
        assert beside.says(SISTER)
        assert not beside.says("My sister Lotte keeps goats.")
        assert not beside.says(f"{SISTER} She is nine.")
