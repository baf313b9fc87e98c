"""A simulation whose agents remember with plain RAG: a real world in a process of its own."""

import frontmatter
import pytest

from keepsake.events.files import Filter, last
from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.settings import settings_from
from keepsake.lab.simulations.simulate import create, run
from keepsake.paths import REPOSITORY, Places, Ports
from tests.empty_tables import lay_tables_for_labs


@pytest.fixture
def places(tmp_path, tables):
    lay_tables_for_labs(tables, tmp_path)
    return Places(tmp_path, REPOSITORY / "vault", Ports(21000))


def test_all_agents_of_a_simulation_have_it(places):
    narrow = settings_from(("preserve_memories=4",))  # else all of so short a life is in the window
    plan = SimulationPlan("one", agents=2, hours=2, visitors=3, memory="rag", settings=narrow)
    lab = create(places, plan)
    run(lab)
    for profile in ("Bram", "Joss"):
        path = lab.vault / "agents" / profile / "profile.md"
        assert frontmatter.loads(path.read_text())["memory"] == "rag"
    lived = last(lab.places().events, 100_000, Filter())
    recalls = [each for each in lived if each["kind"] == "recall"]
    assert sum(each["found"] for each in recalls) > 0
    assert not [each for each in lived if each["kind"] in ("compaction", "error")]
