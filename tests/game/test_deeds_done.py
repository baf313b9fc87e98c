"""What an agent does when somebody's words ask for it, and what it names in its acts."""

from __future__ import annotations

from typing import Any

from evennia.utils import create
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsake.agent.thinking.following import FOLLOW_SECONDS
from keepsake.agent.thinking.options import options_of
from keepsake.prompt.reply.courtesies import DECLINED, DEEDS
from keepsake.prompt.verbs import STANDARD_VERBS
from tests.game.agents_world import AgentsWorld
from typeclasses.objects import Object


class DeedsWorld(AgentsWorld):
    """The inn has a door to the yard; Mira answers with words and then with a deed."""

    def setUp(self) -> None:
        super().setUp()
        self.char2.location = None
        self.room2.key = "The Yard"
        self.way("door", self.room1, self.room2)
        self.way("inn", self.room2, self.room1)
        for each in (self.exit, self.obj1, self.obj2):
            each.delete()
        self.answers, self.deed = "Gladly, Tom.", ""
        self.fake.script = self.scripted

    def scripted(self, prompt: str) -> str:
        if prompt.endswith("(Now Mira"):
            return f" {self.deed}.)"
        return f" {self.answers}" if prompt.endswith("Mira:") else " wait"

    def holds(self, name: str) -> Any:
        return create.create_object(Object, key=name, location=self.mira)

    def says(self, words: str) -> None:
        self.char1.execute_cmd(f"talk Mira {words}")
        self.pass_time(3)

    def choices(self) -> list[str]:
        return [prompt for prompt in self.fake.prompts() if prompt.endswith("(Now Mira")]


class TestWishes(DeedsWorld):
    """A small model only chooses: what is said before and after is said by rule."""

    FORM = "auto"

    def test_it_says_that_it_will_see_and_then_gives_or_declines(self):
        cup = self.holds("blue cup")
        heard = self.hears(self.char1)
        self.deed = "refuses, and does nothing"
        self.says("Give me the cup, please.")
        assert cup.location is self.mira
        self.deed = "gives blue cup to Tom"
        self.says("Give me the cup, please.")
        assert cup.location is self.char1
        said = [line for line in heard if line.startswith("Mira says")]
        words = (DEEDS[0], DECLINED[0], DEEDS[1])
        assert said == [f'Mira says to you, "{each}"' for each in words]
        assert not [p for p in self.fake.prompts() if p.endswith("Mira:")]

    def test_a_wish_that_nobody_can_grant_is_answered_as_any_words_are(self):
        heard = self.hears(self.char1)
        self.says("Give me the moon.")
        assert 'Mira says to you, "I have none to give you."' in heard
        assert not self.choices()


class TestDeeds(DeedsWorld):
    FORM = "auto"

    def test_what_is_asked_for_is_given_and_the_log_tells_of_the_choice(self):
        cup = self.holds("blue cup")
        self.deed = "gives blue cup to Tom"
        heard = self.hears(self.char1)
        told: list[Any] = []
        self.services.events.emit = told.append  # type: ignore[method-assign]
        self.says("Give me the cup, please.")
        assert cup.location is self.char1
        assert 'Mira says to you, "Gladly, Tom."' in heard
        assert any("gives you" in line and "blue cup" in line for line in heard)
        assert "~give blue cup to Tom" in self.lines()
        reply, deed = [each for each in told if each.kind == "thought"][:2]
        assert (reply.lead, reply.outcome, reply.command) == ("", "acted", "say Gladly, Tom.")
        assert (deed.lead, deed.trigger, deed.source) == ("deed", reply.trigger, "Tom")
        assert (deed.outcome, deed.command) == ("acted", "give blue cup to Tom")
        assert self.mind.thinker.tally.act == "say Gladly, Tom."

    def test_what_is_not_asked_for_costs_no_call(self):
        self.holds("blue cup")
        self.says("Do you like it here?")
        self.says("Take the hearth.")  # nothing lies there
        assert not self.choices()

    def test_who_declines_keeps_it_and_a_choice_that_names_nothing_is_none(self):
        cup = self.holds("blue cup")
        self.answers = "I won't, it was my mother's."
        self.says("Give me the cup.")
        assert cup.location is self.mira
        assert not self.choices()
        self.answers = "Well, then."
        self.deed = "gives the moon to Tom"
        self.says("Give me the cup.")
        assert cup.location is self.mira
        assert len(self.choices()) == 1
        assert not any(line.startswith("~give") for line in self.lines())

    def test_what_lies_there_is_taken_and_what_may_not_is_not_offered(self):
        lamp, stove = self.thing("lamp"), self.thing("stove")
        stove.locks.add("get:false()")
        self.deed = "takes stove"
        self.says("Take whatever you like.")
        assert "lamp" not in options_of(self.mira).carried
        self.deed = "takes lamp"
        self.says("Take the lamp then.")
        assert (lamp.location, stove.location) == (self.mira, self.room1)

    def test_it_goes_where_it_is_asked_to_out_of_a_talk(self):
        self.deed = "goes door"
        self.says("Go through the door.")
        assert self.mira.location is self.room2


