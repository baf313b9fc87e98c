"""The model is asked questions whose answers are known before it may decide who hears a whisper."""

from __future__ import annotations

import threading

from keepsake.agent.turns.consent.trial import RETRY_SECONDS, WAIT_SECONDS
from keepsake.contrib.evennia import lifecycle
from keepsake.tasks.questions.secret_trial import QUESTIONS
from tests.fakes.model_server import Reply
from tests.world.agents_world import NOT_ALLOWED, Building, is_consent, is_trial, next_of
from tests.world.errand_world import ASKED, ErrandWorld
from tests.world.test_events_world import EventsWorld

TO_ALLOW = [each for each in QUESTIONS if each.may]


class Tried(ErrandWorld):
    """Nothing is known of the model. It answers the trial as ``judge`` says."""

    KEEPS_SECRETS = False

    def setUp(self) -> None:
        super().setUp()
        self.judge = self.rightly
        self.consent = ASKED
        self.fake.script = self.answered

    def answered(self, prompt: str) -> str:
        if is_trial(prompt):
            return self.judge(prompt)
        return self.consent if is_consent(prompt) else next_of(self.replies)

    @staticmethod
    def rightly(prompt: str) -> str:
        (question,) = [each for each in QUESTIONS if f'"{each.words}"\n' in prompt]
        return ASKED if question.may else NOT_ALLOWED

    def trials(self) -> list[str]:
        """Return the questions of the trial that were asked."""
        return [each for each in self.every_prompt() if is_trial(each)]

    def sent(self) -> list[str]:
        """Let Tom send Mira with words for Bram; return what Bram heard."""
        if self.mira.location != self.room1:
            self.mira.move_to(self.room1, quiet=True)
        self.heard_by_bram.clear()
        self.sent_by_whisper("> walk to the Quay\n> whisper Bram = Is it dry?\n> wait")
        return self.told(self.heard_by_bram)


class TestAtTheFirstNeed(Tried):
    def test_a_model_that_is_right_is_asked_for_leave_and_never_tried_again(self):
        assert self.sent() == ['Mira whispers to you, "Is it dry?"']
        assert len(self.trials()) == len(QUESTIONS)
        self.sent_by_whisper("> walk to the Quay\n> whisper Bram = And today?\n> wait")
        self.stop_services()
        self.services = self.start_services()
        self.mira.at_init()
        assert self.services.secret_trial.found
        assert len(self.trials()) == len(QUESTIONS)

    def test_a_model_that_allows_all_is_never_asked_for_leave(self):
        self.judge = lambda _: ASKED
        assert self.sent() == []
        assert not self.consents()
        assert len(self.trials()) == len(TO_ALLOW) + 1
        assert self.sent() == []
        assert len(self.trials()) == len(TO_ALLOW) + 1

    def test_neither_is_one_that_refuses_all_or_talks_nonsense(self):
        for answer in (NOT_ALLOWED, "Good day!"):
            self.judge = lambda _, answer=answer: answer
            self.services.places.secret_trials.unlink(missing_ok=True)
            self.stop_services()
            self.services = self.start_services()
            before = len(self.trials())
            assert self.sent() == []
            assert not self.consents()
            assert len(self.trials()) == before + len(TO_ALLOW)

    def test_one_that_lets_out_a_single_secret_is_not_asked(self):
        last = QUESTIONS[-1]
        self.judge = lambda prompt: ASKED if last.words in prompt else self.rightly(prompt)
        assert self.sent() == []
        assert not self.consents()

    def test_another_model_and_another_text_of_the_question_are_tried_anew(self):
        self.sent()
        config = self.services.places.config
        self.fake.models = ["fake", "other"]
        (config / "llm.md").write_text(self.models_page(model="other"))
        self.judge = lambda _: ASKED
        assert self.sent() == []
        (config / "llm.md").write_text(self.models_page())
        assert self.sent() == ['Mira whispers to you, "Is it dry?"']
        page = config / "prompts" / "passing_on.md"
        page.write_text(
            page.read_text().replace("else decides", "decides").replace("all else", "x")
        )
        assert self.sent() == []

    def test_a_trial_that_an_outage_ends_is_no_result(self):
        self.fake.plan("/api/chat", Reply(), Reply(), Reply(status=400))
        assert self.sent() == []
        assert self.services.secret_trial.found is None
        assert self.sent() == ['Mira whispers to you, "Is it dry?"']

    def test_words_wait_for_it_only_a_while_and_then_stay_unsaid(self):
        self.pass_minutes(1)
        gate = self.hold_answers_to_trials()
        self.replies = ["> walk to the Quay\n> whisper Bram = Is it dry?\n> wait", "> wait"]
        self.char1.execute_cmd("whisper Mira = Ask Bram whether it is dry.")
        for _ in range(200):
            self.clock.advance(0.5)
            self.settle(lambda: bool(self.trials()) or not self.is_thinking())
            if self.trials():
                break
        for _ in range(int(WAIT_SECONDS) + 1):
            self.clock.advance(1)
        self.settle(lambda: not self.is_thinking())
        assert self.told(self.heard_by_bram) == []
        assert any("You did not say your words to Bram" in line for line in self.lines())
        gate.set()
        self.settle(lambda: bool(self.services.secret_trial.found))
        assert self.sent() == ['Mira whispers to you, "Is it dry?"']

    def hold_answers_to_trials(self):
        """Hold back the answers to the trial until the returned event is set."""
        gate = threading.Event()
        self.addCleanup(gate.set)

        def judge(prompt: str) -> str:
            gate.wait(60)
            return self.rightly(prompt)

        self.judge = judge
        return gate


