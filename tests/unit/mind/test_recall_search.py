"""Search with the real word index, exact vectors and a bag-of-words embedder."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.happening import Person
from keepsake.lab.memories.plain import LineIndex
from keepsake.ports import FixedClock
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.index.words import WordIndex
from keepsake.recall.search import MemorySearch
from tests.fakes.embedder import BagOfWords
from tests.sentences import table

NOW = datetime(2026, 5, 14, 18, 30, tzinfo=UTC)
MEANINGS = {"sibling": "brother", "fishes": "nets", "job": "mends", "meal": "soup"}
"""Words that the embedder below treats as synonyms."""


def document(number: int, speaker: str, text: str, time: datetime) -> Document:
    key = f"memory:{number}"
    return Document(key, DocumentKind.MEMORY, text, time, number, number, speaker)


class RecallWorld:
    """Six searchable lines. The first three are of one day, the others of a day each."""

    def __init__(self, vectors: bool = True) -> None:
        words = WordIndex()
        self.embedder = BagOfWords(synonyms=MEANINGS)
        self.index = LineIndex(self.embedder, words.add)
        self.complaints: list[str] = []
        begin = NOW - timedelta(days=10)
        for n, (speaker, text) in enumerate(table("lines to recall"), 1):
            self.put(document(n, speaker, text, begin + timedelta(days=max(0, n - 3), minutes=n)))
        self.recall = MemorySearch(
            words,
            self.index if vectors else None,
            self.embedder,
            names=lambda: ["Tom", "Mira", "Joss", "Nell", "The Quay"],
            clock=FixedClock(NOW),
            complain=lambda error: self.complaints.append(str(error)),
        )

    def put(self, *documents: Document) -> None:
        for document in documents:
            self.index.add(document)
        self.index.flush()

    def found(self, text: str, **how) -> list[str]:
        hits = self.recall.search(text, **how)
        assert hits is not None
        return [hit.document.key for hit in hits]


@pytest.fixture
def world() -> RecallWorld:
    return RecallWorld()


def test_the_limit_does_not_change_the_order(world):
    lines = ((n, f'Tom says to you, "Nets {n % 11} and {n % 7} of {n}."') for n in range(20, 320))
    world.put(*(document(n, "Tom", text, NOW - timedelta(minutes=n)) for n, text in lines))
    found = world.found("Which nets have 3 and 5?", limit=150)
    assert found[:20] == world.found("Which nets have 3 and 5?", limit=20)


def test_lines_without_common_words_are_found_by_meaning_or_by_related_lines(world):
    assert "memory:3" in world.found("What does Tom's brother do?", limit=3)
    heron = document(20, "Nell", "The heron on the mill is Wilma.", NOW)
    world.put(heron, document(30, "Joss", "Wilma laid three eggs there at the third bell.", NOW))
    assert world.found("What sits on the mill?", limit=2) == ["memory:20", "memory:30"]
    assert world.found("sibling", limit=1) == ["memory:1"]
    assert RecallWorld(vectors=False).found("sibling") == []


@pytest.mark.parametrize("vectors", [True, False])
def test_questions_about_oneself_find_ones_own_lines(vectors):
    world = RecallWorld(vectors)
    time = NOW - timedelta(days=1)
    for number, who in ((20, "Nell"), (30, "Joss"), (40, "Tom")):
        said = f'{who} says to you, "A {["saddler", "cooper", "glazier"][number // 10 - 2]}."'
        world.put(document(number, who, said, time))
    for number, who in ((20, "Nell"), (30, "Joss")):
        hits = world.recall.search("What is my trade?", limit=2, asker=Person(who))
        assert f"memory:{number}" in [hit.document.key for hit in hits]
        assert all(f"said by {who}" in hit.reasons for hit in hits)
    # A question about somebody else finds the same for every asker.
    by_nell, by_anybody = (
        world.found("What does Tom do?", asker=a) for a in (Person("Nell"), None)
    )
    assert by_nell == by_anybody


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(
    ("zone", "hours", "day"),
    # On 1 March New Zealand has summer time; the line is of the first hour of that day.
    [("UTC", 24, "yesterday"), ("NZ", 12, "yesterday"), ("NZ", 1807, "on 1 March")],
)
def test_lines_are_found_by_their_day(monkeypatch, vectors, zone, hours, day):
    with monkeypatch.context() as patched:
        patched.setenv("TZ", zone)
        time.tzset()
        world = RecallWorld(vectors)
        before = NOW - timedelta(days=5)
        begins = ("What did I tell you of", "I did tell of", "I tell you of", "You see", "I tie")
        told = ((n, f'Tom says to you, "{begins[n % 5]} knot {n}."') for n in range(20, 320))
        world.put(*(document(n, "Tom", text, before) for n, text in told))
        otter = 'Tom says to you, "I keep an otter named Brisk in my cellar."'
        world.put(document(400, "Tom", otter, NOW - timedelta(hours=hours)))
        found = world.found(f"What did I tell you {day}?", limit=3, asker=Person("Tom"))
    time.tzset()
    assert "memory:400" in found


def test_without_the_embedder_words_still_work_and_it_is_reported_once(world):
    world.embedder.down = True
    assert world.found("Who mends nets?", limit=1) == ["memory:3"]
    assert world.found("leek soup", limit=1) == ["memory:5"]
    assert world.complaints == ["The embedder does not answer. Wait"]
    world.embedder.down = False
    world.found("nets")
    world.embedder.down = True
    world.found("nets")
    assert len(world.complaints) == 2
