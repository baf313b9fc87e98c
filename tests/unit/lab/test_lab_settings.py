"""Settings that a simulation is made with, in its own copy of the configuration."""

import pytest

from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.settings import settings_from
from keepsake.lab.simulations.simulate import create
from keepsake.markdown_config import merged
from keepsake.memory.config import CompactionConfig
from keepsake.paths import REPOSITORY, Places, Ports


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path, REPOSITORY / "vault", Ports(21000))


def test_settings_of_any_file_are_written_into_the_copy_and_kept(places):
    given = ["idle_interval=60", "sleep.awake_hours = 12", "memory_compaction.high=0.9"]
    chosen = settings_from(given, "structured")
    lab = create(places, SimulationPlan("set", agents=1, settings=chosen))
    assert lab.plan().settings == {
        "memory_compaction.strategy": "structured",
        "thinking.idle_interval": "60",
        "sleep.awake_hours": "12",
        "memory_compaction.high": "0.9",
    }
    config = lab.vault / "config"
    compaction = CompactionConfig.load(config / "memory_compaction.md")
    assert (compaction.strategy, compaction.high) == ("structured", 0.9)
    assert merged(config / "thinking.md").entries["idle_interval"].value == "60"
    # All else stands in the file as it stood, what is for its reader too.
    before = (REPOSITORY / "vault/config/sleep.md").read_text()
    assert (config / "sleep.md").read_text() == before.replace(
        "**awake_hours**: 16", "**awake_hours**: 12"
    )
