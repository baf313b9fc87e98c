"""A game that others have published, with the built wheel.

Name a checkout of the game, and the test copies it, follows docs/your-own-game.md, and plays::

    KEEPSAKE_PUBLIC_GAME=~/deku/game_files pytest tests/slow/wheel/test_public_game.py

The test looks for the game's own command ``say``. If the game has one, it is told to agents as the
page says. Further variables:

``KEEPSAKE_PUBLIC_GAME_NEEDS``
    Packages that the game needs besides Evennia: ``scipy inflect``.
``KEEPSAKE_PUBLIC_GAME_WHISPER``
    How a player whispers in the game, if not by Evennia's ``whisper {name} = {words}``.

Nothing of a game is in this repository, because its licence may not allow that.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import ME, Manner
from tests.fakes.model_server import FakeModelServer
from tests.slow.e2e.players import PASSWORD, Player
from tests.slow.wheel.game import PAGE, SETTINGS, UV, Game, install, run

CHECKOUT = os.environ.get("KEEPSAKE_PUBLIC_GAME", "")
NEEDS = os.environ.get("KEEPSAKE_PUBLIC_GAME_NEEDS", "").split()
WHISPER = os.environ.get("KEEPSAKE_PUBLIC_GAME_WHISPER", "whisper {name} = {words}")
GUIDE = """
from django.conf import settings
from evennia.utils.utils import class_from_module
from keepsake.contrib.evennia import AgentMixin

class Guide(AgentMixin, class_from_module(settings.BASE_CHARACTER_TYPECLASS)): ...
"""
OWN_SAY = re.compile(r"```python\n# subclass\n(.*?)```", re.DOTALL)
"""The example in the page for a command of the game."""
THEIRS = "from commands.communication import CmdSay as TheirSay"
"""The line of the example that names the game's command."""
FIND_SAY = """
from django.conf import settings
from evennia.utils.utils import class_from_module
players = class_from_module(settings.CMDSET_CHARACTER)()
say = next(type(each) for each in players if each == "say")
print("SAY", say.__module__, say.__name__)
"""
LOGIN = """
CMDSET_UNLOGGEDIN = "commands.default_cmdsets.UnloggedinCmdSet"
CONNECTION_SCREEN_MODULE = "server.conf.connection_screens"
"""
"""Evennia's defaults, because a game may log players in by a menu of its own."""
SECRET = "the key is under the mat"
GLADLY = "Gladly, I will be there."

pytestmark = pytest.mark.skipif(
    not CHECKOUT, reason="KEEPSAKE_PUBLIC_GAME names no checkout of a published game"
)


def checkout() -> Path:
    """Return the game's directory within the checkout: the one with ``server/conf``."""
    found = [each.parents[2] for each in Path(CHECKOUT).expanduser().rglob(SETTINGS)]
    assert found, f"{CHECKOUT} has no {SETTINGS}: name the directory of an Evennia game"
    return min(found, key=lambda each: len(each.parts))


def test_a_published_game(tmp_path: Path):
    programs = install(tmp_path, "[evennia]")
    if NEEDS:
        run([UV, "pip", "install", "--python", programs / "python", *NEEDS], tmp_path)
    with FakeModelServer(models=["qwen3:8b"], script=answer) as fake:
        fake.template = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"  # a chat model
        game = published(tmp_path / "game", programs, fake.address)
        with game.runs():
            play(game)
            assert "✗" not in game.doctor()
            assert our_errors(game) == []


def answer(prompt: str) -> str:
    """Return what the model answers: yes to an invitation, else a greeting."""
    return f"{GLADLY}\n> agree admin" if "asks you to come" in prompt else "Well met."


def our_errors(game: Game) -> list[str]:
    """Return the errors that Keepsake logged, or that the game logged about Keepsake's objects.

    A game may have errors of its own.
    """
    blocks = re.findall(r"(?:^.*\[!!\].*\n)+", game.logs(), re.MULTILINE)
    ours = [each for each in blocks if re.search("keepsake|AgentNPC|Guide", each)]
    agents = (game.here.logs / "agents.log").read_text()
    return [*ours, *(["agents.log has a traceback"] if "Traceback" in agents else [])]


