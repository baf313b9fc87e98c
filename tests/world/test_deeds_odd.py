"""Deeds where something is out of the way: words for somebody else, files and rooms that change."""

from __future__ import annotations

from evennia.utils.ansi import strip_ansi

from keepsake.agent.surroundings import identity_of
from keepsake.archive.privacy import confidant
from tests.world.test_deeds_of_the_village import DEEDS, DeedsVillage
from world.deed.progress import install, progress, standing
from world.source import find


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

    def test_what_it_says_to_a_whisper_it_remembers_as_whispered(self):
        self.play("ferry_stage: whisper joss = That is a cork vest, is it not?")
        own = [m for m in self.memories("joss") if m.kind == "act" and m.to == "Tom"]
        assert [m.text.split(",")[0] for m in own] == ["whisper Tom = Every crossing"]
        assert confidant(own[0]) == identity_of(self.char1)


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


class TestChanges(DeedsVillage):
    """Files that are edited, and rooms that are deleted, in the middle of a deed."""

    def test_a_step_that_is_gone_from_the_file_harms_nobody(self):
        self.play("boathouse: get cup")
        self.play("salt_pans: talk wren I know about the cup.")
        cup = DEEDS["twelfth_cup"]
        steps = {"given_back": cup.steps["given_back"].model_copy(update={"after": ()})}
        install({"twelfth_cup": cup.model_copy(update={"steps": steps})})
        assert "The Twelfth Cup" in self.type("deeds")
        assert "wren_asked" in self.type("@deed twelfth_cup")
        assert standing(self.char1, "mira") == 0
        assert "Mira turns" in self.play("kettle: give cup to mira")
        install({})
        assert "Nothing is talked of" in self.type("deeds")
        install(DEEDS)
        assert "for Tom" in self.type("@deed/reset twelfth_cup")
        assert find("thing", "blue_cup").location == find("room", "boathouse")

    def test_a_copy_of_somebody_stands_in_nobodys_way(self):
        assert "Wenna is a copy of Mira" in self.type("@copy Mira = Wenna")
        self.play("boathouse: get cup")
        assert "Mira turns" in self.play("kettle: give cup to mira")

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
