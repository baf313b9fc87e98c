"""What an agent with a chat model does beside its words, and what it names in its acts."""

from __future__ import annotations

from typing import Any

from evennia.utils import create
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsake.agent.acting import FOLLOW_SECONDS
from keepsake.agent.surroundings import options_of
from keepsake.prompt.verbs import VERBS, Command
from keepsake.tasks.deed import read_deed
from tests.world.test_talk_world import TalkWorld
from typeclasses.objects import Object


class DeedsWorld(TalkWorld):
    """The inn has a door to the yard."""

    def setUp(self) -> None:
        super().setUp()
        self.char2.location = None
        for each in (*self.room1.exits, *self.room2.exits, self.obj1, self.obj2):
            each.delete()
        self.room2.key = "The Yard"
        self.way("door", self.room1, self.room2)
        self.way("inn", self.room2, self.room1)

    def holds(self, name: str) -> Any:
        return create.create_object(Object, key=name, location=self.mira)


class TestDeeds(DeedsWorld):
    def test_what_can_be_done_is_in_the_prompt_and_it_goes_where_it_is_asked_to(self):
        self.holds("blue cup")
        (sent,) = self.asks("Good evening.", "Good evening, Tom.")
        offered = sent[-1]["content"].partition("[You can: ")[2].partition("]")[0]
        assert "give <thing> to <name> (blue cup; to Tom)" in offered
        assert "go <exit> (door)" in offered
        assert "follow <name> (Tom)" in offered
        assert "get <thing>" not in offered, "nothing lies there"
        assert "recall <words>" in sent[0]["content"]
        self.asks("Go through the door.", "After you, then.\n> go door")
        assert self.mira.location is self.room2


class TestFollowing(DeedsWorld):
    def follow(self) -> None:
        self.asks("Come with me!", "With pleasure.\n> follow Tom")

    def test_it_goes_after_whoever_it_follows_until_it_stays(self):
        self.follow()
        self.char1.execute_cmd("door")
        assert self.mira.location is self.char1.location is self.room2
        self.asks("Wait here, please.", "As you like.\n> stay")
        self.char1.execute_cmd("inn")
        assert (self.char1.location, self.mira.location) == (self.room1, self.room2)

    def test_it_loses_who_goes_where_it_may_not_and_ten_minutes_after_the_talk(self):
        self.follow()
        self.mind.actor.leader = self.char1.id
        self.mind.actor.spoke_at = self.clock.seconds() - FOLLOW_SECONDS
        self.char1.execute_cmd("door")
        assert self.mira.location is self.room1
        self.char1.execute_cmd("inn")
        self.follow()
        self.room1.exits[0].locks.add("traverse:not holds() and perm(Developer)")
        self.room1.exits[0].at_traverse(self.char1, self.room2)
        assert self.mira.location is self.room1
        assert self.mind.actor.leader is None

    def test_neither_a_sleeper_follows_nor_a_host_leaves_its_guests(self):
        self.follow()
        self.mira.db.asleep = True
        self.char1.execute_cmd("door")
        assert self.mira.location is self.room1
        self.mira.attributes.remove("asleep")
        self.char1.execute_cmd("inn")
        self.mira.home, self.mira.db.keeps = self.room1, True
        self.asks("Go through the door.", "Very well.\n> go door")
        assert self.mira.location is self.room1


class TestOptions(DeedsWorld):
    def test_whatever_is_answered_an_act_names_what_is_there(self):
        self.holds("blue cup")
        self.thing("lamp")
        verbs = " | ".join(verb.name for verb in VERBS if not verb.private).split(" | ")
        nouns = ["", "lamp", "the blue cup", "Tom", "door", "moon", "Wren", "lamp to Tom", "all"]
        answers = st.builds("{} {}".format, st.sampled_from(verbs), st.sampled_from(nouns))

        @settings(suppress_health_check=list(HealthCheck))
        @given(answers | st.text(max_size=40))
        def check(answer: str) -> None:
            there = options_of(self.mira)
            command = read_deed(answer, VERBS, there)
            if isinstance(command, Command):
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
