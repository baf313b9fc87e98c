"""The gateway with a real owner thread, real clients and a fake server over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from game.simulation.timeline import Timeline, TimelineGateway
from keepsake.errors import ConfigError, ModelMissing, ModelUnavailable
from keepsake.models import gateway as gateways
from keepsake.models import http, queue
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import ModelProfile, Profiles
from keepsake.models.queue import READY, ModelServer
from keepsake.models.tickets import Outcome, Priority
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.free_ports import free_base
from tests.unit.llm.conftest import Owner, running_gateway, until


def configure(home: Places, host: str, summarizer: str = "openai") -> Path:
    path = home.config / "llm.md"
    shared = f"host={host} model=fake time_limit=60"
    agent = f"provider=ollama {shared} in_flight=2"
    other = f"provider={summarizer} {shared}"
    path.write_text(llm_page(agent=agent, summarizer=other))
    return path


@pytest.fixture(autouse=True)
def fast_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateways, "WATCH_SECONDS", 0.05)
    monkeypatch.setattr(gateways, "PROBE_SECONDS", 0.1)


@pytest.fixture
def gateway(home: Places, owner: Owner, fake: FakeModelServer) -> Iterator[Gateway]:
    configure(home, fake.address)
    with running_gateway(home, owner) as gateway:
        yield gateway


def ollama_status(gateway: Gateway, owner: Owner) -> ModelServer:
    return next(s for s in owner.call(gateway.used_servers) if s.provider == "ollama")


def test_a_submitted_prompt_is_built_and_answered_in_the_owners_thread(
    gateway: Gateway, owner: Owner, fake: FakeModelServer
):
    seen: list[tuple[object, ...]] = []

    def build(profile: ModelProfile) -> GenerationRequest:
        seen.append((threading.current_thread(), profile.name))
        return GenerationRequest("Hi!")

    def done(outcome: Outcome) -> None:
        assert isinstance(outcome, Generation)
        seen.append((threading.current_thread(), outcome.text))

    fake.script = lambda prompt: prompt.upper()
    owner.call(lambda: gateway.submit("agent", Priority.PLAYER, "mira", build, done))
    until(lambda: len(seen) == 2)
    assert seen == [(owner.thread, "agent"), (owner.thread, "HI!")]


def test_other_threads_wait_for_their_answer(gateway: Gateway, owner: Owner, fake: FakeModelServer):
    fake.script = lambda prompt: prompt.upper()
    asked = gateway.generate("summarizer", lambda _: GenerationRequest("long ago"))
    assert asked.text == "USER: LONG AGO"
    built = gateway.generate("agent", lambda profile: GenerationRequest(f"by {profile.model}"))
    assert built.text == "BY FAKE"
    with pytest.raises(RuntimeError, match="by its owner"):
        owner.call(lambda: gateway.generate("agent", lambda _: GenerationRequest("x")))


def test_a_server_knows_its_profiles_and_counts_its_calls(
    gateway: Gateway, owner: Owner, fake: FakeModelServer
):
    for _ in range(2):
        gateway.generate("agent", lambda _: GenerationRequest("Hi!"))
    until(lambda: all(s.health == READY for s in owner.call(gateway.used_servers)))
    ollama = ollama_status(gateway, owner)
    assert (ollama.host, ollama.profiles) == (fake.address, ("agent: fake",))
    assert (ollama.calls, ollama.failures, ollama.places) == (2, 0, 2)


def test_a_profile_or_a_model_that_is_missing_is_named(gateway: Gateway, fake: FakeModelServer):
    with pytest.raises(ConfigError, match="poet"):
        gateway.generate("poet", lambda _: GenerationRequest("x"))
    fake.models = ["other"]
    with pytest.raises(ModelMissing, match="ollama pull fake"):
        gateway.generate("agent", lambda _: GenerationRequest("x"))


def test_a_profile_without_a_model_uses_no_server(
    gateway: Gateway, owner: Owner, fake: FakeModelServer, home: Places
):
    configure(home, fake.address, summarizer="none")
    with pytest.raises(ModelUnavailable, match="uses no model"):
        gateway.generate("summarizer", lambda _: GenerationRequest("x"))
    assert {status.provider for status in owner.call(gateway.used_servers)} == {"ollama"}


def built_for(gateway: Gateway, owner: Owner) -> list[ModelProfile]:
    """Submit a call that only records the profile for which its prompt is built."""
    seen: list[ModelProfile] = []

    def build(profile: ModelProfile) -> None:
        seen.append(profile)

    owner.call(lambda: gateway.submit("agent", Priority.PLAYER, None, build, lambda _: None))
    return seen


def test_no_prompt_is_built_before_the_model_is_detected(
    home: Places, owner: Owner, fake: FakeModelServer
):
    gate = threading.Event()
    fake.plan("/api/tags", Reply(gate=gate), Reply(gate=gate))
    fake.template = "{{ .System }} {{ .Prompt }}"
    fake.context = 4096
    fake.capabilities = ["completion", "tools"]
    configure(home, fake.address)
    with running_gateway(home, owner) as gateway:
        seen = built_for(gateway, owner)
        until(lambda: len(fake.calls("/api/tags")) >= 2)
        assert not seen
        assert ollama_status(gateway, owner).kind == "not known yet"
        gate.set()
        until(lambda: seen)
        (profile,) = seen
        assert (profile.form, profile.prompt_tokens, profile.max_tokens) == ("chat", 3072, 400)
        assert profile.takes_tools
        assert "ollama, chat, with tools; prompts of 3,072" in ollama_status(gateway, owner).kind


def test_a_prompt_that_is_too_long_is_rebuilt_smaller(
    home: Places, owner: Owner, fake: FakeModelServer
):
    fake.context = 3000  # the server says so only when it refuses
    configure(home, fake.address)
    sizes = list[int]()
    path = "/v1/chat/completions"

    def long(profile: ModelProfile) -> GenerationRequest:
        sizes.append(profile.prompt_tokens)
        return GenerationRequest("word " * profile.prompt_tokens)

    with running_gateway(home, owner) as gateway:
        assert gateway.generate("summarizer", long).text
        assert sizes[0] == 8000
        assert sizes == sorted(sizes, reverse=True), "each prompt is smaller"
        assert sizes[-1] <= 3000
        asked = len(fake.calls(path))
        gateway.generate("summarizer", long)
        assert len(fake.calls(path)) == asked + 1, "the limit is remembered"


def test_a_changed_profile_is_detected_again_before_its_first_call(
    home: Places, owner: Owner, fake: FakeModelServer
):
    fake.template = "{{ .System }} {{ .Prompt }}"
    configure(home, fake.address)
    path = home.config / "llm.md"
    with running_gateway(home, owner) as gateway:
        for number in range(3):
            path.write_text(path.read_text().replace("**time_limit**: 60", f"**seed**: {number}"))
            gateway.generate("agent", lambda _: GenerationRequest("Hello"))
            path.write_text(path.read_text().replace(f"**seed**: {number}", "**time_limit**: 60"))
        assert not fake.calls("/api/generate"), "a chat model gets no raw prompt"
        assert len(fake.calls("/api/chat")) == 3
        path.write_text(path.read_text().replace("## agent", "## agent\n**form**: script"))
        seen = built_for(gateway, owner)
        until(lambda: seen)
        assert seen[0].form == "script"


def test_a_missing_server_is_reported_and_used_once_it_starts(home: Places, owner: Owner):
    port = free_base()
    configure(home, f"http://127.0.0.1:{port}")
    with running_gateway(home, owner) as gateway:
        until(lambda: "ollama serve" in ollama_status(gateway, owner).health)
        with pytest.raises(ModelUnavailable, match="checked again"):
            gateway.generate("agent", lambda _: GenerationRequest("x"))
        with FakeModelServer(port):
            until(lambda: ollama_status(gateway, owner).health == READY)
            assert gateway.generate("agent", lambda _: GenerationRequest("x")).text


def test_a_server_that_is_back_is_found_however_often_it_is_asked_meanwhile(
    home: Places, owner: Owner, monkeypatch: pytest.MonkeyPatch
):
    for module in (queue, gateways):
        monkeypatch.setattr(module, "RECHECK_SECONDS", 1.0)
    port = free_base()
    configure(home, f"http://127.0.0.1:{port}")
    with running_gateway(home, owner) as gateway:

        def answers() -> bool:
            with suppress(ModelUnavailable):
                return bool(gateway.generate("agent", lambda _: GenerationRequest("x")).text)
            return False

        until(lambda: "ollama serve" in ollama_status(gateway, owner).health)
        assert not answers()
        with FakeModelServer(port):
            until(answers)


def test_a_server_that_asks_for_a_pause_of_centuries_is_asked_again(
    gateway: Gateway, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(http, "LONGEST_RETRY_AFTER", 0.2)
    path = "/api/generate"
    fake.plan(path, Reply(status=429, retry_after="9999999999"))
    assert gateway.generate("agent", lambda _: GenerationRequest("x")).text
    assert len(fake.calls(path)) == 2


def test_a_simulation_waits_for_a_model_in_its_only_thread(home: Places, fake: FakeModelServer):
    configure(home, fake.address)
    fake.script = lambda _: "Long ago."
    timeline = Timeline(datetime.now(UTC))
    too_late = threading.Event()
    gateway = TimelineGateway(timeline, Profiles(home.config / "llm.md"), home, lambda _: None)
    gateway.start()
    timer = threading.Timer(300, too_late.set)
    timer.start()
    answer = gateway.generate("summarizer", lambda _: GenerationRequest("?"), cancelled=too_late)
    timer.cancel()
    gateway.shutdown(stop_embedded=True)
    assert answer.text == "Long ago."
