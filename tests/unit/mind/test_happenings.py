"""What happened is archived as fields, and read back as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import ME, UNKNOWN, Deed, Manner, Person, Pose, Result, Sight, Speech
from keepsake.json_lines import line_of, parsed

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TOM = Person("Tom", "12-20260501")
ADA = Person("a tall woman", "13-20260501")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
others = st.builds(Person, texts.filter(bool), texts.filter(lambda text: text != ME.id))
people = st.one_of(st.just(ME), others)
several = st.lists(people, max_size=3).map(tuple)
happenings = st.one_of(
    st.builds(
        Speech,
        speaker=people,
        words=texts,
        to=several,
        manner=st.sampled_from(Manner),
        shown=texts,
    ),
    st.builds(
        Deed,
        actor=people,
        verb=texts,
        objects=st.lists(texts, max_size=2).map(tuple),
        to=several,
        outcome=texts,
        shown=texts,
    ),
    st.builds(Pose, actor=people, gesture=texts, to=several, shown=texts),
    st.builds(Sight, source=st.one_of(st.none(), others), shown=texts),
    st.builds(Result, verb=texts, act=st.integers(0, 99), done=st.booleans(), shown=texts),
)


@given(
    happenings,
    st.one_of(st.none(), st.lists(texts, max_size=2).map(tuple)),
    st.lists(st.integers(1, 99), max_size=3).map(tuple),
)
def test_a_memory_is_read_back_as_it_was_written(what, witnesses, rests_on):
    memory = Memory(
        7,
        NOON,
        what,
        place="The Kettle",
        happening="9f",
        event="say",
        reason="it rains",
        about=TOM.id,
        importance=3,
        chain="Nell 17",
        origins=("8c",),
        told="The bell rang.",
        answers=5,
        rests_on=rests_on,
        witnesses=witnesses,
        allowed_by=witnesses or (),
    )
    assert Memory.from_record(parsed(line_of(memory.to_record()))) == memory


def test_an_own_whisper_is_known_to_its_witnesses_if_it_was_said_by_leave():
    whisper = Speech(speaker=ME, words="Dry?", to=(ADA,), manner=Manner.WHISPER, shown="Dry?")
    memory = Memory(3, NOON, whisper, witnesses=(TOM.id, ADA.id))
    assert memory.confidants == {ADA.id}
    assert replace(memory, allowed_by=(TOM.id,)).confidants == {TOM.id, ADA.id}


def test_an_archive_line_can_be_read_by_a_person():
    speech = Speech(speaker=TOM, words="Hm?", to=(ME, ADA), shown='Tom says to you, "Hm?"')
    memory = Memory(3, NOON, speech, place="The Kettle", happening="9f")
    assert json.loads(line_of(memory.to_record())) == {
        "type": "memory",
        "n": 3,
        "t": "2026-05-04T12:00:00+00:00",
        "kind": "perception",
        "text": 'Tom says to you, "Hm?"',
        "what": "speech",
        "source": "Tom",
        "source_id": "12-20260501",
        "to": [["you", "me"], ["a tall woman", "13-20260501"]],
        "words": "Hm?",
        "manner": "say",
        "place": "The Kettle",
        "happening": "9f",
    }


def test_a_line_of_a_later_version_is_an_error_not_a_guess():
    record = Memory(3, NOON, Sight(shown="A door.")).to_record() | {"what": "dream"}
    with pytest.raises(ValueError, match="dream"):
        Memory.from_record(record)


def test_whose_act_it_is_decides_the_kind_and_who_is_meant():
    heard = Memory(1, NOON, Speech(speaker=TOM, words="Hm?", to=(ME,)))
    said = Memory(2, NOON, Speech(speaker=ME, words="Hm.", to=(ADA,)))
    assert (heard.kind, said.kind) == (MemoryKind.PERCEPTION, MemoryKind.ACT)
    assert (heard.source_id, heard.to) == (TOM.id, "")
    assert (said.source, said.to, said.to_id) == ("", ADA.name, ADA.id)
    assert heard.said is None
    assert said.heard is None


@pytest.mark.parametrize(
    ("what", "witnesses", "confidants"),
    [
        (Speech(speaker=TOM, words="Hm?", to=(ME,)), None, None),
        (Speech(speaker=TOM, words="Hm?", to=(ME,), manner=Manner.WHISPER), None, {TOM.id}),
        (Speech(speaker=ME, words="Hm?", to=(ADA,), manner=Manner.WHISPER), None, {ADA.id}),
        (
            Speech(speaker=TOM, words="Hm?", to=(ME, ADA), manner=Manner.WHISPER),
            None,
            {TOM.id, ADA.id},
        ),
        (Speech(speaker=Person("Tom"), words="", manner=Manner.WHISPER), None, {UNKNOWN}),
        (Sight(source=TOM, shown="The key is under the mat."), (TOM.id,), {TOM.id}),
        (Sight(shown="A voice in your head."), (), set()),
    ],
)
def test_who_shares_a_memory_follows_from_manner_addressees_and_witnesses(
    what, witnesses, confidants
):
    memory = Memory(1, NOON, what, witnesses=witnesses)
    assert memory.confidants == confidants
