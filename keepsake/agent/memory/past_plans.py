"""The plans of an agent as of an earlier time, from its archive."""

from __future__ import annotations

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
    """

    number: int
    line: str
    state: PlanState
    private: bool


def plans_at(archive: Archive, moment: datetime) -> dict[int, PastPlan]:
    """Return the plans as of that moment by number, also those that had ended; blocks."""
    found = dict[int, PastPlan]()
    for _, line in archive.forwards(memories=False):
        if line is None or line.get("type") != LineType.PLAN:
            continue
        with suppress(KeyError, ValueError, TypeError):  # a line that this version cannot read
            if datetime.fromisoformat(line["t"]) > moment:
                break
            plan = _plan_in(line)
            found[plan.number] = plan
    return found


def _plan_in(line: Record) -> PastPlan:
    """Return the plan of an archive line; see :meth:`keepsake.books.plan.Plan.to_record`."""
    when = str(line["when"])
    what = str(line["what"])
    words = f"{when}: {what}" if when else what
    return PastPlan(int(line["id"]), words, PlanState(line["state"]), "private" in line)
