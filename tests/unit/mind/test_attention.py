"""When an agent answers: players soon, agents after a cooldown, and each line once."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.attention.attention import Attention
from keepsake.agent.attention.impulse import DIRECT, Impulse, ImpulseKind
from keepsake.agent.settings import ThinkingConfig

CONFIG = ThinkingConfig()


def new_attention(seed=1, **changes):
    return Attention(replace(CONFIG, **changes), random.Random(seed), 0.0)


def due(attention, now):
    """Return the impulse that is due now. None if there is none."""
    at, impulse = attention.upcoming() or (now + 1, None)
    return impulse if at <= now else None


def player():
    return Impulse(ImpulseKind.ADDRESSED, True, "Ann")


@pytest.mark.parametrize("seed", range(5))
def test_players_are_answered_soon_and_agents_after_the_cooldown(seed):
    attention = new_attention(seed, cooldown=10.0)
    attention.notice(player(), 100.0)
    assert due(attention, 100.2) is None
    assert due(attention, 101.0) == player()
    assert 100.3 <= attention.upcoming()[0] <= 101.0
    attention.begin(due(attention, 101.0))
    attention.ended(101.5, spoke=True)
    asked = Impulse(ImpulseKind.ADDRESSED, False, "Tom")
    attention.notice(asked, 102.0)
    assert due(attention, 106.0) is None
    assert due(attention, 115.0) == asked
    attention.notice(player(), 103.0)
    assert due(attention, 104.0) == player()


_WHO = st.sampled_from(["Ann", "Bo", "Cy", "Tom"])
_STEPS = st.lists(
    st.tuples(
        st.floats(0, 5), st.sampled_from(["speaks", "comes", "goes", "begins", "sends"]), _WHO
    ),
    max_size=60,
)


class Room:
    """An agent and the people in its room; ``covered`` has the last answered line of each."""

    def __init__(self, seed):
        self.attention = new_attention(seed, chatter_turns=1000)
        self.now = 0.0
        self.here = {"Ann", "Bo", "Cy", "Tom"}
        self.lines = {}
        self.covered = {}
        self._number = 0
        self.looks()

    def looks(self):
        self.attention.set_present(self.here, player_near=True, now=self.now)

    def speaks(self, who):
        if who in self.here:
            self._number += 1
            self.lines[self._number] = who
            line = Impulse(ImpulseKind.ADDRESSED, who != "Tom", who, self._number)
            self.attention.notice(line, self.now)

    def comes(self, who):
        if who not in self.here:
            self.here.add(who)
            self.looks()
            self.attention.notice(Impulse(ImpulseKind.ARRIVAL, who != "Tom", who), self.now)

    def goes(self, who):
        if who in self.here:
            self.here.remove(who)
            self.looks()
            newest = self.covered.get(who, 0)
            self.lines = {n: w for n, w in self.lines.items() if w != who or n <= newest}

    def begins(self, _):
        if impulse := due(self.attention, self.now):
            self.attention.begin(impulse)

    def sends(self, _):
        if self.attention.upcoming():  # no thought has begun
            return
        impulse = self.attention.take_newer()
        self.attention.ended(self.now, spoke=True)
        if impulse is not None and impulse.kind in DIRECT:
            assert impulse.source in self.here
            assert impulse.memory_number > self.covered.get(impulse.source, 0), (
                "it was answered before"
            )
            self.covered[impulse.source] = impulse.memory_number


@given(st.integers(0, 1000), _STEPS)
def test_each_line_is_answered_once_unless_its_speaker_leaves(seed, steps):
    room = Room(seed)
    for wait, step, who in steps:
        room.now += wait
        getattr(room, step)(who)
    room.sends("")
    for _ in range(10):
        room.now = max(room.now, room.attention.upcoming()[0])
        room.begins("")
        room.sends("")
    for memory, who in room.lines.items():
        assert memory <= room.covered[who]


def test_who_has_asked_something_is_answered_before_a_newcomer_is_greeted():
    attention = new_attention()
    asked = Impulse(ImpulseKind.ADDRESSED, False, "Wren", errand=True)
    comes = Impulse(ImpulseKind.ARRIVAL, True, "Bob")
    attention.set_present(["Wren", "Bob"], player_near=True, now=0.0)
    attention.notice(asked, 0.0)
    attention.notice(comes, 1.0)
    assert due(attention, 60.0) == asked
    attention.begin(asked)
    attention.ended(61.0, spoke=True)
    assert due(attention, 120.0) == comes


def test_words_whose_answer_was_interrupted_are_answered_after_the_interruption():
    attention = new_attention(cooldown=0.0)
    asked = Impulse(ImpulseKind.NAMED, False, "Nell")
    attention.set_present(["Nell", "Ann"], player_near=True, now=0.0)
    attention.notice(asked, 0.0)
    attention.begin(due(attention, 60.0))
    assert attention.notice(player(), 60.0), "a player waits meanwhile"
    attention.put_back(60.0)
    attention.ended(60.0)
    assert due(attention, 70.0) == player()
    attention.begin(player())
    attention.ended(75.0, spoke=True)
    assert due(attention, 90.0) == asked


def test_a_thought_about_what_others_do_gives_way_to_words_to_the_agent():
    attention = new_attention(cooldown=0.0)
    attention.set_present({"Oswin", "Ruan"}, player_near=False, now=0.0)
    attention.notice(Impulse(ImpulseKind.HEARD, False, "Ruan", 1), 0.0)
    attention.begin(due(attention, 10.0))
    asked = Impulse(ImpulseKind.ADDRESSED, False, "Oswin", 2)
    attention.notice(asked, 10.0)
    assert attention.take_newer() is None, "its prompt would end with words to the agent"
    attention.ended(10.0)
    assert due(attention, 20.0) == asked


def test_words_wait_for_the_return_of_a_player_and_not_of_an_agent():
    for from_player in (True, False):
        attention = new_attention(cooldown=0.0)
        attention.set_present({"Tom"}, player_near=True, now=0.0)
        asked = Impulse(ImpulseKind.ADDRESSED, from_player, "Tom", 1)
        attention.notice(asked, 0.0)
        attention.set_present(set(), player_near=True, now=1.0)
        attention.set_present({"Tom"}, player_near=True, now=9.0)
        assert due(attention, 20.0) == (asked if from_player else None)
