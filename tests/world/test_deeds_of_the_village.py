"""Deeds and what comes of them, by rule, as players type; the model only ever waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from evennia.utils.ansi import strip_ansi

from commands.things import find_detail
from keepsake.errors import ConfigError
from tests.world.built_world import forget, shipped_world
from tests.world.village_world import Village
from world.build import open_world
from world.deed.progress import progress, records, standing
from world.source import find

PLAYS: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "deeds.yaml").read_text(encoding="utf-8")
)
ATLAS, DEEDS = shipped_world()


class DeedsVillage(Village):
    """Tom may build, and Ada is there to help him."""

    def setUp(self) -> None:
        super().setUp()
        self.account.is_superuser = False
        self.char1.permissions.add("Builder")
        self.account.permissions.add("Builder")
        self.heard = self.reading[self.char1]
        self.ada = self.another_player("Ada")

    def play_all(self, name: str) -> str:
        return "".join(self.play(line, self.ada) for line in PLAYS[name])

    def give_the_cup_back(self) -> str:
        return self.play_all("twelfth_cup.given_back")


class TestEveryEnd(DeedsVillage):
    """Each end of each deed, as ``tests/data/deeds.yaml`` plays it, and taken back after it."""

    def check(self, deed_id: str) -> None:
        for name in [name for name in PLAYS if name.partition(".")[0] == deed_id]:
            read, deed, end = self.play_all(name), DEEDS[deed_id], name.partition(".")[2]
            then = deed.steps[end]
            assert then.you.split("{")[0][:60] in read
            assert progress(self.char1)[deed.id]["end"] == end
            self.check_what_came_of_it(then, name)
            shown = " ".join(self.type("deeds").split())
            assert f"{deed.name} {' '.join(deed.steps[end].hint.split())}" in shown
            for begun in progress(self.char1):
                assert "Taken back" in self.type(f"@deed/reset {begun}")
            assert (progress(self.char1), records()) == ({}, {})
            for target in then.change:
                assert told(thing_of(target)) == told_in_the_files(target)
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
        for person, weight in then.standing.items():
            assert weight * standing(self.char1, person) > 0
        for thing, where in then.move.items():
            there = find("thing", thing).location
            assert there is (None if where == "nowhere" else find("room", where))

    def test_every_end_is_played(self):
        ends = {f"{d.id}.{s.id}" for d in DEEDS.values() for s in d.steps.values() if s.end}
        assert set(PLAYS) == ends
        assert len(DEEDS) >= 12
        assert len([name for name in PLAYS if "Ada" in str(PLAYS[name])]) >= 3


def _test_of(name: str) -> Any:
    return lambda self: self.check(name)


for _name in DEEDS:
    setattr(TestEveryEnd, f"test_{_name}", _test_of(_name))


def thing_of(target: str) -> Any:
    return find("room", target) or find("thing", target) or find("agent", target)


def told(obj: Any) -> str:
    """All that is told of a room, a thing or a person."""
    texts = (obj.db.desc, *(obj.db.details or {}).values(), obj.db.profile)
    return " ".join(str(text) for text in (*texts, *(obj.db.examples or ())) if text)


def told_in_the_files(target: str) -> str:
    if place := ATLAS.places.get(target):
        return " ".join((place.desc, *place.details.values()))
    person = ATLAS.people[target]
    return " ".join((person.look, person.whole_profile, *person.examples))


class TestTheCup(DeedsVillage):
    """Its consequences, one by one."""

    FORM = "auto"

    def test_the_hook_is_bare_no_more_and_mira_knows_who_brought_it(self):
        shown = self.give_the_cup_back()
        assert shown.index("You give a blue cup to Mira") < shown.index("Mira turns the cup")
        room = self.type("look")
        assert "bare" not in room
        assert "twelve cups hang" in room
        assert "never lent" in find_detail(self.char1.location, "hooks")
        line = next(m for m in self.memories("mira") if m.importance == 9)
        assert (line.source, line.event) == ("Tom", "kindness")
        assert self.mind.diary.importance_of(line) == 9
        assert "hangs on its hook again, thanks to Tom" in self.mira.db.profile
        self.mind.acquaintances.settle()
        known = self.mind.acquaintances.book.loaded(line.source_id)
        assert any("blue cup" in each.text for each in known.lines)

    def test_others_see_it_and_cannot_do_it_again(self):
        self.put(self.ada, "kettle")
        self.put(self.agent("joss"), "kettle")
        self.reading[self.ada].clear()
        self.give_the_cup_back()
        assert "Tom brings back Mira's blue cup" in "\n".join(self.reading[self.ada])
        (kept,) = [m for m in self.memories("joss") if m.event == "deed" and "cup" in m.text]
        assert kept.text.startswith("Tom brings back Mira's blue cup")
        assert (kept.source, kept.importance) == ("Tom", 7)
        shown = self.type("deeds", self.ada)
        assert "The Twelfth Cup, by Tom" in shown
        assert "Eleven cups" not in shown
        find("thing", "blue_cup").move_to(self.ada, quiet=True)
        self.type("give cup to mira", self.ada)
        assert "twelfth_cup" not in progress(self.ada)

    def test_after_a_restart_all_of_it_is_as_it_was(self):
        self.give_the_cup_back()
        number = self.char1.id
        self.stop_services()
        forget()
        self.services = self.start_services()
        open_world()
        player = type(self.char1).objects.get(id=number)
        assert progress(player)["twelfth_cup"]["end"] == "given_back"
        assert records()["twelfth_cup"]["who"] == ["Tom"]
        assert "twelve cups" in find("room", "kettle").db.desc
        assert any("brought back" in m.text for m in self.memories("mira"))

    def test_forget_me_takes_the_deed_and_the_name_and_leaves_the_cup(self):
        self.give_the_cup_back()
        self.type("forget me")
        self.type("forget me Tom")
        self.settle(lambda: any("You are forgotten" in text for text in self.heard))
        assert progress(self.char1) == {}
        assert (records()["twelfth_cup"]["who"], records()["twelfth_cup"]["keys"]) == (
            ["somebody"],
            [],
        )
        assert "twelve cups" in find("room", "kettle").db.desc
        assert "thanks to somebody" in self.mira.db.profile
        for person in ATLAS.people:
            assert not any("Tom" in memory.text for memory in self.memories(person))
            assert "Tom" not in told(find("agent", person))
        assert "by somebody" in self.type("deeds", self.ada)


class TestNewcomers(DeedsVillage):
    """The first ten minutes."""

    def test_mira_asks_once_and_keeps_what_she_asked_as_her_own_words(self):
        heard = "\n".join(self.heard)
        assert 0 < heard.index("Come in, Tom,") < heard.index("Oswin's shop is")
        assert "ask Bram, up in the orchard" in heard
        own = [m for m in self.memories("mira") if m.kind == "act" and m.to == "Tom"]
        assert [m.text.startswith("say Come in, Tom,") for m in own] == [True]
        assert "Mira asks two things" in self.type("deeds")
        self.put(self.char1, "quay")
        assert "Come in" not in self.play("kettle: look")


class TestBuilders(DeedsVillage):
    """What builders see and do; the files are those of the world."""

    def test_they_see_who_did_what_and_take_back_one_players_part_alone(self):
        self.play_all("rosemary.to_mira")
        self.give_the_cup_back()
        shown = self.type("@deed")
        assert f"{len(DEEDS)} deeds" in shown
        assert "given_back" in shown
        one = self.type("@deed twelfth_cup")
        assert "owned_up: give, after wren_asked (an end)" in one
        assert "Tom: found and given_back; ended in given_back" in one
        assert 'There is no deed "cup"' in self.type("@deed cup")
        assert 'There is no player "Hodge"' in self.type("@deed/reset twelfth_cup = Hodge")
        assert "can be done again." in self.type("@deed/reset rosemary = ada")
        assert progress(self.char1)["rosemary"]["end"]
        assert "for Tom" in self.type("@deed/reset rosemary = tom")
        assert "rosemary" not in progress(self.char1)
        assert "FROM Tom" in told(find("room", "kitchen"))
        self.type("@deed/reset twelfth_cup = tom")
        assert "bare" in find("room", "kettle").db.desc
        assert find("thing", "blue_cup").location == find("room", "boathouse")

    def test_the_files_are_read_again_and_a_mistake_changes_nothing(self):
        quay, honey = find("room", "quay"), find("thing", "honey_jar")
        quay.db.desc = "Changed by a builder."
        honey.delete()
        loft = find("room", "loft")
        loft.db.desc, loft.db.built = "Of before.", {"desc": "Of before."}
        wrong = ConfigError(Path("deeds/apples.yaml"), 7, "steps: Field required")
        with mock.patch("commands.builders.read_deeds", side_effect=wrong):
            assert "apples.yaml, line 7: steps" in self.asked("@world/reload", "did not work")
        assert find("thing", "honey_jar") is None
        told = self.asked("@world/reload", "Read again")
        assert "made: thing:honey_jar" in told
        assert "changed: room:loft desc" in told
        assert "room:quay desc" in told.partition("kept as it is")[2]
        assert loft.db.desc == ATLAS.places["loft"].desc
        assert quay.db.desc == "Changed by a builder."

    def asked(self, line: str, wanted: str) -> str:
        self.heard.clear()
        self.char1.execute_cmd(line)
        self.settle(lambda: any(wanted in text for text in self.heard))
        return strip_ansi("\n".join(self.heard))
