"""A simulation, forked in the middle and lived on otherwise: a whole world, its database too."""

import re
import shutil
import threading

import evennia
import pytest

from game.lab.forks.lab_fork import fork_lab, fork_lab_world
from game.lab.replays.lived import read_life
from game.lab.simulations import checkpoints
from game.lab.simulations.plan import FOLDER, SimulationPlan, lab_of
from game.lab.simulations.simulate import Run, create, resumed, run
from game.mind.errors import KeepsakeError
from game.mind.events.reader import events
from game.paths import REPOSITORY, Places, Ports
from tests.lab.archived import fingerprint


@pytest.fixture(scope="module")
def places(tmp_path_factory, tables):
    here = Places(tmp_path_factory.mktemp("home"), REPOSITORY / "vault", Ports(21400))
    (here.home / FOLDER).mkdir()
    # As an earlier simulation would have left them; the first of all is made in test_simulate.py.
    shutil.copyfile(tables, here.home / FOLDER / f".empty-{evennia.__version__}.db3")
    return here


@pytest.fixture(scope="module")
def base(places):
    """An hour of two agents and two visitors."""
    lab = create(places, SimulationPlan("base", agents=2, hours=1, visitors=2))
    thinking = lab.vault / "config" / "thinking.md"
    text = re.sub(r"\*\*idle_away_factor\*\*: .*", "**idle_away_factor**: 1", thinking.read_text())
    thinking.write_text(text)
    run(lab)
    return lab


def acts(lab):
    """Events by which two runs can be told apart."""
    return [
        (each["seq"], each["kind"], each.get("agent"), each["t"])
        for each in events(lab.places().events)
    ]


def test_a_fork_goes_on_from_its_point_and_the_original_stays_as_it_is(places, base):
    lived = acts(base)
    middle = lived[len(lived) // 2][0]
    before = fingerprint(base.folder)
    forked = fork_lab(places, "base", "other", str(middle), lambda _: None)
    other = lab_of(places, "other")
    assert forked.events == middle
    assert acts(other) == lived[:middle]
    assert other.plan().name == "other"
    assert 0 < other.lived() < base.lived()
    assert not (other.home / "secret-key").exists()

    thinking = other.vault / "config" / "thinking.md"
    text = re.sub(r"\*\*idle_interval\*\*: .*", "**idle_interval**: 60", thinking.read_text())
    thinking.write_text(text)
    run(resumed(places, "other"))
    after = acts(other)
    assert after[:middle] == lived[:middle]
    assert after[middle:] != lived[middle:]
    assert other.lived() == base.lived()
    for name, cut in forked.agents.items():
        if cut.memories:
            life = read_life(other.vault / "agents" / name, name)
            assert life.steps[-1].number >= cut.memories
    assert fingerprint(base.folder) == before


def test_a_simulation_waits_for_its_copy_and_the_copy_for_a_moment_between_two_hours(places, base):
    removed = threading.Event()

    def live_on():
        checkpoints.begin(base)
        removed.set()

    living = threading.Thread(target=live_on, daemon=True)

    def say(line):
        if line == "Copying the event log":
            living.start()
        assert not removed.is_set()

    fork_lab(places, "base", "undisturbed", "", say)
    living.join(60)
    assert removed.is_set()
    checkpoints.settle(base)
    assert not base.unsettled.exists()


def test_what_is_lived_in_a_fork_can_be_gone_back_from_before_its_first_hour_is_over(places, base):
    middle = acts(base)[20][0]
    fork_lab(places, "base", "killed", str(middle), lambda _: None)
    with Run(resumed(places, "killed", hours=1000)) as running:
        assert any(report.op == "at" for report in running.reports())
    lab = lab_of(places, "killed")
    assert lab.unsettled.exists()
    assert checkpoints.go_back(lab)
    assert acts(lab)[:middle] == acts(base)[:middle]


def test_a_simulation_that_is_not_made_yet_is_not_copied(places):
    create(places, SimulationPlan("unmade", agents=1, hours=1))
    with pytest.raises(KeepsakeError, match="not made yet") as refused:
        fork_lab(places, "unmade", "copy", "", lambda _: None)
    assert "--resume unmade" in refused.value.cure


def test_its_world_can_be_taken_out_of_the_lab(places, base, tmp_path):
    forked = fork_lab_world(places, "base", tmp_path / "world", "", lambda _: None)
    assert forked.places.database.exists()
    assert (forked.places.config / "llm.md").read_text() == (
        base.vault / "config" / "llm.md"
    ).read_text()
    assert forked.placed is not None
    for inside in (places.home / "world", base.folder / "world"):
        with pytest.raises(KeepsakeError, match="belongs to this copy of Keepsake"):
            fork_lab_world(places, "base", inside, "", lambda _: None)
    with pytest.raises(KeepsakeError, match="There is no simulation 'none'"):
        fork_lab_world(places, "none", tmp_path / "more", "", lambda _: None)
