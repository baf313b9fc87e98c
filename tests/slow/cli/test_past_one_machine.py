"""Two worlds that share a database, a vector server and gateways, all of them real.

PostgreSQL holds both games, one Chroma server their vectors. One world uses two model servers
behind LiteLLM's proxy, the other two behind vLLM's router. Without these gateways, which ``make
test-scale`` installs, the worlds use a model server directly, and the last test is skipped.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from keepsake.cli import processes
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.paths import DATABASE_URL, REPOSITORY
from keepsake.ports import ChatMessage, GenerationRequest
from keepsake.recall.agent_index import WORDS
from keepsake.recall.chroma import Chroma
from keepsake.recall.index.words import WordIndex
from tests.empty_tables import migrate
from tests.fakes.model_server import FakeModelServer, llm_page
from tests.free_ports import free_base
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player
from tests.slow.e2e.running import change
from tests.unit.llm.conftest import until

PROGRAMS = os.environ.get("KEEPSAKE_GATEWAYS", "")
"""The folder in which the gateways are installed."""
GATEWAYS = {"litellm": ("ebb", "flood"), "vllm-router": ("neap", "spring")}
"""The model servers behind each gateway."""
ALIVE = {"litellm": "health/liveliness", "vllm-router": "readiness"}
CHAT = "/v1/chat/completions"
KEY = "sk-a-long-random-word"
FACTS = {
    "Anneke": "My sister Liesbet drowned three winters ago.",
    "Bertil": "A red cow ate my hat at midsummer.",
}
"""What each world's player tells Mira."""


@contextmanager
def serving(*command: object, alive: str, log: Path, **environ: str) -> Iterator[None]:
    """Run another program's server, from its first answer until it is killed."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*map(str, command)], stdout=output, stderr=output, env={**os.environ, **environ}
        )

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return httpx.get(alive, timeout=5, trust_env=False).is_success
        except httpx.HTTPError:
            return False

    try:
        until(answers)
        yield
    finally:
        process.kill()
        process.wait()


def new_answers(server: str) -> Callable[[str], str]:
    """Return a function that gives a new answer to each call."""
    numbers = itertools.count(1)
    return lambda _: f"That is {server} answer {next(numbers)}."


@pytest.fixture(scope="module")
def models() -> Iterator[dict[str, FakeModelServer]]:
    names = itertools.chain(*GATEWAYS.values())
    has = ["gemma", "village"]
    made = {name: FakeModelServer(models=has, script=new_answers(name)) for name in names}
    yield made
    for each in made.values():
        each.close()


@pytest.fixture(scope="module")
def hosts(models, tmp_path_factory) -> Iterator[list[str]]:
    """The gateways, started as in docs/scale.md; without them, one model server."""
    made = [] if PROGRAMS else [models["ebb"].address] * 2
    with ExitStack() as running:
        for program, names in GATEWAYS.items() if PROGRAMS else ():
            page = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")
            for shown, name in zip(("10.0.0.5:8080", "10.0.0.6:8080"), names, strict=True):
                page = page.replace(shown, f"127.0.0.1:{models[name].port}")
            folder = tmp_path_factory.mktemp(program)
            port = free_base()
            (folder / "litellm.yaml").write_text(re.findall("```yaml\n(.*?)```", page, re.S)[0])
            (line,) = re.findall(rf"(?:^| ){program} (--.*)", page, re.MULTILINE)
            line = line.replace("8100", str(port)).replace("litellm.yaml", f"{folder}/litellm.yaml")
            made.append(f"http://127.0.0.1:{port}")
            command = [Path(PROGRAMS) / program, *line.split()]
            log = folder / "log"
            environ = {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
            alive = f"{made[-1]}/{ALIVE[program]}"
            running.enter_context(serving(*command, alive=alive, log=log, **environ))
        yield made


@pytest.fixture(scope="module")
def chroma(tmp_path_factory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chroma")
    port = free_base()
    address = f"http://127.0.0.1:{port}"
    command = [Path(sys.executable).with_name("chroma"), "run", "--path", folder / "data"]
    command += ["--host", "127.0.0.1", "--port", port]
    with serving(*command, alive=f"{address}/api/v2/heartbeat", log=folder / "log"):
        yield address


@pytest.fixture(scope="module")
def worlds(database, hosts, chroma, tmp_path_factory) -> Iterator[dict[str, Copy]]:
    """A world for each player, by the player's name."""
    made = dict[str, Copy]()
    tables = {DATABASE_URL: database("tables")}
    migrate(make_copy(tmp_path_factory.mktemp("tables"), **tables).environ)
    for name, host in zip(FACTS, hosts, strict=True):
        urls = {DATABASE_URL: database(name, "tables"), "KEEPSAKE_OPENAI_API_KEY": KEY}
        copy = make_copy(tmp_path_factory.mktemp(name), **urls)
        made[name] = copy
        shutil.copytree(REPOSITORY / "vault" / "config", copy.here.config)
        agent = f"provider=openai host={host} model=village"
        page = llm_page(agent=agent, summarizer="provider=none")
        (copy.here.config / "llm.md").write_text(page)
        change(copy, "recall.md", "**chroma**: child", f"**chroma**: {chroma}")
    try:
        with ThreadPoolExecutor() as both:
            started = [*both.map(lambda copy: copy.process("start"), made.values())]
        assert [each.returncode for each in started] == [0, 0], started
        yield made
    finally:
        for copy in made.values():
            end(copy)


