"""Village life by rule: tide, hour and weather in rooms, the agents' days, and news."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any
from unittest.mock import patch

from evennia.utils.ansi import strip_ansi

from game.simulation.run import with_people
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.transcript import DAYTIMES
from keepsake.books.persona import open_lines
from keepsake.books.plan import PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.contrib.evennia import Deed, happens, person_of
from keepsake.happening import ME, Person, Speech
from keepsake.ports import FixedClock
from tests.sentences import table
from tests.world.agents_world import AgentsWorld
from tests.world.built_world import shipped_world
from world import days
from world.almanac import almanac, minutes_of
from world.build import build_world, find
from world.scenes import Scene

ONE_SCENE = Scene(lines=("A: They eat eels on the far shore.", "B shudders."))


def moment(*states: str) -> datetime:
    """Return the first hour of a year, in this machine's time zone, with all these states."""
    start = datetime(2026, 5, 4).astimezone()
    hours = (start + timedelta(hours=each) for each in range(366 * 24))
    return next(each for each in hours if almanac(each).states.issuperset(states))


def test_the_open_part_of_villagers_profiles_has_no_secrets():
    told = {}
    for each in shipped_world()[0].people.values():
        own = [example.partition(f"~{each.name}> ")[2] for example in each.examples]
        told[each.name] = " ".join([*open_lines(each.profile), *own])
    for name, secret in table("secrets of the village"):
        assert secret not in told[name], (name, secret)
    assert "Ruan: keeper of the light." in told["Mira"]


class TestLooks(AgentsWorld):
    """How places of the village look by hour and weather, without agents."""

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()
        build_world(with_people(shipped_world()[0], {}))

    def look(self, room: str, *states: str) -> str:
        self.services.clock = FixedClock(moment(*states))
        self.char1.location = find("room", room)
        heard = self.capture(self.char1)
        self.char1.execute_cmd("look")
        return strip_ansi("\n".join(heard))

    def test_the_same_quay_at_high_and_at_low_water_by_day_and_night(self):
        high = self.look("quay", "high tide", "morning")
        low = self.look("quay", "low tide", "night")
        assert "The tide is high." in high
        assert "a floor of mud" in low
        assert "A lamp burns at the harbour mouth" in low
        assert "mud" not in high
        day = [datetime(2026, 5, 4, hour).astimezone() for hour in range(24)]
        assert [*DAYTIMES] == [almanac(each).part for each in day], "prompts say the same"


class Offstage(AgentsWorld):
    """Mira, Joss, an inn with a kitchen, and a quay; only tests move the time."""

    START = datetime(2026, 5, 4, 9, 0).astimezone()

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.char1.location = None
        self.quay = self.add_room("The Quay")
        self.kitchen = self.add_room("The Kitchen")
        self.add_exits(self.room1, "south", "north", self.quay)
        self.add_exits(self.room1, "west", "east", self.kitchen)
        self.joss = self.add_agent("Joss")
        self.joss.location = self.quay
        for agent in (self.mira, self.joss):
            assert agent.mind is not None
        self.pass_minutes(1)

    def day(self, agent, *hours) -> None:
        agent.db.day = [
            {"at": at, "in": room, "when": [], "does": [does]} for at, room, does in hours
        ]

    def pass_minutes(self, minutes: int) -> None:
        for _ in range(minutes):
            for _ in range(4):
                self.time.time += timedelta(seconds=15)
                self.clock.advance(15)
                self.settle(lambda: not self.is_thinking())

    def texts(self, agent, event: str = "") -> list[str]:
        """Return the texts of the agent's window, all or of one kind of event."""
        window = agent.mind.memory.context().window
        return [each.text for each in window if not event or each.event == event]


