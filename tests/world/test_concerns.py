"""Words that are not said to an agent are a reason to think if they bear on what it means to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.happening import Person
from tests.world.agents_world import AgentsWorld
from tests.world.built_world import BuiltWorld, PeopleWorld
from world.build import find
from world.deed.asking import wished_by


class TestConcerns(AgentsWorld):
    """Bram and Nell talk beside Mira; Jonas and Tom are elsewhere."""

    START = datetime(2026, 11, 28, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.quay = self.add_room("The Quay")
        self.bram = self.add_agent("Bram")
        self.nell = self.add_agent("Nell")
        self.jonas = self.add_agent("Jonas")
        self.jonas.move_to(self.quay, quiet=True)
        for each in (self.char1, self.char2):
            each.move_to(self.quay, quiet=True)
        self.pass_time(30)

    def plans(self, line: str, *private: str, who: Any = None) -> None:
        """Let Mira, or ``who``, mean to do something."""
        jonas = Person("Jonas", identity_of(self.jonas))
        plan = read_plan(line, self.services.clock.now(), people=[jonas])
        book = (who or self.mira).mind.books.plans
        book.add(replace(plan, private=frozenset(private) or None))

    def says(self, words: str, who=None, to: str = "Nell") -> list[str]:
        """Let Bram say something to Nell, or to all; return the prompts of whoever thinks of it."""
        before = len(self.prompts())
        (who or self.bram).execute_cmd(f"talk {to} {words}" if to else f"say {words}")
        self.pass_time(30)
        self.time.time += timedelta(seconds=30)
        return self.prompts()[before:]

    def test_a_plan_that_waits_for_somebody_hears_where_they_are(self):
        self.plans("when Jonas comes: give him his soup")
        (prompt,) = self.says("Jonas has come with the boat.")
        assert prompt.startswith("You are Mira, an innkeeper.")
        assert (
            "[This was not said to you, but it may bear on what you mean to do (1. when Jonas"
            in (prompt)
        )

    def test_other_words_and_the_same_news_again_cost_nothing(self):
        self.plans("when Jonas comes: give him his soup")
        assert self.says("The boat has come.") == []
        assert len(self.says("Jonas has come with the boat.")) == 1
        assert self.says("Jonas has come with the boat, I say.") == []
        self.pass_time(3600)
        assert len(self.says("Jonas has gone again.")) == 1

    def test_two_words_of_a_plan_bear_on_it_and_one_does_not(self):
        self.plans("ask Oswin for honey")
        assert self.says("Oswin is a good man.") == []
        assert len(self.says("Oswin has sold all his honey.")) == 1

    def test_words_that_say_nothing_in_their_language_bear_on_nothing(self):
        self.plans("frag Oswin nach dem Honig und bring ihn zu mir")
        assert self.says("Ich gehe nach dem Essen zu ihm und bin bald da.") == []
        assert len(self.says("Oswin hat keinen Honig mehr.")) == 1

    def test_somebody_who_is_here_is_no_news(self):
        self.plans("when Jonas comes: sit with him")
        self.mind.books.plans.set_state(self.mind.books.plans.current[0], PlanState.DOING)
        self.mind.plans.steps.wait(self.mind.books.plans.current[0], "for Jonas")
        self.jonas.move_to(self.room1, quiet=True)
        self.pass_time(60)
        assert self.says("Jonas looks well.") == []

    def test_a_promise_is_a_concern_too(self):
        promise = Commitment(CommitmentKind.PROMISE, "Jonas", "a bowl of leek soup", 1)
        self.mind.memory.commitments.add(promise)
        (prompt,) = self.says("There is no leek left for soup.")
        assert "it may bear on a promise (You promised Jonas: a bowl of leek soup" in prompt

    def test_what_is_said_to_the_agent_itself_is_answered_then(self):
        self.plans("ask Oswin for honey")
        assert self.says("It rains.", to="Mira") == []
        (prompt,) = self.says("Oswin has sold all his honey.", to="Mira")
        assert prompt.endswith("[Bram waits for your answer.]")
        assert prompt.count("Oswin has sold all his honey.") == 1

    def test_words_of_a_player_to_somebody_else_are_heeded(self):
        self.char1.move_to(self.room1, quiet=True)
        self.pass_time(30)
        self.plans("ask Oswin for honey")
        prompts = self.says("Oswin has sold all his honey.", who=self.char1)
        assert {each.split(".")[0] for each in prompts} == {
            "You are Nell",
            "You are Mira, an innkeeper",
        }

    def test_a_thing_that_the_game_says_it_waits_for_is_a_concern(self):
        with patch.object(
            type(self.mira), "wishes", lambda who: ["blue cup"] if who is self.mira else []
        ):
            assert self.says("A cup of tea, Nell.") == []
            (prompt,) = self.says("I saw a blue cup in the boathouse.")
        assert "it may bear on what you wait for (blue cup)" in prompt

    def test_a_thing_that_is_here_is_no_news(self):
        cup = self.add_thing("blue cup")
        wishes = patch.object(
            type(self.mira), "wishes", lambda who: ["blue cup"] if who is self.mira else []
        )
        with wishes:
            assert self.says("There is the blue cup, under your lamp.") == []
            cup.location = self.nell
            assert self.says("You have the blue cup under your lamp.") == []
            cup.location = self.quay
            assert len(self.says("I saw the blue cup at the quay.")) == 1

    def test_a_plan_with_a_time_or_that_was_begun_comes_by_itself(self):
        self.plans("tomorrow 20:00, Bram: drink plum cordial by the fire")
        self.plans("now: bring Wren the red glass")
        self.mind.books.plans.set_state(self.mind.books.plans.current[1], PlanState.DOING)
        assert self.says("Plum cordial, and a fire, and a story.") == []
        assert self.says("Wren has the red glass.") == []

    def test_a_promise_of_a_plan_and_one_to_somebody_here_are_no_concerns(self):
        """The plan carries the promise, and who was promised something can ask for it."""
        nell = identity_of(self.nell)
        promised = Commitment(CommitmentKind.PROMISE, "Nell", "a bowl of leek soup", 3, nell)
        self.mind.memory.commitments.add(promised)
        assert self.says("There is no leek left for soup.") == []
        self.nell.move_to(self.quay, quiet=True)
        self.pass_time(60)
        plan = read_plan("tomorrow 20:00: cook Nell a leek soup", self.services.clock.now())
        kept = self.mind.books.plans.add(replace(plan, since=4))
        assert self.says("There is no leek left for soup.", to="") == []
        self.mind.books.plans.set_state(kept, PlanState.DONE)
        assert self.says("Not one leek for a soup.", to="") == []

    def test_a_condition_of_one_word_is_enough(self):
        self.plans("after the storm: mend the roof")
        assert self.says("The roof has a hole, I say.") == []
        (prompt,) = self.says("The storm is over.")
        assert "it may bear on what you mean to do (1. after the storm" in prompt

    def test_a_private_plan_a_whisper_and_a_scene_wake_nobody(self):
        self.plans("ask Oswin for honey", identity_of(self.char1))
        assert self.says("Oswin has sold all his honey.") == []
        self.plans("bring Wren the red glass")
        before = len(self.prompts())
        self.bram.execute_cmd("whisper Nell = Wren has the red glass.")
        scene = ('Bram says, "Wren has the red glass."', {"type": "scene"})
        self.room1.msg_contents(scene, from_obj=self.bram)
        self.pass_time(30)
        assert len(self.prompts()) == before

    def test_one_of_several_heeds_a_line(self):
        wren = self.add_agent("Wren")
        for each in (self.mira, wren):
            self.plans("ask Oswin for honey", who=each)
        assert len(self.says("Oswin has sold all his honey.")) == 1

    def test_they_cost_no_more_than_the_thoughts_about_plans_of_an_hour(self):
        self.set_thinking(plan_thoughts=1)
        self.plans("ask Oswin for honey")
        self.plans("bring Wren the red glass")
        assert len(self.says("Oswin has sold all his honey.")) == 1
        assert self.says("Wren has the red glass.") == []


class TestVillage(BuiltWorld, PeopleWorld):
    """The village's deeds say what each villager waits for."""

    def test_mira_waits_for_her_cup_until_it_is_back(self):
        assert "blue cup" in wished_by(find("agent", "mira"))
        assert "blue cup" not in wished_by(find("agent", "joss"))
