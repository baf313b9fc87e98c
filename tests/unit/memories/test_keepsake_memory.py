"""Ours as a library: the recall of the agents, the settings of the vault, its summaries."""

from pathlib import Path

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.conversation import Conversation, moment
from keepsake.lab.measures import DEPTHS
from keepsake.lab.memories.conformance import BEGAN, life
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.memory.protocol import Surroundings
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.ports import FixedClock
from tests.recall_data import read_data

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def embedder():
    made = MiniLMEmbedder()
    yield made
    made.close()


def made(folder, lived=(), **more):
    memory = KeepsakeMemory(
        Surroundings(folder=folder, **{"agent": "Mira", "clock": FixedClock(BEGAN), **more})
    )
    for each in lived:
        memory.perceive(each)
    return memory


def said(number, text, who="Ada"):
    first = life(1, start=number)[0]
    return Memory(number, first.time, MemoryKind.PERCEPTION, text, source=who, source_id=f"{who}-1")


def test_it_finds_what_the_recall_of_the_agents_finds(tmp_path, embedder):
    data = DATA / "recall_hythe.json"
    turns, questions = read_data(data)
    clock = FixedClock(BEGAN)
    memory = made(tmp_path, agent="", clock=clock, embedder=embedder)
    ids = {}
    for number, turn in enumerate(turns, 1):
        clock.time = moment(turn.time, clock.time) or clock.time
        kind, about = MemoryKind.PERCEPTION, {"place": turn.place, "source": turn.speaker}
        memory.perceive(Memory(number, clock.time, kind, turn.text, **about))
        ids[number] = turn.id
        if number % 100 == 0:
            memory.rest(asleep=True)
    assert memory.state()["compactions"] > 0
    agents = Conversation(embedder)
    agents.ingest(turns)
    for question in questions:
        lines = memory.recall(question.text, max(DEPTHS))
        found = [ids[line.numbers[0]] for line in lines]
        assert found == agents.query(question.text, max(DEPTHS))
    memory.close()


def test_what_left_the_window_stands_in_summaries_and_rules_stay(tmp_path):
    rule = "- rule from Ada: Never open the cellar door. (memory 1)\n"
    (tmp_path / "noticed.md").write_text(rule)
    memory = made(tmp_path, life(300))
    memory.rest(asleep=True)
    shown = "\n".join(memory.context(3840))
    assert "Ada told you: Never open the cellar door. (memory 1)" in shown
    assert memory.state()["compactions"] > 0
    assert memory.state()["window"] < 150
    memory.close()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"immediat_window": "4"}, "Did you mean immediate_window"),
        ({"strategy": "nothing"}, "there is no template 'nothing'"),
    ],
)
def test_wrong_settings_are_refused_in_words(tmp_path, settings, told):
    with pytest.raises(KeepsakeError, match=told) as problem:
        made(tmp_path, settings=settings)
    assert "line 1" not in str(problem.value)
