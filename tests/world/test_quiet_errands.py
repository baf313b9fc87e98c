"""An errand that is asked for aloud and run quietly: what is whispered back is brought home."""

from __future__ import annotations

from tests.world.agents_world import NOT_ALLOWED, next_of
from tests.world.errand_world import ASKED, ErrandWorld

QUIETLY = "Go to Ada at the quay, ask her quietly whether she minds me, and bring me her word."


class TestQuietErrands(ErrandWorld):
    """Tom, among others, sends Mira to Ada, whom she asks in a whisper."""

    def setUp(self) -> None:
        super().setUp()
        self.char2.move_to(self.room1, quiet=True)
        self.consent = ASKED
        self.heard_by_tom = self.capture(self.char1)
        self.ask(
            QUIETLY,
            "I go.\n> plan now, the Quay, Ada: ask her whether she minds Tom, and bring him her"
            " word\n> walk to the Quay\n> whisper Ada = Do you mind Tom?\n> wait for Ada",
            seconds=60,
        )
        assert self.told(self.heard_by_ada) == ['Mira whispers to you, "Do you mind Tom?"']
        (plan,) = self.plans.current
        assert plan.private is None
        assert not self.consents()

    def answered(self, *answers: str) -> list[str]:
        """Let Ada whisper back, and Mira go on with her plan so; return her prompts."""
        before = len(self.prompts())
        self.replies = ["Thank you.", *answers, "> wait"]
        self.ada.execute_cmd("whisper Mira = Not on Fridays.")
        self.pass_minutes(3)
        return self.prompts()[before:]

    def test_what_is_whispered_back_goes_to_who_asked_aloud(self):
        _, for_plan, *_ = self.answered("> walk to Tom\nNot on Fridays, she says.\n> done 1")
        assert 'Ada whispers to you, "Not on Fridays."' in for_plan
        assert self.told(self.heard_by_tom)[-1] == (
            'Mira whispers to you, "Not on Fridays, she says."'
        )
        assert not self.plans.current
        assert self.consents()[-1].startswith(
            '1. Mira, sent by Tom, whispers to Ada: "Do you mind Tom?"\n'
            '2. Ada whispers to Mira: "Not on Fridays."\n'
            "Tom has sent Mira with line 1, and waits for the answer.\n"
        )

    def test_without_leave_it_is_not_said_and_others_are_told_nothing(self):
        self.consent = NOT_ALLOWED
        heard = self.capture(self.char2)
        self.answered("> walk to Tom\nNot on Fridays, she says.", "> wait")
        assert not any("Fridays" in line for line in [*heard, *self.heard_by_tom])

    def test_an_errand_that_was_brought_home_is_not_private_any_more(self):
        self.answered("> walk to Tom\nNot on Fridays, she says.", "> wait")
        before = len(self.prompts())
        asked = len(self.consents())
        self.ask("Thank you!", "Any time, Tom.")
        assert "Not on Fridays" not in self.prompts()[before]
        assert len(self.consents()) == asked
        assert 'Mira says to you, "Any time, Tom."' in self.heard_by_tom


class TestOpenErrands(ErrandWorld):
    """Tom, among others, sends Mira to Bram, with whom she has whispered before."""

    def test_an_open_answer_is_told_aloud_although_the_two_have_whispered_before(self):
        self.bram.attributes.remove("paused")
        self.bram.db.profile = "You are Bram, a beekeeper."
        self.ada.move_to(self.room1, quiet=True)
        self.bram.move_to(self.room1, quiet=True)
        of_mira = ["Not a word."]
        of_bram = ["> whisper Mira = My bees have swarmed, say nothing.", "> wait"]
        self.fake.script = lambda prompt: (
            next_of(of_bram) if "a beekeeper" in prompt else next_of(of_mira)
        )
        self.char1.execute_cmd("talk Bram Is it late?")
        self.pass_minutes(1)
        self.bram.move_to(self.quay, quiet=True)
        of_bram[:] = ["At noon.", "> wait"]
        of_mira[:] = [
            "I will.\n> plan now: ask Bram when he comes, and tell Tom\n> walk to Bram"
            "\n> talk Bram = When do you come?\n> wait for Bram",
            "> walk to Tom\n> talk Tom = At noon, Tom.\n> done 1",
            "> wait",
        ]
        heard = self.capture(self.ada)
        self.char1.execute_cmd("talk Mira Ask Bram when he comes, and tell me.")
        self.pass_minutes(2)
        assert 'Mira says to Tom, "At noon, Tom."' in heard
        assert not self.consents()
