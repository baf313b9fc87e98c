"""What Prometheus is told: counted from the events, and looked up when somebody asks.

``docs/metrics.md`` tells what each name means. No name of a player stands in any of them, and no
more than so many agents are told apart, so that the number of series stays what it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from threading import Lock
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from game.mind.events.types import (
    OPERATIONS,
    Compaction,
    Event,
    Fault,
    MemoryChange,
    Recall,
    Sleep,
    Thought,
)
from game.mind.memory import CompactReason, Outcome

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_AGENTS = 200
"""Agents that are told apart; all more are one, called :data:`OTHERS`."""
OTHERS = "(others)"
MOST_WAITING = 1_000
"""Events that wait to be counted; they hold their prompts."""
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_COMPACTION_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_RECALL_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)

_YES_NO = ("no", "yes")
_OUTCOMES = ("acted", "refused", "no answer", "too large", "dropped", "broke off", "looked")
_TRIGGERS = (*("addressed", "named", "given", "arrival", "departure", "heard", "other", "idle"),)
_PRIORITIES = ("player", "event", "idle")
_LEVELS = ("warning", "error", "config")
_SLEEP_OPS = ("falls asleep", "wakes", "step")
_FAILED = "failed"
_BY = ("thought", "agent", "builder")
_RESULTS = ("found", "nothing", "not searched")
"""All these are as :mod:`game.mind.events.types` names them. A series that begins at 1 has no
increase: so each begins at 0, before anything has happened. Others may come and then begin at 1."""

disable_created_metrics()  # twice as many series, for times that nobody asks for


@dataclass(frozen=True, slots=True)
class ServerNow:
    """A model server, as it is now.

    Attributes:
        provider: ``embedded``, ``ollama``, ``openai``.
        host: Its address, without a password.
        ready: Whether it answers.
        waiting: Jobs that wait, by priority.
        running: Calls in flight.
        calls: Calls so far.
        failures: Those of them without an answer.
    """

    provider: str
    host: str
    ready: bool
    waiting: Mapping[str, int]
    running: int
    calls: int
    failures: int


@dataclass(frozen=True, slots=True)
class Now:
    """What is looked up when somebody asks; made on the reactor thread.

    Attributes:
        agents: How many agents there are in each state, those included in which nobody is.
        paused: How many are paused, those that sleep included.
        names: All their names.
        memories: Memories of all of them.
        compacting: How many of them are being compacted.
        servers: The model servers.
        log_waiting: Events that the log has not written yet.
        log_lost: Events that found no room in it.
        log_written: Whether it can be written.
        streams: Browsers that watch.
        lag_worst: The worst lateness of the reactor in the last minute, in seconds.
        up: Whether the agents' services run.
    """

    agents: Mapping[str, int] = field(default_factory=dict)
    paused: int = 0
    names: Sequence[str] = ()
    memories: int = 0
    compacting: int = 0
    servers: Sequence[ServerNow] = ()
    log_waiting: int = 0
    log_lost: int = 0
    log_written: bool = True
    streams: int = 0
    lag_worst: float = 0.0
    up: bool = False


class Metrics:
    """All metrics of this process, in a registry of their own.

    An event costs whoever emits it one append; it is counted in a thread, by :meth:`count`.
    """

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque()
        self._counting = Lock()
        self.registry = CollectorRegistry(auto_describe=False)
        self._agents: set[str] = set()
        self._thinking = _Thinking(self.registry)
        self._keeping = _Keeping(self.registry)
        self._lag = Histogram(
            "keepsake_reactor_lag_seconds",
            "How late the reactor was, looked at twice a second",
            buckets=_LAG_SECONDS,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

    def took(self, event: Event) -> None:
        """Take an event, to be counted; from any thread."""
        self._waiting.append(event)
        if len(self._waiting) > MOST_WAITING:  # the log's thread has stopped, and nobody asks
            self.count()

    def count(self) -> None:
        """Count what waits; from any thread."""
        with self._counting, suppress(IndexError):
            while True:
                self._count(self._waiting.popleft())

    def _count(self, event: Event) -> None:
        if isinstance(event, Thought):
            self._thinking.thought(event, self._agent(event.agent))
        elif isinstance(event, MemoryChange):
            self._keeping.changed(event)
        elif isinstance(event, Compaction):
            self._keeping.compacted(event)
        elif isinstance(event, Recall):
            self._keeping.recalled(event)
        elif isinstance(event, Fault):
            self._keeping.faults.labels(event.level).inc()
        elif isinstance(event, Sleep):
            self._keeping.sleeps.labels(event.op, "yes" if event.problem else "no").inc()

    def late(self, seconds: float) -> None:
        """The reactor was so late."""
        self._lag.observe(seconds)

    def text(self, now: Now) -> bytes:
        """All of it in Prometheus' text format; in any thread."""
        with self._counting:
            for name in now.names:  # so that an agent's first thought is an increase, too
                self._agent(name)
        self.count()
        momentary = CollectorRegistry()
        momentary.register(_Momentary(now))
        return generate_latest(self.registry) + generate_latest(momentary)

    def _agent(self, name: str) -> str:
        known = name if name in self._agents or len(self._agents) < MOST_AGENTS else OTHERS
        if known not in self._agents:
            self._agents.add(known)
            self._thinking.begin(known)
        return known


