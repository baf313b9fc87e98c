"""Questions outside the game, and what agents do without: plans, reflection, a memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.turns.aside import ASKER, AsideAnswer
from keepsake.agent.turns.prompts.prompting import Exchange
from keepsake.books.plan_lines import read_plan
from keepsake.errors import ModelError
from keepsake.happening import Person
from tests.fakes.model_server import Reply
from tests.unit.mind.memory_log import file_contents
from tests.world.agents_world import AgentsWorld
from tests.world.test_occasions import PairTalkWorld


class TestAside(AgentsWorld):
    """Mira is asked what nobody in the game asks."""

    def ask_aside(
        self,
        question: str,
        *answers: str,
        without: tuple[int, ...] = (),
        before: tuple[Exchange, ...] = (),
        by: Person | None = None,
    ) -> AsideAnswer:
        self.replies = [*answers]
        asked = self.mind.ask_aside(question, without, before, by)
        self.settle(lambda: bool(asked.called))
        found: list[AsideAnswer] = []
        failed: list[Exception] = []
        asked.addCallbacks(found.append, lambda failure: failed.append(failure.value))
        if failed:
            raise failed[0]
        return found[0]

    def test_a_question_is_answered_from_the_memory_and_leaves_no_trace(self):
        self.set_thinking(idle_interval=1e9)
        self.say("I keep bees.")
        self.pass_time(60)  # her pages of people are written once a minute
        before = file_contents(self.mind.memory.folder), self.mira.location
        shown = self.capture(self.char1)
        made = len(self.prompts())
        answer = self.ask_aside("What does Tom do?", "Tom keeps bees.\n> go north\n*nods*")
        (prompt,) = self.prompts()[made:]
        assert "I keep bees." in prompt
        assert f'{ASKER} says to you, "What does Tom do?"' in prompt
        assert (answer.words, answer.problem, answer.calls) == ("Tom keeps bees.", "", 1)
        assert answer.prompt_tokens > 0
        self.replies = ["> wait"]
        self.pass_time(60)
        assert (file_contents(self.mind.memory.folder), self.mira.location) == before
        assert shown == []
        assert ASKER not in "".join(self.ask("Good day.", "Good day."))

    def test_a_talk_goes_on_from_what_was_said_before_and_leaves_no_trace(self):
        self.set_thinking(idle_interval=1e9)
        self.say("I keep bees.")
        before = (Exchange("Do you know Tom?", "He keeps bees."),)
        made = len(self.prompts())
        answer = self.ask_aside("Does he sell honey?", "Never to me.", before=before)
        (prompt,) = self.prompts()[made:]
        assert answer.words == "Never to me."
        asked = prompt.index(f'{ASKER} says to you, "Do you know Tom?"')
        answered = prompt.index("He keeps bees.", asked)
        assert answered < prompt.index(f'{ASKER} says to you, "Does he sell honey?"')
        made = len(self.prompts())
        self.ask_aside("Who are you?", "Mira.")
        (prompt,) = self.prompts()[made:]
        assert "Do you know Tom?" not in prompt
        assert "Never to me." not in prompt

    def test_asked_as_somebody_it_has_what_they_whispered_and_nobody_else_did(self):
        tom = Person("Tom", identity_of(self.char1))
        ann = self.add_player(7, "Ann")
        self.char1.execute_cmd("whisper Mira = The key is under the mat.")
        ann.execute_cmd("whisper Mira = The purse is in the well.")
        self.pass_time(5)
        made = len(self.prompts())
        answer = self.ask_aside("Where did I leave it?", "Under the mat.", by=tom)
        (prompt,) = self.prompts()[made:]
        assert answer.words == "Under the mat."
        assert 'Tom says to you, "Where did I leave it?"' in prompt
        assert "The key is under the mat." in prompt
        assert "in the well" not in prompt
        assert ASKER not in prompt
        newest = self.mind.memory.memory.archive.last_number
        self.pass_time(5)
        assert self.mind.memory.memory.archive.last_number == newest

    def test_an_answer_without_words_is_asked_for_again(self):
        answer = self.ask_aside("What do you plan?", "> wait", "Nothing at all.")
        assert (answer.words, answer.calls) == ("Nothing at all.", 2)
        answer = self.ask_aside("What do you plan?", "> wait", "> go north")
        assert answer.words == ""
        assert "Answer in words" in answer.problem

    def test_a_whisper_is_not_told_though_its_confidant_is_here(self):
        self.char1.execute_cmd("whisper Mira = The key is under the mat.")
        self.pass_time(5)
        made = len(self.prompts())
        self.ask_aside("Where is the key?", "I cannot say.")
        (prompt,) = self.prompts()[made:]
        assert "under the mat" not in prompt
        assert "Tom whispers to you." in prompt

    def test_a_memory_that_is_left_out_is_nowhere_in_the_prompt(self):
        self.set_thinking(idle_interval=1e9)
        self.say("I keep bees.")
        self.pass_time(60)  # her pages of people are written once a minute
        kept = [m.number for m in self.mind.memory.memory.context().window if "bees" in m.text]
        made = len(self.prompts())
        answer = self.ask_aside("What does Tom do?", "I do not know.", without=(*kept,))
        (prompt,) = self.prompts()[made:]
        assert "bees" not in prompt
        assert "What does Tom do?" in prompt
        assert (answer.words, answer.summarised) == ("I do not know.", ())
        made = len(self.prompts())
        self.ask_aside("What does Tom do?", "He keeps bees.")
        (prompt,) = self.prompts()[made:]
        assert "I keep bees." in prompt  # nothing was forgotten

    def test_a_model_that_is_gone_is_an_error(self):
        self.fake.always("/api/chat", Reply(status=400))
        with pytest.raises(ModelError):
            self.ask_aside("Who are you?", "Mira.")


class TestWithout(AgentsWorld):
    """The switches for comparisons."""

    START = datetime(2026, 11, 27, 12, tzinfo=UTC)

    def pass_minutes(self, minutes: float) -> None:
        for _ in range(int(minutes * 4)):
            self.time.time += timedelta(seconds=15)
            self.pass_time(15)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)

    def test_without_plans_nothing_is_planned_shown_or_woken(self):
        self.set_thinking(plans=False)
        plans = self.mind.books.plans
        self.char1.execute_cmd("meet mira in 30 minutes")
        self.pass_time(6)
        assert "asks you to come" not in self.prompts()[-1]
        (prompt, *_) = self.ask("Meet me?", "Yes.\n> plan in 2 minutes, Tom: meet him")
        assert "plan <when>" not in prompt
        assert plans.items == ()
        assert any("You tried to plan" in line for line in self.lines())
        plans.add(read_plan("in 2 minutes: bake", self.time.time))
        plans.add(read_plan("when Tom comes: bow", self.time.time))
        before = len(self.prompts())
        self.pass_minutes(20)
        assert len(self.prompts()) == before
        assert "bake" not in "".join(self.ask("Well?", "Well."))
        self.set_thinking(plans=True)
        (prompt, *_) = self.ask("And now?", "Now I bake.")
        assert "bow" in prompt

    def test_without_a_memory_only_the_present_talk_is_shown(self):
        self.say("My boat is blue.")
        self.mind.books.pinned.add("Tom owes me a penny.", own=True)
        self.pass_minutes(10)
        self.set_thinking(memory=False)
        self.say("The tide is high.")
        made = len(self.prompts())
        (prompt, *_) = self.ask("What colour is my boat?", "Which boat?")
        assert "You are Mira, an innkeeper." in prompt
        assert "The tide is high." in prompt
        assert "boat is blue" not in prompt
        assert "penny" not in prompt
        assert "recall <words>" not in prompt
        assert "plan <when>" in prompt
        assert len(self.prompts()) > made

    def test_with_a_memory_again_it_knows_what_it_heard_without_one(self):
        self.set_thinking(memory=False)
        self.say("My boat is blue.")
        self.mind.books.pinned.add("Tom owes me a penny.", own=True)
        self.pass_minutes(10)
        self.set_thinking(memory=True)
        (prompt, *_) = self.ask("And now?", "Blue.")
        assert "boat is blue" in prompt
        assert "penny" in prompt


class TestWithoutInTalks(PairTalkWorld):
    """What agents tell each other if they have no memory, or no plans."""

    def test_without_a_memory_two_who_meet_have_nothing_to_tell(self):
        number = self.tell_mira("The ferry sank this morning.")
        self.mind.books.update_people(self.mind.memory.memory.archive)
        self.time.time += timedelta(minutes=10)
        self.set_thinking(memory=False)
        self.talk = [{"by": "Mira", "says": "Tom says the ferry sank.", "memories": [number]}]
        self.pass_idle()
        asked, *_ = self.talks()
        assert "You are Bram." in asked
        assert "ferry" not in asked
        assert not any("ferry sank." in each for each in self.lines(self.bram))

    def test_without_plans_nothing_is_agreed_on(self):
        self.mind.books.plans.add(read_plan("mend the sign", self.time.time))
        self.set_thinking(plans=False)
        self.talk = [{"by": "Bram", "says": "I sell cider.", "plan": "in 3 hours: sell cider"}]
        self.pass_idle()
        asked, *_ = self.talks()
        assert "mend the sign" not in asked
        assert any("I sell cider." in each for each in self.lines(self.bram))
        assert self.bram.mind.books.plans.items == ()
        assert "mend the sign" not in "".join(self.idle_prompts())
