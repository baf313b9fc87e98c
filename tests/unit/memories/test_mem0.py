"""The real mem0 as a memory; where it is not installed, what says so."""

import json
import sys
from importlib.util import find_spec

import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.memories.conformance import BEGAN, MemoryConformance, WordHashes, life
from keepsake.lab.memories.mem0 import Mem0Memory
from keepsake.memory import protocol
from keepsake.memory.protocol import Surroundings
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.ports import FixedClock
from tests.fakes.model_server import FakeModelServer, Reply

needs_mem0 = pytest.mark.skipif(
    find_spec("mem0") is None, reason="mem0 is an extra: pip install 'keepsake[mem0]'"
)


def surroundings(folder, **more):
    folder.mkdir(exist_ok=True)
    given = {"agent": "Mira", "clock": FixedClock(BEGAN), "embedder": WordHashes()}
    return Surroundings(folder=folder, **{**given, **more})


@needs_mem0
class TestMem0(MemoryConformance):
    make = staticmethod(Mem0Memory)
    long = 150  # its store takes 20 ms a line


@pytest.fixture
def fake():
    with FakeModelServer() as server:
        server.kind, server.template = "llama.cpp", "{{ messages }}"
        yield server


@pytest.fixture
def model(fake):
    client = OpenAIModel(ModelProfile("agent", model="fake", time_limit=20), fake.address)
    yield client
    client.close()


@needs_mem0
def test_a_model_draws_facts_of_each_batch(tmp_path, fake, model):
    fake.script = lambda prompt: json.dumps({"memory": [{"text": "Ada keeps a blue kettle"}]})
    memory = Mem0Memory(surroundings(tmp_path, model=model, settings={"batch": "5"}))
    for each in life(7):
        memory.perceive(each)
    assert memory.state() == {"lines": 7, "waiting": 2}
    (found,) = memory.recall("Who keeps a blue kettle?", 5)[:1]
    assert found.text == "1 May 2026, Ada keeps a blue kettle"
    assert found.numbers == (1, 2, 3, 4, 5)
    memory.close()
    sent = fake.calls("/v1/chat/completions")
    assert len(sent) == 2
    assert "lost" in json.dumps(sent[0].body["messages"])


@needs_mem0
def test_what_the_model_did_not_take_in_is_handed_over_again(tmp_path, fake, model):
    fake.plan("/v1/chat/completions", Reply(status=500))
    memory = Mem0Memory(surroundings(tmp_path, model=model))
    for each in life(5):
        memory.perceive(each)
    with pytest.raises(KeepsakeError, match="extraction failed"):
        memory.rest(asleep=True)
    memory.close()
    again = Mem0Memory(surroundings(tmp_path, model=model))
    assert again.newest == 0
    again.close()


@needs_mem0
def test_it_sends_nothing_to_its_makers(tmp_path):
    Mem0Memory(surroundings(tmp_path)).close()
    assert sys.modules["mem0.memory.telemetry"].MEM0_TELEMETRY is False


def test_it_says_how_it_is_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(KeepsakeError, match=r"not installed.*keepsake\[mem0\]"):
        protocol.opened("mem0", surroundings(tmp_path))
