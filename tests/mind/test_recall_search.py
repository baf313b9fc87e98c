"""Recall itself, over the real word index, exact vectors and a small embedder of words."""

import math
import threading
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.errors import IndexUnavailable, ModelUnavailable
from keepsake.index.local import LocalVectors
from keepsake.index.words import Fts5Index
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.recall import MemorySearch, SearchRequest

NOW = datetime(2026, 5, 14, 18, 30, tzinfo=UTC)
MEANINGS = {"sibling": "brother", "fishes": "nets", "job": "mends", "meal": "soup"}
"""What the embedder below takes for the same."""


class WordsAsMeaning:
    """Embeds a text as a bag of words in which some words mean the same."""

    model_name = "words"

    def __init__(self) -> None:
        self.down = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.down:
            raise ModelUnavailable("The embedder is away", "Wait")
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * 1024
        for word in text.casefold().replace("?", " ").replace(".", " ").split():
            vector[zlib.crc32(MEANINGS.get(word, word).encode()) % 1024] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]


class Now:
    def now(self) -> datetime:
        return NOW


LINES = [
    ("Tom", "I grew up in Ostrey with my brother."),
    ("Mira", "And what does he do all day?"),
    ("Tom", "He mends nets for the whole harbour there."),
    ("Joss", "The ferry goes at eight in the morning."),
    ("Mira", "There is leek soup and flatbread for everybody today."),
    ("Nell", "A letter came in with the storm, addressed to nobody."),
]


def memory(number: int, speaker: str, text: str, time: datetime, place: str = "") -> Document:
    key = f"memory:{number}"
    return Document(key, DocumentKind.MEMORY, text, time, number, number, speaker, place)


class World:
    """Six lines, each on its own day but the first three, all searchable."""

    def __init__(self, vectors: bool = True) -> None:
        self.words, self.vectors, self.embedder = Fts5Index(), LocalVectors(), WordsAsMeaning()
        self.complaints: list[str] = []
        begin = NOW - timedelta(days=10)
        for n, (speaker, text) in enumerate(LINES, 1):
            self.put(memory(n, speaker, text, begin + timedelta(days=max(0, n - 3), minutes=n)))
        self.recall = MemorySearch(
            self.words,
            self.vectors if vectors else None,
            self.embedder,
            names=lambda: ["Tom", "Mira", "Joss", "Nell", "The Quay"],
            clock=Now(),
            complain=lambda error: self.complaints.append(str(error)),
        )

    def put(self, *documents: Document) -> None:
        self.words.add(documents)
        self.vectors.add(documents, self.embedder.embed([d.text for d in documents]))

    def found(self, text: str, **how) -> list[str]:
        hits = self.recall.search(text, **how)
        assert hits is not None
        return [hit.document.key for hit in hits]


@pytest.fixture
def world() -> World:
    return World()


def test_the_line_after_the_question_is_found_though_it_shares_no_word(world):
    assert "memory:3" in world.found("What does Tom's brother do?", limit=3)


def test_meaning_finds_what_words_do_not(world):
    assert world.found("sibling", limit=1) == ["memory:1"]
    assert World(vectors=False).found("sibling") == []


def test_every_hit_says_why(world):
    hit = world.recall.search("Where did Tom's brother live ten days ago?", limit=1)[0]
    assert hit.document.key == "memory:1"
    assert "words: brother" in hit.reasons
    assert "said by Tom" in hit.reasons
    assert "4 May 2026" in hit.reasons
    assert any(reason.startswith("meaning 0.") for reason in hit.reasons)


def test_a_neighbour_is_named_as_the_reason(world):
    hits = world.recall.search("What does Tom's brother do?", limit=4)
    reasons = {hit.document.key: hit.reasons for hit in hits}
    assert "next to memory 1" in reasons["memory:2"]


def test_who_said_it_counts(world):
    time = NOW - timedelta(days=1)
    world.put(memory(20, "Nell", "I am afraid of deep water you know.", time))
    world.put(memory(30, "Joss", "I am afraid of deep water you know.", time))
    assert world.found("What is Joss afraid of?", limit=1) == ["memory:30"]
    assert world.found("What is Nell afraid of?", limit=1) == ["memory:20"]


