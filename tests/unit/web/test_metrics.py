"""Who may ask for the metrics."""

from __future__ import annotations

from types import SimpleNamespace

from django.http.request import HttpHeaders

from keepsake.web.access import METRICS_TOKEN, may_read_metrics

TOKEN = "a-token-of-more-than-sixteen"


def asked(peer: str = "127.0.0.1", **headers: str) -> bool:
    meta = {"REMOTE_ADDR": peer}
    meta |= {f"HTTP_{name.upper()}": each for name, each in headers.items()}
    return may_read_metrics(SimpleNamespace(META=meta, headers=HttpHeaders(meta)))


def test_without_a_token_this_machine_may_ask_and_nobody_else(monkeypatch):
    monkeypatch.delenv(METRICS_TOKEN, raising=False)
    assert asked()
    assert asked("::1")
    assert not asked("10.0.0.5")
    assert not asked("no address")


def test_with_a_token_it_is_asked_of_everybody(monkeypatch):
    monkeypatch.setenv(METRICS_TOKEN, f" {TOKEN}\n")
    assert not asked()
    assert asked(authorization=f"Bearer {TOKEN}")
    assert asked("10.0.0.5", authorization=f"Bearer {TOKEN}")
    for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer ü"):
        assert not asked(authorization=wrong), wrong