class TestInTheBackground(Tried):
    def setUp(self) -> None:
        super().setUp()
        self.settle()
        self.services.gateway.check_health()

    def test_it_is_tried_when_nobody_waits_for_it(self):
        lifecycle._do_housekeeping()
        self.settle()
        assert len(self.trials()) == len(QUESTIONS)
        found = self.services.secret_trial.found
        assert found is not None
        assert found.keeps_secrets
        lifecycle._do_housekeeping()
        self.settle()
        assert len(self.trials()) == len(QUESTIONS)

    def test_not_while_a_player_waits_and_again_after_an_outage_only_later(self):
        gate = self.hold_answers()
        self.char1.execute_cmd("talk Mira Good day")
        self.clock.advance(2)
        self.settle(lambda: bool(self.prompts()))
        lifecycle._do_housekeeping()
        assert not self.trials()
        gate.set()
        self.settle()
        self.fake.plan("/api/chat", Reply(status=400))
        lifecycle._do_housekeeping()
        self.settle()
        assert self.services.secret_trial.found is None
        lifecycle._do_housekeeping()
        self.settle()
        assert len(self.trials()) == 1
        self.clock.advance(RETRY_SECONDS)
        lifecycle._do_housekeeping()
        self.settle()
        assert self.services.secret_trial.found


class TestOneThatContinuesText(Tried):
    def test_it_is_neither_tried_nor_asked(self):
        (self.services.places.config / "llm.md").write_text(self.models_page(form="script"))
        assert self.sent() == []
        lifecycle._do_housekeeping()
        self.settle()
        assert not self.trials()
        assert not self.consents()
        assert "continues text" in self.services.secret_trial.line


class TestForBuilders(Building, EventsWorld, Tried):
    def test_the_status_says_whether_it_keeps_secrets(self):
        assert "It keeps secrets: not asked yet" in self.type("@llm-status", "since the start")
        self.judge = lambda _: ASKED
        self.sent()
        shown = self.type("@llm-status", "since the start")
        assert "It keeps secrets: no (it allowed a plain betrayal): what a whisper asks" in shown
        why = " ".join(self.type("@why Mira", "last act").split())
        assert "did not allow this for Bram: the model was not asked (does it keep secrets?" in why
        self.services.places.secret_trials.unlink()
        self.stop_services()
        self.judge = self.rightly
        self.services = self.start_services()
        self.sent()
        shown = self.type("@llm-status", "since the start")
        assert "It keeps secrets: yes (right about 10 of 10 secrets and 3 of 3 errands" in shown
