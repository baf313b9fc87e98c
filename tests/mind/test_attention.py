import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.mind.attention import Attention, Event, EventKind, Impulse
from game.mind.errors import ConfigError
from game.mind.thinking_config import ThinkingConfig, load_thinking_config

CONFIG = ThinkingConfig()


def attention(seed=1, **changes):
    return Attention(replace(CONFIG, **changes), random.Random(seed))


def player(kind=EventKind.ADDRESSED, source="Ann"):
    return Event(kind, True, source)


def agent(kind=EventKind.HEARD, source="Tom"):
    return Event(kind, False, source)


def answer_to(source="Ann", **more):
    """The impulse that a player's words lead to."""
    return Impulse("addressed", "player", source, from_player=True, **more)


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


def test_an_impulse_names_the_memory_of_the_event_that_led_to_it():
    mind = attention()
    mind.notice(replace(player(), memory=7), 100.0)
    mind.notice(Event(EventKind.HEARD, from_player=False, source="Bo", memory=8), 100.1)
    impulse = mind.due(101.0)
    assert impulse is not None
    assert (impulse.source, impulse.memory) == ("Ann", 7)


def test_two_quick_lines_get_one_answer():
    mind = attention()
    mind.notice(player(), 100.0)
    mind.notice(player(), 100.25)
    assert think(mind, mind.next_at()).source == "Ann"
    assert mind.due(130.0) is None


def test_a_player_who_goes_on_typing_is_answered_all_the_same():
    mind = attention()
    for tick in range(40):
        mind.notice(player(), 100.0 + tick * 0.2)
    assert mind.next_at() <= 100.0 + 3 * CONFIG.gather + 0.001


def test_what_happens_during_a_thought_leads_to_the_next():
    mind = attention()
    mind.notice(player(), 100.0)
    mind.thought_started(101.0)
    mind.notice(player(source="Bo"), 101.5)
    assert mind.due(110.0) is None
    assert mind.next_at() is None
    assert mind.thinking
    mind.thought_done(110.0, spoke=True)
    assert mind.due(110.0) == answer_to("Bo")


def test_a_player_need_not_wait_for_the_cooldown_but_an_agent_must():
    mind = attention(cooldown=10.0)
    mind.notice(player(), 100.0)
    think(mind, 101.0)
    mind.notice(agent(EventKind.ADDRESSED), 102.0)
    assert mind.due(106.0) is None
    assert mind.due(115.0) == Impulse("addressed", "event", "Tom")
    mind.notice(player(), 103.0)
    assert mind.due(104.0) == answer_to("Ann")


def test_a_player_who_arrives_is_greeted():
    mind = attention()
    mind.notice(player(EventKind.ARRIVAL), 100.0)
    assert mind.due(101.0) == Impulse("arrival", "event", "Ann", from_player=True)


def test_an_agents_word_does_not_displace_a_players():
    mind = attention()
    mind.notice(player(), 100.0)
    mind.notice(agent(), 100.1)
    assert mind.due(101.0).source == "Ann"


@pytest.mark.parametrize("near", [True, False])
def test_idle_thoughts_are_rare_and_rarer_alone(near):
    mind = attention()
    mind.set_player_near(near, 0.0)
    times, now = [], 0.0
    for _ in range(200):
        now = mind.next_at()
        assert think(mind, now) == Impulse("idle", "idle", "")
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
    assert mind.due(170.0) == Impulse("heard", "idle", "Tom"), "no player sees it: it can wait"


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
    Event, st.sampled_from(EventKind), st.booleans(), st.sampled_from(["Ann", "Tom", ""])
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
    assert load_thinking_config(path) == CONFIG
    text = path.read_text()
    for name in ThinkingConfig.__dataclass_fields__:
        assert f"**{name}**:" in text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("**cooldown**: fast", "cooldown: 'fast' is not a number"),
        ("**cooldown**: -1", "cooldown: -1 is not between"),
        ("**idle_interval**: 0", "idle_interval: 0 is not between"),
        ("**jitter**: nan", "jitter: nan is not"),
        ("**constrain**: maybe", "is none of grammar, no, schema"),
        ("**template**: ../../etc/passwd", "not a file in this folder"),
        ("**cooldwn**: 3", "Did you mean cooldown?"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(tmp_path, line, told):
    path = tmp_path / "thinking.md"
    path.write_text(f"# Thinking\n\n{line}\n")
    with pytest.raises(ConfigError, match="line 3") as refused:
        load_thinking_config(path)
    assert told in str(refused.value)
