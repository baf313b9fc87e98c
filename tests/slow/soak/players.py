"""Players of a soak: each has a thread and a telnet client, and connects again when cut off."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from random import Random

import yaml

from keepsake.paths import REPOSITORY, Ports
from tests.slow.e2e.players import PASSWORD
from tests.slow.e2e.telnet import Telnet

NAMES = ("Anneke", "Bertil", "Carys", "Dorte", "Ewout")
FAST = (0.3, 1.5)
CALM = (4.0, 12.0)
"""The shortest and longest pause between two turns of a player, in seconds."""
AGENTS = frozenset(p.stem.title() for p in (REPOSITORY / "world" / "agents").glob("*.md"))
"""Names, from the world's files: their folders in the vault are made after the start."""
ROOMS = frozenset(
    room["name"]
    for room in yaml.safe_load((REPOSITORY / "world" / "map.yaml").read_text())["rooms"].values()
)
"""The names of the rooms, as the first line of a look shows them."""
MARK = re.compile(r"p\d+n\d+[wx]")
"""A word that is in one line of a player only; that of a whisper ends with ``w``."""
LOGIN_PATIENCE = 300.0
"""Seconds for a log-in: passwords are slow to check, and thirty may come at once."""
PATIENCE = 30.0
"""Seconds without an answer after which a player connects again."""
_THINGS = ("a brass key", "seven eels", "the ferry's bell", "my sister's cart", "a jar of honey")
_PLACES = ("behind the mill", "on the quay", "under the stairs", "at Harrow Bay", "by the well")
_HERE = re.compile(r"Here: ([^.]*)\.")
_EXITS = re.compile(r"Exits: ([^.]*)\.")
_ARRIVED = re.compile(r"You become .*Exits: [^.]*\.")
_ANYTHING = re.compile(r"\S")
_SCREEN = re.compile(r"quit to leave")
"""The end of the first screen. The game ignores all that is typed before it."""
_AWAY = re.compile(r"The game (?:has stopped|is not available)")
"""Messages of the Portal while there is no Server."""
_WHISPERS = 0.3
"""The share of lines that are whispered."""
_ASKS = 0.2
"""The share of open lines that ask for what others whispered."""
_WALKS = 0.1
_LOOKS = 0.25
"""The share of turns that are walks, and the share that are walks or looks."""


class CutOff(Exception):
    """The connection is lost, or silent."""


@dataclass(slots=True)
class SaidLine:
    """A line that a player typed to an agent.

    Attributes:
        mark: A word that is only in this line; see :data:`MARK`.
        whispered: Whether it was whispered.
        room: Where the player was, by the last look.
        echoed: Whether the game showed it to the player.
    """

    player: str
    agent: str
    words: str
    mark: str
    whispered: bool = False
    room: str = ""
    echoed: bool = False


