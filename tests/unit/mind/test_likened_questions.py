"""Search with an embedder that finds any question near every other, whatever they are about."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from keepsake.lab.memories.plain import LineIndex
from keepsake.language.perception import is_question
from keepsake.language.questions import usual_questions
from keepsake.models.embedders import CachedEmbedder
from keepsake.ports import FixedClock
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.index.words import WordIndex
from keepsake.recall.search import MemorySearch
from keepsake.recall.stores import Nearest
from tests.fakes.embedder import BagOfWords

NOON = datetime(2026, 5, 14, 12, 0, tzinfo=UTC)
LINES = ("¿Ya cenaste?", "¿Y por qué no?", "El herrero teme a los gansos.")
TOLD = "memory:3"
QUESTION = "¿A qué le teme el herrero de la aldea?"
ASKED = {
    "en": "Who was at the mill with them?",
    "de": "Wer war mit ihnen in der Mühle?",
    "es": "¿Quién estaba con ellos en el molino?",
    "fr": "Qui était avec eux dans le moulin ?",
    "it": "Chi era con loro nel mulino?",
    "nl": "Wie was er met hen in de molen?",
    "pt": "Quem estava com eles no moinho?",
    "ja": "水車小屋に誰がいましたか？",
}


class FormFirst(BagOfWords):
    """A bag of words with one number more: whether a text is a question."""

    def __init__(self, *, likens: bool) -> None:
        super().__init__()
        self.likens_questions = likens

    def _vector(self, text: str) -> list[float]:
        row = [*super()._vector(text), 2.0 * is_question(text)]
        length = math.hypot(*row)
        return [value / length for value in row]


class SearchWorld:
    """Three lines, of which two are questions, and what a search asked the vectors for."""

    def __init__(self, *, likens: bool) -> None:
        self.embedder = FormFirst(likens=likens)
        self._index = LineIndex(self.embedder, lambda _: None)
        for number, said in enumerate(LINES, 1):
            key = f"memory:{number}"
            self._index.add(Document(key, DocumentKind.MEMORY, said, NOON, number, number))
        self._index.flush()
        self.answered: Nearest = []
        self.recall = MemorySearch(
            WordIndex(), self, CachedEmbedder(self.embedder), names=list, clock=FixedClock(NOON)
        )

    def query(self, vector: Sequence[float], limit: int) -> Nearest:
        """Return what the index finds, and keep it."""
        self.answered = self._index.query(vector, limit)
        return self.answered

    def nearest(self, *, unprompted: bool = False) -> str:
        """Return the key of the nearest line."""
        self.recall.search(QUESTION, unprompted=unprompted)
        return self.answered[0][0]


def test_a_question_finds_what_was_told_and_not_other_questions():
    assert SearchWorld(likens=False).nearest() != TOLD
    assert SearchWorld(likens=True).nearest() == TOLD


def test_a_scene_is_searched_as_it_is():
    assert SearchWorld(likens=True).nearest(unprompted=True) != TOLD


def test_usual_questions_are_embedded_once_and_with_a_scene_already():
    world = SearchWorld(likens=True)
    world.nearest(unprompted=True)
    before = len(world.embedder.texts)
    world.nearest()
    world.nearest()
    assert len(world.embedder.texts) == before
    assert {*usual_questions(QUESTION)} <= {*world.embedder.texts}


@pytest.mark.parametrize("language", ASKED)
def test_usual_questions_are_in_the_language_of_the_text(language: str):
    usual = usual_questions(ASKED[language])
    others = [usual_questions(text) for each, text in ASKED.items() if each != language]
    assert len({*usual}) == len(usual)
    assert all(len(each) == len(usual) and {*usual}.isdisjoint(each) for each in others)
    assert all(map(is_question, usual))
    right = [each for each in usual if usual_questions(each) == usual]
    assert len(right) > len(usual) / 2
