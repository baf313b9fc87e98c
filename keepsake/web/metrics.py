"""Prometheus metrics: counters from the events, gauges from the world at each scrape.

The page explains each metric (``# HELP``). Metrics have no names of agents or players; the charts
show single agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from keepsake.events.types import Event, Fault, Guard, Thought
from keepsake.events.values import ThoughtOutcome

_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
"""The upper ends of the histogram of cached shares; a good prompt is above 0.9."""
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""The limits of a histogram's buckets, in seconds: from a small fast model to a slow server."""

disable_created_metrics()  # they double the number of series, and nobody uses them


class Metrics(Collector):
    """All metrics of this process, in their own registry.

    Args:
        world: Returns the current gauges.
    """

    def __init__(self, world: Callable[[], Iterable[Metric]]) -> None:
        self._world = world
        self._registry = CollectorRegistry()
        self._thoughts = self._counter("thoughts", "Thoughts, by how they ended", "outcome")
        self._guards = self._counter("guards", "Altered, refused or dropped answers", "op")
        self._tokens = self._counter(
            "tokens",
            "Tokens of prompts and answers; of prompts also cached and uncached ones, if known",
            "of",
        )
        self._faults = self._counter(
            "faults", "Warnings and errors in the agents' log", "level", "subsystem"
        )
        self._latency = Histogram(
            "keepsake_thought_latency_seconds",
            "From prompt to answer",
            ["priority"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._cached = Histogram(
            "keepsake_prompt_cached_share",
            "Share of a prompt's tokens that was in the server's cache; nothing if it does not say",
            buckets=_SHARES,
            registry=self._registry,
        )
        for outcome in ThoughtOutcome:  # start at 0, so that the first of a kind is an increase
            self._thoughts.labels(outcome)
        ProcessCollector(registry=self._registry)
        self._registry.register(self)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"keepsake_{name}", words, labels, registry=self._registry)

    def collect(self) -> Iterable[Metric]:
        """Return the current gauges."""
        return self._world()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def on_event(self, event: Event) -> None:
        """Count an event; from any thread."""
        match event:
            case Thought():
                self._thoughts.labels(event.outcome).inc()
                if event.model:  # a model answered
                    self._latency.labels(event.priority).observe(event.latency)
                    self._tokens.labels("prompts").inc(event.prompt_tokens)
                    self._tokens.labels("answers").inc(event.completion_tokens)
                    self._count_cached(event)
            case Guard():
                self._guards.labels(event.op).inc()
            case Fault():
                self._faults.labels(event.level, event.subsystem).inc()

    def _count_cached(self, event: Thought) -> None:
        """Count the cached tokens of a prompt, if its server says how many there were."""
        cached = event.cached_tokens
        if cached is None or not event.prompt_tokens:
            return
        self._tokens.labels("cached").inc(cached)
        self._tokens.labels("uncached").inc(event.prompt_tokens - cached)
        self._cached.observe(cached / event.prompt_tokens)


def gauge(name: str, words: str, values: Mapping[Any, float], *labels: str) -> Metric:
    """Return a gauge with a value for each tuple of labels; without labels the only key is ()."""
    found = GaugeMetricFamily(f"keepsake_{name}", words, labels=labels)
    for which, value in values.items():
        found.add_metric(which, value)
    return found
