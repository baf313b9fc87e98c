"""What all agents share: the models, the configuration, the disk, the log.

Made once by :func:`start` when Evennia's Server starts, ended by :func:`stop`. Tests
install their own.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent import logged_events
from keepsake.agent.agent_log import log, open_log, report
from keepsake.agent.logged_events import FaultHandler
from keepsake.agent.offstage.days import Scene
from keepsake.agent.spans import ThoughtSpans, spans_of
from keepsake.agent.thinking_config import ThinkingConfig
from keepsake.agent.waiting import in_thread
from keepsake.agent.warming import Warming
from keepsake.archive.log import Syncer
from keepsake.archive.spill import Spill
from keepsake.books.config import JournalConfig, PeopleConfig
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.log import EventLog
from keepsake.events.subscribers import Tapped, Taps
from keepsake.events.types import Events, Health, Nowhere, World
from keepsake.index.service import IndexService
from keepsake.markdown_config import ConfigFile, FileSettings
from keepsake.memory.config import CompactionConfig
from keepsake.memory.strategy import NARRATIVE, Strategies, Strategy
from keepsake.models.clients.cached import CachedEmbedder, ClosableEmbedder
from keepsake.models.embedding import EmbedderProfile, load_embedder
from keepsake.models.embedding import embedder as make_embedder
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import EXTRACTIVE, ModelProfile, Profiles
from keepsake.models.queue import Priority
from keepsake.paths import REPOSITORY, Places
from keepsake.ports import (
    Clock,
    Embedder,
    Generation,
    GenerationRequest,
    SystemClock,
    TargetModel,
)
from keepsake.prompt.tokens import Heuristic
from keepsake.recall.config import RecallConfig
from keepsake.sleep.config import SleepConfig
from keepsake.tasks.task import Ask, Question
from keepsake.tasks.task_prompts import TaskPrompts

STRATEGIES = "compaction"
"""The folder of templates beside the configuration."""
WORKERS = 4
"""Threads for compactions and checks."""
A_MOMENT = 0.001
"""Seconds of work that threads have handed over before the reactor looks who has typed."""
REST = 0.25
"""Seconds in which a file of settings is not looked at again: soon enough for who saves it."""


class Turns:
    """Runs what is handed to it on the reactor thread, where it is made, for a moment at a time.

    Twisted's own ``callFromThread`` runs all that wait in one go: when many thoughts end
    at once, whoever types a line would wait for all of them. Here players come in between.

    Args:
        reactor: Twisted's.
        moment: Seconds; what is begun within them is done in the same turn.
    """

    def __init__(self, reactor: Any, moment: float = A_MOMENT) -> None:
        self._reactor, self._moment, self._owner = reactor, moment, threading.get_ident()
        self._waiting: deque[Callable[[], None]] = deque()

    def post(self, function: Callable[[], None]) -> None:
        """Run ``function`` soon, after all that its thread posted before; from any thread."""
        if threading.get_ident() == self._owner:  # which need not be woken
            self._take(function)
        else:
            self._reactor.callFromThread(self._take, function)

    def _take(self, function: Callable[[], None]) -> None:
        self._waiting.append(function)
        if len(self._waiting) == 1:
            self._reactor.callLater(0, self._run)

    def _run(self) -> None:
        end = time.perf_counter() + self._moment
        try:
            while True:
                self._waiting[0]()
                if len(self._waiting) == 1 or time.perf_counter() >= end:
                    break
                self._waiting.popleft()
        finally:
            self._waiting.popleft()
            if self._waiting:
                self._reactor.callLater(0, self._run)


@dataclass(frozen=True)
class Fixed[T]:
    """Settings that no file changes."""

    current: T


type Config[T] = ConfigFile[T] | Fixed[T]
"""Settings as they are now."""


def _pool(threads: int, name: str) -> Executor:
    return ThreadPoolExecutor(threads, thread_name_prefix=name)


type Changed = Callable[[Health], None]
type Wait = Callable[[threading.Event, float], bool]


@dataclass(frozen=True)
class Machinery:
    """What the services run on: the machine's time and threads, or those of a simulation."""

    timer: Any  # the reactor, or what stands in for it
    # runs a function on the reactor thread, from any thread
    post: Callable[[Callable[[], None]], None]
    clock: Clock = field(default_factory=SystemClock)  # the present time
    random: Random = field(default_factory=Random)  # where jitter comes from
    pool: Callable[[int, str], Executor] = _pool  # makes so many threads of that name
    # waits in one of them until an event is set, or so many seconds
    wait: Wait = threading.Event.wait
    # makes the way to the models; None for the real one
    gateway: Callable[[Profiles, Places, Changed], Gateway] | None = None
    # makes what embeds texts
    embedder: Callable[[EmbedderProfile], ClosableEmbedder] = make_embedder
    # makes what keeps the recall indexes
    indexes: Callable[[Places, RecallConfig, Embedder], IndexService] = (
        lambda places, config, embedder: IndexService(places, config, embedder, log)
    )

    def gateway_to(self, profiles: Profiles, places: Places, changed: Changed) -> Gateway:
        """The way to the models."""
        if self.gateway is not None:
            return self.gateway(profiles, places, changed)
        return Gateway(profiles, places, self.post, changed=changed)


