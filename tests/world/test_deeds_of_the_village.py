"""Deeds and their effects, which rules decide from what players type; the model only waits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest import mock

from commands.things import find_detail
from keepsake.contrib.evennia.creation import WRITTEN
from keepsake.errors import ConfigError
from tests.world.built_world import empty_caches
from tests.world.deeds_world import ATLAS, DEEDS, PLAYS, DeedsVillage
from world.build import open_world
from world.deed.progress import progress, records, standing
from world.source import find


class TestEveryEnd(DeedsVillage):
    """Each end of each deed is played by ``tests/data/deeds.yaml``, and then reset."""

    def check(self, deed_id: str) -> None:
        for name in [name for name in PLAYS if name.partition(".")[0] == deed_id]:
            deed = DEEDS[deed_id]
            end = name.partition(".")[2]
            then = deed.steps[end]
            before = {target: told(thing_of(target)) for target in then.change}
            read = self.play_all(name)
            shown = [read.count(each.you.split("{")[0][:60]) for each in deed.steps.values()]
            assert max(shown) == read.count(then.you.split("{")[0][:60]) == 1, name
            assert progress(self.char1)[deed.id]["end"] == end
            self.check_what_came_of_it(then, name)
            shown = " ".join(self.type("deeds").split())
            assert f"{deed.name} {' '.join(deed.steps[end].hint.split())}" in shown
            for begun in progress(self.char1):
                assert "Reset" in self.type(f"@deed/reset {begun}")
            assert (progress(self.char1), records()) == ({}, {})
            assert before == {target: told(thing_of(target)) for target in then.change}
            for thing, home in deed.homes.items():
                assert find("thing", thing).location == find(*home.split(":"))

    def check_what_came_of_it(self, then: Any, name: str) -> None:
        with_ada = any(line.startswith("Ada") for line in PLAYS[name])
        assert bool(progress(self.ada).get(name.partition(".")[0])) is with_ada
        names = "Tom and Ada" if with_ada else "Tom"
        for target, words in then.change.items():
            for old, new in words.items():
                assert new.replace("{who}", names) in told(thing_of(target))
                assert old in new or old not in told(thing_of(target))
        for person, line in then.memory.items():
            who = "Tom, together with Ada," if with_ada else "Tom"
            kept = [m for m in self.memories(person) if m.text == line.replace("{who}", who)]
            assert [(m.source, m.importance) for m in kept] == [("Tom", then.importance)]
            own = [m.text for m in self.memories(person) if (m.kind, m.event) == ("act", "deed")]
            assert not [text for text in own if text.endswith(",")]
        for person, weight in then.standing.items():
            assert weight * standing(self.char1, person) > 0
        for thing, where in then.move.items():
            there = find("thing", thing).location
            assert there is (None if where == "nowhere" else find("room", where))

    def test_every_end_is_played(self):
        ends = {f"{d.id}.{s.id}" for d in DEEDS.values() for s in d.steps.values() if s.end}
        assert set(PLAYS) == ends
        assert len(DEEDS) >= 12


def _test_of(name: str) -> Any:
    return lambda self: self.check(name)


for _name in DEEDS:
    setattr(TestEveryEnd, f"test_{_name}", _test_of(_name))


def thing_of(target: str) -> Any:
    return find("room", target) or find("thing", target) or find("agent", target)


def told(obj: Any) -> str:
    """Return all texts of a room, a thing or a person."""
    texts = (obj.db.desc, *(obj.db.details or {}).values(), obj.db.profile)
    return " ".join(str(text) for text in (*texts, *(obj.db.examples or ())) if text)


class TestTheCup(DeedsVillage):
    """The effects of the deed "The Twelfth Cup"."""

    FORM = "auto"

    def setUp(self):
        super().setUp()
        self.put(self.ada, "kettle")
        self.reading[self.ada].clear()
        self.shown = self.play_all("twelfth_cup.given_back")

    def test_a_greeting_is_remembered_as_said_by_a_rule(self):
        own = [m for m in self.memories("mira") if m.kind == "act" and m.to == "Tom"]
        assert own[0].text.startswith("say Come in, Tom,")
        assert own[0].event == "deed"

    def test_it_is_seen_by_all(self):
        given = self.shown.index("You give a blue cup to Mira")
        assert given < self.shown.index("Mira turns the cup")
        assert "Tom brings back Mira's blue cup" in "\n".join(self.reading[self.ada])
        assert "The Twelfth Cup, by Tom" in self.type("deeds", self.ada)

    def test_the_room_shows_it(self):
        assert "twelve cups hang" in self.type("look")
        assert "never lent" in find_detail(self.char1.location, "hooks")

    def test_she_remembers_it_and_her_profile_tells_it(self):
        line = next(m for m in self.memories("mira") if m.importance == 9)
        assert (line.source, line.event) == ("Tom", "kindness")
        assert "hangs on its hook again, thanks to Tom" in self.mira.db.profile
        self.mind.read_edits()
        known = self.mind.books.people.known.get(line.source_id)
        assert any("blue cup" in each.text for each in known.lines)

    def test_it_can_be_done_once(self):
        find("thing", "blue_cup").move_to(self.ada, quiet=True)
        self.type("give cup to mira", self.ada)
        assert "twelfth_cup" not in progress(self.ada)

    def test_it_outlives_a_restart(self):
        number = self.char1.id
        self.stop_services()
        empty_caches()
        self.services = self.start_services()
        open_world()
        player = type(self.char1).objects.get(id=number)
        assert progress(player)["twelfth_cup"]["end"] == "given_back"
        assert records()["twelfth_cup"]["who"] == ["Tom"]
        assert "twelve cups" in find("room", "kettle").db.desc
        assert any("brought back" in m.text for m in self.memories("mira"))

    def test_forget_me_takes_the_deed_and_the_name_and_leaves_the_cup(self):
        self.type("forget me")
        self.type("forget me Tom")
        self.settle(lambda: any("have been deleted" in text for text in self.heard))
        assert progress(self.char1) == {}
        cup = records()["twelfth_cup"]
        assert (cup["who"], cup["keys"]) == (["somebody"], [])
        assert "twelve cups" in find("room", "kettle").db.desc
        assert "thanks to somebody" in self.mira.db.profile
        for person in ATLAS.people:
            assert not any("Tom" in memory.text for memory in self.memories(person))
            assert "Tom" not in told(find("agent", person))
        assert "by somebody" in self.type("deeds", self.ada)


class TestPersonas(DeedsVillage):
    """What deeds change of a villager's profile is told as a fact, once."""

    OLD = "Your mother's blue cup is gone from its hook and you want it back."
    NEW = "Your mother's blue cup, gone since spring, hangs on its hook again, thanks to Tom."

    def messages(self, line: str = "Good day!") -> list[str]:
        """Let Tom talk to Mira; return the messages of the prompt of her answer."""
        self.put(self.char1, "kettle")
        self.pass_time(30)
        before = len(self.fake.calls("/api/chat"))
        self.replies = [f"Yes, {line}", "> wait"]
        self.type(f"talk mira {line}")
        self.pass_time(30)
        asked = self.fake.calls("/api/chat")[before:]
        prompts = [[str(each["content"]) for each in call.body["messages"]] for call in asked]
        return next(each for each in prompts if each[0].startswith("You are Mira"))

    def test_the_first_message_stays_the_same_and_the_change_is_told_once(self):
        before = self.messages()
        self.play_all("twelfth_cup.given_back")
        after = self.messages("A cup!")
        later = self.messages("Farewell!")
        assert before[0] == after[0] == later[0]
        assert self.OLD in before[0]
        told = f"[No longer so: {self.OLD} Instead: {self.NEW}]"
        assert told in after[-1]
        assert "\n".join(later).count(self.NEW) == 1
        assert os.path.commonprefix((after[:-1], later)) == after[:-1]  # noqa: RUF071 - of lists

    def test_a_change_that_is_undone_is_not_told_any_more(self):
        self.play_all("twelfth_cup.given_back")
        self.messages()
        self.type("@deed/reset twelfth_cup")
        assert not self.mira.attributes.has(WRITTEN)
        assert "No longer so" not in "\n".join(self.messages("Farewell!"))

    def test_a_builders_edit_makes_the_whole_profile_the_written_one(self):
        self.play_all("twelfth_cup.given_back")
        self.messages()
        self.type(f"@agent Mira = {self.mira.db.profile} You like rain.")
        prompt = self.messages("Farewell!")
        assert self.NEW in prompt[0]
        assert "You like rain." in prompt[0]
        assert "No longer so" not in "\n".join(prompt)

    def test_a_name_that_is_forgotten_is_in_no_version_of_the_profile(self):
        self.play_all("twelfth_cup.given_back")
        self.type(f"@agent Mira = {self.mira.db.profile} You like rain.")
        self.mira.update_profile(f"{self.mira.db.profile} It rains.")
        self.type("forget me")
        self.type("forget me Tom")
        self.settle(lambda: any("have been deleted" in text for text in self.heard))
        assert "thanks to somebody" in self.mira.attributes.get(WRITTEN)
        assert "Tom" not in self.mira.attributes.get(WRITTEN)


