"""What one whole thought costs the reactor thread: prompt, queue, answer, act, memory.

The model answers at once, over HTTP; waiting for it is not counted, as the game goes on
meanwhile. Run as a module it measures in its own process, where Evennia can be set up.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from random import Random

from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import Places
from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

WINDOWS = (64, 128)
WANTED_MS = 2.0
_THOUGHTS = 120
_WARM_UP = 10
_SECONDS = 120


def measure() -> Iterator[Figure]:
    """Milliseconds of the reactor thread a thought, by length of the window."""
    yield from figures_of(__name__, seconds=_SECONDS)


def main() -> None:
    """Measure in this process and print the figures as JSON."""
    print_figures(_in_the_world)


def _in_the_world() -> list[Figure]:
    from keepsake.agent.attention import EventKind, Impulse  # noqa: PLC0415 - with the world
    from keepsake.agent.runtime import REST  # noqa: PLC0415
    from keepsake.agent.thinking.thinker import AgentState  # noqa: PLC0415
    from keepsake.memory.config import CompactionConfig  # noqa: PLC0415
    from keepsake.memory.types import CompactReason  # noqa: PLC0415
    from tests.bench.talk import Line, talk  # noqa: PLC0415
    from tests.world.agents_world import AgentsWorld, FixedConfig  # noqa: PLC0415

    figures: list[Figure] = []

    class World(AgentsWorld):
        def measure(self) -> None:
            self.set_thinking(gather=0.0, cooldown=0.0, idle_interval=86_400.0)
            self.services.rest = REST
            evening, numbers = talk(Random(3)), itertools.count()
            self.fake.script = lambda _: f" say I have counted {next(numbers)} cups. | bored"
            for window in WINDOWS:
                self.services.compaction = FixedConfig(
                    # By count alone: with the shipped budget long windows would be cut down.
                    CompactionConfig(
                        immediate_window=window, recent_window=10_000, context_tokens=32_768
                    )
                )
                self._hear([next(evening) for _ in range(2 * window)])
                times = []
                for _ in range(_WARM_UP + _THOUGHTS):
                    # What a thought stands on: a few new lines, the rest seen before.
                    self._hear([next(evening) for _ in range(3)])
                    times.append(self._thought())
                    assert window < len(self.mind.memory.context().window) < window + 5
                figures.append(_figure(window, times[_WARM_UP:]))

        def make_gateway(self, places: Places) -> Gateway:
            # As the game makes it: it looks at its files now and then.
            profiles = Profiles(places.config / "llm.md", rest=REST)
            return Gateway(profiles, places, self.posted.put)

        def _hear(self, lines: list[Line]) -> None:
            memory = self.mind.memory.memory
            for line in lines:
                memory.append(line.text, line.kind)
            memory.compact(CompactReason.MANUAL)

        def _thought(self) -> float:
            """Milliseconds of this thread that one thought takes, from its cause to its end."""
            event = Impulse(EventKind.ADDRESSED, from_player=True, source="Tom")
            before, thoughts = _cost(), self.mind.thinker.log.answered
            spent = _timed(lambda: self.mind.thinker.notice(event))
            spent += _timed(lambda: self.clock.advance(1.0))
            while self.mind.thinker.state is AgentState.WAITING:
                spent += _timed(self.posted.get(timeout=10))
            assert self.mind.thinker.log.answered == thoughts + 1, "it was not one thought"
            assert spent <= (_cost() - before) * 1000
            return spent

    live(World("measure"))
    return figures


def _cost() -> float:
    # Of this thread alone: the client's and the fake server's threads are not the reactor.
    return time.thread_time()


def _timed(work: Callable[[], object]) -> float:
    before = _cost()
    work()
    return (_cost() - before) * 1000


def _figure(window: int, times: list[float]) -> Figure:
    median = statistics.median(times)
    return Figure(
        "a thought's own cost, by window",
        window,
        median,
        "ms",
        f"wanted < {WANTED_MS:g} ms; p95 {sorted(times)[int(0.95 * len(times))]:.2f} ms",
    )


if __name__ == "__main__":
    main()
