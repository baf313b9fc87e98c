"""A replay of the unchanged configuration against the life itself, as its event log has it.

A real world in a process of its own, three simulated hours of two agents and two visitors, with
small windows, a small budget and a short day: they compact often, sleep, and are opened anew at
each full hour.
"""

import re
import shutil

import pytest

from game.lab.replays.cells import CURRENT, Cell, settings_of
from game.lab.replays.course import course
from game.lab.replays.event_history import read_log
from game.lab.replays.exam import set_exam
from game.lab.replays.figures import as_figures, lived
from game.lab.replays.lived import find_agent, read_life
from game.lab.replays.replay import LifeSetup, replay
from game.lab.replays.writers import NONE, writer
from game.lab.simulations.plan import SimulationPlan
from game.lab.simulations.simulate import create, run
from game.paths import REPOSITORY, Places, Ports

BUSY = {
    "memory_compaction.md": {
        **{"immediate_window": 8, "recent_window": 8, "preserve_memories": 4},
        **{"context_tokens": 1800, "high": 0.8, "sleep": 0.55, "low": 0.5},
        **{"longterm_tokens": 200, "min_saving_tokens": 60},
    },
    "thinking.md": {"idle_away_factor": 1, "idle_interval": 120},
    "sleep.md": {"awake_hours": 1.5, "sleep_hours": 1},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    places = Places(tmp_path_factory.mktemp("home"), REPOSITORY / "vault", Ports(21100))
    lab = create(places, SimulationPlan("lived", agents=2, hours=3, visitors=2))
    for file, values in BUSY.items():
        path = lab.vault / "config" / file
        text = path.read_text()
        for key, value in values.items():
            text, found = re.subn(rf"\*\*{key}\*\*: .*", f"**{key}**: {value}", text)
            assert found == 1, key
        path.write_text(text)
    run(lab)
    return lab.places()


def replayed(here, name, **given):
    life = read_life(*find_agent(here.agents, name))
    cell = Cell(CURRENT)
    settings, hand = settings_of(cell, here.config), writer(here, NONE)
    return life, replay(cell, settings, life, set_exam(life, 4), hand, given=LifeSetup(**given))


@pytest.mark.parametrize("name", ["Bram", "Joss"])
def test_the_unchanged_configuration_makes_the_compactions_that_were_made(here, name):
    log = read_log(here.events, name)
    life, again = replayed(here, name, overhead=log.overhead, log=log)
    was = [(each["reason"], each["last"]) for each in log.made]
    made = [(str(each.reason), each.last) for each in again.ledger.made]
    # A thought that began beside a compaction may have weighed it a memory earlier or later.
    assert abs(len(made) - len(was)) <= 1
    near = [any(abs(last - other) <= 2 for _, other in was) for _, last in made]
    assert near.count(False) <= 1
    assert len(was) > 2
    told = lived(log, life.memories)
    assert course(life, log).whole
    figures = as_figures(again)
    # Where a thought began in the same moment as a compaction, either may have been first.
    for figure, share in {
        **{"memories": 0.0, "thoughts": 0.0, "window": 0.05},
        **{"tokens_sent": 0.02, "largest_prompt": 0.02},
    }.items():
        assert figures[figure] == pytest.approx(told[figure], rel=share), figure


def test_they_were_made_for_several_reasons(here):
    made = [each for name in ("Bram", "Joss") for each in read_log(here.events, name).made]
    assert {each["reason"] for each in made} >= {"count", "high", "emergency"}


def test_without_a_log_the_life_is_lived_with_what_is_assumed(here):
    life, again = replayed(here, "Bram")
    assert again.ledger.thoughts == life.acts
    assert again.ledger.memories == life.memories


def test_what_a_log_has_lost_is_lived_as_without_one(here, tmp_path):
    whole = read_log(here.events, "Bram")
    shutil.copytree(here.events, tmp_path / "events")
    first, *_ = sorted((tmp_path / "events").glob("events-*.jsonl"))
    lines = first.read_bytes().split(b"\n")
    first.write_bytes(b"\n".join(lines[len(lines) // 2 :]))
    log = read_log(tmp_path / "events", "Bram")
    life = read_life(*find_agent(here.agents, "Bram"))
    part = course(life, log)
    assert 0 < part.untold < len(life.steps)
    assert not part.whole
    assert 0 < len(log.prompts) < len(whole.prompts)
    assert part.thoughts > len(log.prompts)