class _Thinking:
    """Counts of thoughts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = _counters(registry)
        self._thoughts = counter("thoughts", "Thoughts, by how they ended", "agent", "outcome")
        self._triggers = counter("thought_triggers", "Thoughts, by what caused them", "trigger")
        self._prompt = counter("prompt_tokens", "Tokens of thoughts' prompts", "agent")
        self._cached = counter("cached_tokens", "Those that the model server had cached", "agent")
        self._completion = counter("completion_tokens", "Tokens of thoughts' answers", "agent")
        self._latency = Histogram(
            "keepsake_thought_latency_seconds",
            "From the prompt to the model's answer",
            ["priority"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._wait = Histogram(
            "keepsake_thought_wait_seconds",
            "In the queue, until the prompt was built",
            ["priority"],
            buckets=_SECONDS,
            registry=registry,
        )

        for trigger in _TRIGGERS:
            self._triggers.labels(trigger)
        for priority in _PRIORITIES:
            self._latency.labels(priority)
            self._wait.labels(priority)

    def begin(self, agent: str) -> None:
        """There is such an agent."""
        for outcome in _OUTCOMES:
            self._thoughts.labels(agent, outcome)
        for tokens in (self._prompt, self._cached, self._completion):
            tokens.labels(agent)

    def thought(self, event: Thought, agent: str) -> None:
        self._thoughts.labels(agent, event.outcome).inc()
        self._triggers.labels(event.trigger).inc()
        if event.prompt:
            self._wait.labels(event.priority).observe(event.wait)
        if event.model:  # somebody answered
            self._latency.labels(event.priority).observe(event.latency)
            self._prompt.labels(agent).inc(event.prompt_tokens)
            self._cached.labels(agent).inc(event.cached_tokens)
            self._completion.labels(agent).inc(event.completion_tokens)


class _Keeping:
    """Counts of what is done with memories, and of what goes wrong."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = _counters(registry)
        self._changes = counter("memory_operations", "Operations on memories", "op", "failed")
        self._compactions = counter("compactions", "Compactions", "reason", "outcome")
        self._compaction_tokens = counter("compaction_tokens", "Tokens spent on summaries", "kind")
        self._saved = counter("compaction_saved_tokens", "Tokens that compactions saved")
        self._invented = counter("compaction_invented", "Names and numbers made up in summaries")
        self._put_back = counter("compaction_put_back", "What had to survive and was put back")
        self._recalls = counter("recalls", "Searches in memories", "by", "result")
        self.faults = counter("faults", "Warnings and errors in the agents' log", "level")
        self.sleeps = counter(
            "sleep_events", "Falling asleep, waking, steps of nights", "op", "failed"
        )
        self._seconds = Histogram(
            "keepsake_compaction_seconds",
            "How long compactions took",
            buckets=_COMPACTION_SECONDS,
            registry=registry,
        )
        self._recall_seconds = Histogram(
            "keepsake_recall_seconds",
            "How long searches took",
            ["by"],
            buckets=_RECALL_SECONDS,
            registry=registry,
        )

        self._begin()

    def _begin(self) -> None:
        ended = [*Outcome, _FAILED]
        for counter, *values in (
            (self._changes, OPERATIONS, _YES_NO),
            (self._compactions, CompactReason, ended),
            (self._compaction_tokens, ("prompt", "completion")),
            (self._recalls, _BY, _RESULTS),
            (self.faults, _LEVELS),
            (self.sleeps, _SLEEP_OPS, _YES_NO),
        ):
            for labels in product(*values):
                counter.labels(*labels)
        for by in _BY:
            self._recall_seconds.labels(by)

    def changed(self, event: MemoryChange) -> None:
        self._changes.labels(event.op, "yes" if event.problem else "no").inc()

    def compacted(self, event: Compaction) -> None:
        self._compactions.labels(event.reason, event.outcome).inc()
        if event.number:
            self._seconds.observe(event.seconds)
            self._saved.inc(max(event.tokens_before - event.tokens_after, 0))
        self._compaction_tokens.labels("prompt").inc(event.prompt_tokens)
        self._compaction_tokens.labels("completion").inc(event.completion_tokens)
        self._invented.inc(event.invented)
        self._put_back.inc(event.put_back)

    def recalled(self, event: Recall) -> None:
        result = ("found" if event.found else "nothing") if event.searched else "not searched"
        self._recalls.labels(event.by, result).inc()
        self._recall_seconds.labels(event.by).observe(event.seconds)


