"""What Prometheus is told, and who may ask."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from django.http.request import HttpHeaders
from prometheus_client.parser import text_string_to_metric_families

from keepsake.events.types import (
    Compaction,
    Fault,
    Guard,
    MemoryChange,
    Recall,
    Sleep,
    Thought,
)
from keepsake.models.queue import Priority
from keepsake.models.servers import Figures, ServerStatus
from keepsake.paths import REPOSITORY
from keepsake.web.metrics import (
    MOST_AGENTS,
    OTHERS,
    TOKEN_VARIABLE,
    Metrics,
    Now,
    may_read,
    too_short,
)

TOKEN = "a-token-of-more-than-sixteen"
SERVER = ServerStatus(
    provider="ollama",
    host="http://127.0.0.1:11434",
    models=(),
    kind="",
    health="It does not answer",
    waiting={Priority.PLAYER: 1, Priority.IDLE: 4},
    running=2,
    in_flight=2,
    figures=Figures(calls=10, failures=3, prompt_tokens=90, cached_tokens=60),
)
NOW = Now(
    agents={"idle": 2, "asleep": 1},
    memories=300,
    servers=[SERVER],
    event_log_lost=2,
    event_log_writable=False,
    live_streams=3,
    up=True,
)


def thought(**changes) -> Thought:
    known = {"agent": "Mira", "trigger": "addressed", "priority": "player", "outcome": "acted"}
    known |= {"source": "Tom the Unmentionable", "prompt": "~Mira>", "prompt_tokens": 800}
    known |= {"cached_tokens": 600, "completion_tokens": 20, "wait": 0.2, "latency": 1.5}
    return Thought(**{**known, "model": "gemma", **changes})


def values(metrics: Metrics, now: Now = NOW) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.text(now).decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return values(metrics)[f"keepsake_{name}", frozenset(labels.items())]


def full() -> Metrics:
    """Everything has happened."""
    metrics = Metrics()
    metrics.took(thought())
    metrics.took(thought(outcome="no answer", model="", prompt_tokens=0, problem="nobody there"))
    metrics.took(Guard(agent="Mira", task="talk", op="refused", before="", reason=""))
    metrics.took(MemoryChange(agent="Mira", op="append", n=1, of="act", size=3))
    metrics.took(MemoryChange(agent="Mira", op="undo", n=0, problem="there is none"))
    made = {"number": 3, "tokens_before": 4000, "tokens_after": 1500, "seconds": 7.0}
    spent = {"prompt_tokens": 900, "completion_tokens": 100}
    metrics.took(Compaction(agent="Mira", reason="high", outcome="waterfall", **made, **spent))
    metrics.took(Recall(agent="Mira", by="thought", question="cups?", found=2, seconds=0.02))
    metrics.took(Recall(agent="Mira", by="agent", question="?", searched=False, seconds=0.5))
    metrics.took(Fault(level="warning", text="Careful"))
    metrics.took(Sleep(agent="Mira", op="step", step="dream", problem="no model"))
    metrics.late(0.1)
    return metrics


@pytest.mark.parametrize(
    ("name", "labels", "wanted"),
    [
        ("thoughts_total", {"agent": "Mira", "outcome": "acted"}, 1),
        ("thoughts_total", {"agent": "Mira", "outcome": "no answer"}, 1),
        ("thoughts_total", {"agent": "Mira", "outcome": "refused"}, 0),
        ("thought_triggers_total", {"trigger": "addressed"}, 2),
        ("prompt_tokens_total", {"agent": "Mira"}, 800),
        ("cached_tokens_total", {"agent": "Mira"}, 600),
        # No answer has no latency.
        ("thought_latency_seconds_count", {"priority": "player"}, 1),
        ("thought_wait_seconds_count", {"priority": "player"}, 2),
        ("guards_total", {"op": "refused"}, 1),
        ("memory_operations_total", {"op": "append", "failed": "no"}, 1),
        ("memory_operations_total", {"op": "undo", "failed": "yes"}, 1),
        ("compactions_total", {"reason": "high", "outcome": "waterfall"}, 1),
        ("compaction_saved_tokens_total", {}, 2500),
        ("compaction_tokens_total", {"kind": "prompt"}, 900),
        ("recalls_total", {"by": "thought", "result": "found"}, 1),
        ("recalls_total", {"by": "agent", "result": "not searched"}, 1),
        ("faults_total", {"level": "warning"}, 1),
        ("sleep_events_total", {"op": "step", "failed": "yes"}, 1),
        ("agents", {"state": "asleep"}, 1),
        ("memories", {}, 300),
        ("event_log_writable", {}, 0),
        ("event_log_lost_total", {}, 2),
        ("live_streams", {}, 3),
    ],
)
def test_what_happens_is_counted_and_what_is_so_now_is_told(name, labels, wanted):
    assert value(full(), name, **labels) == wanted


def test_model_servers():
    metrics, who = Metrics(), {"provider": "ollama", "host": "http://127.0.0.1:11434"}
    assert value(metrics, "queue_length", **who, priority="idle") == 4
    assert value(metrics, "queue_running", **who) == 2
    assert value(metrics, "model_server_ready", **who) == 0
    assert value(metrics, "model_calls_total", **who, failed="yes") == 3
    assert value(metrics, "model_tokens_total", **who, kind="cached") == 60


def test_so_many_agents_are_told_apart_and_no_player_is():
    metrics = Metrics()
    for number in range(MOST_AGENTS + 50):
        metrics.took(thought(agent=f"Agent {number}", source=f"Player {number}"))
    text = metrics.text(NOW).decode()
    assert "Player" not in text
    assert value(metrics, "thoughts_total", agent=OTHERS, outcome="acted") == 50
    again = len(text.splitlines())
    for number in range(1_000):
        metrics.took(thought(agent=f"Yet another {number}"))
    assert len(metrics.text(NOW).decode().splitlines()) == again


# -- who may ask


def asked(peer: str = "127.0.0.1", host: str = "localhost:4001", **headers: str) -> bool:
    meta = {"REMOTE_ADDR": peer, "HTTP_HOST": host}
    meta |= {f"HTTP_{name.upper()}": each for name, each in headers.items()}
    return may_read(SimpleNamespace(META=meta, headers=HttpHeaders(meta)))


def test_without_a_token_this_machine_may_ask_and_nobody_else(monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert asked()
    assert asked("::1", "[::1]")
    assert not asked("10.0.0.5")
    assert not asked("2001:db8::1")
    for name in ("x_real_ip", "forwarded", "via", "x_forwarded_host"):
        assert not asked(**{name: "127.0.0.1"}), name
    # A page elsewhere may have a name of its own lead here.
    for host in ("evil.example", "evil.example:4001", "localhost.evil.example", ""):
        assert not asked(host=host), host


def test_with_a_token_it_is_asked_of_everybody(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, f" {TOKEN}\n")
    assert not asked()
    assert asked(authorization=f"Bearer {TOKEN}")
    assert asked("10.0.0.5", authorization=f"bearer  {TOKEN}", via="nginx")
    for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer ü"):
        assert not asked(authorization=wrong), wrong


def test_a_token_that_could_be_guessed_opens_to_nobody(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "guess")
    assert not asked(authorization="Bearer guess")
    assert too_short("guess")
    assert not too_short("")


# -- the documents


def test_the_dashboard_of_grafana_asks_for_every_metric_and_for_no_other():
    path = REPOSITORY / "docs" / "grafana-keepsake.json"
    panels = json.loads(path.read_text(encoding="utf-8"))["panels"]
    asked = " ".join(target["expr"] for each in panels for target in each.get("targets", []))
    known = {name for name, _ in values(full())}
    named = set(re.findall(r"\b(?:keepsake|process)_[a-z_0-9]+", asked))
    assert len(named) > 10
    assert named <= known
    for name in {re.sub(r"_(?:bucket|count|sum)$", "", each) for each in known}:
        if name.startswith("keepsake_"):
            assert re.search(rf"\b{name}(?:_bucket)?\{{", asked), name


def test_the_page_names_only_metrics_that_there_are():
    text = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(keepsake_[a-z_0-9]+)", text))
    known = {re.sub(r"_(?:bucket|count|sum)$", "", name) for name, _ in values(full())}
    assert len(named) > 5
    assert named <= known
