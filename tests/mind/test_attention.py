import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.attention import Attention
from keepsake.agent.conversations import GREETED_SECONDS, TALK_SECONDS
from keepsake.agent.impulses import IDLE, MOST_SPEAKERS, EventKind, Impulse, PerceivedEvent
from keepsake.agent.thinking_config import ThinkingConfig
from keepsake.errors import ConfigError
from keepsake.markdown_config import RETIRED

CONFIG = ThinkingConfig()


def attention(seed=1, **changes):
    return Attention(replace(CONFIG, **changes), random.Random(seed))


def player(kind=EventKind.ADDRESSED, source="Ann"):
    return PerceivedEvent(kind, True, source)


def agent(kind=EventKind.HEARD, source="Tom"):
    return PerceivedEvent(kind, False, source)


def answer_to(source="Ann", **more):
    """The impulse that a player's words lead to."""
    return Impulse(EventKind.ADDRESSED, True, source, priority="player", **more)


def think(mind, now, **done):
    impulse = mind.due(now)
    assert impulse is not None
    mind.thought_started(now)
    mind.thought_done(now + 0.5, **(done or {"spoke": True}))
    return impulse


@pytest.mark.parametrize("seed", range(20))
def test_a_player_is_answered_soon(seed):
    mind = attention(seed)
    mind.notice(player(), 100.0)
    assert mind.due(100.2) is None
    assert mind.due(101.0) == answer_to("Ann")
    assert 100.3 <= mind.next_at() <= 101.0


def test_a_player_who_goes_on_typing_is_answered_all_the_same():
    mind = attention()
    for tick in range(40):
        mind.notice(player(), 100.0 + tick * 0.2)
    assert mind.next_at() <= 100.0 + 3 * CONFIG.gather + 0.001


def test_a_player_need_not_wait_for_the_cooldown_but_an_agent_must():
    mind = attention(cooldown=10.0)
    mind.notice(player(), 100.0)
    think(mind, 101.0)
    mind.notice(agent(EventKind.ADDRESSED), 102.0)
    assert mind.due(106.0) is None
    assert mind.due(115.0) == Impulse(EventKind.ADDRESSED, False, "Tom")
    mind.notice(player(), 103.0)
    assert mind.due(104.0) == answer_to("Ann")


@pytest.mark.parametrize("near", [True, False])
def test_idle_thoughts_are_rare_and_rarer_alone(near):
    mind = attention()
    mind.set_player_near(near, 0.0)
    times, now = [], 0.0
    for _ in range(200):
        now = mind.next_at()
        assert think(mind, now) == IDLE
        times.append(now)
    gaps = [b - a for a, b in pairwise(times)]
    factor = 1 if near else 10
    assert min(gaps) >= 180 * factor
    assert max(gaps) <= 361 * factor


def test_a_player_who_comes_near_shortens_the_idle_time():
    mind = attention()
    assert mind.next_at() is None
    assert mind.due(0.0) is None
    assert mind.next_at() >= 1800
    mind.set_player_near(True, 10.0)
    assert mind.next_at() <= 370


def talk(minds, until):
    """Let agents hear each other until ``until``; how many lines were spoken, and when last."""
    lines, last = 0, 0.0
    while True:
        name, at = min(
            ((n, m.next_at()) for n, m in minds.items() if m.next_at() is not None),
            key=lambda pair: pair[1],
        )
        if at > until:
            return lines, last
        think(minds[name], at)
        lines, last = lines + 1, at
        for other, mind in minds.items():
            if other != name:
                mind.notice(agent(EventKind.ADDRESSED, name), at + 0.5)


def first_word(minds):
    """Tom says something of his own accord; when."""
    minds["Tom"].due(0.0)
    minds["Mira"].due(1e4)
    at = minds["Tom"].next_at()
    think(minds["Tom"], at)
    minds["Mira"].notice(agent(EventKind.ADDRESSED, "Tom"), at)
    return at


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("turns", [0, 1, 4, 7])
def test_two_agents_alone_fall_silent(seed, turns):
    minds = {"Mira": attention(seed, chatter_turns=turns), "Tom": attention(9, chatter_turns=turns)}
    begun = first_word(minds)
    lines, last = talk(minds, begun + 1000.0)
    assert 1 + lines == max(turns, 1)
    assert last < begun + 100


