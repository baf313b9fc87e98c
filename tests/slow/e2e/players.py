"""Players with telnet clients, for tests of a running world."""

from __future__ import annotations

import itertools
import json
import re
import select
import time
from collections.abc import Callable
from typing import Any, Protocol

from keepsake.paths import Places
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.telnet import Telnet, connection_screen

PASSWORD = "willow-harbour-lantern"
PATIENCE = 300.0
"""Seconds until a test gives up waiting; more than a busy machine needs."""


class Running(Protocol):
    """A game that runs."""

    @property
    def here(self) -> Places: ...


class Player:
    """A player with a telnet connection to a game."""

    def __init__(self, game: Running, number: int = 0) -> None:
        self.line: Telnet = connection_screen("127.0.0.1", game.here.ports.telnet, PATIENCE, number)

    @classmethod
    def new(cls, game: Running, name: str, number: int = 0) -> Player:
        """Connect and create an account."""
        player = cls(game, number)
        player.line.send(f"create {name} {PASSWORD}")
        return player

    @classmethod
    def back(cls, game: Running, name: str, password: str = PASSWORD) -> Player:
        """Connect and log in to an existing account."""
        player = cls(game)
        player.line.send(f"connect {name} {password}")
        return player

    @classmethod
    def admin(cls, copy: Copy) -> Player:
        """Connect as the admin, with the generated password."""
        return cls.back(copy, "admin", copy.here.admin_password.read_text().strip())

    def type(self, command: str, *wanted: str) -> str:
        """Type a line, wait for all patterns in ``wanted``, and return what was shown.

        A text may come in pieces, so ``wanted`` must have every part that the test looks at.
        """
        self.look_up()
        self.line.text = ""
        self.line.send(command)
        return self.see(*wanted)

    def see(self, *wanted: str) -> str:
        """Wait for patterns; return all that was shown since the last line typed."""
        deadline = time.monotonic() + PATIENCE
        while not all(re.search(each, self.line.text) for each in wanted):
            assert time.monotonic() < deadline, f"{wanted} never came: {self.line.text!r}"
            assert self.line.read(), f"hung up before {wanted} came: {self.line.text!r}"
        return self.line.text

    def look_up(self) -> str:
        """Read what has arrived; return all that was shown since the last line typed."""
        while select.select([self.line._socket], [], [], 0)[0] and self.line.read():
            pass
        return self.line.text

    def leave(self) -> None:
        """Log out."""
        self.line.send("quit")
        self.line.close()


class GameClient(Telnet):
    """A client that accepts some telnet options, as Mudlet does, and keeps their data."""

    GMCP = 201
    MSSP = 70
    MXP = 91

    def __init__(self, copy: Copy, *takes: int) -> None:
        self.takes = takes
        self.parts: list[tuple[int, bytes]] = []
        super().__init__("127.0.0.1", copy.here.ports.telnet)

    def _refuse(self, command: bytes) -> None:
        """Accept the options in ``takes``; refuse the others."""
        if command[1] == 250:
            self.parts.append((command[2], command[3:-2]))
        elif command[1] != 251 or command[2] not in self.takes:
            super()._refuse(command)
        else:
            self._socket.sendall(bytes([255, 253, command[2]]))

    def type(self, line: str | bytes, wanted: str) -> str:
        """Type a line, wait for a text, and return what was shown since."""
        self.text = ""
        self._socket.sendall((line.encode() if isinstance(line, str) else line) + b"\r\n")
        assert self.wait_for(wanted, PATIENCE), (wanted, self.text)
        return self.text

    def gmcp(self, name: str) -> list[Any]:
        """Return the contents of all messages of that name so far."""
        texts = [data.decode().partition(" ") for option, data in self.parts if option == self.GMCP]
        return [json.loads(data) for found, _, data in texts if found == name]


def keep_at_home(copy: Copy) -> None:
    """Bring Mira home, and remove the schedules by which agents walk away at some hours."""
    admin = Player.admin(copy)
    admin.see("The Kettle")
    admin.type(
        "py from keepsake.contrib.evennia.creation import all_agents; "
        "[(a.attributes.remove('day'), a.mind.walker.stop()) for a in all_agents()]; "
        "self.msg(f'{sum(bool(each.db.day) for each in all_agents())} days left')",
        "0 days left",
    )
    admin.type("@tel Mira = #2", "Mira is already at The Kettle|Teleported")
    admin.leave()


def compactions(copy: Copy) -> int:
    """Return how many compactions Mira has made."""
    return copy.here.agents_log.read_text().count("INFO compaction Mira: Compaction complete")


def chat_until(done: Callable[[], object], speaker: Player) -> None:
    """Say lines until a condition holds; slowly enough for the input limit."""
    deadline = time.monotonic() + PATIENCE
    for number, line in enumerate(itertools.cycle(_TALK)):
        if done():
            return
        assert time.monotonic() < deadline, f"not done after {number} lines"
        speaker.type(f"say {line} ({number})", rf"You say, .*\({number}\)")
        time.sleep(0.3)


_TALK = (
    "Rain again tonight.",
    "The soup wants salt.",
    "That dog snores.",
    "Who painted the sign?",
    "My boots leak.",
    "The barley is late.",
    "Fine candles.",
    "Is the well deep?",
    "I counted nine crows.",
    "The miller sings.",
    "Cold hands.",
    "What a long road.",
)
