"""A new game with Evennia's LLM contrib changes one line, by docs/simple-npc.md."""

from __future__ import annotations

import re
from pathlib import Path

from keepsake.paths import REPOSITORY
from tests.fakes.model_server import FakeModelServer
from tests.slow.wheel.game import SETTINGS, Game, install

PAGE = (REPOSITORY / "docs" / "simple-npc.md").read_text(encoding="utf-8")
TALK = "from evennia.contrib.rpg.llm import CmdLLMTalk\nself.add(CmdLLMTalk())\n"
FACT = "My sister is called Liesbet."


def remembers(prompt: str) -> str:
    """Answer the question of the page if what it asks for is in the prompt."""
    if "What is my sister's name?" not in prompt:
        return "Is she."
    known = FACT in prompt and "A farmer who trusts nobody" in prompt
    return "It is Liesbet." if known else "I do not know."


def test_one_line_is_changed_and_it_remembers_over_a_reload(tmp_path: Path):
    typed = [line.removeprefix("> ") for line in re.findall(r"^> .*$", PAGE, re.M)]
    make, describe, tell, reload, ask = typed
    assert reload == "reload"
    with FakeModelServer(models=["qwen3:8b"], script=remembers) as fake:
        game = Game(tmp_path / "mygame", install(tmp_path, "[evennia]"), OLLAMA_HOST=fake.address)
        game.call("evennia", "migrate")
        game.add_to_commands(TALK)
        own = game.commands()
        settings = re.search(rf"```python\n# {SETTINGS}.*\n((?s:.*?))```", PAGE)
        assert settings is not None
        port_base = f'KEEPSAKE = {{"port_base": {game.here.ports.base}}}\n'
        game.add(SETTINGS, f"{settings[1]}{port_base}")
        assert game.commands() == own
        with game.runs():
            admin = game.admin()
            admin.type("create/drop elder:evennia.contrib.rpg.llm.LLMNPC", "You create")
            admin.type(make, "You create")
            admin.type(describe, "set")
            admin.type(tell, "villager says", "Is she.")
            game.up("reload")
            admin.type(ask, "It is Liesbet.")
            admin.type("type elder = keepsake.contrib.evennia.SimpleNPC", "elder changed typeclass")
            admin.type("talk elder Hello.", "elder says to you", "Is she.")
            admin.leave()
            assert "Traceback" not in game.logs()
