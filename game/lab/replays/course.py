"""In which order a life is lived once more: what happened, what was thought, nights, restarts.

Where the event log tells of it, the order is the log's. Before it begins, and where it has holes,
there is a thought before each act, and nights are those of the sleep log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from game.lab.replays.event_history import Counted, Log, Moment, Prompted, Remembered, Told, Turn
from game.lab.replays.lived import ArchivedLife
from keepsake.archive.records import Memory, MemoryKind

EVERY = 4
"""Memories between two thoughts in a life without acts."""


type Happening = Memory | Told


@dataclass(frozen=True, slots=True)
class LifeCourse:
    """A life in its order."""

    happenings: tuple[Happening, ...]  # what is lived through
    untold: int  # steps of the archive of which the event log does not tell

    @property
    def thoughts(self) -> int:
        """How often it thinks."""
        return sum(
            isinstance(each, Prompted) or each == Moment(Turn.THINKS) for each in self.happenings
        )

    @property
    def whole(self) -> bool:
        """Whether the event log tells of the whole life."""
        return not self.untold


def course(life: ArchivedLife, log: Log) -> LifeCourse:
    """The order in which a life is lived."""
    return _Course(life, log).made()


class _Course:
    """A course that is being put together."""

    def __init__(self, life: ArchivedLife, log: Log) -> None:
        self._life, self._log = life, log
        self._made: list[Happening] = []
        self._next = 0
        self._untold = 0
        self._lived: tuple[int, int] = (0, 0)
        """The number of the last step, and how often in a row it has happened."""
        self._nights = list(_nights(life, log.since))

    def made(self) -> LifeCourse:
        for each in self._log.told:
            self._tell(each)
        self._go_on_to(len(self._life.steps))
        return LifeCourse(tuple(self._made), self._untold)

    def _tell(self, each: Told) -> None:
        if isinstance(each, Remembered):
            place = self._place_of(each)
            if place is not None:
                self._go_on_to(place)
                self._step()
        elif isinstance(each, Prompted):
            self._made.insert(self._before(each), each)
        elif isinstance(each, Counted):
            self._made.insert(self._answered(each), each)
        elif self._next:  # what was before the first memory changes nothing
            self._made.append(each)

    def _place_of(self, told: Remembered) -> int | None:
        """The step that it is; None if it was lived through already, or is not in the archive."""
        number, times = self._lived
        for place in range(self._next, len(self._life.steps)):
            step = self._life.steps[place]
            number, times = step.number, times + 1 if step.number == number else 1
            if (number, times) == (told.number, told.times):
                return place
            if number > told.number:
                break
        return None

    def _before(self, thought: Prompted) -> int:
        """Where its prompt was built: before the first memory that did not stand in it."""
        last = thought.total or (thought.memory - 1 if thought.memory else self._lived[0])
        place = len(self._made)
        for back in range(len(self._made) - 1, -1, -1):
            step = self._made[back]
            if not isinstance(step, Memory):
                continue
            again = step.number == last and self._is_repeat(back) and step.time > thought.time
            if step.number <= last and not again:
                break
            place = back
        return place

    def _answered(self, counted: Counted) -> int:
        """Where the answer came: before whatever came of it, which the log tells first."""
        place = len(self._made)
        while place and isinstance(step := self._made[place - 1], Memory):
            if step.time < counted.time:
                break
            place -= 1
        return place

    def _is_repeat(self, place: int) -> bool:
        number = getattr(self._made[place], "number", 0)
        earlier = (each for each in reversed(self._made[:place]) if isinstance(each, Memory))
        before = next(earlier, None)
        return before is not None and before.number == number

    # -- steps

    def _go_on_to(self, place: int) -> None:
        """Live through the steps of which the log does not tell."""
        while self._next < place:
            self._untold += 1
            step = self._life.steps[self._next]
            self._sleep(step.time)
            if self._thinks(step):
                self._made.append(Moment(Turn.THINKS))
            self._step()

    def _step(self) -> None:
        step = self._life.steps[self._next]
        if self._next in self._life.cleared:
            self._made.append(Moment(Turn.CLEARED))
        number, times = self._lived
        self._lived = (step.number, times + 1 if step.number == number else 1)
        self._made.append(step)
        self._next += 1

    def _sleep(self, until: datetime) -> None:
        """Whatever of the nights of which no log tells was before that time."""
        while self._nights:
            night = self._nights[0]
            # That it falls asleep at the time of a memory is none of before it.
            if night.time > until or (night.what is Turn.DOZING and night.time == until):
                break
            self._made.append(self._nights.pop(0))

    def _thinks(self, step: Memory) -> bool:
        """Before each act; every few memories in a life without any."""
        if self._life.acts:
            return step.kind is MemoryKind.ACT
        return self._next % EVERY == EVERY - 1


def _nights(life: ArchivedLife, since: datetime | None) -> Iterator[Moment]:
    for asleep, woke in life.nights:
        if since is None or asleep < since:
            yield Moment(Turn.DOZING, asleep)
            yield Moment(Turn.AWAKE, woke)
