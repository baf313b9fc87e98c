"""Spans for a collector: over HTTP, one that does not answer, none, and a missing package."""

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from keepsake.contrib.otel import ENDPOINT, HEADERS, with_tracing
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.log_file import FaultHandler, open_log
from keepsake.events.types import Compaction, Thought, World
from keepsake.events.values import (
    CompactionOutcome,
    CompactReason,
    ThoughtOutcome,
    Urgency,
    WorldOp,
)
from tests.sentences import table

ASKED = {"agent": "Mira", "model": "gemma3", "prompt_tokens": 900, "completion_tokens": 12}
PRIVATE = "the key is under the mat"
THOUGHT = Thought(
    **ASKED,
    trigger="addressed",
    priority=Urgency.PLAYER,
    outcome=ThoughtOutcome.REFUSED,
    latency=1.5,
    source="Tom",
    **dict.fromkeys(("prompt", "answer", "reason", "problem", "command"), PRIVATE),
)
COMPACTION = Compaction(
    **ASKED, reason=CompactReason.COUNT, outcome=CompactionOutcome.WATERFALL, seconds=3.0, kept=64
)


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.path, self.headers["authorization"], body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def logged_with(folder, *events):
    """Emit events between the start and the end of a world; return the log's text."""
    log = EventLog(folder, subscribers=with_tracing(Subscribers()))
    open_log(folder / "agents.log", (), FaultHandler(log))
    for event in (World(op=WorldOp.STARTS), *events, World(op=WorldOp.STOPS)):
        log.emit(event)
    log.close()
    return (folder / "agents.log").read_text()


def attributes(span):
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


def test_a_collector_gets_spans_without_their_texts(tmp_path, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.received = []
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv(HEADERS, "Authorization=Basic cGs6c2s=")
        assert logged_with(tmp_path, THOUGHT, COMPACTION) == ""
        server.shutdown()
    [(path, key, body)] = server.received
    assert (path, key) == ("/v1/traces", "Basic cGs6c2s=")
    assert PRIVATE.encode() not in body
    [whole] = ExportTraceServiceRequest.FromString(body).resource_spans
    assert attributes(whole.resource)["service.name"] == "keepsake"
    spans = whole.scope_spans[0].spans
    assert spans[0].end_time_unix_nano - spans[0].start_time_unix_nano >= 1.5e9
    for span, (name, status, expected) in zip(spans, table("spans"), strict=True):
        assert (span.name, span.status.message) == (name, status)
        assert attributes(span).items() >= expected.items()


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("", f"WARNING tracing The collector in {ENDPOINT} does not accept spans: "),
        ("opentelemetry.sdk.trace", 'pip install "evennia-keepsake[otel]"'),
    ],
)
def test_a_missing_collector_and_a_missing_package_are_logged_once(
    tmp_path, monkeypatch, missing, message
):
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    monkeypatch.setitem(sys.modules, missing, None)
    [line] = logged_with(tmp_path, THOUGHT, COMPACTION).splitlines()
    assert message in line


def test_without_a_collector_nothing_is_imported(monkeypatch):
    monkeypatch.delenv(ENDPOINT, raising=False)
    code = (
        "import sys; from keepsake.contrib.otel import with_tracing;"
        "from keepsake.events.log import Subscribers;"
        " assert not with_tracing(Subscribers()).on_event;"
        " assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
