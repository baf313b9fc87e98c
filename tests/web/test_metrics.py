"""What Prometheus is told, and who may ask."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.task import Clock
from twisted.web.resource import Resource
from twisted.web.test.requesthelper import DummyRequest

from keepsake.events.types import Compaction, Fault, MemoryChange, Recall, Sleep, Thought
from keepsake.models.queue import Priority
from keepsake.models.status import Figures, ServerStatus
from keepsake.paths import REPOSITORY
from keepsake.web.live.door import Door, GuardedResource
from keepsake.web.live.metrics import (
    _LEVELS,
    _OUTCOMES,
    _PRIORITIES,
    _SLEEP_OPS,
    _TRIGGERS,
    LOOK_SECONDS,
    MOST_AGENTS,
    OTHERS,
    Lag,
    Metrics,
    Now,
)

TOKEN = "a-token-of-more-than-sixteen"
NOW = Now(
    agents={"idle": 2, "asleep": 1},
    memories=300,
    compacting=1,
    servers=[
        ServerStatus(
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
    ],
    event_log_waiting=5,
    event_log_lost=2,
    event_log_writable=False,
    live_streams=3,
    reactor_lag_worst_seconds=0.25,
    up=True,
)


def thought(**changes) -> Thought:
    known = {
        "agent": "Mira",
        "trigger": "addressed",
        "priority": "player",
        "outcome": "acted",
        "source": "Tom the Unmentionable",
        "prompt": "~Mira>",
        "prompt_tokens": 800,
        "cached_tokens": 600,
        "completion_tokens": 20,
        "wait": 0.2,
        "latency": 1.5,
        "model": "gemma",
    }
    return Thought(**{**known, **changes})


def values(metrics: Metrics, now: Now = NOW) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.text(now).decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return values(metrics)[f"keepsake_{name}", frozenset(labels.items())]


def test_thoughts_are_counted_with_their_tokens_and_times():
    metrics = Metrics()
    metrics.took(thought())
    metrics.took(thought(agent="Wren", cached_tokens=0))
    metrics.took(thought(outcome="no answer", model="", prompt_tokens=0, problem="nobody there"))
    metrics.took(thought(outcome="dropped", prompt="", model=""))
    assert value(metrics, "thoughts_total", agent="Mira", outcome="acted") == 1
    assert value(metrics, "thoughts_total", agent="Mira", outcome="no answer") == 1
    assert value(metrics, "thought_triggers_total", trigger="addressed") == 4
    assert value(metrics, "prompt_tokens_total", agent="Mira") == 800
    assert value(metrics, "cached_tokens_total", agent="Mira") == 600
    assert value(metrics, "completion_tokens_total", agent="Wren") == 20
    # No answer has no latency; what was never sent has waited for nothing.
    assert value(metrics, "thought_latency_seconds_count", priority="player") == 2
    assert value(metrics, "thought_latency_seconds_sum", priority="player") == 3.0
    assert value(metrics, "thought_wait_seconds_count", priority="player") == 3


def test_memories_compactions_searches_faults_and_nights_are_counted():
    metrics = Metrics()
    metrics.took(MemoryChange(agent="Mira", op="append", n=1, of="act", size=3))
    metrics.took(MemoryChange(agent="Mira", op="undo", n=0, problem="there is none"))
    metrics.took(
        Compaction(
            agent="Mira",
            reason="high",
            outcome="waterfall",
            number=3,
            tokens_before=4000,
            tokens_after=1500,
            seconds=7.0,
            prompt_tokens=900,
            completion_tokens=100,
        )
    )
    metrics.took(Compaction(agent="Mira", reason="count", outcome="failed", problem="gone"))
    metrics.took(Recall(agent="Mira", by="thought", question="cups?", found=2, seconds=0.02))
    metrics.took(Recall(agent="Mira", by="agent", question="cups?", seconds=0.02))
    metrics.took(Recall(agent="Mira", by="agent", question="?", searched=False, seconds=0.5))
    metrics.took(Fault(level="warning", text="Careful"))
    metrics.took(Sleep(agent="Mira", op="step", step="dream", problem="no model"))
    assert value(metrics, "memory_operations_total", op="append", failed="no") == 1
    assert value(metrics, "memory_operations_total", op="undo", failed="yes") == 1
    assert value(metrics, "compactions_total", reason="high", outcome="waterfall") == 1
    assert value(metrics, "compactions_total", reason="count", outcome="failed") == 1
    assert value(metrics, "compaction_seconds_count") == 1  # the failed one took no time
    assert value(metrics, "compaction_saved_tokens_total") == 2500
    assert value(metrics, "compaction_tokens_total", kind="prompt") == 900
    assert value(metrics, "recalls_total", by="thought", result="found") == 1
    assert value(metrics, "recalls_total", by="agent", result="nothing") == 1
    assert value(metrics, "recalls_total", by="agent", result="not searched") == 1
    assert value(metrics, "recall_seconds_count", by="agent") == 2
    assert value(metrics, "faults_total", level="warning") == 1
    assert value(metrics, "sleep_events_total", op="step", failed="yes") == 1


def test_what_is_so_now_is_told():
    metrics = Metrics()
    who = {"provider": "ollama", "host": "http://127.0.0.1:11434"}
    assert value(metrics, "up") == 1
    assert value(metrics, "agents", state="asleep") == 1
    assert value(metrics, "memories") == 300
    assert value(metrics, "compacting") == 1
    assert value(metrics, "queue_length", **who, priority="idle") == 4
    assert value(metrics, "queue_running", **who) == 2
    assert value(metrics, "model_server_ready", **who) == 0
    assert value(metrics, "model_calls_total", **who, failed="no") == 7
    assert value(metrics, "model_calls_total", **who, failed="yes") == 3
    assert value(metrics, "model_tokens_total", **who, kind="prompt") == 90
    assert value(metrics, "model_tokens_total", **who, kind="cached") == 60
    assert value(metrics, "model_server_places", **who) == 2
    assert value(metrics, "event_log_waiting") == 5
    assert value(metrics, "event_log_writable") == 0
    assert value(metrics, "event_log_lost_total") == 2
    assert value(metrics, "live_streams") == 3
    assert value(metrics, "reactor_lag_worst_seconds") == 0.25
    nothing = values(metrics, Now())
    assert nothing["keepsake_up", frozenset()] == 0


def test_so_many_agents_are_told_apart_and_no_player_is():
    metrics = Metrics()
    for number in range(MOST_AGENTS + 50):
        metrics.took(thought(agent=f"Agent {number}", source=f"Player {number}"))
    text = metrics.text(NOW).decode()
    assert "Player" not in text
    assert value(metrics, "thoughts_total", agent=OTHERS, outcome="acted") == 50
    again = len(text.splitlines())
    for number in range(10_000):
        metrics.took(thought(agent=f"Yet another {number}"))
    assert len(metrics.text(NOW).decode().splitlines()) == again


def test_a_name_with_odd_signs_breaks_no_line():
    metrics = Metrics()
    odd = 'Mi"ra\\\n{x="y"} 7'
    metrics.took(thought(agent=odd))
    assert value(metrics, "thoughts_total", agent=odd, outcome="acted") == 1


def test_two_worlds_do_not_share_counters():
    one, other = Metrics(), Metrics()
    one.took(thought())
    assert ("keepsake_thoughts_total", frozenset()) not in values(other)
    assert not any("thoughts_total" in name for name, _ in values(other))


def test_what_is_known_begins_at_nothing_so_that_the_first_of_it_is_an_increase():
    metrics = Metrics()
    before = values(metrics, Now(names=["Mira"]))
    for name, labels in (
        ("faults_total", {"level": "error"}),
        ("faults_total", {"level": "warning"}),
        ("sleep_events_total", {"op": "wakes", "failed": "no"}),
        ("thought_triggers_total", {"trigger": "addressed"}),
        ("memory_operations_total", {"op": "append", "failed": "no"}),
        ("compactions_total", {"reason": "high", "outcome": "waterfall"}),
        ("compactions_total", {"reason": "count", "outcome": "failed"}),
        ("compaction_tokens_total", {"kind": "completion"}),
        ("recalls_total", {"by": "agent", "result": "found"}),
        ("thoughts_total", {"agent": "Mira", "outcome": "no answer"}),
        ("prompt_tokens_total", {"agent": "Mira"}),
        ("thought_latency_seconds_count", {"priority": "idle"}),
    ):
        assert before[f"keepsake_{name}", frozenset(labels.items())] == 0, (name, labels)
    metrics.took(Fault(level="error", text="?"))
    assert value(metrics, "faults_total", level="error") == 1


@pytest.mark.parametrize(
    ("shape", "field", "named"),
    [
        (Thought, "outcome", _OUTCOMES),
        (Thought, "trigger", _TRIGGERS),
        (Thought, "priority", _PRIORITIES),
        (Fault, "level", _LEVELS),
        (Sleep, "op", _SLEEP_OPS),
    ],
)
def test_those_are_the_values_that_events_are_said_to_have(shape, field, named):
    told = re.search(rf"((?:^ +#: .*\n)*)^ +{field}: (.*)$", inspect.getsource(shape), re.MULTILINE)
    assert told is not None
    comment = re.sub(r"\s*#: ", " ", f"{told[1]}{told[2]}")
    said = {" ".join(each.split()) for each in re.findall(r"``([^`]+)``", comment)}
    assert set(named) == said - {"vault/config"}


def test_the_number_of_series_is_as_documented():
    metrics = Metrics()
    alone = len(values(metrics))
    each = len(values(metrics, replace(NOW, names=["Mira"]))) - alone
    text = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    said = re.search(r"about (\d+) for each agent, and (\d+) for all", text)
    assert said is not None
    assert each == int(said[1])
    assert abs(alone - int(said[2])) < 40


def test_lag_is_what_the_reactor_comes_too_late():
    clock, seen = Clock(), []
    lag = Lag(clock, seen.append)
    lag.start()
    clock.advance(LOOK_SECONDS)
    assert seen == [0.0]
    clock.advance(LOOK_SECONDS + 0.3)
    assert seen[1] == pytest.approx(0.3)
    assert lag.worst == pytest.approx(0.3)
    for _ in range(150):
        clock.advance(LOOK_SECONDS)
    assert lag.worst == pytest.approx(0.0)  # that was more than a minute ago
    lag.stop()
    assert not clock.getDelayedCalls()


class _Inside(Resource):
    def __init__(self) -> None:
        super().__init__()
        self.isLeaf = True

    def render(self, request):
        return b"all of it"


def ask(door: Door, peer=None, path=b"metrics", method=b"GET", **headers: str):
    """What the gate answers: status, text, headers."""
    request = DummyRequest([b""] if path == b"metrics" else [path])
    request.client = peer or IPv4Address("TCP", "127.0.0.1", 40_000)
    request.method = method
    for name, each in {"host": "localhost:4001", **headers}.items():
        request.requestHeaders.setRawHeaders(name.replace("_", "-"), [each.encode()])
    text = GuardedResource(door, _Inside()).render(request)
    return request.responseCode or 200, text


OUTSIDE = IPv4Address("TCP", "10.0.0.5", 40_000)


def test_this_machine_may_ask_and_nobody_else():
    assert ask(Door()) == (200, b"all of it")
    assert ask(Door(), IPv6Address("TCP", "::1", 1), host="[::1]") == (200, b"all of it")
    assert ask(Door(), OUTSIDE) == (403, b"")
    assert ask(Door(), IPv6Address("TCP", "2001:db8::1", 1)) == (403, b"")


@pytest.mark.parametrize(
    "name", ["X_Forwarded_For", "x-real-ip", "Forwarded", "Via", "x-forwarded-host"]
)
def test_what_came_by_a_proxy_is_from_elsewhere_whatever_it_says(name):
    assert ask(Door(), **{name: "127.0.0.1"}) == (403, b"")


def test_behind_the_portal_counts_for_whom_it_asks():
    def behind():
        return Door(behind_portal=True)

    assert ask(behind(), x_forwarded_for="127.0.0.1") == (200, b"all of it")
    assert ask(behind(), x_forwarded_for="10.0.0.5") == (403, b"")
    assert ask(behind(), x_forwarded_for="127.0.0.1", via="nginx") == (403, b"")
    assert ask(behind(), OUTSIDE, x_forwarded_for="127.0.0.1") == (403, b"")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4001", "localhost.evil.example", ""]
)
def test_a_page_elsewhere_cannot_have_a_name_of_its_own_lead_here(host):
    assert ask(Door(), host=host) == (403, b"")


def test_with_a_token_it_is_asked_of_everybody():
    door = Door(f" {TOKEN}\n")
    assert ask(door) == (403, b"")
    assert ask(door, authorization=f"Bearer {TOKEN}") == (200, b"all of it")
    assert ask(door, authorization=f"bearer  {TOKEN}") == (200, b"all of it")
    assert ask(door, OUTSIDE, authorization=f"Bearer {TOKEN}", via="nginx") == (200, b"all of it")
    for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer ü"):
        assert ask(door, authorization=wrong) == (403, b""), wrong


def test_a_token_that_could_be_guessed_opens_to_nobody_and_says_so():
    door = Door("guess")
    assert ask(door, authorization="Bearer guess") == (403, b"")
    assert "openssl rand" in door.problem
    assert not Door().problem
    assert not Door(TOKEN).problem


def test_only_looking_and_only_there():
    assert ask(Door(), method=b"POST") == (405, b"")
    assert ask(Door(), path=b"agents") == (404, b"")
    assert ask(Door(), OUTSIDE, path=b"agents") == (403, b"")
    assert ask(Door(), OUTSIDE, method=b"POST") == (403, b"")


# -- the documents


def told() -> set[str]:
    """The names of all series, when everything has happened once."""
    metrics = Metrics()
    metrics.took(thought())
    metrics.took(MemoryChange(agent="Mira", op="append", n=1))
    metrics.took(Compaction(agent="Mira", reason="high", outcome="waterfall", number=1))
    metrics.took(Recall(agent="Mira", by="agent", question="?"))
    metrics.took(Fault(level="error", text="?"))
    metrics.took(Sleep(agent="Mira", op="wakes"))
    metrics.late(0.1)
    return {name for name, _ in values(metrics)}


def expressions() -> Iterator[str]:
    path = REPOSITORY / "docs" / "grafana-keepsake.json"
    dashboard = json.loads(path.read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        yield str(variable.get("query", ""))


def test_the_dashboard_of_grafana_asks_only_for_what_there_is():
    known, asked = told(), list(expressions())
    assert len(asked) > 10
    for expression in asked:
        for name in re.findall(r"\b(?:keepsake|process)_[a-z_0-9]+", expression):
            assert name in known, f"{name} in {expression}"


def test_the_dashboard_of_grafana_shows_every_metric_of_this_job():
    asked = " ".join(expressions())
    for name in {re.sub(r"_(?:bucket|count|sum)$", "", each) for each in told()}:
        if name.startswith("keepsake_"):
            assert re.search(rf"\b{name}(?:_bucket)?\{{", asked), name
    for expression in expressions():
        for name, labels in re.findall(r"\b((?:keepsake|process)_\w+)(\{[^}]*\})?", expression):
            if not expression.startswith("label_values(keepsake_up"):
                assert 'job=~"$job"' in labels, f"{name} in {expression}"


def test_the_dashboard_of_grafana_counts_no_agent_twice_and_no_fault_as_no_data():
    path = REPOSITORY / "docs" / "grafana-keepsake.json"
    panels = json.loads(path.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        asked = [target["expr"] for target in panel["targets"]]
        if any("keepsake_agents{" in each for each in asked):
            assert len(asked) == 1, panel["title"]
        if panel["type"] == "stat" and "increase(" in asked[0]:
            assert asked[0].endswith("or vector(0)"), panel["title"]


def test_the_page_names_only_metrics_that_there_are_and_each_metric_explains_itself():
    text = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(keepsake_[a-z_0-9]+)", text))
    plain = {re.sub(r"_(?:bucket|count|sum)$", "", each) for each in told()}
    assert len(named) > 5
    assert named <= plain
    for family in text_string_to_metric_families(Metrics().text(NOW).decode()):
        assert family.documentation, family.name
