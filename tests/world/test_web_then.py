"""What an agent had in mind at a time."""

from __future__ import annotations

from datetime import datetime

from keepsake.books.aloud import Aloud
from keepsake.books.plan import Plan
from keepsake.language.when import When
from keepsake.web.questions.clock import meant_by
from tests.world.asked_world import SECRET, AskedWorld


class TestThen(AskedWorld):
    """What Mira meant to do, kept secret and had heard."""

    def test_what_she_had_in_mind_at_a_time_is_what_she_meant_kept_secret_and_heard(self):
        bake = Plan(what="bake", when=When(datetime(2026, 5, 9, 8).astimezone()))
        for plan in (Plan(what="fetch honey"), Plan(what="sing"), bake):
            self.mind.books.plans.add(plan)
        now = int(self.services.clock.now().timestamp()) + 1
        lines = self.answer_to("then", str(now))
        assert [(each["label"], each["text"]) for each in lines[:2]] == [
            ("Meant to", "Sat 9 May, 08:00: bake"),
            ("Meant to", "fetch honey"),
        ]
        assert lines[1]["aside"] == "and 1 more"
        told = {each["label"]: each for each in lines}
        assert told["Keeps secret"]["text"] == f"“{SECRET}”"
        assert told["Keeps secret"]["private"]
        assert told["Keeps secret"]["aside"].startswith("Tom ")
        # Jo only asked after that, which tells nothing.
        assert told["Heard last"]["text"] == "“My brother Edwin mends nets in Ostrey.”"
        assert not told["Heard last"]["private"]
        assert self.answer_to("then", "2020-01-01") == []
        assert "is no time in the past" in self.answer_to("then", "the cup", status=400)

    def test_two_secrets_leave_room_for_what_was_heard_if_nothing_was_meant(self):
        self.ann = self.add_player(3, "Ann")
        self.ann.execute_cmd("whisper Mira = I have sold the anchor of the Heron.")
        self.pass_time(6)
        now = int(self.services.clock.now().timestamp()) + 1
        labels = [each["label"] for each in self.answer_to("then", str(now))]
        assert labels == ["Meant to", "Keeps secret", "Keeps secret", "Heard last"]

    def test_what_was_heard_last_is_always_told_the_question_in_it_too(self):
        for what in ("fetch honey", "sweep the yard", "mend the sail"):
            self.mind.books.plans.add(Plan(what=what))
        self.ask("I have warm feet. Which letter of the drowned would you open first?")
        now = int(self.services.clock.now().timestamp()) + 1
        lines = self.answer_to("then", str(now))
        labels = [each["label"] for each in lines]
        assert labels == ["Meant to", "Meant to", "Keeps secret", "Heard last"]
        assert "Which letter of the drowned" in lines[-1]["text"]

    def test_what_was_whispered_and_asked_for_a_deed_is_no_secret(self):
        self.replies = ["> plan 23:00: ring the bell of Ostrey for Tom"]
        self.char1.execute_cmd("whisper Mira = Ring the bell of Ostrey at eleven, for the drowned.")
        self.pass_time(1.5)
        now = int(self.services.clock.now().timestamp()) + 1
        kept = [x["text"] for x in self.answer_to("then", str(now)) if x["label"] == "Keeps secret"]
        assert kept == [f"“{SECRET}”"]

    def test_a_promise_that_a_plan_will_keep_is_told_once(self):
        self.ask(
            "Will you wake me tomorrow at six?",
            "> say I shall.\n> promise Tom: wake him\n> plan tomorrow 6:00, Tom: wake Tom",
        )
        newest = self.mind.memory.memory.archive.last_number
        lines = self.answer_to("then", f"m{newest}")
        meant = [each["text"] for each in lines if each["label"] in ("Meant to", "Promised", "")]
        assert len(meant) == 1
        assert meant[0].endswith("06:00: wake Tom")
        assert self.answer_to("next")[0]["text"].endswith("06:00: wake Tom")
        assert "promised Tom: wake him" not in str(self.answer_to("next"))

    def test_a_plan_that_is_somebodys_words_is_told_as_a_person_would(self):
        archive = self.mind.memory.memory.archive
        words = {each.words: each for each in archive.read(1, archive.last_number)}
        asked = words["Where is the ladle?"]
        line = Aloud.of(asked.number, asked.text).request
        self.mind.books.plans.add(Plan(what=line, since=asked.number))
        told = words[SECRET]
        line = Aloud.of(told.number, told.text).request
        self.mind.books.plans.add(Plan(what=line, since=told.number))
        assert [each["what"] for each in self.get("/plans")] == [
            "answer Jo: “Where is the ladle?”",
            f"do as asked by Tom: “{SECRET}”",
        ]

    def test_a_clock_time_means_the_evening_of_an_agent_that_remembers_nothing_after_it(self):
        span = (datetime(2026, 5, 9, 20).timestamp(), datetime(2026, 5, 9, 21).timestamp())
        now = datetime(2026, 5, 10, 8).astimezone()
        assert meant_by("21:30", now, span) == datetime(2026, 5, 9, 21, 30).astimezone()
        assert meant_by("20:30", now, span) == datetime(2026, 5, 9, 20, 30).astimezone()
        assert meant_by("09:30", now, span) < now, "it has not come yet today"
