"""What the Server observes: the hub of the live stream, the metrics, the reactor's lag.

There is one a process, made before the agents' runtime, whose events it gets by its taps.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from http.cookies import CookieError, SimpleCookie
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThreadPool

from keepsake.agent.agent_log import known_secrets
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import Runtime, running, runtime
from keepsake.archive.records import Memory
from keepsake.contrib.evennia.apps import places
from keepsake.contrib.evennia.minds import mind_by_number, open_minds
from keepsake.errors import KeepsakeError
from keepsake.events.log import Taps, WrittenEvent
from keepsake.events.reader import id_of, last
from keepsake.events.secrets import Scrubber
from keepsake.json_lines import in_json
from keepsake.models.servers import ServerStatus
from keepsake.paths import Places
from keepsake.web.access import may_watch
from keepsake.web.hub import KEPT, Hub
from keepsake.web.metrics import Metrics, Now
from keepsake.web.stream import LiveResource
from keepsake.web.world import STATES, NoSuchAgent, agent_with, state_of

LOOK_SECONDS = 0.5
"""Between two looks at how late the reactor is."""
_log = logging.getLogger("keepsake.web")


class Watching:
    """The hub, the metrics and the lag of this process.

    Attributes:
        taps: For the runtime, which reports events to them.
        hub: What the live pages show.
        metrics: Prometheus' counters.
    """

    def __init__(self, here: Places, reactor: Any) -> None:
        self._reactor = reactor
        secrets = known_secrets(here)
        self._scrubber = Scrubber(secrets)
        self.taps, self.metrics = Taps(), Metrics()
        self.hub = Hub(reactor, secrets, memory_of=_memory, before=list(_before(here)))
        self.taps.on_written(self.hub.written)
        self.taps.on_event(self.metrics.took)
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
        self.hub.close()

    def put_into(self, root: Any) -> None:
        """Add the live stream to the Server's web root."""

        def allowed(cookies: bytes) -> Any:
            return deferToThreadPool(self._reactor, root.pool, watcher, cookies)

        root.putChild(b"agents-live", LiveResource(self.hub, allowed, self._reactor, _missing))

    def now(self) -> Now:
        """The gauges; on the reactor thread."""
        if not running():
            return Now(live_streams=self.hub.streams)
        minds, shared = list(open_minds()), runtime()
        log = shared.event_log
        return Now(
            live_streams=self.hub.streams,
            agents=dict.fromkeys(STATES, 0) | Counter(map(state_of, minds)),
            agents_paused=sum(_paused(mind) for mind in minds),
            names=[mind.memory.name for mind in minds],
            memories=sum(_memories(mind) for mind in minds),
            compacting=sum(mind.memory.compacting for mind in minds),
            servers=self._servers(shared),
            event_log_waiting=log.waiting if log else 0,
            event_log_lost=log.lost if log else 0,
            event_log_writable=log is None or not log.problem,
            up=True,
        )

    def _servers(self, shared: Runtime) -> list[ServerStatus]:
        with suppress(KeepsakeError):  # a profile that cannot be used; `faults` tells of it
            clean = self._scrubber.clean
            return [replace(each, host=clean(each.host)) for each in shared.gateway.statuses()]
        return []

    def _look(self) -> None:
        now = self._reactor.seconds()
        self.metrics.late(max(now - self._due, 0.0))
        self._due = now + LOOK_SECONDS


@cache
def watching() -> Watching:
    """What the Server gives to those who watch; one a process."""
    return Watching(places(), _reactor)


def _before(here: Places) -> Iterator[WrittenEvent]:
    """The end of the log of before, so that nobody misses what came then."""
    try:
        for each in last(here.events, KEPT, lambda _: True):
            line = in_json(each).encode("utf-8", "replace")
            yield WrittenEvent(each["seq"], str(each.get("kind")), id_of(each), line)
    except OSError as error:
        _log.warning("[Warning] The event log's end could not be read: %s", error)


def watcher(cookies: bytes) -> bool:
    """Whether these cookies are of somebody who may watch; reads the database, in a thread."""
    from django.conf import settings  # noqa: PLC0415 - only once Django is set up
    from django.contrib.auth import SESSION_KEY, get_user  # noqa: PLC0415
    from django.contrib.sessions.backends.db import SessionStore  # noqa: PLC0415
    from django.db import close_old_connections  # noqa: PLC0415
    from django.http import HttpRequest  # noqa: PLC0415

    try:
        found = SimpleCookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return False
    if found is None or not found.value:
        return False
    close_old_connections()
    try:
        request: Any = HttpRequest()
        request.session = SessionStore(found.value)
        return SESSION_KEY in request.session and may_watch(get_user(request))
    finally:
        close_old_connections()


def _missing(number: int) -> bool:
    """Whether no agent has that number, which is known before the agents are awake as well."""
    if mind_by_number(number) is None:
        try:
            agent_with(number)
        except NoSuchAgent:
            return True
    return False


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


def _paused(mind: Mind) -> bool:
    agent = mind.thinker.agent
    return agent is not None and bool(agent.db.paused)


def _memories(mind: Mind) -> int:
    try:
        return mind.memory.memory.status().total
    except KeepsakeError:  # it cannot be opened now; its state says so
        return 0
