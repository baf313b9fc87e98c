"""Estimates of the tokens of a text."""

from __future__ import annotations

import pytest

from keepsake.prompt.tokens import Heuristic
from tests.sentences import table

SAID = 'Tom says to you, "My boots are full of rain, and the ferry was late again."'
"""Gemma's tokenizer makes 20 tokens of it and one of the line end."""


@pytest.mark.parametrize(("text", "least", "most"), table("texts and their tokens"))
def test_the_estimate_of_tokens_is_close_and_not_too_low(text: str, least: int, most: int):
    assert least <= Heuristic().of(text) <= most


def test_a_servers_counts_correct_the_estimate_within_limits():
    heuristic = Heuristic()
    lines = [f"{SAID} {number}" for number in range(200)]
    true = round(1.4 * sum(heuristic.each(lines)))
    for _ in range(10):
        heuristic.heard(sum(heuristic.each(lines)), true)
    assert sum(map(heuristic.of, lines)) == pytest.approx(true, rel=0.03)
    heuristic = Heuristic()
    before = Heuristic().factor
    for ours, tokens in ((4, 20), (0, 5), (21, 0), (21, -1)):
        heuristic.heard(ours, tokens)
    assert heuristic.factor == pytest.approx(before, rel=0.01), "short or absurd counts are ignored"
    for _ in range(50):
        heuristic.heard(2000, 1)  # as from a server that counts only tokens that were not cached
    assert heuristic.factor >= 0.9 * before, "the estimate is lowered by a tenth at most"
