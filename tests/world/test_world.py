"""The world's data is consistent, is refused if it is wrong, and is built only once."""

from __future__ import annotations

import re
import shutil

import pytest
from evennia.objects.models import ObjectDB
from evennia.utils.ansi import strip_ansi
from evennia.utils.create import create_object
from evennia.utils.test_resources import EvenniaTest, EvenniaTestCase

from commands.base import not_here_message
from commands.things import find_detail
from game.simulation.run import with_people
from keepsake.errors import ConfigError
from keepsake.names import check_agent_name
from keepsake.paths import REPOSITORY
from tests.sentences import table
from tests.world.built_world import BuiltWorld, empty_caches, shipped_world
from typeclasses.characters import Character
from typeclasses.clients import map_of
from world.atlas import OPPOSITE, read_atlas
from world.build import at_initial_setup, build_world, find
from world.deed.effects import EFFECTS
from world.deed.files import read_deeds
from world.layers import SHIPPED

ATLAS, _ = shipped_world()


def test_the_shipped_world_is_consistent():
    ways = {(way.source, way.direction, way.target) for way in ATLAS.ways}
    assert all((target, OPPOSITE[way], source) in ways for source, way, target in ways)
    assert all(place.where for place in ATLAS.places.values())
    for place in ATLAS.places.values():
        assert [word for word in place.details if word in place.desc.lower()], place.id
    names = [person.name for person in ATLAS.people.values()]
    for name in names:
        check_agent_name(name, taken=[other for other in names if other != name])
    assert len({name[0] for name in names}) == len(names) == 7, "one letter is enough"
    small = with_people(ATLAS, dict(list(ATLAS.people.items())[:1]))
    assert all(each.at in {*small.people, *small.places} for each in small.things.values())


@pytest.fixture
def world(tmp_path):
    """A copy of the data files, to be broken by tests."""
    for folder in ("agents", "deeds"):
        shutil.copytree(SHIPPED / folder, tmp_path / folder)
    for name in ("map.yaml", "things.yaml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("wrong", table("wrong world files"))  # file, old, new, line, reason
def test_wrong_data_is_refused_with_file_line_and_reason(world, wrong):
    file, old, new, line, reason = wrong
    path = world / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(reason)) as refusal:
        read_deeds(read_atlas((world,)), (world,))
    assert refusal.value.path.parent in (world, world / "agents", world / "deeds")
    wrong = refusal.value.path.read_text(encoding="utf-8").splitlines()[refusal.value.line - 1]
    assert line in wrong


def test_the_deeds_in_the_documentation_can_be_read(world):
    page = (REPOSITORY / "docs" / "build.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(name: .*?)```", page, re.S)
    assert len(examples) >= 2
    for number, example in enumerate(examples):
        (world / "deeds" / f"example_{number}.yaml").write_text(example, encoding="utf-8")
    deeds = read_deeds(read_atlas((world,)), (world,))
    assert all(f"example_{number}" in deeds for number in range(len(examples)))


def test_people_see_a_step_before_an_agent_speaks_about_it():
    """An agent's words may answer what `you` tells; they would make no sense before it."""
    assert [name for name in EFFECTS if name in ("you", "others", "says")] == [
        "you",
        "others",
        "says",
    ]


class TestBuilding(EvenniaTestCase):
    def test_everything_is_made_once_and_evennias_first_room_becomes_the_start(self):
        empty_caches()
        ObjectDB.objects.filter(id__in=(1, 2)).delete()
        limbo = create_object("typeclasses.rooms.Room", key="Limbo")
        create_object("typeclasses.rooms.Room", key="Another").delete()  # 3 is the next number
        ObjectDB.objects.filter(id=limbo.id).update(id=2)
        at_initial_setup()
        assert find("room", ATLAS.start).id == 2
        assert ObjectDB.objects.get(id=2).key == ATLAS.places[ATLAS.start].name
        count = ObjectDB.objects.count()
        assert count == sum(map(len, (ATLAS.places, ATLAS.ways, ATLAS.people, ATLAS.things)))
        assert build_world()["made"] == []
        assert ObjectDB.objects.count() == count


class TestBuilt(BuiltWorld, EvenniaTest):
    def test_what_a_room_mentions_can_be_looked_at(self):
        told = dict(table("what rooms tell of"))
        for room, place in ATLAS.places.items():
            for word in (*place.details, *told[room].split()):
                assert find_detail(find("room", room), word), (room, word)

    def setUp(self):
        super().setUp()
        self.kettle = find("room", "kettle")
        self.tom = create_object(Character, key="Tom", location=self.kettle)

    def test_a_rooms_text_has_its_order(self):
        lines = strip_ansi(self.kettle.return_appearance(self.tom)).splitlines()
        assert lines[0] == "The Kettle"
        assert lines[1].startswith("The only inn in Withy Hythe")
        assert lines[3].startswith("Exits: north to Pump Square, south to The Quay, west to")
        assert lines[4] == "Here: Mira."

    def test_the_map_names_the_way_to_each_place_the_nearest_first(self):
        told = map_of(self.tom, steps=9).splitlines()
        assert "The Guest Loft: up." in told
        assert told.index("Pump Square: north.") < told.index("The Salt Pans: south, then west.")
        assert len(told) == len(ATLAS.places) - 2, "all but the cellar and where they are"

    def test_who_looks_for_an_absent_villager_reads_where_they_are(self):
        assert not_here_message("wren", self.tom).endswith("Wren is at the salt pans.")

    def test_a_name_stored_with_a_separate_accent_is_found(self):
        create_object(Character, key="Zoe\u0308", location=self.kettle)
        heard: list[str] = []
        self.tom.msg = lambda text=None, **_: heard.append(str(text))
        self.tom.execute_cmd("talk Zo\u00eb = Good day.")
        assert not [line for line in heard if "Nobody called" in line]
        assert [line for line in heard if "Good day." in line]

    def test_agents_see_arrivals_and_departures(self):
        heard: list[str] = []
        mira = find("agent", "mira")
        nell = find("agent", "nell")
        nell.move_to(find("room", "square"), quiet=True)
        for agent in (mira, nell):
            agent.msg = lambda text=None, **kwargs: heard.append(strip_ansi(text[0]))
        self.tom.execute_cmd("north")
        self.tom.move_to(find("room", "quay"))
        assert heard == [
            "Tom goes north to Pump Square.",
            "Tom arrives from The Kettle.",
            "Tom is gone.",
        ]
