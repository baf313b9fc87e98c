"""Who lives in a simulated world and who visits it: by the seed, and by nothing else."""

import pytest

from game.simulation.living import atlas_for
from keepsake.names import check_agent_name
from world.atlas import read_atlas


@pytest.fixture(scope="module")
def atlas():
    return read_atlas()


def test_the_shipped_agents_come_first_and_nobody_owns_what_is_nowhere(atlas):
    shipped = list(atlas.people)
    assert list(atlas_for(atlas, 3, 7).people) == shipped[:3]
    assert list(atlas_for(atlas, len(shipped) + 2, 7).people)[: len(shipped)] == shipped
    small = atlas_for(atlas, 1, 7)
    kept = set(small.people) | set(small.places)
    assert all(thing.at in kept for thing in small.things.values())


@pytest.mark.parametrize("seed", [1, 7])
def test_a_hundred_agents_have_names_that_nobody_mixes_up(atlas, seed):
    people = atlas_for(atlas, 100, seed).people
    assert len(people) == 100
    taken = []
    for person in people.values():
        assert check_agent_name(person.name, taken) == person.name
        taken.append(person.name)
        assert person.home in atlas.places