class TestDays(Offstage):
    """Agents follow their daily schedule, and people see them go and work."""

    def test_they_walk_through_exits_and_are_seen_to_work(self):
        self.char1.location = self.room1
        heard = self.capture(self.char1)
        self.day(self.joss, ("9-12", self.kitchen, "peels an onion"))
        self.pass_minutes(2)
        assert self.joss.location == self.kitchen
        assert "Joss arrives from The Quay." in heard
        assert "Joss goes west to The Kitchen." in heard
        self.char1.location = self.kitchen
        self.time.time += timedelta(days=1)
        self.pass_minutes(20)
        assert heard.count("Joss peels an onion.") == 1
        assert not self.fake.calls("/api/chat"), "nobody thinks about it"

    def test_who_went_somewhere_goes_back_when_nobody_speaks_any_more(self):
        self.day(self.joss, ("9-12", self.quay, "mends a net"))
        self.joss.location = self.room1
        self.joss.mind.memory.remember(Deed(actor=ME, verb="walk", shown="walk to the Inn"))
        self.joss.mind.memory.remember(Speech(speaker=person_of(self.mira), words="Well, Joss?"))
        self.mira.location = self.kitchen
        self.pass_minutes(3)
        assert self.joss.location == self.room1
        self.pass_minutes(4)
        assert self.joss.location == self.quay

    def test_who_went_to_a_player_stays_while_the_player_does(self):
        self.day(self.joss, ("9-12", self.quay, "mends a net"))
        self.joss.location = self.char1.location = self.room1
        self.joss.mind.memory.remember(Deed(actor=ME, verb="walk", shown="walk to the Inn"))
        self.pass_minutes(15)
        assert self.joss.location == self.room1
        self.pass_minutes(7)
        assert self.joss.location == self.quay

    def test_work_is_not_shown_between_the_lines_of_a_talk_with_another_but_after_it(self):
        self.day(self.joss, ("9-12", self.quay, "mends a net"))
        self.joss.location = self.mira.location = self.char1.location = self.quay
        heard = self.capture(self.char1)
        for _ in range(4):
            self.char1.execute_cmd("talk Mira I have no legs, and I swim. What am I?")
            self.pass_minutes(1)
        assert not self.joss.mind.presence.in_talk
        assert "Joss mends a net." not in heard
        self.time.time += timedelta(minutes=5)
        self.pass_minutes(4)
        assert "Joss mends a net." in heard

    def test_work_is_one_happening_for_the_worker_and_for_who_sees_it(self):
        self.mira.location = self.quay
        self.day(self.joss, ("9-12", self.quay, "mends a net"))
        self.pass_minutes(2)
        own, seen = (
            next(
                each
                for each in agent.mind.memory.memory.context().window
                if "mends a net" in each.text
            )
            for agent in (self.joss, self.mira)
        )
        assert own.is_own
        assert own.happening
        assert own.happening == seen.happening

    def test_a_host_stays_with_guests_and_says_when_she_steps_out(self):
        self.mira.home = self.room1
        self.mira.db.keeps = True
        self.char1.location = self.room1
        self.day(self.mira, ("9-12", self.quay, "buys fish"))
        self.pass_minutes(2)
        assert self.mira.location == self.room1
        self.joss.location = self.room1
        self.char1.location = None
        self.pass_minutes(2)
        assert self.mira.location == self.quay
        assert 'Mira says, "I\'m only stepping out to The Quay."' in self.texts(self.joss)

    def test_the_line_of_an_ordinary_day_says_with_whom_and_on_which_days(self):
        at_the_quay = {"at": "9-12", "in": self.quay, "does": ["sells pies"]}
        with_joss = {"at": "13-14", "with": "Joss", "in": None, "does": ["plays draughts"]}
        self.mira.db.day = [{**at_the_quay, "when": ["market day"]}, {**with_joss, "when": []}]
        line = "9-12 at The Quay (if market day): sells pies; 13-14 with Joss: plays draughts"
        assert self.mira.usual_day() == line

    def hours_on(self, day):
        begins = datetime.combine(day, time.min).astimezone()
        return self.mira.hours_between(begins, begins + timedelta(days=1))

    def test_the_hours_of_a_date_are_those_that_its_minutes_have(self):
        self.mira.db.day = [
            {"at": "8-12", "in": self.quay, "when": ["market day"], "does": ["sells pies"]},
            {"at": "10-11:30", "in": self.room1, "does": ["pours", "wipes the counter"]},
            {"at": "6-22", "in": self.quay, "when": ["rain"], "does": ["waits under the roof"]},
            {"at": "9-20", "in": self.quay, "when": ["low tide"], "does": ["digs for shells"]},
            {"at": "6-22", "in": None, "does": ["bakes"]},
            {"at": "23-4", "with": "Joss", "in": None, "does": ["plays draughts"]},
        ]
        kinds = set()
        for day in (date(2026, 5, 4) + timedelta(days=each) for each in range(14)):
            hours = self.hours_on(day)
            for minute in minutes_of(day):
                held = days.entry_of(self.mira, almanac(minute))
                told = [each for each in hours if each.since <= minute < each.until]
                assert len(told) == (held is not None), minute
                if held is not None:
                    work = days.work_at(self.mira.id, held["does"], minute)
                    assert work in told[0].does, minute
                    kinds.add(told[0].only_if)
        assert {("market day",), ("rain",), ("low tide",), ()} <= kinds

    def test_an_hour_that_depends_on_the_weather_says_so(self):
        self.mira.db.day = [
            {"at": "6-22", "in": self.quay, "when": ["rain"], "does": ["waits"]},
            {"at": "8-9", "in": self.quay, "when": ["market day"], "does": ["sells pies"]},
            {"at": "6-22", "in": None, "does": ["bakes"]},
        ]
        wet = moment("rain", "afternoon").date()
        rainy = [each for each in self.hours_on(wet) if each.only_if]
        assert {each.only_if for each in rainy} <= {("rain",), ("market day",)}
        assert all(each.unless == () for each in rainy if each.only_if == ("rain",))
        dry = [each for each in self.hours_on(wet + timedelta(days=1)) if not each.only_if]
        assert all(each.unless == ("rain",) for each in dry)

    def test_a_prompt_has_the_day_where_it_never_changes_and_this_hour_at_its_end(self):
        ada = self.add_player(2, "Ada")
        ada.location = self.mira.location
        self.day(self.mira, ("13-14", self.quay, "plays draughts"), ("9-12", None, "sells pies"))
        self.replies = ["Good morning."]
        made = len(self.prompts())
        ada.execute_cmd("talk mira Good morning.")
        self.pass_minutes(1)
        system, _, turn = self.prompts()[made].rpartition("\n[Monday 4 May 2026")
        home = self.mira.home.key
        assert f"9-12 at {home}: sells pies; 13-14 at The Quay: plays draughts" in system
        assert f"[Your ordinary day at this hour: 9-12 at {home}: sells pies]" in turn
        assert "draughts" not in turn


