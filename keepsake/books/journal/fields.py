"""What is known of an entry, as words in a file and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from itertools import groupby

from keepsake.books.journal import wording
from keepsake.books.journal.entries import (
    LEAST,
    MOST,
    EntryOrigin,
    Importance,
    JournalEntry,
    Judge,
)

BY_HAND = Importance(5, Judge.AGENT)
"""What an entry counts that a person wrote without saying how much."""


_SCORE = re.compile(
    r"(?P<score>\d{1,6})(?:[ \t]*/[ \t]*10)?(?:,?[ \t]*(?:by[ \t]+)?(?P<judge>rules|model|agent))?"
    r"[ \t]*(?:\((?P<reasons>[^()]*)\))?$",
    re.I | re.ASCII,
)
_RANGE = re.compile(r"(\d{1,12})(?:[ \t]*[-–][ \t]*(\d{1,12}))?", re.ASCII)
_NO_REASON = re.compile(r"[,()\[\]<>*`]")
_LONGEST_REASON, _MOST_REASONS = 40, 6
_YEARS = range(1971, 3000)


def written(entry: JournalEntry) -> dict[str, str]:
    """The fields of an entry in their order; an empty one is not written."""
    weight, why = entry.importance, ", ".join(entry.importance.reasons)
    return {
        "importance": f"{weight.score}, by {weight.judge.value}{f' ({why})' if why else ''}",
        "source": f"{entry.origin.value} (trust {entry.trust})",
        "memories": _numbers(entry.memories),
        "tags": ", ".join(entry.tags),
        "who": ", ".join(entry.who),
        "written": entry.time.isoformat(timespec="seconds"),
    }


def read(entry_id: str, day: date, clock: str, text: str, given: Mapping[str, str]) -> JournalEntry:
    """An entry from what stands in a file; what a person left out has a default.

    Raises:
        ValueError: The text is missing, or a field is wrong; says which.
    """
    line = wording.clean(text)
    if not line:
        raise ValueError("it has no text")
    return JournalEntry(
        id=entry_id,
        time=_time(given.get("written", ""), day, clock),
        text=line,
        importance=_read_importance(given.get("importance", "")),
        origin=_read_origin(given.get("source", "")),
        memories=wording.numbers(_read_numbers(given.get("memories", ""))),
        tags=wording.tags(given.get("tags", "").split(",")),
        who=wording.people(given.get("who", "").split(",")),
    )


def clock(moment: datetime) -> str:
    """The time of day by the machine's own clock: ``14:05``."""
    return f"{moment.astimezone():%H:%M}"


def reasons(given: Sequence[str]) -> tuple[str, ...]:
    """Reasons as a file can hold them."""
    plain = (wording.clean(_NO_REASON.sub(" ", each[:1000])) for each in given)
    return tuple(each[:_LONGEST_REASON].strip() for each in plain if each)[:_MOST_REASONS]


@lru_cache(maxsize=1024)
def _read_importance(value: str) -> Importance:
    if not value:
        return BY_HAND
    match = _SCORE.match(value)
    score = int(match["score"]) if match else 0
    if match is None or not LEAST <= score <= MOST:
        raise ValueError(f"importance {value[:40]!r} is no number from {LEAST} to {MOST}")
    # Whoever writes a number there by hand has thought about it.
    judge = Judge(match["judge"].casefold()) if match["judge"] else Judge.AGENT
    return Importance(score, judge, reasons((match["reasons"] or "").split(",")))


def _read_origin(value: str) -> EntryOrigin:
    name = value.partition("(")[0].strip().casefold()
    try:
        return EntryOrigin(name) if name else EntryOrigin.INFERRED
    except ValueError:
        known = ", ".join(origin.value for origin in EntryOrigin)
        raise ValueError(f"source {name[:40]!r} is none of {known}") from None


def _time(value: str, day: date, clock: str) -> datetime:
    """When it was written; of a person's own entry what its heading says."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.year in _YEARS:
            return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        pass  # a person's own way of writing it, or nothing
    try:
        return datetime.combine(day, time.fromisoformat(f"{clock:0>5}")).astimezone()
    except ValueError:
        return datetime.combine(day, time()).astimezone()


def _numbers(numbers: Sequence[int]) -> str:
    """``17, 120-125, 130``."""
    runs = groupby(enumerate(numbers), key=lambda each: each[1] - each[0])
    found = [[number for _, number in run] for _, run in runs]
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in found
    )


def _read_numbers(value: str) -> Iterator[int]:
    for match in _RANGE.finditer(value):
        first, last = int(match[1]), int(match[2] or match[1])
        # From the end, so that of too many the newest stay.
        yield from range(last, max(first, last - wording.MOST_NUMBERS + 1) - 1, -1)
