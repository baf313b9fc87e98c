"""What the Server observes: the live stream, the metrics, the reactor's lag.

There is one a process, made before the agents' runtime, whose events it gets by its subscribers.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from prometheus_client.metrics_core import Metric
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThread

from keepsake.agent.agent_log import known_secrets
from keepsake.agent.runtime import running, runtime
from keepsake.archive.records import Memory
from keepsake.contrib.evennia.apps import places
from keepsake.contrib.evennia.minds import mind_by_number, open_minds
from keepsake.errors import KeepsakeError
from keepsake.events.files import id_of, last
from keepsake.events.log import Subscribers, WrittenEvent
from keepsake.events.secrets import Scrubber
from keepsake.events.types import MemoryChange
from keepsake.json_lines import in_json
from keepsake.paths import Places
from keepsake.web.access import watcher
from keepsake.web.live import KEPT, LiveResource
from keepsake.web.metrics import Metrics, gauge, model_servers
from keepsake.web.world import STATES, on_reactor, state_of

LOOK_SECONDS = 0.5
"""Between two looks at how late the reactor is."""
_LONGEST_TEXT = 4_000
"""Characters of a memory that a page is sent; the whole of it is in the archive."""
_log = logging.getLogger("keepsake.web")


class Watching:
    """The live stream, the metrics and the lag of this process.

    Attributes:
        subscribers: For the runtime, which reports events to them.
        live: What the live pages show.
        metrics: Prometheus' counters and gauges.
    """

    def __init__(self, here: Places, reactor: Any) -> None:
        self._reactor, self._scrubber = reactor, Scrubber(known_secrets(here))
        self.live = LiveResource(reactor, _allowed, self.line, list(_before(here)))
        self.metrics = Metrics(lambda: _gauges(len(self.live.streams), self._scrubber))
        self.subscribers = Subscribers()
        self.subscribers.on_written.append(self.live.written)
        self.subscribers.on_event.append(self.metrics.took)
        self._looks, self._due = LoopingCall(self._look), 0.0
        self._looks.clock = reactor

    def start(self) -> None:
        """Begin to look how late the reactor is."""
        self._due = self._reactor.seconds() + LOOK_SECONDS
        self._looks.start(LOOK_SECONDS, now=False)

    def stop(self) -> None:
        """Let all browsers go; after a reload they come again."""
        if self._looks.running:
            self._looks.stop()
        self.live.close()

    def line(self, event: WrittenEvent) -> bytes:
        """The JSON of an event; that of a memory with its words, without secrets."""
        if event.kind != MemoryChange.kind:
            return event.line
        record = json.loads(event.line)
        known = record.get("op") in ("append", "repeat")
        memory = _memory(event.agent_id, record["n"]) if known else None
        if memory is None:
            return event.line
        words = {"text": memory.text[:_LONGEST_TEXT], "source": memory.source}
        words |= {"place": memory.place, "reason": memory.reason}
        clean = {name: self._scrubber.clean(value) for name, value in words.items() if value}
        return in_json(record | clean).encode("utf-8", "replace")

    def _look(self) -> None:
        now = self._reactor.seconds()
        self.metrics.lag.observe(max(now - self._due, 0.0))
        self._due = now + LOOK_SECONDS


@cache
def watching() -> Watching:
    """What the Server gives to those who watch; one a process."""
    return Watching(places(), _reactor)


@on_reactor
def _gauges(streams: int, scrubber: Scrubber) -> list[Metric]:
    """What is so now. ``streams``: How many browsers watch."""
    found = [
        gauge("up", "Whether the agents run", running()),
        gauge("live_streams", "Browsers that watch", streams),
    ]
    if not running():
        return found
    minds, shared, memories = list(open_minds()), runtime(), 0
    for mind in minds:
        with suppress(KeepsakeError):  # an archive that cannot be opened now; its state says so
            memories += mind.memory.memory.tiers.last_number
    with suppress(KeepsakeError):  # a profile that cannot be used; `faults` tells of it
        found += model_servers(shared.gateway.statuses(), scrubber)
    states = dict.fromkeys(STATES, 0) | Counter(map(state_of, minds))
    writable = shared.event_log is None or not shared.event_log.problem
    return [
        *found,
        gauge("memories", "Memories of all agents", memories),
        gauge("event_log_writable", "Whether the event log can be written", writable),
        gauge("agents", "Agents, by their state", states, "state"),
    ]


def _allowed(cookies: bytes) -> Deferred[bool]:
    return deferToThread(watcher, cookies)


def _before(here: Places) -> Iterator[WrittenEvent]:
    """The end of the log of before, so that nobody misses what came then."""
    try:
        for each in last(here.events, KEPT, lambda _: True):
            line = in_json(each).encode("utf-8", "replace")
            yield WrittenEvent(each["seq"], str(each.get("kind")), id_of(each), line)
    except OSError as error:
        _log.warning("[Warning] The event log's end could not be read: %s", error)


def _memory(agent_id: int, number: int) -> Memory | None:
    """A memory of the agent with that id; None if it is not open, or cannot be read now."""
    if (mind := mind_by_number(agent_id)) is None:
        return None
    with suppress(KeepsakeError, OSError):
        window = mind.memory.context().window
        if window and number >= window[0].number:
            return next((each for each in reversed(window) if each.number == number), None)
        return next(iter(mind.memory.memory.archive.read(number, number)), None)
    return None