@dataclass
class Services:
    """What all agents share.

    The settings are read again when their file changes.
    """

    places: Places
    gateway: Gateway
    compaction: Config[CompactionConfig]
    thinking: Config[ThinkingConfig]
    syncer: Syncer
    workers: Executor  # threads for compactions and checks; never for model calls
    # runs a function on the reactor thread, from any thread
    post: Callable[[Callable[[], None]], None]
    timer: Any  # the reactor, or in tests a clock that is moved by hand
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=Random)
    recall: Config[RecallConfig] = field(default_factory=lambda: Fixed(RecallConfig()))
    sleeping: Config[SleepConfig] = field(default_factory=lambda: Fixed(SleepConfig()))
    journal: Config[JournalConfig] = field(default_factory=lambda: Fixed(JournalConfig()))
    people: Config[PeopleConfig] = field(default_factory=lambda: Fixed(PeopleConfig()))
    # threads in which agents sleep, so that a long night keeps nobody from compacting
    nights: Executor = field(default_factory=lambda: _pool(2, "night"))
    # keeps the agents' recall indexes; None for a world without recall
    indexes: IndexService | None = None
    # turns a question into a vector; None for recall by words alone
    embedder: ClosableEmbedder | None = None
    # threads for recall and for what agents do with their own memory
    searchers: Executor = field(default_factory=lambda: _pool(4, "recall"))
    # threads that open memories after a start, and read back what is in them: neither may wait for
    # what others search, nor a search for them
    openers: Executor = field(default_factory=lambda: _pool(2, "opening"))
    # a thread that works what was lived through into profiles: a world of long lives takes it
    # minutes the first time, and nobody's recall may wait for that
    learners: Executor = field(default_factory=lambda: _pool(1, "profiles"))
    # when the names of people and places were last read, and the names
    names: tuple[float | None, frozenset[str]] = (None, frozenset())
    # what texts cost in a prompt
    tokens: Heuristic = field(default_factory=Heuristic)
    warming: Warming | None = None  # has prompts read before anybody speaks; None where nobody does
    # seconds in which templates, of prompts and of summaries, are not looked at again
    rest: float = 0.0
    # takes what happens, for the event log; from any thread
    events: Events = field(default_factory=Nowhere)
    # who is told of events, of written lines and of memories while they happen
    taps: Taps = field(default_factory=Taps)
    # waits in a worker thread until an event is set, or so many seconds; whether it is
    wait: Wait = threading.Event.wait
    spans: ThoughtSpans | None = None  # tells an OpenTelemetry collector of thoughts
    scenes: Sequence[Scene] = ()  # small scenes that agents play by rule where they meet
    # what waits until all agents are open; None while none is being opened
    _after_opening: list[Callable[[], None]] | None = None
    # the most tokens of a prompt of the agents' chat model; 0 while they have none
    chat_tokens: int = 0
    _strategy: Strategy = NARRATIVE
    _strategy_problem: str = ""

    def seconds(self) -> float:
        """The time by a clock that is never set back; from any thread."""
        return float(self.timer.seconds())

    def opening(self) -> None:
        """The agents that come with the world are being opened from now on."""
        self._after_opening = []

    def all_open(self) -> None:
        """They are all open: what waited for that begins."""
        waiting, self._after_opening = self._after_opening or [], None
        for work in waiting:
            self.post(work)

    def once_open(self, work: Callable[[], None]) -> None:
        """Run ``work`` when no agent waits to be opened any more: it takes long, and can wait."""
        if self._after_opening is None:
            work()
        else:
            self._after_opening.append(work)

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
        if self.gateway.profiles.get(profile).provider == EXTRACTIVE:
            return None

        def ask(build: Callable[[TargetModel], Question]) -> Generation:
            def request(current: ModelProfile) -> GenerationRequest:
                return current.request_for(build(current))

            return self.gateway.generate(profile, request, priority, given_up=given_up)

        return ask

    def in_thread[T](self, work: Callable[[], T], seconds: float) -> Deferred[T]:
        """Run ``work``, which blocks, in a worker thread; see :func:`waiting.in_thread`."""
        return in_thread(work, self.searchers, self.post, self.timer, seconds)

    @property
    def event_log(self) -> EventLog | None:
        """The event log itself, behind whoever else is told; None where there is none."""
        log = self.events.log if isinstance(self.events, Tapped) else self.events
        return log if isinstance(log, EventLog) else None

    @cached_property
    def spill(self) -> Spill:
        """What waits for archives that cannot be written; for the reactor thread."""
        spill = Spill(self.places.spill)
        self.syncer.add(spill)
        return spill

    @cached_property
    def _strategies(self) -> Strategies:
        spare = REPOSITORY / "vault" / "config" / STRATEGIES
        return Strategies(self.places.config / STRATEGIES, spare, report, rest=self.rest)

    @cached_property
    def prompts(self) -> TaskPrompts:
        """The templates of all tasks."""
        config, spare = self.places.config, REPOSITORY / "vault" / "config"
        return TaskPrompts(config, spare, report, rest=self.rest)

    @property
    def ladder(self) -> CompactionConfig:
        """The settings of compaction, for the model that the agents think with; any thread."""
        return self.compaction.current.for_model(self.chat_tokens)

    @property
    def recalling(self) -> RecallConfig:
        """The settings of recall, for the model that the agents think with; any thread."""
        return self.recall.current.for_prompt(self.chat_tokens)

    def strategy(self) -> Strategy:
        """How summaries are written now: what ``memory_compaction.md`` names.

        Where there is no such template, or it has never been usable, the one before it goes
        on, and the log says so once. Any thread may ask.
        """
        problem = ""
        try:
            self._strategy = self._strategies.get(self.compaction.current.strategy)
        except ConfigError as error:
            problem = f"Until it is mended, summaries go on as {self._strategy.name!r}: {error}"
        if problem and problem != self._strategy_problem:
            log(f"[Config] {problem}")
        self._strategy_problem = problem
        return self._strategy


