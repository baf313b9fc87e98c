"""What is known of a model server, for commands, pages and metrics."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from keepsake.errors import ModelError
from keepsake.models.queue import Priority
from keepsake.ports import Generation

READY, UNASKED = "ready", "not asked yet"
_KEEP = 200
"""Of how many calls latencies are kept."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted of the calls of a server."""

    calls: int = 0  # calls made, failures included
    failures: int = 0  # calls that gave no answer
    last_error: str = ""  # the newest failure since the last answer; empty when there is none
    p50: float = 0.0  # median seconds of the last calls that were answered
    p95: float = 0.0  # 95th percentile of the same
    prompt_tokens: int = 0  # tokens of all prompts, cached ones included
    cached_tokens: int = 0  # those of them that were not evaluated again
    completion_tokens: int = 0  # tokens generated

    @property
    def cached_share(self) -> float:
        """Share of prompt tokens that came from the cache, 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


class Recorder:
    """Counts for one server; safe in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: deque[float] = deque(maxlen=_KEEP)
        self._figures = Figures()

    def add(self, outcome: Generation | ModelError, seconds: float) -> None:
        """Count one call."""
        with self._lock:
            before = replace(self._figures, calls=self._figures.calls + 1)
            if isinstance(outcome, ModelError):
                failures = before.failures + 1
                self._figures = replace(before, failures=failures, last_error=str(outcome))
                return
            self._seconds.append(seconds)
            self._figures = replace(
                before,
                last_error="",
                prompt_tokens=before.prompt_tokens + outcome.prompt_tokens,
                cached_tokens=before.cached_tokens + outcome.cached_tokens,
                completion_tokens=before.completion_tokens + outcome.completion_tokens,
            )

    def figures(self) -> Figures:
        """The counts as they are now."""
        with self._lock:
            ordered, counted = sorted(self._seconds), self._figures
        return replace(counted, p50=_percentile(ordered, 0.50), p95=_percentile(ordered, 0.95))


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server, as ``@llm-status`` shows it."""

    provider: str  # ``embedded``, ``ollama``, ``openai``
    host: str  # its address
    models: tuple[str, ...]  # profile and model of all that is asked there: ``agent: llama3``
    kind: str  # what the server is, and the form and the size of its prompts
    health: str  # ``ready``, or what is wrong and what to do
    waiting: Mapping[Priority, int]  # jobs that wait, by priority
    running: int  # calls in flight
    in_flight: int  # calls that may be in flight at once
    figures: Figures  # counts since the start
    notes: tuple[str, ...] = ()  # what calls have shown that people should know


def _percentile(ordered: list[float], share: float) -> float:
    """The nearest-rank percentile of sorted values; 0 of none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
