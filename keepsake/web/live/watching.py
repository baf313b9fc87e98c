"""What the Server observes: the hub of the live stream, the metrics, the reactor's lag.

There is one a process, made before the agents' services, whose events it gets by its taps.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any

from twisted.internet.threads import deferToThreadPool
from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from keepsake.agent.agent_log import known_secrets
from keepsake.agent.mind import Mind
from keepsake.agent.naming import names_of
from keepsake.agent.runtime import Runtime, running, runtime
from keepsake.archive.records import Memory
from keepsake.contrib.evennia.minds import mind_by_number, open_minds
from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import Names
from keepsake.events.reader import last
from keepsake.events.secrets import Scrubber
from keepsake.events.subscribers import Taps, WrittenEvent
from keepsake.models.status import ServerStatus
from keepsake.paths import Places
from keepsake.web.access import FORBIDDEN, may_watch
from keepsake.web.agents import STATES, NoSuchAgent, agent_with, state_of
from keepsake.web.headers import HEADERS
from keepsake.web.live.door import TOKEN_VARIABLE, Door, GuardedResource, answer
from keepsake.web.live.hub import KEPT, Hub, as_written
from keepsake.web.live.metrics import CONTENT_TYPE, Lag, Metrics, Now
from keepsake.web.live.stream import LiveResource

_log = logging.getLogger("keepsake.web")


class Watching:
    """The hub, the metrics and the lag of this process.

    Attributes:
        taps: For the services, which report events to them.
        hub: What the live pages show.
        metrics: Prometheus' counters.
    """

    def __init__(self, places: Places, reactor: Any) -> None:
        self._places, self._reactor = places, reactor
        secrets = known_secrets(places)
        self._scrubber = Scrubber(secrets)
        self.taps = Taps()
        self.hub = Hub(reactor, secrets, window_of=_window_of)
        self.metrics = Metrics()
        self._lag = Lag(reactor, self.metrics.late)
        self.hub.listen(self.taps)
        self.taps.on_event(self.metrics.took)

    def start(self) -> None:
        """Begin to look, and read what was written before, in a thread."""
        self._lag.start()
        threading.Thread(target=self._read_before, name="live-past", daemon=True).start()

    def stop(self) -> None:
        """Let all browsers go; after a reload they come again."""
        self._lag.stop()
        self.hub.close()

    def put_into(self, root: Any) -> None:
        """Add the resources to the Server's web root."""
        live = LiveResource(
            self.hub,
            lambda cookies: deferToThreadPool(self._reactor, root.pool, watcher, cookies),
            _names_of,
            self._reactor,
            headers=tuple(HEADERS.items()),
            forbidden=FORBIDDEN,
            missing=_missing,
        )
        root.putChild(b"agents-live", live)
        door = Door(os.environ.get(TOKEN_VARIABLE, ""), behind_portal=True)
        root.putChild(b"metrics", GuardedResource(door, MetricsResource(self, root.pool)))

    def now(self) -> Now:
        """The gauges; on the reactor thread."""
        seen = Now(live_streams=self.hub.streams, reactor_lag_worst_seconds=self._lag.worst)
        if not running():
            return seen
        minds, shared = list(open_minds()), runtime()
        log = shared.event_log
        return replace(
            seen,
            agents=dict.fromkeys(STATES, 0) | Counter(map(state_of, minds)),
            agents_paused=sum(_paused(mind) for mind in minds),
            names=[mind.memory.name for mind in minds],
            memories=sum(_memories(mind) for mind in minds),
            compacting=sum(mind.memory.compactor.busy for mind in minds),
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

    def _read_before(self) -> None:
        """Let the hub know the end of the log of before, so that nobody misses what came then."""
        records: list[WrittenEvent] = []
        try:
            records = [as_written(each) for each in last(self._places.events, KEPT, lambda _: True)]
        except OSError as error:
            _log.warning("[Warning] The event log's end could not be read: %s", error)
        self._reactor.callFromThread(self.hub.prime, records)


class MetricsResource(Resource):
    """The metrics as text."""

    def __init__(self, watching: Watching, pool: Any) -> None:
        super().__init__()
        self.isLeaf = True
        self._watching, self._pool = watching, pool

    def render_GET(self, request: Request) -> int:  # noqa: N802 - Twisted's name
        """Look on the reactor thread, and make the text of it elsewhere."""
        now, reactor = self._watching.now(), self._watching._reactor
        request.notifyFinish().addErrback(lambda _: None)  # that somebody goes is no fault
        made = deferToThreadPool(reactor, self._pool, self._watching.metrics.text, now)
        made.addCallback(lambda text: answer(request, HTTPStatus.OK, CONTENT_TYPE, text))
        made.addErrback(lambda failed: _failed(request, failed))
        return NOT_DONE_YET


def _failed(request: Request, failure: Any) -> None:
    _log.error("[Error] The metrics could not be written: %r", failure.value)
    answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", b"")


def watcher(cookies: bytes) -> bool:
    """Whether these cookies are of somebody who may watch; reads the database, in a thread."""
    from django.conf import settings  # noqa: PLC0415 - only once Django is set up
    from django.contrib.auth import SESSION_KEY, get_user  # noqa: PLC0415
    from django.contrib.sessions.backends.db import SessionStore  # noqa: PLC0415
    from django.db import close_old_connections  # noqa: PLC0415
    from django.http import HttpRequest  # noqa: PLC0415

    key = _cookie(cookies, settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    close_old_connections()
    try:
        request: Any = HttpRequest()
        request.session = SessionStore(key)
        return SESSION_KEY in request.session and may_watch(get_user(request))
    finally:
        close_old_connections()


def _cookie(cookies: bytes, name: str) -> str:
    try:
        found = SimpleCookie(cookies.decode("latin-1")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _names_of(number: int) -> Names | None:
    mind = mind_by_number(number)
    agent = mind.thinker.agent if mind is not None else None
    return names_of(agent) if agent is not None else None


def _missing(number: int) -> bool:
    """Whether no agent has that number, which is known before the agents are awake as well."""
    if mind_by_number(number) is None:
        try:
            agent_with(number)
        except NoSuchAgent:
            return True
    return False


def _window_of(name: str) -> list[Memory]:
    """What those remember who bear that name, or bore it then."""
    found: list[Memory] = []
    for mind in open_minds():
        agent = mind.thinker.agent
        if agent is not None and (names := names_of(agent)).has(name):
            with suppress(KeepsakeError):  # it cannot be opened now
                window = mind.memory.context().window
                found += (m for m in window if names.bore(name, partial(getattr, m, "time")))
    return found


def _paused(mind: Mind) -> bool:
    agent = mind.thinker.agent
    return agent is not None and bool(agent.db.paused)


def _memories(mind: Mind) -> int:
    try:
        return mind.memory.memory.status().total
    except KeepsakeError:  # it cannot be opened now; its state says so
        return 0
