"""Where a fact went, by all that runs: the archives, the books, the indexes, the event log."""

from __future__ import annotations

from keepsake.agent.runtime import runtime
from keepsake.tracing.typed.choice import AS_FOUND, LineChoice
from keepsake.web import world
from keepsake.web.fact_shapes import FactView
from keepsake.web.pasts.fact import fact
from keepsake.web.pasts.near import line_reader
from keepsake.web.pasts.reading import has_reader


def fact_now(
    words: str, number: int | None = None, n: int | None = None, *, choice: LineChoice = AS_FOUND
) -> FactView:
    """Return where a fact went; blocks. As :func:`keepsake.web.pasts.fact.fact` has it.

    Raises:
        BadRequest: There are neither words nor a memory.
        NotFound: There is no such agent or memory.
    """
    services = runtime()
    found = fact(
        world.folders(),
        words,
        number,
        n,
        world.known_agents(),
        events=services.places.events,
        embedder=services.embedder,
        reader=line_reader(services.embedder, world.searched()) if words else None,
        choice=choice,
        now=services.clock.now(),
    )
    return found.model_copy(update={"reader": bool(found.strands) and has_reader(services)})