@pytest.mark.parametrize("vectors", [True, False])
def test_who_asks_of_their_own_life_is_told_of_it(vectors):
    world, time = World(vectors), NOW - timedelta(days=1)
    for number, who in ((20, "Nell"), (30, "Joss"), (40, "Tom")):
        said = f'{who} says to you, "A {["saddler", "cooper", "glazier"][number // 10 - 2]}."'
        world.put(memory(number, who, said, time))
    for number, who in ((20, "Nell"), (30, "Joss")):
        hits = world.recall.search("What is my trade?", limit=2, asker=who)
        assert f"memory:{number}" in [hit.document.key for hit in hits]
        assert all(f"said by {who}" in hit.reasons for hit in hits)
    # Of another's life they are asked as anybody is.
    about_tom = {who: world.found("What does Tom do?", asker=who) for who in ("Nell", "")}
    assert about_tom["Nell"] == about_tom[""]


def test_when_it_was_counts(world):
    for number, days in ((20, 1), (30, 8), (40, 40)):
        world.put(memory(number, "Joss", "We lost an oar on the bar.", NOW - timedelta(days=days)))
    assert world.found("What was lost by Joss yesterday?", limit=1) == ["memory:20"]
    assert world.found("What was lost by Joss last week?", limit=1) == ["memory:30"]
    assert world.found("What was lost by Joss on 4 April?", limit=1) == ["memory:40"]


def test_where_it_was_counts(world):
    for number, place in ((20, "The Loft"), (30, "The Quay"), (40, "The Square")):
        world.put(memory(number, "Joss", "A penny lay on the ground.", NOW, place))
    hit = world.recall.search("What lay on the ground at the Quay?", limit=1)[0]
    assert hit.document.key == "memory:30"
    assert "at The Quay" in hit.reasons


def test_recency_decides_a_scene_but_not_a_question(world):
    world.put(memory(20, "Mira", "The soup is ready again.", NOW - timedelta(hours=5)))
    world.put(
        memory(
            40,
            "Mira",
            "The leek soup is ready and waiting for you all here now.",
            NOW - timedelta(days=90),
        )
    )
    ask = "ready soup leek"
    by_question = {h.document.key: h.score for h in world.recall.search(ask)}
    by_scene = {h.document.key: h.score for h in world.recall.search(ask, scene=True)}
    gain = {key: by_scene[key] - by_question[key] for key in by_question}
    assert gain["memory:20"] > gain["memory:40"] + 0.3
    assert by_question["memory:40"] > by_question["memory:20"]


def test_what_the_window_shows_is_left_out(world):
    assert "memory:3" in world.found("Who mends nets?")
    assert set(world.found("Who mends nets?", before=3)) <= {"memory:1", "memory:2"}


def test_a_summary_is_one_more_document_and_no_gate(world):
    text = "Mira cooked leek soup and there was talk of flatbread."
    world.put(Document("summary:1", DocumentKind.SUMMARY, text, NOW, 1, 6))
    found = world.found("Who mends nets for the harbour?")
    assert found[0] == "memory:3"
    assert world.found("leek soup", kinds=[DocumentKind.SUMMARY]) == ["summary:1"]
    assert "summary:1" not in world.found("leek soup", kinds=[DocumentKind.MEMORY])


def test_a_note_is_found_by_its_title_and_is_never_too_new(world):
    world.put(Document("note:garden", DocumentKind.NOTE, "Rosemary by the wall.", NOW,
                       title="Chapel garden"))  # fmt: skip
    assert "note:garden" in world.found("garden", before=2)


