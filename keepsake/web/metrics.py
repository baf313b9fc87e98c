"""Prometheus' metrics: counters from the events, gauges from the world when they are scraped.

The page itself explains each name (``# HELP``). No player's name is in any of them, and at most
:data:`MOST_AGENTS` agents have series of their own, so that the number of series is bounded.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.http import HttpRequest
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from keepsake.events.types import (
    Compaction,
    Event,
    Fault,
    Guard,
    MemoryChange,
    Recall,
    Sleep,
    Thought,
)
from keepsake.models.servers import READY, ServerStatus
from keepsake.web.access import address_of

TOKEN_VARIABLE = "KEEPSAKE_METRICS_TOKEN"
SHORTEST_TOKEN = 16
CURE = "Make one with `openssl rand -hex 24` and restart"
MOST_AGENTS = 200
"""Agents with series of their own; all others share :data:`OTHERS`."""
OTHERS = "(others)"
_BY_ANOTHER = ("X-Real-IP", "Forwarded", "Via", "X-Forwarded-Host")
"""Headers that a proxy adds. Then the client is not known: the headers may be made up."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_THOUGHT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_COMPACTION_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_RECALL_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_OUTCOMES = ("acted", "refused", "no answer", "too large", "dropped", "broke off")

_COUNTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "thoughts": ("Thoughts, by how they ended", ("agent", "outcome")),
    "thought_triggers": ("Thoughts, by what caused them", ("trigger",)),
    "guards": ("Answers not spoken as written", ("op",)),
    "prompt_tokens": ("Tokens of thoughts' prompts", ("agent",)),
    "cached_tokens": ("Those that the model server had cached", ("agent",)),
    "completion_tokens": ("Tokens of thoughts' answers", ("agent",)),
    "memory_operations": ("Operations on memories", ("op", "failed")),
    "compactions": ("Compactions", ("reason", "outcome")),
    "compaction_tokens": ("Tokens spent on summaries", ("kind",)),
    "compaction_saved_tokens": ("Tokens that compactions saved", ()),
    "recalls": ("Searches in memories", ("by", "result")),
    "faults": ("Warnings and errors in the agents' log", ("level",)),
    "sleep_events": ("Falling asleep, waking, steps of nights", ("op", "failed")),
}
_HISTOGRAMS: dict[str, tuple[str, tuple[str, ...], Sequence[float]]] = {
    "thought_latency_seconds": (
        "From the prompt to the model's answer",
        ("priority",),
        _THOUGHT_SECONDS,
    ),
    "thought_wait_seconds": (
        "In the queue, until the prompt was built",
        ("priority",),
        _THOUGHT_SECONDS,
    ),
    "compaction_seconds": ("How long compactions took", (), _COMPACTION_SECONDS),
    "recall_seconds": ("How long searches took", ("by",), _RECALL_SECONDS),
    "reactor_lag_seconds": ("How late the reactor was, twice a second", (), _LAG_SECONDS),
}
_GAUGES = {
    "up": "Whether the agents run",
    "agents_paused": "Agents that are paused, asleep or not",
    "memories": "Memories of all agents",
    "compacting": "Agents that are being compacted",
    "event_log_waiting": "Events not written yet",
    "event_log_writable": "Whether the event log can be written",
    "live_streams": "Browsers that watch",
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
    up: bool = False


class Metrics:
    """All metrics of this process, in a registry of their own."""

    def __init__(self) -> None:
        self._agents: set[str] = set()
        self.registry = registry = CollectorRegistry(auto_describe=False)
        self._counters = {
            name: Counter(f"keepsake_{name}", words, labels, registry=registry)
            for name, (words, labels) in _COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(f"keepsake_{name}", words, labels, buckets=buckets, registry=registry)
            for name, (words, labels, buckets) in _HISTOGRAMS.items()
        }
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
            for outcome in _OUTCOMES:
                self._counters["thoughts"].labels(known, outcome)
            for tokens in ("prompt_tokens", "cached_tokens", "completion_tokens"):
                self._counters[tokens].labels(known)
        return known


def _yes_or_no(problem: str) -> str:
    return "yes" if problem else "no"


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


# -- who may read them


def too_short(token: str) -> str:
    """What is wrong with a token that opens to nobody; empty for a good one, and for none."""
    if token.strip() and len(token.strip().encode()) < SHORTEST_TOKEN:
        return (
            f"{TOKEN_VARIABLE} has less than {SHORTEST_TOKEN} characters, so that /metrics is "
            "open to nobody"
        )
    return ""


def may_read(request: HttpRequest) -> bool:
    """Whether the client may read the metrics.

    Without a token: clients on this machine that connect without a proxy, by a name of this
    machine. With a token: clients that send it, from anywhere, and no others.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if token:
        scheme, _, shown = request.headers.get("Authorization", "").partition(" ")
        right = hmac.compare_digest(shown.strip().encode(), token.encode())
        return right and scheme.lower() == "bearer" and not too_short(token)
    if any(name in request.headers for name in _BY_ANOTHER):
        return False
    try:
        here = ipaddress.ip_address(address_of(request)).is_loopback
        # A page elsewhere may have had a name of its own lead here.
        return here and urlsplit(f"//{request.headers.get('Host', '')}").hostname in _HERE
    except ValueError:
        return False
