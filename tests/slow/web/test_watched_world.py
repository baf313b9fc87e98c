"""The running world, watched through the Portal: who may, what they see, and over a reload."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import httpx
import pytest

from tests.fakes.model_server import FakeModelServer
from tests.free_ports import free_port
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import PASSWORD, Player
from tests.slow.e2e.running import WITH_RULES, running

TOKEN = "0123456789abcdef0123456789"
PATIENCE = 60.0
"""Seconds until a test gives up on what never comes."""


class Event(NamedTuple):
    """What a browser would dispatch."""

    kind: str
    data: Any
    id: int


class Browser:
    """Reads a stream as a browser does; ``last_id`` is what it sends when it comes again."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines, self.last_id = response.iter_lines(), ""

    def next(self) -> Event:
        """The next event but beats; StopIteration when the stream has ended."""
        fields: dict[str, str] = {}
        while True:
            line = next(self._lines)
            name, _, value = line.partition(": ")
            fields[name] = value
            self.last_id = value if name == "id" else self.last_id
            if not line:
                if fields.get("event", "beat") != "beat":
                    data = json.loads(fields["data"])
                    return Event(fields["event"], data, int(fields.get("id", 0)))
                fields = {}

    def rest(self) -> list[Event]:
        """All until the stream ends."""
        found = []
        with suppress(StopIteration, httpx.RemoteProtocolError):
            while True:
                found.append(self.next())
        return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory, tables) -> Iterator[Copy]:
    times = itertools.count(1)

    def script(_prompt: str) -> str:  # never the same twice: agents refuse to repeat themselves
        return f" say The ferry leaves at {next(times)}. | somebody asked"

    with FakeModelServer(free_port(), models=["comma"], script=script) as fake:
        folder, host = tmp_path_factory.mktemp("watched"), fake.address
        token = {"KEEPSAKE_METRICS_TOKEN": TOKEN}
        with running(folder, tables, llm=WITH_RULES, OLLAMA_HOST=host, **token) as made:
            yield made


def base(copy: Copy) -> str:
    return f"http://127.0.0.1:{copy.here.ports.web}"


@contextmanager
def log_in(copy: Copy, name: str, password: str) -> Iterator[httpx.Client]:
    """Somebody who has come through the log-in page."""
    with httpx.Client(base_url=base(copy), timeout=PATIENCE) as client:
        page = client.get("/auth/login/").text
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found is not None
        form = {"username": name, "password": password, "csrfmiddlewaretoken": found[1]}
        assert client.post("/auth/login/", data=form).status_code == 302
        yield client


@pytest.fixture
def admin(copy: Copy) -> Iterator[httpx.Client]:
    with log_in(copy, "admin", copy.here.admin_password.read_text().strip()) as client:
        yield client


def until(browser: Browser, **wanted: Any) -> tuple[Any, list[int]]:
    """The next event with these fields, and the numbers of all up to it."""
    numbers = []
    deadline = time.monotonic() + PATIENCE * 3
    while time.monotonic() < deadline:
        event = browser.next()
        numbers.append(event.id)
        assert event.kind != "gap"
        if all(event.data.get(name) == value for name, value in wanted.items()):
            return event, numbers
    raise AssertionError(wanted)


def test_strangers_and_players_get_the_same_nothing(copy):
    ada = Player.new(copy, "Ada")
    ada.see("The Kettle")
    ada.leave()
    with httpx.Client(base_url=base(copy)) as stranger, log_in(copy, "Ada", PASSWORD) as player:
        answers = {
            (answer.status_code, answer.text)
            for client in (stranger, player)
            for path in ("/agents-live", "/agents-live?agent=1", "/agents-live?agent=999999")
            for answer in [client.get(path)]
        }
        api = player.get("/agents/api/agents")
    assert answers == {(403, api.text)}


def test_staff_see_what_an_agent_lives_through_and_miss_nothing_at_a_reload(copy, admin):
    with admin.stream("GET", "/agents-live", timeout=PATIENCE) as response:
        assert response.status_code == 200
        browser = Browser(response)
        bo = Player.new(copy, "Bo")
        bo.see("The Kettle")
        bo.type("talk mira When does the ferry leave?", "You say")
        _, heard = until(
            browser, kind="memory", text='Bo says to you, "When does the ferry leave?"'
        )
        said, more = until(browser, kind="memory", of="act", agent="Mira")
        assert said.data["text"].startswith("say The ferry leaves at ")
        assert said.data["reason"] == "somebody asked"
        thought, rest = until(browser, kind="thought", outcome="acted", agent="Mira")
        assert thought.data["sections"]["window"] > 0
        assert copy.keepsake("reload").returncode == 0
        rest += [each.id for each in browser.rest()]
    seen, deadline = heard + more + rest, time.monotonic() + PATIENCE * 3
    while True:  # as a browser does
        headers = {"Last-Event-ID": browser.last_id}
        with admin.stream("GET", "/agents-live", headers=headers, timeout=PATIENCE) as response:
            assert response.status_code == 200
            again = Browser(response)
            try:
                _, numbers = until(again, kind="world", op="starts")
            except StopIteration:  # the Portal says: come again
                assert time.monotonic() < deadline
                time.sleep(0.2)
                continue
            break
    seen += numbers
    assert seen == list(range(seen[0], seen[0] + len(seen)))
    bo.leave()


def test_metrics_ask_for_the_token_whoever_asks(copy):
    shown = {"Authorization": f"Bearer {TOKEN}"}
    for port in (copy.here.ports.web, copy.here.ports.web_internal):
        address = f"http://127.0.0.1:{port}/metrics"
        refused = httpx.get(address)
        assert (refused.status_code, refused.text) == (403, "")
        answer = httpx.get(address, headers={**shown, "X-Forwarded-For": "192.0.2.1"})
        assert answer.status_code == 200
        assert "\nkeepsake_up 1.0\n" in answer.text
        assert 'keepsake_agents{state="idle"}' in answer.text
    logs = copy.here.events.rglob("*.jsonl")
    assert all(TOKEN not in path.read_text() for path in logs)


def test_nothing_broke_in_portal_or_server(copy):
    for name in ("server.log", "portal.log", "agents.log"):
        text = (copy.here.logs / name).read_text(errors="replace")
        assert "Traceback" not in text, text[-3000:]
        assert "Unhandled" not in text, text[-3000:]
