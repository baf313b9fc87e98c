"""What became of each memory of a compaction, against what a person read in the summary."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import Deed, Speech
from keepsake.language.sourced_text import sources_of, without_marks
from keepsake.paths import REPOSITORY
from keepsake.tracing.kept import Kept
from keepsake.tracing.losses import losses
from tests.unit.test_losses import compaction

FOLDER = REPOSITORY / "tests" / "data" / "compactions"
NAMES = ("mira", "oswin", "lisbeth", "innkeeper", "nell")
NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def read(name):
    data = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    memories = [Memory.from_record(each) for each in data["memories"]]
    longterm = data["longterm"] and Summary.from_record(Tier.LONGTERM, data["longterm"])
    return data, memories, longterm, Summary.from_record(Tier.RECENT, data["recent"])


def found(name, *, cited):
    """Return what became of each memory, by number; ``cited``: whether the writer named them."""
    data, memories, longterm, recent = read(name)
    if cited:
        text, named = without_marks(data["marked"], {each.number for each in memories})
        assert text == recent.text
        record = {**data["recent"], "sources": sources_of(text, named)}
        recent = Summary.from_record(Tier.RECENT, json.loads(json.dumps(record)))
    made = compaction(SummaryState(), SummaryState(longterm, recent, recent.last, 1, NOON))
    return data["read"], {each.memory.number: each for each in losses(made, memories)}


def agreement(labels, became):
    """Return how many memories are called as the reader does, otherwise, and unsure."""
    right = 0
    wrong = 0
    unsure = 0
    for label in ("told", "lost"):
        for number in labels[label]:
            kept = became[number].kept
            if kept is Kept.UNSURE:
                unsure += 1
            elif (kept is Kept.GONE) == (label == "lost"):
                right += 1
            else:
                wrong += 1
    return right, wrong, unsure


@pytest.mark.parametrize("name", NAMES)
def test_a_writer_that_names_its_memories_says_what_was_lost(name):
    labels, became = found(name, cited=True)
    right, wrong, unsure = agreement(labels, became)
    print(name, right, wrong, unsure)
    assert unsure <= (right + wrong + unsure) / 12
    assert right / (right + wrong) >= 0.9


@pytest.mark.parametrize("name", NAMES)
def test_of_words_and_deeds_few_that_are_told_are_called_lost(name):
    labels, became = found(name, cited=True)
    words = {n for n, each in became.items() if isinstance(each.memory.what, Speech | Deed)}
    gone = {number for number in words if became[number].kept is Kept.GONE}
    told = gone.intersection(labels["told"])
    lost = words.intersection(labels["lost"])
    assert len(gone & lost) / len(gone - {*labels["either"]}) >= 0.8, sorted(told)
    assert len(gone & lost) / len(lost) >= 0.9


@pytest.mark.parametrize("name", NAMES)
def test_without_them_words_and_people_decide_or_it_is_unsure(name):
    labels, became = found(name, cited=False)
    right, wrong, unsure = agreement(labels, became)
    print(name, right, wrong, unsure)
    assert right / (right + wrong) >= 0.85
    assert unsure <= (right + wrong + unsure) / 3
    assert all(became[number].kept is Kept.WHISPERED for number in labels["private"])


@pytest.mark.parametrize("name", NAMES)
def test_without_them_nothing_that_is_lost_is_called_told(name):
    labels, became = found(name, cited=False)
    assert Kept.SHORTER not in {each.kept for each in became.values()}
    assert Kept.LIKELY not in {became[number].kept for number in labels["lost"]}


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (63, "Joss said that Oswin would know"),
        (101, "Oswin brought a log page from the stones"),
        (102, "asked Nell whose hand it is"),
        (125, "Wren had sworn and did not tell"),
        (128, "Bram drank to Pelle"),
    ],
)
def test_who_spoke_and_to_whom_joins_a_memory_with_a_sentence(number, told):
    _, became = found("mira", cited=False)
    assert became[number].kept in (Kept.LIKELY, Kept.UNSURE)
    assert told in became[number].told
