"""Knows how each model server is: asks them all now and then, and keeps the embedded one up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from keepsake.errors import ConfigError, ModelError, ModelTimeout, ModelUnavailable
from keepsake.events.types import Health
from keepsake.models.pool import LONGEST_REST, PooledServer, ServerPool
from keepsake.models.profiles import EMBEDDED, embedded_profile
from keepsake.models.queue import Post
from keepsake.models.servers import GuardedModel
from keepsake.models.status import READY

log = logging.getLogger("keepsake.llm")

WATCH_SECONDS = 1.0
PROBE_SECONDS, UNWELL_SECONDS = 15.0, 5.0
"""How often servers are looked at, and while one of them is not well."""


class ServerWatch:
    """Looks after the servers of a pool, in a thread of its own.

    Args:
        pool: The servers.
        post: Runs a function in the owner's thread.
        changed: Called when the health of a server has changed, in a thread of the watcher's.
        on_ready: Called in the owner's thread when a server answers again.
    """

    def __init__(
        self,
        pool: ServerPool,
        post: Post,
        changed: Callable[[Health], None],
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._pool, self._post, self._changed = pool, post, changed
        self._on_ready = on_ready
        self._stopping = threading.Event()

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._run, name="model-watch", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()

    def look(self) -> None:
        """Ask every server now, beside each other: one that is gone may take seconds."""
        others = [each for each in self._pool.servers.values() if each.key[0] != EMBEDDED]
        threads = [
            threading.Thread(target=self._probe, args=(each,), name="model-probe", daemon=True)
            for each in others
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._post(self._pool.fit)

    def look_at_embedded(self) -> None:
        """See to the embedded model.

        Raises:
            ConfigError: The profiles name two files for it.
        """
        profiles, embedded = self._pool.profiles, self._pool.embedded
        wanted = embedded_profile(profiles.path, profiles)
        if wanted is not None:
            embedded.use(wanted.model_file, wanted.context_tokens)
        was_ready = embedded.ready()
        ready = embedded.watch(wanted=wanted is not None)
        problem = embedded.refused or (None if ready else embedded.problem)
        for key, server in self._pool.servers.items():
            if key[0] == EMBEDDED:
                if ready and not was_ready:
                    for each in self._pool.asked_at(key):
                        each.breaker.close()
                self._is(server, str(problem) if problem else READY)

    def _run(self) -> None:
        last = float("-inf")
        while not self._stopping.is_set():
            try:
                with suppress(ConfigError):  # the profiles' own callback tells of it
                    self.look_at_embedded()
                servers = self._pool.servers.values()
                well = all(each.health == READY and not each.missed for each in servers)
                pause = PROBE_SECONDS if well else min(UNWELL_SECONDS, PROBE_SECONDS)
                if self._pool.news.is_set() or time.monotonic() - last >= pause:
                    self._pool.news.clear()
                    last = time.monotonic()
                    self.look()
            except Exception:  # whatever a server or the system does, it is looked at again
                log.exception("[Model] A look at the model servers failed")
            self._stopping.wait(WATCH_SECONDS)

    def _probe(self, server: PooledServer) -> None:
        """See what is wrong with a server: what the first of its models has to complain of."""
        asking = self._pool.asked_at(server.key)
        if not asking or self._stopping.is_set():
            return
        complaints = [complaint for each in asking if (complaint := self._asked(each, server))]
        health = complaints[0] if complaints else READY
        if complaints and health != server.health:
            log.warning("[Model] %s", health)
        self._is(server, health)

    def _asked(self, model: GuardedModel, server: PooledServer) -> str:
        """What one model complains of; empty if it is well, and first it gets calls again."""
        try:
            model.client.check()
        except ModelError as error:
            silent, model.answers = not model.answers, False
            # Those whose calls are in flight there would learn of it when their time is up.
            if isinstance(error, ModelUnavailable) or (silent and isinstance(error, ModelTimeout)):
                self._post(partial(self._pool.queue.gone, server.lane, error))
            elif server.lane.running:
                self._pool.news.set()  # whether it hangs or was busy shows at the next look
            return str(error)
        except Exception as error:
            log.exception("[Model] A look at %s failed", server.key[1])
            return f"It could not be looked at ({error!r})"
        model.answers = True
        model.breaker.close()
        return ""

    def _is(self, server: PooledServer, health: str) -> None:
        changed, server.health = health != server.health, health
        ready, (provider, host) = health == READY, server.key
        if changed:
            self._post(self._pool.queue.look)
            problem = "" if ready else health
            self._changed(Health(provider=provider, host=host, ready=ready, problem=problem))
        if ready and (changed or server.missed):
            self._is_ready(server, changed=changed)

    def _is_ready(self, server: PooledServer, *, changed: bool) -> None:
        """Say that it answers again: less and less often, if calls go on to fail there."""
        now = time.monotonic()
        if not changed:
            if now - server.said < server.rest:
                return
            server.said, server.rest = now, min(2 * server.rest, LONGEST_REST)
        server.missed = False
        self._post(self._on_ready)