def test_they_talk_again_when_a_player_does_something():
    minds = {"Mira": attention(1), "Tom": attention(2)}
    begun = first_word(minds)
    talk(minds, begun + 60.0)
    assert talk(minds, begun + 61.0)[0] == 0
    minds["Mira"].notice(player(), begun + 61.0)
    minds["Tom"].notice(player(EventKind.HEARD), begun + 61.0)
    assert talk(minds, begun + 110.0)[0] > 1


def test_they_talk_again_after_a_long_pause():
    mind = attention()
    for tick in range(10):
        mind.notice(agent(), tick * 1.0)
    think(mind, 20.0)
    mind.notice(agent(), 30.0)
    assert mind.due(60.0) is None
    mind.notice(agent(), 30.0 + CONFIG.chatter_pause + 1)
    heard = Impulse(EventKind.HEARD, False, "Tom", priority="idle")
    assert mind.due(170.0) == heard, "no player sees it: it can wait"


def test_two_agents_do_not_run_after_each_other_for_ever():
    mind = attention()
    thoughts = 0
    for tick in range(100):
        kind = EventKind.ARRIVAL if tick % 2 else EventKind.DEPARTURE
        mind.notice(agent(kind), tick * 10.0)
        if mind.due(tick * 10.0 + 9):
            think(mind, tick * 10.0 + 9)
            thoughts += 1
    assert 1 <= thoughts <= CONFIG.chatter_turns


def test_waiting_is_no_turn():
    mind = attention(chatter_turns=2)
    mind.notice(agent(), 0.0)
    think(mind, 10.0, silent=True)
    assert mind.due(30.0) is None
    mind.notice(agent(), 40.0)
    assert mind.due(60.0) is None
    mind = attention(chatter_turns=3)
    mind.notice(agent(), 0.0)
    think(mind, 10.0, silent=True)
    mind.notice(agent(), 20.0)
    assert mind.due(40.0) is not None


events = st.builds(
    PerceivedEvent,
    st.sampled_from([each for each in EventKind if each is not EventKind.IDLE]),
    st.booleans(),
    st.sampled_from(["Ann", "Tom", ""]),
)


@given(
    st.integers(0, 1000),
    st.lists(st.tuples(st.floats(0, 400), events | st.none()), min_size=1, max_size=40),
)
def test_never_two_thoughts_at_once_and_always_a_next_one(seed, steps):
    mind, now = attention(seed), 0.0
    last_done = float("-inf")
    for wait, event in steps:
        now += wait
        if event is not None:
            mind.notice(event, now)
        impulse = mind.due(now)
        assert impulse == mind.due(now)
        assert mind.next_at() is not None
        assert (impulse is not None) == (mind.next_at() <= now)
        if impulse is None:
            continue
        if impulse.priority != "player":
            assert now - last_done >= CONFIG.cooldown * (1 - CONFIG.jitter) - 1e-6
        mind.thought_started(now)
        assert mind.due(now + 1000) is None
        now += 1.0
        mind.thought_done(now, spoke=True)
        last_done = now