class TestEvents(Offstage):
    """Bram and Joss come to the cider at the inn at ten, and Mira pours it."""

    AT = "10:00, the Inn: drink cider"

    def setUp(self) -> None:
        super().setUp()
        self.bram = self.add_agent("Bram")
        self.joss.location = self.room1
        self.guests = (self.bram, self.joss)
        for each in self.guests:
            self.day(each, ("10-24", self.quay, "mends a net"))
        self.time.time = self.START + timedelta(minutes=58)

    def comes(self, agent, plan: str = AT, *people: Any) -> None:
        """Let an agent plan something, which it has done by ten."""
        who = [Person(each.key, identity_of(each)) for each in people]
        places = ["The Inn", "The Quay"]
        read = read_plan(plan, self.services.clock.now(), people=who, places=places)
        book = agent.mind.books.plans
        book.set_state(book.add(read), PlanState.DONE)

    def test_guests_whose_plans_are_done_stay_together_and_leave_within_an_hour(self):
        for each in self.guests:
            self.comes(each)
        self.pass_minutes(50)
        assert {each.location for each in self.guests} == {self.room1}
        self.pass_minutes(20)
        assert {each.location for each in self.guests} == {self.quay}
        assert not self.prompts(), "nobody thinks about it"

    def test_who_came_for_nothing_goes_its_way_and_so_does_the_last_guest(self):
        self.comes(self.bram)
        self.comes(self.joss, "10:00: feed the cat")
        self.pass_minutes(5)
        assert {each.location for each in self.guests} == {self.quay}

    def test_guests_part_when_the_others_have_left(self):
        for each in self.guests:
            self.comes(each)
        self.pass_minutes(10)
        self.joss.move_to(self.kitchen, quiet=True)
        self.pass_minutes(5)
        assert self.bram.location == self.quay

    def test_the_player_of_an_appointment_is_not_left_standing(self):
        ada = self.add_player(2, "Ada")
        self.joss.location = self.quay
        self.comes(self.bram, "10:00, the Inn, Ada: meet her", ada)
        self.pass_minutes(20)
        assert self.bram.location == self.room1
        ada.location = self.kitchen
        self.pass_minutes(5)
        assert self.bram.location == self.quay

    def test_an_errand_to_somebody_keeps_nobody(self):
        self.comes(self.bram, "10:00, the Inn, Mira: tell her of the eels", self.mira)
        self.joss.location = self.quay
        self.pass_minutes(5)
        assert self.bram.location == self.quay


