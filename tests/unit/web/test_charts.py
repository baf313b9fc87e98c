"""Charts, computed from the event log on request."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.events.types import Thought
from keepsake.web import history

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)
MIRA = 7
TOM = 8


def thought(minutes: float, **more: Any) -> dict[str, Any]:
    fields = {"outcome": "acted", "model": "m", "latency": 2.0, "sections": {"window": 100}}
    tokens = {"prompt_tokens": 90, "cached_tokens": 45, "completion_tokens": 7, "budget": 4000}
    at = NOW - timedelta(minutes=minutes)
    return {"kind": Thought.kind, "agent_id": MIRA, "t": at.isoformat(), **fields, **tokens, **more}


def test_thoughts_are_counted_in_the_minute_in_which_they_ended(tmp_path: Path) -> None:
    events = (
        thought(70),
        thought(30, latency=4.0, sections={"window": 300}),
        thought(30),
        thought(30, outcome="no answer", model="", sections={"window": 200}),
        thought(20, outcome="dropped"),
        thought(10, agent_id=TOM),
        thought(0),
    )
    lines = [json.dumps({"seq": n, **e}, separators=(",", ":")) for n, e in enumerate(events, 1)]
    (tmp_path / f"events-{NOW.date()}-0000000001.jsonl").write_text("\n".join(lines) + "\n")
    made = history.series(tmp_path, MIRA, 0, 1, NOW)
    found = made.points
    assert (len(found), made.complete) == (history.POINTS, True)
    assert [(place, each.thoughts) for place, each in enumerate(found) if each.thoughts] == [
        (29, 3),
        (59, 1),
    ]
    half = found[29]
    assert (half.failed, half.no_answer, half.prompt_tokens) == (1, 1, 200.0)
    assert (half.completion_tokens, half.cached, half.budget) == (7.0, 0.5, 4000)
    assert (half.latency, half.latency_p95) == (4.0, 4.0)
    assert found[0].latency is found[0].cached is found[0].budget is None


def test_prompts_whose_server_does_not_say_what_it_cached_count_in_no_share() -> None:
    told = thought(30, cached_tokens=60, prompt_tokens=80)
    untold = thought(30, cached_tokens=None)
    assert history._point(0.0, [told, untold], 1).cached == 0.75
    assert history._point(0.0, [untold], 1).cached is None
