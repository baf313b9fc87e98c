"""The runtime that all agents share: models, configuration, disk, log, threads and clock.

:func:`keepsake.agent.starting.start_runtime` creates it when Evennia's Server starts, and
:func:`stop` ends it. Tests install their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from random import Random

from twisted.internet.defer import Deferred, TimeoutError, maybeDeferred
from twisted.python.failure import Failure

from keepsake.agent.agent_log import report
from keepsake.agent.settings import RecallConfig, SleepConfig, ThinkingConfig
from keepsake.agent.turns.consent.trial import SecretTrial
from keepsake.archive.log import Syncer
from keepsake.archive.spill import Spill
from keepsake.errors import KeepsakeError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Events, Health, World
from keepsake.events.values import WorldOp
from keepsake.language.tokens import Heuristic
from keepsake.markdown_config import ConfigFile, FileSettings
from keepsake.memory.config import CompactionConfig
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import NO_MODEL, ModelProfile
from keepsake.models.tickets import Priority
from keepsake.paths import SHIPPED_CONFIG, Places
from keepsake.ports import (
    Clock,
    Embedder,
    Generation,
    GenerationRequest,
    Scheduler,
    SystemClock,
    TargetModel,
)
from keepsake.recall.service import IndexService
from keepsake.tasks.forms.choice import form_of
from keepsake.tasks.forms.form import BY_RULES, UNKNOWN, PromptForm, PromptLimits
from keepsake.tasks.task import Ask
from keepsake.tasks.task_prompts import task_prompts

WORKERS = 6
"""Threads for work that somebody waits for: searches, tool calls, files."""
COMPACTIONS = 4
"""Threads for compactions, which mostly wait for a model."""
NIGHTS = 2
"""Threads for nights. They mostly wait for a model too, and nobody waits for them."""
PROFILE = "agent"
"""The model profile that agents think with."""
COMPACTING_AT_ONCE = COMPACTIONS - 1
"""Compactions that housekeeping runs at once. One thread stays free for one on request."""

type Post = Callable[[Callable[[], None]], None]
type Changed = Callable[[Health], None]


@dataclass
class Runtime:
    """What all agents share. Settings are read again when their file changes."""

    places: Places
    gateway: Gateway
    scheduler: Scheduler  # all waiting on the reactor thread
    workers: Executor = field(default_factory=partial(ThreadPoolExecutor, WORKERS, "worker"))
    compactions: Executor = field(
        default_factory=partial(ThreadPoolExecutor, COMPACTIONS, "compaction")
    )
    nights: Executor = field(default_factory=partial(ThreadPoolExecutor, NIGHTS, "night"))
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=Random)
    events: Events = field(default_factory=Events)  # receives events, from any thread
    # listeners to events and log lines
    subscribers: Subscribers = field(default_factory=Subscribers)
    indexes: IndexService | None = None  # the recall indexes; None for a world without recall
    embedder: Embedder | None = None  # None for recall by words alone
    # what prompts of the agents' model can show; published by :meth:`update_limits`
    limits: PromptLimits = UNKNOWN
    rest: float = 0.0  # seconds for which a settings file or a template is not checked again
    # called when the first mind is made, so that a game without agents starts no models or indexes
    at_first_agent: list[Callable[[], object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = self.places.config
        # The two that any thread may call.
        self.seconds = self.scheduler.seconds
        self.post: Post = self.scheduler.soon
        self.compaction = self._config_file("memory_compaction.md", CompactionConfig)
        self.thinking = self._config_file("thinking.md", ThinkingConfig)
        self.recall = self._config_file("recall.md", RecallConfig)
        self.sleeping = self._config_file("sleep.md", SleepConfig)
        self.prompts = task_prompts(config, SHIPPED_CONFIG, report, rest=self.rest)
        self.tokens = Heuristic()
        self.secret_trial = SecretTrial(
            self.gateway,
            self.prompts["passing_on"],
            self.places.secret_trials,
            self.scheduler,
            self.workers,
        )
        self.syncer = Syncer(failed=report)

    def _config_file[S: FileSettings](self, name: str, settings: type[S]) -> ConfigFile[S]:
        """Return a configuration file that is read again when it changes."""
        path = self.places.config / name
        return ConfigFile(path, settings.load, settings(), report, rest=self.rest)

    def in_thread[T](
        self, work: Callable[[], T], seconds: float, pool: Executor | None = None
    ) -> Deferred[T]:
        """Run ``work``, which blocks, in a worker thread or a thread of another pool.

        Returns:
            A Deferred of the result, on the reactor thread. It fails with what ``work`` raises, or
            with Twisted's ``TimeoutError`` after ``seconds``. It never fires before this function
            returns.
        """

        def deliver() -> None:
            if not result.called:  # it may have timed out
                maybeDeferred(future.result).chainDeferred(result)

        def cancel(_: Deferred[T]) -> None:
            future.cancel()

        def expire() -> None:
            future.cancel()
            result.errback(TimeoutError(seconds))

        def ended_in_time(outcome: T | Failure) -> T | Failure:
            timeout.cancel()
            return outcome

        future = (pool or self.workers).submit(work)
        result = Deferred[T](cancel)
        future.add_done_callback(lambda ended: None if ended.cancelled() else self.post(deliver))
        timeout = self.scheduler.later(seconds, expire)
        return result.addBoth(ended_in_time)

    def asker(
        self,
        profile: str,
        priority: Priority = Priority.COMPACTION,
        cancelled: threading.Event | None = None,
    ) -> Ask | None:
        """Return how a task asks a model from a worker thread; None if the profile has no model.

        Raises:
            ConfigError: There is no such profile.
        """
        if self.gateway.profiles.get(profile).provider == NO_MODEL:
            return None

        def ask(build: Callable[[TargetModel], GenerationRequest]) -> Generation:
            return self.gateway.generate(profile, build, priority, cancelled=cancelled)

        return ask

    @property
    def agent_profile(self) -> ModelProfile | None:
        """The profile of the agents' model; None if there is no model and rules answer.

        Raises:
            KeepsakeError: The profile cannot be used.
        """
        if self.gateway.profiles.get(PROFILE).provider == NO_MODEL:
            return None
        return self.gateway.model(PROFILE)[0].resolved()

    @property
    def acts_unprompted(self) -> bool:
        """Whether the agents' model may do something when nobody turns to an agent."""
        try:
            profile = self.agent_profile
            return profile is not None and self.prompt_form(profile).acts_unprompted
        except KeepsakeError:
            return True  # the model call reports a profile that cannot be used

    def prompt_form(self, target: TargetModel) -> PromptForm:
        """Return the form in which a model is asked what an agent does next.

        Raises:
            ConfigError: A template cannot be used.
        """
        return form_of(
            target,
            self.prompts["talk"].current,
            self.prompts["act"].current,
            count=lambda texts: sum(self.tokens.each(texts)),
            memory_tokens=self.compaction.current.budget,
        )

    def update_limits(self) -> None:
        """Publish the limits of the agents' model, which the memory depends on.

        Call it when the profile or the model may have changed: before a thought, and in the
        housekeeping.

        Raises:
            KeepsakeError: The profile cannot be used.
        """
        profile = self.agent_profile
        self.limits = BY_RULES if profile is None else self.prompt_form(profile).limits

    @property
    def event_log(self) -> EventLog | None:
        """The event log; None if there is none."""
        return self.events if isinstance(self.events, EventLog) else None

    @cached_property
    def spill(self) -> Spill:
        """Memories that wait for archives that cannot be written; for the reactor thread."""
        spill = Spill(self.places.spill)
        self.syncer.syncs.add(spill.sync)
        return spill

    @property
    def compaction_config(self) -> CompactionConfig:
        """The compaction settings, fitted to the agents' model; any thread.

        If ``context_tokens`` is not set, it is the prompt limit of the chat model.
        """
        return self.compaction.current.fitted(self.limits.prompt_tokens)

    @property
    def recall_config(self) -> RecallConfig:
        """The recall settings, fitted to the agents' model; any thread.

        Agents without a memory (``memory: no`` in ``thinking.md``) recall nothing by themselves.
        """
        if not self.thinking.current.memory:
            return replace(self.recall.current, budget=0)
        return self.recall.current.fitted(self.limits.recall_tokens)

    def close(self, *, reload: bool) -> None:
        """Close everything; on a reload the embedded model server keeps running."""
        self.gateway.shutdown(stop_embedded=not reload)
        for pool in (self.workers, self.compactions, self.nights):
            pool.shutdown(wait=False, cancel_futures=True)
        if self.indexes is not None:
            self.indexes.close(stop_server=not reload)
        self.syncer.stop()
        self.events.emit(World(op=WorldOp.RELOADS if reload else WorldOp.STOPS))
        self.events.close()


_current: Runtime | None = None


def runtime() -> Runtime:
    """Return the runtime of this process.

    Raises:
        KeepsakeError: The world has not been started.
    """
    if _current is None:
        raise KeepsakeError("The agents are not running", "`keepsake doctor` looks for the cause")
    return _current


def running() -> bool:
    """Return whether agents can run. In Evennia's own maintenance commands they cannot."""
    return _current is not None


def now() -> datetime:
    """Return the time of the runtime's clock in UTC, or the machine's if no runtime runs."""
    return (_current.clock.now() if _current is not None else datetime.now(UTC)).astimezone(UTC)


def install(new: Runtime | None) -> None:
    """Set the runtime of this process; None removes it."""
    global _current  # noqa: PLW0603 - one per process, like the reactor
    _current = new


def stop(*, reload: bool) -> None:
    """End the runtime of this process, if there is one."""
    if (ending := _current) is not None:
        install(None)
        ending.close(reload=reload)
