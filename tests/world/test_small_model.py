"""Agents without a model or with a small one: answers by rule, and prompts that are read ahead."""

from __future__ import annotations

from typing import Any

from django.test import override_settings

from keepsake.agent.surroundings.identity import identity_of
from keepsake.contrib.evennia import lifecycle
from tests.fakes.model_server import llm_page
from tests.world.talk_world import PERSONA, TalkWorld
from tests.world.test_hospitality import Inn
from typeclasses.characters import tell_of_model


class TestRules(TalkWorld):
    """Answers by rule without a model, and dialogues of a small model."""

    FORM = "dialogue"

    def test_rules_answer_whispers_in_whispers_and_reveal_no_secrets(self):
        self.mira.db.profile = "You are Mira.\n\nSecret: You fear eels. You buried the ladle."
        page = llm_page(agent="provider=none", summarizer="provider=none")
        (self.services.places.config / "llm.md").write_text(page)
        self.char1.at_post_puppet()
        assert "no language model yet" in self.heard[-1]
        self.mind.thinker.answered(identity_of(self.char1))
        self.ask("Do you mend nets?")
        self.char1.execute_cmd("whisper Mira = Do you fear eels?")
        self.pass_time(4)
        said, whispered = self.acts()
        assert said.startswith("say ")
        assert whispered.startswith("whisper Tom = ")
        assert "eels" not in whispered
        assert self.mind.thinker.log.outcomes == {"acted": 2}
        assert not self.fake.prompts()

    def test_however_long_the_talk_was_a_small_prompt_is_answered(self):
        (self.services.places.config / "llm.md").write_text(self.models_page(prompt_tokens=1024))
        self.services.update_limits()
        self.mind.thinker.answered(identity_of(self.char1))
        self.settle()
        self.mira.db.paused = True
        for number in range(81):
            line = f"The tide took plank {number} " + "and then the next one " * 12
            (self.char1, self.char2)[number % 2].execute_cmd(f"say {line}")
        self.mira.attributes.remove("paused")
        self.ask("Is there soup?", "There is.")
        assert self.acts()[-1] == "say There is."
        assert not any("far away" in line for line in self.heard)

    def test_a_small_model_does_not_say_the_words_that_it_answers_as_its_own(self):
        words = "I play the fiddle, and my goat is called Pim."
        self.mind.thinker.answered(identity_of(self.char1))
        self.ask(words, f" {words}", " A fiddler!")
        assert self.acts() == ["say A fiddler!"]
        self.ask("What did I say of my goat?", " My goat is called Pim, you said.")
        assert self.acts()[-1] == "say My goat is called Pim, you said."

    def test_a_small_model_greets_nobody_with_a_line_of_somebody_else(self):
        line = "Come in, you are letting the weather in. I'm Joss."
        self.char2.execute_cmd(f"talk Tom {line}")
        self.pass_time(6)
        self.char1.move_to(self.add_room("The Quay"))
        self.pass_time(700)
        self.replies = [f" {line}", " Good day, Tom."]
        self.char1.move_to(self.room1)
        self.pass_time(20)
        assert self.acts() == ["say Good day, Tom."]

    def test_who_read_that_there_is_no_model_is_told_once_when_there_is_one(self):
        ann = self.capture(self.add_player(2, "Ann"))
        lifecycle.at_model_ready.append(tell_of_model)
        self.addCleanup(lifecycle.at_model_ready.clear)
        page = (self.services.places.config / "llm.md").read_text()
        self.without_a_model()
        self.char1.at_post_puppet()
        lifecycle._model_is_back()
        assert "no language model yet" in self.heard[-1]
        (self.services.places.config / "llm.md").write_text(page)
        lifecycle._model_is_back()
        lifecycle._model_is_back()
        assert sum("language model now" in line for line in self.heard) == 1
        assert not any("language model now" in line for line in ann)

    def without_a_model(self):
        """Take the model away."""
        page = llm_page(agent="provider=none", summarizer="provider=none")
        (self.services.places.config / "llm.md").write_text(page)

    def test_without_a_model_grief_gets_a_gesture_once_and_no_words(self):
        self.without_a_model()
        self.ask("My sister Lotte died in March.")
        (gesture,) = self.acts()
        assert gesture.startswith("emote ")
        assert any(line.startswith("* Mira ") for line in self.heard)
        self.ask("What did I tell you of my sister Lotte?")
        assert self.acts()[1] == "say You told me: 'My sister Lotte died in March.'"

    def test_without_a_model_a_question_about_the_asker_gets_what_they_told(self):
        self.mira.db.profile = "You are Mira. You remember every order. You know everybody."
        self.without_a_model()
        self.ask("My boat is called the Wren.")
        self.ask("Is it late?")
        self.ask("What do you remember of me?")
        assert self.acts()[-1] == "say You told me: 'My boat is called the Wren.'"

    def test_without_a_model_the_page_about_a_player_keeps_their_whispers(self):
        self.without_a_model()
        self.char1.execute_cmd("whisper Mira = I stole the ladle.")
        self.pass_time(4)
        self.mind.read_edits()
        self.ask("What do you know about me?")
        assert self.acts()[-1].startswith("emote "), "who else is here does not know"
        self.char2.location = None
        self.ask("What do you know about me?")
        assert self.acts()[-1] == "say You told me: 'I stole the ladle.'"

    def test_without_a_model_a_request_to_meet_gets_the_command_and_no_guess(self):
        self.without_a_model()
        self.add_exits(self.room1, "north", "south", self.add_room("The Quay"))
        self.ask("Will you wait for me on the quay at half past eight?")
        (gesture,) = self.acts()
        assert gesture.startswith("emote ")
        nobody = "No model thinks for Mira now"
        hint = f"({nobody}. To ask Mira to meet you: meet mira at The Quay <when>)"
        assert hint in self.heard
        self.heard.clear()
        self.ask("Come to the quay in two minutes?")
        assert hint in self.heard
        assert self.acts()[-1].startswith("emote ")
        self.heard.clear()
        self.ask("Is the quay far?")
        assert hint not in self.heard

    def read_ahead_and_answer(self):
        """Let Mira be greeted and answer once; return her calls: ahead, the answer, ahead."""
        self.replies = [" Sit down, Tom."]
        self.mira.db.profile = f"{PERSONA} (secret) You taste nothing."
        self.mira.db.examples = ['Piet says to you, "Hm."\n~Mira> say Sit, Piet.']
        self.mind.thinker.answered(identity_of(self.char1))
        self.settle(lambda: bool(self.fake.calls("/api/generate")))
        assert self.acts() == []
        self.set_thinking(idle_interval=20)
        self.ask("I mend nets.")
        self.settle(lambda: len(self.fake.calls("/api/generate")) == 3)
        return [call.body for call in self.fake.calls("/api/generate")]

    def test_a_small_model_reads_ahead_after_a_greeting_and_after_its_answer(self):
        greeted, answer, answered = self.read_ahead_and_answer()
        assert greeted["options"]["num_predict"] == 1
        assert answer["options"]["num_predict"] > 1
        assert answered["options"]["num_predict"] == 1
        assert "Mira: Sit down, Tom.\n(" in answered["prompt"]
        assert self.acts() == ["say Sit down, Tom."]

    def test_what_a_small_model_has_read_ahead_begins_its_prompt(self):
        greeted, answer, _ = self.read_ahead_and_answer()
        head = greeted["prompt"].split("\n(")[0]
        assert PERSONA in head
        assert "Mira: Sit, Piet." in head
        assert answer["prompt"].startswith(head)

    def test_a_small_model_never_reads_a_secret(self):
        assert "taste nothing" not in "".join(
            body["prompt"] for body in self.read_ahead_and_answer()
        )

    def test_a_small_model_does_nothing_unprompted(self):
        self.read_ahead_and_answer()
        self.pass_time(900)
        assert len(self.fake.calls("/api/generate")) == 3


