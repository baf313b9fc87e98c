"""Sentences of a summary that say more than the memories of which it was made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import MemoryKind
from keepsake.archive.tiers import SummaryState
from keepsake.tracing.unfounded import unfounded
from tests.memories import old_memory
from tests.unit.test_losses import NOON, compaction, longterm, recent

LANTERN = "Oswin thinks that it was a yellow lantern in a small boat."
LINES = ("Anneke says to you, 'I walked the last mile.'", "Oswin arrives.", "Mira oils a gate.")


def found(text, before=None):
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line, place="The Kettle")
        for n, line in enumerate(LINES, 1)
    ]
    state = SummaryState(before, None, 0, 0, NOON)
    after = SummaryState(before, recent(1, 9, text), 9, 1, NOON)
    return [*unfounded(compaction(state, after), memories, "Bram")]


def test_what_no_memory_tells_is_found_with_its_words():
    (sentence,) = found(f"Anneke walked the last mile. {LANTERN}")
    assert sentence.text == LANTERN
    assert sentence.missing == ("thinks", "yellow", "lantern", "small", "boat")


@pytest.mark.parametrize(
    "text",
    [
        "Anneke walked the last mile, and Oswin came in.",
        "On the evening of Sunday the 29th of November Bram sat at the Kettle.",
        "Oswin came with good news.",
    ],
)
def test_other_words_for_what_happened_and_its_day_are_no_sign(text):
    assert not found(text)


def test_what_an_earlier_summary_tells_is_known():
    assert not found(LANTERN, longterm(9, "Oswin thinks of a small boat with a yellow lantern."))


DUTCH = "Vandaag alleen brood en een half uur gehuild, achter een hooiberg."
CRIED = "Anneke told me that she cried half an hour behind a haystack with only bread."


@pytest.mark.parametrize("sources", [((4,),), ()])
def test_words_that_were_said_in_another_language_are_told_as_such(sources):
    said = old_memory(
        4,
        NOON,
        MemoryKind.PERCEPTION,
        f'Anneke says to you, "{DUTCH}"',
        source="Anneke",
        place="The Kettle",
    )
    after = SummaryState(None, replace(recent(1, 9, CRIED), sources=sources), 9, 1, NOON)
    (sentence,) = unfounded(compaction(SummaryState(), after), [said], "Bram")
    assert "haystack" in sentence.missing
    assert sentence.languages == ("dutch",)


def test_a_sentence_that_names_another_source_knows_too_much():
    said = old_memory(4, NOON, MemoryKind.PERCEPTION, f'Anneke says, "{DUTCH}"', source="Anneke")
    seen = old_memory(5, NOON, MemoryKind.PERCEPTION, "Anneke arrives.")
    after = SummaryState(None, replace(recent(1, 9, CRIED), sources=((5,),)), 9, 1, NOON)
    (sentence,) = unfounded(compaction(SummaryState(), after), [said, seen], "Bram")
    assert sentence.languages == ()
