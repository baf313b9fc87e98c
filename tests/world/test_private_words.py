"""What was whispered is for two: a walk along every way from a memory into somebody's prompt.

The model behind the wire says whatever it reads; what counts is what it was given to read.
"""

from __future__ import annotations

from typing import Any

from keepsake.archive.privacy import NOBODY, Audience
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.memory.types import CompactReason
from tests.sentences import table
from tests.world.agents_world import FixedConfig
from tests.world.test_recall_world import CHATTER, RecallWorld
from tests.world.test_talk_world import TalkWorld

WHISPERED = table("whispered")
SECRETS = (*(word for _, word in WHISPERED), "mundrel")
ANSWER = "I promise to guard the mundrel and the yarrick for you."
QUESTIONS = table("questions for what was whispered")
HM = "Hm, let me see."


def secrets_in(prompts: list[str]) -> list[str]:
    """Which of the private words stand in any of them."""
    return [word for word in SECRETS if any(word.casefold() in p.casefold() for p in prompts)]


class PrivateWorld(RecallWorld, TalkWorld):
    """Tom whispers to Mira in the inn; Ann comes in later."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.replies = [ANSWER]
        for line, _ in WHISPERED:
            self.char1.execute_cmd(f"whisper Mira = {line}")
            self.pass_time(4)
        number = self.mind.memory.newest
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "guard the mundrel", number)
        self.mind.memory.commitments.add(promise)
        self.replies = [HM]
        self.ann = self.add_player(2, "Ann")
        self.pass_time(10)

    def sent_texts(self) -> list[str]:
        """All that the model was given to read, a text for each call."""
        calls = self.fake.calls("/api/chat")
        return ["\n".join(each["content"] for each in call.body["messages"]) for call in calls]

    def prompts_after(self, *lines: str) -> list[str]:
        """What the model is given to read when Ann types these."""
        before = len(self.sent_texts())
        for line in lines:
            self.ann.execute_cmd(line)
            self.pass_time(6)
        found = self.sent_texts()[before:]
        assert found, "nobody was asked"
        return found

    def ask_everything(self) -> list[str]:
        return self.prompts_after(*(f"talk mira {each}" for each in QUESTIONS))

    def chat(self, times: int) -> None:
        """So much is said that what was whispered leaves the window."""
        self.mira.db.paused = True
        for number in range(times):
            self.ann.execute_cmd(f"say {CHATTER[number % len(CHATTER)]} {number}")
            self.wait_for_compaction()
        self.mira.attributes.remove("paused")
        self.pass_time(10)

    def compact(self) -> None:
        done: list[Any] = []
        self.mind.compactions.compact(CompactReason.MANUAL).addCallback(done.append)
        self.settle(lambda: bool(done))

    def empty_window(self) -> None:
        for _ in range(3):
            self.chat(8)
            self.compact()
        self.update_pages()

    def update_pages(self) -> None:
        """What was lived is in the profiles, the index and the files."""
        self.mind.look()

    def run_night(self) -> list[str]:
        """All steps of a night, with a model that writes down what it reads; what it was sent."""
        sleeping, before = self.services.sleeping.current, len(self.sent_texts())
        self.services.sleeping = FixedConfig(type(sleeping)(profile="agent"))
        self.fake.script = lambda prompt: " ".join(str(prompt).split())[-300:]
        self.mind.sleeper.fall_asleep("a test said so")
        self.settle(lambda: not self.mind.sleeper.nights.working)
        self.mind.sleeper.wake("a test said so")
        self.fake.script = lambda _: HM
        self.pass_time(10)
        return self.sent_texts()[before:]

    def shared_texts(self) -> list[str]:
        """The files that stand in everybody's prompt, or are made of them."""
        folder = self.mind.memory.folder
        names = ("summaries", "journal", "notes", "pinned.md")
        paths = [p for name in names for p in (folder / name).glob("**/*") if p.is_file()]
        paths += [folder / name for name in names if (folder / name).is_file()]
        portraits = [each.portrait for each in self.mind.books.people.all()]
        return [*(p.read_text() for p in paths), *portraits]

    def recalled_words(self, audience: Audience | None) -> list[str]:
        """Which of the private words recall finds, as small models read them, for an audience."""
        find = self.mind.keeper.recaller.find
        hits = [hit for each in QUESTIONS for hit in find(each, audience=audience).hits]
        return secrets_in([hit.document.text for hit in hits])

    def idle_prompts(self, *answers: str) -> list[str]:
        """What the model is given to read for idle acts, the first of them answered so."""
        before, waiting = len(self.sent_texts()), [*answers]
        self.set_thinking(idle_interval=1.0, pause_notice=0)
        self.ann.execute_cmd("talk mira Good evening.")
        self.pass_time(4)
        self.fake.script = lambda _: waiting.pop(0) if waiting else "> wait"
        self.clock.advance(400)
        self.pass_time(40)
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.fake.script = lambda _: HM
        found = self.sent_texts()[before:]
        assert found, "no act"
        assert not waiting, "no act"
        return found


class TestPrivateWords(PrivateWorld):
    def test_private_words_reach_nobody_else(self):
        """The private words that reach Ann or an act, by the way that they came."""
        found = {"window and turns": secrets_in(self.ask_everything())}
        self.update_pages()
        found["pages and promises"] = secrets_in(self.ask_everything())
        held = self.mind.memory.memory.host.constraints()
        found["what summaries are held to"] = secrets_in([*held])
        self.empty_window()
        found["summaries, journal and recall"] = secrets_in(self.ask_everything())
        assert self.recalled_words(audience=None)
        found["what a search finds"] = self.recalled_words(audience=NOBODY)
        found["a night's own prompts"] = secrets_in(self.run_night())
        found["after a night"] = secrets_in(self.ask_everything())
        found["stores that all prompts share"] = secrets_in(self.shared_texts())
        found["acts"] = secrets_in(self.idle_prompts())
        looks_up = self.idle_prompts("> recall cellar hide door spoon safe")
        found["what is looked up"] = secrets_in(looks_up)
        assert not any(found.values()), found

    def test_whom_it_was_told_to_hears_it_while_they_are_alone(self):
        self.empty_window()
        before = len(self.sent_texts())
        for question in QUESTIONS:
            self.char1.execute_cmd(f"whisper mira = {question}")
            self.pass_time(6)
        prompts = "\n".join(self.sent_texts()[before:])
        assert set(secrets_in([prompts])) >= set(SECRETS[:4]), prompts

    def test_who_confided_it_and_asks_before_others_is_not_reminded_of_it(self):
        self.char1.execute_cmd("talk mira Good evening.")
        self.pass_time(6)  # in a whisper, as the last of what was whispered has no answer yet
        before = len(self.sent_texts())
        for question in QUESTIONS:
            self.ask(question, seconds=6)
        assert not secrets_in(self.sent_texts()[before:])

    def test_what_is_searched_for_in_a_whisper_is_remembered_without_its_words(self):
        self.replies = ["> recall the grelnick vault | Tom has a grelnick", HM]
        self.char1.execute_cmd("whisper mira = Where is the grelnick vault?")
        self.pass_time(8)
        window = self.mind.memory.context().window
        assert ("recall …", "") in [(each.text, each.reason) for each in window]
        assert not [p for p in self.ask_everything() if "grelnick" in p]
