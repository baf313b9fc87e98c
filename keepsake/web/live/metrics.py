"""Prometheus' metrics: counters from the events, gauges from the world when they are scraped.

The page itself explains each name (``# HELP``). No player's name is in any of them, and at most
:data:`MOST_AGENTS` agents have series of their own, so that the number of series is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from keepsake.events.types import (
    OPERATIONS,
    Compaction,
    Event,
    Fault,
    Guard,
    MemoryChange,
    Recall,
    Sleep,
    Thought,
)
from keepsake.memory.types import CompactReason, Outcome
from keepsake.models.status import READY, ServerStatus

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_AGENTS = 200
"""Agents with series of their own; all others share :data:`OTHERS`."""
OTHERS = "(others)"
LOOK_SECONDS, LATELY_SECONDS = 0.5, 60.0
"""Between two looks at the reactor, and how long they are remembered."""
_THOUGHT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_COMPACTION_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_RECALL_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)

_YES_NO = ("no", "yes")
_OUTCOMES = ("acted", "refused", "no answer", "too large", "dropped", "broke off")
_GUARDS = ("altered", "refused", "dropped", "replaced")
_TRIGGERS = (*("addressed", "named", "given", "arrival", "departure", "heard", "other", "idle"),)
_PRIORITIES = ("player", "event", "idle")
_LEVELS = ("warning", "error", "config")
_SLEEP_OPS = ("falls asleep", "wakes", "step")
_FAILED = "failed"
_BY = ("thought", "agent", "builder")
_RESULTS = ("found", "nothing", "not searched")
"""All these are as :mod:`keepsake.events.types` names them. A series that begins at 1 has no
increase: so each begins at 0, before anything has happened. Others may come and then begin at 1."""

type Known = tuple[Iterable[str], ...]
"""The values that each label is known to have; none where they come with the agents."""

_COUNTERS: dict[str, tuple[str, tuple[str, ...], Known]] = {
    "thoughts": ("Thoughts, by how they ended", ("agent", "outcome"), ()),
    "thought_triggers": ("Thoughts, by what caused them", ("trigger",), (_TRIGGERS,)),
    "guards": ("Answers not spoken as written", ("op",), (_GUARDS,)),
    "prompt_tokens": ("Tokens of thoughts' prompts", ("agent",), ()),
    "cached_tokens": ("Those that the model server had cached", ("agent",), ()),
    "completion_tokens": ("Tokens of thoughts' answers", ("agent",), ()),
    "memory_operations": ("Operations on memories", ("op", "failed"), (OPERATIONS, _YES_NO)),
    "compactions": ("Compactions", ("reason", "outcome"), (CompactReason, (*Outcome, _FAILED))),
    "compaction_tokens": ("Tokens spent on summaries", ("kind",), (("prompt", "completion"),)),
    "compaction_saved_tokens": ("Tokens that compactions saved", (), ()),
    "recalls": ("Searches in memories", ("by", "result"), (_BY, _RESULTS)),
    "faults": ("Warnings and errors in the agents' log", ("level",), (_LEVELS,)),
    "sleep_events": (
        "Falling asleep, waking, steps of nights",
        ("op", "failed"),
        (_SLEEP_OPS, _YES_NO),
    ),
}
_HISTOGRAMS: dict[str, tuple[str, tuple[str, ...], Known, Sequence[float]]] = {
    "thought_latency_seconds": (
        "From the prompt to the model's answer",
        ("priority",),
        (_PRIORITIES,),
        _THOUGHT_SECONDS,
    ),
    "thought_wait_seconds": (
        "In the queue, until the prompt was built",
        ("priority",),
        (_PRIORITIES,),
        _THOUGHT_SECONDS,
    ),
    "compaction_seconds": ("How long compactions took", (), (), _COMPACTION_SECONDS),
    "recall_seconds": ("How long searches took", ("by",), (_BY,), _RECALL_SECONDS),
    "reactor_lag_seconds": (
        "How late the reactor was, looked at twice a second",
        (),
        (),
        _LAG_SECONDS,
    ),
}
_GAUGES = {
    "up": "Whether the agents' services run",
    "agents_paused": "Agents that are paused, asleep or not",
    "memories": "Memories of all agents",
    "compacting": "Agents that are being compacted",
    "event_log_waiting": "Events not written yet",
    "event_log_writable": "Whether the event log can be written",
    "live_streams": "Browsers that watch",
    "reactor_lag_worst_seconds": "The worst lateness of the reactor in the last minute",
}
"""Fields of :class:`Now` by their names."""

disable_created_metrics()  # twice as many series, for times that nobody asks for


@dataclass(frozen=True, slots=True)
class Now:
    """What is looked up when somebody asks; made on the reactor thread.

    The others are as :data:`_GAUGES` says.
    """

    # how many agents there are in each state, those included in which nobody is
    agents: Mapping[str, int] = field(default_factory=dict)
    agents_paused: int = 0
    names: Sequence[str] = ()  # all their names
    memories: int = 0
    compacting: int = 0
    servers: Sequence[ServerStatus] = ()  # the model servers, their addresses without a password
    event_log_waiting: int = 0
    event_log_lost: int = 0  # events that found no room in the log
    event_log_writable: bool = True
    live_streams: int = 0
    reactor_lag_worst_seconds: float = 0.0
    up: bool = False


class Metrics:
    """All metrics of this process, in a registry of their own."""

    def __init__(self) -> None:
        self._agents: set[str] = set()
        self.registry = registry = CollectorRegistry(auto_describe=False)
        self._counters = {
            name: Counter(f"keepsake_{name}", words, labels, registry=registry)
            for name, (words, labels, _) in _COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(f"keepsake_{name}", words, labels, buckets=buckets, registry=registry)
            for name, (words, labels, _, buckets) in _HISTOGRAMS.items()
        }
        for name, (_, _, known) in _COUNTERS.items():
            self._begin(self._counters[name], known)
        for name, (_, _, known, _) in _HISTOGRAMS.items():
            self._begin(self._histograms[name], known)
        ProcessCollector(registry=registry)

    def late(self, seconds: float) -> None:
        """The reactor was this many seconds late."""
        self._observe("reactor_lag_seconds", seconds)

    def text(self, now: Now) -> bytes:
        """All of it in Prometheus' text format; in any thread."""
        for name in now.names:  # so that an agent's first thought is an increase, too
            self._agent(name)
        momentary = CollectorRegistry()
        momentary.register(_Momentary(now))
        return generate_latest(self.registry) + generate_latest(momentary)

    def took(self, event: Event) -> None:
        """Count an event; from any thread."""
        match event:
            case Thought():
                self._thought(event, self._agent(event.agent))
            case Guard():
                self._add("guards", event.op)
            case MemoryChange():
                self._add("memory_operations", event.op, _yes_or_no(event.problem))
            case Compaction():
                self._compaction(event)
            case Recall():
                found = "found" if event.found else "nothing"
                self._add("recalls", event.by, found if event.searched else "not searched")
                self._observe("recall_seconds", event.seconds, event.by)
            case Fault():
                self._add("faults", event.level)
            case Sleep():
                self._add("sleep_events", event.op, _yes_or_no(event.problem))

    def _thought(self, event: Thought, agent: str) -> None:
        self._add("thoughts", agent, event.outcome)
        self._add("thought_triggers", event.trigger)
        if event.prompt:
            self._observe("thought_wait_seconds", event.wait, event.priority)
        if event.model:  # somebody answered
            self._observe("thought_latency_seconds", event.latency, event.priority)
            self._add("prompt_tokens", agent, by=event.prompt_tokens)
            self._add("cached_tokens", agent, by=event.cached_tokens)
            self._add("completion_tokens", agent, by=event.completion_tokens)

    def _compaction(self, event: Compaction) -> None:
        self._add("compactions", event.reason, event.outcome)
        if event.number:
            self._observe("compaction_seconds", event.seconds)
            saved = max(event.tokens_before - event.tokens_after, 0)
            self._add("compaction_saved_tokens", by=saved)
        self._add("compaction_tokens", "prompt", by=event.prompt_tokens)
        self._add("compaction_tokens", "completion", by=event.completion_tokens)

    def _add(self, name: str, *labels: str, by: int = 1) -> None:
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def _observe(self, name: str, seconds: float, *labels: str) -> None:
        histogram = self._histograms[name]
        (histogram.labels(*labels) if labels else histogram).observe(seconds)

    def _agent(self, name: str) -> str:
        known = name if name in self._agents or len(self._agents) < MOST_AGENTS else OTHERS
        if known not in self._agents:
            self._agents.add(known)
            self._begin(self._counters["thoughts"], ((known,), _OUTCOMES))
            for tokens in ("prompt_tokens", "cached_tokens", "completion_tokens"):
                self._begin(self._counters[tokens], ((known,),))
        return known

    @staticmethod
    def _begin(metric: Counter | Histogram, known: Known) -> None:
        for labels in product(*known) if known else ():
            metric.labels(*labels)


