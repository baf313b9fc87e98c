"""Estimates, the ledger of true counts, and what a prompt costs."""

from __future__ import annotations

import pytest

from keepsake.prompt.tokens import (
    HEURISTIC,
    MODEL_SERVER,
    Heuristic,
    TokenLedger,
)

SAID = 'Tom says to you, "My boots are full of rain, and the ferry was late again."'
"""Gemma's tokenizer makes 20 tokens of it, and one of the line end."""


def test_the_estimate_is_near_the_true_count_of_a_line():
    assert Heuristic().of(SAID) == pytest.approx(21, abs=2)
    assert Heuristic().of("") == 0


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("1234567890 9876543210", 20, 24),  # digits cost a token each
        ("日本語のテキストをここに書きます。", 8, 20),
        ("Привет, как дела? Что нового?", 8, 20),
        ("😀😃😄😁😆😅🤣😂", 8, 12),
        ("x" * 200, 20, 40),
    ],
)
def test_what_a_player_types_to_be_costly_is_not_taken_for_cheap(text: str, least: int, most: int):
    assert least <= Heuristic().of(text) <= most


def test_a_text_is_counted_once_and_kept():
    ledger = TokenLedger(Heuristic())
    assert ledger.of(SAID) == Heuristic().of(SAID)
    assert ledger.uncounted(10) == (SAID,)
    assert (ledger.source, ledger.waiting) == (HEURISTIC, 1)
    ledger.learn({SAID: 17}, MODEL_SERVER)
    assert ledger.of(SAID) == 17
    assert ledger.uncounted(10) == ()
    assert (ledger.source, ledger.waiting) == (MODEL_SERVER, 0)