class TestMeetings(Offstage):
    """Mira and Joss meet on the quay in the morning and tell each other news."""

    def setUp(self) -> None:
        super().setUp()
        self.scenes.stop()
        self.day(self.mira, ("9-12", self.quay, "buys fish"))
        self.day(self.joss, ("9-12", self.quay, "mends a net"))

    def test_news_of_a_deed_is_told_aloud_with_a_chain_to_the_witness(self):
        deed = Deed(actor=person_of(self.char1), verb="deed")
        with happens(deed, importance=7):
            self.mira.msg(("Tom brought Mira her cup back.", {"type": "deed"}), from_obj=self.char1)
        seen = self.mind.memory.newest
        self.char1.location = self.quay
        heard = self.capture(self.char1)
        self.pass_minutes(4)
        told = 'Mira says to Joss, "I saw it myself: Tom brought Mira her cup back."'
        assert told in heard
        window = self.joss.mind.memory.memory.context().window
        (memory,) = [m for m in window if m.event == "hearsay"]
        assert memory.text.startswith('Mira says to you, "I saw it myself')
        assert (memory.source, memory.chain, memory.importance) == ("Mira", f"Mira {seen}", 6)
        assert memory.told == "Tom brought Mira her cup back."
        self.time.time += timedelta(days=1)
        self.pass_minutes(6)
        assert heard.count(told) == 1

    def test_what_players_only_say_is_no_news(self):
        self.char1.location = self.mira.location
        self.char1.execute_cmd("whisper mira = My brother died at sea, and I live in his house.")
        self.char1.execute_cmd("talk mira My sister is called Anneke, and she died at sea.")
        self.char1.location = None
        self.pass_minutes(8)
        assert self.texts(self.joss, "scene")
        assert not self.texts(self.joss, "hearsay")

    def eels_heard(self, heard: list[str]) -> int:
        return sum("eels" in each for each in heard)

    def test_a_scene_is_not_played_again_within_a_week(self):
        self.char1.location = self.quay
        heard = self.capture(self.char1)
        with patch.object(days, "scenes", lambda: (ONE_SCENE,)):
            self.pass_minutes(4)
            assert self.eels_heard(heard) == 1
            self.time.time += timedelta(days=3)
            self.pass_minutes(6)
            assert self.eels_heard(heard) == 1
            self.time.time += timedelta(days=5)
            self.pass_minutes(6)
            assert self.eels_heard(heard) == 2

    def test_no_scene_begins_while_another_is_played_in_the_room(self):
        self.char1.location = self.quay
        heard = self.capture(self.char1)
        self.quay.ndb.scene_until = self.services.seconds() + 600.0
        with patch.object(days, "scenes", lambda: (ONE_SCENE,)):
            self.pass_minutes(4)
        assert self.eels_heard(heard) == 0

    def test_no_scene_is_played_where_there_is_news_or_a_player_talks(self):
        self.char1.location = self.quay
        self.char2.location = self.quay
        heard = self.capture(self.char1)
        with patch.object(days, "scenes", lambda: (ONE_SCENE,)):
            for _ in range(6):
                self.char1.execute_cmd("say to Char2 The tide is late.")
                self.pass_minutes(1)
            assert self.eels_heard(heard) == 0
            deed = Deed(actor=person_of(self.char2), verb="deed")
            with happens(deed, importance=7):
                shown = ("Char2 brought Mira her cup back.", {"type": "deed"})
                self.mira.msg(shown, from_obj=self.char2)
            self.time.time += timedelta(minutes=5)
            self.pass_minutes(4)
            assert any("brought Mira her cup back" in each for each in heard)
            assert self.eels_heard(heard) == 0
