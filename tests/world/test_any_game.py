"""Agents in games whose rooms, characters and commands have no code for agents."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from django.conf import settings
from evennia.objects.objects import DefaultCharacter, DefaultExit
from evennia.utils import create
from evennia.utils.utils import class_from_module

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.sights import description_of
from keepsake.agent.why.why import why_did
from keepsake.contrib.evennia.creation import find_agents
from keepsake.happening import Manner, Person, Pose, Result, Sight, Speech
from keepsake.prompt.verbs import Command
from tests.log_lines import LogLines
from tests.world import foreign_games
from tests.world.any_game import AGENT, AnyGame


class TestEvenniasOwnCommands(AnyGame):
    def test_it_hears_notices_arrivals_and_speaks(self):
        assert find_agents("rook") == [self.rook]
        self.visitor.move_to(self.cave, quiet=True)
        self.visitor.move_to(self.limbo)
        self.settle()
        self.visitor.execute_cmd("say Good evening, Rook.")
        self.visitor.move_to(self.cave)
        self.settle()
        assert "Ilse says, 'Good evening, Rook.'" in self.lines_of(self.rook)
        assert [each.kind for each in self.events] == [ImpulseKind.ARRIVAL, ImpulseKind.ADDRESSED]
        assert {each.source for each in self.events} == {"Ilse"}
        assert all(each.memory_number for each in self.events)
        heard = self.capture(self.visitor)
        self.visitor.move_to(self.limbo, quiet=True)
        self.rook.execute_cmd("say Come in.")
        assert any("Come in." in line for line in heard)

    def test_it_perceives_messages_of_any_shape(self):
        shapes = ["a bell", ("a gong", {"type": "sound"}), ("a horn",), ["a drum", "a fife"], 7]
        for shape in [*shapes, ("a lute", None), {"a": "harp"}, b"a rattle"]:
            self.rook.msg(shape, from_obj=self.visitor)
            self.rook.msg(text=shape)
        self.rook.msg(prompt="10 hp")
        heard = list(dict.fromkeys(self.lines_of(self.rook)[-16:]))
        assert heard[:6] == ["a bell", "a gong", "a horn", "a drum", "7", "a lute"]

    def test_a_mistake_in_its_perception_does_not_keep_a_message_from_others(self):
        heard = self.capture(self.add_visitor("Greta"))
        part = "keepsake.contrib.evennia.perceiving.meaning_of"
        broken = patch(part, side_effect=ZeroDivisionError)
        with broken, LogLines() as logged:
            self.visitor.execute_cmd("say Good evening.")
        assert any("Good evening." in line for line in heard)
        assert "A message could not be perceived" in "".join(logged.lines)

    def test_it_answers_aloud_looks_and_walks(self):
        way = create.create_object(DefaultExit, "north", self.limbo, destination=self.cave)
        self.settle()
        heard = self.capture(self.visitor)
        actor = self.rook.mind.actor
        actor.speak(
            self.rook, "Braces {are} $no() |rtrap.", Person("Ilse", identity_of(self.visitor))
        )
        assert 'Rook says to you, "Braces {are} $no() ||rtrap."' in heard
        for command in (Command("examine", "Ilse"), Command("go", "north")):
            actor.do(self.rook, command)
        assert (self.rook.location, way.destination) == (self.cave, self.cave)
        assert "is not available" not in " ".join(self.lines_of(self.rook))

    def test_speech_whisper_and_pose_are_known_by_the_type_of_the_message(self):
        self.visitor.execute_cmd("say Hello.")
        assert self.newest().what == Speech(
            speaker=self.ilse(), words="Ilse says, 'Hello.'", shown="Ilse says, 'Hello.'"
        )
        self.visitor.execute_cmd("whisper Rook = The key is under the mat.")
        whisper = self.newest()
        assert whisper.manner == Manner.WHISPER
        assert whisper.confidants == {identity_of(self.visitor)}
        self.visitor.execute_cmd('pose says, "I am Rook."')
        assert isinstance(self.newest().what, Pose)
        assert [each.kind for each in self.events] == [ImpulseKind.ADDRESSED] * 2 + [
            ImpulseKind.NAMED
        ]

    def test_a_gift_is_a_deed(self):
        cup = create.create_object("evennia.DefaultObject", "blue cup", self.visitor)
        self.visitor.execute_cmd("give blue cup to Rook")
        assert cup.location is self.rook
        gift = self.newest()
        assert gift.gift_to_me == "a blue cup"
        assert gift.source_id == identity_of(self.visitor)
        assert gift.witnesses is None
        assert self.events[-1].kind is ImpulseKind.GIVEN


class TestOwnVerbs(AnyGame):
    def test_a_line_with_own_wording_is_answered(self):
        self.visitor.execute_cmd("sagen Wo ist der Schlüssel?")
        memory = self.newest()
        line = "Ilse sagt: »Wo ist der Schlüssel?«"
        assert memory.what == Sight(source=self.ilse(), shown=line)
        assert memory.witnesses is None
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_with_others_here_it_is_heard(self):
        self.add_visitor("Bram")
        self.visitor.execute_cmd("sagen Guten Abend.")
        assert self.events[-1].kind is ImpulseKind.HEARD

    def test_a_murmur_is_private_and_answered(self):
        self.add_visitor("Bram")
        self.visitor.execute_cmd("murmur Rook the key is under the mat")
        memory = self.newest()
        assert "under the mat" in memory.text
        assert memory.confidants == {identity_of(self.visitor)}
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_a_line_without_a_sender_is_for_the_agent_alone(self):
        self.rook.msg("You feel a draught.")
        assert self.newest().confidants == frozenset()

    def test_a_game_can_say_that_its_direct_lines_are_public(self):
        self.rook.private_lines = False
        self.rook.msg("It begins to rain.")
        assert self.newest().confidants is None

    def test_what_its_own_act_shows_is_no_private_line(self):
        self.rook.mind.actor.do(self.rook, Command("inventory", ""))
        assert isinstance(self.newest().what, Result)
        assert self.newest().confidants is None

    def test_the_words_are_known_where_the_mixin_is_used(self):
        speaker = self.add_visitor("Jan", foreign_games.SaidCharacter)
        speaker.execute_cmd('say Der "alte" Turm.')
        said = self.newest().heard
        assert said is not None
        assert said.words == "Der 'alte' Turm."
        assert said.shown == "Jan sagt: »Der 'alte' Turm.«"

    def test_all_who_hear_a_line_archive_one_id(self):
        nell = create.create_object(AGENT, "Nell", self.limbo)
        for line in ("sagen Hallo.", "sagen Hallo."):
            self.visitor.execute_cmd(line)
            self.settle()
        heard = [
            [each.happening for each in agent.mind.memory.context().window if "Hallo" in each.text]
            for agent in (self.rook, nell)
        ]
        assert heard[0] == heard[1]
        assert all(heard[0])


class TestConvertedCharacters(AnyGame):
    """Existing characters that become agents by Evennia's `type`."""

    def convert(self) -> Any:
        made = create.create_object(DefaultCharacter, "Old Tom", self.limbo)
        made.swap_typeclass(AGENT, run_start_hooks="at_object_creation")
        return made

    def test_builders_find_it_before_it_has_a_memory(self):
        tom = self.convert()
        assert not tom.attributes.has("memory_folder")
        assert find_agents("old tom") == [tom]

    def test_it_can_speak(self):
        tom = self.convert()
        heard = self.capture(self.visitor)
        tom.mind.actor.speak(tom, "I can speak.", Person("Ilse"))
        assert any(line == 'Old Tom says to you, "I can speak."' for line in heard)
        assert not any(each == "page" for each in tom.cmdset.current)

    def test_the_command_type_makes_an_agent(self):
        tom = create.create_object(DefaultCharacter, "Old Tom", self.limbo)
        self.char1.location = self.limbo
        self.char1.execute_cmd(f"@type Old Tom = {AGENT}")
        heard = self.capture(self.char1)
        self.char1.execute_cmd("@agent Old Tom = You are Old Tom, a ferryman.")
        assert tom.db.profile == "You are Old Tom, a ferryman.", heard

    def test_the_commands_follow_the_class(self):
        self.rook.swap_typeclass("tests.world.foreign_games.MuteAgent", run_start_hooks=None)
        self.rook.at_init()
        assert not any(each == "talk" for each in self.rook.cmdset.current)