class SoakPlayer:
    """One player; :meth:`run` is the work of a thread.

    Attributes:
        said: All lines that were typed to agents, in order.
        looks: When each answered ``look`` was sent, by the monotonic clock.
        cuts: The errors when the connection was lost, or silent for :data:`PATIENCE` seconds.
        shown: All that the player's screen showed, in pieces.
    """

    def __init__(
        self, seed: int, number: int, ports: Ports, agents: frozenset[str], *, calm: bool = False
    ) -> None:
        more, name = divmod(number, len(NAMES))
        self.name = NAMES[name] + "abcdefghij"[:more]
        self._ports = ports
        self._agents = agents
        self._pause = CALM if calm else FAST
        self._number = number
        self._dice = Random(f"player {seed} {number}")
        self._seen = ""
        self._room = ""
        self.said: list[SaidLine] = []
        self.looks: list[float] = []
        self.cuts: list[str] = []
        self.shown: list[str] = []

    def arrive(self) -> None:
        """Create the account."""
        with self._line() as line:
            self._type(line, f"create {self.name} {PASSWORD}", _ARRIVED, LOGIN_PATIENCE)

    def run(self, stop: threading.Event) -> None:
        """Play until ``stop`` is set."""
        while not stop.is_set():
            try:
                with self._line() as line:
                    self._type(line, f"connect {self.name} {PASSWORD}", _ARRIVED, LOGIN_PATIENCE)
                    self._look(line)
                    while not stop.wait(self._dice.uniform(*self._pause)):
                        self._turn(line)
            except (OSError, CutOff) as error:
                self.cuts.append(f"{self.name}: {error!r}")
                stop.wait(0.3)

    @contextmanager
    def _line(self) -> Iterator[Telnet]:
        with closing(Telnet("127.0.0.1", self._ports.telnet, self._number)) as line:
            try:
                _wait(line, _SCREEN, LOGIN_PATIENCE)
                yield line
            finally:
                self.shown.append(line.text)

    def _turn(self, line: Telnet) -> None:
        chance = self._dice.random()
        dice = self._dice
        here = sorted(self._agents.intersection(_listed(_HERE, self._seen)))
        exits = [each.partition(" to ")[0] for each in _listed(_EXITS, self._seen)]
        if exits and (chance < _WALKS or not here):
            self._type(line, f"go {dice.choice(exits)}", _ANYTHING)
        if chance < _LOOKS or not here:
            self._look(line)
        else:
            self._talk(line, dice.choice(here))

    def _look(self, line: Telnet) -> None:
        sent = time.monotonic()
        self._seen = self._type(line, "look", _EXITS)
        self._room = next((each for each in line.text.split("\n") if each.strip() in ROOMS), "")
        self._room = self._room.strip()
        self.looks.append(sent)

    def _talk(self, line: Telnet, agent: str) -> None:
        dice = self._dice
        whispered = dice.random() < _WHISPERS
        mark = f"p{self._number}n{len(self.said) + 1}{'w' if whispered else 'x'}"
        what = dice.choice(_THINGS)
        where = dice.choice(_PLACES)
        more = " and then I told nobody of it" * dice.choice((0, 0, 0, 1, 6))
        words = f"I found {what} {where}{more}, and I call it {mark}."
        if not whispered and dice.random() < _ASKS:
            words = f"What did {dice.choice(NAMES)} whisper to you? Tell me, I call it {mark}."
        said = SaidLine(self.name, agent, words, mark, whispered, self._room)
        self.said.append(said)
        command = f"whisper {agent} = {words}" if whispered else f"talk {agent} {words}"
        shown = self._type(line, command, re.compile(rf'{mark}\."|Nobody called'))
        said.echoed = f'You {"whisper" if whispered else "say"} to {agent}, "{words}"' in shown

    def _type(
        self, line: Telnet, command: str, wanted: re.Pattern[str], seconds: float = PATIENCE
    ) -> str:
        """Type a command; return what was shown from then on until ``wanted`` was shown."""
        self.shown.append(line.text)
        line.text = ""
        line.send(command)
        return _wait(line, wanted, seconds)


def _wait(line: Telnet, wanted: re.Pattern[str], seconds: float = PATIENCE) -> str:
    """Wait for a pattern; return what was shown until then, without line breaks."""
    deadline = time.monotonic() + seconds
    while not wanted.search(shown := " ".join(line.text.split())):
        if time.monotonic() > deadline or _AWAY.search(shown) or not line.read():
            raise CutOff(f"{wanted.pattern!r} never came: {shown[-200:]}")
    return shown


def _listed(pattern: re.Pattern[str], text: str) -> list[str]:
    found = pattern.search(text)
    return re.split(r",? and |, ", found[1]) if found else []


@contextmanager
def playing(players: Sequence[SoakPlayer]) -> Iterator[None]:
    """Create all accounts, then let the players play within the context."""
    for player in players:
        player.arrive()
    stop = threading.Event()
    threads = [threading.Thread(target=each.run, args=(stop,), daemon=True) for each in players]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(2 * PATIENCE)