class TestThingsThatAreGone(DeedsVillage):
    """A villager from whom a thing is taken knows that it is gone."""

    GONE = "You no longer carry a log page."

    def told(self, person: str) -> list[str]:
        """Return the lines of an agent that tell that a thing is gone."""
        lines = [memory.line for memory in self.memories(person)]
        return [line for line in lines if line.startswith("You no longer carry")]

    def test_a_thing_that_a_deed_takes_from_a_villager_is_known_to_be_gone(self):
        self.play("chapel_garden: get page")
        self.play("light_tower: give page to ruan")
        assert find("thing", "log_page").location is None
        assert self.told("ruan") == [self.GONE]
        self.replies = ["I have nothing in my hands.", "> wait"]
        before = len(self.prompts())
        self.type("talk ruan Give it to me.")
        self.pass_time(30)
        assert self.GONE in self.prompts()[before]

    def test_a_thing_that_is_moved_out_of_their_hands_is_known_to_be_gone(self):
        page = find("thing", "log_page")
        page.location = self.mira
        page.move_to(self.char1, quiet=True)
        assert self.told("mira") == [self.GONE]

    def test_what_a_villager_gives_away_is_not_told_to_it_again(self):
        find("thing", "log_page").location = self.mira
        self.replies = ["> give log page to Tom", "> wait"]
        self.type("talk mira Give me the page, please.")
        self.pass_time(30)
        assert find("thing", "log_page").location is self.char1
        assert not self.told("mira")


