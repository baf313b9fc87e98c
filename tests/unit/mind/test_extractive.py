"""Summaries that are made of sentences of their sources, without a model."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.summaries import Tier
from keepsake.language.sourced_text import cited_in
from keepsake.memory.summary_text import SummarySource, extractive
from tests.sentences import table
from tests.unit.mind.fake_agent import memories_of

NOISE = table("small events")
FACTS = table("facts with details")


def marked(line):
    """Mark a line for :func:`memories_of`: its first word names the source."""
    if line.startswith("~"):
        return line
    return f"={line}" if "Exits:" in line else f"{line.split(' ')[0]}| {line}"


def summarize(lines, older=(), tokens=175, tier=Tier.RECENT, importance=lambda _: 0):
    memories = tuple(memories_of(*map(marked, lines)))
    source = SummarySource(
        tier, "Mira", memories, older, limit_tokens=tokens, importance=importance
    )
    return extractive(source).text


def lines_with_facts(count, seed):
    rng = random.Random(seed)
    lines = [rng.choice(NOISE) for _ in range(count)]
    for fact, _ in FACTS:
        lines.insert(rng.randrange(len(lines)), fact)
    return lines


@pytest.mark.parametrize("seed", range(2))
def test_extractive_summaries_keep_facts_that_random_lines_lose(seed):
    lines = lines_with_facts(120, seed)
    details = [detail for _, found in FACTS for detail in found]
    summary = summarize(lines)
    assert sum(detail in summary for detail in details) >= len(details) - 1
    picked = " ".join(random.Random(seed).sample(lines, 12))
    assert sum(detail in picked for detail in details) < len(details) / 2


def test_important_lines_stay_and_no_speaker_fills_a_summary():
    news = [f'Joss says, "Ship {n} of Harl{n} brought {n} casks of wine{n}."' for n in range(60)]
    jar = 'Ada says to you, "Keep the jar."'

    def importance(memory):
        return 9 if memory.source == "Ada" or "Tom" in memory.text else 2

    first = summarize([jar, *news], tokens=120, importance=importance)
    assert '* 4 May: Ada told me: "Keep the jar."' in first
    again = summarize([], (first, "\n".join(news)), tokens=120, tier=Tier.LONGTERM)
    assert "Keep the jar" in again, "the asterisk marks it as important"
    flood = [f'Tom says to you, "Never sell barrel{n} to Harl{n}."' for n in range(200)]
    others = 'Bram says to you, "My brother Edric sails on the Grey Gull of Merrow."'
    assert "Edric" in summarize([*flood, others], tokens=225, importance=importance)


@given(
    st.lists(st.sampled_from(NOISE + [f for f, _ in FACTS]) | st.text(max_size=80), max_size=20),
    st.lists(st.text(max_size=200), max_size=2),
    st.integers(5, 100),
)
def test_summaries_keep_to_their_size_and_are_deterministic(lines, older, size):
    summary = summarize(lines, tuple(older), tokens=size)
    assert len(summary) <= size * 4
    assert summarize(lines, tuple(older), tokens=size) == summary


def test_each_sentence_names_the_memories_that_it_quotes():
    lines = [
        'Tom| Tom says, "The goat ate seven hats. Nobody saw it."',
        'Ann| Ann says, "My brother Edwin mends nets in Ostrey."',
        'Ann| Ann says, "Hm."',
    ]
    draft = extractive(SummarySource(Tier.RECENT, "Mira", tuple(memories_of(*lines))))
    cited = cited_in(draft.text, draft.sources)
    named = {number for numbers in cited.values() for number in numbers}
    assert {1, 2} <= named
    for sentence, numbers in cited.items():
        assert ("goat" in sentence) <= (numbers == (1,))
        assert ("Edwin" in sentence) <= (numbers == (2,))
