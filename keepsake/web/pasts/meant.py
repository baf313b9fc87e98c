"""What an agent meant to do at an earlier time: its open plans, and its promises.

Runs in a view's thread, because it reads the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from keepsake.agent.plans.past_plans import PastPlan, plan_in
from keepsake.archive.log import Archive
from keepsake.archive.privacy import is_private
from keepsake.books.kept_lines import promised_in
from keepsake.json_lines import Record
from keepsake.prompt.results import PROMISE_KEPT, PROMISED
from keepsake.tracing.past import Moment
from keepsake.web.fact_shapes import PastPromise
from keepsake.web.pasts.archives import past_of


def open_plans(records: Iterable[Record]) -> Iterator[PastPlan]:
    """Yield those plans of an archive's records that had not ended.

    A person's change of the file counts from when the game read it.
    """
    for record in records:
        with suppress(KeyError, ValueError, TypeError):  # one that this version cannot read
            plan = plan_in(record)
            if not plan.state.has_ended:
                yield plan


def open_promises(folder: Path, moment: Moment) -> tuple[PastPromise, ...]:
    """Return the promises that were not kept at a moment, by the agent's own commands."""
    numbers = past_of(folder).commitments_until(moment.number)
    archive = Archive(folder / "archive", read_only=True)
    found: dict[str, PastPromise] = {}
    for number, memory in archive.read_each(numbers).items():
        if memory.text.startswith(PROMISED):
            line = memory.text.removeprefix(PROMISED)
            whom, text = promised_in(line)
            private = is_private(memory)
            found[line] = PastPromise(
                line=line, memory=number, private=private, whom=whom, text=text
            )
        found.pop(memory.text.removeprefix(PROMISE_KEPT), None)
    return tuple(found.values())
