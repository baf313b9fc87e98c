"""What is known of an agent's nights: ``sleep.jsonl`` in its folder, only ever appended to.

A line is the commit point of what it says, and is on the disk before :class:`SleepLog`
returns: it is written a few times a night, and decides what the next one does.

===========  ================================================================
``type``     fields beside ``night`` and ``t``
===========  ================================================================
``asleep``   ``why``, ``plan`` (the steps that this sleep has to do)
``step``     ``step``, ``calls``, ``figures``, ``problem``
``woke``     ``by``
===========  ================================================================
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from keepsake.books.files import Stamp, stamp
from keepsake.errors import ArchiveUnwritable
from keepsake.json_lines import AppendedFile, Record, line_of, parsed
from keepsake.language.perception import shorten, visible

NAME = "sleep.jsonl"
AFRESH = timedelta(hours=12)
"""A sleep that begins this long after the last one is another night, with all there is to do."""
THROUGH = "through"
"""The figure of a step that says how far it has come: a memory's number, or an entry's id."""
_TAIL_BYTES = 1_000_000
"""The newest nights are read; older ones stay in the file."""
_LONGEST_WORDS = 300
_MOST_FIGURES = 40


class Step(StrEnum):
    """What an agent does in its sleep, in this order."""

    CONSOLIDATE = "consolidate"
    REFLECT = "reflect"
    PROFILES = "profiles"
    COMPACT = "compact"


type Figures = Mapping[str, int | float | str]
"""What a step did: ``{"asked": 3, "written": 12}``; for people and for programs."""


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step that came to its end."""

    step: Step
    time: datetime
    calls: int = 0
    figures: Figures = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Night:
    """One sleep."""

    number: int
    fell_asleep: datetime
    why: str  # why it went to sleep: ``16 hours awake``, ``a builder said so``
    # what was done, in order; a step that was broken off is not among them
    steps: tuple[StepDone, ...] = ()
    # when it woke; None if it still sleeps, or the server ended meanwhile
    woke: datetime | None = None
    woken_by: str = ""  # why it woke: ``its hour``, ``Tom``
    # what there is to do, in order: after a sleep that was broken off, the rest of that one
    plan: tuple[Step, ...] = tuple(Step)

    @property
    def left(self) -> tuple[Step, ...]:
        """What is not done yet, in order."""
        done = {each.step for each in self.steps}
        return tuple(step for step in dict.fromkeys(self.plan) if step not in done)

    @property
    def calls(self) -> int:
        """Model calls that its steps took."""
        return sum(each.calls for each in self.steps)


class SleepLog:
    """The nights of one agent; safe to use from several threads.

    Attributes:
        lock: Held while a night is opened or closed.
        at_work: Held by the thread that works through a night: never two at once.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.lock, self.at_work = threading.RLock(), threading.Lock()
        self._seen: Stamp | None = None
        self._nights: dict[int, Night] = {}

    def nights(self) -> tuple[Night, ...]:
        """The newest nights, oldest first; reads the file if it changed."""
        with self.lock:
            if (now := stamp(self.path)) != self._seen:
                self._nights = _fold(_records(self.path)) if now else {}
                self._seen = now
            return tuple(self._nights.values())

    @property
    def last(self) -> Night | None:
        """The present night, or the one before; None if it has never slept."""
        return next(reversed(self.nights()), None)

    def through(self, step: Step) -> str:
        """How far that step has come by now: its newest figure :data:`THROUGH`; empty for none."""
        done = (each for night in self.nights() for each in night.steps if each.step is step)
        return str(["", *(each.figures[THROUGH] for each in done if THROUGH in each.figures)][-1])

    def begin(self, why: str, now: datetime) -> Night:
        """The agent has fallen asleep: what its last sleep left undone is to do, or all.

        Raises:
            ArchiveUnwritable: The disk is full, read-only or gone.
        """
        with self.lock:
            last, plan = self.last, tuple(Step)
            if last is not None and last.left and now - last.fell_asleep < AFRESH:
                plan = last.left
            night = Night((last.number if last else 0) + 1, now, _words(why), plan=plan)
            self._append("asleep", night.number, now, why=night.why, plan=[*plan])
            return night

    def done(self, step: StepDone, night: int) -> Night:
        """A step of that night came to its end; the night as it is now.

        Raises:
            ArchiveUnwritable: The disk is full, read-only or gone; the step will be done again.
        """
        with self.lock:
            told = {"figures": _figures(step.figures), "problem": _words(step.problem)}
            self._append("step", night, step.time, step=step.step, calls=step.calls, **told)
            return self._nights[night]

    def woke(self, by: str, now: datetime) -> None:
        """The agent has woken; nothing happens if no sleep is open.

        Raises:
            ArchiveUnwritable: The disk is full, read-only or gone.
        """
        with self.lock:
            if (last := self.last) is not None and last.woke is None:
                self._append("woke", last.number, now, by=_words(by))

    def _append(self, kind: str, night: int, time: datetime, **facts: Any) -> None:
        record = {"type": kind, "night": night, "t": time.isoformat()} | facts
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(AppendedFile(self.path)) as file:
                size, line = file.size, line_of(record)
                try:  # what a crash has torn off before it stays a line of its own
                    file.append(b"\n" + line if file.torn() else line)
                    file.sync()
                except OSError:
                    file.cut(size)
                    raise
        except OSError as error:
            raise ArchiveUnwritable(
                f"{self.path} cannot be written ({error.strerror or error})",
                "Free some disk space or mend the permissions; the step will be done again",
            ) from error
        self.nights()


@cache
def sleep_log(folder: Path) -> SleepLog:
    """The log of the agent in that folder, one for all: two nights must know of each other."""
    return SleepLog(folder)


def _records(path: Path) -> Iterator[Record]:
    """The readable lines at the end of the file, oldest first."""
    try:
        with path.open("rb") as file:
            start = max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0)
            file.seek(start)
            lines = file.read().split(b"\n")[1 if start else 0 :]
    except OSError:
        return
    # What a crash has torn off, or a slip of somebody's pen, is passed over.
    yield from filter(None, map(parsed, lines))


def _fold(records: Iterable[Record]) -> dict[int, Night]:
    nights: dict[int, Night] = {}
    for record in records:
        try:
            _take(nights, record)
        except (KeyError, ValueError, TypeError):
            continue  # a line that this code cannot read
    return dict(sorted(nights.items()))


def _take(nights: dict[int, Night], record: Record) -> None:
    number, time = int(record["night"]), datetime.fromisoformat(record["t"])
    if record["type"] == "asleep":
        steps = {step.value: step for step in Step}  # earlier versions had more
        plan = tuple(steps[each] for each in record.get("plan", steps) if each in steps)
        nights[number] = Night(number, time, str(record.get("why", "")), plan=plan)
    elif (night := nights.get(number)) is None:
        return
    elif record["type"] == "step":
        calls, figures = int(record.get("calls", 0)), _figures(record.get("figures") or {})
        problem = str(record.get("problem", ""))
        done = StepDone(Step(record["step"]), time, calls, figures, problem)
        nights[number] = replace(night, steps=(*night.steps, done))
    elif record["type"] == "woke":
        nights[number] = replace(night, woke=time, woken_by=str(record.get("by", "")))


def _figures(given: Mapping[str, Any]) -> Figures:
    """Those that a line can hold, so that none grows without end."""
    return {
        str(key): value if isinstance(value, int | float) else _words(str(value))
        for key, value in list(given.items())[:_MOST_FIGURES]
    }


def _words(text: str) -> str:
    return shorten(" ".join(visible(text).split()), _LONGEST_WORDS)
