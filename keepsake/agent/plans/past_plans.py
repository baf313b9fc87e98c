"""The plans of an agent as of an earlier time, from its archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.books.plan import PlanState
from keepsake.json_lines import Record


@dataclass(frozen=True, slots=True)
class PastPlan:
    """A plan as it was at some time.

    Attributes:
        number: Unique for one agent.
        line: The plan in words, with its time, place and person, as a prompt shows it.
        state: How far it was.
        private: Whether it rests on private words.
        what: What it meant to do, in its own words.
        aloud: Whether it was asked for aloud, too. Then others saw what was done for it.
        since: The number of the memory that it rests on; 0 if a person wrote it.
        whom: The name of the person with whom or for whom it is done; empty for nobody.
        confidants: The identities of those who alone may know of it, if it is private.
    """

    number: int
    line: str
    state: PlanState
    private: bool
    what: str
    aloud: bool = False
    since: int = 0
    whom: str = ""
    confidants: tuple[str, ...] = ()

    @property
    def privacy(self) -> str:
        """Who knew of it, in a word or two; empty if anybody might."""
        told = "keeps it private, and was asked aloud" if self.aloud else "keeps it private"
        return told if self.private else ""


type PlanChanges = Sequence[tuple[datetime, PastPlan]]
"""The plans of an agent after each change of one, with the time of the change; oldest first."""


def plan_changes(archive: Archive) -> PlanChanges:
    """Return every change of a plan that an archive has; blocks."""
    return tuple(_changes(archive))


def _changes(archive: Archive) -> Iterator[tuple[datetime, PastPlan]]:
    for _, line in archive.forwards(memories=False):
        if line is None or line.get("type") != LineType.PLAN:
            continue
        with suppress(KeyError, ValueError, TypeError):  # a line that this version cannot read
            yield datetime.fromisoformat(line["t"]), plan_in(line)


def plans_at(archive: Archive, moment: datetime) -> dict[int, PastPlan]:
    """Return the plans as of that moment by number, also those that had ended; blocks."""
    return {plan.number: plan for time, plan in _changes(archive) if time <= moment}


def plan_in(line: Record) -> PastPlan:
    """Return the plan of an archive line; see :meth:`keepsake.books.plan.Plan.to_record`."""
    when = str(line["when"])
    what = str(line["what"])
    words = f"{when}: {what}" if when else what
    return PastPlan(
        number=int(line["id"]),
        line=words,
        state=PlanState(line["state"]),
        private="private" in line,
        what=what,
        aloud="aloud" in line,
        since=int(line.get("memory", 0)),
        whom=str(line["whom"][0]) if line.get("whom") else "",
        confidants=tuple(map(str, line.get("private", ()))),
    )
