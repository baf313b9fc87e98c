"""What agents have promised, and for which day.

Runs in a view's thread, because it reads the archives of agents with older promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.language.due import due_in
from keepsake.web.agent.plan_causes import Agents
from keepsake.web.now import plans as plans_now
from keepsake.web.questions.clock import as_shown, moment_of
from keepsake.web.shapes import PromiseRow


def promises(agents: Agents) -> list[PromiseRow]:
    """Return the open promises of all agents, those for a certain day first, by that day.

    One whose line in the file has no day, as before there were any, may name it in its words: as
    of the day on which it was said.

    Args:
        agents: Promises of others are left out.
    """
    folders = {number: folder for number, _, folder in agents}
    rows = [each for each in plans_now.promises() if each.id in folders]
    times = {
        number: _times(folders[number], (each.memory for each in rows if each.id == number))
        for number in {each.id for each in rows if each.memory}
    }
    found = [_dated(each, times.get(each.id, {}).get(each.memory)) for each in rows]
    return sorted(found, key=lambda each: each.at.timestamp() if each.at else float("inf"))


def promises_of(number: int, agents: Agents) -> Sequence[PromiseRow]:
    """Return those of one agent."""
    return promises([each for each in agents if each[0] == number])


def _times(folder: Path, numbers: Iterable[int]) -> Mapping[int, datetime]:
    """Return when memories were remembered, by number; those that are lost are left out."""
    found = Archive(folder / "archive", read_only=True).read_each(filter(None, numbers))
    return {number: each.time for number, each in found.items()}


def _dated(row: PromiseRow, said: datetime | None) -> PromiseRow:
    if said is None:
        return row
    named = due_in(row.text, as_shown(said).date()) if row.at is None else None
    if named is None:
        return row.model_copy(update={"said": said})
    at = moment_of(named.begins)
    return row.model_copy(update={"said": said, "at": at, "whole_day": True})
