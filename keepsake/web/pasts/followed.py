"""Where a fact went, by all that runs: the archives, the books, the indexes, the event log."""

from __future__ import annotations

from collections.abc import Collection

from keepsake.agent.runtime import runtime
from keepsake.errors import KeepsakeError
from keepsake.tracing.typed.choice import AS_FOUND, LineChoice
from keepsake.tracing.typed.gathering import Line
from keepsake.web import world
from keepsake.web.access import BadRequest
from keepsake.web.fact_shapes import FactView, StrandView
from keepsake.web.pasts.archives import archives_of
from keepsake.web.pasts.fact import fact
from keepsake.web.pasts.near import near_to
from keepsake.web.pasts.reading import has_reader
from keepsake.web.pasts.strands import strand_views


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
        choice=choice,
        now=services.clock.now(),
    )
    return found.model_copy(update={"reader": bool(found.words) and has_reader(services)})


def near_now(words: str, chosen: Collection[Line] = ()) -> tuple[StrandView, ...]:
    """Return the lines near to typed words, best first; blocks.

    Args:
        chosen: Lines that mean the words. If there are any, the lines near to them are returned.

    Raises:
        BadRequest: There is no word, or there are too many.
    """
    archives = archives_of(world.folders())
    names = {key: each.name for key, each in archives.items()}
    try:
        found = near_to(world.searched(), archives, words, chosen)
    except KeepsakeError as error:
        raise BadRequest(error.what, error.cure) from error
    return strand_views(found, words, names)
