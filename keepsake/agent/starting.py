"""Creates the runtime that all agents share, from the files of the vault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keepsake.agent.agent_log import known_secrets, report
from keepsake.agent.runtime import Changed, Runtime, install
from keepsake.errors import ConfigError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.log_file import FaultHandler, open_log
from keepsake.events.types import World
from keepsake.events.values import WorldOp
from keepsake.logs import Subsystem, get_logger
from keepsake.models.detection import Detection
from keepsake.models.embedders import CachedEmbedder, load_embedder, unfit
from keepsake.models.gateway import Gateway
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.models.profiles import Profiles
from keepsake.paths import Places
from keepsake.ports import (
    Clock,
    Embedder,
    Scheduler,
    SystemClock,
)
from keepsake.recall.service import IndexService

log = get_logger(Subsystem.WAITING)

REST = 0.25
"""Seconds for which a settings file is not checked again; each check costs the reactor time."""


def start_runtime(
    places: Places,
    scheduler: Scheduler,
    subscribers: Subscribers | None = None,
    *,
    clock: Clock | None = None,
    gateway: Callable[[Profiles, Places, Changed], Gateway] | None = None,
    **given: Any,
) -> Runtime:
    """Make a runtime from the files in the vault, and install it.

    An error in a configuration file is logged, and the defaults apply until it is fixed. A model
    server that does not answer is no error here.

    Args:
        scheduler: Runs the agents' calls; on Twisted's reactor, or in simulated time.
        subscribers: Listeners to events and log lines.
        clock: The clock; the machine's if None.
        gateway: Makes the gateway to the models; None for the real one.
        given: Further fields of the runtime: ``random`` and the three pools.
    """
    subscribers = subscribers or Subscribers()
    clock = clock or SystemClock()
    config = places.config
    secrets = known_secrets(places)
    events = EventLog(places.events, clock=clock, secrets=secrets, subscribers=subscribers)
    open_log(places.agents_log, secrets, FaultHandler(events))
    events.emit(World(op=WorldOp.STARTS))
    profiles = Profiles(config / "llm.md", report, rest=REST)
    profiles.use(Detection(places.models, config / "models.md").find())
    embedder = _embedder(profiles, places.language)
    if gateway is None:
        asked = Gateway(profiles, places, scheduler.soon, changed=events.emit)
    else:
        asked = gateway(profiles, places, events.emit)
    new = Runtime(
        places,
        asked,
        scheduler,
        clock=clock,
        events=events,
        subscribers=subscribers,
        embedder=embedder,
        rest=REST,
        **given,
    )
    new.indexes = IndexService(places, new.recall.current.chroma, embedder)
    install(new)
    new.at_first_agent += [new.gateway.start, new.indexes.start]
    if not new.spill.reserve():
        told = f"Cannot reserve {places.spill}: free disk space, or memories may be lost"
        log.error(told, exc_info=new.spill.problem)
    return new


def _embedder(profiles: Profiles, language: str) -> CachedEmbedder:
    """Return the embedder that ``llm.md`` names; the shipped one if it cannot be used.

    ``language``: The world's.
    """
    embedder: Embedder = MiniLMEmbedder()
    try:
        embedder = load_embedder(profiles.path, profiles.found, language)
    except ConfigError as problem:
        report(problem)
    misfit = unfit(embedder, language)
    if misfit is not None:
        log.warning(str(misfit), subsystem=Subsystem.EMBEDDING)
    return CachedEmbedder(embedder)
