"""Fleets over the wire: fakes that say what they are told to, and real llama.cpp servers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from keepsake.errors import KeepsakeError, ModelUnavailable
from keepsake.models import watch
from keepsake.models.clients import base
from keepsake.models.embedded import weights
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import ModelProfile, Profiles
from keepsake.models.queue import Outcome, Priority
from keepsake.models.status import READY, ServerStatus
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.llama_servers import LlamaServer, llama_servers
from tests.llm.conftest import Owner, until

LLAMAS = "**provider**: openai\n**model**: gemma-3-270m-q4_k_m\n**time_limit**: 300\n"
SUMMARIZER = "## summarizer\n**provider**: extractive\n"


class Crowd:
    """Agents that ask a gateway, and all that was answered."""

    def __init__(self, gateway: Gateway, owner: Owner) -> None:
        self.gateway, self.owner = gateway, owner
        self.came: list[list[Outcome]] = []

    def ask(self, agent: str, prompt: str = "hello", tokens: int = 8) -> list[Outcome]:
        def build(profile: ModelProfile) -> GenerationRequest:
            # Held to letters, so that no answer is empty.
            letters = f"root ::= [a-z]{{{tokens}}}" if profile.takes_grammar else None
            return profile.request(prompt, max_tokens=tokens, grammar=letters)

        came: list[Outcome] = []
        self.came.append(came)
        self.owner.call(
            lambda: self.gateway.submit("agent", Priority.EVENT, agent, build, came.append)
        )
        return came

    def answer(self, agent: str) -> Generation:
        came = self.ask(agent)
        until(lambda: came)
        assert isinstance(came[0], Generation), came[0]
        return came[0]

    def statuses(self) -> dict[str, ServerStatus]:
        return {each.host: each for each in self.owner.call(self.gateway.statuses)}

    def status(self, number: int) -> ServerStatus:
        return list(self.statuses().values())[number]


@pytest.fixture
def opened(home: Places, owner: Owner) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def crowd_at(opened: ExitStack, home: Places, owner: Owner, section: str) -> Crowd:
    """A gateway whose profile ``agent`` is that section."""
    (home.config / "llm.md").write_text(f"## agent\n{section}\n{SUMMARIZER}")
    gateway = Gateway(Profiles(home.config / "llm.md"), home, owner.post, {})
    owner.call(gateway.start)
    opened.callback(lambda: owner.call(lambda: gateway.shutdown(stop_embedded=True)))
    return Crowd(gateway, owner)


@pytest.fixture
def fakes(opened: ExitStack) -> list[FakeModelServer]:
    return [opened.enter_context(FakeModelServer()) for _ in range(3)]


@pytest.fixture
def mixed(
    fakes: list[FakeModelServer],
    opened: ExitStack,
    home: Places,
    owner: Owner,
    monkeypatch: pytest.MonkeyPatch,
) -> Crowd:
    """Agents before an Ollama with a base model, a vLLM that chats, and a llama.cpp."""
    monkeypatch.setattr(watch, "WATCH_SECONDS", 0.05)
    monkeypatch.setattr(watch, "PROBE_SECONDS", 0.1)
    one, two, three = fakes
    two.kind, two.template, two.models = "vllm", "{{ messages }}", ["large"]
    three.kind = "llama.cpp"
    three.always("/props", Reply(extra={"total_slots": 5}))
    home.home.mkdir(parents=True, exist_ok=True)
    crowd = crowd_at(
        opened,
        home,
        owner,
        "**provider**: ollama\n**model**: fake\n**time_limit**: 300\n**host**:\n"
        f"- {one.address}\n"
        f"- {two.address}, provider: openai, model: large, in_flight: 4\n"
        f"- {three.address}, provider: openai\n",
    )
    until(lambda: all(each.health == READY for each in crowd.statuses().values()))
    return crowd


def test_each_is_asked_in_its_own_words_and_has_its_own_places(
    mixed: Crowd, fakes: list[FakeModelServer]
):
    kinds = [each.kind.partition(";")[0] for each in mixed.statuses().values()]
    assert kinds == ["ollama, dialogue", "vllm, chat", "llama.cpp, dialogue"]
    until(lambda: [each.in_flight for each in mixed.statuses().values()] == [2, 4, 5])
    for agent in ("mira", "tom", "ada", "mira", "tom", "ada"):
        mixed.answer(agent)
    paths = ["/api/generate", "/v1/chat/completions", "/v1/completions"]
    asked = [fake.calls(path) for fake, path in zip(fakes, paths, strict=True)]
    assert [len(each) for each in asked] == [2, 2, 2], "they spread, and stay"
    assert asked[1][0].body["model"] == "large"
    assert [each.agents for each in mixed.statuses().values()] == [1, 1, 1]
    assert [each.figures.calls for each in mixed.statuses().values()] == [2, 2, 2]


def test_the_prompt_is_made_for_the_server_that_is_asked(
    mixed: Crowd, fakes: list[FakeModelServer]
):
    seen: list[tuple[str, str, bool]] = []

    def build(profile: ModelProfile) -> GenerationRequest:
        seen.append((profile.host, profile.form, profile.takes_grammar))
        return profile.request("hello")

    fakes[0].always("/api/generate", Reply(status=500))
    fakes[1].always("/v1/chat/completions", Reply(status=429))
    came: list[Outcome] = []
    mixed.owner.call(
        lambda: mixed.gateway.submit("agent", Priority.EVENT, "mira", build, came.append)
    )
    until(lambda: came)
    assert isinstance(came[0], Generation)
    assert seen == [
        (fakes[0].address, "dialogue", False),
        (fakes[1].address, "chat", True),
        (fakes[2].address, "dialogue", True),
    ]
    assert [each.moved for each in mixed.statuses().values()] == [1, 1, 0]


def test_one_that_went_away_is_left_alone_and_comes_back(
    mixed: Crowd, fakes: list[FakeModelServer]
):
    mixed.answer("mira")
    port = fakes[0].port
    fakes[0].close()
    assert mixed.answer("mira").model == "large"
    until(lambda: "does not answer" in mixed.status(0).health)
    failed = mixed.status(0).figures.failures
    for agent in ("tom", "ada", "mira"):
        mixed.answer(agent)
    assert mixed.status(0).figures.failures == failed, "nobody asks it"
    with FakeModelServer(port) as back:
        until(lambda: mixed.status(0).health == READY)
        mixed.answer("new")
        assert back.calls("/api/generate"), "it has the fewest agents"


def test_calls_at_a_server_that_hangs_are_asked_elsewhere(
    mixed: Crowd, fakes: list[FakeModelServer], monkeypatch: pytest.MonkeyPatch
):
    gate = threading.Event()
    for agent in ("mira", "tom"):
        mixed.answer(agent)
    fakes[1].always("/v1/chat/completions", Reply(gate=gate))
    came = mixed.ask("tom")
    fakes[1].wait_for_calls("/v1/chat/completions", 2)
    fakes[1].always("/v1/models", Reply(gate=gate))
    monkeypatch.setattr(base, "LOOK_SECONDS", 0.2)
    until(lambda: came)
    assert isinstance(came[0], Generation)
    assert mixed.status(1).moved == 1
    until(lambda: "no answer within 0.2 s" in mixed.status(1).health)
    gate.set()
    until(lambda: mixed.status(1).health == READY)
    assert len(came) == 1


def test_all_are_asked_before_a_thought_is_given_up(mixed: Crowd, fakes: list[FakeModelServer]):
    for fake in fakes:
        fake.close()
    came = mixed.ask("mira")
    until(lambda: came)
    assert isinstance(came[0], ModelUnavailable)
    assert sum(each.moved for each in mixed.statuses().values()) == 2, "two handed it on"


def test_a_server_is_drained_and_stays_so_over_a_reload(
    mixed: Crowd, fakes: list[FakeModelServer], home: Places, owner: Owner, opened: ExitStack
):
    gate = threading.Event()
    fakes[0].plan("/api/generate", Reply(gate=gate))
    under_way = mixed.ask("mira")
    fakes[0].wait_for_calls("/api/generate", 1)
    drain, host = mixed.gateway.drain, fakes[0].address
    with pytest.raises(KeepsakeError, match="Several servers are called"):
        owner.call(lambda: drain("127.0.0.1"))
    with pytest.raises(KeepsakeError, match="No server is called"):
        owner.call(lambda: drain("10.0.0.1"))
    assert owner.call(lambda: drain(f":{fakes[0].port}")) == host
    for agent in ("tom", "ada", "eve", "bob"):
        mixed.answer(agent)
    assert mixed.statuses()[host].drained
    assert mixed.statuses()[host].running == 1
    gate.set()
    until(lambda: under_way)
    assert isinstance(under_way[0], Generation)
    mixed.answer("mira")
    assert len(fakes[0].calls("/api/generate")) == 1
    again = Crowd(Gateway(Profiles(home.config / "llm.md"), home, owner.post, {}), owner)
    assert again.statuses()[host].drained, "a reload keeps it"
    owner.call(lambda: again.gateway.shutdown(stop_embedded=True))
    with pytest.raises(KeepsakeError, match="Drained are"):
        owner.call(lambda: drain("nobody", drained=False))
    owner.call(lambda: drain(host, drained=False))
    assert not mixed.statuses()[host].drained
    mixed.answer("new")
    assert len(fakes[0].calls("/api/generate")) == 2
    for fake in fakes:
        owner.call(lambda fake=fake: drain(fake.address))
    came = mixed.ask("mira")
    until(lambda: came)
    assert "@llm-status/undrain" in str(came[0])


def test_an_edited_list_keeps_what_is_known_of_the_others(
    mixed: Crowd, fakes: list[FakeModelServer], home: Places
):
    for agent in ("mira", "tom", "ada"):
        mixed.answer(agent)
    path = home.config / "llm.md"
    path.write_text(path.read_text().replace(f"- {fakes[0].address}\n", ""))
    mixed.answer("mira")
    assert list(mixed.statuses()) == [fakes[1].address, fakes[2].address]
    assert [each.kind.partition(";")[0] for each in mixed.statuses().values()] == [
        "vllm, chat",
        "llama.cpp, dialogue",
    ]
    assert len(fakes[0].calls("/api/generate")) == 1


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return weights.ensure(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def two(model: Path, tmp_path: Path, opened: ExitStack) -> list[LlamaServer]:
    options = {"slots": 2, "context": 512, "pool": 1024, "cache_mib": 32, "threads": 1}
    return opened.enter_context(llama_servers(tmp_path, model, 2, **options))


def test_one_of_two_is_killed_and_every_thought_has_one_answer(
    two: list[LlamaServer], opened: ExitStack, home: Places, owner: Owner
):
    hosts = [each.address for each in two]
    crowd = crowd_at(opened, home, owner, f"{LLAMAS}**host**: {', '.join(hosts)}\n")
    until(lambda: all(each.in_flight == 2 for each in crowd.statuses().values()))
    kinds = "llama.cpp, dialogue; prompts of 384 tokens at most"
    until(lambda: all(each.kind == kinds for each in crowd.statuses().values()))
    agents = [f"agent {i}" for i in range(6)]

    def all_ask(story: int) -> None:
        for agent in agents:
            crowd.ask(agent, f"{agent} knows many a story. Story {story}:", 8)

    all_ask(1)
    all_ask(2)
    until(lambda: all(each.running for each in crowd.statuses().values()))
    two[1].process.send_signal(signal.SIGSTOP)  # so that it is amid calls whenever the kill comes
    all_ask(3)
    until(lambda: crowd.status(1).running)
    two[1].kill()
    until(lambda: all(crowd.came))
    assert all(isinstance(each[0], Generation) for each in crowd.came), crowd.came
    left, gone = (crowd.statuses()[host] for host in hosts)
    assert gone.moved >= 1
    assert gone.running == left.running == 0
    assert left.figures.failures == 0
    assert left.agents == len(agents)
    answered = sum(each.figures.calls - each.figures.failures for each in (left, gone))
    assert answered == len(crowd.came) == 18
    assert all(len(each) == 1 for each in crowd.came), "one answer each"


def test_an_agent_finds_its_prompt_where_it_was(
    two: list[LlamaServer], opened: ExitStack, home: Places, owner: Owner
):
    hosts = ", ".join(each.address for each in two)
    crowd = crowd_at(opened, home, owner, f"{LLAMAS}**host**: {hosts}\n")
    until(lambda: all(each.health == READY for each in crowd.statuses().values()))
    for turn in range(3):
        for name in ("Mira", "Tom", "Ada"):
            prompt = f"{name} likes salt and rain. " * 6 + "The rain falls. " * turn
            came = crowd.ask(name, prompt, 1)
            until(lambda came=came: came)
            assert isinstance(came[0], Generation), came[0]
    figures = [each.figures for each in crowd.statuses().values()]
    assert all(each.calls % 3 == 0 and each.calls for each in figures), "nobody has moved"
    read = sum(each.prompt_tokens - each.cached_tokens for each in figures)
    assert read < sum(each.prompt_tokens for each in figures) / 2, "the first turn, and little more"
