"""A small model that only talks: what its words agree to is done, or it is said what is needed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from evennia.utils import create

from keepsake.ports import FixedClock
from keepsake.prompt.verbs import own_verbs
from tests.world.agents_world import AgentsWorld, Building
from tests.world.built_world import BuiltWorld
from tests.world.test_events_world import EventsWorld
from tests.world.test_hospitality import Inn
from typeclasses.agents import Agent
from typeclasses.objects import Object
from world.source import find


class SmallModel(Inn):
    """Mira with a small model, and Tom.

    Attributes:
        agreed: What the model says that an answer did.
    """

    FORM = "dialogue"
    agreed = '"agreed"'
    goes = " goes to The Quay.)"

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.pass_time(10)
        self.heard = self.capture(self.char1)
        self.jar = self.carried(self.mira, "jar of honey", "honey")
        self.fake.script = self.answer

    def carried(self, by: Any, name: str, *aliases: str) -> Any:
        return create.create_object(Object, key=name, aliases=list(aliases), location=by)

    def answer(self, prompt: str) -> str:
        if prompt.endswith("\n(Now Mira"):
            return self.goes
        return self.agreed if prompt.endswith(":") and "\n(" in prompt[-60:] else " Take it, Tom."

    def questions(self) -> list[str]:
        """Return the deeds that the model was asked about, with the talk."""
        prompts = [each for each in self.fake.prompts() if "Each note says" in each]
        return [each.rpartition("\n\n")[2] for each in prompts]

    def ask(self, words: str) -> None:
        self.char1.execute_cmd(f"talk Mira {words}")
        self.pass_time(4)


class TestAgreed(SmallModel):
    def test_what_was_agreed_is_done_by_the_deed_and_remembered(self):
        self.ask("Can I have some honey?")
        assert self.questions() == [
            "Tom: Can I have some honey?\nMira: Take it, Tom.\n(give jar of honey to Tom:"
        ]
        assert self.jar.location is self.char1
        assert "Mira gives you a jar of honey." in self.heard
        assert "~give jar of honey to Tom" in self.lines()
        assert self.mind.thinker.log.outcomes == {"acted": 1}

    def test_nothing_is_done_if_it_refuses_or_gives_no_clear_answer(self):
        for self.agreed in ('"refused"', '"talk"', "agreed, I think", "{"):
            before = len(self.questions())
            self.ask("Can I have some honey?")
            assert len(self.questions()) == before + 1
            assert self.jar.location is self.mira

    def test_nothing_is_asked_where_nothing_on_offer_is_named(self):
        self.ask("How is your day?")
        self.ask("Do you like honeycomb?")
        self.ask("Will you come to the inn?")
        assert self.questions() == []

    def test_it_walks_where_its_words_go(self):
        self.mira.db.keeps = False
        self.goes = " stays here.)"
        self.ask("Will you come to the quay with me?")
        assert self.questions()[-1].endswith("Mira: Take it, Tom.\n(Now Mira")
        self.pass_time(60)
        assert self.mira.location is self.room1
        self.goes = " goes to The Quay.)"
        self.ask("Will you come to the quay with me, Mira?")
        self.pass_time(60)
        assert self.mira.location is self.quay

    def test_a_place_that_only_its_own_words_name_is_one_to_go_to(self):
        self.fake.script = lambda prompt: self.answer(prompt).replace(
            " Take it, Tom.", " Wait, I run to the quay."
        )
        self.ask("A boy has fallen into the water!")
        self.pass_time(60)
        assert self.mira.location is self.quay

    def test_another_name_of_the_only_place_will_do(self):
        self.goes = " goes to the harbour.)"
        self.ask("Will you come to the quay with me?")
        self.pass_time(60)
        assert self.mira.location is self.quay

    def test_who_has_guests_stays_and_the_player_reads_why(self):
        self.mira.db.keeps = True
        self.mira.home = self.room1
        self.ask("Will you come to the quay with me?")
        self.pass_time(60)
        assert self.mira.location is self.room1
        assert "Mira has guests, and does not leave them now." in self.heard

    def test_a_file_of_an_earlier_version_asks_for_a_walk_as_for_any_deed(self):
        page = self.services.prompts["agreed"]
        text = page.path.read_text()
        page.path.write_text(text.partition("```setting_off")[0])
        page.reread()
        self.ask("Will you come to the quay with me?")
        assert self.questions()[-1].endswith("\n(walk to The Quay:")
        self.pass_time(60)
        assert self.mira.location is self.quay

    def test_a_player_who_holds_the_thing_is_told_how_to_hand_it_over(self):
        cup = self.carried(self.char1, "blue cup", "cup")
        ann = self.capture(self.add_player(2, "Ann"))
        self.ask("Would you keep this cup for me?")
        assert self.questions()[-1].endswith("\n(take blue cup from Tom:")
        assert cup.location is self.char1
        assert "To hand it over: give blue cup to Mira" in self.heard
        assert not any("hand it over" in line for line in ann)

    def test_a_game_s_own_verb_is_done_if_its_thing_is_named(self):
        kind = type(self.mira)
        self.add_thing("bell")
        usages = {"ring <thing>": "ring it", "dance": "dance", "sell <words> to <person>": "sell"}
        verbs = own_verbs(usages)
        with (
            patch.object(kind, "agent_verbs", usages),
            patch.object(kind, "verbs_now", lambda _: verbs),
        ):
            self.ask("Will you ring that bell for me?")
            assert self.questions()[-1].endswith("\n(ring bell:")
            self.ask("Will you dance?")
            assert self.questions()[-1].endswith("\n(dance:")

    def test_what_mira_has_just_given_is_not_asked_back(self):
        self.ask("Can I have some honey?")
        asked = len(self.questions())
        assert self.jar.location is self.char1
        self.fake.script = lambda prompt: self.answer(prompt).replace("Take", "Oh, take")
        self.ask("What a fine honey this is!")
        assert len(self.questions()) == asked
        assert not any("hand it over" in line for line in self.heard)
        assert "say Oh, take it, Tom." in "".join(self.lines())
        self.services.clock = FixedClock(self.services.clock.now() + timedelta(minutes=6))
        self.fake.script = lambda prompt: self.answer(prompt).replace("Take", "Let me take")
        self.ask("Would you keep the honey for me?")
        assert self.questions()[-1].endswith("\n(take jar of honey from Tom:")


class TestAgreementsInTheLog(Building, EventsWorld, SmallModel):
    """What a builder sees of the questions."""

    def test_each_question_is_an_event_that_why_shows(self):
        self.carried(self.char1, "blue cup", "cup")
        self.ask("Would you keep this cup for me?")
        [event] = self.logged("agreement")
        assert (event["deed"], event["found"]) == ("take blue cup from Tom", "agreed")
        assert event["hint"] == "To hand it over: give blue cup to Mira"
        shown = self.type("@why Mira", "last act")
        assert "take blue cup from Tom: agreed" in shown
        assert "told: To hand it over: give blue cup to Mira" in shown


class TestInTheVillage(BuiltWorld, AgentsWorld):
    """Bram, who has a jar of honey, and a deed that makes a comb of it."""

    FORM = "dialogue"
    START = datetime(2026, 5, 4, 12).astimezone()

    def make_mira(self) -> Agent:
        bram = find("agent", "bram")
        assert isinstance(bram, Agent)
        return bram

    def test_the_honey_is_given_and_then_it_is_said_what_more_of_it_needs(self):
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.char1.move_to(find("room", "orchard"), quiet=True)
        self.mira.move_to(find("room", "orchard"), quiet=True)
        self.fake.script = lambda prompt: (
            '"agreed"' if "Each note says" in prompt else " I will give you some."
        )
        heard = self.capture(self.char1)
        self.pass_time(20)
        self.char1.execute_cmd("talk Bram Can I have some honey?")
        self.pass_time(6)
        jar = find("thing", "honey_jar")
        assert jar.location is self.char1
        jar.location = None
        self.char1.execute_cmd("talk Bram Can I have more of that honey?")
        self.pass_time(6)
        assert any("You must tell the bees the news" in line for line in heard)

    def test_the_basket_that_bram_fills_is_not_asked_back(self):
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.char1.move_to(find("room", "orchard"), quiet=True)
        self.mira.move_to(find("room", "orchard"), quiet=True)
        self.fake.script = lambda prompt: (
            '"agreed"' if "Each note says" in prompt else " Yes, I'm Bram."
        )
        heard = self.capture(self.char1)
        self.pass_time(20)
        self.char1.execute_cmd(
            "talk Bram Good evening, are you Bram? Mira asks whether there are apples."
        )
        self.pass_time(6)
        assert any(str(each.key) == "basket of apples" for each in self.char1.contents)
        assert 'Bram says to you, "Yes, I\'m Bram."' in heard
        self.char1.execute_cmd("talk Bram The apples are heavy!")
        self.pass_time(6)
        assert not [line for line in heard if "hand it over" in line or "another" in line]
