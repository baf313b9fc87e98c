"""Where a fact went: who told it to whom, who knows it now, and which compaction dropped it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.errors import KeepsakeError
from keepsake.happening import ME, Deed, Manner, Person, Result, Speech
from keepsake.tracing.facts import Archived, Standing, Way, follow, telling_words
from keepsake.tracing.past import Past
from keepsake.tracing.paths import Link
from keepsake.tracing.wording import Wording

BEGIN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
ANNEKE = Person("Anneke", "anneke")
SISTER = "My sister Liesbet drowned three winters ago."


class Village:
    """Archives of some agents, written line by line. A line takes a minute."""

    def __init__(self, folder, *names):
        self.folder = folder
        self.now = BEGIN
        self.archives = {name: Archive(folder / name) for name in names}
        self.people = {name: Person(name, name.lower()) for name in names}
        self.compactions = 0

    def remember(self, name, what, **facts):
        number = self.archives[name].last_number + 1
        memory = Memory(number=number, time=self.now, what=what, place="The Kettle", **facts)
        self.archives[name].append(memory.to_record())
        return number

    def said(self, speaker, words, *hearers, to=(), manner=Manner.SAY, rests_on=()):
        """Have somebody say something; return the numbers of the memories by name."""
        self.now += timedelta(minutes=1)
        happening = f"h{self.now:%H%M}"
        whom = [self.people[each] for each in to]
        numbers = {}
        if speaker in self.archives:
            speech = Speech(speaker=ME, words=words, to=tuple(whom), manner=manner)
            numbers[speaker] = self.remember(
                speaker, speech, happening=happening, rests_on=rests_on
            )
        for name in (*to, *hearers):
            others = tuple(ME if each.name == name else each for each in whom)
            speech = Speech(
                speaker=self.people.get(speaker, ANNEKE), words=words, to=others, manner=manner
            )
            numbers[name] = self.remember(name, speech, happening=happening)
        return numbers

    def compact(self, name, text):
        """Summarise all that an agent remembers by a text."""
        self.now += timedelta(minutes=1)
        self.compactions += 1
        last = self.archives[name].last_number
        summary = Summary(Tier.RECENT, 1, last, text, "a model", self.now)
        state = SummaryState(None, summary, last, self.compactions, self.now)
        self.archives[name].append(state.compaction_line(self.compactions))

    def follow(self, words, happening=""):
        return follow(self.read(), Wording.of(words), happening)

    def read(self):
        found = {}
        for name in self.archives:
            past = Past(self.folder / name)
            past.read_on()
            found[name] = Archived(name, self.folder / name, past)
        return found


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira", "Oswin", "Bram", "Joss")


def standings(fact):
    return {each.agent: [spell.standing for spell in each.spells] for each in fact.knowers}


def test_a_fact_is_followed_from_a_player_through_talk_and_whispers(village):
    told = village.said("Anneke", SISTER, "Oswin", to=["Mira"])
    village.said(
        "Mira", "Her sister drowned.", to=["Bram"], manner=Manner.WHISPER, rests_on=(told["Mira"],)
    )
    village.said("Bram", "A sister of hers is drowned, Joss.", to=["Joss"])
    village.said("Joss", "Fine weather.", "Oswin")
    fact = village.follow("drowned sister")
    first, second, third = fact.tellings
    assert (first.speaker, first.agent, first.private) == ("Anneke", "", False)
    assert {each.agent: each.way for each in first.hearings} == {
        "Mira": Way.TOLD,
        "Oswin": Way.OVERHEARD,
    }
    assert (second.agent, second.private, second.link) == ("Mira", True, Link.RESTS_ON)
    assert second.rests_on == told["Mira"]
    assert {each.agent: each.way for each in second.hearings} == {
        "Mira": Way.SAID,
        "Bram": Way.WHISPERED,
    }
    assert (third.agent, third.link) == ("Bram", Link.WINDOW)
    paths = {each.agent: [step.agent for step in each.path] for each in fact.knowers}
    assert paths == {
        "Mira": ["Mira"],
        "Oswin": ["Oswin"],
        "Bram": ["Mira", "Mira", "Bram"],
        "Joss": ["Mira", "Mira", "Bram", "Bram", "Joss"],
    }


def test_a_compaction_keeps_a_fact_or_drops_it(village):
    village.said("Anneke", SISTER, to=["Mira", "Oswin"])
    village.compact("Mira", "Anneke's sister Liesbet has drowned.")
    village.compact("Oswin", "Anneke came by.")
    fact = village.follow("Liesbet")
    assert standings(fact) == {
        "Mira": [Standing.WINDOW, Standing.RECENT],
        "Oswin": [Standing.WINDOW, Standing.LOST],
    }
    assert {each.agent: each.spells[-1].compaction for each in fact.knowers} == {
        "Mira": 1,
        "Oswin": 2,
    }


def test_an_act_that_rests_on_a_fact_without_saying_it_is_what_somebody_did_of_it(village):
    told = village.said("Anneke", SISTER, to=["Mira"])
    rest = (told["Mira"],)
    act = village.remember("Mira", Deed(actor=ME, verb="give", objects=("a cup",)), rests_on=rest)
    (mira,) = village.follow("Liesbet").knowers
    assert mira.acts == (act,)
    assert mira.memories == (told["Mira"],)


def test_what_an_agent_says_of_itself_begins_a_path_and_a_search_of_its_memory_does_not(village):
    village.remember("Oswin", Result(verb="recall", shown="The bell is at sea."))
    village.said("Bram", "The bell is in the well.", "Joss")
    fact = village.follow("bell")
    assert [each.agent for each in fact.knowers] == ["Bram", "Joss"]
    assert [each.agent for each in fact.tellings] == ["Bram"]


def test_a_happening_is_followed_in_any_words(village):
    village.said("Anneke", SISTER, to=["Mira"])
    happening = f"h{village.now:%H%M}"
    fact = village.follow("elephant", happening)
    assert [each.happening for each in fact.tellings] == [happening]
    assert [each.agent for each in fact.knowers] == ["Mira"]


def test_the_words_of_a_memory_that_others_share_come_first_and_the_rarest_of_them(village):
    village.said("Anneke", SISTER, to=["Mira"])
    village.said("Bram", "My sister keeps bees.", "Joss")
    village.said("Bram", "My sister drowned a bee.", "Joss")
    (memory,) = village.archives["Mira"].read(1, 1)
    found = telling_words(village.read().values(), memory)
    assert found[:2] == [("drown", 2), ("sister", 4)]
    assert {count for _, count in found[2:]} == {0}


@pytest.mark.parametrize(
    ("typed", "text", "said"),
    [
        ("drowned", "They are drowning.", True),
        ("bell | drowned sister", "The sister drowned.", True),
        ("bell | drowned sister", "The sister came.", False),
        ("ring", "a string", False),
        ("grey", "a great green bird", False),
        ("hives", "There is one hive.", True),
        ("really", "That is all real.", False),
        ("Müller", "die MÜLLERIN", True),
        ("時計", "古い時計です", True),
    ],
)
def test_words_are_found_by_their_beginnings(typed, text, said):
    assert Wording.of(typed).is_said_in(text) is said
    if said:
        lines = f"Nobody.\n{text}\nNobody.\n".lower().encode()
        begun = lines.index(b"\n") + 1
        places = [*Wording.of(typed).places_in(lines)]
        assert any(begun <= each < begun + len(text.encode()) for each in places)


def test_a_fact_without_words_is_refused():
    with pytest.raises(KeepsakeError, match="Give letters or digits"):
        Wording.of(" | ?")
