"""Where rooms stand on a map."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.contrib.evennia.layout import laid_out

NAMES = st.sampled_from(["north", "s", "EAST", "west", "up", "in", "the blue door", "Kneipe"])
WORLDS = st.integers(1, 25).flatmap(
    lambda rooms: st.fixed_dictionaries(
        {room: st.lists(st.tuples(NAMES, st.integers(0, 30)), max_size=5) for room in range(rooms)}
    )
)


@given(WORLDS)
def test_every_room_has_a_cell_of_its_own_from_the_corner_on(world):
    cells = laid_out(world)
    assert cells.keys() == world.keys()
    assert len(set(cells.values())) == len(world)
    assert min(x for x, _ in cells.values()) == 0
    assert min(y for _, y in cells.values()) == 0


def test_directions_decide_in_either_way_and_in_short_form():
    cells = laid_out(
        {1: [("n", 2), ("east", 3)], 2: [("east", 4)], 3: [], 4: [("South", 5)], 5: []}
    )
    assert cells[2] == (cells[1][0], cells[1][1] - 1)
    assert cells[3] == (cells[1][0] + 1, cells[1][1])
    assert cells[4] == (cells[3][0], cells[3][1] - 1)


def test_a_door_without_a_direction_leads_beside_its_room():
    cells = laid_out({1: [("the blue door", 2)], 2: [("out", 1)]})
    assert abs(cells[1][0] - cells[2][0]) <= 1
    assert abs(cells[1][1] - cells[2][1]) <= 1


@pytest.mark.parametrize("world", [{}, {7: []}])
def test_a_world_without_exits(world):
    assert laid_out(world) == dict.fromkeys(world, (0, 0))
