"""What a simulation may be, and where it is written down."""

from contextlib import closing
from dataclasses import replace

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.plan import SimulationPlan, checked, free_name, lab_of
from keepsake.paths import Places, Ports

PLAN = SimulationPlan("life", agents=3, hours=6)


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path / "home", tmp_path / "vault", Ports(21000))


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"agents": 0}, "1 to 100"),
        ({"hours": 0.0}, "more than 0"),
        ({"seed": 2**31}, "from 0 to 2147483647"),
        ({"visitors": -1}, "0 to 20"),
        ({"name": "../../etc"}, "folder's name"),
        ({"zone": "Mars/Base"}, "Europe/Berlin"),
        ({"start": "yesterday"}, "2026-05-04T08:00"),
        ({"start": "2026-05-04T08:00+02:00"}, "--zone"),
    ],
)
def test_what_cannot_be_lived_is_refused_with_the_cure(changed, names):
    with pytest.raises(KeepsakeError) as refused:
        checked(replace(PLAN, **changed))
    assert names in refused.value.cure


def test_a_plan_and_how_far_it_has_come_are_read_as_they_were_written(places):
    assert free_name(places, 7) == "seed-7"
    lab = lab_of(places, "seed-7")
    lab.folder.mkdir(parents=True)
    lab.write_plan(PLAN)
    assert not lab.made
    assert lab.lived() == 0.0
    lab.write_lived(7200.0, {})
    assert (lab.plan(), lab.made, lab.lived()) == (PLAN, True, 7200.0)
    with pytest.raises(KeepsakeError, match="There are: seed-7"):
        lab_of(places, "death").plan()
    assert free_name(places, 7) == "seed-7-2"


def test_a_run_that_was_killed_has_come_as_far_as_its_last_memory(places):
    lab = lab_of(places, "life")
    lab.folder.mkdir(parents=True)
    lab.write_plan(PLAN)
    lab.write_lived(3600.0, {})
    with closing(Archive(lab.vault / "agents" / "Mira" / "archive")) as archive:
        when = PLAN.moment(4000.0)
        archive.append_memory(Memory(1, when, MemoryKind.PERCEPTION, "It rains."))
        assert lab.lived() == 4000.0
