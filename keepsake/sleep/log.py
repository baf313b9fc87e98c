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
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.books.files import Stamp, stamp
from keepsake.errors import ArchiveUnwritable
from keepsake.json_lines import AppendedFile, Record, line_of, parsed
from keepsake.language.perception import shorten, visible
from keepsake.sleep.steps import Figures, Night, Step, StepDone

NAME = "sleep.jsonl"
MOST_NIGHTS = 200
"""The newest nights; older ones stay in the file, unread."""
AFRESH = timedelta(hours=12)
"""After a sleep that began this long ago, the rest of it is not all that a new one has to do."""
_TAIL_BYTES = 1_000_000
_LONGEST_WORDS = 300
_MOST_FIGURES = 40


class SleepLog:
    """The nights of one agent; safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.one_at_a_time = threading.Lock()
        """Held by whoever works through a night: never two at once."""
        self._lock = threading.RLock()
        self._seen: Stamp | None = None
        self._nights: dict[int, Night] = {}

    def nights(self) -> tuple[Night, ...]:
        """The newest :data:`MOST_NIGHTS` nights, oldest first; reads the file if it changed."""
        with self._lock:
            if (now := stamp(self.path)) != self._seen:
                self._nights = _fold(_records(self.path)) if now else {}
                self._seen = now
            return tuple(self._nights.values())

    @property
    def last(self) -> Night | None:
        """The present night, or the one before; None if it has never slept."""
        nights = self.nights()
        return nights[-1] if nights else None

    def begin(self, why: str, now: datetime) -> Night:
        """The agent has fallen asleep.

        What the last sleep left undone comes first; if that one is long past, all that a
        night has comes after it.

        Raises:
            ArchiveUnwritable: The disk is full, read-only or gone.
        """
        with self._lock:
            last = self.last
            plan = _plan(last, now)
            night = Night((last.number if last else 0) + 1, now, _words(why), plan=plan)
            self._append("asleep", night.number, now, why=night.why, plan=[*plan])
            return night

    def done(self, step: StepDone, night: int | None = None) -> None:
        """A step came to its end.

        Raises:
            ArchiveUnwritable: The disk is full, read-only or gone; the step will be done again.
        """
        with self._lock:
            told = {"figures": _figures(step.figures), "problem": _words(step.problem)}
            self._append("step", night, step.time, step=step.step, calls=step.calls, **told)

    def woke(self, by: str, now: datetime) -> None:
        """The agent has woken.

        Raises:
            ArchiveUnwritable: The disk is full, read-only or gone.
        """
        with self._lock:
            self._append("woke", None, now, by=_words(by))

    def _append(self, kind: str, night: int | None, time: datetime, **facts: Any) -> None:
        number = night or (self.last.number if self.last else 1)
        record = {"type": kind, "night": number, "t": time.isoformat()} | facts
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(AppendedFile(self.path)) as file:
                _write(file, line_of(record))
        except OSError as error:
            raise ArchiveUnwritable(
                f"{self.path} cannot be written ({error.strerror or error})",
                "Free some disk space or mend the permissions; the step will be done again",
            ) from error
        self.nights()


def _plan(last: Night | None, now: datetime) -> tuple[Step, ...]:
    """The rest of the last sleep; all there is, unless that was a moment ago or holds all."""
    rest, whole = last.left if last else (), tuple(Step)
    if last is None or not rest:
        return whole
    enough = len(rest) >= len(whole) or now - last.fell_asleep < AFRESH
    return rest if enough else (*rest, *whole)


def _write(file: AppendedFile, line: bytes) -> None:
    """All of a line, on the disk; what a crash has torn off before it stays a line of its own."""
    size = file.size
    try:
        file.append(b"\n" + line if file.torn() else line)
        file.sync()
    except OSError:
        file.cut(size)
        raise


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


def _fold(records: Iterator[Record]) -> dict[int, Night]:
    nights: dict[int, Night] = {}
    for record in records:
        try:
            _take(nights, record)
        except (KeyError, ValueError, TypeError):
            continue  # a line that this code cannot read
    return dict(sorted(nights.items())[-MOST_NIGHTS:])


def _take(nights: dict[int, Night], record: Record) -> None:
    number, time = int(record["night"]), datetime.fromisoformat(record["t"])
    if record["type"] == "asleep":
        steps = {step.value: step for step in Step}  # earlier versions had more
        plan = tuple(steps[each] for each in record.get("plan", steps) if each in steps)
        nights[number] = Night(number, time, str(record.get("why", "")), plan=plan)
    elif (night := nights.get(number)) is None:
        return
    elif record["type"] == "step":
        done = StepDone(
            step=Step(record["step"]),
            time=time,
            calls=int(record.get("calls", 0)),
            figures=_figures(record.get("figures") or {}),
            problem=str(record.get("problem", "")),
        )
        nights[number] = replace(night, steps=(*night.steps, done))
    elif record["type"] == "woke":
        nights[number] = replace(night, woke=time, woken_by=str(record.get("by", "")))


def _figures(given: Mapping[str, Any]) -> Figures:
    """Those that a line can hold, so that none grows without end."""
    found: dict[str, int | float | str] = {}
    for key, value in list(given.items())[:_MOST_FIGURES]:
        found[str(key)] = value if isinstance(value, int | float) else _words(str(value))
    return found


def _words(text: str) -> str:
    return shorten(" ".join(visible(text).split()), _LONGEST_WORDS)
