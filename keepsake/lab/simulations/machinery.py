"""What agents run on in a simulation: a timeline, and chance that follows a seed."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from random import Random

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Changed, Runtime, start
from keepsake.events.log import Subscribers
from keepsake.lab.simulations.timeline import Timeline
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import EXTRACTIVE, SCRIPTED, Profiles
from keepsake.paths import Places
from keepsake.ports import Generation
from keepsake.recall.service import IndexService


def start_on(timeline: Timeline, seed: str, places: Places, subscribers: Subscribers) -> Runtime:
    """Start what the agents of a simulation run on."""
    return start(
        places,
        timeline.timer,
        timeline.post,
        subscribers,
        clock=timeline,
        random=Random(seed),
        workers=timeline.workers(),
        compactions=timeline.workers(),
        nights=timeline.workers(),
        gateway=lambda *what: TimelineGateway(timeline, *what),
        indexes=lambda places, chroma, embedder: TimelineIndexes(places, chroma, embedder, log),
    )


class TimelineGateway(Gateway):
    """The way to the models, on a timeline: who asks from a worker thread lets the others on."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: Changed
    ) -> None:
        super().__init__(
            profiles,
            places,
            timeline.post,
            os.environ,
            changed=changed,
            executor=timeline.models(),
            clock=timeline.timer.seconds,
        )
        self._timeline = timeline

    def start(self) -> None:
        """Start what has to run; where no server is asked, nobody looks after one."""
        if {profile.provider for profile in self.profiles.current.values()} <= {
            SCRIPTED,
            EXTRACTIVE,
        }:
            self._owner = threading.get_ident()
        else:
            super().start()
            # Here, and not when the watcher comes to it: prompts depend on what a server takes.
            self.look()

    def _result(self, future: Future[Generation], given_up: threading.Event | None) -> Generation:
        """As :meth:`Gateway._result`; meanwhile others have their turn.

        The asking thread yields once the question is posted, and not before: else the order of
        questions would depend on how the machine runs its threads.
        """
        with self._timeline.asking() as asker:
            future.add_done_callback(lambda _: asker.answered())
            return super()._result(future, given_up)


class TimelineIndexes(IndexService):
    """The recall indexes on a timeline: words are indexed by who searches, in its turn."""

    def start(self) -> None:
        """Nothing runs beside the timeline, but for a server of vectors where one is wanted."""
        if self.server is not None:
            super().start()
