"""Agents in games whose rooms, characters and commands have no code for agents."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from django.conf import settings
from evennia.contrib.grid.xyzgrid.xyzgrid import XYZGrid
from evennia.contrib.grid.xyzgrid.xyzroom import XYZRoom
from evennia.objects.objects import DefaultCharacter, DefaultExit, DefaultRoom
from evennia.utils import create
from evennia.utils.ansi import strip_ansi
from evennia.utils.utils import class_from_module

from keepsake.agent.attention import Impulse, ImpulseKind
from keepsake.agent.memory.shelf import PageNeeds
from keepsake.agent.surroundings import description_of, identity_of, place_of
from keepsake.agent.why import why_did
from keepsake.archive.records import Memory
from keepsake.contrib.evennia import happens, hear, person_of
from keepsake.contrib.evennia.creation import find_agents
from keepsake.happening import ME, Deed, Manner, Person, Pose, Result, Sight, Speech
from keepsake.paths import REPOSITORY
from keepsake.prompt.verbs import Command
from tests.log_lines import LogLines
from tests.world import foreign_games
from tests.world.agents_world import AgentsWorld

PAGE = (REPOSITORY / "docs" / "your-own-game.md").read_text(encoding="utf-8")
AGENT = "tests.world.foreign_games.ForeignNPC"
TOWN = """

 + 0 1

 0 #-#

 + 0 1

"""
"""A map of Evennia's grid: two rooms with a road."""


class AnyGame(AgentsWorld):
    """The agent Rook and the player Ilse in Limbo."""

    def setUp(self) -> None:
        super().setUp()
        self.limbo = create.create_object(DefaultRoom, key="Limbo")
        self.cave = create.create_object(DefaultRoom, key="The Cave")
        self.rook = create.create_object(AGENT, "Rook", self.limbo)
        self.visitor = self.add_visitor("Ilse")
        self.events: list[Impulse] = []
        self.rook.mind.thinker.notice = self.events.append

    def add_visitor(self, name: str, kind: Any = foreign_games.Visitor) -> Any:
        """Add a character of a player, with the commands of a foreign game."""
        made = create.create_object(kind, name, self.limbo)
        made.cmdset.add_default(foreign_games.ForeignCmdSet)
        made.db_account = self.account2
        return made

    def lines_of(self, agent: Any) -> list[str]:
        return [memory.line for memory in agent.mind.memory.context().window]

    def newest(self, agent: Any = None) -> Memory:
        """Return an agent's newest memory."""
        memory: Memory = (agent or self.rook).mind.memory.context().window[-1]
        return memory

    def ilse(self) -> Person:
        """Return Ilse as an agent without short descriptions knows her."""
        return Person("Ilse", identity_of(self.visitor))


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


class TestPictures(AnyGame):
    """Lines that are drawn with characters."""

    def setUp(self) -> None:
        super().setUp()
        grid, _ = XYZGrid.create("grid")
        self.addCleanup(grid.delete)
        grid.add_maps({"map": TOWN, "zcoord": "town"})
        grid.spawn()
        self.town = XYZRoom.objects.get_xyz(xyz=(0, 0, "town"))
        self.inn = XYZRoom.objects.get_xyz(xyz=(1, 0, "town"))

    def test_the_map_of_evennias_grid_is_not_perceived(self):
        shown = self.capture(self.visitor)
        self.visitor.location = self.town
        self.visitor.execute_cmd("look")
        assert any("@-#" in strip_ansi(line) for line in shown), "a player sees the map"
        bert = create.create_object(AGENT, "Bert", self.town)
        first = bert.mind.memory.context().window
        assert [each.event for each in first] == ["look"]
        bert.mind.actor.do(bert, Command("go", "east"))
        assert bert.location == self.inn
        bert.mind.actor.do(bert, Command("look", ""))
        assert not any("@" in line for line in self.lines_of(bert))

    def test_a_game_names_the_types_of_its_own_pictures(self):
        drawn = ("~~~ Ω ~~~", {"type": "portrait"})
        self.rook.msg(drawn)
        assert "Ω" in self.newest().text
        self.rook.pictures = {"portrait"}
        self.rook.msg(drawn)
        self.rook.msg("You feel a draught.")
        assert len([line for line in self.lines_of(self.rook) if "Ω" in line]) == 1
        assert self.newest().text == "You feel a draught."


