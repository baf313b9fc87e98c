"""Games with own verbs, short descriptions and converted characters, with the built wheel."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import Deed
from tests.fakes.model_server import FakeModelServer
from tests.slow.wheel.game import Game, install

CLASSES = """
from evennia.contrib.rpg.rpsystem.rpsystem import ContribRPCharacter
from keepsake.contrib.evennia import AgentMixin
from typeclasses.characters import Character

class Guide(AgentMixin, Character): ...
class Pale(AgentMixin, ContribRPCharacter): ...
class Visitor(ContribRPCharacter): ...
"""
COMMANDS = '''
from evennia import Command


class CmdSagen(Command):
    """A say that names neither type nor words."""

    key = "sagen"

    def func(self):
        here = self.caller.location
        here.msg_contents(f"{self.caller.key} sagt: »{self.args.strip()}«", from_obj=self.caller)


class CmdMurmur(Command):
    """Words for one person alone."""

    key = "murmur"

    def func(self):
        name, _, words = self.args.strip().partition(" ")
        if target := self.caller.search(name):
            target.msg(f"{self.caller.key} murmurs: {words}", from_obj=self.caller)
'''
ADDED = """from commands.own import CmdMurmur, CmdSagen
self.add(CmdSagen())
self.add(CmdMurmur())
"""


def test_own_verbs_short_descriptions_and_converted_characters(tmp_path: Path):
    with FakeModelServer(models=["qwen3:8b"], script=lambda _: "Well met.") as fake:
        game = Game(tmp_path / "mygame", install(tmp_path, "[evennia]"), OLLAMA_HOST=fake.address)
        game.follow_page()
        (game.folder / "typeclasses/agents.py").write_text(CLASSES)
        (game.folder / "commands/own.py").write_text(COMMANDS)
        game.add_to_commands(ADDED)
        game.call("evennia", "migrate")
        with game.runs():
            play(game)
            assert "✗" not in game.doctor()
            assert "Traceback" not in game.logs()


def play(game: Game) -> None:
    admin = game.admin()
    admin.type("@create/drop Tom:typeclasses.characters.Character", "You create")
    admin.type("@type Tom = typeclasses.agents.Guide", "changed typeclass")
    admin.type("@agent Tom = You are Tom, a ferryman.", "Profile changed")
    admin.type("say Good evening.", "Tom says", "Well met")
    admin.type("sagen Wie tief ist der Fluss?", "sagt", "Tom says", "Well met")
    admin.type("murmur Tom the key is under the mat", "Tom ", "Well met")
    admin.type("@create lamp", "You create")
    admin.type("give lamp to Tom", "You give", "Well met")
    heard = {each.text: each for each in memories(game, "Tom")}
    murmur = next(each for text, each in heard.items() if "under the mat" in text)
    assert murmur.confidants == {murmur.source_id}
    assert any(isinstance(each.what, Deed) and each.gift_to_me for each in heard.values())

    admin.type("@tunnel n = Hall", "Created room Hall")
    admin.type("n", "Hall")
    admin.type("@type me = typeclasses.agents.Visitor", "changed typeclass")
    admin.type("sdesc a tall man", "sdesc was set")
    admin.type("@create/drop Vera:typeclasses.agents.Pale", "You create")
    admin.type("@agent Vera = You are Vera, a nurse.", "Profile changed")
    admin.type("say Good evening.", "says to you", "Well met")
    admin.leave()
    known = {each.source for each in memories(game, "Vera") if each.heard is not None}
    assert known == {"a tall man"}


def memories(game: Game, name: str) -> list[Memory]:
    """Return an agent's memories."""
    with closing(Archive(game.here.agents / name / "archive", read_only=True)) as archive:
        return list(archive.read(1, archive.last_number))
