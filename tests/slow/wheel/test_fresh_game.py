"""Keepsake is added to a new game by the lines of the page, and removed with them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.fakes.model_server import FakeModelServer
from tests.slow.wheel.game import SETS, SETTINGS, URLS, UV, Game, install, run

INSTALL = 'pip install "evennia-keepsake[embedded]"'
FACTS = ("My brother Edwin mends nets in Ostrey.", "My dog is called Biscuit.")


def remembers(prompt: str) -> str:
    """Answer a question if its facts are in the prompt."""
    if "What is my dog called" not in prompt:
        return "I shall keep that in mind."
    return "It is Biscuit." if all(fact in prompt for fact in FACTS) else "I do not know."


def rows(game: Game, question: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(game.here.database)) as database:
        return database.execute(question).fetchall()


def test_a_new_game_gets_agents_by_the_page_and_runs_on_without_keepsake(tmp_path: Path):
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    with FakeModelServer(models=["qwen3:8b"], script=remembers) as fake:
        game = Game(
            tmp_path / "mygame", install(tmp_path, "[evennia,embedded]"), OLLAMA_HOST=fake.address
        )
        game.call("evennia", "migrate")
        own = game.commands()
        evennias = rows(game, tables)
        before = {path: (game.folder / path).read_text() for path in (SETS, SETTINGS, URLS)}
        game.follow_page()
        assert own
        assert own < game.commands(), "one of the game's own commands was replaced"
        with game.runs():
            assert not game.here.vectors_pid.exists(), "it starts with the first agent"
            check_agents_and_commands(game)
            assert "Traceback" not in game.logs()
            game.call("evennia", "stop")
        for path, text in before.items():
            (game.folder / path).write_text(text)
        run([UV, "pip", "uninstall", "--python", game.bin / "python", "evennia-keepsake"], tmp_path)
        with game.runs():
            admin = game.admin()
            admin.type("look Mira", "nothing special")
            admin.leave()
            assert "Could not load typeclass 'keepsake.contrib.evennia.npcs" in game.logs()
            assert game.commands() == own
    assert rows(game, tables) == evennias


def check_agents_and_commands(game: Game) -> None:
    admin = game.admin()
    admin.type("@agent/create Mira = You are Mira, an innkeeper.", "Made Mira")
    for fact in FACTS:
        admin.type(f"say {fact}", "Mira says", "in mind")
    game.up("reload")
    admin.type("say What is my dog called?", "Mira says", "It is Biscuit")
    admin.type("@memory-status Mira", r"each in exactly\s+one\s+tier")
    admin.type("@compact-memories Mira", "(?i)compact")
    admin.type("@llm-status", "qwen3", "ready")
    with closing(game.browser()) as web:
        assert "Keepsake" in web.get("/agents/").raise_for_status().text
        assert web.get("/agents/api/events").raise_for_status().json()["events"]
    assert "✗" not in game.doctor()
    assert "Mira" in game.call("keepsake", "logs", "--no-follow")
    game.call("keepsake", "backup", "backup.tar.gz")
    admin.leave()


def test_the_doctor_names_what_is_missing_and_the_game_goes_on(tmp_path: Path):
    game = Game(tmp_path / "mygame", install(tmp_path, "[evennia]"), OLLAMA_HOST="127.0.0.1:9")
    settings = game.folder / SETTINGS
    before = settings.read_text()
    game.add(SETTINGS, 'INSTALLED_APPS += ["keepsake.contrib.evennia"]\n')
    said = game.call("keepsake", "doctor", fails=True)
    assert "AT_SERVER_STARTSTOP_MODULE does not name" in said
    game.add(SETTINGS, "KEEPSAKE = {'valut': 'memories'}\n")
    assert "no key valut" in game.call("keepsake", "doctor", fails=True)

    settings.write_text(before)
    game.follow_page()
    settings.write_text(settings.read_text().replace(', "keepsake.web"', ""))  # no dashboard
    game.call("evennia", "migrate")
    with game.runs():
        admin = game.admin()
        admin.type("@agent/create Mira = You are Mira, an innkeeper.", "Made Mira")
        admin.type("say My dog is called Biscuit.", "Mira looks at admin")
        admin.type("@llm-status", "none", "keepsake model list")
        with closing(game.browser()) as web:
            assert "does not name keepsake.web" in web.get("/agents/").text
        admin.type("say What is my dog called?", "says, 'My dog is called Biscuit.'")
        assert "rules answer players" in game.doctor()
        game.here.models.mkdir(exist_ok=True)
        (game.here.models / "fetched.gguf").write_bytes(b"GGUF")
        assert INSTALL in game.call("keepsake", "doctor", fails=True)
        settings.write_text(settings.read_text().replace("\nAT_SERVER_STARTSTOP", "\nNOTHING"))
        game.up("reload")
        admin.type("@memory-status Mira", "agents are not running.*keepsake doctor")
        admin.leave()
        assert "Traceback" not in game.logs()