@pytest.fixture(scope="module")
def players(worlds) -> Iterator[dict[str, Player]]:
    made = {name: Player.new(copy, name) for name, copy in worlds.items()}
    for player in made.values():
        player.see("The Kettle", "Here:")
    yield made
    for player in made.values():
        player.leave()


def talk(player: Player, words: str) -> str:
    """Return the name of the model server whose answer Mira speaks."""
    heard = player.type(f"talk mira {words}", r'Mira says to you, "That is \w+ answer \d+')
    assert "far away" not in heard
    (found,) = re.findall(r"That is (\w+) answer", heard)[-1:]
    return found


def test_both_worlds_answer_and_remember_only_their_own_players(worlds, players, models):
    for name, player in players.items():
        talk(player, FACTS[name])
        talk(player, "What did I tell you?")
    for name, copy in worlds.items():
        archive = "".join(p.read_text() for p in copy.here.agents.glob("*/archive/*.jsonl"))
        assert [fact for fact in FACTS.values() if fact in archive] == [FACTS[name]]
    prompts = [str(call.body) for each in models.values() for call in each.calls(CHAT)]
    shown = [{name for name, fact in FACTS.items() if fact in prompt} for prompt in prompts]
    assert all({name} in shown for name in FACTS)
    assert all(len(each) < 2 for each in shown), "a prompt has what was told in two worlds"


def indexed(copy: Copy) -> bool:
    """Return whether all of Mira's memories are in the vector index."""
    status = processes.ask(copy.here, "index_status", seconds=60)
    mira = next((each for each in status["agents"] if each["agent"] == "Mira"), None)
    return bool(mira and mira["memories"] and mira["by_meaning"] and not mira["waiting"])


def test_one_chroma_server_keeps_the_vectors_of_both_apart(worlds, players, chroma):
    until(lambda: all(map(indexed, worlds.values())))
    asked = MiniLMEmbedder().embed([*FACTS.values()])
    collections = set()
    for name, copy in worlds.items():
        words = WordIndex(copy.here.index / "Mira" / WORDS)
        with closing(words), closing(Chroma(chroma, copy.here)) as there:
            vectors = there.open(words.embeddings.collection)
            found = [vectors.query(each, 1)[0] for each in asked]
            near = [FACTS[name] in words.get([key])[key].text and far > 0.7 for key, far in found]
        collections.add(words.embeddings.collection)
        assert near == [each == name for each in FACTS]
    assert len(collections) == 2


@pytest.mark.skipif(not PROGRAMS, reason="they are not installed: `make test-scale` does")
def test_a_gateway_keeps_an_agent_on_one_server_while_it_runs(hosts, players, models):
    profiles = [ModelProfile("agent", host=each, model="village") for each in hosts] * 16
    clients = [OpenAIModel(each, key=KEY) for each in profiles]
    words = (ChatMessage("user", "Are you there?"),)
    asked = [GenerationRequest(messages=words, cache_key=f"agent-{n}") for n in range(90, 122)]
    with ThreadPoolExecutor(len(asked)) as pool:
        said = [[*pool.map(OpenAIModel.generate, clients, asked)] for _ in range(4)]
    first, *later = ([each.text.split()[2] for each in row] for row in said)
    assert later == [first] * 3
    assert {*first} == models.keys()
    for player in players.values():
        models.pop(talk(player, "Are you there?")).close()
    for number in range(4):
        for player in players.values():
            assert talk(player, f"Are you there for the {number}th time?") in models
