"""Words that begin with the name of the person to whom they are said, and a colon."""

from __future__ import annotations

from tests.world.plans_world import PlansWorld


class TestCalledByName(PlansWorld):
    """Mira writes ``Bram: the number is nought.``"""

    def test_words_behind_a_name_are_said_to_that_person(self):
        heard = self.bram_and_ada_at_the_quay()
        ada = next(each for each in self.quay.contents if each.key == "Ada")
        self.mira.move_to(self.quay, quiet=True)
        self.bram.execute_cmd("say Two of them are left.")
        self.ask("Tell Bram his number.", "Bram: the number you want is nought.", who=ada)
        assert 'Mira says to Bram, "the number you want is nought."' in heard

    def test_words_behind_the_name_of_who_asked_are_said_as_plain_words(self):
        heard = self.capture(self.char1)
        prompts = self.ask("What is my number?", "*nods*\nTom: the number you want is nought.")
        assert len(prompts) == 1, "nothing was refused"
        assert 'Mira says to you, "the number you want is nought."' in heard

    def test_a_model_that_insists_on_the_name_of_who_asked_is_heard(self):
        heard = self.capture(self.char1)
        line = "Tom: the number you want is nought."
        prompts = self.ask("What is my number?", line, line)
        assert len(prompts) == 2, "the first may have been a line of Tom's"
        assert 'Mira says to you, "the number you want is nought."' in heard

    def test_a_plan_is_told_that_its_words_were_taken_for_those_of_somebody_else(self):
        self.mira.move_to(self.room1, quiet=True)
        before = len(self.prompts())
        self.ask(
            "Give me my number in a minute, please.",
            "I will.\n> plan in 1 minutes, Tom: tell him his number",
        )
        self.replies = ["Here it comes.\nTom: the number is nought.\n> done 1", "> wait"]
        self.pass_minutes(3)
        (plan,) = self.plans.current
        assert plan.is_begun, "its words were not said"
        assert "You did not say 'Tom: the number is nought.'" in self.prompts()[-1]
        assert len(self.prompts()) > before
