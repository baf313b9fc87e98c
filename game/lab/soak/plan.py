"""What a soak does and when, by the seed alone: who says what, which faults and kills come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
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


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """What is asked for."""

    minutes: float
    seed: int
    kills: int
    players: int = 5
    small_disk: Path | None = None

    @property
    def seconds(self) -> float:
        """How long it takes, but for start and end."""
        return self.minutes * 60

    def kill_times(self) -> list[Kill]:
        """One in each equal part of the time, somewhere in it; the first is the Server's."""
        dice, part = Random(f"kills {self.seed}"), self.seconds * _LAST_KILL / max(self.kills, 1)
        found = []
        for number in range(self.kills):
            component = dice.choice(_KILLED) if number else Component.SERVER
            found.append(Kill(part * (number + dice.uniform(0.2, 0.9)), component))
        return found

    def fault_times(self) -> list[tuple[float, PlannedFault]]:
        """From when on the model behaves how; every other turn, and at the end, it is well."""
        dice, at, found = Random(f"faults {self.seed}"), 0.0, []
        faults = (PlannedFault.SLOW, PlannedFault.GARBAGE, PlannedFault.GONE)
        while (at := at + dice.uniform(4, 12)) < self.seconds * _LAST_KILL:
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
