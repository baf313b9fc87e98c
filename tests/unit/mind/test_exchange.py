"""Who said what to whom, and who waits for an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import ME, Person, Sight, Speech
from keepsake.memory.plan import open_exchange
from tests.memories import old_memory
from tests.sentences import table
from tests.unit.mind.fake_agent import EVENING, memories_of


def asks(who: str, words: str = "Is there soup?") -> str:
    return f'{who}| {who} says to you, "{words}"'


@pytest.mark.parametrize(("text", "source", "said"), table("who said what"))
def test_the_speaker_words_and_addressee_are_parsed(text, source, said):
    memory = old_memory(1, EVENING, MemoryKind.PERCEPTION, text, source=source)
    read = memory.heard and (memory.heard.speaker.name, memory.heard.words, memory.heard.to_name)
    assert read == ((*said, "")[:3] if said else None)
    assert not source or memory.line.count('"') in (0, 2), "quotes forge no speaker"


@pytest.mark.parametrize(("lines", "number"), table("open questions"))
def test_the_oldest_open_question_is_found(lines, number):
    assert open_exchange(memories_of(*lines), "Mira") == number


def test_people_with_one_name_wait_for_their_own_answers():
    toms = [Person("Tom", "7-1"), Person("Tom", "8-1")]
    asked = [
        Speech(speaker=tom, words="Is there soup?", to=(ME,), shown='Tom says, "Is there soup?"')
        for tom in toms
    ]
    answer = Speech(speaker=ME, words="Yes, Tom.", to=(toms[0],), shown="say Yes, Tom.")
    window = [Memory(n, EVENING, what) for n, what in enumerate([*asked, answer], 1)]
    assert open_exchange(window[:2], "Mira") == 1
    assert open_exchange(window, "Mira") == 2
    renamed = Sight(source=Person("Thomas", "8-1"), shown="Thomas goes north.")
    left = Memory(4, EVENING, renamed, event="traverse")
    assert open_exchange([*window, left], "Mira") is None


def test_a_question_is_closed_when_the_asker_leaves():
    asked, went = memories_of(asks("Tom"), "Tom| Tom goes north to Pump Square.")
    assert open_exchange([asked, replace(went, event="traverse")], "Mira") is None
