"""The plan of a simulation, where it is stored, and its settings."""

from __future__ import annotations

import pytest

from game.simulation.config import settings_from
from game.simulation.plan import Lab, check_items, create, reopen
from keepsake.agent.settings import SleepConfig, ThinkingConfig
from keepsake.cli.simulate import folder_of
from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.record import INTERVIEW
from keepsake.markdown_config import merged
from keepsake.memory.config import CompactionConfig
from keepsake.models.profiles import load
from keepsake.paths import REPOSITORY, Places, Ports
from tests.unit.lab.made_village import BONFIRE

PLAN = SimulationPlan(name="life", agents=3, hours=6)


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path, REPOSITORY / "vault", Ports(21000))


def test_a_simulation_without_a_name_is_named_after_its_seed(places):
    create(places, PLAN.model_copy(update={"name": ""}))
    with pytest.raises(KeepsakeError, match="'seed-7' already"):
        create(places, PLAN.model_copy(update={"name": ""}))
    assert Lab(folder_of(places, "seed-7")).plan() == PLAN.model_copy(update={"name": "seed-7"})
    with pytest.raises(KeepsakeError, match="There are: seed-7"):
        Lab(folder_of(places, "death"))
    with pytest.raises(KeepsakeError, match="folder's name"):
        create(places, PLAN.model_copy(update={"name": "../../etc"}))


def test_settings_of_any_file_are_written_to_the_copy(places):
    given = ["preserve_memories=9", "idle_interval=60", "sleep.awake_hours = 12", "high=0.9"]
    chosen = settings_from(given)
    lab = create(places, SimulationPlan(name="set", agents=1, settings=chosen))
    assert lab.plan().settings == {
        "memory_compaction.preserve_memories": "9",
        "thinking.idle_interval": "60",
        "sleep.awake_hours": "12",
        "memory_compaction.high": "0.9",
    }
    config = lab.places.config
    compaction = CompactionConfig.load(config / "memory_compaction.md")
    assert (compaction.preserve_memories, compaction.high) == (9, 0.9)
    assert merged(config / "thinking.md").entries["idle_interval"].value == "60"
    with pytest.raises(KeepsakeError, match="high: 3 is not between"):
        create(places, SimulationPlan(name="bad", settings=settings_from(["high=3"])))
    assert not (places.home / "lab" / "bad").exists()
    # The rest of the file is unchanged, also the notes for its reader.
    before = (REPOSITORY / "vault/config/sleep.md").read_text()
    assert (config / "sleep.md").read_text() == before.replace(
        "**awake_hours**: 16", "**awake_hours**: 12"
    )


def test_parts_are_taken_away_in_the_agents_own_settings(places):
    chosen = settings_from(["plans=yes", "idle_interval=60"])
    plan = SimulationPlan(name="less", without=("plans", "reflection"), settings=chosen)
    config = create(places, plan).places.config
    thinking = ThinkingConfig.load(config / "thinking.md")
    assert (thinking.plans, thinking.memory, thinking.idle_interval) == (False, True, 60)
    assert not SleepConfig.load(config / "sleep.md").reflect


def test_the_model_of_the_nights_is_named_apart(places):
    model = "openai:big@http://there"
    plan = SimulationPlan(name="written", model="ollama:small", writer=model)
    profiles = load(create(places, plan).places.config / "llm.md")
    assert (profiles["agent"].provider, profiles["agent"].model) == ("ollama", "small")
    writer = profiles["summarizer"]
    assert (writer.provider, writer.model, writer.host) == ("openai", "big", "http://there")
    silent = create(places, SimulationPlan(name="silent", writer="none")).places.config
    assert load(silent / "llm.md")["summarizer"].provider == "none"
    with pytest.raises(KeepsakeError, match="--writer 'scripted' is unknown"):
        create(places, SimulationPlan(name="bad", writer="scripted"))


def test_items_are_for_agents_and_places_that_are_there():
    check_items(SimulationPlan(agents=7, items=(BONFIRE,)))
    wrong = BONFIRE.model_copy(update={"to": "Wren"})
    with pytest.raises(KeepsakeError, match="'Wren', who is not in this simulation"):
        check_items(SimulationPlan(agents=2, items=(wrong,)))
    wrong = BONFIRE.model_copy(update={"where": "moon"})
    with pytest.raises(KeepsakeError, match="'moon'"):
        check_items(SimulationPlan(agents=7, items=(wrong,)))


def test_a_simulation_that_goes_on_is_asked_anew_at_its_new_end(places):
    lab = create(places, SimulationPlan(name="longer", hours=2))
    (lab.folder / INTERVIEW).write_text("{}\n")
    assert reopen(places, "longer").plan().hours == 2
    assert (lab.folder / INTERVIEW).exists()
    assert reopen(places, "longer", 5).plan().hours == 5
    assert not (lab.folder / INTERVIEW).exists()
    assert (lab.folder / "interview-2h.jsonl").exists()


def test_a_plan_is_the_same_whatever_its_command_line():
    plan = SimulationPlan(name="x", command="keepsake simulate x --seed 7")
    assert plan.is_same(SimulationPlan(name="x", command="keepsake simulate x"))
    assert not plan.is_same(SimulationPlan(name="x", seed=8))
