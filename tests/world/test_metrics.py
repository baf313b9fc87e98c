"""The metrics of ``/metrics``, and the dashboard's pages that update themselves."""

from __future__ import annotations

import json
import re
from typing import Any
from unittest.mock import patch

from prometheus_client.parser import text_string_to_metric_families

from keepsake.agent import runtime
from keepsake.contrib.evennia import lifecycle
from keepsake.events.log import EventLog
from keepsake.events.types import Guard
from keepsake.paths import REPOSITORY
from keepsake.web.history import new_events
from keepsake.web.watching import Watching, watching
from tests.log_lines import LogLines
from tests.world.agents_world import AgentsWorld


class MetricsWorld(AgentsWorld):
    """A world with metrics and an event log."""

    def start_services(self) -> runtime.Runtime:
        new = super().start_services()
        self.watching = Watching(new.places)
        self.watching.listen_to(new.subscribers)
        new.events = EventLog(new.places.events, subscribers=new.subscribers)
        self.log = new.events
        self.addCleanup(self.log.close)
        return new

    def shown(self) -> list[dict[str, Any]]:
        """Return the records that a page would show by now."""
        assert self.log.flush(60)
        return [*new_events(self.log.folder, 0, 0, self.watching.complete).events]

    def families(self) -> list[Any]:
        """Return the metrics for Prometheus, after a check that they name nobody."""
        text = self.watching.metrics.text().decode()
        assert "Tom" not in text
        assert "Mira" not in text
        return list(text_string_to_metric_families(text))

    def value(self, name: str, **labels: str) -> float:
        for sample in (sample for family in self.families() for sample in family.samples):
            if sample.name == f"keepsake_{name}" and sample.labels == labels:
                return float(sample.value)
        raise AssertionError(f"no {name} {labels}")


def refused_by_guards() -> float:
    """Return how many answers the metrics of this process count as refused."""
    found = re.search(
        r'keepsake_guards_total\{op="refused"\} (.+)', watching().metrics.text().decode()
    )
    return float(found[1]) if found else 0.0


class StartTest(AgentsWorld):
    """The dashboard's app, not the agents, connects the metrics."""

    def test_the_metrics_count_from_the_first_event_on(self):
        subscribers = lifecycle._listeners()
        event = Guard(agent="Mira", task="talk", op="refused", before="", reason="")
        before = refused_by_guards()
        for listener in subscribers.on_event:
            listener(event)
        assert refused_by_guards() == before + 1

    def test_a_game_without_the_dashboard_has_no_listener(self):
        with patch.object(lifecycle, "at_agents_start", []):
            assert lifecycle._listeners().on_event == []

    def test_an_app_that_fails_stops_neither_the_agents_nor_other_apps(self):
        added = []

        def broken(_):
            raise RuntimeError("a bug in an app")

        with patch.object(lifecycle, "at_agents_start", [broken, added.append]), LogLines() as log:
            subscribers = lifecycle._listeners()
        assert added == [subscribers]
        assert log.having("Listeners to events could not be added")


class WatchedTest(MetricsWorld):
    WORDS = "Good evening. connect Tom c67jHL8p"
    ANSWER = "> say The leek soup. | Tom is hungry"

    def test_thoughts_are_counted(self):
        self.ask(self.WORDS, self.ANSWER, seconds=20)
        assert self.value("thoughts_total", outcome="acted") >= 1
        assert self.value("tokens_total", of="prompts") > 0
        assert self.value("thought_latency_seconds_count", priority="player") >= 1
        assert self.value("agents", state="idle") == self.value("up") == 1

    def test_events_are_streamed_with_memories_and_reasons(self):
        self.ask(self.WORDS, self.ANSWER, seconds=20)
        records = self.shown()
        remembered = [each["remembered"] for each in records if "remembered" in each]
        heard = next(each for each in remembered if "Good evening" in each["text"])
        assert (heard["source"], heard["place"]) == ("Tom", "The Inn")
        act = next(each for each in remembered if each["kind"] == "act")
        assert (act["what"]["words"], act["reason"]) == ("The leek soup.", "Tom is hungry")
        # Two happenings, each with an id.
        assert len({heard["happening"], act["happening"], ""}) == 3
        assert [each["seq"] for each in records] == list(range(1, len(records) + 1))

    def test_a_password_typed_as_speech_is_not_streamed(self):
        self.ask(self.WORDS, self.ANSWER, seconds=20)
        assert "c67jHL8p" not in json.dumps(self.shown())

    def test_grafanas_dashboard_and_the_docs_name_existing_metrics(self):
        there = {f"{f.name}{'_total' * (f.type == 'counter')}" for f in self.families()}
        docs = REPOSITORY / "docs"
        panels = json.loads((docs / "grafana-keepsake.json").read_text(encoding="utf-8"))["panels"]
        asked = " ".join(target["expr"] for each in panels for target in each.get("targets", []))
        named = set(
            re.findall(r"\b((?:keepsake|process)_[a-z_0-9]+?)(?:_(?:bucket|count|sum))?\b", asked)
        )
        assert named <= there
        assert {name for name in there if name.startswith("keepsake_")} <= named
        told = set(re.findall(r"`(keepsake_[a-z_0-9]+)", (docs / "events.md").read_text("utf-8")))
        assert len(told) > 5
        assert told <= there
