"""Nine more days of an archived life: visitors plant what they ask for, among its own talk.

An exam about the life itself is passed by every configuration whose recall works. What comes after
it is new to all of them, as dense as what the agent is used to, and asked for after an hour, a day
and a week.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from game.lab.replays.lived import ArchivedLife
from game.lab.trials.probes import DAYS, trial_around
from game.lab.trials.trial import Trial
from game.mind.archive.records import Memory

SEED = 7
MOST = 150
"""Memories a day that are lived once more, at most: a busy life need not take ten minutes more."""
_DAY = timedelta(days=1)


def aftermath(life: ArchivedLife) -> Trial:
    """What comes after a life; the same each time. Its times begin the morning after."""
    start = (life.steps[-1].time + _DAY).replace(hour=8, minute=0, second=0, microsecond=0)
    return trial_around(life.name, list(_lived_again(life, start)), start, SEED)


def _lived_again(life: ArchivedLife, start: datetime) -> Iterator[Memory]:
    """The newest days of the life once more, again and again where it was shorter than that."""
    steps = life.steps[-DAYS * MOST :]
    first = steps[0].time.replace(hour=8, minute=0, second=0, microsecond=0)
    span = timedelta(days=(steps[-1].time - first).days + 1)
    again = 0
    while again * span < DAYS * _DAY:
        for step in steps:
            time = start + again * span + (step.time - first)
            if start <= time < start + DAYS * _DAY:
                yield replace(step, time=time, number=0, repeats=1)
        again += 1
