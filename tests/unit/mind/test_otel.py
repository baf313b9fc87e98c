"""Spans for a collector: a real one over HTTP, one that is away, none, and no packages."""

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from keepsake.agent.agent_log import FaultHandler, open_log
from keepsake.contrib.otel import ENDPOINT, HEADERS, traced
from keepsake.events.log import EventLog
from keepsake.events.types import Compaction, Thought, World

ASKED = {"agent": "Mira", "model": "gemma3", "prompt_tokens": 900, "completion_tokens": 12}
PRIVATE = "the key is under the mat"
THOUGHT = Thought(
    **ASKED,
    trigger="addressed",
    priority="player",
    outcome="refused",
    latency=1.5,
    source="Tom",
    **dict.fromkeys(("prompt", "answer", "reason", "problem", "command"), PRIVATE),
)
COMPACTION = Compaction(**ASKED, reason="count", outcome="waterfall", seconds=3.0, kept=64)


@pytest.fixture
def received():
    """What the collector got: the path, a header, and the body of each request."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, self.headers["authorization"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    got.append(f"http://127.0.0.1:{server.server_port}/")
    yield got
    server.shutdown()
    server.server_close()


def lived(folder, *events):
    """Emit events between the start of a world and its end; returns what was logged."""
    log = EventLog(folder, subscribers=traced(None))
    open_log(folder / "agents.log", FaultHandler(log))
    for event in (World(op="starts"), *events, World(op="stops")):
        log.emit(event)
    log.close()
    return (folder / "agents.log").read_text()


def attributes(span):
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


def test_a_collector_gets_thoughts_and_compactions_without_a_word_of_them(
    tmp_path, monkeypatch, received
):
    monkeypatch.setenv(ENDPOINT, received.pop())
    monkeypatch.setenv(HEADERS, "Authorization=Basic cGs6c2s=")
    assert lived(tmp_path, THOUGHT, COMPACTION) == ""
    [(path, key, body)] = received
    assert (path, key) == ("/v1/traces", "Basic cGs6c2s=")
    assert PRIVATE.encode() not in body
    [whole] = ExportTraceServiceRequest.FromString(body).resource_spans
    assert attributes(whole.resource)["service.name"] == "keepsake"
    thought, compaction = whole.scope_spans[0].spans
    assert (thought.name, thought.status.message) == ("chat gemma3", "refused")
    assert thought.end_time_unix_nano - thought.start_time_unix_nano >= 1.5e9
    for span in (thought, compaction):
        said = attributes(span)
        assert said["gen_ai.agent.name"] == "Mira"
        assert said["gen_ai.request.model"] == "gemma3"
        assert said["gen_ai.usage.input_tokens"] == 900
        assert said["gen_ai.usage.output_tokens"] == 12
    said = attributes(thought)
    assert (said["gen_ai.operation.name"], said["keepsake.priority"]) == ("chat", "player")
    assert said["keepsake.trigger"] == "addressed"
    assert (compaction.name, attributes(compaction)["keepsake.kept"]) == ("compaction gemma3", 64)
    assert compaction.status.message == ""


def test_a_collector_that_is_away_costs_a_line_of_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    [line] = lived(tmp_path, THOUGHT, COMPACTION).splitlines()
    assert f"[Warning] The collector in {ENDPOINT} takes no spans: " in line


def test_missing_packages_are_named_with_the_cure(tmp_path, monkeypatch):
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    [line] = lived(tmp_path, THOUGHT).splitlines()
    assert f"[Error] {ENDPOINT} is set, and " in line
    assert 'pip install "evennia-keepsake[otel]"' in line


def test_nothing_is_imported_where_no_collector_is_named(monkeypatch):
    monkeypatch.delenv(ENDPOINT, raising=False)
    code = (
        "import sys; from keepsake.contrib.otel import traced; assert traced(None) is None; "
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