def test_the_committed_file_says_what_the_defaults_are():
    path = Path(__file__).parents[2] / "vault" / "config" / "thinking.md"
    assert ThinkingConfig.load(path) == CONFIG
    text = path.read_text()
    for name in ThinkingConfig.__dataclass_fields__.keys() - RETIRED["thinking.md"]:
        assert f"**{name}**:" in text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("**cooldown**: fast", "cooldown: 'fast' is not a number"),
        ("**cooldown**: -1", "cooldown: -1 is not between"),
        ("**idle_interval**: 0", "idle_interval: 0 is not between"),
        ("**gather**: nan", "gather: nan is not"),
        ("**cooldwn**: 3", "Did you mean cooldown?"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(tmp_path, line, told):
    path = tmp_path / "thinking.md"
    path.write_text(f"# Thinking\n\n{line}\n")
    with pytest.raises(ConfigError, match="line 3") as refused:
        ThinkingConfig.load(path)
    assert told in str(refused.value)


# -- several who speak


def line(source, memory, *, from_player=True, kind=EventKind.ADDRESSED):
    return PerceivedEvent(kind, from_player, source, memory)


def answered(mind, now, present=("Ann", "Bo", "Cy", "Tom")):
    """The impulse of the next thought, as it is when it is sent; None if it is dropped."""
    now = max(now, mind.next_at())
    mind.thought_started(now)
    impulse = mind.still_wanted(present)
    mind.thought_done(now + 1.0, spoke=impulse is not None)
    return impulse


def test_three_who_speak_at_once_are_answered_in_turn_and_without_a_pause():
    mind = attention(cooldown=30.0)
    for number, who in enumerate(("Cy", "Ann", "Bo"), 1):
        mind.notice(line(who, number), 100.0 + number / 10)
    mind.notice(line("Cy", 4), 100.5)
    told = [answered(mind, 102.0 + turn) for turn in range(3)]
    assert [(each.source, each.memory) for each in told] == [("Cy", 4), ("Ann", 2), ("Bo", 3)]
    assert mind.due(110.0) is None


def test_players_are_answered_before_agents():
    mind = attention()
    mind.notice(line("Tom", 1, from_player=False), 100.0)
    mind.notice(line("Ann", 2), 103.0)
    assert answered(mind, 104.0).source == "Ann"
    assert answered(mind, 120.0).source == "Tom"


def test_what_the_same_speaker_adds_before_it_is_sent_is_answered_with_it():
    mind = attention()
    mind.notice(line("Ann", 1), 100.0)
    mind.thought_started(101.0)
    mind.notice(line("Ann", 5), 101.5)
    assert mind.still_wanted({"Ann"}) == answer_to(memory=5)
    mind.notice(line("Ann", 7), 102.0)  # it was sent without that
    mind.thought_done(103.0, spoke=True)
    assert answered(mind, 104.0) == answer_to(memory=7)


def test_who_has_left_is_not_answered():
    mind = attention()
    mind.notice(line("Ann", 1), 100.0)
    mind.notice(line("Bo", 2), 100.1)
    mind.notice(player(EventKind.DEPARTURE), 100.2)
    assert answered(mind, 101.0).source == "Bo"
    mind.notice(line("Ann", 3), 200.0)
    assert answered(mind, 201.0, present=()) is None


def test_who_spoke_is_known_by_more_than_a_name():
    mind = attention()
    mind.notice(PerceivedEvent(EventKind.ADDRESSED, True, "Ann", 1, "7-x"), 100.0)
    mind.notice(PerceivedEvent(EventKind.ADDRESSED, True, "Ann", 2, "8-y"), 100.1)
    assert answered(mind, 101.0, present={"7-x", "8-y"}).source_id == "7-x"
    assert answered(mind, 103.0, present={"Ann", "7-x"}) is None


def test_a_gift_does_not_displace_the_words_that_came_with_it():
    mind = attention()
    mind.notice(line("Ann", 1), 100.0)
    mind.notice(line("Ann", 2, kind=EventKind.GIVEN), 100.1)
    assert answered(mind, 102.0) == answer_to(memory=1)
    mind.notice(line("Ann", 3, kind=EventKind.GIVEN), 110.0)
    mind.notice(line("Ann", 4), 110.1)
    assert answered(mind, 112.0) == answer_to(memory=4)


def test_of_a_crowd_the_newest_are_answered_and_players_before_agents():
    mind = attention(chatter_turns=100)
    names = [f"P{number}" for number in range(200)]
    for number, name in enumerate(names):
        mind.notice(line(f"A{number}", 0, from_player=False), 100.0)
        mind.notice(line(name, number + 1), 100.0)
    told = [answered(mind, 103.0 + turn, names).source for turn in range(MOST_SPEAKERS)]
    assert told == names[-MOST_SPEAKERS:]
    assert mind.due(120.0) is None


def test_a_player_outranks_what_the_agent_thinks_of():
    mind = attention()
    mind.notice(agent(), 100.0)
    mind.thought_started(mind.next_at())
    assert not mind.outranked
    mind.notice(line("Ann", 1), 110.0)
    assert mind.outranked
    mind.thought_done(110.0)
    mind.thought_started(mind.next_at())
    mind.notice(line("Bo", 2), 111.0)
    assert not mind.outranked, "Bo waits for his turn"


# -- greetings


def arrival(source="Ann", kind=EventKind.ARRIVAL):
    return PerceivedEvent(kind, True, source)


def test_an_arrival_is_greeted_once():
    mind = attention()
    mind.notice(arrival(), 100.0)
    assert answered(mind, 101.0).trigger == "arrival"
    mind.notice(player(EventKind.DEPARTURE), 110.0)
    mind.notice(arrival(), 120.0)
    assert mind.due(130.0) is None
    mind.notice(player(EventKind.DEPARTURE), 140.0)
    mind.notice(arrival(), 120.0 + GREETED_SECONDS)
    assert answered(mind, 122.0 + GREETED_SECONDS).trigger == "arrival"


@pytest.mark.parametrize(
    "meanwhile",
    [
        player(EventKind.DEPARTURE),
        player(EventKind.HEARD),
        player(EventKind.ADDRESSED),
        player(EventKind.ADDRESSED, "Bo"),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
def test_no_greeting_after_all(meanwhile, begun):
    mind = attention()
    mind.notice(arrival(), 100.0)
    if begun:
        mind.thought_started(101.0)
        mind.notice(meanwhile, 101.5)
        gone = meanwhile.kind is EventKind.DEPARTURE
        wanted = mind.still_wanted({"Bo"} if gone else {"Ann", "Bo"})
        assert mind.outranked or wanted is None or wanted.trigger != "arrival"
        mind.thought_done(102.0)
    else:
        mind.notice(meanwhile, 100.1)
    while mind.next_at() < 150.0:
        impulse = answered(mind, 102.0)
        assert impulse is None or impulse.trigger != "arrival"


def test_nobody_is_greeted_over_a_talk_with_somebody_else():
    mind = attention()
    mind.notice(line("Bo", 1), 100.0)
    answered(mind, 101.0)
    mind.notice(arrival(), 150.0)
    assert mind.due(160.0) is None
    mind.notice(player(EventKind.DEPARTURE, "Bo"), 170.0)
    mind.notice(arrival("Cy"), 171.0)
    assert mind.due(176.0).trigger == "arrival"


def test_whom_another_greets_is_only_seen_and_nobody_thinks_of_who_leaves():
    mind = attention()
    mind.notice(arrival(kind=EventKind.SEEN), 100.0)
    mind.notice(player(EventKind.DEPARTURE), 110.0)
    mind.notice(agent(EventKind.DEPARTURE), 110.0)
    assert mind.due(130.0) is None
    assert mind.next_at() <= 100.0 + CONFIG.idle_interval * 4 / 3, "a player was near"


# -- talks


def test_a_talk_goes_on_for_a_while_and_has_no_idle_thoughts_in_it():
    mind = attention(idle_interval=30.0)
    mind.notice(line("Ann", 1), 100.0)
    assert mind.in_talk(101.0)
    assert answered(mind, 101.0) is not None
    assert mind.in_talk(102.0 + TALK_SECONDS - 1)
    assert not mind.in_talk(102.0 + TALK_SECONDS + 1)
    assert mind.next_at() >= 101.0 + TALK_SECONDS


def test_a_talk_ends_when_the_player_leaves():
    mind = attention(idle_interval=30.0)
    for leave in (
        lambda: mind.notice(player(EventKind.DEPARTURE), 103.0),
        lambda: mind.only_here({"Bo"}),
    ):
        mind.notice(line("Ann", 1), 100.0)
        answered(mind, 101.0)
        assert mind.in_talk(103.0)
        leave()
        assert not mind.in_talk(103.0)
        assert mind.next_at() < 150.0


def test_talk_among_agents_keeps_none_of_them_from_leaving():
    mind = attention()
    mind.notice(line("Tom", 1, from_player=False), 100.0)
    answered(mind, 105.0)
    assert not mind.in_talk(106.0)


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
        self.mind.due(0.0)

    def speaks(self, who):
        if who in self.here:
            self._number += 1
            self.lines[self._number] = who
            self.mind.notice(line(who, self._number, from_player=who != "Tom"), self.now)

    def comes(self, who):
        if who not in self.here:
            self.here.add(who)
            self.mind.notice(PerceivedEvent(EventKind.ARRIVAL, who != "Tom", who), self.now)

    def goes(self, who):
        if who in self.here:
            self.here.remove(who)
            self.mind.notice(PerceivedEvent(EventKind.DEPARTURE, who != "Tom", who), self.now)
            newest = self.covered.get(who, 0)
            self.lines = {n: w for n, w in self.lines.items() if w != who or n <= newest}

    def begins(self, _):
        if self.mind.due(self.now):
            self.mind.thought_started(self.now)

    def sends(self, _):
        if not self.mind.thinking:
            return
        impulse = self.mind.still_wanted(self.here)
        self.mind.thought_done(self.now, spoke=True)
        if impulse is not None and impulse.direct:
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
        inn.now = max(inn.now, inn.mind.next_at())
        inn.begins("")
        inn.sends("")
    for memory, who in inn.lines.items():
        assert memory <= inn.covered[who]