class TestTelling(AnyGame):
    """`hear` and `happens`."""

    def test_an_own_say(self):
        nell = create.create_object(AGENT, "Nell", self.limbo)
        seen = self.capture(self.visitor)
        speech = Speech(
            speaker=person_of(self.visitor),
            words='Guten "Abend {to}',
            to=(person_of(self.rook),),
            shown="{speaker} sagt zu {to}: »{words}«",
        )
        hear(self.limbo, speech)
        assert seen == ['Ilse sagt zu Rook: »Guten "Abend {to}«']
        mine, hers = self.newest(), self.newest(nell)
        assert mine.heard is not None
        assert (mine.heard.to, mine.words) == ((ME,), "Guten 'Abend {to}")
        assert mine.words in mine.text
        assert hers.heard is not None
        assert hers.heard.to == (person_of(self.rook),)
        assert mine.happening == hers.happening != ""
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_a_murmur(self):
        speech = Speech(
            speaker=person_of(self.visitor),
            words="the key is under the mat",
            to=(person_of(self.rook),),
            manner=Manner.WHISPER,
        )
        hear(self.rook, speech)
        assert self.newest().confidants == {identity_of(self.visitor)}

    def test_words_to_some_people_are_known_to_them_alone(self):
        nell = create.create_object(AGENT, "Nell", self.limbo)
        hear([self.rook, nell], Speech(speaker=person_of(self.visitor), words="To the two of you."))
        assert self.newest().confidants == {identity_of(self.visitor), identity_of(nell)}
        assert self.newest(nell).confidants == {identity_of(self.visitor), identity_of(self.rook)}

    def test_a_channel_reaches_agents_elsewhere(self):
        self.visitor.location = self.cave
        said = Speech(
            speaker=person_of(self.visitor), words="Is Rook there?", manner=Manner.CHANNEL
        )
        seen = self.capture(self.visitor)
        hear([self.rook, self.visitor], said, players=False)
        assert seen == []
        assert self.newest().manner == Manner.CHANNEL
        assert self.newest().confidants is None
        assert self.events[-1].kind is ImpulseKind.NAMED

    def test_words_that_the_agent_cannot_read_are_not_known_to_it(self):
        said = Speech(speaker=person_of(self.visitor), words="The gold is in the well.")
        with happens(said):
            self.limbo.msg_contents("Ilse says, 'Grmbl fz.'", from_obj=self.visitor)
        assert self.newest().words == "Ilse says, 'Grmbl fz.'"

    def test_only_lines_of_the_actor_count(self):
        bram = self.add_visitor("Bram")
        with happens(Speech(speaker=person_of(self.visitor), words="Aye.")):
            self.limbo.msg_contents('Bram says, "Aye."', from_obj=bram)
        assert isinstance(self.newest().what, Sight)
        assert self.newest().source == "Bram"

    def test_a_deed(self):
        deed = Deed(actor=person_of(self.visitor), verb="ring", objects=("the bell",))
        with happens(deed, importance=4):
            self.limbo.msg_contents("Ilse läutet.", from_obj=self.visitor)
        memory = self.newest()
        assert memory.what == Deed(
            actor=self.ilse(), verb="ring", objects=("the bell",), shown="Ilse läutet."
        )
        assert memory.importance == 4