class TestWordsThatDoNotArrive(AnyGame):
    def speak(self, kind: str, *, whispered: bool = False) -> tuple[Any, list[str]]:
        agent = create.create_object(f"tests.world.foreign_games.{kind}", "Pip", self.limbo)
        heard = self.capture(self.visitor)
        agent.mind.actor.speak(agent, "Hello there.", Person("Ilse"), whispered=whispered)
        return agent, heard

    def test_an_agent_without_commands_speaks_by_at_say(self):
        pip, heard = self.speak("MuteAgent")
        assert heard == ['Pip says, "Hello there."']
        assert pip.mind.actor.unheard == 0
        said = self.newest(self.rook).heard
        assert said is not None
        assert (said.words, said.to) == ("Hello there.", (self.ilse(),))
        assert self.newest(self.rook).happening == self.newest(pip).happening

    def test_it_whispers_so(self):
        before = self.newest(self.rook)
        _, heard = self.speak("MuteAgent", whispered=True)
        assert any("Hello there." in line for line in heard)
        assert self.newest(self.rook) == before

    def test_an_agent_that_heard_them_already_remembers_them_once(self):
        pip, heard = self.speak("HalfHeardAgent")
        assert heard == ['Pip says, "Hello there."']
        window = self.rook.mind.memory.context().window
        remembered = [each for each in window if "Hello there." in each.text]
        assert [each.happening for each in remembered] == [self.newest(pip).happening]

    def test_words_that_reach_nobody_are_reported(self):
        with self.assertLogs("keepsake", "ERROR") as logs:
            pip, heard = self.speak("LostAgent")
        assert heard == []
        assert pip.mind.actor.unheard == 1
        assert "did not reach anybody" in logs.output[0]
        result = self.newest(pip).what
        assert isinstance(result, Result)
        assert not result.done
        archive = pip.mind.memory.memory.archive
        why = why_did(self.services.places.events, archive, "Pip", pip.id)
        assert why.failed == ("Your words did not reach anybody.",)


class TestReadyMade(AnyGame):
    def test_a_ready_made_agent_is_a_character_of_the_game(self):
        made = class_from_module("keepsake.contrib.evennia.AgentNPC")
        assert issubclass(made, class_from_module(settings.BASE_CHARACTER_TYPECLASS))
        former = "keepsake.contrib.evennia.agents.AgentNPC"
        assert class_from_module(former) is made, "characters have this path in the database"


class TestPlaces(AnyGame):
    def test_a_room_whose_description_is_code_is_described(self):
        self.rook.location = create.create_object(foreign_games.DescribedRoom, "The Well")
        assert description_of(self.rook) == "Moss grows on every stone."
        self.rook.location = self.cave
        assert description_of(self.rook) == ""
