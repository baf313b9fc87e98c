"""What a soak does and when, by the seed alone: who says what, which faults and kills come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from random import Random

from game.cli.world.processes import Component

NAMES = ("Anneke", "Bertil", "Carys", "Dorte", "Ewout", "Fenna", "Gudrun", "Hanno")
MOST_PLAYERS = len(NAMES)
_THINGS = ("a brass key", "seven eels", "the ferry's bell", "my sister's cart", "a jar of honey")
_PLACES = ("behind the mill", "on the quay", "under the stairs", "at Harrow Bay", "by the well")
_WHEN = ("yesterday", "this morning", "at low tide", "in the rain", "when nobody looked")
_KILLED = (Component.SERVER,) * 3 + (Component.VECTORS, Component.PORTAL)
_LAST_KILL = 0.85
"""Of the time: what comes after it shows whether the world is well again."""
_CALM_SECONDS = 60.0
"""As much of a long soak is enough for that."""
_JUMPS = (3600, -3600, 86_400, -86_400, 90, -90)


class PlannedFault(StrEnum):
    """What the model server does."""

    WELL = "well"
    SLOW = "slow"
    GARBAGE = "garbage"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Kill:
    """A process is ended by SIGKILL; a child that does not run then is replaced by the Server."""

    at: float  # seconds after the beginning; later where the world has not yet recovered
    component: Component
    read_only: bool = False  # its vault cannot be written from then on until after the recovery
    twice: bool = False  # the one after it is killed as well, while it starts


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """What is asked for."""

    minutes: float
    seed: int
    kills: int
    players: int = 5
    small_disk: Path | None = None
    pause: float | None = None  # seconds from a recovery to the next kill; then `kills` is nothing
    embedded: bool = False  # agents talk with the embedded model, which is killed as well
    clock_jumps: bool = False

    @property
    def seconds(self) -> float:
        """How long it takes, but for start and end."""
        return self.minutes * 60

    @property
    def last_kill(self) -> float:
        """Seconds after the beginning from when on nothing is broken any more."""
        return max(self.seconds * _LAST_KILL, self.seconds - _CALM_SECONDS)

    def kill_times(self) -> Iterator[Kill]:
        """One in each equal part of the time, somewhere in it; the first is the Server's.

        With a ``pause`` they have no times and no end. Of ten Servers the one after the fifth is
        killed as well, and on a small disk the second comes up with a vault that cannot be written.
        """
        dice, kinds = Random(f"kills {self.seed}"), _KILLED + (Component.MODEL,) * self.embedded
        part, servers = self.last_kill / max(self.kills, 1), 0
        for number in range(self.kills) if self.pause is None else count():
            component = dice.choice(kinds) if number else Component.SERVER
            at = 0.0 if self.pause is not None else part * (number + dice.uniform(0.2, 0.9))
            servers += component is Component.SERVER
            turn = servers % 10 if component is Component.SERVER else 0
            read_only = turn == 2 and self.small_disk is not None
            yield Kill(at, component, read_only=read_only, twice=turn == 5)

    def pauses(self) -> Iterator[float]:
        """Seconds of talk before each kill, where they have no times."""
        dice = Random(f"pauses {self.seed}")
        while True:
            yield (self.pause or 0.0) * dice.uniform(0.5, 1.5)

    def jump_times(self) -> list[tuple[float, int]]:
        """From when on the clock is off by how many seconds; right again at the end."""
        if not self.clock_jumps:
            return []
        part = self.last_kill / (len(_JUMPS) + 1)
        return [(part * number, off) for number, off in enumerate((*_JUMPS, 0), start=1)]

    def fault_times(self) -> list[tuple[float, PlannedFault]]:
        """From when on the model behaves how; every other turn, and at the end, it is well."""
        dice, at, found = Random(f"faults {self.seed}"), 0.0, []
        faults = (PlannedFault.SLOW, PlannedFault.GARBAGE, PlannedFault.GONE)
        if self.embedded:  # which has no faults but those that kills make
            return []
        while (at := at + dice.uniform(4, 12)) < self.last_kill:
            found.append((at, dice.choice(faults)))
            at += dice.uniform(4, 12)
            found.append((at, PlannedFault.WELL))
        return found

    def disk_times(self) -> list[tuple[float, float]]:
        """From when to when the small disk is full: a tenth of each quarter of the time."""
        if self.small_disk is None:
            return []
        quarter = self.seconds / 4
        return [(quarter * (n + 0.5), quarter * (n + 0.6)) for n in range(4)]


class SoakScript:
    """What one player does, thrown with dice of their own."""

    def __init__(self, seed: int, player: int) -> None:
        self.dice = Random(f"player {seed} {player}")
        self._player, self._number = player, 0

    def pause(self) -> float:
        """Seconds until the next turn: well within what a player may send."""
        return self.dice.uniform(0.3, 1.5)

    def sentence(self) -> tuple[str, str]:
        """Something to say, and the word in it that nobody says a second time."""
        self._number += 1
        tag = f"p{self._player}n{self._number}x"
        what, where, when = (self.dice.choice(each) for each in (_THINGS, _PLACES, _WHEN))
        more = " and then I told nobody of it" * self.dice.choice((0, 0, 0, 1, 6))
        return f"I found {what} {where} {when}{more}, and I call it {tag}.", tag
