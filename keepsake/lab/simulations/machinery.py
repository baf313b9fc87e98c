"""What agents run on in a simulation: a timeline, and chance that follows a seed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from random import Random

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Changed, Runtime, start
from keepsake.events.log import Taps
from keepsake.lab.simulations.timeline import Asker, Timeline
from keepsake.models.gateway import BuildFor, Gateway
from keepsake.models.profiles import EXTRACTIVE, SCRIPTED, Profiles
from keepsake.models.queue import Priority
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from keepsake.recall.service import IndexService


def start_on(timeline: Timeline, seed: str, places: Places, taps: Taps) -> Runtime:
    """Start what the agents of a simulation run on."""
    return start(
        places,
        timeline.timer,
        timeline.post,
        taps,
        clock=timeline,
        random=Random(seed),
        workers=timeline.workers(),
        compactions=timeline.workers(),
        nights=timeline.workers(),
        wait=timeline.wait,
        gateway=lambda *what: TimelineGateway(timeline, *what),
        indexes=lambda places, config, embedder: TimelineIndexes(places, config, embedder, log),
    )


class TimelineGateway(Gateway):
    """The way to the models, on a timeline: who asks from a worker thread lets the others on."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: Changed
    ) -> None:
        super().__init__(
            profiles,
            places,
            self._posted,
            os.environ,
            changed=changed,
            executor=timeline.models(),
            clock=timeline.timer.seconds,
        )
        self._timeline = timeline
        self._threads = threading.local()

    def start(self) -> None:
        """Start what has to run; where no server is asked, nobody looks after one."""
        if {profile.provider for profile in self.profiles} <= {SCRIPTED, EXTRACTIVE}:
            self._owner = threading.get_ident()
        else:
            super().start()
            # Here, and not when the watcher comes to it: prompts depend on what a server takes.
            self.look_at_embedded()
            self.look()

    def generate(
        self,
        profile_name: str,
        request: GenerationRequest | BuildFor,
        priority: Priority = Priority.COMPACTION,
        key: str | None = None,
        *,
        given_up: threading.Event | None = None,
    ) -> Generation:
        """As :meth:`Gateway.generate`; meanwhile others have their turn."""
        with ExitStack() as stack:
            self._threads.stack = stack
            return super().generate(profile_name, request, priority, key, given_up=given_up)

    def _posted(self, function: Callable[[], None]) -> None:
        """Post it; the asking thread yields once the question is posted, and not before.

        Otherwise the order of questions would depend on how the machine runs its threads.
        """
        self._timeline.post(function)
        stack, self._threads.stack = getattr(self._threads, "stack", None), None
        if stack is not None:
            asker: Asker = stack.enter_context(self._timeline.asking())
            self._threads.future.add_done_callback(lambda _: asker.answered())

    def _blocked_call(self) -> Future[Generation]:
        self._threads.future = future = super()._blocked_call()
        return future


class TimelineIndexes(IndexService):
    """The recall indexes on a timeline: words are indexed by who searches, in its turn."""

    def start(self) -> None:
        """Nothing runs beside the timeline, but for a server of vectors where one is wanted."""
        if self.server is not None:
            super().start()
