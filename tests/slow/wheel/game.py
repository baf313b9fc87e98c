"""Evennia games that use the built wheel, made as docs/your-own-game.md says."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import indent
from typing import Any

import httpx

from keepsake.cli import processes
from keepsake.paths import REPOSITORY, Places, Ports
from tests.free_ports import free_base
from tests.slow.e2e.players import PASSWORD, PATIENCE, Player

SETTINGS = "server/conf/settings.py"
URLS = "web/urls.py"
SETS = "commands/default_cmdsets.py"
PAGE = (REPOSITORY / "docs" / "your-own-game.md").read_text(encoding="utf-8")
_PORTS = (
    "TELNET_PORTS, WEBSERVER_PORTS, WEBSOCKET_CLIENT_PORT, AMP_PORT = "
    "[{0}], [({0} + 1, {0} + 5)], {0} + 2, {0} + 6\n"
)
_COMMANDS = """
from evennia.utils.utils import class_from_module
from django.conf import settings
for name in ("CHARACTER", "ACCOUNT", "SESSION", "UNLOGGEDIN"):
    for each in class_from_module(getattr(settings, f"CMDSET_{name}"))():
        print("COMMAND", name, each.key, sorted(each.aliases), type(each).__module__)
"""
LONGEST = 1800.0  # seconds of a command, which may download hundreds of megabytes
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def install(folder: Path, extras: str = "") -> Path:
    """Install the wheel with extras such as ``[embedded]``; return the folder of programs."""
    python = folder / "venv" / "bin" / "python"
    locked = REPOSITORY / "requirements.lock"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist"]
    run(build, REPOSITORY)
    run([UV, "venv", "--python", sys.executable, folder / "venv"], folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    wanted = f"evennia-keepsake{extras} @ {wheel.as_uri()}"
    run([UV, "pip", "install", "--python", python, "--constraint", locked, wanted], folder)
    return python.parent


def run(command: list[object], folder: Path, fails: bool = False, **more: Any) -> str:
    """Run a command that must succeed, or must fail; return its output."""
    more |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run([*map(str, command)], cwd=folder, check=False, timeout=LONGEST, **more)
    assert bool(done.returncode) is fails, f"{command}: {done.returncode}\n{done.stdout}"
    return done.stdout


def _example_of(path: str) -> str:
    """Return what the page says to add to a file."""
    found = re.search(rf"```python\n# {path}.*\n((?s:.*?))```", PAGE)
    assert found is not None, f"the page says nothing of {path}"
    return found[1]


class Game:
    """A game's directory; ``bin`` has its programs, ``environ`` their environment."""

    def __init__(self, folder: Path, programs: Path, **environ: str) -> None:
        ours = ("KEEPSAKE_", "PYTHON", "DJANGO_")
        kept = {name: each for name, each in os.environ.items() if not name.startswith(ours)}
        admin = {"USERNAME": "admin", "PASSWORD": PASSWORD, "EMAIL": "admin@example.org"}
        kept |= {f"EVENNIA_SUPERUSER_{name}": each for name, each in admin.items()}
        self.environ = kept | {"PATH": f"{programs}:{os.environ['PATH']}"} | environ
        self.folder = folder
        self.bin = programs
        self.is_new = True
        self.here = Places(folder / "server", folder / "vault", Ports(free_base()))
        run([programs / "evennia", "--init", folder.name], folder.parent)
        self.add(SETTINGS, _PORTS.format(self.here.ports.base))

    def add(self, path: str, text: str) -> None:
        """Append to a file of the game."""
        with (self.folder / path).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")

    def follow_page(self) -> None:
        """Add Keepsake to the game as the page says."""
        found = {path: _example_of(path) for path in (SETTINGS, URLS, SETS)}
        self.add(SETTINGS, f'{found[SETTINGS]}KEEPSAKE = {{"port_base": {self.here.ports.base}}}\n')
        self.add(URLS, found[URLS])
        self.add_to_commands(found[SETS])

    def add_to_commands(self, text: str) -> None:
        """Add lines to the end of ``at_cmdset_creation`` of the players' command set."""
        path = self.folder / SETS
        source = path.read_text()
        classes = (each for each in ast.parse(source).body if isinstance(each, ast.ClassDef))
        players = next(each for each in classes if each.name == "CharacterCmdSet")
        made = next(
            each
            for each in players.body
            if isinstance(each, ast.FunctionDef) and each.name == "at_cmdset_creation"
        )
        lines = source.splitlines()
        lines[made.end_lineno : made.end_lineno] = indent(text, " " * 8).splitlines()
        path.write_text("\n".join(lines) + "\n")

    def call(self, *command: str, fails: bool = False) -> str:
        """Run a program of the virtual environment in the game's directory."""
        return run([self.bin / command[0], *command[1:]], self.folder, fails, env=self.environ)

    def doctor(self) -> str:
        """Return the doctor's output without problems; servers may still be starting at first."""
        for _ in range(100):  # each call takes seconds
            with suppress(AssertionError):
                return self.call("keepsake", "doctor")
        return self.call("keepsake", "doctor")

    def commands(self) -> set[str]:
        """Return the commands of all default command sets, as lines."""
        said = self.call("evennia", "shell", "-c", _COMMANDS).splitlines()
        return {line for line in said if line.startswith("COMMAND")}

    def admin(self) -> Player:
        """Log in as the admin, in Limbo."""
        player = Player.back(self, "admin")
        player.see("Limbo")
        return player

    def logs(self) -> str:
        """Return the logs of Evennia and of the agents."""
        found = [self.here.logs / f"{name}.log" for name in ("portal", "server", "agents")]
        return "\n".join(each.read_text() for each in found if each.exists())

    def up(self, command: str, times: int = 1) -> None:
        """Start or reload the game, and wait until its Server has logged that ``times`` times."""
        said = "Server successfully "
        deadline = time.monotonic() + PATIENCE
        begins = "Portal starting server"  # Evennia gives up if the Portal takes 10 s
        begun = self.logs().count(begins)
        wanted = times + self.logs().count(said)
        self.call("evennia", command)
        while self.logs().count(said) < wanted:
            assert time.monotonic() < deadline, f"no {command}: {self.logs()[-3000:]}"
            time.sleep(0.1)
            if command == "start" and self.logs().count(begins) == begun:
                self.call("evennia", "start")

    @contextmanager
    def runs(self) -> Iterator[None]:
        """Start the game, and end it afterwards."""
        try:
            self.up("start", 2 if self.is_new else 1)  # Evennia restarts what is new
            self.is_new = False
            yield
        except BaseException as error:
            error.add_note(self.logs()[-6000:])
            raise
        finally:
            while found := processes.running(self.here):
                processes.end(found)

    def browser(self) -> httpx.Client:
        """Return the admin's browser, logged in."""
        address = f"http://127.0.0.1:{self.here.ports.web}"
        client = httpx.Client(base_url=address, timeout=PATIENCE, follow_redirects=True)
        client.get("/auth/login/")
        form = {"username": "admin", "password": PASSWORD}
        form["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
        client.post("/auth/login/", data=form).raise_for_status()
        return client
