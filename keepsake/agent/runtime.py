"""What all agents run on: the models, the configuration, the disk, the log, threads and time.

Opened by :func:`start` when Evennia's Server starts, ended by :func:`stop`. Tests install their
own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from random import Random
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred

from keepsake.agent.agent_log import FaultHandler, known_secrets, log, open_log, report
from keepsake.agent.settings import SHARE, RecallConfig, SleepConfig, ThinkingConfig
from keepsake.agent.slices import Slices
from keepsake.archive.log import Syncer
from keepsake.archive.spill import Spill
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Events, Health, World
from keepsake.markdown_config import ConfigFile, FileSettings
from keepsake.memory.config import SUMMARY_SHARE, CompactionConfig
from keepsake.models.detection import Detection
from keepsake.models.embedders import CachedEmbedder, MiniLMEmbedder, load_embedder
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import CHAT, DIALOGUE, NO_MODEL, ModelProfile, Profiles
from keepsake.models.queue import Priority
from keepsake.paths import SHIPPED_CONFIG, Places
from keepsake.ports import Clock, Embedder, Generation, GenerationRequest, SystemClock, TargetModel
from keepsake.prompt.tokens import Heuristic
from keepsake.recall.service import IndexService
from keepsake.tasks.talk import LAST_LINES
from keepsake.tasks.task import Ask
from keepsake.tasks.task_prompts import task_prompts

WORKERS, COMPACTIONS, NIGHTS = 6, 4, 2
"""Threads for what somebody waits for (searches, tool calls, files), for compactions, which wait
for a model themselves, and for nights."""
PROFILE = "agent"
"""The profile that agents think with."""
COMPACTING_AT_ONCE = COMPACTIONS - 1
"""Compactions that housekeeping begins; the last thread is for one that somebody waits for."""
REST = 0.25
"""Seconds in which a file of settings is not looked at again, as each look costs the reactor."""

type Post = Callable[[Callable[[], None]], None]
type Changed = Callable[[Health], None]


@dataclass
class Runtime:
    """What all agents run on. The settings are read again when their file changes."""

    places: Places
    gateway: Gateway
    timer: Any  # the reactor, or a clock that stands in for it
    post: Post  # runs a function on the reactor thread, from any thread
    workers: Executor = field(default_factory=partial(ThreadPoolExecutor, WORKERS, "worker"))
    compactions: Executor = field(
        default_factory=partial(ThreadPoolExecutor, COMPACTIONS, "compaction")
    )
    nights: Executor = field(default_factory=partial(ThreadPoolExecutor, NIGHTS, "night"))
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=Random)
    events: Events = field(default_factory=Events)  # takes what happens, from any thread
    # who listens to events and to lines of the log
    subscribers: Subscribers = field(default_factory=Subscribers)
    indexes: IndexService | None = None  # the recall indexes; None for a world without recall
    embedder: Embedder | None = None  # None for recall by words alone
    # the most tokens of a prompt of the agents' chat model; 0 while they have none
    chat_tokens: int = 0
    shown_lines: int = 0  # the newest memories that a dialogue shows; 0 for the whole window
    rest: float = 0.0  # seconds in which a file of settings or a template is not looked at again
    # what the first agent needs, called when its mind is made: a game without agents pays nothing
    at_first_agent: list[Callable[[], object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = self.places.config
        # The time by a clock that is never set back; from any thread.
        self.seconds: Callable[[], float] = self.timer.seconds
        self.compaction = self._followed("memory_compaction.md", CompactionConfig)
        self.thinking = self._followed("thinking.md", ThinkingConfig)
        self.recall = self._followed("recall.md", RecallConfig)
        self.sleeping = self._followed("sleep.md", SleepConfig)
        self.prompts = task_prompts(config, SHIPPED_CONFIG, report, rest=self.rest)
        self.tokens = Heuristic()
        self.syncer = Syncer(failed=report)

    def _followed[S: FileSettings](self, name: str, settings: type[S]) -> ConfigFile[S]:
        """A configuration file that is read again when it changes."""
        path = self.places.config / name
        return ConfigFile(path, settings.load, settings(), report, rest=self.rest)

    def in_thread[T](
        self, work: Callable[[], T], seconds: float, pool: Executor | None = None
    ) -> Deferred[T]:
        """Run ``work``, which blocks, in a worker thread, or in one of another pool.

        Returns:
            Its result, on the reactor thread. It fails with what ``work`` raises, and with
            Twisted's ``TimeoutError`` after that many seconds. It never fires before this
            function returns.
        """

        def tell() -> None:
            if not result.called:  # else it is too late
                maybeDeferred(future.result).chainDeferred(result)

        def give_up(_: Deferred[T]) -> None:
            future.cancel()

        future, result = (pool or self.workers).submit(work), Deferred[T](give_up)
        future.add_done_callback(lambda ended: None if ended.cancelled() else self.post(tell))
        return result.addTimeout(seconds, self.timer)

    def asker(
        self,
        profile: str,
        priority: Priority = Priority.COMPACTION,
        given_up: threading.Event | None = None,
    ) -> Ask | None:
        """How a task asks a model from a worker thread; None where the profile names none.

        Raises:
            ConfigError: There is no such profile.
        """
        if self.gateway.profiles.get(profile).provider == NO_MODEL:
            return None

        def ask(build: Callable[[TargetModel], GenerationRequest]) -> Generation:
            return self.gateway.generate(profile, build, priority, given_up=given_up)

        return ask

    def chat_profile(self) -> ModelProfile | None:
        """How the agents' model is asked; None where there is none, and rules answer.

        What its prompts may have counts for the memory too.

        Raises:
            KeepsakeError: The profile cannot be used.
        """
        if self.gateway.profiles.get(PROFILE).provider == NO_MODEL:
            self.chat_tokens, self.shown_lines = 0, LAST_LINES
            return None
        profile = self.gateway.model(PROFILE)[0].suited()
        self.chat_tokens = profile.prompt_tokens if profile.form == CHAT else 0
        self.shown_lines = LAST_LINES if profile.form == DIALOGUE else 0
        return profile

    @property
    def event_log(self) -> EventLog | None:
        """The event log; None where there is none."""
        return self.events if isinstance(self.events, EventLog) else None

    @cached_property
    def spill(self) -> Spill:
        """What waits for archives that cannot be written; for the reactor thread."""
        spill = Spill(self.places.spill)
        self.syncer.syncs.add(spill.sync)
        return spill

    @property
    def ladder(self) -> CompactionConfig:
        """The settings of compaction, for the model that the agents think with; any thread.

        Where ``context_tokens`` is not written, it is what a prompt of a chat model may have.
        """
        config, tokens = self.compaction.current, self.chat_tokens
        if config.context_tokens or not tokens:
            return config
        return replace(
            config,
            context_tokens=tokens + config.reserve_tokens,
            longterm_tokens=max(config.longterm_tokens, tokens // SUMMARY_SHARE),
        )

    @property
    def recalling(self) -> RecallConfig:
        """The settings of recall, for the model that the agents think with; any thread."""
        config, budget = self.recall.current, self.chat_tokens // SHARE
        if not config.budget or budget <= config.budget:
            return config
        # Twice as many, as those beyond the best come without what is beside them.
        more = 2 * config.memories * budget // config.budget
        return replace(config, budget=budget, memories=more)

    def close(self, *, reload: bool) -> None:
        """End all of it; after a reload the embedded model server lives on."""
        self.gateway.shutdown(stop_embedded=not reload)
        for pool in (self.workers, self.compactions, self.nights):
            pool.shutdown(wait=False, cancel_futures=True)
        if self.indexes is not None:
            self.indexes.close(stop_server=not reload)
        self.syncer.stop()
        self.events.emit(World(op="reloads" if reload else "stops"))
        self.events.close()


class Alarm:
    """One call that is due later, or none; ``clock`` is Twisted's reactor, or stands in for it."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._call: Any = None

    def set(self, seconds: float, call: Callable[..., object], *args: object) -> None:
        """Call the function after this many seconds. It replaces the call that was due before."""
        self.cancel()
        self._call = self._clock.callLater(seconds, call, *args)

    def cancel(self) -> None:
        """Call nothing any more."""
        if self._call is not None and self._call.active():
            self._call.cancel()
        self._call = None


