"""Thoughts as OpenTelemetry spans, for Phoenix, Langfuse and whatever else takes OTLP.

Switched on by the variables of OpenTelemetry itself: with ``OTEL_EXPORTER_OTLP_ENDPOINT`` (or
``OTEL_EXPORTER_OTLP_TRACES_ENDPOINT``) in the environment each thought is a span, and the call of
the model below it another, named by the semantic conventions for generative AI. Prompts and
answers go along if ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``true``.

The packages are an extra, ``otel``, and imported only where spans are wanted.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING

from keepsake.errors import KeepsakeError, ModelError
from keepsake.events.secrets import Scrubber
from keepsake.events.subscribers import Taps
from keepsake.events.types import Event, Thought
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import CHAT, CHAT_ANSWER
from keepsake.ports import Clock

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_SWITCHES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SERVICE = "OTEL_SERVICE_NAME"
_EXPORTER = "opentelemetry.exporter.otlp.proto.http"
_AGENT = "agent"
"""The profile that agents think by."""
_OWN = ("trigger", "priority", "outcome", "source", "cause", "attempt", "memory")
"""What a thought's span tells of its event under a name of ours."""
_FAILED = frozenset({"no answer", "too large", "broke off"})

PATIENCE = 3.0
"""Seconds that the last spans get to reach the collector."""

type Attributes = Mapping[str, str | int | float]
type Settings = Mapping[str, str]


def check_spans(environ: Settings = os.environ) -> bool:
    """Whether spans are wanted.

    Raises:
        KeepsakeError: They are, and cannot be made.
    """
    switch = next((each for each in _SWITCHES if environ.get(each)), "")
    if not switch:
        return False
    if not _is_installed():
        raise KeepsakeError(
            f"{switch} asks for spans, and OpenTelemetry's exporter is not installed",
            "Install it: pip install 'keepsake[otel]'; or unset the variable",
        )
    return True


def _is_installed() -> bool:
    try:
        return find_spec(_EXPORTER) is not None
    except ModuleNotFoundError:  # not even the package above it
        return False


class ThoughtSpans:
    """Makes the spans of thoughts, and sends them in a thread of its own."""

    def __init__(
        self, taps: Taps, clock: Clock, gateway: Gateway, secrets: Sequence[str], environ: Settings
    ) -> None:
        self._clock, self._gateway = clock, gateway
        shown = environ.get(_CONTENT, "").strip().lower() == "true"
        self._cleaned = Scrubber(secrets).clean if shown else None
        self._provider = _provider(environ)
        self._tracer = self._provider.get_tracer("keepsake")
        self._end_listening = taps.on_event(self._take)

    def close(self) -> None:
        """Send what waits, and end; blocks, for :data:`PATIENCE` seconds at most."""
        self._end_listening()
        # A collector that is gone is tried again and again, and the world's end cannot wait.
        ending = threading.Thread(target=self._provider.shutdown, name="spans", daemon=True)
        ending.start()
        ending.join(PATIENCE)

    def _take(self, event: Event) -> None:
        if not isinstance(event, Thought):
            return
        from opentelemetry.trace import (  # noqa: PLC0415 - an extra
            SpanKind,
            Status,
            StatusCode,
            set_span_in_context,
        )

        end = self._clock.now()
        asked = end - timedelta(seconds=event.latency)
        began = asked - timedelta(seconds=event.wait)
        thought = self._tracer.start_span(
            f"invoke_agent {event.agent}", start_time=_ns(began), attributes=_of_thought(event)
        )
        spans = [thought]
        if event.model:
            attributes = self._of_call(event)
            name = f"{attributes['gen_ai.operation.name']} {event.model}"
            inside = set_span_in_context(thought)
            call = self._tracer.start_span(
                name, inside, SpanKind.CLIENT, attributes, start_time=_ns(asked)
            )
            spans.insert(0, call)
        for span in spans:
            if event.outcome in _FAILED:
                span.set_status(Status(StatusCode.ERROR, event.problem))
                span.set_attribute("error.type", event.outcome)
            span.end(_ns(end))

    def _of_call(self, event: Thought) -> Attributes:
        profile = self._gateway.profiles.get(_AGENT)
        seed = {} if event.seed is None else {"gen_ai.request.seed": event.seed}
        return {
            "gen_ai.operation.name": self._operation(),
            "gen_ai.provider.name": profile.provider,
            "gen_ai.request.model": profile.model or event.model,
            "gen_ai.response.model": event.model,
            "gen_ai.request.temperature": event.temperature,
            "gen_ai.request.max_tokens": profile.max_tokens or CHAT_ANSWER,
            "gen_ai.usage.input_tokens": event.prompt_tokens,
            "gen_ai.usage.cache_read.input_tokens": event.cached_tokens,
            "gen_ai.usage.output_tokens": event.completion_tokens,
            "gen_ai.agent.name": event.agent,
            **seed,
            **self._content(event),
        }

    def _operation(self) -> str:
        try:
            chats = self._gateway.profile(_AGENT).form == CHAT
        except ModelError:
            chats = False  # it has just been given another provider, which means no model
        return "chat" if chats else "text_completion"

    def _content(self, event: Thought) -> Attributes:
        if self._cleaned is None:
            return {}
        asked, answered = self._cleaned(event.prompt), self._cleaned(event.answer)
        return {
            "gen_ai.input.messages": _message("user", asked),
            "gen_ai.output.messages": _message("assistant", answered, finish_reason="stop"),
        }


def spans_of(
    taps: Taps,
    clock: Clock,
    gateway: Gateway,
    secrets: Callable[[], Sequence[str]],
    environ: Settings = os.environ,
) -> ThoughtSpans | None:
    """The spans of a world's thoughts; None where nobody wants them.

    ``secrets``: Makes what no span may hold; called only if there are any.

    Raises:
        KeepsakeError: They are wanted, and cannot be made.
    """
    if not check_spans(environ):
        return None
    return ThoughtSpans(taps, clock, gateway, secrets(), environ)


def _provider(environ: Settings) -> TracerProvider:
    """What makes and sends spans; the exporter reads its own settings from the environment."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - the same
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - the same
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - the same

    name = environ.get(_SERVICE, "keepsake")
    provider = TracerProvider(
        resource=Resource.create({"service.name": name}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _of_thought(event: Thought) -> Attributes:
    own = {f"keepsake.{name}": value for name in _OWN if (value := getattr(event, name))}
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "keepsake",
        "gen_ai.agent.name": event.agent,
        "gen_ai.agent.id": str(event.agent_id or event.agent),
        **own,
    }


def _message(role: str, text: str, **more: str) -> str:
    part = {"type": "text", "content": text}
    return json.dumps([{"role": role, "parts": [part], **more}], ensure_ascii=False)


def _ns(moment: datetime) -> int:
    """Nanoseconds since 1970."""
    return round(moment.timestamp() * 1e6) * 1000
