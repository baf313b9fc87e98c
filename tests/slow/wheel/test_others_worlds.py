"""Evennia's tutorials with agents of the game's own classes, on PostgreSQL if it is installed."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.memory.integrity import check_lines
from tests import postgres
from tests.fakes.model_server import FakeModelServer
from tests.slow.wheel.game import SETTINGS, Game, install

RELOADS = 10
CLASSES = """
from evennia.contrib.tutorials.evadventure.npcs import EvAdventureNPC
from keepsake.contrib.evennia import AgentMixin
from typeclasses.characters import Character

class Guide(AgentMixin, Character): ...
class Keeper(AgentMixin, EvAdventureNPC): ...
"""
POSTGRES = {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "keepsake"}


def test_agents_in_the_tutorials_lose_no_memories_in_reloads(tmp_path: Path):
    with ExitStack() as stack:
        fake = FakeModelServer(models=["qwen3:8b"], script=lambda _: "Well met.")
        stack.enter_context(fake)
        programs = install(tmp_path, "[evennia,postgres]")
        game = Game(tmp_path / "tutorial", programs, OLLAMA_HOST=fake.address)
        game.follow_page()
        (game.folder / "typeclasses/agents.py").write_text(CLASSES)
        if postgres.programs() is not None:
            host = stack.enter_context(postgres.cluster()).partition("host=")[2]
            game.add(SETTINGS, f"DATABASES = {{'default': {POSTGRES | {'HOST': host}}}}\n")
        game.call("evennia", "migrate")
        with game.runs():
            agents_talk_while_the_game_reloads(game)
            pages_show_the_world(game)
            assert "✗" not in game.doctor()
            game.call("keepsake", "backup", "backup.tar.gz")
            assert "Traceback" not in game.logs()


def pages_show_the_world(game: Game) -> None:
    """The dashboard's map, and the pages of facts and people, know nothing of the village."""
    with closing(game.browser()) as browser:
        api = "/agents/api"
        rooms = browser.get(f"{api}/map").raise_for_status().json()["rooms"]
        assert len(rooms) > 10, "the tutorial world has some twenty rooms, and all connect"
        cells = {(each["x"], each["y"]) for each in rooms}
        assert len(cells) == len(rooms)
        there = {name for each in rooms for _, name in each["agents"]}
        assert there == {"Wanda", "Kip"}
        fact = browser.get(f"{api}/fact", params={"q": "evening"}).raise_for_status().json()
        assert {each["agent"] for each in fact["knowers"]} == {"Wanda", "Kip"}
        assert {each["source"] for each in fact["knowers"]} == {"admin"}
        person = browser.get(f"{api}/person", params={"name": "admin"}).raise_for_status().json()
        assert {each["agent"] for each in person["agents"]} == {"Wanda", "Kip"}
        for page in (
            "",
            "live",
            "world/",
            "fact?q=evening",
            "person",
            "compare",
            "search/?q=evening",
        ):
            assert "<h1" in browser.get(f"/agents/{page}").raise_for_status().text


def agents_talk_while_the_game_reloads(game: Game) -> None:
    admin = game.admin()
    here = {"Wanda": ("Guide", "tut#05"), "Kip": ("Keeper", "hall")}
    admin.type("batchcommand tutorial_world.build", "tutorial_world.build' applied")
    admin.type("@dig hall:evennia.contrib.tutorials.evadventure.rooms.EvAdventureRoom", "hall")
    for name, (kind, room) in here.items():
        admin.type(f"@tel {room}", "Teleported")
        admin.type(f"@create/drop {name}:typeclasses.agents.{kind}", "You create")
        admin.type(f"@agent {name} = You are {name}, who lives here.", "Profile changed")
        admin.type("say Good evening.", f"{name} says", "Well met")
    for number in range(RELOADS):
        admin.type(f"say That was number {number}.", "You say")
        admin.type("@reload", "Server restarted")
    admin.leave()
    for name in here:
        with closing(Archive(game.here.agents / name / "archive", read_only=True)) as archive:
            assert check_lines(archive).problems == ()
            memories = list(archive.read(1, archive.last_number))
        assert [each.number for each in memories] == [*range(1, len(memories) + 1)]
    heard = "\n".join(memory.text for memory in memories)
    assert all(f"number {number}." in heard for number in range(RELOADS))
