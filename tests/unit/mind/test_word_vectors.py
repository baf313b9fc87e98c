"""Late interaction: the words of a question beside those of memories."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from keepsake.lab.memories.plain import LineIndex
from keepsake.language.perception import words
from keepsake.models.embedders import CachedEmbedder
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.ports import FixedClock, WordVector
from keepsake.recall.comparing import shown_from
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.index.words import WordIndex
from keepsake.recall.query import query_of
from keepsake.recall.ranking.word_vectors import Likeness, ScoreParts, compared, corrected, signs
from keepsake.recall.search import MemorySearch

NOON = datetime(2026, 5, 14, 12, 0, tzinfo=UTC)
LIKE = {"dog": "pet", "rye": "grain"}
"""Words whose vectors are those of other words."""
SIZE = 64


def vectors_of(text: str) -> list[WordVector]:
    """Return the words of a text, each with a vector that is the same wherever it stands."""
    found = list[WordVector]()
    for word in words(text.casefold()):
        seed = int.from_bytes(LIKE.get(word, word).encode())
        found.append((word, [*np.random.default_rng(seed).normal(size=SIZE)]))
    return found


def likeness(
    asked: Sequence[WordVector],
    terms: Sequence[str],
    worth: Mapping[str, float],
    known: dict[int, bytes],
) -> Likeness:
    """Return how like a question memories are; empty if nothing was compared."""
    found = compared(asked, terms, worth, known)
    return found.likeness() if found is not None else {}


def test_a_memory_is_as_like_a_question_as_its_most_similar_words():
    known = {
        1: signs(vectors_of("The mill is old and we sold flour there.")),
        2: signs(vectors_of("We walked, and on the way home the dog barked at a crow.")),
    }
    found = likeness(vectors_of("Which pet?"), ["pet"], {"pet": 5.0}, known)
    assert found[2] > found[1] + 0.3
    assert likeness(vectors_of("Which pet?"), ["pet"], {}, known)[2] > found[1] + 0.3
    assert likeness(vectors_of("?"), [], {}, known) == {}
    assert likeness(vectors_of("Which pet?"), ["pet"], {}, {}) == {}
    assert signs([]) == b""


def test_a_rare_word_counts_more_than_a_common_one():
    known = {1: signs(vectors_of("which")), 2: signs(vectors_of("the dog"))}
    asked = vectors_of("Which pet?")
    rare = likeness(asked, ["pet"], {"pet": 6.0}, known)
    common = likeness(asked, ["pet"], {"pet": 0.1}, known)
    assert rare[2] > rare[1]
    assert common[2] < common[1]


def test_an_exchange_gains_what_the_window_has_not() -> None:
    known = {1: signs(vectors_of("Has anybody fed the dog?")), 2: signs(vectors_of("With rye."))}
    shown = [signs(vectors_of("It rains.")), signs(vectors_of("Whose pet is that?"))]
    asked = vectors_of("pet grain")
    found = compared(asked, ["pet", "grain"], {}, known, shown)
    assert found is not None
    both = found.gain([1, 2])
    pet = found.gain([1])
    assert both is not None
    assert pet is not None
    assert both > pet + 0.3
    assert abs(pet) < 0.2  # the window has the pet as well
    assert found.gain([3]) is None
    without = compared(asked, ["pet", "grain"], {}, known)
    assert without is not None
    assert without.gain([1]) is None


def test_the_window_of_a_prompt_is_what_it_shows_but_for_the_line_that_is_answered() -> None:
    index = WordIndex()
    said = ("The dog is fed.", "It rains.", "Whose pet is that?", "Whose pet is that?")
    index.add(
        Document(f"memory:{n}", DocumentKind.MEMORY, text, NOON, n, n, said=text)
        for n, text in enumerate(said, 1)
    )
    index.embeddings.save_signs({f"memory:{n}": signs(vectors_of(said[n - 1])) for n in (1, 2, 3)})
    assert shown_from(index, 2, "Whose pet is that? Tell me.", lambda _: True) == [2]
    assert shown_from(index, 1, "Hm.", lambda line: line.first != 2) == [1, 3]


class SameMeaning:
    """An embedder for which all texts mean the same, and only words differ."""

    model_name = "words only"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    def embed_words(self, texts: Sequence[str]) -> list[list[WordVector]]:
        return [vectors_of(text) for text in texts]


LINES = (
    "The mill by the river is old, and we sold a lot of flour there for years.",
    "The roof of the barn is new, and the rye has been dry since we mended it.",
    "The boat of my uncle is slow, and it takes a day to the town and back again.",
)


def ranked(lines: Sequence[str], question: str, *, by_words: bool = True) -> list[int]:
    """Return the numbers of the lines that a search finds, best first."""
    index = WordIndex()
    embedder = SameMeaning()
    add_signs = index.embeddings.save_signs if by_words else None
    lined = LineIndex(embedder, index.add, add_signs=add_signs)
    for number, said in enumerate(lines, 1):
        key = f"memory:{number}"
        lined.add(Document(key, DocumentKind.MEMORY, said, NOON, number, number))
    lined.flush()
    cached = CachedEmbedder(embedder)
    search = MemorySearch(index, lined, cached, names=list, clock=FixedClock(NOON))
    return [hit.document.first for hit in search.search(question) or ()]


def test_a_search_ranks_first_the_line_with_a_word_like_the_questions():
    assert ranked(LINES, "Where is our grain?")[0] == 2
    assert ranked(LINES, "Where is our grain?", by_words=False)[0] == 3  # of equals the latest


def test_what_asks_nothing_is_ranked_without_words():
    assert ranked(LINES, "Our grain is here.")[0] == 3


def test_an_index_keeps_signs_until_their_document_or_their_model_is_gone():
    index = WordIndex()
    index.add([Document(f"memory:{n}", DocumentKind.MEMORY, "x", NOON, n, n) for n in (1, 2, 3)])
    index.embeddings.save_signs({"memory:1": b"a", "memory:2": b"b", "memory:3": b"c"})
    index.embeddings.save_signs({"memory:3": b""})
    index.embeddings.save_signs({})
    assert index.embeddings.signs_at([1, 2, 3, 4]) == {1: b"a", 2: b"b"}
    index.remove(["memory:1"])
    assert index.embeddings.signs_at([1, 2]) == {2: b"b"}
    index.embeddings.save("another collection")
    assert index.embeddings.signs_at([1, 2]) == {}


def test_minilm_makes_the_vectors_of_words_in_the_pass_of_their_text(
    monkeypatch: pytest.MonkeyPatch,
):
    embedder = MiniLMEmbedder()
    text = "Anneke's dog barked: naïve ☃!"
    embedder.embed([text])
    monkeypatch.setattr(embedder, "embed", lambda _: pytest.fail("it was embedded again"))
    (found,) = embedder.embed_words([text])
    assert [word for word, _ in found if word in {"dog", "barked"}] == ["dog", "barked"]
    assert {len(vector) for _, vector in found} == {384}
    monkeypatch.undo()
    (late,) = embedder.embed_words(["A text that nobody embedded"])
    assert late[-1][0] == "embedded"


def test_a_word_that_only_asks_counts_by_its_rarity():
    index = WordIndex()
    lines = ["What a day that was.", "A year ago.", *(["What else is there?"] * 30)]
    index.add(
        Document(f"memory:{n}", DocumentKind.MEMORY, said, NOON, n, n)
        for n, said in enumerate(lines, 1)
    )
    question = query_of("What year did the mill burn?", [], NOON)
    assert question.asking == ("what", "year", "did")
    _, worth = index.search(question.terms, {None: 10}, beside=question.asking)
    assert {*worth} == {"mill", "burn", "what", "year", "did"}
    assert worth["what"] < worth["year"] < worth["did"] == worth["mill"]
    assert not index.search([], {None: 10}, beside=question.asking)[0]  # they find nothing
    assert query_of("¿En qué año se quemó el molino del pueblo?", [], NOON).asking == ()


def test_corrections_choose_what_comes_first_and_leave_the_order_of_the_rest():
    """The longer of two lines gains by the corrections, unless both rank too low."""
    parts = [ScoreParts(words=0.0, meaning=0.0, length=2.0 * (n % 2), alike=0.0) for n in range(40)]
    scores = [40.0 - n for n in range(40)]
    found = corrected(scores, parts)
    ranked = sorted(range(40), key=lambda n: -found[n])
    assert ranked[:4] == [1, 0, 3, 2]
    assert {*ranked[:15]} == {*range(14), 15}
    assert ranked[15:] == [14, *range(16, 40)]
    assert len({*found}) == 40


def test_after_the_first_lines_likeness_counts_by_itself():
    parts = [
        ScoreParts(words=0.0, meaning=0.0, length=0.0, alike=float(n == 39)) for n in range(40)
    ]
    scores = [*(float(20 - n) for n in range(20)), *(-20.0 - 0.1 * n for n in range(20))]
    found = corrected(scores, parts)
    ranked = sorted(range(40), key=lambda n: -found[n])
    assert ranked[:20] == [*range(20)]
    assert ranked.index(39) == 36
