"""``SimpleNPC`` takes the place of ``LLMNPC``, with the ``talk`` of that contrib of Evennia's."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import evennia
from django.conf import settings
from evennia import default_cmds
from evennia.contrib.rpg.llm import CmdLLMTalk
from evennia.objects.objects import DefaultCharacter, DefaultRoom
from evennia.utils import create

from keepsake.agent.surroundings.identity import identity_of
from keepsake.contrib.evennia import AgentNPC, SimpleNPC
from keepsake.contrib.evennia.npcs import SimpleMixin
from keepsake.happening import ME, Person, Sight, Speech
from keepsake.paths import REPOSITORY
from tests.world.agents_world import AgentsWorld
from tests.world.built_world import empty_caches
from tests.world.foreign_games import Visitor

PAGE = REPOSITORY / "docs" / "simple-npc.md"
PATH = "tests.world.test_simple_npc.ForeignSimpleNPC"


class TheirCmdSet(default_cmds.CharacterCmdSet):
    """Evennia's own commands and the contrib's ``talk``, as its README installs it."""

    key = "TheirCmdSet"

    def at_cmdset_creation(self) -> None:
        super().at_cmdset_creation()
        self.add(CmdLLMTalk())


class ForeignSimpleNPC(SimpleMixin, DefaultCharacter):
    """``SimpleNPC`` as a game gets it that has Evennia's own characters."""


class TheirNPC(ForeignSimpleNPC):
    """A subclass as games have it, with the one line changed that it imports."""

    prompt_prefix = "You are {name}, {desc}, in {location}. You talk to {character}. {mood} {"


class SimpleGame(AgentsWorld):
    """The player Ilse and an NPC in Limbo."""

    def setUp(self) -> None:
        super().setUp()
        self.limbo = create.create_object(DefaultRoom, key="Limbo")
        self.ilse = create.create_object(Visitor, "Ilse", self.limbo)
        self.ilse.cmdset.add_default(TheirCmdSet)
        self.ilse.db_account = self.account2
        self.ilse.save()
        self.npc: Any = create.create_object(PATH, "villager", self.limbo)
        self.npc.db.desc = "A farmer who trusts nobody from the town."
        self.settle()
        self.read = self.capture(self.ilse)

    def person(self) -> Person:
        return Person("Ilse", identity_of(self.ilse))

    def window(self) -> list[Any]:
        return list(self.npc.mind.memory.context().window)

    def heard(self) -> list[Any]:
        return [each for each in self.window() if isinstance(each.what, Speech) and not each.is_own]

    def answers(self, line: str, *replies: str) -> str:
        """Type a line, wait, and return what the player has read since."""
        self.read.clear()
        self.replies = [*replies, "> wait"]
        self.ilse.execute_cmd(line)
        self.settle()
        self.pass_time(4)
        return "\n".join(self.read)


class TestTalking(SimpleGame):
    def test_it_answers_the_contribs_talk_and_hears_the_words_once(self):
        told = self.answers("talk villager Where is the well?", "Behind the barn.")
        assert "Behind the barn." in told
        (heard,) = self.heard()
        assert heard.what.speaker == self.person()
        assert heard.what.to == (ME,)
        assert heard.what.words == "Where is the well?"
        assert heard.what.shown.endswith("Where is the well?")
        assert not [each for each in self.window()[1:] if isinstance(each.what, Sight)]

    def test_it_answers_say(self):
        assert "Behind the barn." in self.answers("say Where is the well?", "Behind the barn.")

    def test_its_profile_is_its_description_and_follows_it(self):
        self.answers("say Hello.", "Hm.")
        assert "You are villager. A farmer who trusts nobody" in self.prompts()[-1]
        self.npc.db.desc = "A farmer in love."
        self.answers("say Hello again.", "Ah!")
        assert "You are villager. A farmer in love." in self.prompts()[-1]
        self.npc.db.profile = "You are the villager, a spy."
        self.npc.db.desc = "A farmer."
        self.answers("say And now?", "Hush.")
        assert "You are the villager, a spy." in self.prompts()[-1]
        assert "A farmer." not in self.npc.db.profile

    def test_it_remembers_over_a_reload(self):
        self.answers("talk villager My sister Liesbet drowned.", "I am sorry.")
        number = self.npc.id
        self.stop_services()
        empty_caches()
        self.services = self.start_services()
        self.npc = evennia.ObjectDB.objects.get(id=number)
        self.ilse = Visitor.objects.get(id=self.ilse.id)
        self.settle()
        self.read = self.capture(self.ilse)
        told = self.answers("talk villager What did I tell you?", "Of Liesbet.")
        assert "Of Liesbet." in told
        assert "My sister Liesbet drowned." in self.prompts()[-1]

    def test_two_people_are_told_apart_and_others_lines_are_heard_too(self):
        tom = create.create_object(Visitor, "Tom", self.limbo)
        tom.cmdset.add_default(TheirCmdSet)
        tom.db_account = self.account
        other = create.create_object(PATH, "miller", self.limbo)
        self.ilse.execute_cmd("talk miller Is there flour?")
        tom.execute_cmd("talk villager Is there milk?")
        self.settle()
        (heard,) = self.heard()
        assert (heard.what.speaker.name, heard.what.words) == ("Tom", "Is there milk?")
        overheard = [each for each in self.window() if "Is there flour?" in each.text]
        assert [each.source for each in overheard] == ["Ilse"]
        theirs = list(other.mind.memory.context().window)
        assert [each.what.to for each in theirs if "flour" in each.text] == [(ME,)]

    def test_a_command_of_the_games_own_may_call_it_without_a_line(self):
        self.npc.at_talked_to("Where is the well?", self.ilse)
        (heard,) = self.heard()
        assert heard.what.shown == 'Ilse says to you, "Where is the well?"'
        self.npc.at_talked_to("  ", self.ilse)
        assert len(self.heard()) == 1


class TestProfiles(SimpleGame):
    def test_a_prefix_is_filled_in(self):
        made = create.create_object(TheirNPC, "Bo", self.limbo, attributes=[("desc", "a smith")])
        assert made.db.profile == (
            "You are Bo, a smith, in Limbo. You talk to whoever speaks to you. {mood} {"
        )
        made.db.prompt_prefix = "You are Bo."
        self.settle()
        made.msg("Rain.")
        assert made.db.profile == "You are Bo."
        with patch.object(settings, "LLM_PROMPT_PREFIX", "All are {name}.", create=True):
            self.npc.msg("Rain.")
        assert self.npc.db.profile == "All are villager."

    def test_the_page_is_short_and_names_what_is_there(self):
        page = PAGE.read_text(encoding="utf-8")
        assert len(page.splitlines()) <= 80
        assert set(re.findall(r"keepsake\.contrib\.evennia\.(\w+NPC)", page)) == {"SimpleNPC"}
        for name in ("prompt_prefix", "at_talked_to"):
            assert f"`{name}`" in page
            assert hasattr(SimpleNPC, name)
        assert issubclass(SimpleNPC, AgentNPC.__mro__[2]), "it is the game's own Character"
