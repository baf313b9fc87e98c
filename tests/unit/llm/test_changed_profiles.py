"""A profile that changes while calls wait: they end with their server and are asked anew."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from keepsake.errors import CallCancelled, ModelUnavailable
from keepsake.models import gateway as gateways
from keepsake.models.gateway import Gateway
from keepsake.models.tickets import Outcome, Priority, Ticket
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.fakes.odd_server import STREAM, OddServer, Send
from tests.unit.llm.conftest import Owner, running_gateway, until

SUMMARIZER = "provider=none"


@pytest.fixture(autouse=True)
def fast_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateways, "WATCH_SECONDS", 0.05)


@dataclass
class Calls:
    """Calls of the profile ``agent``, and what came of them."""

    gateway: Gateway
    owner: Owner
    home: Places
    outcomes: list[Outcome] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def submit(self) -> Ticket:
        request = GenerationRequest("x", max_tokens=40, on_text=self.pieces.append)
        return self.owner.call(
            lambda: self.gateway.submit(
                "agent", Priority.PLAYER, None, lambda _: request, self.outcomes.append
            )
        )

    def change(self, agent: str) -> None:
        page = llm_page(agent=agent, summarizer=SUMMARIZER)
        (self.home.config / "llm.md").write_text(page)

    def texts(self) -> list[str]:
        """Return the answers, which the test expects to be answers."""
        return [each.text for each in self.outcomes if isinstance(each, Generation)]


@contextmanager
def calls_to(server: str, home: Places, owner: Owner) -> Iterator[Calls]:
    page = llm_page(agent=profile(server), summarizer=SUMMARIZER)
    (home.config / "llm.md").write_text(page)
    with running_gateway(home, owner) as gateway:
        yield Calls(gateway, owner, home)


def profile(server: str, **settings: str) -> str:
    own = {"provider": "openai", "model": "fake", "host": server, "time_limit": "3600", **settings}
    return " ".join(f"{name}={value}" for name, value in own.items())


def silence(send: Send, closing: threading.Event) -> None:
    closing.wait()


def test_calls_that_wait_are_asked_of_the_new_server(
    home: Places, owner: Owner, fake: FakeModelServer
):
    fake.script = lambda _: "Good day."
    with OddServer(silence) as odd, calls_to(odd.address, home, owner) as calls:
        for _ in range(3):  # two are in flight, one waits
            calls.submit()
        for _ in range(2):
            assert odd.asked.acquire(timeout=60)
        calls.change(profile(fake.address))
        until(lambda: len(calls.outcomes) == 3, 60)
        assert calls.texts() == ["Good day."] * 3
        for _ in range(2):
            assert odd.gone.acquire(timeout=60), "the old calls are ended"
        assert owner.call(lambda: [s.running for s in calls.gateway.used_servers()]) == [[]]


def test_an_answer_that_has_begun_is_not_asked_twice(
    home: Places, owner: Owner, fake: FakeModelServer
):
    go_on = threading.Event()
    pieces = [b'{"choices": [{"text": "I am "}]}', b'{"choices": [{"text": "Mira."}]}', b"[DONE]"]

    def slowly(send: Send, closing: threading.Event) -> None:
        send(STREAM + b"data: %s\n\n" % pieces[0])
        go_on.wait(60)
        send(b"".join(b"data: %s\n\n" % piece for piece in pieces[1:]))

    with OddServer(slowly) as odd, calls_to(odd.address, home, owner) as calls:
        calls.change(profile(odd.address, form="script"))
        calls.submit()
        until(lambda: calls.pieces, 60)
        calls.change(profile(fake.address))
        new = ("openai", fake.address)
        until(lambda: new in calls.gateway.servers, 60)
        go_on.set()
        until(lambda: calls.outcomes, 60)
        assert calls.texts() == ["I am Mira."]
        assert "".join(calls.pieces) == "I am Mira."


def test_other_settings_do_not_interrupt_a_call(home: Places, owner: Owner, fake: FakeModelServer):
    gate = threading.Event()
    path = "/v1/chat/completions"
    fake.always(path, Reply(gate=gate, text="Good day."))
    with calls_to(fake.address, home, owner) as calls:
        calls.submit()
        until(lambda: fake.calls(path), 60)
        calls.change(profile(fake.address, temperature="0.1"))
        before = calls.gateway.profiles.get("agent")
        until(lambda: calls.gateway._models["agent"][0].profile == before, 60)
        gate.set()
        until(lambda: calls.outcomes, 60)
        assert calls.texts() == ["Good day."]
        assert len(fake.calls(path)) == 1


def test_calls_of_a_profile_without_a_model_end_at_once(home: Places, owner: Owner):
    with OddServer(silence) as odd, calls_to(odd.address, home, owner) as calls:
        calls.submit()
        assert odd.asked.acquire(timeout=60)
        calls.change("provider=none")
        until(lambda: calls.outcomes, 60)
        assert isinstance(calls.outcomes[0], ModelUnavailable)
        assert not isinstance(calls.outcomes[0], CallCancelled)


def test_a_stopped_server_is_replaced_by_the_one_that_the_profile_names_now(
    home: Places, owner: Owner, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch
):
    fake.script = lambda _: "Good day."
    ended = threading.Event()

    def stopped(send: Send, closing: threading.Event) -> None:
        ended.wait(60)

    with OddServer(stopped) as odd, calls_to(odd.address, home, owner) as calls:
        monkeypatch.setattr(gateways, "WATCH_SECONDS", 3600)  # the server ends before a check
        until(lambda: calls.gateway.servers[("openai", odd.address)].health == "ready", 60)
        calls.submit()
        assert odd.asked.acquire(timeout=60)
        calls.change(profile(fake.address))
        odd.close()
        ended.set()
        until(lambda: calls.outcomes, 60)
        assert calls.texts() == ["Good day."]


def test_cancelled_calls_are_not_counted_as_in_flight(home: Places, owner: Owner):
    with OddServer(silence) as odd, calls_to(odd.address, home, owner) as calls:
        tickets = [calls.submit() for _ in range(2)]
        for _ in tickets:
            assert odd.asked.acquire(timeout=60)
        server = calls.gateway.servers[("openai", odd.address)]
        for ticket in tickets:
            ticket.cancelled = True
        assert server.live == 0
        calls.submit()
        assert odd.asked.acquire(timeout=60), "a cancelled call takes no place"
        until(lambda: len(server.running) == 1, 60)
        assert server.live == 1
        assert server.health == "ready"
