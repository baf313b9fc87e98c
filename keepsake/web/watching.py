"""The data that the dashboard and the metrics take from the running Server.

There is one object per process. It listens to events from the start of the agents on.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import cache
from typing import Any

from prometheus_client.metrics_core import Metric

from keepsake.agent.agent_log import known_secrets
from keepsake.agent.runtime import running, runtime
from keepsake.contrib.evennia.apps import places
from keepsake.contrib.evennia.minds import STATES, mind_by_number, open_minds, state_of
from keepsake.errors import KeepsakeError
from keepsake.events.files import id_of
from keepsake.events.log import Subscribers
from keepsake.events.secrets import Scrubber
from keepsake.events.types import MemoryChange
from keepsake.events.values import MemoryOp
from keepsake.json_lines import Record
from keepsake.models.queue import READY
from keepsake.paths import Places
from keepsake.web.metrics import Metrics, gauge
from keepsake.web.remembered import view_of, words_in_book
from keepsake.web.shapes import MemoryView
from keepsake.web.world import on_reactor

_LONGEST_TEXT = 4_000
"""The most characters of each text of a memory that a page gets; the archive has the whole text."""


class Watching:
    """The metrics of this process, and the words that pages show with events.

    Attributes:
        metrics: Prometheus' counters and gauges.
    """

    def __init__(self, here: Places) -> None:
        self._scrubber = Scrubber(known_secrets(here))
        self.metrics = Metrics(lambda: _gauges(self._scrubber))

    def listen_to(self, subscribers: Subscribers) -> None:
        """Count the events of a runtime; call it before the first one."""
        subscribers.on_event.append(self.metrics.on_event)

    def complete(self, record: Record) -> Record:
        """Return an event of the log; add the memory that it is about, without secrets."""
        known = record.get("kind") == MemoryChange.kind and record.get("op") in (
            MemoryOp.APPEND,
            MemoryOp.REPEAT,
        )
        view = _memory(id_of(record), record["n"]) if known else None
        if view is None:
            return record
        return record | {"remembered": self._without_secrets(view.model_dump(mode="json"))}

    def _without_secrets(self, value: Any) -> Any:
        """Return a JSON value without secrets, with texts of at most :data:`_LONGEST_TEXT`."""
        match value:
            case str():
                return self._scrubber.clean(value)[:_LONGEST_TEXT]
            case dict():
                return {name: self._without_secrets(each) for name, each in value.items()}
            case list():
                return [self._without_secrets(each) for each in value]
        return value


@cache
def watching() -> Watching:
    """Return the one object of this process."""
    return Watching(places())


@on_reactor
def _gauges(scrubber: Scrubber) -> list[Metric]:
    """Return the current gauges; addresses of model servers are without passwords."""
    found = [gauge("up", "Whether the agents run", {(): running()})]
    if not running():
        return found
    shared = runtime()
    who = ("provider", "host")
    with suppress(KeepsakeError):  # a profile that cannot be used; `faults` counts it
        servers = [
            (server.provider, scrubber.clean(server.host), server)
            for server in shared.gateway.used_servers()
        ]
        ready = {(provider, host): server.health == READY for provider, host, server in servers}
        waiting = {
            (provider, host, priority.name.lower()): count
            for provider, host, server in servers
            for priority, count in server.waiting.items()
        }
        found.append(gauge("model_server_ready", "Whether a model server answers", ready, *who))
        found.append(gauge("queue_length", "Jobs that wait for a model", waiting, *who, "priority"))
    states = dict.fromkeys(STATES, 0) | Counter(map(state_of, open_minds()))
    writable = shared.event_log is None or not shared.event_log.problem
    return [
        *found,
        gauge("event_log_writable", "Whether the event log can be written", {(): writable}),
        gauge(
            "agents",
            "Agents, by their state",
            {(state,): count for state, count in states.items()},
            "state",
        ),
    ]


def _memory(agent_id: int, number: int) -> MemoryView | None:
    """Return a memory of an agent; None if its mind is not open, or it cannot be read now."""
    mind = mind_by_number(agent_id)
    if mind is None:
        return None
    with suppress(KeepsakeError, OSError):
        words = words_in_book(mind.books.plans.items)
        found = mind.memory.memory.archive.read(number, number)
        return next((view_of(each, words) for each in found), None)
    return None
