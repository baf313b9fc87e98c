"""People at their telnet clients, for tests of the running world."""

from __future__ import annotations

import re
import time
from pathlib import Path

from game.cli.login import Telnet, connection_screen
from tests.cli.conftest import Copy

PASSWORD = "willow-harbour-lantern"


class Player:
    """One telnet line into a copy."""

    def __init__(self, copy: Copy) -> None:
        self.line: Telnet = connection_screen("127.0.0.1", copy.here.ports.telnet, 10)

    @classmethod
    def new(cls, copy: Copy, name: str) -> Player:
        """A newcomer who creates an account."""
        player = cls(copy)
        player.line.send(f"create {name} {PASSWORD}")
        return player

    @classmethod
    def back(cls, copy: Copy, name: str, password: str = PASSWORD) -> Player:
        """Somebody who has been here before."""
        player = cls(copy)
        player.line.send(f"connect {name} {password}")
        return player

    @classmethod
    def admin(cls, copy: Copy) -> Player:
        """The admin, with the generated password."""
        return cls.back(copy, "admin", copy.here.admin_password.read_text().strip())

    def type(self, command: str, wanted: str = "", seconds: float = 20.0) -> str:
        """Type a line; returns what is shown until ``wanted`` came."""
        self.line.text = ""
        self.line.send(command)
        return self.see(wanted, seconds) if wanted else ""

    def see(self, wanted: str, seconds: float = 20.0) -> str:
        """Wait for a pattern; returns all that was shown since the last line typed."""
        deadline = time.monotonic() + seconds
        while not re.search(wanted, self.line.text):
            assert time.monotonic() < deadline, f"{wanted!r} never came: {self.line.text!r}"
            self.line._read()
        return self.line.text

    def leave(self) -> None:
        """Log out."""
        self.line.send("quit")
        self.line.close()


def wait_for(path: Path, wanted: str, seconds: float = 60.0, times: int = 1) -> str:
    """Wait until a file holds a pattern so many times; returns its text."""
    deadline = time.monotonic() + seconds
    while True:
        text = path.read_text(errors="replace") if path.exists() else ""
        if len(re.findall(wanted, text)) >= times:
            return text
        assert time.monotonic() < deadline, f"{wanted!r} never came in {path}: {text[-2000:]}"
        time.sleep(0.2)
