"""Which memories of the window bear on an act."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.agent.why import PromptSource, Why
from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.events.values import RecalledKind
from keepsake.web.questions.bearing import BEFORE, MOST, bearing_on, just_before
from tests.memories import old_memory

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = (
    "Anneke whispers to you, I am running from Gerrit.",
    "The rain stops.",
    "Bob asks after the ferry.",
    "Wren sorts her sea glass.",
    "Bob says to you, Where is Anneke going?",
    *("The fire crackles." for _ in range(BEFORE)),
)
LAST = len(SAID)


@pytest.fixture
def archive(tmp_path):
    """An archive with what Mira heard, and her act after it."""
    made = Archive(tmp_path)
    for number, text in enumerate(SAID, 1):
        at = NOW + timedelta(seconds=number)
        made.append(old_memory(number, at, MemoryKind.PERCEPTION, text).to_record())
    yield made
    made.close()


def why(archive, text="say Ask her yourself, Bob.", window=(1, LAST), **facts):
    """Return what led to an act of Mira's after all that she heard."""
    act = replace(old_memory(6, NOW, MemoryKind.ACT, text), **facts)
    (cause,) = archive.read(5, 5)
    return Why(
        agent="Mira", nth=1, time=NOW, command=text, reason="", act=act, cause=cause, window=window
    )


def numbers(found):
    return [each.number for each in found]


def test_those_are_found_that_share_words_with_the_act_or_with_what_set_it_off(archive):
    assert numbers(bearing_on(archive, why(archive))) == [1, 3]


def test_what_the_act_rests_on_is_found_without_a_common_word(archive):
    assert 4 in numbers(bearing_on(archive, why(archive, rests_on=(4,))))


def test_rare_words_count_more_than_those_that_many_share(archive):
    for number in range(LAST + 1, 40):
        line = old_memory(number, NOW, MemoryKind.PERCEPTION, f"Bob drops pebble {number}.")
        archive.append(line.to_record())
    found = numbers(bearing_on(archive, why(archive, window=(1, 39))))
    assert len(found) == MOST
    assert 1 in found


def test_what_set_it_off_came_just_before_or_was_recalled_is_not_named_again(archive):
    act = why(archive, rests_on=(1, 3, 5, LAST))
    assert numbers(just_before(archive, act)) == [*range(LAST - BEFORE + 1, LAST + 1)]
    assert numbers(bearing_on(archive, act)) == [1, 3]
    (told,) = archive.read(1, 1)
    source = PromptSource(kind=RecalledKind.MEMORY, n=1, score=0.0, why="", memory=told)
    assert numbers(bearing_on(archive, replace(act, recalled=(source,)))) == [3]


def test_what_set_it_off_stands_by_itself(archive):
    assert numbers(just_before(archive, why(archive, window=(1, 5)))) == [1, 2, 3, 4]


def test_an_act_without_a_prompt_has_no_window(archive):
    assert bearing_on(archive, why(archive, window=None)) == ()
