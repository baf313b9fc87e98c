"""Where the rooms of a game stand on a map: by the directions of their exits.

Rooms whose exits have other names (``in``, ``the blue door``) stand beside the room that leads to
them. Nothing of a game's map is needed but its exits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from keepsake.prompt.verbs import COMPASS

type Cell = tuple[int, int]
"""Column and row; rows grow southwards."""
type Ways = Mapping[int, Sequence[tuple[str, int]]]
"""For each room, by number: the name of each exit, and the number of the room behind it."""

STEPS: Mapping[str, Cell] = {
    "north": (0, -1),
    "south": (0, 1),
    "east": (1, 0),
    "west": (-1, 0),
    "northeast": (1, -1),
    "northwest": (-1, -1),
    "southeast": (1, 1),
    "southwest": (-1, 1),
    # A map has no floors: another floor is drawn aslant.
    "up": (1, -1),
    "down": (-1, 1),
}
_BESIDE = (1, 0)
"""Where a room is tried first that no direction leads to."""


def laid_out(ways: Ways) -> dict[int, Cell]:
    """Return a cell for every room. No two rooms share one; the leftmost column and top row are 0.

    Rooms that no exits connect stand in groups, one to the right of the other.
    """
    neighbours = _both_ways(ways)
    placed: dict[int, Cell] = {}
    for room in sorted(ways):
        if room not in placed:
            group = _group(room, neighbours)
            right = max((x for x, _ in placed.values()), default=-2) + 2
            left = min(x for x, _ in group.values())
            placed |= {each: (x - left + right, y) for each, (x, y) in group.items()}
    top = min((y for _, y in placed.values()), default=0)
    return {room: (x, y - top) for room, (x, y) in placed.items()}


def _both_ways(ways: Ways) -> dict[int, list[tuple[Cell | None, int]]]:
    """Return for each room the step to each neighbour; None for a step without a direction."""
    found: dict[int, list[tuple[Cell | None, int]]] = {room: [] for room in ways}
    for room, exits in ways.items():
        for name, there in exits:
            if there not in found or there == room:
                continue
            word = name.strip().casefold()
            step = STEPS.get(COMPASS.get(word, word))
            found[room].append((step, there))
            found[there].append(((-step[0], -step[1]) if step else None, room))
    return found


def _group(
    first: int, neighbours: Mapping[int, Sequence[tuple[Cell | None, int]]]
) -> dict[int, Cell]:
    """Return cells for a room and all that exits connect with it, breadth first."""
    cells: dict[int, Cell] = {first: (0, 0)}
    waiting = deque([first])
    while waiting:
        room = waiting.popleft()
        # Directions come first, so that a room without one does not take the place of one with.
        for step, there in sorted(neighbours[room], key=lambda each: each[0] is None):
            if there not in cells:
                cells[there] = _free(cells[room], step or _BESIDE, frozenset(cells.values()))
                waiting.append(there)
    return cells


def _free(begin: Cell, step: Cell, taken: frozenset[Cell]) -> Cell:
    """Return the free cell that is nearest to one step from ``begin``."""
    wanted = (begin[0] + step[0], begin[1] + step[1])
    return next(cell for cell in _around(wanted) if cell not in taken)


def _around(cell: Cell) -> Iterator[Cell]:
    """Yield a cell, then those in growing squares around it, the nearest of each first."""
    x, y = cell
    yield cell
    distance = 0
    while True:
        distance += 1
        ring = [
            (x + dx, y + dy)
            for dx in range(-distance, distance + 1)
            for dy in range(-distance, distance + 1)
            if max(abs(dx), abs(dy)) == distance
        ]
        yield from sorted(ring, key=lambda each: (each[0] - x) ** 2 + (each[1] - y) ** 2)
