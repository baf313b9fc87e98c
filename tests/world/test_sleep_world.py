"""Sleep as players see it: agents get tired, go home, fall asleep, and are woken."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from keepsake.agent.attention.presence import AgentState
from tests.world.agents_world import AgentsWorld, FixedConfig


class SleepWorld(AgentsWorld):
    """Mira lives in the inn; only tests move the time."""

    START = datetime(2026, 11, 21, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(gather=0.0, cooldown=0.0, idle_interval=1e9)
        self.heard = self.capture(self.char1)

    def set_sleep(self, **values):
        config = replace(self.services.sleeping.current, **values)
        self.services.sleeping = FixedConfig(config)

    @property
    def sleeper(self):
        return self.mind.sleeper

    def wait_for_night(self):
        """Wait until the night's work is done."""
        self.settle(lambda: not self.sleeper.nights.working)

    def put_to_bed(self):
        self.sleeper.fall_asleep("a test said so")
        self.wait_for_night()

    def pass_minutes(self, minutes):
        """Move both clocks, minute by minute."""
        for minute in range(int(minutes), 0, -1):
            self.time.time += timedelta(minutes=1)
            self.clock.advance(60)
            if minutes <= 20 or minute % 20 == 1:  # in long times nobody thinks
                self.settle()

    def type(self, line):
        self.heard.clear()
        self.char1.execute_cmd(line)
        self.settle()
        return " | ".join(self.heard)

    def remembered(self):
        """Return the lines of Mira's window."""
        return [memory.line for memory in self.mind.memory.context().window]


class TestTiring(SleepWorld):
    def test_it_gets_tired_unless_sleep_is_switched_off_or_it_is_paused(self):
        self.set_sleep(awake_hours=1.0, quiet_minutes=0.0)
        self.pass_minutes(58)
        assert not self.mira.db.asleep
        self.pass_minutes(4)
        assert self.mira.db.asleep
        assert self.mind.presence.state is AgentState.ASLEEP
        assert any("lies down and falls asleep" in line for line in self.heard)
        assert "You lie down and fall asleep (60 minutes awake)." in self.remembered()

        self.set_sleep(sleep=False)
        self.sleeper.wake("a test")
        self.pass_minutes(62)
        assert not self.mira.db.asleep
        self.set_sleep(sleep=True)
        self.mira.db.paused = True
        self.pass_minutes(5)
        assert not self.mira.db.asleep
        self.mira.attributes.remove("paused")
        self.pass_minutes(1)
        assert self.mira.db.asleep


class TestGoingHome(SleepWorld):
    def walk(self):
        self.clock.advance(3.5)
        self.settle()

    def test_it_walks_home_exit_by_exit_and_speech_to_it_stops_it(self):
        self.square = self.add_room("The Square")
        quay = self.add_room("The Quay")
        self.add_exits(self.room1, "out", "in", self.square)
        self.add_exits(self.square, "south", "north", quay)
        self.mira.home = self.room1
        self.mira.move_to(quay, quiet=True)
        self.heard.clear()
        self.sleeper.go_to_bed("a test said so")
        assert self.mira.location is quay
        self.walk()
        assert self.mira.location is self.square
        self.char1.move_to(self.square, quiet=True)
        self.char1.execute_cmd("say Good evening, Mira!")
        assert not self.mind.walker.walks_on_purpose
        self.walk()
        assert self.mira.location is self.square
        before = len(self.remembered())
        self.char1.move_to(self.room1, quiet=True)
        self.sleeper.go_to_bed("a test said so")
        self.walk()
        assert self.mira.location is self.room1
        assert self.mira.db.asleep
        assert any("Mira arrives from The Square" in line for line in self.heard)
        # It does not look at the rooms on its way home.
        assert self.remembered()[before:] == ["You lie down and fall asleep (a test said so)."]


