"""Estimates of the tokens of a text."""

from __future__ import annotations

from random import Random

import pytest

from keepsake.language.tokens import Heuristic
from tests.sentences import table

SAID = 'Tom says to you, "My boots are full of rain, and the ferry was late again."'
"""Gemma's tokenizer makes 20 tokens of it and one of the line end."""


@pytest.mark.parametrize(("text", "least", "most"), table("texts and their tokens"))
def test_the_estimate_of_tokens_is_close_and_not_too_low(text: str, least: int, most: int):
    assert least <= Heuristic().of(text) <= most


def prompts(count: int, start: int = 100) -> list[list[str]]:
    """Return the lines of prompts that grow, as an agent's do."""
    return [
        [f"{SAID} {number}" for number in range(size)]
        for size in range(start, start + 10 * count, 10)
    ]


def hear(heuristic: Heuristic, lines: list[str], tokens: int) -> None:
    """Report a server's count of a prompt, as a turn does."""
    heuristic.heard(sum(heuristic.each(lines)), tokens)


def test_a_servers_counts_correct_the_estimate():
    heuristic = Heuristic()
    for lines in prompts(12):
        hear(heuristic, lines, round(1.4 * sum(Heuristic().each(lines))))
    true = round(1.4 * sum(Heuristic().each(lines)))
    assert sum(map(heuristic.of, lines)) == pytest.approx(true, rel=0.03)


def test_a_server_that_counts_only_new_tokens_lowers_the_estimate_by_a_tenth_at_most():
    heuristic = Heuristic()
    before = heuristic.factor
    for lines in prompts(50):
        hear(heuristic, lines, sum(Heuristic().each(lines)) // 20)
    assert 0.9 * before <= heuristic.factor < before


@pytest.mark.parametrize("tokens", [1, 5, 600, 2000, 128_000, 10**9])
def test_a_server_that_reports_one_number_for_all_prompts_is_not_believed(tokens):
    heuristic = Heuristic()
    before = heuristic.factor
    for lines in prompts(50, start=20):
        hear(heuristic, lines, tokens)
        assert heuristic.factor == before


def test_numbers_that_have_nothing_to_do_with_the_prompts_are_not_believed():
    heuristic = Heuristic()
    before = heuristic.factor
    random = Random(7)
    for lines in prompts(50):
        hear(heuristic, lines, random.choice([1, 40, 900, 2000, 30_000, 10**7]))
    assert heuristic.factor == before


def test_one_nonsense_count_among_good_ones_changes_nothing():
    heuristic = Heuristic()
    for number, lines in enumerate(prompts(40)):
        true = sum(Heuristic().each(lines))
        hear(heuristic, lines, 10**9 if number % 16 == 9 else true)
        assert heuristic.factor == pytest.approx(Heuristic().factor, rel=0.02)


@pytest.mark.parametrize(("ours", "tokens"), [(4, 20), (0, 5), (21, 0), (21, -1), (-3, 7)])
def test_a_single_or_absurd_count_changes_nothing(ours, tokens):
    heuristic = Heuristic()
    heuristic.heard(ours, tokens)
    assert heuristic.factor == Heuristic().factor
