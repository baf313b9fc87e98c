"""After a start: what agents did before is looked up, so that nobody is told they did nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from keepsake.agent.agent_log import logged
from keepsake.agent.runtime import Runtime
from keepsake.agent.thinking.tally import ThoughtTally
from keepsake.events.agent_names import Names
from keepsake.events.recent_activity import Lately, lately


def prime(agents: Sequence[tuple[Names, ThoughtTally]], shared: Runtime, before: datetime) -> None:
    """Have the agents' tallies told of the time before; reads the log once, in a worker thread."""
    names, tallies = [each for each, _ in agents], [tally for _, tally in agents]

    def give(found: Sequence[Lately]) -> None:
        for tally, each in zip(tallies, found, strict=True):
            tally.prime(each)

    def work() -> None:
        with logged("What the agents did before could not be read"):
            found = lately(shared.places.events, names, before)
            shared.post(lambda: give(found))

    if agents:
        shared.workers.submit(work)
