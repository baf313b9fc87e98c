"""What the embedded model's opinion is worth, over the sentences that the docs give figures of."""

import pytest

from game.llm.clients.minilm import MiniLMEmbedder
from game.mind.language.sameness import ALIKE, alike
from game.mind.summaries.verification import judge
from tests.mind.sayings import SAYINGS


@pytest.fixture(scope="module")
def embedder():
    made = MiniLMEmbedder()
    yield made
    made.close()


def kept(constraint: str, line: str, embedder: MiniLMEmbedder | None) -> bool:
    found = judge(
        summaries=[], sources=[], visible=[line], must_keep=[constraint], embedder=embedder
    )
    return not found.put_back


@pytest.mark.parametrize("saying", SAYINGS, ids=lambda saying: saying.constraint)
def test_no_near_miss_passes_for_its_meaning(saying, embedder):
    assert [line for line in saying.other if kept(saying.constraint, line, embedder)] == []


def test_meaning_finds_paraphrases_that_words_miss(embedder):
    pairs = [(saying.constraint, line) for saying in SAYINGS for line in saying.same]
    by_words = [pair for pair in pairs if kept(*pair, None)]
    by_both = [pair for pair in pairs if kept(*pair, embedder)]
    assert set(by_words) < set(by_both)
    assert len(by_both) >= len(by_words) + 8


def test_the_shipped_embedder_is_believed_at_the_measured_threshold(embedder):
    same = ("Feed the hens.", "Feed the hens.")
    assert alike([same, ("Feed the hens.", "The mill is old.")], embedder) == {same}
    assert ALIKE == 0.88
