"""Which lines of a talk ask for something that was told before."""

from __future__ import annotations

import numpy as np
import pytest

from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.recall.ranking.needs import MODEL, UNKNOWN, need
from tests.bench.needs_bench import Lines, packed, separates

PAIRS = (
    ("What did I tell you about my sister?", "Would you go to my sister and bring me her answer?"),
    ("Which cup was it that you had lost?", "Give me another cup of tea, please."),
    ("Do you remember what the ferryman asked for?", "The ferry is late tonight."),
    ("How old is my donkey, and what does he eat?", "Come and see my donkey bow."),
)
"""A question about something told before, and a line about the same that is none."""


def needs(line: str) -> float:
    """Return the logit of a line."""
    embedder = MiniLMEmbedder()
    return need(embedder.embed([line])[0], embedder.model_name)


@pytest.mark.parametrize(("asks", "remark"), PAIRS)
def test_a_question_about_something_told_needs_a_memory_more_than_an_errand(
    asks: str, remark: str
) -> None:
    assert needs(asks) > needs(remark)


def test_the_probe_is_for_the_embedder_from_which_it_was_learned() -> None:
    assert MiniLMEmbedder().model_name == MODEL
    assert need([1.0] * 384, "ollama:nomic-embed-text") == UNKNOWN


def test_the_probe_is_the_one_that_the_labelled_lines_give() -> None:
    lines = Lines()
    learned = lines.logits(lines.learn(np.ones(len(lines.needs), dtype=bool)))
    kept = [need(vector.tolist(), MODEL) for vector in lines.vectors]
    # Another processor computes slightly other vectors, from which slightly other weights follow.
    assert np.corrcoef(learned, kept)[0, 1] > 0.98
    assert separates(lines.needs, np.array(kept)) > 0.9


def test_an_evening_that_was_left_out_is_told_apart() -> None:
    lines = Lines()
    logits = lines.left_out()
    for evening in {*lines.evenings}:
        here = lines.evenings == evening
        assert separates(lines.needs[here], logits[here]) > 0.8


def test_weights_are_kept_as_bytes() -> None:
    step, text = packed(np.array([1.27, -0.01, 0.0]))
    assert (round(step, 3), text) == (0.01, "f/8A")
