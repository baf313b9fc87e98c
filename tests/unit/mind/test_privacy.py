"""Who may hear a memory: a whisper is only for the two who share it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.privacy import PrivateWords, is_private, is_redacted, redacted
from keepsake.archive.records import MemoryKind
from keepsake.happening import ME, Deed, Person, Pose
from tests.memories import did, old_memory, seen
from tests.unit.mind.journals import result, told
from tests.unit.mind.journals import seen as heard_line

TOM = "Tom-1"
ADA = "Ada-1"
HEARD = heard_line(1, 'Tom whispers to you, "The key is below the stone."', event="whisper")
OLD = replace(HEARD, event="")
SAID = old_memory(
    2,
    HEARD.time,
    MemoryKind.ACT,
    "whisper Tom = The rope is in the loft.",
    reason="he asked",
    to="Tom",
    to_id=TOM,
)
RECALLED = result(3, 'You recall: memory 1 Tom whispers to you, "The key is below the stone."')


@pytest.mark.parametrize(
    ("audience", "hears"), [({TOM}, True), ({ADA}, False), ({TOM, ADA}, False), (set(), False)]
)
def test_only_the_other_person_hears_a_whisper(audience, hears):
    private = PrivateWords()
    for memory in (HEARD, SAID, told(4, "Good day.")):
        private.add(memory)
    given = frozenset(audience)
    assert [private.may_hear([number], given) for number in (1, 2, 4)] == [hears, hears, True]
    assert private.may_hear([4, 1], given) is hears
    shown = private.heard_by([HEARD, SAID], given)
    assert ("stone" in shown[0].text, "loft" in shown[1].text) == (hears, hears)


def test_nobody_hears_what_the_agent_alone_may_know():
    private = PrivateWords()
    private.add(replace(told(4, "plan dig"), witnesses=()))
    for audience in ({TOM}, {ADA}, {TOM, ADA}, set()):
        assert not private.may_hear([4], frozenset(audience))
    assert private.confidants_of([4]) == frozenset()


@pytest.mark.parametrize("memory", [HEARD, OLD, SAID, RECALLED])
def test_private_words_and_reasons_are_redacted(memory):
    assert is_private(memory)
    shown = redacted(memory)
    assert "stone" not in shown.text
    assert "loft" not in shown.text
    assert shown.reason == ""
    assert not is_private(told(1, "The key is below the stone."))


@pytest.mark.parametrize(
    "what",
    [
        Pose(actor=Person("Tom", TOM), gesture="points below the stone.", shown="Tom points."),
        Pose(actor=ME, gesture="points below the stone.", shown="emote points."),
        Deed(actor=ME, verb="plan", objects=("dig below the stone",), shown="plan dig."),
        Deed(actor=Person("Tom", TOM), verb="dig", outcome="A stone moves.", shown="Tom digs."),
    ],
)
def test_nothing_of_a_private_act_is_left(what):
    shown = redacted(replace(HEARD, what=what, witnesses=(TOM,)))
    assert "stone" not in str(shown.to_record())
    assert "stone" not in shown.line
    assert is_redacted(shown)


def test_private_words_are_read_from_an_archive(memory):
    memory.append(seen(HEARD.text, "Tom", TOM, "whisper"), event="whisper")
    memory.append(seen("The clock ticks."))
    memory.append(did(SAID.text, "Tom", TOM))
    memory.append(seen(OLD.text, "Tom"))  # as in archives without the speaker's id
    private = PrivateWords.of(memory.archive)
    for audience, hears in ({ADA}, (2,)), ({TOM}, (1, 2, 3)), (set(), (2,)):
        assert [n for n in range(1, 5) if private.may_hear([n], frozenset(audience))] == [*hears]
