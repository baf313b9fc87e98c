"""What agents were called before: kept on the object, so that it outlives a reload.

The event log and what is made of it name agents; an agent that is renamed keeps its past by this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from keepsake.agent.runtime import running, runtime
from keepsake.events.agent_names import Names, time_of

FORMER = "former_names"
"""Attribute: its former names, the oldest first, each with the time until which it held."""
SINCE = "named_since"
"""Attribute: since when it bears its first name, where another agent bore that before."""
MOST = 100
"""Former names that are kept; the oldest go first."""


def names_of(agent: Any) -> Names:
    """All that an agent is and was called; on the reactor thread, and quick."""
    since = time_of(agent.attributes.get(SINCE))
    return Names.after(_former(agent), agent.key, since, agent.id)


def now() -> datetime:
    """The present time by the clock of the event log, in UTC."""
    return (runtime().clock.now() if running() else datetime.now(UTC)).astimezone(UTC)


def keep_former(agent: Any, name: str) -> None:
    """An agent was called ``name`` until now; told twice of one renaming, it is kept once."""
    former = list(_former(agent))
    if former and former[-1][0] == name:
        return
    kept = [*former, (name, now())]
    if len(kept) > MOST:  # what follows the first that is let go of begins where that ended
        agent.attributes.add(SINCE, kept[-MOST - 1][1].isoformat())
    agent.attributes.add(FORMER, [(each, until.isoformat()) for each, until in kept[-MOST:]])


def begin(agent: Any, others: Iterable[Any], since: datetime) -> None:
    """An agent has been made after ``since``: others' past of that name is not its own."""
    agent.attributes.remove(FORMER)
    agent.attributes.remove(SINCE)
    name = agent.key.casefold()
    if any(name == each.casefold() for other in others for each, _ in _former(other)):
        agent.attributes.add(SINCE, since.isoformat())


def _former(agent: Any) -> Iterator[tuple[str, datetime]]:
    kept = agent.attributes.get(FORMER)
    # Builders can set an attribute to anything.
    for each in kept if isinstance(kept, Iterable) and not isinstance(kept, str) else ():
        pair = tuple(each) if isinstance(each, Iterable) else ()
        if len(pair) == 2 and (until := time_of(pair[1])) is not None:
            yield str(pair[0]), until