_current: Services | None = None


def services() -> Services:
    """The services of this process.

    Raises:
        KeepsakeError: The world has not been started.
    """
    if _current is None:
        raise KeepsakeError("the agents' services are not running", "Start with `keepsake start`")
    return _current


def running() -> bool:
    """Whether there are services; there are none in Evennia's own maintenance commands."""
    return _current is not None


def install(new: Services | None) -> None:
    """Put these services in place; None for none."""
    global _current  # noqa: PLW0603 - one set of services a process, like the reactor
    _current = new


def start(places: Places, timer: Any, taps: Taps | None = None) -> Services:
    """Make the services from the files in the vault and install them.

    What is wrong in a configuration file is logged, and its defaults serve until it is
    mended; a model server that does not answer is no error here.
    """
    machinery = Machinery(timer, Turns(timer).post)
    new = start_on(machinery, places, taps)
    if not new.spill.reserve():
        log(f"[Memory] No room could be made in {places.spill} for what a full disk would refuse")
    return new


def start_on(machinery: Machinery, places: Places, taps: Taps | None = None) -> Services:
    """The same, on that machinery."""
    taps, pool = taps or Taps(), machinery.pool
    events = Tapped(logged_events.opened(places, machinery.clock, taps), taps)
    open_log(places.logs / "agents.log", FaultHandler(events))
    events.emit(World(op="starts"))
    config = places.config
    recall = _followed(config / "recall.md", RecallConfig)
    embedder = _embedder(config / "llm.md", machinery.embedder)
    new = Services(
        places=places,
        gateway=machinery.gateway_to(
            Profiles(config / "llm.md", report, rest=REST),
            places,
            events.emit,
        ),
        compaction=_followed(config / "memory_compaction.md", CompactionConfig),
        thinking=_followed(config / "thinking.md", ThinkingConfig),
        recall=recall,
        sleeping=_followed(config / "sleep.md", SleepConfig),
        journal=_followed(config / "journal.md", JournalConfig),
        people=_followed(config / "people.md", PeopleConfig),
        indexes=machinery.indexes(places, recall.current, embedder),
        embedder=embedder,
        syncer=Syncer(failed=report),
        workers=pool(WORKERS, "memory"),
        nights=pool(2, "night"),
        searchers=pool(4, "recall"),
        openers=pool(2, "opening"),
        learners=pool(1, "profiles"),
        post=machinery.post,
        timer=machinery.timer,
        clock=machinery.clock,
        random=machinery.random,
        wait=machinery.wait,
        rest=REST,
        events=events,
        taps=taps,
    )
    try:
        secrets = partial(logged_events.known_secrets, places)
        new.spans = spans_of(taps, machinery.clock, new.gateway, secrets)
    except KeepsakeError as error:
        log(f"[Config] {error}")  # the commands that start a world refuse; nobody else may
    install(new)
    new.gateway.start()
    if new.indexes is not None:
        new.indexes.start()
    return new


