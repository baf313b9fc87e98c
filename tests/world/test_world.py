"""The world's data holds together, refuses what does not, and is built only once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from evennia.objects.models import ObjectDB
from evennia.utils.test_resources import EvenniaTestCase

from keepsake.errors import ConfigError
from keepsake.names import check_agent_name
from tests.world.built_world import BuiltWorld, forget, shipped_world
from typeclasses.agents import Agent
from world import connection_screens, help_entries
from world.atlas import FOLDER, OPPOSITE, read_atlas
from world.build import build_world, find
from world.deed_files import check_deeds, read_deeds
from world.initial_setup import at_initial_setup

ATLAS, _ = shipped_world()


def test_every_way_has_its_way_back_and_every_place_details_that_it_mentions():
    ways = {(way.source, way.direction, way.target) for way in ATLAS.ways}
    assert all((target, OPPOSITE[way], source) in ways for source, way, target in ways)

    for place in ATLAS.places.values():
        mentioned = [word for word in place.details if word in place.desc.lower()]
        assert mentioned, place.id


def test_no_two_people_can_be_mistaken():
    names = [person.name for person in ATLAS.people.values()]
    for name in names:
        check_agent_name(name, taken=[other for other in names if other != name])
    assert len({name[0] for name in names}) == len(names), "one letter is enough to name them"


@pytest.fixture
def world(tmp_path):
    """A copy of the data files to break."""
    folder = tmp_path / "world"
    shutil.copytree(FOLDER / "agents", folder / "agents")
    for name in ("map.yaml", "things.yaml"):
        shutil.copy(FOLDER / name, folder / name)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("map.yaml", "start: kettle", "start: nowhere", "names the room 'nowhere'"),
        ("map.yaml", "[kettle, up, loft]", "[kettle, north, loft]", "has two ways north"),
        ("map.yaml", "  - [kettle, up, loft]\n", "", "no way leads to 'loft'"),
        ("map.yaml", "  - [kettle, up, loft]", "  - [kettle, up]", "is not [room, direction"),
        (
            "map.yaml",
            "[gorse_path, west, orchard]",
            "[clock_shop, north, orchard]\n  - [orchard, east, lamp_room]",
            "is not 'lamp_room'",
        ),
        (
            "map.yaml",
            "[quay, east, boathouse]",
            "[kitchen, south, boathouse]",
            "stands on the spot",
        ),
        ("map.yaml", "    name: The Guest Loft\n", "", "in 'loft': it has no 'name'"),
        ("things.yaml", "at: boathouse", "at: moon", "names the room or person 'moon'"),
        ("agents/mira.md", "name: Mira\n", "", "has no 'name'"),
        ("agents/mira.md", "~Mira> say Come", "Mira says Come", "does not end in the line"),
        ("agents/mira.md", "name: Mira", "name: joss", "a second agent is called"),
        ("agents/bram.md", "day:", "day: often\nnight:", "'night' is not a field of an agent"),
    ],
)
def test_wrong_data_is_refused_with_file_line_and_reason(world, file, old, new, reason):
    edit(world / file, old, new)
    if file == "agents/mira.md" and "joss" in new:
        for example in ("~Mira>",) * 5:
            edit(world / file, example, "~joss>")
    with pytest.raises(ConfigError, match=re.escape(reason)) as refusal:
        read_atlas(world)
    assert refusal.value.path.parent in (world, world / "agents")
    line = refusal.value.path.read_text(encoding="utf-8").splitlines()[refusal.value.line - 1]
    if new == "at: moon":
        assert line.strip() == new


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("carry: blue_cup", "carry: teacup", "carry: teacup", "names the thing 'teacup'"),
        ("tell: wren", "teil: wren", "teil: wren", "in 'wren_asked': 'teil' is not a condition"),
        (", words: [cup|own up]", "", "tell: wren", "does not say what is told"),
        ("after: [found, told]", "after: [told_on]", "after: [told_on]", "earlier step 'told_on'"),
        ('"{who} knows that', '"Wren knows that', "Wren knows that", "tells of nobody"),
        ("move: {blue_cup: nowhere}", "open: kettle:up", "open: kettle:up", "way that is closed"),
        ("carry: blue_cup", "done: apples.eaten", "apples.eaten", "Use one of: apples.carried"),
        ("name: The Twelfth Cup", "", "", "has no 'name'"),
        ("steps:", "steps: [", "", "is not valid YAML"),
    ],
)
def test_a_wrong_deed_is_refused_by_its_line_and_the_others_are_read(world, old, new, line, reason):
    path = some_deeds(world) / "twelfth_cup.yaml"
    edit(path, old, new)
    deeds, problems = check_deeds(ATLAS, path.parent)
    assert [problem.path for problem in problems] == [path]
    assert reason in str(problems[0])
    if line:
        assert line in path.read_text(encoding="utf-8").splitlines()[problems[0].line - 1]
    assert {*deeds} >= {other.stem for other in path.parent.glob("*.yaml")} - {path.stem}


def some_deeds(world: Path) -> Path:
    """A folder with three deeds."""
    (world / "deeds").mkdir()
    for name in ("apples", "button", "twelfth_cup"):
        shutil.copy(FOLDER / "deeds" / f"{name}.yaml", world / "deeds")
    return world / "deeds"


def test_a_deed_without_an_end_and_one_that_makes_what_there_is_are_refused(world):
    deeds = some_deeds(world)
    edit(deeds / "button.yaml", "    end: true\n", "")
    edit(deeds / "apples.yaml", "  apple_basket:\n", "  blue_cup:\n")
    _, problems = check_deeds(ATLAS, deeds)
    assert "things.yaml has a 'blue_cup' already" in str(problems[0])
    assert "'button' has no end" in str(problems[1])
    with pytest.raises(ConfigError, match="blue_cup"):
        read_deeds(ATLAS, deeds)


def test_a_file_that_is_missing_or_no_text_and_an_agent_without_a_profile_are_refused(world):
    text = (world / "agents/mira.md").read_text(encoding="utf-8")
    head = text[: text.index("You are Mira Fenn")]
    for file, content, reason in (
        ("agents/mira.md", head.encode(), "no profile"),
        ("things.yaml", b"\xff\xfe\x00", "cannot be read"),
        ("things.yaml", None, "things.yaml"),
        ("map.yaml", None, "map.yaml"),
    ):
        if content is None:
            (world / file).unlink()
        else:
            (world / file).write_bytes(content)
        with pytest.raises(ConfigError, match=reason):
            read_atlas(world)
        shutil.copy(FOLDER / file, world / file)


class TestBuilding(EvenniaTestCase):
    def setUp(self) -> None:
        super().setUp()
        forget()

    def test_everything_is_made_once(self):
        first = build_world()
        count = ObjectDB.objects.count()
        expected = len(ATLAS.places) + len(ATLAS.ways) + len(ATLAS.people) + len(ATLAS.things)
        assert len(first.made) == expected
        assert build_world().made == []
        assert ObjectDB.objects.count() == count

    def test_evennias_first_room_becomes_the_start(self):
        ObjectDB.objects.filter(id__in=(1, 2)).delete()
        from evennia.utils.create import create_object  # noqa: PLC0415

        limbo = create_object("typeclasses.rooms.Room", key="Limbo")
        create_object("typeclasses.rooms.Room", key="Another").delete()  # 3 is the next number
        ObjectDB.objects.filter(id=limbo.id).update(id=2)
        at_initial_setup()
        assert find("room", ATLAS.start).id == 2
        assert ObjectDB.objects.get(id=2).key == ATLAS.places[ATLAS.start].name


class TestBuilt(BuiltWorld, EvenniaTestCase):
    def test_what_is_missing_is_made_again_and_the_rest_left_alone(self):
        cup, quay = find("thing", "blue_cup"), find("room", "quay")
        cup.move_to(quay, quiet=True)
        quay.db.desc = "Changed by a builder."
        find("thing", "honey_jar").delete()
        find("exit", "quay:east").delete()
        assert sorted(build_world().made) == ["exit:quay:east", "thing:honey_jar"]
        assert find("thing", "blue_cup").location == quay
        assert quay.db.desc == "Changed by a builder."
        assert find("thing", "honey_jar").location == find("agent", "bram")

    def test_agents_stand_at_home_with_profile_and_voice(self):
        for person in ATLAS.people.values():
            agent = find("agent", person.id)
            assert isinstance(agent, Agent)
            assert agent.key == person.name
            assert agent.location == agent.home == find("room", person.home)
        assert find("thing", "red_glass").db.loved_by == ["Joss", "Wren"]
        assert not find("thing", "candle_end").db.loved_by


def width(line: str) -> int:
    return len(re.sub(r"\|(\|)|\|[a-zA-Z]", r"\1", line))


def test_the_welcome_screen_fits_a_phone():
    screen = connection_screens.connection_screen()
    assert screen.isascii()
    assert max(width(line) for line in screen.splitlines()) <= 40
    assert len(screen.splitlines()) <= 26
    for command in ("create <name> <password>", "connect <name> <password>", "help", "quit"):
        assert command in screen


def test_the_builders_page_is_not_for_players():
    page = next(e for e in help_entries.HELP_ENTRY_DICTS if "builders" in e["aliases"])
    assert "perm(Builder)" in page["locks"]