class TestShortDescriptions(AnyGame):
    """A game with Evennia's contrib RPSystem."""

    def setUp(self) -> None:
        super().setUp()
        self.hall = create.create_object(foreign_games.RPRoom, key="|rThe Hall|n")
        self.boss = create.create_object(foreign_games.RPVisitor, "boss", self.hall)
        self.boss.cmdset.add_default(foreign_games.ForeignCmdSet)
        self.boss.sdesc.add("a tall man")
        self.boss.db_account = self.account2
        self.vera = create.create_object(foreign_games.RPAgent, "Vera", self.hall)
        self.vera.sdesc.add("a pale woman")
        self.vera.mind.thinker.notice = self.events.append

    def test_a_person_is_known_by_the_short_description(self):
        self.boss.execute_cmd("say Good evening.")
        self.settle()
        said = self.newest(self.vera)
        assert said.actor == Person("a tall man", identity_of(self.boss))
        assert self.events[-1].source == "a tall man"
        assert "boss" not in said.text
        self.vera.recog.add(self.boss, "Odo")
        self.boss.execute_cmd("say It is me.")
        assert self.newest(self.vera).actor == Person("Odo", identity_of(self.boss))

    def test_its_prompt_holds_no_true_name(self):
        self.boss.execute_cmd("say Good evening.")
        self.settle()
        self.vera.mind.books.update_people(self.vera.mind.memory.memory.archive)
        built = list[Any]()
        self.vera.mind.preview(self.vera, self.boss, "Who am I?").addCallback(built.append)
        self.settle(lambda: bool(built))
        prompt = built[0][0].text
        assert 'a tall man says to you, "Who am I?"' in prompt
        assert "boss" not in prompt
        near = frozenset({identity_of(self.boss)})
        mind = self.vera.mind
        needs = PageNeeds(partner=identity_of(self.boss))
        lines = mind.books.people_lines(self.vera, mind.memory.private, None, near, needs)
        assert lines[0].startswith("a tall man, met")

    def test_it_remembers_who_woke_it_by_the_name_that_it_knows(self):
        self.vera.mind.sleeper.fall_asleep("a test said so")
        to = (person_of(self.vera),)
        call = Speech(speaker=person_of(self.boss), words="Wake up!", to=to, manner=Manner.SHOUT)
        hear(self.hall, call)
        assert any("a tall man woke you" in line for line in self.lines_of(self.vera))

    def test_its_answer_arrives(self):
        heard = self.capture(self.boss)
        self.vera.mind.actor.speak(self.vera, "Come in.", Person("a tall man"))
        assert any("Come in." in line for line in heard)
        assert not any("/Me" in line or "Vera" in line for line in heard)
        whisper = self.vera.mind.actor.speak(
            self.vera, "Only you.", Person("a tall man"), whispered=True
        )
        assert whisper.command is not None
        assert any("Only you." in line and "/Me" not in line for line in heard)
        assert self.vera.mind.actor.unheard == 0

    def test_places_have_no_colour_codes(self):
        assert place_of(self.vera) == "The Hall"


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


def example(name: str) -> str:
    """Return an example of the page, by the comment in its first line."""
    (found,) = re.findall(rf"^```python\n# {name}\n(.*?)^```", PAGE, re.M | re.S)
    return str(found)


@cache
def examples() -> dict[str, Any]:
    """Return the names that the examples define."""
    names: dict[str, Any] = {"__name__": "tests.example"}
    for name in ("say", "tell", "channel"):
        exec(example(name), names)
    return names


class TestThePage(AnyGame):
    """The examples of docs/your-own-game.md, unchanged."""

    def run_command(self, name: str, args: str) -> None:
        command = examples()[name]()
        command.caller = self.visitor
        command.args = args
        command.func()

    def test_the_say(self):
        seen = self.capture(self.visitor)
        self.run_command("CmdSagen", ' Das "alte" {me} Tor')
        assert seen == ['Ilse sagt: »Das "alte" {me} Tor«']
        assert self.newest().what == Speech(
            speaker=self.ilse(),
            words="Das 'alte' {me} Tor",
            shown="Ilse sagt: »Das 'alte' {me} Tor«",
        )
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_a_subclass_of_the_games_own_say(self):
        own = foreign_games.CmdSpeak()
        own.caller = self.visitor
        own.args = " Who is there?"
        own.func()
        assert isinstance(self.newest().what, Sight), "nobody is known to speak"
        names: dict[str, Any] = {"__name__": "tests.example", "TheirSay": foreign_games.CmdSpeak}
        theirs, rest = example("subclass").split("\n", 1)
        assert theirs == "from commands.communication import CmdSay as TheirSay"
        exec(rest, names)
        command = names["CmdSay"]()
        command.caller = self.visitor
        command.args = " Rook, how deep is the river?"
        command.func()
        said = self.newest().heard
        assert said is not None
        assert (said.speaker, said.words) == (self.ilse(), "Rook, how deep is the river?")
        assert self.newest().confidants is None
        assert self.events[-1].kind is ImpulseKind.ADDRESSED

    def test_the_tell(self):
        bram = self.add_visitor("Bram")
        seen = self.capture(self.visitor)
        overheard = self.capture(bram)
        self.run_command("CmdMurmur", " Rook the key is under the mat")
        assert seen == ['Ilse whispers, "the key is under the mat"']
        assert overheard == []
        assert self.newest().words == "the key is under the mat"
        assert self.newest().confidants == {identity_of(self.visitor)}

    def test_the_channel(self):
        self.visitor.location = self.cave
        examples()["TownChannel"].at_post_msg(
            SimpleNamespace(key="Public"), "Rook, are you there?", senders=[self.visitor]
        )
        said = self.newest().heard
        assert said is not None
        assert (said.manner, said.words) == (Manner.CHANNEL, "Rook, are you there?")
        assert said.shown == "[Public] Ilse: Rook, are you there?"
        assert self.newest().confidants is None
