"""What a thought costs in a busy world, everything included: all threads, all processes, the disk.

A real world whose agents have long lives and whole indexes, and a model server behind HTTP that
takes two seconds. Its answers are kept back and given again in turn, so that what is measured of
an idle and of a busy world falls into the same minutes. How large it is, the environment says:
see :class:`tests.bench.busy_world.Size`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from keepsake.agent.attention import ANSWERED
from keepsake.events.reader import newest_first
from keepsake.json_lines import Record
from keepsake.paths import Places
from tests.bench.busy_world import ROOM, BusyWorld, Size, world
from tests.bench.figures import Figure, percentile
from tests.bench.processor import SERVER, spent
from tests.slow.e2e.players import Player

SETTLE_SECONDS = 5.0
"""Until the answers that were kept back are all given, or all agents wait for one."""
PAUSE = 0.1
SHARES = (0.5, 0.95, 0.99)


@dataclass
class _While:
    """A while in which the world was idle, or busy.

    Attributes:
        began, ended: Seconds since 1970.
        spent: What it cost.
        looks: Milliseconds of each ``look``.
    """

    began: float = 0.0
    ended: float = 0.0
    spent: Counter[str] = field(default_factory=Counter)
    looks: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.ended - self.began


def measure() -> Iterator[Figure]:
    """Thoughts a second, processor time a thought by process, starting and ending, and `look`.

    Two minutes with fifty agents of 200 memories each.
    """
    size = Size.given()
    with tempfile.TemporaryDirectory() as scratch, world(Path(scratch), size) as made:
        here = made.copy.here
        made.timed("start")
        made.opened("opened after a start")
        player = Player.admin(made.copy)
        player.see(ROOM)
        whiles = _in_turn(made, player, size)
        player.leave()
        made.timed("reload", "reload, busy")
        made.opened("opened after a reload, busy")
        made.timed("stop", "stop, busy")
        thoughts = [_thoughts(here, each.began, each.ended) for each in whiles[True]]
    yield from _thought_figures(size.agents, size, whiles, thoughts)
    yield from _look_figures(size.agents, whiles)
    for name, seconds in made.took.items():
        yield Figure(f"busy: {name}", size.agents, seconds, "s")


def _in_turn(made: BusyWorld, player: Player, size: Size) -> dict[bool, list[_While]]:
    """Idle and busy whiles, one after the other."""
    whiles: dict[bool, list[_While]] = {False: [], True: []}
    made.brake(on=False)
    _look_around(player, size.warm)
    for busy in [False, True] * size.blocks:
        made.brake(on=not busy)
        _look_around(player, SETTLE_SECONDS + (0 if busy else size.delay))
        one = _While(time.time())
        before = spent(made.copy.here)
        one.looks = _look_around(player, size.seconds)
        one.spent, one.ended = spent(made.copy.here) - before, time.time()
        whiles[busy].append(one)
    return whiles


def _look_around(player: Player, seconds: float) -> list[float]:
    """Milliseconds until the room was shown, again and again, with a breath between."""
    times: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        player.type("look", ROOM)
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE)
    return times


def _thoughts(here: Places, began: float, ended: float) -> list[Record]:
    """The thoughts that ended in that while and came to something."""
    found = []
    for record in newest_first(here.events):
        at = datetime.fromisoformat(record["t"]).timestamp()
        if at < began:
            break
        if at <= ended and record.get("outcome") in ("acted", "refused"):
            found.append(record)
    return found


def _thought_figures(
    n: int, size: Size, whiles: dict[bool, list[_While]], thoughts: Sequence[Sequence[Record]]
) -> Iterator[Figure]:
    busy, idle = whiles[True], whiles[False]
    count, seconds = sum(map(len, thoughts)), sum(each.seconds for each in busy)
    assert count, "nobody thought"
    rates = [len(each) / one.seconds for each, one in zip(thoughts, busy, strict=True)]
    told = f"{size.memories:,} memories each; " + _kinds([t for each in thoughts for t in each])
    yield Figure("busy: thoughts", n, statistics.median(rates), "1/s", told)
    cost = sum((each.spent for each in busy), Counter())
    still = sum((each.spent for each in idle), Counter())
    rest = sum(each.seconds for each in idle)
    name = "busy: processor time a thought"
    for part, used, without, wanted in (
        ("Server", cost[SERVER], still[SERVER], 6),
        ("all processes", cost.total(), still.total(), 10),
    ):
        more = 1000 * (used - without * seconds / rest) / count
        told = f"{used / seconds:.0%} of a core; {more:.1f} more than idle; wanted ≤ {wanted}"
        yield Figure(f"{name}, {part}", n, 1000 * used / count, "ms", told)
    for part, used in sorted(cost.items(), key=lambda each: -each[1]):
        yield Figure(f"{name}, process {part}", n, 1000 * used / count, "ms")
    yield Figure("busy: an idle world", n, 100 * still.total() / rest, "% of a core")


def _kinds(thoughts: Sequence[Record]) -> str:
    """What came of them: ``reply 40 %, emote 20 % …``."""
    verbs = Counter(map(_kind, thoughts))
    return ", ".join(f"{verb} {100 * n / len(thoughts):.0f} %" for verb, n in verbs.most_common(8))


def _kind(thought: Record) -> str:
    if not thought.get("command"):
        return "refused"
    return "reply" if thought["trigger"] in ANSWERED else str(thought["command"]).split()[0]


def _look_figures(n: int, whiles: dict[bool, list[_While]]) -> Iterator[Figure]:
    for share in SHARES:
        idle, busy = (
            statistics.median(percentile(each.looks, share) for each in whiles[which])
            for which in (False, True)
        )
        name = f"busy: `look` over telnet, p{100 * share:.0f}"
        yield Figure(f"{name}, idle", n, idle, "ms")
        told = f"{busy / idle:.2f} × idle" + (", wanted ≤ 1.3" if share == 0.95 else "")
        yield Figure(f"{name}, busy", n, busy, "ms", told)
