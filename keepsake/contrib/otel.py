"""Sends thoughts and compactions as OpenTelemetry spans to a collector: Jaeger, Tempo, Langfuse.

It is active if ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set. If it is not, OpenTelemetry is not imported.
A span has numbers and names, but no text of a prompt or an answer.
"""
# ruff: noqa: PLC0415 - OpenTelemetry is optional

from __future__ import annotations

import os
import time
from typing import Any

import httpx

from keepsake.events.log import Subscribers
from keepsake.events.types import Compaction, Event, Thought, World
from keepsake.events.values import CompactionOutcome, WorldOp
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.TRACING)

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
_THOUGHT: tuple[str, ...] = ("trigger", "priority", "outcome", "attempt", "wait", "cached_tokens")
_COMPACTION = ("reason", "outcome", "first", "last", "kept", "tokens_before", "tokens_after")


def with_tracing(subscribers: Subscribers) -> Subscribers:
    """Return the subscribers, with a listener that makes spans if a collector is set."""
    if os.environ.get(ENDPOINT):
        subscribers.on_event.append(Spans().on_event)
    return subscribers


class Spans:
    """Makes spans, and exports them: the SDK calls :meth:`export` in its own thread."""

    _provider: Any = None  # the SDK's; None until the world starts
    _problem = ""

    def on_event(self, event: Event) -> None:
        """Take an event from any thread. Events of kind ``world`` start and stop the exporter."""
        if isinstance(event, World) and event.op is WorldOp.STARTS:
            try:
                self._start()
            except ImportError as error:
                told = f'{ENDPOINT} is set, but {error}: pip install "evennia-keepsake[otel]"'
                log.error(told)
        elif (
            self._provider
            and isinstance(event, World)
            and event.op in (WorldOp.STOPS, WorldOp.RELOADS)
        ):
            self._provider.shutdown()
        elif self._provider and isinstance(event, Thought | Compaction):
            self._span(event)

    def _start(self) -> None:
        from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
        from opentelemetry.sdk.trace import TracerProvider, export
        from opentelemetry.trace import StatusCode
        from opentelemetry.util.re import parse_env_headers

        headers = parse_env_headers(os.environ.get(HEADERS, ""), liberal=True)
        self._http = httpx.Client(base_url=os.environ[ENDPOINT], headers=headers, timeout=2.0)
        self._encode = encode_spans
        self._error = StatusCode.ERROR
        self.shutdown = self._http.close
        os.environ.setdefault("OTEL_SERVICE_NAME", "keepsake")
        self._provider = TracerProvider(shutdown_on_exit=False)
        exporter: Any = self  # it has the two methods of the SDK's exporters
        self._provider.add_span_processor(export.BatchSpanProcessor(exporter))

    def _span(self, event: Thought | Compaction) -> None:
        if isinstance(event, Thought):
            what = "chat"
            seconds = event.latency
            own = _THOUGHT
            failed = event.outcome.failed
        else:
            what = "compaction"
            seconds = event.seconds
            own = _COMPACTION
            failed = event.outcome is CompactionOutcome.FAILED
        values = ((name, getattr(event, name)) for name in own)
        # What is not known has no value: a server may not say how much it had cached.
        made: dict[str, Any] = {
            f"keepsake.{name}": each for name, each in values if each is not None
        }
        made |= {"gen_ai.operation.name": what, "gen_ai.agent.name": event.agent}
        made |= {"gen_ai.request.model": event.model} if event.model else {}  # empty: by rule
        made["gen_ai.usage.input_tokens"] = event.prompt_tokens
        made["gen_ai.usage.output_tokens"] = event.completion_tokens
        begun = time.time_ns() - int(seconds * 1e9)
        tracer = self._provider.get_tracer("keepsake")
        span = tracer.start_span(f"{what} {event.model}".strip(), attributes=made, start_time=begun)
        if failed:
            span.set_status(self._error, event.outcome)
        span.end()

    def export(self, spans: Any) -> None:
        """Send a batch of spans. A failed batch is lost; the first failure in a row is logged."""
        body = self._encode(spans).SerializeToString()
        kind = "application/x-protobuf"
        try:
            reply = self._http.post("v1/traces", content=body, headers={"content-type": kind})
            problem = "" if reply.is_success else f"HTTP {reply.status_code}"
        except httpx.HTTPError as error:
            problem = str(error) or repr(error)
        if problem and not self._problem:
            log.warning(f"The collector in {ENDPOINT} does not accept spans: {problem}")
        self._problem = problem