def test_several_searches_at_once_bring_what_each_alone_brings(world, monkeypatch):
    summary = "There was talk of soup, and of nets at the harbour."
    world.put(Document("summary:1", DocumentKind.SUMMARY, summary, NOW, 1, 6))
    world.put(Document("note:nets", DocumentKind.NOTE, "Tom mends nets.", NOW, title="Nets"))
    kinds = [(DocumentKind.NOTE,), (DocumentKind.SUMMARY,), (DocumentKind.MEMORY,), ()]
    alone = [world.recall.search("Who mends nets?", limit=3, kinds=kind) for kind in kinds]
    embedded: list[str] = []
    embed = world.embedder.embed
    monkeypatch.setattr(
        world.embedder, "embed", lambda texts: embedded.extend(texts) or embed(texts)
    )
    together = world.recall.search_each(
        "Who mends nets?", [SearchRequest(3, kind) for kind in kinds]
    )
    assert together == alone
    assert [hit.document.key for hits in together[:2] for hit in hits] == ["note:nets", "summary:1"]
    assert embedded == ["Who mends nets?"], "one question is embedded once"


def test_a_question_is_also_embedded_without_unknown_names_but_a_scene_is_not(world, monkeypatch):
    embedded: list[list[str]] = []
    embed = world.embedder.embed
    monkeypatch.setattr(
        world.embedder, "embed", lambda texts: embedded.append(list(texts)) or embed(texts)
    )
    scene = "Where does Ottilie mend nets?"
    hits = world.recall.search(scene)
    assert "memory:3" in [hit.document.key for hit in hits]
    world.recall.search(scene, scene=True)
    assert embedded == [[scene, "Where does mend nets?"], [scene]], "one call each"


def test_without_the_embedder_words_go_on_and_it_is_told_once(world):
    world.embedder.down = True
    assert world.found("Who mends nets?", limit=1) == ["memory:3"]
    assert world.found("leek soup", limit=1) == ["memory:5"]
    assert world.complaints == ["The embedder is away. Wait"]
    world.embedder.down = False
    world.found("nets")
    world.embedder.down = True
    world.found("nets")
    assert len(world.complaints) == 2


def test_an_embedder_that_hangs_does_not_hold_up_the_words(world, monkeypatch):
    wakes = threading.Event()
    monkeypatch.setattr(world.embedder, "embed", lambda _: wakes.wait(60) and [])
    try:
        for _ in range(2):
            (hits,) = world.recall.search_each("Who mends nets?", [SearchRequest(1)], seconds=0.05)
            assert [hit.document.key for hit in hits] == ["memory:3"]
    finally:
        wakes.set()
    (told,) = world.complaints
    assert "The embedder did not answer within 0.05 seconds" in told


def test_half_a_character_breaks_nothing(world):
    broken = "\ud83d"
    kite = memory(20, f"Ann{broken}", f"A kite {broken} flew.", NOW, f"The Quay{broken}")
    world.words.add([kite])
    assert world.found(f"Who flew {broken} a kite?", limit=1) == ["memory:20"]
    assert world.words.get(["memory:20"])["memory:20"].text == "A kite ? flew."


def test_a_closed_word_index_is_could_not_search_and_nothing_found_is_empty(world):
    assert World(vectors=False).found("zebra") == []
    world.words.close()
    assert world.recall.search("nets") is None
    assert "Make it anew" in world.complaints[0]


def test_vectors_of_what_was_never_lived_are_not_found(world):
    ghost = memory(99, "Tom", "My brother mends nets.", NOW)
    world.vectors.add([ghost], world.embedder.embed([ghost.text]))
    assert "memory:99" not in world.found("What does Tom's brother do?")


def test_vectors_of_another_dimension_leave_the_words(world):
    world.vectors = LocalVectors()
    ghost = memory(99, "Tom", "My brother mends nets.", NOW)
    world.vectors.add([ghost], [[1.0, 0.0]])
    with pytest.raises(IndexUnavailable, match="1024 numbers, those held have 2"):
        world.vectors.query([0.0] * 1024, 5)
    recall = MemorySearch(world.words, world.vectors, world.embedder, names=list, clock=Now())
    assert [hit.document.key for hit in recall.search("mends nets", limit=1)] == ["memory:3"]


@pytest.mark.parametrize(
    "text", ["", "   ", '"', "AND OR NOT", "nets*", "a:b (c)", "💧", "?" * 999]
)
def test_no_text_breaks_it(world, text):
    assert world.recall.search(text) is not None
