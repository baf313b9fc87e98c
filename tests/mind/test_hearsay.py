"""What agents pass on: deeds that the world tells of, with a chain to who was there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from keepsake.agent.offstage.hearsay import LASTS, MOST, TOLD_FROM, Hearsay
from keepsake.archive.records import HEARSAY, Memory, MemoryKind
from tests.mind.journals import NOON, seen, told

TOM, ADA = "Tom-1", "Ada-1"
DEED = seen(17, "Tom puts the bell rope back.", event="deed", importance=7)


def begun(name: str) -> Hearsay:
    found = Hearsay(name)
    found.begin_with(())
    return found


def passed_on(teller: Hearsay, name: str, listener: Hearsay, number: int) -> Memory:
    """The memory that the listener has of being told."""
    rumour = teller.for_("L-1", "Listener", NOON, listener)
    assert rumour is not None
    facts = rumour.told_to(name)
    return Memory(
        number,
        NOON,
        MemoryKind.PERCEPTION,
        f'{name} says to you, "{rumour.words}"',
        "Inn",
        name,
        source_id=f"{name}-1",
        event=HEARSAY,
        to_id=str(facts["about"]),
        importance=int(str(facts["importance"])),
        chain=str(facts["chain"]),
    )


def test_a_deed_goes_round_with_its_chain_and_loses_weight():
    nell, joss, mira = begun("Nell"), begun("Joss"), begun("Mira")
    nell.saw(DEED)
    first = passed_on(nell, "Nell", joss, 41)
    assert first.text.endswith('"I saw it myself: Tom puts the bell rope back."')
    assert (first.chain, first.importance) == ("Nell 17", 6)
    joss.saw(first)
    second = passed_on(joss, "Joss", mira, 5)
    assert "Nell tells me: Tom puts the bell rope back." in second.text
    assert (second.chain, second.importance) == ("Nell 17; Joss 41", 5)
    mira.saw(second)
    assert nell.for_("M-1", "Mira", NOON, mira) is None, "she has it already"
    third = passed_on(mira, "Mira", begun("Eve"), 9)
    assert third.importance < TOLD_FROM
    eve = begun("Eve")
    eve.saw(third)
    assert eve.for_("L-1", "Listener", NOON, begun("x")) is None, "too little is left of it"


@pytest.mark.parametrize(
    "memory",
    [
        told(17, "My brother died, and I am the king's son."),
        seen(17, "Tom gives you a blue cup.", event="give"),
        replace(DEED, importance=TOLD_FROM - 1),
        replace(DEED, event="pose"),
        replace(DEED, event="kindness"),
        replace(DEED, event="whisper"),
    ],
)
def test_nothing_else_is_passed_on(memory: Memory):
    nell = begun("Nell")
    nell.saw(memory)
    assert nell.for_(ADA, "Ada", NOON, begun("Ada")) is None


def test_who_knows_it_who_did_it_and_who_told_it_is_not_told():
    nell, joss = begun("Nell"), begun("Joss")
    nell.saw(DEED)
    assert nell.for_(TOM, "Tom", NOON, begun("Tom")) is None
    joss.saw(replace(DEED, number=3))
    assert nell.for_("Joss-1", "Joss", NOON, joss) is None
    heard = begun("Mira")
    heard.saw(passed_on(nell, "Nell", heard, 4))
    assert heard.for_("Nell-1", "Nell", NOON, begun("x")) is None


def test_it_is_news_for_a_week_and_told_once():
    nell, other = begun("Nell"), begun("Ada")
    nell.saw(DEED)
    assert nell.for_(ADA, "Ada", NOON + LASTS - timedelta(hours=1), other)
    assert nell.for_(ADA, "Ada", NOON + LASTS, other) is None
    chain = "Nell 17"
    act = Memory(18, NOON, MemoryKind.ACT, "say …", event=HEARSAY, to_id=ADA, chain=chain)
    nell.saw(act)
    assert nell.for_(ADA, "Ada", NOON, other) is None


def test_what_was_lived_before_is_read_back_and_bounded():
    nell = Hearsay("Nell")
    last = NOON + timedelta(hours=9)
    nell.saw(replace(DEED, number=MOST + 40, text="Tom sings.", importance=8, time=last))
    before = [
        replace(DEED, number=n, text=f"Tom mends net {n}.", time=NOON + timedelta(minutes=n))
        for n in range(1, MOST + 20)
    ]
    nell.begin_with(before)
    assert nell.read
    rumour = nell.for_(ADA, "Ada", NOON, begun("Ada"))
    assert rumour is not None
    assert rumour.text == "Tom sings.", "what came meanwhile is not lost"
    assert len(nell._known) == MOST
