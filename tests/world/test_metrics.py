"""What agents really do is counted and streamed; who may watch is looked up by the real session."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.test import Client, override_settings
from django.utils import timezone
from evennia.utils import create
from prometheus_client.parser import text_string_to_metric_families
from twisted.internet.task import Clock

from keepsake.agent import runtime
from keepsake.events.log import EventLog
from keepsake.paths import REPOSITORY
from keepsake.web.access import watcher
from keepsake.web.watching import Watching
from tests.world.agents_world import AgentsWorld

_PASSWORD = "willow-harbour-lantern"


class Reactor(Clock):
    """The test's clock, with the test's mailbox in place of the reactor's."""

    def __init__(self, world: MetricsWorld) -> None:
        super().__init__()
        self._world = world

    def callFromThread(self, function: Any, *args: Any) -> None:  # noqa: N802 - Twisted's name
        self._world.posted.put(lambda: function(*args))


class MetricsWorld(AgentsWorld):
    """A world that is watched."""

    def start_services(self) -> runtime.Runtime:
        new = super().start_services()
        self.watching = Watching(new.places, Reactor(self))
        new.subscribers = self.watching.subscribers
        new.events = self.log = EventLog(new.places.events, subscribers=new.subscribers)
        self.addCleanup(self.log.close)
        return new

    def shown(self) -> list[dict[str, Any]]:
        """What the stream would show by now."""
        assert self.log.flush(60)
        self.settle()
        found, _ = self.watching.live.since(0)
        return [json.loads(self.watching.line(each)) for each in found]

    def families(self) -> list[Any]:
        """What Prometheus is told; nobody is named in it."""
        text = self.watching.metrics.text().decode()
        assert "Tom" not in text
        assert "Mira" not in text
        return list(text_string_to_metric_families(text))

    def value(self, name: str, **labels: str) -> float:
        for sample in (sample for family in self.families() for sample in family.samples):
            if sample.name == f"keepsake_{name}" and sample.labels == labels:
                return float(sample.value)
        raise AssertionError(f"no {name} {labels}")


class WatchedTest(MetricsWorld):
    def test_a_thought_and_its_memories_are_counted_and_streamed_with_words_and_reason(self):
        self.said = ["say The leek soup. | Tom is hungry", "wait"]
        self.char1.execute_cmd("talk mira Good evening. connect Tom c67jHL8p")
        self.pass_time(20)
        assert self.value("thoughts_total", outcome="acted") >= 1
        assert self.value("tokens_total", of="prompts") > 0
        assert self.value("thought_latency_seconds_count", priority="player") >= 1
        assert self.value("agents", state="idle") == self.value("up") == 1
        records = self.shown()
        heard = next(each for each in records if "Good evening" in each.get("text", ""))
        assert (heard["source"], heard["place"], heard["kind"]) == ("Tom", "The Inn", "memory")
        assert "c67jHL8p" not in heard["text"]
        act = next(each for each in records if each.get("of") == "act")
        assert (act["text"], act["reason"]) == ("say The leek soup.", "Tom is hungry")
        assert [each["seq"] for each in records] == list(range(1, len(records) + 1))

    def test_the_dashboard_of_grafana_and_the_page_name_metrics_that_there_are(self):
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


@override_settings(ALLOWED_HOSTS=["testserver"])
class WatcherTest(AgentsWorld):
    """The cookie of a real log-in, looked at as the stream does."""

    def somebody(self, name: str) -> Any:
        return create.create_account(name, "", _PASSWORD, permissions=["Player"])

    def cookie(self, account: Any) -> bytes:
        client = Client()
        client.force_login(account, django_settings.AUTHENTICATION_BACKENDS[0])
        self.browser = client
        return f"csrftoken=x; sessionid={client.cookies['sessionid'].value}; y=z".encode()

    def test_nobody_may_without_a_session(self):
        for cookies in (b"", b"sessionid=", b"sessionid=nonsense", b"\xff\x00=;;;", b"a" * 9000):
            assert not watcher(cookies)
        anonymous = Client()
        anonymous.get("/")
        session = anonymous.session
        session["x"] = 1
        session.save()
        assert not watcher(f"sessionid={session.session_key}".encode())

    def test_rights_that_were_taken_away_are_gone_at_once(self):
        builder = self.somebody("Bo")
        assert not watcher(self.cookie(builder)), "a player yet"
        builder.permissions.add("Builder")
        cookie = self.cookie(builder)
        assert watcher(cookie)
        builder.permissions.remove("Builder")
        assert not watcher(cookie)
        builder.permissions.add("Builder")
        builder.is_active = False
        builder.save()
        assert not watcher(cookie)

    def test_a_log_out_a_new_password_and_time_end_it(self):
        staff = self.somebody("Ada")
        staff.is_staff = True
        staff.save()
        cookie = self.cookie(staff)
        self.browser.logout()
        assert not watcher(cookie)
        cookie = self.cookie(staff)
        assert watcher(cookie)
        staff.set_password("another-long-password")
        staff.save()
        assert not watcher(cookie)
        cookie = self.cookie(staff)
        Session.objects.all().update(expire_date=timezone.now() - timedelta(seconds=1))
        assert not watcher(cookie)
