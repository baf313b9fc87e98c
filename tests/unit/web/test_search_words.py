"""Which memories of a search by meaning have a word of the question."""

from __future__ import annotations

import pytest

from keepsake.web.searching import any_word_of


@pytest.mark.parametrize(
    ("question", "text", "has"),
    [
        ("cider", "Four coppers, less one honest word.", False),
        ("who drowned?", "She was drowning in the channel.", True),
        ("who drowned?", "Who is there?", False),
        ("Who are you?", "Who is there?", True),
        ("lantern at sea", "A low yellow lantern.", True),
        ("姉は溺れた", "姉は溺れたのか。", True),
    ],
)
def test_a_stop_word_counts_only_if_there_is_no_other(question, text, has):
    assert any_word_of(question).is_said_in(text) is has
