"""Players of a soak: each in a thread, over telnet or a web socket, who come back when cut off."""

from __future__ import annotations

import html
import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from game.cli.world.login import Telnet
from game.lab.soak.plan import NAMES, SoakScript
from game.server.limits import AWAY, DOWN, STUMBLED
from keepsake.errors import KeepsakeError
from keepsake.paths import Ports

PASSWORD = "willow-harbour-lantern"
PATIENCE = 30.0
"""Seconds until a line that does not answer is given up, and another one opened."""
_RESTART_PATIENCE = 120.0
_AGAIN = 0.3
_HERE = re.compile(r"Here: ([^.]*)\.")
_EXITS = re.compile(r"Exits: ([^.]*)\.")
_ARRIVED = re.compile(r"You become .*Exits: [^.]*\.")
_ANYTHING = re.compile(r"\S")
_RESTARTED = re.compile(r"Server restarted")
_NEWS_OF_THE_SERVER = tuple(" ".join(each.split()) for each in (STUMBLED, AWAY, DOWN))
_WALKS, _LOOKS = 0.05, 0.15
"""How many turns are a step elsewhere, and how many only a look."""
_TAGS = re.compile(r"<br\s*/?>|<[^>]*>")


class CutOff(Exception):
    """The line is gone, or silent."""


class Unheard(CutOff):
    """The Server is gone, and the Portal says so; the line is still there."""


_LOST = (OSError, WebSocketException, CutOff)


class WebLine:
    """The web client's socket, spoken as the shipped client speaks it."""

    def __init__(self, port: int) -> None:
        self.text = ""
        self._socket = connect(
            f"ws://127.0.0.1:{port}/",
            subprotocols=[Subprotocol("v1.evennia.com")],
            proxy=None,
            open_timeout=PATIENCE,
            close_timeout=1,
        )

    def send(self, line: str) -> None:
        """Send one line."""
        self._socket.send(json.dumps(["text", [line], {}]))

    def read(self) -> bool:
        """Take in a message that comes within half a second; raises when it was hung up."""
        with suppress(TimeoutError):
            kind, texts, _ = json.loads(self._socket.recv(timeout=0.5))
            if kind == "text":
                self.text += html.unescape(_TAGS.sub(" ", "\n".join(map(str, texts)))) + "\n"
        return True

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


type Line = Telnet | WebLine


@dataclass(slots=True)
class SaidLine:
    """What a player typed to an agent, and whether the game showed it to them as said."""

    player: str
    agent: str
    words: str
    tag: str
    echoed: bool = False


class SoakPlayer:
    """One player; :meth:`run` is a thread's whole work.

    Attributes:
        said: All that was typed, in order.
        looks: When a ``look`` was sent, and when it was answered, by the monotonic clock.
        cut_off: How often the line was lost.
    """

    def __init__(self, seed: int, number: int, ports: Ports, agents: Sequence[str]) -> None:
        self.name, self._is_web = NAMES[number], number % 2 == 1
        self.said: list[SaidLine] = []
        self.looks: list[tuple[float, float]] = []
        self.cut_off = 0
        self._script, self._ports, self._agents = SoakScript(seed, number), ports, frozenset(agents)
        self._seen = ""

    def arrive(self) -> None:
        """Make the account.

        Raises:
            KeepsakeError: The world did not let them in.
        """
        try:
            with self._line() as line:
                self._type(line, f"create {self.name} {PASSWORD}", _ARRIVED)
        except _LOST as error:
            raise KeepsakeError(f"{self.name} could not make an account: {error!r}") from error

    def run(self, stop: threading.Event) -> None:
        """Play until it is to stop."""
        while not stop.is_set():
            try:
                with self._line() as line:
                    self._visit(line, stop)
            except _LOST:
                stop.wait(_AGAIN)

    @contextmanager
    def _line(self) -> Iterator[Line]:
        ports = self._ports
        line = WebLine(ports.websocket) if self._is_web else Telnet("127.0.0.1", ports.telnet)
        with closing(line):
            self._wait(line, _ANYTHING)
            yield line

    def _visit(self, line: Line, stop: threading.Event) -> None:
        try:
            self._type(line, f"connect {self.name} {PASSWORD}", _ARRIVED)
            self._look(line)
            while not stop.wait(self._script.pause()):
                try:
                    self._turn(line)
                except Unheard:  # as at a reload: the line stays
                    self._wait(line, _RESTARTED, _RESTART_PATIENCE)
                    self._look(line)
        except _LOST:
            self.cut_off += 1
            raise

    def _turn(self, line: Line) -> None:
        chance, choice = self._script.dice.random(), self._script.dice.random()
        here = sorted(self._agents.intersection(_listed(_HERE, self._seen)))
        exits = [each.partition(" to ")[0] for each in _listed(_EXITS, self._seen)]
        if exits and (chance < _WALKS or not here):
            self._type(line, f"go {exits[int(choice * len(exits))]}", _ANYTHING)
            self._seen = self._type(line, "look", _EXITS)
        elif chance < _WALKS + _LOOKS or not here:
            self._look(line)
        else:
            self._talk(line, here[int(choice * len(here))])

    def _look(self, line: Line) -> None:
        sent = time.monotonic()
        self._seen = self._type(line, "look", _EXITS)
        self.looks.append((sent, time.monotonic()))

    def _talk(self, line: Line, agent: str) -> None:
        words, tag = self._script.sentence()
        said = SaidLine(self.name, agent, words, tag)
        self.said.append(said)
        shown = self._type(line, f"talk {agent} {words}", re.compile(rf'{tag}\."|Nobody called'))
        said.echoed = f'You say to {agent}, "{words}"' in shown

    def _type(self, line: Line, command: str, wanted: re.Pattern[str]) -> str:
        line.text = ""
        line.send(command)
        return self._wait(line, wanted)

    def _wait(self, line: Line, wanted: re.Pattern[str], seconds: float = PATIENCE) -> str:
        """What is shown until ``wanted`` was seen, without its line breaks."""
        deadline = time.monotonic() + seconds
        while not wanted.search(shown := " ".join(line.text.split())):
            if wanted is not _RESTARTED and any(each in shown for each in _NEWS_OF_THE_SERVER):
                raise Unheard(shown)
            if time.monotonic() > deadline:
                raise CutOff(f"{wanted.pattern!r} never came")
            if not line.read():
                raise CutOff("hung up")
        return shown


def _listed(pattern: re.Pattern[str], text: str) -> list[str]:
    found = pattern.search(text)
    return re.split(r",? and |, ", found[1]) if found else []
