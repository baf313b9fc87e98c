"""Deeds where something is out of the way: words for somebody else, files and rooms that change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evennia.utils.ansi import strip_ansi

from keepsake.agent.surroundings import identity_of
from keepsake.archive.privacy import confidant
from tests.world.test_deeds_of_the_village import DEEDS, DeedsVillage
from world.build import open_world
from world.deed.progress import install, progress, records, standing
from world.tags import find


class TestOneAnswer(DeedsVillage):
    """Whoever a step is told to has answered with it; the model has nothing to add."""

    FORM = "auto"

    def setUp(self) -> None:
        super().setUp()
        self.pass_time(30)
        self.said = ["Never heard of any."] * 9

    def prompts_of(self, name: str) -> list[str]:
        return [prompt for prompt in self.fake.prompts() if prompt.endswith(f"{name}:")]

    def test_what_the_deed_has_answered_no_model_answers(self):
        bram = self.agent("bram")
        self.play("orchard: look")
        self.pass_time(30)
        before = len(self.prompts_of("Bram"))
        heard = self.reading[self.char1]
        self.type("talk bram Are there any apples?")
        self.pass_time(30)
        assert "fills a basket" in strip_ansi("\n".join(heard))
        assert len(self.prompts_of("Bram")) == before
        self.type("talk bram Do you like it here?")
        self.pass_time(30)
        assert len(self.prompts_of("Bram")) > before
        last = self.prompts_of("Bram")[before]
        assert last.endswith("Tom: Do you like it here?\nBram:")
        assert bram.mind is not None

    def test_what_it_says_in_the_deeds_words_it_remembers_as_its_own(self):
        self.play("kettle: look")
        self.play("clock_shop: talk oswin Mira says that the soup is on.")
        own = [m for m in self.memories("oswin") if m.kind == "act" and m.to == "Tom"]
        assert [m.text for m in own] == ["say I shall come when these two agree."]
        self.type("talk oswin What do you mean?")
        self.pass_time(30)
        prompt = self.prompts_of("Oswin")[-1]
        assert (
            "Tom: Mira says that the soup is on.\nOswin: I shall come when these two agree."
            in prompt
        )

    def test_what_it_says_to_a_whisper_it_remembers_as_whispered(self):
        self.play("ferry_stage: whisper joss = That is a cork vest, is it not?")
        own = [m for m in self.memories("joss") if m.kind == "act" and m.to == "Tom"]
        assert [m.text.split(",")[0] for m in own] == ["whisper Tom = Every crossing"]
        assert confidant(own[0]) == identity_of(self.char1)


class TestWhoIsMeant(DeedsVillage):
    """Words count for whom they are said to."""

    def test_a_talk_about_bees_tells_the_bees_nothing(self):
        self.play("orchard: talk bram Who taught you to keep bees?")
        assert "tell_the_bees" not in progress(self.char1)
        self.type("say Bees, it rains.")
        assert "tell_the_bees" in progress(self.char1)

    def test_a_deed_of_several_days_says_how_many_are_done(self):
        self.play("orchard: say Bees, it rains.")
        shown = " ".join(self.type("deeds").split())
        assert "(Done on 1 day of 3.)" in shown
        assert "The bees know your voice" not in shown

    def test_who_is_near_may_be_spoken_to(self):
        self.pass_to("low tide")
        self.put(self.ada, "ferry_stage")
        self.put(self.agent("joss"), "ferry_stage")
        self.play("ferry_stage: talk joss Shall we dig for the chain?")
        assert progress(self.char1)["the_chain"]["end"] == "dug_out"

    def test_nobody_speaks_of_nell_where_she_hears_it(self):
        self.play_all("paper_is_dear.to_bram")
        self.put(self.agent("nell"), "orchard")
        self.play("orchard: whisper bram = Nell would like to know you.")
        assert "verses" not in progress(self.char1)
        self.put(self.agent("nell"), "letter_office")
        self.type("whisper bram = Nell would like to know you.")
        assert "verses" in progress(self.char1)


class TestTogether(DeedsVillage):
    """Two players at once."""

    def test_both_have_done_it_whoever_spoke_and_only_once(self):
        self.play("square: get top")
        self.put(self.ada, "square")
        self.type("say Now!", self.ada)  # who has no top
        assert "spinning_top" not in progress(self.ada)
        shown = self.type("say Now!")
        assert shown.count("forty-one turns") == 1
        assert progress(self.ada)["spinning_top"]["end"] == "spun"
        self.type("say Now!")
        assert len(progress(self.char1)["spinning_top"]["steps"]["spun"]) == 1

    def test_the_second_who_comes_with_the_thing_finds_it_done(self):
        self.give_the_cup_back()
        cup = find("thing", "blue_cup")
        cup.move_to(self.ada, quiet=True)
        assert "Mira turns" not in self.play("Ada kettle: give cup to mira", self.ada)
        assert records()["twelfth_cup"]["who"] == ["Tom"]


class TestChanges(DeedsVillage):
    """Files that are edited, and rooms that are deleted, in the middle of a deed."""

    def test_a_step_that_is_gone_from_the_file_harms_nobody(self):
        self.play("boathouse: get cup")
        self.play("salt_pans: talk wren I know about the cup.")
        cup = DEEDS["twelfth_cup"]
        steps = {"given_back": replace(cup.steps["given_back"], after=())}
        install({"twelfth_cup": replace(cup, steps=steps)})
        assert "The Twelfth Cup" in self.type("deeds")
        assert "wren_asked" in self.type("@deed twelfth_cup")
        assert standing(self.char1, "mira") == 0
        assert "Mira turns" in self.play("kettle: give cup to mira")
        install({})
        assert "Nothing is talked of" in self.type("deeds")
        install(DEEDS)
        assert "for Tom" in self.type("@deed/reset twelfth_cup")
        assert find("thing", "blue_cup").location == find("room", "boathouse")

    def test_where_a_room_was_deleted_things_stay_where_they_are(self):
        self.play("chapel_garden: get rosemary")
        sprig = find("thing", "rosemary_sprig")
        find("room", "chapel_garden").delete()
        assert "Mira stops in the middle of a word" in self.play("kettle: give rosemary to mira")
        assert sprig.location is self.mira
        assert "Taken back" in self.type("@deed/reset rosemary")
        assert sprig.location is self.mira
        find("room", "lamp_room").delete()
        self.pass_to("night")
        self.play("ferry_stage: emote rings the bell, twice.")
        assert "lamp_and_bell" not in progress(self.char1)


class TestArea(DeedsVillage):
    """What clients that draw maps are told."""

    def test_the_rooms_are_those_of_the_village_unless_a_builder_has_put_them_elsewhere(self):
        loft = find("room", "loft")
        loft.tags.clear(category="area")
        loft.tags.add("upstairs", category="area")
        sent: list[dict[str, Any]] = []
        self.session.data_out = lambda **kwargs: sent.append(kwargs)
        self.session.protocol_flags["GMCP"] = ["room"]
        open_world()
        for room in ("kettle", "loft"):
            self.put(self.char1, room)
            self.type("look")
        areas = {each["room_info"][1]["area"] for each in sent if "room_info" in each}
        assert areas == {"Withy Hythe", "upstairs"}