def published(folder: Path, programs: Path, model: str) -> Game:
    """Make a game from the checkout, with Keepsake as the page says."""
    game = Game(folder, programs, OLLAMA_HOST=model)
    ports = (folder / SETTINGS).read_text().splitlines()[-1]
    unwanted = shutil.ignore_patterns(".git", "*.db3", "*.pid", "*.log", "__pycache__")
    shutil.copytree(checkout(), folder, dirs_exist_ok=True, ignore=unwanted)
    game.add(SETTINGS, f"{ports}\n{LOGIN}")
    game.call("evennia", "migrate")
    theirs = own_say(game)
    game.follow_page()
    (folder / "typeclasses/guides.py").write_text(GUIDE)
    if theirs:
        (example,) = OWN_SAY.findall(PAGE)
        assert THEIRS in example
        ours = example.replace(THEIRS, theirs)
        (folder / "commands/told.py").write_text(ours)
        game.add_to_commands("from commands.told import CmdSay as ToldSay\nself.add(ToldSay())")
    game.call("evennia", "migrate")
    return game


def own_say(game: Game) -> str:
    """Return the line that imports the game's own ``say``; empty if it is Evennia's."""
    said = game.call("evennia", "shell", "-c", FIND_SAY)
    (found,) = re.findall(r"^SAY (\S+) (\w+)$", said, re.MULTILINE)
    module, name = found
    return "" if module.startswith("evennia.") else f"from {module} import {name} as TheirSay"


def play(game: Game) -> None:
    """Speak to an agent that was made, and to a character of the game that became one."""
    admin = puppet(game)
    made = admin.type("@agent/create Ilse = You are Ilse, a clockmaker.", "Made Ilse")
    assert "earlier" not in made
    admin.type("say Good evening, Ilse.", "Ilse says", "Well met")
    character = "typeclasses.characters.Character"
    admin.type(f"@create/drop Tom:{character}", "You create")
    admin.type("@type Tom = typeclasses.guides.Guide", "changed typeclass")
    admin.type("@agent Tom = You are Tom, a ferryman.", "Profile changed")
    admin.type("say Tom, how deep is the river?", "Tom says", "Well met")
    admin.type(WHISPER.format(name="Ilse", words=SECRET), "Ilse ", "Well met")
    # Many games have a `talk` of their own, which opens a menu or takes no words.
    admin.type("meet Ilse tomorrow 12:00", "Ilse agrees to meet you", GLADLY)
    admin.leave()
    spoken = [each for each in memories(game, "Ilse") if each.source == "admin" and each.words]
    greeting = next(each for each in spoken if "Good evening, Ilse." in each.words)
    assert greeting.manner == Manner.SAY
    assert greeting.confidants is None
    whisper = next(each for each in spoken if SECRET in each.words)
    assert whisper.manner == Manner.WHISPER
    assert whisper.confidants == {whisper.source_id}
    asked = next(each for each in spoken if "meet me tomorrow 12:00" in each.words)
    assert asked.heard is not None
    assert asked.heard.to == (ME,)
    assert asked.confidants is None
    of_tom = memories(game, "Tom")
    assert any("meet me tomorrow 12:00" in each.words for each in of_tom)
    assert any("Tom, how deep is the river?" in each.words for each in of_tom)
    assert not any(SECRET in each.text for each in of_tom)


def puppet(game: Game) -> Player:
    """Log in as the admin, and play the admin's character."""
    admin = Player.back(game, "admin", PASSWORD)
    admin.type("ic admin", "become|admin|already")
    admin.type("look", "Limbo")
    return admin


def memories(game: Game, name: str) -> list[Memory]:
    """Return an agent's memories."""
    with closing(Archive(game.here.agents / name / "archive", read_only=True)) as archive:
        return list(archive.read(1, archive.last_number))