def _yes_or_no(problem: str) -> str:
    return "yes" if problem else "no"


class Lag:
    """Measures twice a second how late the reactor is."""

    def __init__(self, reactor: Any, measured: Callable[[float], None]) -> None:
        self._reactor, self._measured = reactor, measured
        self._lately: deque[tuple[float, float]] = deque(maxlen=int(LATELY_SECONDS / LOOK_SECONDS))
        self._call: Any = None
        self._due = 0.0

    def start(self) -> None:
        """Begin to look; a second call does nothing."""
        if self._call is None:
            self._again()

    def stop(self) -> None:
        """Look no more."""
        if self._call is not None and self._call.active():
            self._call.cancel()
        self._call = None

    @property
    def worst(self) -> float:
        """Seconds of the worst lateness of the last minute; 0 before the first look."""
        since = self._reactor.seconds() - LATELY_SECONDS
        return max((late for at, late in self._lately if at >= since), default=0.0)

    def _again(self) -> None:
        self._due = self._reactor.seconds() + LOOK_SECONDS
        self._call = self._reactor.callLater(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        now = self._reactor.seconds()
        late = max(now - self._due, 0.0)
        self._lately.append((now, late))
        self._measured(late)
        self._again()


class _Momentary(Collector):
    """The gauges of one moment."""

    def __init__(self, now: Now) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        now = self._now
        for name, words in _GAUGES.items():
            yield GaugeMetricFamily(f"keepsake_{name}", words, value=float(getattr(now, name)))
        lost = "Events that found no room while it could not be written"
        yield CounterMetricFamily("keepsake_event_log_lost", lost, value=now.event_log_lost)
        states = "Agents, by their state"
        agents = GaugeMetricFamily("keepsake_agents", states, labels=["state"])
        for state, count in now.agents.items():
            agents.add_metric([state], count)
        yield agents
        yield from _servers(now.servers)


_OF_SERVERS: dict[str, tuple[str, Callable[[ServerStatus], float]]] = {
    "queue_running": ("Calls to a model in flight", lambda each: each.running),
    "model_server_places": ("Calls that may be", lambda each: each.in_flight),
    "model_server_ready": ("Whether a model server answers", lambda each: each.health == READY),
}


def _servers(servers: Sequence[ServerStatus]) -> Iterator[Metric]:
    who = ["provider", "host"]
    for name, (words, value) in _OF_SERVERS.items():
        gauge = GaugeMetricFamily(f"keepsake_{name}", words, labels=who)
        for each in servers:
            gauge.add_metric([each.provider, each.host], float(value(each)))
        yield gauge
    waiting = GaugeMetricFamily(
        "keepsake_queue_length", "Jobs that wait for a model", labels=[*who, "priority"]
    )
    calls = CounterMetricFamily("keepsake_model_calls", "Calls to models", labels=[*who, "failed"])
    tokens = CounterMetricFamily("keepsake_model_tokens", "Tokens", labels=[*who, "kind"])
    for each in servers:
        which, figures = [each.provider, each.host], each.figures
        for priority, count in each.waiting.items():
            waiting.add_metric([*which, priority.name.lower()], count)
        calls.add_metric([*which, "no"], figures.calls - figures.failures)
        calls.add_metric([*which, "yes"], figures.failures)
        tokens.add_metric([*which, "prompt"], figures.prompt_tokens)
        tokens.add_metric([*which, "cached"], figures.cached_tokens)
        tokens.add_metric([*which, "completion"], figures.completion_tokens)
    yield from (waiting, calls, tokens)