class TestReadingAhead(Inn):
    """A slow model reads the prompts of all agents in a room before a player speaks to one."""

    def setUp(self) -> None:
        super().setUp()
        self.fake.kind = "llama.cpp"
        self.use(form="dialogue")
        self.char1.location = self.quay
        self.joss = self.add_agent("Joss")
        self.settle()

    def use(self, form: str) -> None:
        """Give the agents a model of llama.cpp, asked in that form."""
        agent = f"provider=openai host={self.fake.address} model=fake form={form}"
        page = llm_page(agent=agent, summarizer="provider=none")
        (self.services.places.config / "llm.md").write_text(page)
        self.services.gateway.check_health()

    def ahead(self, path: str = "/v1/completions") -> list[str]:
        """Return whose prompts were read ahead, in order."""
        calls = [call for call in self.fake.calls(path) if call.body["max_tokens"] == 1]
        return [call.session.removeprefix("keepsake-agent-") for call in calls]

    def of(self, *agents: Any) -> list[str]:
        return [str(agent.id) for agent in agents]

    def test_each_agent_in_a_room_that_a_player_enters_reads_ahead(self):
        self.char1.move_to(self.room1)
        self.pass_time(1)
        self.settle(lambda: len(self.ahead()) == 2)
        assert sorted(self.ahead()) == sorted(self.of(self.mira, self.joss))
        (call, *_) = self.fake.calls("/v1/completions")
        assert "Here: " in call.body["prompt"]
        assert "Tom" in call.body["prompt"]

    def test_an_agent_that_comes_to_a_player_reads_ahead_and_one_that_sleeps_does_not(self):
        self.joss.db.asleep = "2026-05-04T12:00:00"
        self.joss.move_to(self.quay)
        self.pass_time(1)
        assert self.ahead() == []
        self.mira.move_to(self.quay)
        self.pass_time(1)
        assert self.ahead() == self.of(self.mira)

    def test_nobody_reads_ahead_for_a_player_who_only_passes(self):
        gate = self.hold_answers()
        self.char1.move_to(self.room1)
        self.settle(lambda: len(self.ahead()) == 1)
        self.char1.move_to(self.quay)
        gate.set()
        self.pass_time(1)
        assert len(self.ahead()) == 1, "the other one had not begun"

    def test_a_server_that_keeps_one_prompt_is_not_made_to_forget_it(self):
        self.fake.total_slots = 1
        self.use(form="dialogue")
        self.char1.move_to(self.room1)
        self.pass_time(1)
        assert self.ahead() == []

    def test_who_stands_where_players_enter_reads_ahead_once_the_model_answers(self):
        self.use(form="dialogue")
        with override_settings(START_LOCATION=self.quay.dbref):
            self.char1.location = None
            lifecycle._model_is_back()
            self.pass_time(1)
            assert self.ahead() == [], "nobody is on the quay"
        with override_settings(START_LOCATION=self.room1.dbref):
            lifecycle._model_is_back()
            self.settle(lambda: len(self.ahead()) == 2)
        assert sorted(self.ahead()) == sorted(self.of(self.mira, self.joss))


class TestEchoes(TalkWorld):
    """A small model that goes on with its prompt."""

    FORM = "dialogue"

    def test_it_says_no_question_of_somebody_else_and_no_list_of_those_here(self):
        self.mind.thinker.answered(identity_of(self.char1))
        self.ask("What did Ann whisper to you about a lamp?", " Nothing of mine.")
        answers = (" Tom, what did Ann whisper to you about a lamp?", " I know that you mend nets.")
        self.ask("What do you know of me?", *answers)
        assert self.acts()[-1] == "say I know that you mend nets."
        listed = " Tom, Char2. Tom, whom you meet for the first time)"
        self.ask("And what does Ann do?", listed, " She sews sails.")
        assert self.acts()[-1] == "say She sews sails."
        self.ask("Who is there?", " Tom and Char2.")
        assert self.acts()[-1] == "say Tom and Char2."
