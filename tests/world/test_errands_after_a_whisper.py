"""What is asked aloud of an agent that knows a secret: it is done, and the secret stays one."""

from __future__ import annotations

from keepsake.agent.surroundings.identity import identity_of
from tests.world.plans_world import PlansWorld

PLANNED = (
    "I will.\n> plan now, the Quay, Bram: ask him for honey\n> walk to the Quay\n> talk Bram = {}"
    "\n> wait for Bram"
)


class TestErrandsAfterAWhisper(PlansWorld):
    """Tom whispered something to Mira; now he asks her aloud for an errand."""

    def errand_after_a_whisper(self, *answers: str) -> list[str]:
        """Let Tom ask aloud for an errand after a whisper; return the prompts after the first."""
        before = len(self.prompts())
        self.replies = [*answers, "> wait"]
        self.char1.execute_cmd("talk Mira Ask Bram at the quay for honey, please.")
        self.pass_minutes(1)
        first, *others = self.prompts()[before:]
        assert "forged" in first, "the two are alone"
        return others

    def test_an_errand_given_aloud_after_a_whisper_takes_one_call_for_its_step(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        to_quay, *after = self.errand_after_a_whisper(
            "I will, as your brother the forger likes it.\n"
            "> plan now, the Quay, Bram: ask him for honey for the forger\n"
            "> walk to the Quay\n> talk Bram = Honey for the forger, Bram?",
            "> talk Bram = Some honey, Bram?\n> wait for Bram",
        )
        assert 'Mira says to Bram, "Some honey, Bram?"' in heard
        asked = "what was asked for: Tom says to you, 'Ask Bram at the quay for honey, please.'"
        assert f"[You mean to: 1. at The Quay, with Bram: {asked}]" in to_quay
        due = f"1. at The Quay, with Bram: {asked} (begun)"
        assert f"It is time for what you mean to do: {due}" in to_quay
        assert not after
        (plan,) = self.plans.current
        assert (plan.private, plan.is_begun) == ({identity_of(self.char1)}, True)

    def test_words_behind_a_walk_that_hold_nothing_whispered_are_said_at_once_as_asked(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        self.consent = '{"line": 3, "answer": "asked"}'
        after = self.errand_after_a_whisper(PLANNED.format("Some honey, Bram?"))
        assert 'Mira says to Bram, "Some honey, Bram?"' in heard
        assert not after
        (said,) = [x for x in self.mind.memory.context().window if "Some honey" in x.words]
        assert said.confidants is None
        question = self.consents()[-1]
        assert '3. Tom says to Mira: "Ask Bram at the quay for honey, please."' in question
        assert 'Mira to Bram, heard by others, too: "Some honey, Bram?"' in question

    def test_what_only_a_whisper_asks_for_is_not_said_aloud(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        self.consent = '{"line": 1, "answer": "asked"}'
        after = self.errand_after_a_whisper(
            PLANNED.format("Honey for the forger, Bram?"), "> talk Bram = Honey?\n> done 1"
        )
        assert len(after) == 1
        assert [each for each in heard if '"' in each] == ['Mira says to Bram, "Honey?"']

    def test_words_to_somebody_else_that_a_whisper_forbids_are_said_from_an_open_prompt(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        others = self.errand_after_a_whisper(
            "I will.\n> walk to the Quay\n> talk Bram = Honey for the forger, Bram?",
            "> talk Bram = Some honey, Bram?\n> done 1",
        )
        assert 'Mira says to Bram, "Some honey, Bram?"' in heard
        assert len(others) == 1
        assert not self.plans.current

    def test_plain_words_after_a_walk_to_somebody_else_are_said_from_an_open_prompt(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        self.errand_after_a_whisper(
            "I will.\n> walk to Bram\nHoney for the forger, Bram?",
            "> talk Bram = Some honey, Bram?\n> done 1",
        )
        assert [line for line in heard if "says" in line] == [
            'Mira says to Bram, "Some honey, Bram?"'
        ]

    def test_nobody_else_is_shown_what_the_agent_wrote_for_an_errand(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        self.bram.move_to(self.add_room("The Mole"), quiet=True)
        before = len(self.prompts()) + 1
        self.errand_after_a_whisper(
            "Yes.\n> plan now, the Quay, Bram: ask him for honey for the forger of the seal\n"
            "> promise Tom: honey for the forger\n> walk to the Quay\n"
            "> wait for Bram, not the forger\n> whisper Bram = Tom's brother is a forger",
        )
        ada = next(each for each in self.quay.contents if each.key == "Ada")
        deeds = "> done nonsense\n> kept 99\n> cancel all: no"
        self.ask("What will you do?", deeds, who=ada)
        self.ask("And then?", "Nothing.", who=ada)
        self.bram.move_to(self.quay, quiet=True)
        self.pass_minutes(2)
        prompts = self.prompts()[before:]
        assert any("(you wait for Bram)" in each for each in prompts)
        assert len(prompts) > 2
        assert not any("forge" in each.replace("forget", "") for each in (*prompts, *heard))

    def test_plain_words_after_a_walk_to_a_place_are_said_from_an_open_prompt(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        before = len(self.prompts())
        self.replies = [
            "I will.\n> walk to the Quay\nGood evening from the forger's brother!",
            "> say Good evening, all!\n> done 1",
            "> wait",
        ]
        self.char1.execute_cmd("talk Mira Wish them a good evening at the quay, please.")
        self.pass_minutes(1)
        assert [line for line in heard if "says" in line] == ['Mira says, "Good evening, all!"']
        assert len(self.prompts()) == before + 2
        assert not self.plans.current

    def test_words_that_a_whisper_forbids_are_told_as_not_said(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        self.replies = [
            "> walk to the Quay\n> talk Bram = The seal.\nThe seal!\n> say The forged seal!",
            "> wait",
        ]
        self.char1.execute_cmd("whisper Mira = Tell them at the quay.")
        self.pass_minutes(1)
        assert not any("says" in line for line in heard)
        told = [line for line in self.lines() if line.startswith("You did not say")]
        forbids = "an answer that may hold what was whispered to you reaches nobody else"
        assert told[0] == f"You did not say your words to Bram: {forbids}"
        assert told[1:] == [f"You did not say it: {forbids} (repeated 2×)"]
        (prompt,) = self.ask("Good day.", "Good day.", who=self.ada)
        assert "You did not say" not in prompt
        self.char1.move_to(self.quay, quiet=True)
        self.ada.move_to(self.room1, quiet=True)
        self.bram.move_to(self.room1, quiet=True)
        prompt, *_ = self.ask("Did you tell them?", "No.")
        assert "You did not say your words to Bram" in prompt

    def test_what_a_private_errand_hands_over_is_handed_over_where_its_walk_ends(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        cup = self.add_thing("cup")
        cup.location = self.mira
        before = len(self.prompts())
        self.replies = [
            "> walk to Bram\n*holds it out*\n> talk Bram = From the forger.\n> give cup to Bram",
            "> wait",
        ]
        self.char1.execute_cmd("whisper Mira = Take the cup to Bram, and not a word.")
        self.pass_minutes(1)
        assert "forged" in self.prompts()[before]
        assert cup.location is self.bram
        assert "Mira gives a cup to Bram." in heard
        assert not any("forger" in line or "holds" in line for line in heard)

    def test_a_confider_is_talked_to_by_name_and_nobody_else_hears_it(self):
        self.whisper_before()
        heard = self.capture(self.char1)
        told = "> talk Tom = The forged seal.\n> wait"
        self.ask("What was it?", told)
        ada = self.add_player(2, "Ada")
        others = self.capture(ada)
        self.replies = [told]
        self.char1.execute_cmd("whisper Mira = And what was it again?")
        self.pass_time(8)
        assert [line for line in heard if "seal" in line and line.startswith("Mira")] == [
            'Mira says to you, "The forged seal."',
            'Mira whispers to you, "The forged seal."',
        ]
        assert not any("seal" in line for line in others)

    def test_others_are_shown_what_was_asked_for_aloud_in_the_place_of_a_promise(self):
        self.whisper_before()
        (prompt,) = self.ask(
            "Will you keep me a loaf?", "> promise Tom: keep a loaf for the forger's brother"
        )
        assert "forged" in prompt
        (promise,) = self.mind.books.commitments.items
        ada = self.add_player(2, "Ada")
        shown, *_ = self.ask("Good day.", f"> kept {promise.aloud.number}", who=ada)
        asked = "what was asked for: Tom says to you, 'Will you keep me a loaf?'"
        assert f"You promised Tom: {asked} (memory {promise.aloud.number})" in shown
        assert "forge" not in shown.replace("forget", "")
        assert not self.mind.books.commitments.items
