import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.attention import DIRECT, Attention, EventKind, Impulse
from keepsake.agent.settings import ThinkingConfig

CONFIG = ThinkingConfig()


def attention(seed=1, **changes):
    return Attention(replace(CONFIG, **changes), random.Random(seed), 0.0)


def due(mind, now):
    """What it thinks of now; None for nothing yet."""
    at, impulse = mind.upcoming() or (now + 1, None)
    return impulse if at <= now else None


def player():
    return Impulse(EventKind.ADDRESSED, True, "Ann")


@pytest.mark.parametrize("seed", range(5))
def test_a_player_is_answered_soon_and_an_agent_after_the_cooldown(seed):
    mind = attention(seed, cooldown=10.0)
    mind.notice(player(), 100.0)
    assert due(mind, 100.2) is None
    assert due(mind, 101.0) == player()
    assert 100.3 <= mind.upcoming()[0] <= 101.0
    mind.begin(due(mind, 101.0))
    mind.ended(101.5, spoke=True)
    asked = Impulse(EventKind.ADDRESSED, False, "Tom")
    mind.notice(asked, 102.0)
    assert due(mind, 106.0) is None
    assert due(mind, 115.0) == asked
    mind.notice(player(), 103.0)
    assert due(mind, 104.0) == player()


_WHO = st.sampled_from(["Ann", "Bo", "Cy", "Tom"])
_STEPS = st.lists(
    st.tuples(
        st.floats(0, 5), st.sampled_from(["speaks", "comes", "goes", "begins", "sends"]), _WHO
    ),
    max_size=60,
)


class Inn:
    """An agent, who comes, goes and speaks there, and which lines its thoughts were about."""

    def __init__(self, seed):
        self.mind, self.now = attention(seed, chatter_turns=1000), 0.0
        self.here = {"Ann", "Bo", "Cy", "Tom"}
        self.lines, self.covered, self._number = {}, {}, 0
        self.looks()

    def looks(self):
        self.mind.look(self.here, player_near=True, now=self.now)

    def speaks(self, who):
        if who in self.here:
            self._number += 1
            self.lines[self._number] = who
            line = Impulse(EventKind.ADDRESSED, who != "Tom", who, self._number)
            self.mind.notice(line, self.now)

    def comes(self, who):
        if who not in self.here:
            self.here.add(who)
            self.looks()
            self.mind.notice(Impulse(EventKind.ARRIVAL, who != "Tom", who), self.now)

    def goes(self, who):
        if who in self.here:
            self.here.remove(who)
            self.looks()
            newest = self.covered.get(who, 0)
            self.lines = {n: w for n, w in self.lines.items() if w != who or n <= newest}

    def begins(self, _):
        if impulse := due(self.mind, self.now):
            self.mind.begin(impulse)

    def sends(self, _):
        if self.mind.upcoming():  # it thinks of nothing
            return
        impulse = self.mind.still_wanted()
        self.mind.ended(self.now, spoke=True)
        if impulse is not None and impulse.kind in DIRECT:
            assert impulse.source in self.here
            assert impulse.memory > self.covered.get(impulse.source, 0), "it was answered before"
            self.covered[impulse.source] = impulse.memory


@given(st.integers(0, 1000), _STEPS)
def test_each_line_is_answered_exactly_once_unless_its_speaker_leaves(seed, steps):
    inn = Inn(seed)
    for wait, step, who in steps:
        inn.now += wait
        getattr(inn, step)(who)
    inn.sends("")
    for _ in range(10):
        inn.now = max(inn.now, inn.mind.upcoming()[0])
        inn.begins("")
        inn.sends("")
    for memory, who in inn.lines.items():
        assert memory <= inn.covered[who]
