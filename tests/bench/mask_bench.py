"""What it costs each turn to mask a window, and to find what is going on in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

from keepsake.archive.records import Memory, MemoryKind
from keepsake.compaction.masking import STEP, Mask, boundary, mask
from keepsake.prompt.exchange import open_exchange
from keepsake.prompt.script import script
from keepsake.prompt.tokens import estimate_tokens
from keepsake.recall import related
from tests.bench import talk
from tests.bench.figures import Figure, median_ms

WINDOW, PRESERVE = 128, 20
HUGE = 100_000
"""Characters of a huge tool output; a prompt shows 700 of them, the archive all."""
_ROUNDS = 41
_START = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
_ROOM = (
    "{}. The only inn in Withy Hythe is one low room around a hearth, and it smells of leeks, peat "
    "and wet wool. A copper kettle the size of a calf hangs over the fire and has never been seen "
    "to be empty. Behind a scrubbed counter a chalkboard gives the day's dishes, and one hook in "
    "the row of cups above it is bare. Exits: north to Pump Square. Here: {}. You see: a blue cup."
)


def measure() -> Iterator[Figure]:
    """Masking at several sizes of tool output, what it saves, and who waits for an answer."""
    for name, window in _windows().items():
        yield from _masking(name, window)
    yield from _going_on()


def _masking(name: str, window: Sequence[Memory]) -> Iterator[Figure]:
    through = boundary(window[-1].number, PRESERVE)
    took = median_ms(lambda: mask(window, through), rounds=5 * _ROUNDS)
    yield Figure(f"mask, not cached, {name}", len(window), took, "ms", "to be under 1 ms a turn")
    view = Mask()
    took = median_ms(lambda: view.view(window, through), rounds=_ROUNDS, each=50)
    yield Figure(f"mask, cached, {name}", len(window), took, "ms", f"each turn but one of {STEP}")
    before, after = _tokens(window), _tokens(mask(window, through))
    saved = f"{before:,} tokens before, {after:,} after (4 characters each)"
    yield Figure(f"tokens saved, {name}", len(window), before - after, "tokens", saved)


def _going_on() -> Iterator[Figure]:
    lines = _talk(1000)
    took = median_ms(lambda: open_exchange(lines, "Mira"), rounds=_ROUNDS, each=5)
    yield Figure("find what is going on", len(lines), took * 1000, "µs")


def _windows() -> dict[str, list[Memory]]:
    huge = {
        "look": _ROOM.format(f"The Kettle. {'Long ' * (HUGE // 5)}", "Tom"),
        "recall soup": f"{related.RECALLED}memory 12: {'; memory 13: soup' * (HUGE // 17)}",
    }
    recalled = f"{related.RECALLED}" + "; ".join(
        f"memory {n} [1 May 2026, 18:00, The Kettle] Tom: I hid the letter under the step, and "
        "none but you knows of it, so keep it to yourself"
        for n in (12, 40, 77, 91)
    )
    many = {"look": "", "recall letter": recalled, "go north": ""}
    return {
        "an evening's talk": _talk(WINDOW),
        "many tool outputs": _busy(many),
        "huge tool outputs": _busy(huge),
    }


def _talk(count: int) -> list[Memory]:
    lines = islice(talk.talk(Random(5)), count)
    return [
        Memory(n, _START + timedelta(seconds=20 * n), line.kind, line.text)
        for n, line in enumerate(lines, start=1)
    ]


def _busy(results: dict[str, str]) -> list[Memory]:
    """A window in which every second memory is the result of an act."""
    random, rooms = Random(5), ("The Kettle", "Pump Square", "The Quay")
    window: list[Memory] = []
    while len(window) < WINDOW:
        act, result = random.choice(list(results.items()))
        people = random.sample(talk.PEOPLE, 2)
        shown = result or _ROOM.format(random.choice(rooms), " and ".join(people))
        spoken = f'{people[0]} says to you, "{random.choice(talk.told_of_the_world())}"'
        for kind, text in (
            (MemoryKind.PERCEPTION, spoken),
            (MemoryKind.ACT, act),
            (MemoryKind.RESULT, shown),
        ):
            n = len(window) + 1
            window.append(Memory(n, _START + timedelta(seconds=20 * n), kind, text))
    return window[:WINDOW]


def _tokens(window: Sequence[Memory]) -> int:
    """What the window costs in a prompt, which cuts each line at its limit."""
    return estimate_tokens("\n".join(script(window, "Mira")))
