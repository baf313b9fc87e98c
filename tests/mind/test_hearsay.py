"""What gets round: from one agent's memories to the next one's, with whose word it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from keepsake.archive.records import HEARSAY, SCENE, Memory, MemoryKind
from keepsake.books.commitments import Commitments
from keepsake.books.hearsay import Hearsay, Rumour
from keepsake.books.journal.importance import importance
from keepsake.books.noticing import NoticedKind
from keepsake.prompt.reply.material import of_memory
from keepsake.prompt.reply.worth import Ranker

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
TOM = "90-20260101120000"
DEED = "Tom brought Mira her cup back."


@dataclass
class Somebody:
    """An agent that only lives through what it is told to."""

    name: str
    memories: list[Memory] = field(default_factory=list)
    now: datetime = NOON

    def __post_init__(self) -> None:
        self.hearsay = Hearsay(
            self.name, partial(importance, own_name=self.name), lambda who: who.startswith("id-")
        )

    @property
    def id(self) -> str:
        return f"id-{self.name}"

    def lives(self, text: str, kind: MemoryKind = MemoryKind.PERCEPTION, **more) -> Memory:
        number = len(self.memories) + 1
        memory = Memory(number, self.now, kind, text, place="The Quay", **more)
        self.memories.append(memory)
        self.hearsay.saw(memory)
        return memory

    def hears(self, who: str, words: str, **more) -> Memory:
        said = f'{who} says to you, "{words}"'
        source_id = TOM if who == "Tom" else f"id-{who}"
        return self.lives(said, source=who, source_id=source_id, event="talk", **more)

    def sees_deed(self, text: str = DEED, weight: int = 7) -> Memory:
        return self.lives(text, source="Tom", source_id=TOM, event="deed", importance=weight)

    def next_for(self, other: Somebody) -> Rumour | None:
        return self.hearsay.for_(other.id, other.name, self.now, other.hearsay)


def tells(teller: Somebody, listener: Somebody) -> Rumour:
    """What the teller has for the listener is told, as the game tells it."""
    rumour = teller.next_for(listener)
    assert rumour is not None
    facts = rumour.told_to(teller.name)
    chain, about, left = str(facts["chain"]), str(facts["about"]), int(str(facts["importance"]))
    teller.lives(
        f"say {rumour.words}", MemoryKind.ACT, event=HEARSAY, to_id=listener.id, chain=chain
    )
    listener.lives(
        f'{teller.name} says to you, "{rumour.words}"',
        **{"source": teller.name, "source_id": teller.id, "event": HEARSAY},
        **{"importance": left, "chain": chain, "to_id": about},
    )
    return rumour


@pytest.fixture
def nell() -> Somebody:
    return Somebody("Nell")


@pytest.fixture
def joss() -> Somebody:
    return Somebody("Joss")


def test_each_says_whose_word_it_is_and_a_chain_leads_back_to_who_saw_it(nell, joss):
    bram, wren = Somebody("Bram"), Somebody("Wren")
    nell.sees_deed()
    assert tells(nell, joss).words == f"I saw it myself: {DEED}"
    assert tells(joss, bram).words == f"Nell tells me: {DEED}"
    assert tells(bram, wren).words == f"They say, and I have it from Joss: {DEED}"
    assert wren.memories[-1].chain == "Nell 1; Joss 1; Bram 1"
    for memory in wren.memories[-1].chain.split("; "):
        name, _, number = memory.rpartition(" ")
        who = {"Nell": nell, "Joss": joss, "Bram": bram}[name]
        assert DEED in who.memories[int(number) - 1].text


def test_with_every_mouth_less_is_left_of_it_until_nobody_tells_it_on(nell):
    people = [nell, *(Somebody(name) for name in ("Joss", "Bram", "Wren", "Ruan", "Mira"))]
    nell.sees_deed()
    hops = 0
    while people[hops].next_for(people[hops + 1]):
        tells(people[hops], people[hops + 1])
        hops += 1
    assert hops == 3
    assert [each.memories[0].importance for each in people[1:4]] == [6, 5, 4]


def test_nobody_is_told_twice_nor_what_they_told_or_what_is_about_them(nell, joss):
    nell.sees_deed()
    tells(nell, joss)
    assert nell.next_for(joss) is None
    assert joss.next_for(nell) is None
    tom = Somebody("Tom")
    assert nell.hearsay.for_(TOM, tom.name, NOON, tom.hearsay) is None


def test_who_was_there_need_not_be_told(nell, joss):
    nell.lives("Tom gives you a blue cup.", source="Tom", source_id=TOM, event="give")
    joss.sees_deed("Tom gives Nell a blue cup.")
    assert nell.next_for(joss) is None
    assert joss.next_for(nell) is None


def test_what_it_knows_it_knows_after_a_restart_too(nell, joss):
    nell.sees_deed()
    tells(nell, joss)
    again = Somebody("Nell")
    again.hearsay.begin_with(again.hearsay.of_before(nell.memories))
    assert again.hearsay.read
    assert again.hearsay.for_(joss.id, "Joss", NOON, joss.hearsay) is None
    assert again.next_for(Somebody("Wren")).text == DEED


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ('Tom whispers to you, "My brother died at sea."', {"event": "whisper"}),
        ('Tom says to you, "My brother has a secret. Nobody knows."', {"event": "talk"}),
        (
            'Tom says to you, "Never let anybody touch my house before the flood."',
            {"event": "talk"},
        ),
        ('Tom says to you, "Is my brother dead?"', {"event": "talk"}),
        ('Tom says to you, "I hate you, you thief!"', {"event": "talk"}),
        ("gives you a golden crown.", {"event": "pose"}),
        ("Tom gave you the page that you cut.", {"event": "kindness", "importance": 9}),
        ("Tom arrives from The Quay.", {"event": "traverse"}),
    ],
)
def test_what_is_not_told_on(nell, joss, text, more):
    nell.lives(text, source="Tom", source_id=TOM, **more)
    assert nell.next_for(joss) is None


def test_gifts_and_what_somebody_told_of_their_life_are_told_on_as_theirs(nell, joss):
    nell.lives("Tom gives you a brass wheel.", source="Tom", source_id=TOM, event="give")
    assert tells(nell, joss).text == "Tom gave Nell a brass wheel."
    nell.hears("Tom", "My sister is called Anneke.")
    assert (
        tells(nell, joss).words == "I heard it myself: Tom told Nell: My sister is called Anneke."
    )


def test_what_an_agent_says_of_itself_is_no_news_but_what_it_does_is(nell, joss):
    nell.hears("Bram", "My sister is called Anneke.")
    assert nell.next_for(joss) is None
    nell.lives("Bram gives you a brass wheel.", source="Bram", source_id="id-Bram", event="give")
    assert nell.next_for(joss).text == "Bram gave Nell a brass wheel."


@pytest.mark.parametrize(
    "words", ["That is not true.", "Tom never brought Mira any cup.", "It's not so, you know."]
)
def test_what_is_denied_is_kept_with_the_denial_and_not_told_on(nell, joss, words):
    wren = Somebody("Wren")
    nell.sees_deed()
    tells(nell, joss)
    joss.hears("Ann", words)
    assert joss.next_for(wren) is None
    asked = joss.hearsay.asked_of("Who told you that Tom brought the cup?", "")
    assert asked.denied_by == "Ann"
    assert asked.evidence.endswith("Ann says that it is not so.")


def test_what_one_saw_oneself_nobody_talks_one_out_of(nell, joss):
    nell.sees_deed()
    nell.hears("Ann", "Tom never brought Mira any cup.")
    assert nell.next_for(joss) is not None


@pytest.mark.parametrize("words", ["I never liked soup.", "It is not right of the rain."])
def test_other_denials_mean_something_else(nell, joss, words):
    nell.sees_deed()
    tells(nell, joss)
    joss.lives(f'Ann says, "{words}"', source="Ann", source_id="7-1", event="say")
    assert joss.next_for(Somebody("Wren")) is not None


def test_who_told_you_that_is_answered_by_the_chain(nell, joss):
    bram = Somebody("Bram")
    nell.sees_deed()
    tells(nell, joss)
    tells(joss, bram)
    told = bram.hearsay.asked_of("Who told you about Mira's cup?", "")
    assert told.evidence == (
        "Joss told me so on Monday; Joss had it from Nell, and Nell was there: " + DEED
    )
    (own,) = [nell.hearsay.asked_of("How do you know that Tom brought a cup?", "")]
    assert own.evidence == f"Nobody told me, I saw it myself on Monday in The Quay: {DEED}"
    assert bram.hearsay.asked_of("Do you like soup?", "") is None


def test_that_means_what_was_spoken_of_last(nell, joss):
    nell.sees_deed("Tom mended the boathouse roof.")
    nell.sees_deed()
    tells(nell, joss)
    tells(nell, joss)
    before = "I hear the boathouse has a roof again, since Tom mended it."
    assert "boathouse" in joss.hearsay.asked_of("Who told you that?", before).text
    joss.lives("say They say Tom brought Mira the cup.", MemoryKind.ACT, to="Ann")
    assert joss.hearsay.asked_of("Who told you that?", "").text == DEED


def test_who_told_you_of_something_else_is_not_answered_with_what_was_spoken_of_last(nell, joss):
    nell.sees_deed()
    tells(nell, joss)
    asked = joss.hearsay.asked_of
    assert asked("Who told you of Wren and the eel?", "") is None
    assert asked("Who told you about the soup?", DEED) is None
    for words in ("Who told you about the cup?", "Who told you such a tale?", "Who said it?"):
        assert asked(words, "").text == DEED


def test_nobody_speaks_of_themselves_by_name(nell):
    nell.lives("Bram gives you a brass wheel.", source="Bram", source_id="id-Bram", event="give")
    own = nell.hearsay.asked_of("Who told you about the wheel?", "").told_by("Nell")
    assert own.evidence.endswith("Bram gave me a brass wheel.")


def test_somebody_is_greeted_once_by_what_they_did(nell, joss):
    nell.sees_deed()
    tells(nell, joss)
    day_later = NOON + timedelta(days=1)
    assert joss.hearsay.news_of(TOM, "Tom", day_later).text == DEED
    joss.lives("say So you brought Mira her cup, Tom!", MemoryKind.ACT, to="Tom")
    assert joss.hearsay.news_of(TOM, "Tom", day_later) is None
    assert joss.hearsay.news_of("7-1", "Ann", day_later) is None


def test_old_news_is_none(nell, joss):
    nell.sees_deed()
    nell.now = NOON + timedelta(days=8)
    assert nell.next_for(joss) is None


def test_hearsay_and_scenes_are_nobodys_rule_promise_or_question(nell, tmp_path):
    words = "I promise to mend the net. You must never open the cellar. Where is the key to it?"
    book = Commitments(tmp_path / "noticed.md")
    for event in (SCENE, HEARSAY):
        book.follow(nell.hears("Joss", words), "Nell")
        assert [each.kind for each in book.items] == [NoticedKind.RULE]
        act = nell.lives(f"say {words}", MemoryKind.ACT, event=event)
        told = replace(nell.hears("Joss", words), event=event)
        book.follow(act, "Nell")
        book.follow(told, "Nell")
        assert [each.kind for each in book.items] == [NoticedKind.RULE]


def test_of_two_sentences_that_say_as_much_small_talk_is_worth_less(nell):
    told = nell.hears("Joss", "The ferry costs two pennies.")
    sentences = [
        *of_memory(replace(told, event=SCENE, source="Bram"), "Tom"),
        *of_memory(replace(told, text=told.text.replace("two", "three")), "Tom"),
    ]
    ranked = Ranker(None).rank("What does the ferry cost?", sentences)
    assert "three" in ranked[0].sentence.text
    assert importance(replace(told, event=SCENE), "Nell").score == 1
