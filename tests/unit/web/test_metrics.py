"""Who may read the metrics, and the cached share in them."""

from __future__ import annotations

from types import SimpleNamespace

from django.http.request import HttpHeaders

from keepsake.events.types import Thought
from keepsake.events.values import ThoughtOutcome, Urgency
from keepsake.web.access import METRICS_TOKEN, may_read_metrics
from keepsake.web.metrics import Metrics

TOKEN = "a-token-of-more-than-sixteen"


def may_read(peer: str = "127.0.0.1", **headers: str) -> bool:
    meta = {"REMOTE_ADDR": peer}
    meta |= {f"HTTP_{name.upper()}": each for name, each in headers.items()}
    return may_read_metrics(SimpleNamespace(META=meta, headers=HttpHeaders(meta)))


def test_without_a_token_only_this_machine_may_read_metrics(monkeypatch):
    monkeypatch.delenv(METRICS_TOKEN, raising=False)
    assert may_read()
    assert may_read("::1")
    assert not may_read("10.0.0.5")
    assert not may_read("no address")


def test_with_a_token_every_request_needs_it(monkeypatch):
    monkeypatch.setenv(METRICS_TOKEN, f" {TOKEN}\n")
    assert not may_read()
    assert may_read(authorization=f"Bearer {TOKEN}")
    assert may_read("10.0.0.5", authorization=f"Bearer {TOKEN}")
    for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer ü"):
        assert not may_read(authorization=wrong), wrong


def test_only_prompts_whose_server_says_what_it_cached_count_in_the_share():
    metrics = Metrics(lambda: ())
    for cached in (60, None, 80):
        metrics.on_event(
            Thought(
                agent="Mira",
                trigger="addressed",
                priority=Urgency.PLAYER,
                outcome=ThoughtOutcome.ACTED,
                model="a-model",
                prompt_tokens=80,
                cached_tokens=cached,
            )
        )
    text = metrics.text().decode()
    assert 'keepsake_tokens_total{of="prompts"} 240.0' in text
    assert 'keepsake_tokens_total{of="cached"} 140.0' in text
    assert 'keepsake_tokens_total{of="uncached"} 20.0' in text
    assert "keepsake_prompt_cached_share_sum 1.75" in text
    assert "keepsake_prompt_cached_share_count 2.0" in text
