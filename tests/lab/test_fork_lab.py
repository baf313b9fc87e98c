"""A simulation, forked in the middle and lived on otherwise: a whole world, its database too."""

import re

import pytest

from game.lab.lab_fork import fork_lab, fork_lab_world
from game.lab.lived import read_life
from game.lab.plan import Plan, lab_of
from game.lab.simulate import create, resumed, run
from game.mind.errors import KeepsakeError
from game.mind.event_reader import events
from game.paths import REPOSITORY, Places, Ports
from tests.lab.archived import fingerprint


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return Places(tmp_path_factory.mktemp("home"), REPOSITORY / "vault", Ports(21400))


@pytest.fixture(scope="module")
def base(places):
    """An hour of two agents and two visitors."""
    lab = create(places, Plan("base", agents=2, hours=1, visitors=2))
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


def test_its_world_can_be_taken_out_of_the_lab(places, base, tmp_path):
    forked = fork_lab_world(places, "base", tmp_path / "world", "", lambda _: None)
    assert forked.places.database.exists()
    assert (forked.places.config / "llm.md").read_text() == (
        base.vault / "config" / "llm.md"
    ).read_text()
    assert forked.placed is not None
    with pytest.raises(KeepsakeError, match="There is no simulation 'none'"):
        fork_lab_world(places, "none", tmp_path / "more", "", lambda _: None)
