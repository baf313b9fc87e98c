"""The plan of a simulation, where it is stored, and its settings."""

from __future__ import annotations

import pytest

from game.simulation.config import settings_from
from game.simulation.plan import Lab, SimulationPlan, create
from keepsake.cli.simulate import folder_of
from keepsake.errors import KeepsakeError
from keepsake.markdown_config import merged
from keepsake.memory.config import CompactionConfig
from keepsake.paths import REPOSITORY, Places, Ports

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
