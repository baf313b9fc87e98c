"""A model reads what a search found for a question about several talks, in a world.

Words and meaning are searched for real; the vectors are kept in a file.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import datetime, timedelta

from keepsake.agent.settings import RecallConfig
from keepsake.archive.summaries import Tier
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.recall.sqlite_vectors import SqliteVectors
from tests.world.agents_world import FixedConfig, next_of
from tests.world.test_recall_world import NONE, PAST
from tests.world.test_why_world import WhyWorld

TALKS = (
    ("Edwin bought a red rowing boat in Ostrey.", "It rains again.", "The soup is hot."),
    ("The ferry was late.", "Edwin bought a blue sailing boat, too.", "Nice fire."),
    ("Bram owes me six pence.", "The dog sleeps.", "Edwin has a third boat, a green barge."),
    ("My knee hurts.", "The mill stands still.", "Barley is dear this year."),
    ("I lost a brass key.", "The smith has a cold.", "The geese are fat."),
    ("Snow in the hills.", "The priest sang badly.", "We burnt the bread."),
    ("He named the barge after our mother, Sanne.", "He mended two pans.", "The well is low."),
    ("The fair was dull.", "A cow is loose.", "Rain once more."),
    ("The road is mud.", "My boots leak.", "Good ale."),
    ("A tinker came by.", "The bees swarm.", "The hay is in."),
)
QUESTION = "Which boats did my brother Edwin buy, and how many?"


READING = "A search of a memory found these lines"
FURTHER = "the name of the green barge"
PATIENT = RecallConfig(chroma=NONE, patience=60.0)
"""A search waits for its vectors on any machine; the clock of these tests moves by hand."""
SECRET = "My golden boat lies under the quay."


def choice(*ranks, searches=()):
    return json.dumps({"lines": ranks, "searches": searches})


class RereadWorld(WhyWorld):
    """Mira has heard of three boats in three talks, among others.

    Attributes:
        choose: Returns the model's answer to a prompt with what a search found.
        read: These prompts.
    """

    START = datetime(2026, 5, 1, 18, 0).astimezone()

    def setUp(self):
        self.read = []
        self.choose = lambda _: choice()
        super().setUp()
        self.fake.script = self.answer

    def start_services(self):
        new = super().start_services()
        new.indexes._chroma = SqliteVectors(self.scratch / "vectors.db")
        new.embedder = MiniLMEmbedder()
        new.recall = FixedConfig(PATIENT)
        return new

    def answer(self, prompt):
        if READING in prompt:
            self.read.append(prompt)
            return self.choose(prompt)
        return next_of(self.replies)

    def talk_for_days(self):
        for talk in TALKS:
            self.say(*talk)
            self.time.time += timedelta(days=1)
        self.edit_summary("- Tom talked of his life.", Tier.RECENT, Tier.LONGTERM)
        self.settle(self.is_indexed)

    def is_indexed(self):
        self.services.indexes.follow()
        (status,) = self.services.indexes.status().values()
        return status.by_meaning and not status.waiting

    def thoughts(self, *answers, who=None, line=QUESTION):
        """Ask, and return the prompts that are no reading of what was found."""
        return [each for each in self.ask(line, *answers, who=who) if READING not in each]

    def recalled(self):
        """Return the memories of the last thought's prompt, as its event has them."""
        *_, thought = self.logged("thought")
        return [each for each in thought["recalled"] if each["kind"] == "memory"]


class TestReread(RereadWorld):
    """A question whose answer stands in several talks."""

    def test_what_the_model_picks_comes_first_and_what_it_searches_for_is_found(self):
        self.talk_for_days()
        self.choose = lambda prompt: choice(
            *(rank_in(prompt, words) for words in ("green barge", "Sanne", "red rowing")),
            searches=[FURTHER],
        )
        (prompt,) = self.thoughts("> say Three.")
        (reading,) = self.read
        assert f"11 May 2026. Tom asks: {QUESTION}" in reading
        found = self.recalled()
        numbers = [each["n"] for each in found]
        picked = [each["n"] for each in found if "picked by the model" in each["why"]]
        assert len(picked) == 3
        assert numbers[:3] == picked
        past = prompt.split(PAST)[1]
        assert all(words in past for words in ("green barge", "Sanne", "red rowing"))
        assert [each["question"] for each in self.logged("recall") if each["by"] == "further"] == [
            FURTHER
        ]
        assert "picked by the model" in self.why()

    def test_an_answer_that_cannot_be_read_or_does_not_come_changes_nothing(self):
        self.talk_for_days()
        self.services.recall = FixedConfig(replace(PATIENT, reread=0))
        self.thoughts("> wait")
        plain = self.recalled()
        assert len(plain) > 3
        assert self.read == []
        self.services.recall = FixedConfig(PATIENT)
        for odd in ("I would pick the lines 1 and 2.", choice(), choice(99, -1), "[1, 2]"):
            self.choose = lambda _, odd=odd: odd
            self.thoughts("> wait")
            assert [each["n"] for each in self.recalled()] == [each["n"] for each in plain]
        assert len(self.read) == 4
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.choose = lambda _: gate.wait(60) and ""
        made = len(self.prompts())
        self.replies = ["> say Three.", "> wait"]
        self.char1.execute_cmd(f"talk Mira {QUESTION}")
        while not self.is_thinking():
            self.clock.advance(0.5)
        self.settle(lambda: len(self.read) == 5)
        assert "~say Three." not in self.lines()
        self.clock.advance(PATIENT.reread)
        self.settle(lambda: len(self.prompts()) == made + 2 and not self.is_thinking())
        assert "~say Three." in self.lines()

    def test_it_is_not_asked_again_after_a_look_up_nor_for_what_needs_no_several_talks(self):
        self.talk_for_days()
        self.choose = lambda prompt: choice(rank_in(prompt, "Sanne"))
        prompts = self.thoughts("> recall the smith", "> say Three.")
        assert len(prompts) == 2
        assert len(self.read) == 1
        assert "picked by the model" in self.recalled()[0]["why"]
        self.thoughts("> say Good evening.", line="Good evening, Mira!")
        assert len(self.read) == 1

    def test_what_was_whispered_is_read_for_its_listener_alone_and_not_logged(self):
        ann = self.add_player(2, "Ann")
        self.mira.db.paused = True
        self.char1.execute_cmd(f"whisper Mira = {SECRET}")
        self.mira.attributes.remove("paused")
        self.talk_for_days()
        self.choose = lambda _: choice(1, searches=["the golden boat"])
        self.thoughts("> say Three.", who=ann)
        (reading,) = self.read
        assert "golden" not in reading
        self.replies = ["> wait"]
        self.char1.execute_cmd(f"whisper Mira = {QUESTION}")
        self.pass_time(4)
        assert SECRET in self.read[-1]
        open_one, private_one = [e for e in self.logged("recall") if e["by"] == "further"]
        assert (open_one["question"], private_one["question"]) == ("the golden boat", "")
        assert all("golden" not in each["why"] for each in self.recalled())


def rank_in(prompt, words):
    """Return the rank that a prompt with what was found gives the line with these words."""
    (line,) = [each for each in prompt.splitlines() if words in each]
    return int(line.partition(".")[0])
