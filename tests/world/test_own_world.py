"""An own world lies over the shipped one: it adds and replaces, and its mistakes are named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from evennia.utils.test_resources import EvenniaTest

from keepsake.errors import ConfigError
from keepsake.paths import places
from tests.world.built_world import BuiltWorld
from world.atlas import read_atlas
from world.build import build_world, find, read_world
from world.deed.files import read_deeds
from world.help_entries import connection_screen, read_help
from world.layers import SHIPPED, checked_layers
from world.scenes import read_scenes
from world.socials import read_socials, socials
from world.vocabulary import world_words

MILL = """\
rooms:
  mill:
    name: The Mill
    alias: mill
    where: at the mill
    desc: Flour hangs in the light.
links:
  - [quay, northwest, mill]
"""
PIET = """\
---
name: Piet
home: mill
look: A man white with flour.
---
You are Piet, who grinds the island's corn.
"""
SIEVE = """\
sieve:
  name: horsehair sieve
  desc: It has a hole.
  at: piet
"""
SACKS = """\
name: Two Sacks
steps:
  carried:
    if: {give: {sieve: piet}}
    end: true
    you: Piet looks at you through the hole.
"""
GESTURE = 'sift: ["$conj(sift) flour.", ""]\n'
HELP = "---\nkey: milling\ncategory: The world\n---\nAsk Piet.\n"


def write(own: Path, **files: str) -> None:
    """Write files of an own world; ``__`` in a name is a slash, the last ``_`` a dot."""
    for name, text in files.items():
        stem, _, ending = name.rpartition("_")
        path = own / f"{stem.replace('__', '/')}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def own():
    """The folder of the own world, beside the vault of the tests."""
    folder = places().own_world
    folder.mkdir(parents=True)
    world_words.cache_clear()
    yield folder
    shutil.rmtree(folder)
    world_words.cache_clear()


def whole(own: Path) -> None:
    write(
        own,
        map_yaml=MILL,
        agents__piet_md=PIET,
        things_yaml=SIEVE,
        deeds__two_sacks_yaml=SACKS,
        socials_yaml=GESTURE,
        help__milling_md=HELP,
    )


def test_an_own_world_adds_to_the_shipped_one(own):
    shipped = read_atlas((SHIPPED,))
    whole(own)
    atlas, deeds = read_world()
    assert {*atlas.places} - {*shipped.places} == {"mill"}
    assert {each.id for each in atlas.ways} - {each.id for each in shipped.ways} == {
        "quay:northwest",
        "mill:southeast",
    }
    assert {*atlas.people} == {*shipped.people, "piet"}
    assert atlas.things["sieve"].at == "piet"
    assert {*deeds} == {*read_deeds(shipped, (SHIPPED,)), "two_sacks"}
    assert [each.name for each in read_socials()][-1] == "sift"
    assert "milling" in [each["key"] for each in read_help()]
    assert len(read_socials()) == len(read_socials((SHIPPED,))) + 1


def test_what_has_the_name_of_something_shipped_takes_its_place(own):
    shipped = read_atlas((SHIPPED,))
    mira = (SHIPPED / "agents" / "mira.md").read_text("utf-8")
    cup = "blue_cup:\n  name: green cup\n  desc: It is whole.\n  at: quay\n"
    write(
        own,
        map_yaml=MILL.replace("quay, northwest", "kettle, south") + "start: mill\n",
        agents__mira_md=mira.replace("keeps: true", "keeps: false"),
        things_yaml=cup,
        scenes_yaml='scenes:\n  - who: [A, B]\n    lines: ["A: Flour.", "B nods."]\n',
        deeds__apples_yaml=(SHIPPED / "deeds" / "apples.yaml").read_text("utf-8"),
        connection_screen_txt="Welcome to the mill.\n",
    )
    atlas, _ = read_world()
    ways = {each.id: each.target for each in atlas.ways}
    assert ways["kettle:south"] == "mill"
    assert "quay:north" not in ways, "the other end of the shipped link is gone too"
    assert atlas.start == "mill"
    assert atlas.things["blue_cup"].name == "green cup"
    assert len(atlas.things) == len(shipped.things)
    assert shipped.people["mira"].keeps
    assert not atlas.people["mira"].keeps
    assert read_scenes(atlas)[-1].lines == ("A: Flour.", "B nods.")
    assert len(read_scenes(atlas)) > 2
    assert connection_screen() == "Welcome to the mill.\n"


WRONG = {
    "map_yaml": ("alias: mill", "alais: mill", "map.yaml, line 4: rooms.mill.alais: there is no"),
    "agents__piet_md": ("home: mill", "home: mlil", "piet.md, line 3: home: it names the room 'ml"),
    "things_yaml": ("  at: piet\n", "", "things.yaml, line 1: sieve.at: Field required"),
    "deeds__two_sacks_yaml": ("sieve: piet", "sieve: pit", "two_sacks.yaml, line 4: steps.carried"),
    "socials_yaml": ('["$conj(sift) flour.", ""]', "1", "socials.yaml, line 1: sift"),
    "help__milling_md": ("category", "catgory", "milling.md, line 3: catgory: there is no such"),
}


@pytest.mark.parametrize("file", WRONG)
def test_a_mistake_is_named_with_its_own_file_line_and_field(own, file):
    whole(own)
    old, new, told = WRONG[file]
    stem, _, ending = file.rpartition("_")
    path = own / f"{stem.replace('__', '/')}.{ending}"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError) as refused:
        read_world()
    assert refused.value.path == path
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("agent__piet_md", PIET, "Known are: map.yaml"),
        ("agents__piet_yaml", PIET, "Files in agents end in .md"),
        ("map_yml", MILL, "Known are: map.yaml"),
        ("agents__piet_md", "You are Piet.\n", "Write it between two lines `---`"),
        ("connection_screen_txt", "Flüssig", "not ASCII"),
        ("map_yaml", "", "it must be a table"),
        ("map_yaml", "rooms: [mill]\n", "line 1: rooms: it must be a table"),
        ("map_yaml", "links:\n  - [kettle, south]\n", r"links.\d+: \['kettle', 'south'\] is not"),
    ],
)
def test_what_nothing_reads_is_refused(own, file, text, reason):
    write(own, **{file: text})
    with pytest.raises(ConfigError, match=reason) as refused:
        read_world()
    assert refused.value.path.is_relative_to(own)


def test_a_folder_that_is_named_must_be_there(own, monkeypatch):
    monkeypatch.setenv("KEEPSAKE_WORLD", str(own.parent / "elsewhere"))
    with pytest.raises(ConfigError, match="KEEPSAKE_WORLD names it, and there is no such folder"):
        read_world()
    (own / "README.md").write_text("Notes of ours.")
    (own / ".git").mkdir()
    (own / "things.yaml").symlink_to("gone.yaml")
    monkeypatch.setenv("KEEPSAKE_WORLD", str(own))
    with pytest.raises(ConfigError, match=r"leads to gone\.yaml, which is missing"):
        read_world()
    (own / "things.yaml").unlink()
    assert [*checked_layers()] == [SHIPPED, own]


def test_wrong_gestures_leave_players_the_shipped_ones(own):
    write(own, socials_yaml="sift: 1\n")
    socials.cache_clear()
    assert [*socials()] == [*read_socials((SHIPPED,))]
    socials.cache_clear()


class TestBuilt(BuiltWorld, EvenniaTest):
    def setUp(self):
        super().setUp()
        self.own = places().own_world
        self.own.mkdir()
        self.addCleanup(shutil.rmtree, self.own)

    def test_it_is_built_beside_what_is_there(self):
        whole(self.own)
        built = build_world()
        assert {*built["made"]} == {
            "room:mill",
            "exit:quay:northwest",
            "exit:mill:southeast",
            "agent:piet",
            "thing:sieve",
        }
        assert find("agent", "piet").location == find("room", "mill")
        assert find("thing", "sieve").location == find("agent", "piet")
        assert find("exit", "quay:northwest").destination == find("room", "mill")
        assert build_world()["made"] == []
        shutil.rmtree(self.own / "deeds")  # a file that is gone deletes nothing
        (self.own / "things.yaml").unlink()
        build_world()
        assert find("thing", "sieve")

    def test_a_link_leads_an_exit_elsewhere_unless_a_builder_did(self):
        write(self.own, map_yaml=MILL.replace("quay, northwest", "kettle, south"))
        leads = find("exit", "kettle:south")
        built = build_world()
        assert "exit:kettle:south" in built["changed"]
        assert leads.destination == find("room", "mill")
        assert [*leads.aliases.all()] == ["mill", "s"]
        leads.destination = find("room", "loft")
        assert build_world()["kept as it is"] == ["exit:kettle:south"]
        assert leads.destination == find("room", "loft")