def stop(*, reload: bool) -> None:
    """End the services; after a reload the embedded model server lives on."""
    if _current is None:
        return
    ending = _current
    install(None)
    ending.gateway.shutdown(stop_embedded=not reload)
    pools = (ending.workers, ending.searchers, ending.openers, ending.learners)
    for pool in (*pools, ending.nights):
        pool.shutdown(wait=False, cancel_futures=True)
    if ending.indexes is not None:
        hung = ending.embedder.close if ending.embedder is not None else None
        ending.indexes.close(stop_server=not reload, break_off=hung)
    if ending.embedder is not None:
        ending.embedder.close()
    ending.syncer.stop()
    if ending.spans is not None:
        ending.spans.close()
    ending.events.emit(World(op="reloads" if reload else "stops"))
    ending.events.close()


def _followed[S: FileSettings](path: Path, settings: type[S]) -> ConfigFile[S]:
    """A configuration file, looked at now and then."""
    return ConfigFile(path, settings.load, settings(), report, rest=REST)


def _embedder(path: Path, make: Callable[[EmbedderProfile], ClosableEmbedder]) -> CachedEmbedder:
    """What ``llm.md`` names; the shipped one if that cannot be used."""
    try:
        return CachedEmbedder(make(load_embedder(path)))
    except ConfigError as problem:
        report(problem)
        return CachedEmbedder(make(EmbedderProfile()))
