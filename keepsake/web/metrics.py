"""Prometheus' metrics: counters from the events, gauges from the world when they are scraped.

The page itself explains each name (``# HELP``). Nobody's name is in any of them: what one agent
does is in its charts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

from keepsake.events.secrets import Scrubber
from keepsake.events.types import Compaction, Event, Fault, Guard, Recall, Thought
from keepsake.models.queue import READY, ServerStatus

_THOUGHT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_COMPACTION_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_RECALL_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_OUTCOMES = ("acted", "refused", "no answer", "too large", "dropped", "broke off")

disable_created_metrics()  # twice as many series, for times that nobody asks for


class Metrics:
    """All metrics of this process, in a registry of their own.

    Args:
        world: Gives the gauges of this moment.
    """

    def __init__(self, world: Callable[[], Iterable[Metric]]) -> None:
        self._registry = CollectorRegistry()
        self._thoughts = self._counter("thoughts", "Thoughts, by how they ended", "outcome")
        self._guards = self._counter("guards", "Answers not spoken as written", "op")
        self._prompt = self._counter("prompt_tokens", "Tokens of thoughts' prompts")
        self._cached = self._counter("cached_tokens", "Those that the model server had cached")
        self._answer = self._counter("completion_tokens", "Tokens of thoughts' answers")
        self._compactions = self._counter("compactions", "Compactions", "outcome")
        self._recalls = self._counter("recalls", "Searches in memories", "result")
        self._faults = self._counter("faults", "Warnings and errors in the agents' log", "level")
        self._latency = self._histogram(
            "thought_latency_seconds", "From prompt to answer", _THOUGHT_SECONDS, "priority"
        )
        self._wait = self._histogram(
            "thought_wait_seconds", "In the queue", _THOUGHT_SECONDS, "priority"
        )
        self._compacting = self._histogram(
            "compaction_seconds", "How long compactions took", _COMPACTION_SECONDS
        )
        self._searching = self._histogram(
            "recall_seconds", "How long searches took", _RECALL_SECONDS
        )
        self.lag = self._histogram(
            "reactor_lag_seconds", "How late the reactor was, twice a second", _LAG_SECONDS
        )
        for outcome in _OUTCOMES:  # so that the first of a kind is an increase, too
            self._thoughts.labels(outcome)
        ProcessCollector(registry=self._registry)
        self._registry.register(_World(world))

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"keepsake_{name}", words, labels, registry=self._registry)

    def _histogram(
        self, name: str, words: str, buckets: Sequence[float], *labels: str
    ) -> Histogram:
        registry = self._registry
        return Histogram(f"keepsake_{name}", words, labels, buckets=buckets, registry=registry)

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)

    def took(self, event: Event) -> None:
        """Count an event; from any thread."""
        match event:
            case Thought():
                self._thought(event)
            case Guard():
                self._guards.labels(event.op).inc()
            case Compaction():
                self._compactions.labels(event.outcome).inc()
                self._compacting.observe(event.seconds)
            case Recall():
                found = "found" if event.found else "nothing"
                self._recalls.labels(found if event.searched else "not searched").inc()
                self._searching.observe(event.seconds)
            case Fault():
                self._faults.labels(event.level).inc()

    def _thought(self, event: Thought) -> None:
        self._thoughts.labels(event.outcome).inc()
        if event.prompt:
            self._wait.labels(event.priority).observe(event.wait)
        if event.model:  # somebody answered
            self._latency.labels(event.priority).observe(event.latency)
            self._prompt.inc(event.prompt_tokens)
            self._cached.inc(event.cached_tokens)
            self._answer.inc(event.completion_tokens)


class _World:
    """The gauges of one moment; undescribed, or the world would be asked before there is one."""

    def __init__(self, world: Callable[[], Iterable[Metric]]) -> None:
        self._world = world

    def collect(self) -> Iterable[Metric]:
        """All of them."""
        return self._world()


def gauge(name: str, words: str, value: float | Mapping[str, int], label: str = "") -> Metric:
    """A value, or one for each value of a label."""
    if not isinstance(value, Mapping):
        return GaugeMetricFamily(f"keepsake_{name}", words, value=value)
    found = GaugeMetricFamily(f"keepsake_{name}", words, labels=[label])
    for named, count in value.items():
        found.add_metric([named], count)
    return found


def model_servers(statuses: Iterable[ServerStatus], scrubber: Scrubber) -> Iterator[Metric]:
    """The gauges of the model servers, their addresses without a password."""
    who = ["provider", "host"]
    ready = GaugeMetricFamily(
        "keepsake_model_server_ready", "Whether a model server answers", labels=who
    )
    waiting = GaugeMetricFamily(
        "keepsake_queue_length", "Jobs that wait for a model", labels=[*who, "priority"]
    )
    calls = CounterMetricFamily("keepsake_model_calls", "Calls to models", labels=[*who, "failed"])
    for each in statuses:
        which = [each.provider, scrubber.clean(each.host)]
        ready.add_metric(which, each.health == READY)
        for priority, count in each.waiting.items():
            waiting.add_metric([*which, priority.name.lower()], count)
        calls.add_metric([*which, "no"], each.calls - each.failures)
        calls.add_metric([*which, "yes"], each.failures)
    yield from (ready, waiting, calls)
