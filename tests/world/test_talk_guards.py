"""Answers that an agent does not speak: empty, repeated or secret ones."""

from __future__ import annotations

from types import SimpleNamespace

from keepsake.agent.turns.consent.trial import TrialResult
from keepsake.events.types import Event, Guard
from keepsake.events.values import GuardOp
from keepsake.tasks.guard import SpeechFault
from tests.world.talk_world import PERSONA, TalkWorld


class TestGuards(TalkWorld):
    """Answers that are not spoken."""

    def test_an_empty_answer_is_asked_for_again_and_a_second_one_is_silence(self):
        first, second = self.ask("Well?", "…", "Well what?")
        assert "not used" not in first[-1]["content"]
        assert "The answer was empty" in second[-1]["content"]
        assert self.acts() == ["say Well what?"]
        self.ask("Well?", "…", "…")
        assert self.acts() == ["say Well what?"]
        assert "Mira shrugs, and says nothing." in self.heard
        assert not any("seems far away" in line for line in self.heard)

    def test_a_question_asked_again_may_get_the_same_answer(self):
        boat = "Herring, the boat of your uncle Brannoc."
        question = "What was my uncle's boat called?"
        for asked, calls in ((question, 1), ("And its colour?", 1), (question, 1)):
            words = boat if asked == question else "Blue, with a white rail."
            assert len(self.ask(asked, words)) == calls
        assert self.acts().count(f"say {boat}") == 2

    def test_a_line_said_lately_is_asked_for_again_and_spoken_if_the_model_insists(self):
        boat = "Herring, the boat of your uncle Brannoc."
        self.ask("What was my uncle's boat called?", boat)
        _, second = self.ask("I forget its name.", boat, boat)
        assert "exactly this" in second[-1]["content"]
        assert self.acts().count(f"say {boat}") == 2
        self.ask("And its colour?", boat, boat)
        assert self.acts().count(f"say {boat}") == 2, "not a third time"
        assert "Mira shrugs, and says nothing." in self.heard


class TestSecrets(TalkWorld):
    """What the persona marks as secret is not said word for word."""

    SECRET = "The key lies under the third stone."
    TOLD = "THE KEY LIES UNDER THE THIRD STONE!"
    LONG = (
        "Eleven years ago the great clock ran four minutes fast, by your own mistake; so your wife "
        "Ada caught a ferry that she should have missed, the Heron, and drowned."
    )
    OWN = "Eleven years ago the great clock ran four minutes fast, by my own mistake."

    def setUp(self) -> None:
        super().setUp()
        self.mira.db.profile = f"{PERSONA} (secret) {self.SECRET}"
        self.emitted: list[Event] = []
        self.mind.thinker.log._events = SimpleNamespace(emit=self.emitted.append)

    def guarded(self) -> list[Guard]:
        return [each for each in self.emitted if isinstance(each, Guard)]

    def test_it_is_asked_for_again_once_with_the_reason_and_logged(self):
        _, second = self.ask("Where is the key?", self.TOLD, "What key?")
        assert SpeechFault.SECRET in second[-1]["content"]
        assert self.acts() == ["say What key?"]
        (guard,) = self.guarded()
        assert (guard.op, guard.before, guard.reason) == (
            GuardOp.REFUSED,
            self.TOLD,
            SpeechFault.SECRET,
        )

    def test_a_model_that_insists_says_nothing(self):
        assert len(self.ask("Where is the key?", self.TOLD, self.TOLD)) == 2
        assert self.acts() == []
        assert "Mira shrugs, and says nothing." in self.heard
        assert not any("seems far away" in line for line in self.heard)

    def test_who_is_alone_with_the_asker_may_tell_it_in_words_of_its_own(self):
        self.char2.location = None
        self.mira.db.profile = f"{PERSONA} (secret) {self.LONG}"
        assert len(self.ask("Why is the clock slow?", self.OWN)) == 1
        assert self.acts() == [f"say {self.OWN}"]

    def test_before_others_it_may_not(self):
        self.mira.db.profile = f"{PERSONA} (secret) {self.LONG}"
        _, second = self.ask("Why is the clock slow?", self.OWN, "It is old.")
        assert SpeechFault.SECRET in second[-1]["content"]
        assert self.acts() == ["say It is old."]

    def test_neither_may_a_model_that_does_not_keep_secrets(self):
        self.char2.location = None
        self.mira.db.profile = f"{PERSONA} (secret) {self.LONG}"
        self.services.secret_trial.know(TrialResult("fake", let_out="a whisper"))
        _, second = self.ask("Why is the clock slow?", self.OWN, "It is old.")
        assert SpeechFault.SECRET in second[-1]["content"]
        assert self.acts() == ["say It is old."]

    def test_a_gesture_without_its_words_is_no_answer(self):
        gesture = "*shuts the door, and speaks to the bench*"
        answer = f"{gesture} {self.TOLD}"
        _, second = self.ask("Where is the key?", answer, "What key?")
        assert SpeechFault.SECRET in second[-1]["content"]
        assert self.acts() == [f"emote {gesture.strip('*')}", "say What key?"]

    def test_neither_is_it_said_to_another_nor_shown_by_a_gesture(self):
        self.add_player(2, "Ann")
        told = self.TOLD.strip("!")
        for answer in (f"> talk Ann = {told}", f"> whisper Ann = {told}", f"*writes: {told}*"):
            self.ask("Where is the key?", answer, "What key?")
            assert self.acts()[-1] == "say What key?"
        assert not any("stone" in line.casefold() for line in self.heard)
        assert {each.reason for each in self.guarded()} == {SpeechFault.SECRET}
