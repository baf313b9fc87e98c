"""The score of the generative agents' paper, and its reflections."""

from datetime import timedelta

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.lab.memories.conformance import BEGAN, WordHashes, life
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.memory.protocol import Surroundings
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.ports import FixedClock
from tests.fakes.model_server import FakeModelServer

PLAIN = 'Ada says, "The bench is brown."'


@pytest.fixture
def fake():
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def model(fake):
    client = OpenAIModel(ModelProfile("agent", model="fake", time_limit=20), fake.address)
    yield client
    client.close()


def made(folder, model=None, clock=None, **settings):
    given = Surroundings(
        agent="Mira",
        folder=folder,
        clock=clock or FixedClock(BEGAN),
        embedder=WordHashes(),
        model=model,
        settings=settings,
    )
    return GenerativeAgents(given)


def memory(number, text, hours=0.0):
    when = BEGAN + timedelta(hours=hours)
    return Memory(number, when, MemoryKind.PERCEPTION, text, source="Ada", source_id="Ada-1")


def order(found):
    return [each.numbers[0] for each in found]


def test_recency_alone_puts_first_what_was_lived_or_recalled_last(tmp_path):
    clock = FixedClock(BEGAN + timedelta(hours=100))
    near = made(tmp_path, clock=clock, recency="0", importance="0")
    for number in range(1, 4):
        near.perceive(memory(number, f"{PLAIN} {number}", hours=number))
    assert order(near.recall(f"{PLAIN} 1", 1)) == [1]
    near.close()
    recent = made(tmp_path, clock=clock, importance="0", relevance="0")
    assert order(recent.recall("bench", 3)) == [1, 3, 2]


def answers(prompt):
    if "rate the likely poignancy" in prompt:
        return " 9" if "kettle" in prompt else " 2"
    if "most salient high-level questions" in prompt:
        return " What does Ada care about?\n2. Who lost the kettle?"
    return (
        " Ada is attached to her kettle (because of 1, 2)\n"
        "2. Everybody loses things (because of 3, 99)\n"
        "3. Nothing that it cites"
    )


def test_a_model_rates_and_reflects_when_enough_has_come_in(tmp_path, fake, model):
    fake.script = answers
    stream = made(tmp_path, model, threshold="50")
    for each in life(10):
        stream.perceive(each)
    stream.rest(asleep=False)
    assert stream.state()["insights"] == 0
    for each in life(10, start=11):
        stream.perceive(each)
    stream.rest(asleep=True)
    assert stream.state()["insights"] == 4  # two of each question; one cites nothing
    assert stream.state()["unreflected"] == 0
    insights = [r for r in stream.recall("What is Ada attached to?", 24) if "attached" in r.text]
    assert insights
    assert len(insights[0].numbers) == 2
    assert all(1 <= n <= 20 for n in insights[0].numbers)
    stream.close()
    again = made(tmp_path, model)
    assert again.newest == 20
    assert again.state()["insights"] == 4
    asked = len(fake.calls("/v1/completions"))
    again.rest(asleep=True)
    assert len(fake.calls("/v1/completions")) == asked  # what was rated is not rated again
