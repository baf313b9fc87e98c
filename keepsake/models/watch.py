"""Knows how each model server is: asks them all now and then, and keeps the embedded one up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from keepsake.errors import ConfigError, ModelBusy, ModelError, ModelUnavailable
from keepsake.events.types import Health
from keepsake.models.pool import ModelServer, ServerPool
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
        changed: Called when the health of a server has changed, in the watcher's thread.
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
        """Ask every server now, one after another."""
        for server in self._pool.servers.values():
            asking = self._pool.asked_at(server.key)
            if server.key[0] == EMBEDDED or not asking or self._stopping.is_set():
                continue
            complaints = [complaint for each in asking if (complaint := _complaint(each))]
            if complaints and complaints[0] != server.health:
                log.warning("[Model] %s", complaints[0])
            self._is(server, complaints[0] if complaints else READY)
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
        ready = embedded.watch(wanted=wanted is not None)
        problem = embedded.refused or (None if ready else embedded.problem)
        for key, server in self._pool.servers.items():
            if key[0] == EMBEDDED:
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

    def _is(self, server: ModelServer, health: str) -> None:
        changed, server.health = health != server.health, health
        ready, (provider, host) = health == READY, server.key
        if changed:
            problem = "" if ready else health
            self._changed(Health(provider=provider, host=host, ready=ready, problem=problem))
        if ready and server.says_ready(changed=changed):
            self._post(self._on_ready)


def _complaint(model: GuardedModel) -> str:
    """What is wrong with a model; empty if it is well."""
    model_down: ModelError | None = None
    try:
        model.client.check()
    except ModelError as error:
        gone = isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy)
        model_down = error if gone else None
        return str(error)
    except Exception as error:
        log.exception("[Model] A look at %s failed", model.profile.host)
        return f"It could not be looked at ({error!r})"
    finally:
        model.patience.down = model_down
    return ""
