"""What another agent answers to carried words is for who sent the agent, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.records import Memory
from tests.world.agents_world import NOT_ALLOWED, is_consent, next_of
from tests.world.errand_world import ASKED, ErrandWorld

ASKS_BRAM = (
    "I go.\n> plan now, Bram: ask him in his ear whether the seal is dry, and whisper Tom what he"
    " says\n> walk to Bram\n> whisper Bram = {words}\n> wait for Bram"
)
SENT = "Ask Bram in his ear whether the seal is dry, and whisper me what he says."
HOME = "> walk to Tom\n> whisper Tom = Not yet, he says.\n> done 1"
CARRIED = "Mira says this for somebody else, who will hear your plain lines."


class CarriedAnswers(ErrandWorld):
    """Tom, in the room with nobody else, sends Mira to Bram, an agent who is awake."""

    def setUp(self) -> None:
        super().setUp()
        self.consent = ASKED
        self.bram.attributes.remove("paused")
        self.bram.db.profile = "You are Bram, a beekeeper."
        self.of_mira: list[str] = []
        self.of_bram: list[str] = []
        self.fake.script = self.scripted
        self.heard_by_tom = self.capture(self.char1)

    def scripted(self, prompt: str) -> str:
        if is_consent(prompt):
            return self.consent
        if "a beekeeper" not in prompt:
            return next_of(self.of_mira)
        return next_of(self.of_bram) if "waits for your answer" in prompt else "> wait"

    def sent(
        self, *of_bram: str, words: str = "Is it dry?", home: Sequence[str] = (HOME,)
    ) -> list[str]:
        """Let Tom send Mira to Bram, who answers so; return Bram's prompts."""
        before = len(self.prompts())
        self.of_mira[:] = [ASKS_BRAM.format(words=words), *home, "> wait"]
        self.of_bram[:] = [*of_bram, "> wait"]
        self.char1.execute_cmd(f"whisper Mira = {SENT}")
        self.pass_minutes(3)
        of_bram_ = (each for each in self.prompts()[before:] if "a beekeeper" in each)
        return [each for each in of_bram_ if "waits for your answer" in each]

    def of_window(self, agent, words: str) -> Memory:
        """Return the newest memory of an agent with these words."""
        window = agent.mind.memory.memory.context().window
        return [each for each in window if words in each.words][-1]


class TestCarriedAnswers(CarriedAnswers):
    def test_an_answer_to_carried_words_is_brought_home_without_leave(self):
        first, *_ = self.sent("Not yet, the sand is wet.")
        assert CARRIED in first
        assert "Tom" not in first.rpartition("Is it dry?")[2]
        assert 'Mira whispers to you, "Not yet, he says."' in self.heard_by_tom
        assert len(self.consents()) == 1
        assert not self.plans.current
        answer = self.of_window(self.mira, "the sand is wet")
        assert answer.confidants == {identity_of(self.bram), identity_of(self.char1)}

    def test_words_that_need_no_leave_are_told_by_an_agent_that_was_asked_aloud_to_go(self):
        self.char2.move_to(self.room1, quiet=True)
        self.of_mira[:] = [ASKS_BRAM.format(words="Is it dry?"), HOME, "> wait"]
        self.of_bram[:] = ["Not yet, the sand is wet.", "> wait"]
        self.char1.execute_cmd("talk Mira Go to Bram, ask him quietly if it is dry, and tell me.")
        self.pass_minutes(3)
        assert 'Mira whispers to you, "Not yet, he says."' in self.heard_by_tom
        assert not self.consents()

    def test_a_second_answer_is_brought_when_the_first_is_at_home(self):
        self.sent("Not yet, the sand is wet.")
        before = len(self.prompts())
        self.of_mira[:] = ["He said no more.", "> wait"]
        self.char1.execute_cmd("whisper Mira = What did he say, word for word?")
        self.pass_minutes(1)
        assert "the sand is wet" in self.prompts()[before]
        assert len(self.consents()) == 1


