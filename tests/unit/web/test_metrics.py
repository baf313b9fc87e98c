"""What Prometheus is told, and who may ask."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

from django.http.request import HttpHeaders
from prometheus_client.parser import text_string_to_metric_families

from keepsake.events.secrets import Scrubber
from keepsake.events.types import Compaction, Fault, Guard, Recall, Thought
from keepsake.models.queue import Priority, ServerStatus
from keepsake.paths import REPOSITORY
from keepsake.web.access import METRICS_TOKEN, may_read_metrics
from keepsake.web.metrics import Metrics, gauge, model_servers

TOKEN = "a-token-of-more-than-sixteen"
SERVER = ServerStatus(
    provider="ollama",
    host="http://tom:hush@127.0.0.1:11434",
    models=(),
    kind="",
    health="It does not answer",
    waiting={Priority.PLAYER: 1, Priority.IDLE: 4},
    running=2,
    in_flight=2,
    calls=10,
    failures=3,
    cached=2 / 3,
)


def values() -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Everything has happened."""
    names = ("up", "memories", "live_streams", "event_log_writable")
    now = [gauge(name, name, 3) for name in names]
    servers = model_servers([SERVER], Scrubber(["tom:hush"]))
    metrics = Metrics(
        lambda: [*now, gauge("agents", "Agents", {"idle": 2, "asleep": 1}, "state"), *servers]
    )
    known = {"agent": "Mira", "trigger": "addressed", "priority": "player", "source": "Tom"}
    known |= {"prompt": "~Mira>", "wait": 0.2}
    spent = {"prompt_tokens": 800, "cached_tokens": 600, "completion_tokens": 20}
    metrics.took(Thought(**known, **spent, outcome="acted", latency=1.5, model="gemma"))
    metrics.took(Thought(**known, outcome="no answer", model="", problem="nobody there"))
    metrics.took(Guard(agent="Mira", task="talk", op="refused", before="", reason=""))
    metrics.took(Compaction(agent="Mira", reason="high", outcome="waterfall", seconds=7.0))
    metrics.took(Recall(agent="Mira", by="thought", question="cups?", found=2, seconds=0.02))
    metrics.took(Recall(agent="Mira", by="agent", question="?", searched=False, seconds=0.5))
    metrics.took(Fault(level="warning", text="Careful"))
    metrics.lag.observe(0.1)
    text = metrics.text().decode()
    assert "Tom" not in text
    assert "Mira" not in text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


# -- who may ask


def asked(peer: str = "127.0.0.1", host: str = "localhost:4001", **headers: str) -> bool:
    meta = {"REMOTE_ADDR": peer, "HTTP_HOST": host}
    meta |= {f"HTTP_{name.upper()}": each for name, each in headers.items()}
    return may_read_metrics(SimpleNamespace(META=meta, headers=HttpHeaders(meta)))


def test_without_a_token_this_machine_may_ask_and_nobody_else(monkeypatch):
    monkeypatch.delenv(METRICS_TOKEN, raising=False)
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
    monkeypatch.setenv(METRICS_TOKEN, f" {TOKEN}\n")
    assert not asked()
    assert asked(authorization=f"Bearer {TOKEN}")
    assert asked("10.0.0.5", authorization=f"bearer  {TOKEN}", via="nginx")
    for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer ü"):
        assert not asked(authorization=wrong), wrong


def test_a_token_that_could_be_guessed_opens_to_nobody(monkeypatch):
    monkeypatch.setenv(METRICS_TOKEN, "guess")
    assert not asked(authorization="Bearer guess")


# -- the documents


def test_the_dashboard_of_grafana_and_the_page_name_metrics_that_there_are():
    known = {name for name, _ in values()}
    short = {re.sub(r"_(?:bucket|count|sum)$", "", name) for name in known}
    path = REPOSITORY / "docs" / "grafana-keepsake.json"
    panels = json.loads(path.read_text(encoding="utf-8"))["panels"]
    asked = " ".join(target["expr"] for each in panels for target in each.get("targets", []))
    named = set(re.findall(r"\b(?:keepsake|process)_[a-z_0-9]+", asked))
    assert named <= known
    assert {name for name in short if name.startswith("keepsake_")} <= {
        re.sub(r"_(?:bucket|count|sum)$", "", name) for name in named
    }
    text = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(keepsake_[a-z_0-9]+)", text))
    assert len(told) > 5
    assert told <= short
