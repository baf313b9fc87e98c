"""What is kept of texts that are read again: it is bounded, and another text reads otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keepsake.language import details, words
from keepsake.language.details import vocabulary
from keepsake.prompt import tokens
from keepsake.prompt.reply import worth
from keepsake.prompt.reply.material import Sentence, SentenceOrigin
from keepsake.prompt.reply.worth import Ranker
from keepsake.summaries import retelling, survival
from keepsake.summaries.retelling import retell
from keepsake.summaries.survival import Seen, read_constraint

TOM = 'Tom says, "I owe Ada four eggs." He leaves.'
NELL = 'Nell says, "I owe Bram nine nets and a boat." She stays.'


def weighed(text: str) -> list[tuple[str, float]]:
    told = (text, "The mill is old.")
    said = [Sentence(each, each, SentenceOrigin.OTHER) for each in told]
    found = Ranker(None).rank("Who owes Ada eggs?", said)
    return [(each.sentence.text, each.worth) for each in found]


@pytest.mark.parametrize(
    "read",
    [
        lambda text: retell(text, "Mira"),
        lambda text: frozenset(vocabulary([text])),
        lambda text: Seen([text]).verbatim(read_constraint(TOM)[0]),
        weighed,
        tokens._pieces,
    ],
)
def test_another_text_reads_otherwise_and_the_same_reads_the_same(read: Callable[[str], object]):
    first, other = read(TOM), read(NELL)
    assert first != other
    assert (read(TOM), read(NELL)) == (first, other)


@pytest.mark.parametrize(
    "kept",
    [
        *(words.stem, words.root, details._keys, details._tokens, retelling.retell),
        *(survival._plain, survival.units, worth._clauses, worth._telling_of, tokens._pieces),
    ],
)
def test_what_is_kept_has_a_bound(kept: Any) -> None:
    assert 0 < kept.cache_info().maxsize <= 32_768


def test_nobody_changes_what_is_kept_through_what_was_given_out():
    vocabulary([TOM]).clear()
    assert "tom" in vocabulary([TOM])
