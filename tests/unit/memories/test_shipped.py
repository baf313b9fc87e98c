"""The shipped memories as a library: ours, plain RAG, and the generative agents' paper."""

from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.lab.conversation import Conversation, moment
from keepsake.lab.evaluate import DEPTHS
from keepsake.lab.memories.conformance import BEGAN, life
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.memory.protocol import Surroundings
from keepsake.models.embedders import MiniLMEmbedder
from keepsake.ports import FixedClock
from tests.recall_data import read_data

DATA = Path(__file__).parents[2] / "data"


def made(maker, folder, lived=(), **more):
    given = {"agent": "Mira", "clock": FixedClock(BEGAN), **more}
    memory = maker(Surroundings(folder=folder, **given))
    for each in lived:
        memory.perceive(each)
    return memory


def test_it_finds_what_the_recall_of_the_agents_finds(tmp_path):
    embedder, clock = MiniLMEmbedder(), FixedClock(BEGAN)
    turns, questions = read_data(DATA / "recall_hythe.json")
    memory = made(KeepsakeMemory, tmp_path, agent="", clock=clock, embedder=embedder)
    for number, turn in enumerate(turns, 1):
        clock.time = moment(turn.time, clock.time) or clock.time
        kind, about = MemoryKind.PERCEPTION, {"place": turn.place, "source": turn.speaker}
        memory.perceive(Memory(number, clock.time, kind, turn.text, **about))
        if number % 100 == 0:
            memory.rest(asleep=True)
    assert list((tmp_path / "summaries").iterdir())
    agents = Conversation(embedder)
    agents.ingest(turns)
    for question in questions:
        lines = memory.recall(question.text, max(DEPTHS))
        found = [turns[line.numbers[0] - 1].id for line in lines]
        assert found == agents.query(question.text, max(DEPTHS))
    memory.close()
    embedder.close()


def test_what_left_the_window_stands_in_summaries_and_rules_stay(tmp_path):
    rule = "- rule from Ada: Never open the cellar door. (memory 1)\n"
    (tmp_path / "noticed.md").write_text(rule)
    memory = made(KeepsakeMemory, tmp_path, life(300))
    memory.rest(asleep=True)
    shown = "\n".join(memory.context(3840))
    assert "Ada told you: Never open the cellar door. (memory 1)" in shown
    assert list((tmp_path / "summaries").iterdir())
    memory.close()