class TestBuilders(DeedsVillage):
    """How builders look at deeds, reset them and read the world's files again."""

    def test_they_see_who_did_what_and_reset_one_players_part(self):
        self.play_all("rosemary.to_mira")
        self.play_all("twelfth_cup.given_back")
        assert "given_back" in self.type("@deed")
        self.type("@deed/reset rosemary = ada")
        assert progress(self.char1)["rosemary"]["end"]
        assert "for Tom" in self.type("@deed/reset rosemary = tom")
        assert "rosemary" not in progress(self.char1)
        assert "from Tom" in told(find("room", "kitchen"))
        self.type("@deed/reset twelfth_cup = tom")
        assert "bare" in find("room", "kettle").db.desc
        assert find("thing", "blue_cup").location == find("room", "boathouse")

    def test_the_files_are_read_again_and_a_mistake_changes_nothing(self):
        quay = find("room", "quay")
        loft = find("room", "loft")
        quay.db.desc = "Changed by a builder."
        loft.db.desc = "Of before."
        loft.db.built = {"desc": "Of before."}
        find("thing", "honey_jar").delete()
        find("exit", "quay:east").delete()
        find("thing", "blue_cup").move_to(quay, quiet=True)
        wrong = ConfigError(Path("deeds/apples.yaml"), 7, "steps: Field required")
        with mock.patch("world.build.read_deeds", side_effect=wrong):
            self.type("@world/reload")
            self.settle(lambda: any("apples.yaml, line 7: steps" in each for each in self.heard))
        assert find("thing", "honey_jar") is None
        self.type("@world/reload")
        self.settle(lambda: any("Reloaded" in each for each in self.heard))
        assert find("thing", "honey_jar").location == find("agent", "bram")
        assert find("exit", "quay:east")
        assert find("thing", "blue_cup").location == quay
        assert loft.db.desc == ATLAS.places["loft"].desc
        assert quay.db.desc == "Changed by a builder."


class TestApples(DeedsVillage):
    """The first deed, in another order."""

    def test_who_only_speaks_of_apples_gets_none(self):
        self.put(self.ada, "orchard")
        self.type("talk bram Truus is a cheese that goes with apples!", self.ada)
        assert not progress(self.ada)
        assert "comes back with a basket" in self.type("talk bram May I have apples?", self.ada)

    def test_two_who_come_to_the_inn_are_welcomed_in_other_words(self):
        welcomes = []
        for each in (self.add_player(7, "Bob"), self.ada):
            heard = self.capture(each)
            self.put(each, "kettle")
            welcomes += [line for line in heard if "Mira says" in line]
        assert len(welcomes) == 2
        first, second = (
            line.replace(who, "") for line, who in zip(welcomes, ("Bob", "Ada"), strict=True)
        )
        assert "Bram" in first
        assert "Bram" in second
        assert first.partition("says")[2][:40] != second.partition("says")[2][:40]

    def test_apples_that_were_given_before_mira_asked_for_them_count(self):
        self.put(self.ada, "orchard")
        assert "comes back with a basket" in self.type("talk bram Are there apples?", self.ada)
        self.put(self.mira, "quay")
        self.put(self.ada, "quay")
        self.type("give basket to mira", self.ada)
        self.put(self.mira, "kettle")
        self.put(self.ada, "kettle")
        assert "asked" in progress(self.ada)["apples"]["steps"]
        self.put(self.ada, "clock_shop")
        self.type("talk oswin Mira says that the soup is on.", self.ada)
        self.put(self.ada, "kettle")
        assert progress(self.ada)["apples"]["end"] == "carried"