class _Momentary(Collector):
    """What is so at one moment."""

    def __init__(self, now: Now) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        now = self._now
        yield _gauge("up", "Whether the agents' services run", now.up)
        yield _by("agents", "Agents, by what they are about", "state", now.agents)
        yield _gauge("agents_paused", "Agents that are paused, asleep or not", now.paused)
        yield _gauge("memories", "Memories of all agents", now.memories)
        yield _gauge("compacting", "Agents that are being compacted", now.compacting)
        yield from _servers(now.servers)
        yield _gauge("event_log_waiting", "Events not written yet", now.log_waiting)
        yield _gauge("event_log_writable", "Whether the event log can be written", now.log_written)
        lost = "Events that found no room while it could not be written"
        yield CounterMetricFamily("keepsake_event_log_lost", lost, value=now.log_lost)
        yield _gauge("live_streams", "Browsers that watch", now.streams)
        worst = "The worst lateness of the reactor in the last minute"
        yield _gauge("reactor_lag_worst_seconds", worst, now.lag_worst)


def _servers(servers: Sequence[ServerNow]) -> Iterator[Metric]:
    names = ["provider", "host"]
    waiting = GaugeMetricFamily(
        "keepsake_queue_length", "Jobs that wait for a model", labels=[*names, "priority"]
    )
    gauges = {
        name: GaugeMetricFamily(f"keepsake_{name}", words, labels=names)
        for name, words in (
            ("queue_running", "Calls to a model in flight"),
            ("model_server_ready", "Whether a model server answers"),
        )
    }
    calls = CounterMetricFamily(
        "keepsake_model_calls", "Calls to models", labels=[*names, "failed"]
    )
    for each in servers:
        who = [each.provider, each.host]
        for priority, count in each.waiting.items():
            waiting.add_metric([*who, priority], count)
        gauges["queue_running"].add_metric(who, each.running)
        gauges["model_server_ready"].add_metric(who, each.ready)
        calls.add_metric([*who, "no"], each.calls - each.failures)
        calls.add_metric([*who, "yes"], each.failures)
    yield from (waiting, *gauges.values(), calls)


def _counters(registry: CollectorRegistry) -> Callable[..., Any]:
    def counter(name: str, words: str, *labels: str) -> Counter:
        return Counter(f"keepsake_{name}", words, labels, registry=registry)

    return counter


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"keepsake_{name}", words, value=float(value))


def _by(name: str, words: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(f"keepsake_{name}", words, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family
