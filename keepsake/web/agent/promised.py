"""What agents have promised, and for when.

Runs in a view's thread, because it reads the archives of agents with promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from keepsake.agent.runtime import now
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import Speech, addressees_of
from keepsake.language.day_names import names_day, with_dates
from keepsake.language.due import DueDay, due_in
from keepsake.language.perception import CLAUSE_GAP
from keepsake.language.when import hours_in, part_of_day_in
from keepsake.web.agent.plan_causes import Agents
from keepsake.web.asked.lines import short_date
from keepsake.web.now import plans as plans_now
from keepsake.web.questions.clock import as_shown, moment_of
from keepsake.web.shapes import PromiseRow

_LATER = 200
"""The memories after a promise among which its hour may be said: about an evening's."""


def promises(agents: Agents) -> list[PromiseRow]:
    """Return the open promises of all agents, those for a certain day first, by day and hour.

    One whose line in the file has no day, as before there were any, may name it in its words: as
    of the day on which it was said. One without an hour has that which the agent said with it, or
    of its day later, to the same person.

    Args:
        agents: Promises of others are left out.
    """
    folders = {number: folder for number, _, folder in agents}
    rows = [each for each in plans_now.promises() if each.id in folders]
    said = {
        number: _memories(folders[number], (each.memory for each in rows if each.id == number))
        for number in {each.id for each in rows if each.memory}
    }
    found = [_dated(each, said.get(each.id, {}).get(each.memory), folders) for each in rows]
    return sorted(found, key=lambda each: each.at.timestamp() if each.at else float("inf"))


def promises_of(number: int, agents: Agents) -> Sequence[PromiseRow]:
    """Return those of one agent."""
    return promises([each for each in agents if each[0] == number])


def _memories(folder: Path, numbers: Iterable[int]) -> Mapping[int, Memory]:
    """Return memories by number; those that are lost are left out."""
    return Archive(folder / "archive", read_only=True).read_each(filter(None, numbers))


def _dated(row: PromiseRow, basis: Memory | None, folders: Mapping[int, Path]) -> PromiseRow:
    """Return a promise with its time; ``basis``: the memory that it rests on, if there is one."""
    if basis is None:
        return row
    on = as_shown(basis.time).date()
    dated = "" if on == as_shown(now()).date() else with_dates(row.text, on, short_date)
    row = row.model_copy(update={"said": basis.time, "dated": dated})
    due = _due(row, basis)
    if due is None:
        return row
    if due.hour is not None:
        return _with(row, due)
    archive = Archive(folders[row.id] / "archive", read_only=True)
    said = archive.read(basis.number, basis.number + _LATER)
    times = [*_times_said(row, due, [each for each in said if each.is_own])]
    hours = [each for each in times if each[0].hour is not None]
    if not times:
        return _with(row, due)
    named, words = hours[-1] if hours else times[0]
    return _with(row, named).model_copy(update={"when_said": words})


def _due(row: PromiseRow, basis: Memory) -> DueDay | None:
    """Return when a promise is due by its line in the file, and else by its words."""
    named = due_in(row.text, as_shown(basis.time))
    if row.at is None:
        return named
    begins = as_shown(row.at)
    if not row.whole_day:
        return DueDay(begins.date(), begins.time())
    if named is not None and named.day == begins.date() and not row.part:
        return named
    return DueDay(begins.date(), part=row.part)


def _with(row: PromiseRow, due: DueDay) -> PromiseRow:
    at = moment_of(due.begins)
    return row.model_copy(update={"at": at, "whole_day": due.hour is None, "part": due.part})


def _times_said(
    row: PromiseRow, due: DueDay, own: Iterable[Memory]
) -> Iterator[tuple[DueDay, str]]:
    """Yield when a promise is due as its agent said it, and in which words, in their order.

    Args:
        due: Its day, and a part of the day that an hour must be in.
        own: What the agent did from the promise on.
    """
    for memory in own:
        what = memory.what
        if not isinstance(what, Speech) or (memory.confidants is not None and not row.private):
            continue
        if row.whom not in {each.name for each in addressees_of(what)}:
            continue
        on = as_shown(memory.time).date()
        with_it = memory.number == row.memory
        for words in CLAUSE_GAP.split(what.words):
            hours = hours_in(words, due.part)
            is_of_day = names_day(words, on, due.day)
            fits = part_of_day_in(words) in ("", due.part) or not due.part
            if len(hours) == 1 and fits and (with_it or is_of_day):
                yield replace(due, hour=next(iter(hours)), part=""), words.rstrip(" ;")
            elif with_it and is_of_day and due.part:
                yield due, words.rstrip(" ;")