class TestWhatStaysWithTheMessenger(CarriedAnswers):
    """Attacks: what was not said for who sent the agent needs leave, as before."""

    def test_what_is_whispered_by_a_deed_is_for_the_messenger_alone(self):
        self.consent = ASKED
        self.sent(
            "> whisper Mira = I sank it myself.\nNot yet.", home=["> wait for Bram", "> wait"]
        )
        theirs = self.of_window(self.mira, "sank it")
        assert theirs.confidants == {identity_of(self.bram)}
        self.consent = NOT_ALLOWED
        self.of_mira[:] = ["> walk to Tom\n> whisper Tom = He sank it himself.", "> wait"]
        self.bram.execute_cmd("whisper Mira = Did you hear me?")
        self.pass_minutes(3)
        assert len(self.consents()) > 1
        assert not any("sank" in line for line in self.heard_by_tom)

    def test_the_prompt_of_the_answer_holds_nothing_else_that_the_two_told_each_other(self):
        self.mira.move_to(self.quay, quiet=True)
        self.of_bram[:] = ["> whisper Mira = My bees have swarmed, say nothing.", "> wait"]
        self.of_mira[:] = ["Not a word.", "> wait"]
        self.ada.execute_cmd("talk Bram Is it late?")
        self.pass_minutes(1)
        self.mira.move_to(self.char1.location, quiet=True)
        first, *_ = self.sent("Not yet.")
        assert CARRIED in first
        assert "swarmed" not in first
        assert self.of_window(self.mira, "swarmed").confidants == {identity_of(self.bram)}
        *_, asked = [each for each in self.prompts() if "a beekeeper" not in each]
        assert "swarmed" not in asked

    def test_what_is_whispered_later_is_no_answer(self):
        self.sent("Not yet.")
        self.of_bram[:] = ["> whisper Mira = I love the ferryman.", "> wait"]
        self.mira.move_to(self.quay, quiet=True)
        self.ada.execute_cmd("talk Bram Is it late?")
        self.pass_minutes(1)
        assert self.of_window(self.mira, "ferryman").confidants == {identity_of(self.bram)}

    def test_what_the_messenger_whispers_after_an_answer_is_its_own(self):
        self.char2.move_to(self.room1, quiet=True)
        self.of_mira[:] = [
            "I go.\n> plan now, Bram: ask him if it is dry, and tell Tom\n> walk to Bram"
            "\n> talk Bram = Is it dry?\n> wait for Bram",
            "> whisper Bram = I have kept all your verses.\n> walk to Tom\nNot yet, Tom.\n> done 1",
            "> wait",
        ]
        self.of_bram[:] = ["Not yet.", "> wait"]
        self.char1.execute_cmd("talk Mira Go to Bram, ask him if it is dry, and tell me.")
        self.pass_minutes(3)
        own = self.of_window(self.mira, "verses")
        assert (own.confidants, own.errand) == ({identity_of(self.bram)}, "")
        assert any("Not yet, Tom." in line for line in self.heard_by_tom)
        assert not any("verses" in each for each in self.consents())

    def test_nobody_else_who_whispers_is_shown_the_answer(self):
        self.sent("Not yet, the sand is wet.")
        self.char1.move_to(self.add_room("The Cellar"), quiet=True)
        self.ada.move_to(self.mira.location, quiet=True)
        before = len(self.prompts())
        self.of_mira[:] = ["Of what?", "> wait"]
        self.ada.execute_cmd("whisper Mira = What did Bram say?")
        self.pass_minutes(1)
        assert "the sand is wet" not in self.prompts()[before]

    def test_who_is_asked_does_not_learn_from_its_prompts_who_sent_the_agent(self):
        self.sent("Not yet.")
        assert identity_of(self.char1) not in (self.of_window(self.bram, "dry").confidants or ())
        shown = self.alone_with_tom()
        assert "Is it dry?" not in shown

    def test_who_is_named_by_the_words_may_speak_of_them(self):
        self.sent("Not yet.", words="Tom asks if it is dry.")
        assert identity_of(self.char1) in (self.of_window(self.bram, "dry").confidants or ())
        assert "Tom asks if it is dry." in self.alone_with_tom()

    def test_who_is_named_is_shown_what_was_planned_from_it(self):
        self.sent(
            "I shall come.\n> plan tomorrow 12:00: bring Tom the seal",
            words="Tom asks you to bring him the seal tomorrow.",
        )
        (plan,) = self.bram.mind.books.plans.current
        assert plan.private == {identity_of(self.mira), identity_of(self.char1)}
        assert f"{plan.number}. 2026-11-28 12:00: bring Tom the seal" in self.alone_with_tom()

    def alone_with_tom(self) -> str:
        """Return Bram's prompt when Tom, whom he is alone with, whispers to him."""
        self.ada.move_to(self.add_room("The Cellar"), quiet=True)
        self.char1.move_to(self.quay, quiet=True)
        before = len(self.prompts())
        self.of_bram[:] = ["Good evening.", "> wait"]
        self.char1.execute_cmd("whisper Bram = A fine evening, is it not?")
        self.pass_minutes(1)
        return self.prompts()[before]
