"""Words to an agent whose model fails, and works again later."""

from __future__ import annotations

import threading

from tests.fakes.model_server import Reply
from tests.world.talk_world import TalkWorld


class TestModelGone(TalkWorld):
    """A model that fails and works again later."""

    def away_lines(self) -> int:
        return sum("seems far away" in line for line in self.heard)

    def test_an_outage_is_told_once_for_each_line_and_again_after_a_change(self):
        others = self.capture(self.char2)
        self.fake.always("/api/chat", Reply(status=500))
        self.ask("Is anybody there?", seconds=8)
        for _ in range(3):  # as once a minute
            self.mind.thinker.answer_waiting()
            self.pass_time(60)
        assert self.away_lines() == 1
        self.ask("Hello?", seconds=8)
        assert self.away_lines() == 2, "words without any answer look lost"
        assert sum("seems far away" in line for line in others) == 1, "only who waits reads it"
        self.char1.move_to(self.add_room("The Quay"))
        self.pass_time(90)
        self.char1.move_to(self.room1)
        self.ask("And now?", seconds=8)
        assert self.away_lines() == 3
        self.fake.always("/api/chat", Reply())
        self.pass_time(60)
        self.ask("Now?", "Now I am, Tom.", seconds=8)
        self.fake.always("/api/chat", Reply(status=500))
        self.pass_time(60)
        self.ask("Still?", seconds=8)
        assert self.away_lines() == 4

    def test_the_last_line_is_answered_when_the_model_works_again(self):
        self.fake.always("/api/chat", Reply(status=500))
        self.ask("Is anybody there?", seconds=8)
        assert any("seems far away" in line for line in self.heard)
        self.fake.always("/api/chat", Reply())
        self.replies = ["I am now, Tom.", "> wait"]
        self.pass_time(15)
        self.mind.thinker.answer_waiting()
        self.pass_time(8)
        assert self.acts() == ["say I am now, Tom."]


class TestOvertaken(TalkWorld):
    """A small model that gave no answer to a line, and a newer line of the same person."""

    FORM = "dialogue"

    def setUp(self) -> None:
        super().setUp()
        self.fake.script = lambda prompt: f" I heard: {prompt.splitlines()[-2]}"
        self.failing(is_so=True)
        self.char1.execute_cmd("talk Mira Tell me of the mill.")
        self.pass_time(8)
        self.failing(is_so=False)

    def failing(self, *, is_so: bool) -> None:
        self.fake.always("/api/generate", Reply(status=500 if is_so else 200))
        if not is_so:
            self.pass_time(30)

    def try_again(self) -> threading.Event:
        """Let the model work on the old line again, and answer when the event is set."""
        gate = self.held()
        self.mind.thinker.answer_waiting()
        self.wait_for_call()
        return gate

    def held(self, status: int = 200) -> threading.Event:
        """Hold back the next answers until the returned event is set."""
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.fake.always("/api/generate", Reply(gate=gate, status=status))
        return gate

    def wait_for_call(self) -> None:
        """Wait until the model is asked once more."""
        before = len(self.fake.calls("/api/generate"))
        self.clock.advance(8)
        self.settle(lambda: len(self.fake.calls("/api/generate")) > before)

    def test_a_newer_line_is_answered_in_place_of_the_old_one(self):
        gate = self.try_again()
        self.char1.execute_cmd("whisper Mira = My lamp started it.")
        gate.set()
        self.pass_time(10)
        assert self.acts() == ["whisper Tom = I heard: Tom: My lamp started it."]
        prompt = self.prompts()[-1]
        assert "the mill" not in prompt.rpartition("Here: ")[0], "it would be answered, too"
        self.mind.thinker.answer_waiting()
        self.pass_time(10)
        assert len(self.acts()) == 1

    def test_a_newer_line_that_waited_behind_the_failing_one_is_answered_alone(self):
        gate = self.held(status=400)
        self.char1.execute_cmd("talk Mira Who burned the barn?")
        self.wait_for_call()
        self.char1.execute_cmd("talk Mira And whose is that cup?")
        self.fake.always("/api/generate", Reply())
        gate.set()
        self.pass_time(10)
        assert self.acts()[-1] == "say I heard: Tom: And whose is that cup?"
        assert "the barn" not in self.prompts()[-1]

    def test_a_line_of_somebody_who_left_is_not_answered_to_the_next_one(self):
        self.char1.move_to(self.add_room("The Quay"))
        self.mind.thinker.answer_waiting()
        ann = self.add_player(2, "Ann")
        ann.execute_cmd("talk Mira My brother is called Piet.")
        self.pass_time(10)
        assert "the mill" not in self.prompts()[-1]

    def test_the_line_is_tried_again_if_nothing_newer_came(self):
        self.try_again().set()
        self.pass_time(10)
        assert self.acts() == ["say I heard: Tom: Tell me of the mill."]

    def test_what_was_not_tried_yet_is_answered_with_what_came_later(self):
        self.mind.thinker.answer_waiting()
        self.pass_time(10)
        self.mira.db.paused = True
        for words in ("What is in the soup?", "And in the pie?"):
            self.ask(words)
        self.mind.resume(self.mira)
        self.pass_time(10)
        assert "the soup" in self.prompts()[-1]