class TestAsleep(SleepWorld):
    def setUp(self):
        super().setUp()
        self.put_to_bed()

    def test_people_see_that_it_sleeps(self):
        assert "|cMira|n (asleep)" in self.type("look")
        assert "Mira lies asleep." in self.type("look mira")
        assert "asleep" in self.type("who")

    def test_who_talks_to_it_is_told_that_it_sleeps_and_how_to_wake_it(self):
        said = self.type("talk mira The key lies under the mat.")
        assert "Mira is asleep, and does not hear you." in said
        assert "wake mira" in said

    def test_another_agent_is_told_too_and_its_prompt_says_so(self):
        other = self.add_agent("Oswin")
        heard = self.capture(other)
        other.execute_cmd("talk mira Good evening.")
        assert "Mira is asleep, and does not hear you." in heard
        shown = []
        other.mind.preview(other).addCallback(lambda prompt: shown.append(prompt[0].text))
        self.settle(lambda: bool(shown))
        assert "Mira (asleep)" in shown[0]

    def test_it_does_not_perceive_what_is_said_and_done(self):
        other = self.add_agent("Oswin")
        before = self.remembered()
        self.type("say Nice fire.")
        self.type("talk mira The key lies under the mat.")
        self.type("whisper mira = WAKE UP MIRA!")
        self.type("talk mira WAKE UP, MIRA!")
        self.type("emote hops about Mira!")
        self.type("talk oswin MIRA! WAKE UP!")
        assert self.lines(other)
        assert self.remembered() == before

    def test_it_does_not_think_about_arrivals_or_when_it_is_moved(self):
        before = self.remembered()
        self.char2.move_to(self.add_room("Elsewhere"))
        self.char2.move_to(self.room1)
        self.mira.move_to(self.add_room("The Quay"))
        self.pass_time(5)
        assert self.remembered() == before
        assert self.mind.presence.state is AgentState.ASLEEP
        assert self.prompts() == []

    def test_a_shout_at_it_wakes_it(self):
        self.type("shout Wake up, Mira!")
        assert not self.mira.db.asleep
        assert any("Mira wakes up" in line for line in self.heard)
        assert 'Tom shouts, "Wake up, Mira!"' in self.remembered()
        assert "You wake up after" in next(e for e in self.remembered() if "Tom woke you" in e)

    def test_it_is_shaken_awake_and_thinks_about_the_person(self):
        self.replies = ["> say What is it?"]
        assert "You shake Mira by the shoulder." in self.type("wake mi")
        assert not self.mira.db.asleep
        assert "Tom shakes you by the shoulder." in self.remembered()
        self.pass_time(5)
        assert any("What is it?" in line for line in self.heard)

    def test_only_somebody_who_sleeps_here_can_be_woken(self):
        self.type("wake mira")
        assert "Mira is awake." in self.type("wake mira")
        assert "Nobody called" in self.type("wake Hamlet")
        assert "Wake whom?" in self.type("wake")

    def test_a_shout_with_its_name_wakes_it_also_from_the_next_room(self):
        self.type("shout Fire somewhere else!")
        assert self.mira.db.asleep
        cellar = self.add_room("The Cellar")
        self.add_exit("up", cellar, self.room1)
        self.char1.move_to(cellar, quiet=True)
        self.type("shout Wake up!")
        assert self.mira.db.asleep  # addressed to nobody here
        heard = self.capture(self.char2)
        self.type("shout Mira!")
        assert not self.mira.db.asleep
        assert 'Tom shouts from The Cellar, "Mira!"' in self.remembered()
        window = self.mind.memory.context().window
        shout = [memory for memory in window if "shouts" in memory.text][-1]
        assert (shout.heard.speaker.name, shout.heard.words) == ("Tom", "Mira!")
        assert any("shouts from The Cellar" in line for line in heard)

    def test_it_wakes_at_its_hour(self):
        until = self.services.sleeping.current.wakes_at(self.sleeper.fell_asleep)
        self.pass_minutes((until - self.time.now()) / timedelta(minutes=1) - 5)
        assert self.mira.db.asleep
        self.pass_minutes(12)
        assert not self.mira.db.asleep
        assert self.sleeper.awake_seconds < 600

    def test_its_sleep_continues_after_a_restart_and_under_a_new_name(self):
        since = self.sleeper.fell_asleep
        self.stop_services()
        self.time.time += timedelta(hours=1)
        self.services = self.start_services()
        assert self.sleeper.fell_asleep == since
        self.mira.key = "Myra"
        self.mira.at_rename("Mira", "Myra")
        self.wait_for_night()
        assert self.mind.presence.state is AgentState.ASLEEP
        self.set_sleep(sleep_hours=7.0)
        self.pass_minutes(6 * 60 + 2)
        assert not self.mira.db.asleep


class TestBuilders(SleepWorld):
    def test_sleep_and_wake_commands(self):
        self.char1.permissions.add("Builder")
        assert self.type("@sleep mira") == "Mira lies down and falls asleep."
        self.wait_for_night()
        assert "asleep already" in self.type("@sleep mira")
        assert "asleep" in self.type("@agent")
        assert self.type("@wake mira") == "Mira wakes up."
        assert "is awake" in self.type("@wake mira")
        quay = self.add_room("The Quay")
        self.add_exit("in", quay, self.room1)
        self.mira.move_to(quay, quiet=True)
        assert "goes home to sleep, to The Inn" in self.type("@sleep mira")
        assert "going home" in self.type("@agent")
        assert "stays up" in self.type("@wake mira")

    def test_an_agent_on_an_errand_is_not_going_to_bed(self):
        self.char1.permissions.add("Builder")
        square = self.add_room("The Square")
        self.add_exits(self.room1, "out", "in", square)
        self.mind.walker.go_on_errand(square, lambda: None)
        assert self.mind.walker.walking
        shown = self.type("@agent")
        assert "Mira" in shown
        assert "going home" not in shown
        assert "is awake" in self.type("@wake mira")
        assert self.mind.walker.walking

    def test_it_is_rested_if_a_builder_wakes_it_but_not_if_a_player_does(self):
        self.char1.permissions.add("Builder")
        self.set_sleep(awake_hours=1.0, quiet_minutes=2.0, sleep_hours=2.0, wake_hour=23)
        self.pass_minutes(63)
        assert self.mira.db.asleep
        self.pass_minutes(30)
        self.type("wake mira")
        assert self.sleeper.awake_seconds >= 3600
        self.put_to_bed()
        self.type("@wake mira")
        assert self.sleeper.awake_seconds == 0.0
