"""Thoughts as OpenTelemetry spans: from a real simulation, at a receiver that decodes them."""

import json
import sys
from datetime import datetime

import pytest

from keepsake.agent.spans import check_spans
from keepsake.errors import KeepsakeError
from keepsake.events.prompts import PromptStore
from keepsake.events.reader import Filter, last
from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.simulate import create, run
from keepsake.paths import REPOSITORY, Places, Ports
from tests.empty_tables import lay_tables_for_labs
from tests.fakes.model_server import FakeModelServer, Reply
from tests.fakes.otlp_receiver import OtlpReceiver, attributes
from tests.lab.in_process import keepsake

EXPORTER = "opentelemetry.exporter.otlp.proto.http"
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.fixture
def places(tmp_path, tables):
    lay_tables_for_labs(tables, tmp_path)
    return Places(tmp_path, REPOSITORY / "vault", Ports(21000))


def lived(places, monkeypatch, receiver, **more):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.address)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name, value in more.pop("environ", {}).items():
        monkeypatch.setenv(name, value)
    plan = {"agents": 1, "hours": 0.3, "visitors": 2} | more
    lab = create(places, SimulationPlan("seen", **plan))
    run(lab)
    return lab


def thoughts(lab):
    return last(lab.places().events, 10_000, Filter((), ["thought"]))


def nanoseconds(moment):
    return round(datetime.fromisoformat(moment).timestamp() * 1e6) * 1000


def test_each_thought_is_a_span_and_the_call_of_its_model_one_below(places, monkeypatch):
    with OtlpReceiver() as receiver:
        lab = lived(places, monkeypatch, receiver, environ={CONTENT: "true"})
    assert receiver.services == {"keepsake"}
    assert receiver.paths == {"/v1/traces"}
    told = thoughts(lab)
    parents = [each for each in receiver.spans if not each.parent_span_id]
    below = {each.parent_span_id: each for each in receiver.spans if each.parent_span_id}
    assert len(parents) == len(told) > 5
    assert len(below) == sum(bool(each["model"]) for each in told) > 5
    prompts = dict(PromptStore(lab.places().events).each({each["prompt"] for each in told}))
    for span, thought in zip(parents, told, strict=True):
        own = attributes(span)
        assert span.name == "invoke_agent Bram"
        assert own["gen_ai.operation.name"] == "invoke_agent"
        assert own["gen_ai.agent.name"] == thought["agent"] == "Bram"
        assert own["keepsake.outcome"] == thought["outcome"]
        assert abs(span.end_time_unix_nano - nanoseconds(thought["t"])) < 1e6
        call = below.get(span.span_id)
        assert (call is not None) is bool(thought["model"])
        if call is None:
            continue
        assert call.trace_id == span.trace_id
        assert call.name == "text_completion scripted"
        seconds = (call.end_time_unix_nano - call.start_time_unix_nano) / 1e9
        assert seconds == pytest.approx(thought["latency"], abs=1e-5)
        said = attributes(call)
        assert said["gen_ai.provider.name"] == "scripted"
        assert said["gen_ai.request.model"] == "scripted"
        assert said["gen_ai.agent.name"] == "Bram"
        assert said["gen_ai.usage.input_tokens"] == thought["prompt_tokens"] > 0
        assert said["gen_ai.usage.output_tokens"] == thought["completion_tokens"] > 0
        (asked,) = json.loads(said["gen_ai.input.messages"])
        (answered,) = json.loads(said["gen_ai.output.messages"])
        assert asked["parts"][0]["content"] == prompts[thought["prompt"]]
        assert (answered["role"], answered["parts"][0]["content"]) == (
            "assistant",
            thought["answer"],
        )


def test_a_thought_without_an_answer_is_an_error_and_words_stay_at_home(places, monkeypatch):
    with OtlpReceiver() as receiver, FakeModelServer() as fake:
        fake.template = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"  # it chats
        fake.always("/api/chat", Reply(status=400, raw=b'{"error": "it has hiccups"}'))
        model = f"ollama:fake@{fake.address}"
        idle = {"thinking.idle_interval": "60", "thinking.idle_away_factor": "1"}
        lived(places, monkeypatch, receiver, model=model, hours=0.1, visitors=0, settings=idle)
    assert receiver.spans
    for span in receiver.spans:
        assert span.status.code == span.status.STATUS_CODE_ERROR
        assert "it has hiccups" in span.status.message
        assert attributes(span)["error.type"] == "no answer"
        assert not [key for key in attributes(span) if key.endswith(".messages")]


def test_the_same_is_lived_with_spans_and_without_also_when_nobody_takes_them(places, monkeypatch):
    logs = []
    for name, address in (("without", ""), ("nobody", "http://127.0.0.1:9")):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        lab = create(places, SimulationPlan(name, agents=1, hours=0.2, visitors=1))
        run(lab)
        logs.append([each.read_bytes() for each in sorted(lab.places().events.glob("events-*"))])
    assert logs[0] == logs[1]


def test_spans_that_are_wanted_and_cannot_be_made_are_missed_with_the_cure(places, monkeypatch):
    assert check_spans({}) is False
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    assert check_spans(environ) is True
    monkeypatch.setitem(sys.modules, EXPORTER, None)  # as if it were not installed
    with pytest.raises(KeepsakeError, match=r"keepsake\[otel\]"):
        check_spans(environ)
    home = {"KEEPSAKE_HOME": str(places.home)}
    ran = keepsake({**home, **environ}, "simulate", "refused", "--hours", "0.01")
    assert ran.returncode == 1
    assert "pip install 'keepsake[otel]'" in " ".join(ran.stderr.split())
    assert not (places.home / "lab" / "refused").exists()
