"""What an agent will do: its plans, promises and usual day, by the hour."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from unittest.mock import patch

from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan, PlanState
from keepsake.books.usual_hours import UsualHours
from keepsake.contrib.evennia.minds import mind_of
from keepsake.happening import Person
from keepsake.language.due import DueDay
from keepsake.language.when import When
from keepsake.ports import FixedClock
from tests.world.asked_world import AskedWorld


class TestAhead(AskedWorld):
    """What Mira will do next, today, tomorrow and on later days."""

    def test_what_she_will_do_begins_with_what_is_next_then_today_then_tomorrow(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        nothing = [("Today, Sat 9 May", "No plan"), ("Tomorrow, Sun 10 May", "No plan")]
        assert self.ahead() == [("Next", "Nothing is known."), *nothing]
        self.mind.books.plans.add(Plan(what="swim", when=When(noon + timedelta(days=4))))
        assert self.ahead() == [("Next", "Wed 13 May, 12:00: swim"), *nothing]
        tom = Person("Tom", self.tom)
        mira = Person("Mira", identity_of(self.mira))
        eight = noon + timedelta(hours=20)
        self.mind.books.plans.add(Plan(what="meet Tom at the pump", when=When(eight), whom=tom))
        self.mind.books.plans.add(Plan(what="bake", when=When(noon + timedelta(hours=2))))
        mind_of(self.ada).books.plans.add(
            Plan(what="bring an apple", when=When(eight + timedelta(hours=1)), whom=mira)
        )
        self.mind.books.plans.add(Plan(what="sail", when=When(noon + timedelta(days=2))))
        assert self.ahead() == [
            ("Next", "14:00: bake"),
            ("Today, Sat 9 May", "No other plan"),
            ("Tomorrow, Sun 10 May", "08:00: meet Tom at the pump"),
            ("Tomorrow, Sun 10 May", "09:00, Ada's plan: bring an apple"),
            ("Mon 11 May, 12:00", "sail"),
            ("Wed 13 May, 12:00", "swim"),
        ]
        # As soon as the next day has begun, it is today.
        self.services.clock = FixedClock(noon + timedelta(hours=12, minutes=5))
        assert [each for each in self.ahead() if "Sun" in each[0] or each[0] == "Next"] == [
            ("Next", "08:00: meet Tom at the pump"),
            ("Today, Sun 10 May", "09:00, Ada's plan: bring an apple"),
        ]

    def test_what_is_usual_comes_next_if_it_is_earlier_than_her_plans(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)

        def hours_between(_agent, begins, _ends):
            six = timedelta(hours=18)
            days = [begins + timedelta(days=each) for each in range(2)]
            return [
                UsualHours(
                    since=each + six, until=each + six * 1.1, place="The Kettle", does=("serves",)
                )
                for each in days
            ]

        self.mind.books.plans.add(Plan(what="bake", when=When(noon + timedelta(hours=20))))
        with patch.object(type(self.mira), "hours_between", hours_between):
            assert self.ahead() == [
                ("Next", "usually 18:00 at The Kettle: serves"),
                ("Today, Sat 9 May", "No plan; usually 18:00 The Kettle"),
                ("Tomorrow, Sun 10 May", "08:00: bake"),
            ]
            self.mind.books.plans.add(Plan(what="swim", when=When(noon + timedelta(hours=1))))
            assert self.ahead()[:2] == [
                ("Next", "13:00: swim"),
                ("Today, Sat 9 May", "No other plan; usually 18:00 The Kettle"),
            ]
            # Late in the evening nothing is left of the day.
            self.services.clock = FixedClock(noon + timedelta(hours=11))
            with patch.object(type(self.mira), "usual_day", lambda _: "serves all day"):
                assert ("Today, Sat 9 May", "No plan") in self.ahead()

    def test_promises_for_a_day_stand_among_her_plans_with_the_day_when_they_were_said(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        promised = self.mind.books.commitments
        kind = CommitmentKind.PROMISE
        sunday = DueDay(date(2026, 5, 10))
        newest = self.mind.memory.memory.archive.last_number
        promised.add(Commitment(kind, "Tom", "a loaf tomorrow", newest, due=sunday))
        promised.add(Commitment(kind, "Jo", "a song", due=DueDay(date(2026, 5, 12), time(9))))
        promised.add(Commitment(kind, "Tom", "an eel", due=DueDay(date(2026, 5, 8))))
        lines = self.ahead()
        assert lines[0][1].startswith("tomorrow, promised Tom: a loaf tomorrow (")
        assert ("Tue 12 May, 09:00", "promised Jo: a song") in lines
        assert ("Was for Fri 8 May", "promised Tom: an eel") in lines
        (loaf,) = (each for each in self.get("/promises") if each["text"] == "a loaf tomorrow")
        assert loaf["whole_day"]
        assert datetime.fromisoformat(loaf["at"]) == datetime(2026, 5, 10).astimezone()
        assert loaf["said"] is not None

    def test_a_promise_whose_plan_is_done_is_not_due(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        books = self.mind.books
        newest = self.mind.memory.memory.archive.last_number
        tom = Person("Tom", self.tom)
        kind = CommitmentKind.PROMISE
        for what, hour in (("a loaf", 9), ("an eel", 10)):
            due = DueDay(date(2026, 5, 9), time(hour))
            books.commitments.add(Commitment(kind, "Tom", what, newest, key=tom.id, due=due))
        at = When(noon - timedelta(hours=3))
        books.plans.add(Plan(what="bring Tom bread", when=at, whom=tom, since=newest))
        loaf, _ = self.get("/promises")
        assert loaf["plan"] == books.plans.current[0].number
        books.plans.set_state(books.plans.current[0], PlanState.DONE)
        (open_one,) = self.get("/promises")
        assert open_one["text"] == "an eel"

    def test_who_left_the_game_is_not_there_for_what_is_planned_or_promised(self):
        books = self.mind.books
        tom = Person("Tom", self.tom)
        gone = Person("Ann", "9999-20260501120000")
        ada = Person("Ada", identity_of(self.ada))
        at = When(self.services.clock.now() + timedelta(days=1))
        books.plans.add(Plan(what="row to the light", when=at, whom=tom))
        books.plans.add(Plan(what="bake with Ada", when=at, whom=ada))
        newest = self.mind.memory.memory.archive.last_number
        for who in (tom, gone):
            promise = Commitment(CommitmentKind.PROMISE, who.name, "a loaf", newest, who.id)
            books.commitments.add(promise)

        def away():
            rows = [*self.get("/plans"), *self.get("/promises")]
            return [each["whom"] for each in rows if each["away"]]

        assert away() == []
        self.char1.location = None
        assert away() == ["Tom", "Tom"]
        assert [each["away"] for each in self.get(f"/agents/{self.mira.id}/plans")] == [True, False]

    def test_a_promise_without_a_day_in_the_file_may_name_it_as_of_when_it_was_said(self):
        archive = self.mind.memory.memory.archive
        newest = archive.last_number
        said = archive.read_each([newest])[newest].time.astimezone()
        self.mind.books.commitments.path.write_text(
            f"- promise to Jo: soup tomorrow (memory {newest})\n- promise to Jo: a song\n"
        )
        self.services.clock = FixedClock(said)
        assert self.ahead()[0] == ("Next", "tomorrow, promised Jo: soup tomorrow")
        assert self.ahead()[-1] == ("Promised", "Jo: a song")
        self.services.clock = FixedClock(said + timedelta(days=1))
        first = self.answer_to("next")[0]
        dated = f"{said + timedelta(days=1):%a} {(said + timedelta(days=1)).day}"
        assert first["text"].startswith(f"today, promised Jo: soup tomorrow ({dated} ")
        assert first["aside"] == f"said on {said:%a} {said.day} {said:%b}"

    def test_the_day_of_a_promise_is_read_when_she_makes_it(self):
        self.ask("Will you keep me a loaf?", "> say I shall.\n> promise Tom, in 2 days: a loaf")
        self.ask("And a song?", "> say Surely.\n> promise Tom, when Jo comes: a song")
        today = self.services.clock.now().astimezone().date()
        loaf, song = self.mind.books.commitments.items
        assert (loaf.text, loaf.due) == ("a loaf", DueDay(today + timedelta(days=2)))
        assert (song.text, song.due) == ("when Jo comes: a song", None)

    def test_the_hour_of_a_promise_is_in_what_she_said_with_it_or_of_its_day_later(self):
        self.ask("May I come tomorrow?", "> say Surely, Tom.\n> promise Tom, tomorrow: a loaf")
        assert self.ahead()[0] == ("Next", "tomorrow, promised Tom: a loaf")
        self.ask("When?", "> say Tomorrow at half past six, warm; will you come?")
        first = self.answer_to("next")[0]
        assert first["text"] == "tomorrow, 06:30, promised Tom: a loaf"
        assert first["aside"] == "“Tomorrow at half past six, warm”"
        self.ask("And a song?", "> say From nine, in the yard!\n> promise Tom, tomorrow: a song")
        day = next(each for each in self.ahead() if each[0].startswith("Tomorrow"))
        assert day[1] == "09:00, promised Tom: a song"
        (song,) = (each for each in self.get("/promises") if each["text"] == "a song")
        assert (song["when_said"], song["whole_day"]) == ("From nine, in the yard!", False)

    def test_what_has_a_part_of_the_day_stands_at_its_place_among_hours(self):
        noon = datetime(2026, 5, 9, 12).astimezone()
        self.services.clock = FixedClock(noon)
        promised = self.mind.books.commitments
        kind = CommitmentKind.PROMISE
        sunday = date(2026, 5, 10)
        promised.add(Commitment(kind, "Jo", "tea", due=DueDay(sunday, part="evening")))
        promised.add(Commitment(kind, "Jo", "eels", due=DueDay(sunday, part="morning")))
        promised.add(Commitment(kind, "Jo", "a song", due=DueDay(sunday, time(12))))
        lines = self.ahead()
        assert lines[0] == ("Next", "tomorrow, morning, promised Jo: eels")
        assert [text for label, text in lines if label.startswith("Tomorrow")] == [
            "12:00, promised Jo: a song",
            "evening, promised Jo: tea",
        ]
        self.services.clock = FixedClock(noon + timedelta(hours=22))
        assert self.ahead()[0] == ("Next", "morning, promised Jo: eels")

    def test_a_plan_that_only_reminds_of_a_promise_is_told_as_that(self):
        self.ask("Soup?", "> say In an hour.\n> promise Tom, in 60 minutes: soup")
        texts = [text for _, text in self.ahead() if "soup" in text]
        assert [each.rpartition(", ")[2] for each in texts] == ["promised Tom: soup"]  # or tomorrow
        (plan,) = self.get("/plans")
        assert plan["promised"]
        labels = [each["label"] for each in self.answer_to("knows", "Tom")]
        assert labels.count("Promised") == 1
        assert "Planned" not in labels
