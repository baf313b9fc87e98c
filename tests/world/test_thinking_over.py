"""By day, too, an agent writes what it makes of a player with whom it has talked."""

from __future__ import annotations

from keepsake.events.types import Sleep
from keepsake.events.values import SleepOp
from tests.fakes.model_server import Reply
from tests.world.test_sleep_nights import READ_AGAIN, NightWorld

QUIET = 4
"""Minutes that are longer than the quiet after which a talk is over."""
OSTREY = "Tom is worried about his brother Ostrey."


class TestThinkingOver(NightWorld):
    """Tom has told Mira about himself, as before a night."""

    def setUp(self):
        self.thought_over = []
        super().setUp()

    def collect_step(self, event):
        super().collect_step(event)
        if isinstance(event, Sleep) and event.op == SleepOp.THINKS_OVER:
            self.thought_over.append(event)

    def tom(self):
        return next(page for page in self.mind.books.people.all() if page.name == "Tom")

    def pass_quiet(self):
        self.pass_minutes(QUIET)
        self.wait_for_night()

    def asked_about_tom(self):
        return [prompt for prompt in self.asked() if READ_AGAIN in prompt]

    def test_what_it_makes_of_a_player_is_written_when_the_talk_is_over(self):
        self.use_model()
        assert self.tom().portrait == ""
        self.pass_quiet()
        assert self.tom().portrait == OSTREY
        assert len(self.asked_about_tom()) == 1
        (event,) = self.thought_over
        assert (event.step, event.calls, event.problem) == ("profiles", 1, "")
        assert self.steps == [], "it is no night"
        self.pass_quiet()
        assert len(self.asked_about_tom()) == 1, "once a talk"
        assert not self.mira.db.asleep

    def test_a_few_words_more_are_not_thought_over(self):
        self.use_model()
        self.pass_quiet()
        self.type("talk mira Good night.")
        self.pass_quiet()
        assert len(self.asked_about_tom()) == 1
        for what in ("eels", "leeks", "plums"):
            self.type(f"talk mira I like {what}.")
        self.pass_quiet()
        assert len(self.asked_about_tom()) == 2
        assert OSTREY in self.asked_about_tom()[-1], "it goes on from what it has"

    def test_who_speaks_to_it_again_disturbs_it_and_the_next_quiet_goes_on(self):
        self.use_model()
        gate = self.hold_answers()
        self.pass_minutes(QUIET)
        self.settle(lambda: bool(self.asked_about_tom()))
        self.mind.sleeper.nights.disturb()
        self.wait_for_night()  # although the model has not answered yet
        assert self.tom().portrait == ""
        gate.set()
        self.fake.always("/api/chat", Reply())
        self.type("talk mira My brother is better.")
        self.pass_quiet()
        assert self.tom().portrait == OSTREY

    def test_what_no_model_wrote_is_written_after_the_next_talk_with_whomever(self):
        self.use_model()
        self.fake.always("/api/chat", Reply(status=500))
        self.pass_quiet()
        assert self.tom().portrait == ""
        asked = len(self.asked_about_tom())
        self.pass_quiet()
        assert len(self.asked_about_tom()) == asked, "it is not asked again and again"
        self.fake.always("/api/chat", Reply())
        self.add_player(2, "Ada").execute_cmd("talk mira Good evening.")
        self.pass_quiet()
        assert self.tom().portrait == OSTREY

    def test_nobody_is_thought_over_where_that_is_off_or_there_is_no_model(self):
        self.use_model(reflect=False)
        self.pass_quiet()
        self.set_sleep(reflect=True, profile="nonesuch")
        self.pass_quiet()
        assert self.asked_about_tom() == []
        assert self.thought_over == []
        self.put_to_bed()
        assert self.steps, "a night goes on as ever"

    def test_what_was_told_in_private_is_in_no_such_prompt(self):
        self.use_model()
        self.type("whisper mira = I buried the silver under the elm.")
        self.pass_quiet()
        (prompt,) = self.asked_about_tom()
        assert "Ostrey" in prompt
        assert "silver" not in prompt

    def test_a_paused_agent_thinks_nothing_over(self):
        self.use_model()
        self.mira.db.paused = True
        self.pass_quiet()
        assert self.asked_about_tom() == []
        self.mira.attributes.remove("paused")
        self.pass_quiet()
        assert len(self.asked_about_tom()) == 1