class TestFollowing(DeedsWorld):
    FORM = "auto"

    def follow(self) -> None:
        self.deed = "follows Tom"
        self.says("Come with me!")

    def test_it_goes_after_whoever_asked_until_told_to_stay(self):
        self.follow()
        self.char1.execute_cmd("door")
        assert self.mira.location is self.char1.location is self.room2
        self.deed = "stops following Tom"
        self.says("Wait here, please.")
        self.char1.execute_cmd("inn")
        assert (self.char1.location, self.mira.location) == (self.room1, self.room2)

    def test_it_loses_who_goes_where_it_may_not(self):
        self.follow()
        self.room1.exits[0].locks.add("traverse:not holds() and perm(Developer)")
        self.room1.exits[0].at_traverse(self.char1, self.room2)
        assert self.mira.location is self.room1
        assert self.mind.following.leader is None

    def test_neither_a_sleeper_follows_nor_anybody_ten_minutes_after_the_talk(self):
        self.follow()
        self.mira.db.asleep = True
        self.char1.execute_cmd("door")
        assert self.mira.location is self.room1
        self.mira.attributes.remove("asleep")
        self.char1.execute_cmd("inn")
        self.mind.following.begin(self.char1, self.clock.seconds() - FOLLOW_SECONDS)
        self.char1.execute_cmd("door")
        assert self.mira.location is self.room1

    def test_nobody_makes_a_host_leave_its_guests(self):
        self.mira.home, self.mira.db.keeps = self.room1, True
        self.follow()
        self.deed = "goes door"
        self.says("Go through the door.")
        assert not self.choices()
        self.mind.following.begin(self.char2, self.clock.seconds())
        self.char2.location = self.room1
        self.room1.exits[0].at_traverse(self.char2, self.room2)
        assert self.mira.location is self.room1


class TestOptions(DeedsWorld):
    def test_it_sees_what_is_there(self):
        self.holds("blue cup")
        self.thing("lamp").locks.add("get:false()")
        self.room1.db.details = {"hearth": "It glows."}
        options = options_of(self.mira)
        assert options.exits == ("door",)
        assert (options.people, options.carried) == (("Tom",), ("blue cup",))
        assert (options.things, options.lying) == (("lamp", "hearth"), ())
        assert not options.stays

    def test_it_does_not_walk_out_of_a_talk_nor_look_at_what_is_not_there(self):
        self.says("Good evening.")
        assert options_of(self.mira).stays
        act = self.mind.actor.act(self.mira, "go door")
        assert (act.command, self.mira.location) == (None, self.room1)
        assert act.refusal.startswith("You tried to go, but you stay")
        act = self.mind.actor.act(self.mira, "look at the way the rain falls on the quay")
        assert act.command is None
        assert act.refusal.endswith("you can only look Tom")

    def test_it_says_nothing_twice_no_markup_and_none_of_its_examples(self):
        self.mira.db.examples = ["~Mira> say The leek soup. Sit by the fire, Piet. | warm"]
        act = self.mind.actor.act
        for number in range(8):
            assert act(self.mira, f"say Number {number} is {'abcdefgh'[number] * 5}.").command
        assert act(self.mira, "say Number 0 is aaaaa.").refusal
        assert act(self.mira, "say The leek soup. Sit by the fire, Piet.").refusal
        assert act(self.mira, "emote (memory 3) [2026-08-27 11:18]").refusal

    def test_whatever_is_answered_an_act_names_what_is_there(self):
        self.holds("blue cup")
        self.thing("lamp")
        verbs = " | ".join(verb.name for verb in STANDARD_VERBS if not verb.private).split(" | ")
        nouns = ["", "lamp", "the blue cup", "Tom", "door", "moon", "Wren", "lamp to Tom", "all"]
        answers = st.builds("{} {}".format, st.sampled_from(verbs), st.sampled_from(nouns))
        done: list[Any] = []
        self.mind.actor.do = lambda agent, command, **_: done.append(command)  # type: ignore

        @settings(suppress_health_check=list(HealthCheck))
        @given(answers | st.text(max_size=40))
        def check(answer: str) -> None:
            done.clear()
            there = options_of(self.mira)
            self.mind.actor.act(self.mira, answer)
            for command in done:
                names = {
                    "go": there.exits,
                    "get": there.lying,
                    "drop": there.carried,
                    "give": [f"{a} to {b}" for a in there.carried for b in there.people],
                    "look": ("", *there.people, *there.things, *there.carried),
                    "examine": (*there.people, *there.things, *there.carried),
                }.get(command.verb)
                assert names is None or command.argument in names
                if command.verb == "whisper":
                    assert command.argument.partition(" = ")[0] in there.people

        check()