_current: Runtime | None = None


def runtime() -> Runtime:
    """What the agents of this process run on.

    Raises:
        KeepsakeError: The world has not been started.
    """
    if _current is None:
        raise KeepsakeError("The agents are not running", "`keepsake doctor` looks for the cause")
    return _current


def running() -> bool:
    """Whether agents can run; they cannot in Evennia's own maintenance commands."""
    return _current is not None


def now() -> datetime:
    """The present time by the clock of the event log, in UTC; the machine's while none runs."""
    return (_current.clock.now() if _current is not None else datetime.now(UTC)).astimezone(UTC)


def install(new: Runtime | None) -> None:
    """Let the agents of this process run on that; None for nothing."""
    global _current  # noqa: PLW0603 - one a process, like the reactor
    _current = new


def start(
    places: Places,
    timer: Any,
    post: Post | None = None,
    subscribers: Subscribers | None = None,
    *,
    clock: Clock | None = None,
    gateway: Callable[[Profiles, Places, Changed], Gateway] | None = None,
    **given: Any,
) -> Runtime:
    """Make a runtime from the files in the vault, and install it.

    What is wrong in a configuration file is logged, and its defaults serve until it is
    mended; a model server that does not answer is no error here.

    Args:
        places: Where the files are.
        timer: Twisted's reactor, or a simulated clock.
        post: Runs a function on the reactor thread; in :class:`Slices` when None.
        subscribers: Who listens to what happens.
        clock: The present time; the machine's when None.
        gateway: Makes the way to the models; None for the real one.
        given: Further fields of the runtime: ``random``, ``wait`` and the three pools.
    """
    subscribers, clock, config = subscribers or Subscribers(), clock or SystemClock(), places.config
    post = post or Slices(timer)
    events = EventLog(
        places.events,
        clock=clock,
        secrets=known_secrets(places),
        told=lambda line: log(f"[Error] {line}"),
        subscribers=subscribers,
    )
    open_log(places.logs / "agents.log", FaultHandler(events))
    events.emit(World(op="starts"))
    profiles = Profiles(config / "llm.md", report, rest=REST)
    profiles.use(Detection(places.models, config / "models.md").find())
    embedder = _embedder(profiles)
    if gateway is None:
        asked = Gateway(profiles, places, post, changed=events.emit)
    else:
        asked = gateway(profiles, places, events.emit)
    new = Runtime(
        places,
        asked,
        timer,
        post,
        clock=clock,
        events=events,
        subscribers=subscribers,
        embedder=embedder,
        rest=REST,
        **given,
    )
    new.indexes = IndexService(places, new.recall.current.chroma, embedder, log=log)
    install(new)
    new.at_first_agent += [new.gateway.start, new.indexes.start]
    if not new.spill.reserve():
        log(f"[Memory] No room could be made in {places.spill} for what a full disk would refuse")
    return new


def stop(*, reload: bool) -> None:
    """End the runtime of this process, if there is one."""
    if (ending := _current) is not None:
        install(None)
        ending.close(reload=reload)


def _embedder(profiles: Profiles) -> CachedEmbedder:
    """What ``llm.md`` names; the shipped one if that cannot be used."""
    try:
        return CachedEmbedder(load_embedder(profiles.path, profiles.found))
    except ConfigError as problem:
        report(problem)
        return CachedEmbedder(MiniLMEmbedder())
