"""What an agent meant to do at an earlier time: its open plans, and its promises.

Runs in a view's thread, because it reads the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from keepsake.agent.plans.past_plans import PastPlan, plan_in
from keepsake.agent.plans.shown_plans import SAME_ANSWER
from keepsake.archive.log import Archive
from keepsake.books.kept_lines import promised_in
from keepsake.json_lines import Record
from keepsake.language.perception import names
from keepsake.prompt.results import PROMISE_KEPT, PROMISED, REMINDED
from keepsake.tracing.past import Moment
from keepsake.web.pasts.archives import past_of
from keepsake.web.pasts.past_shapes import PastPromise
from keepsake.web.privacy import kept_for


def open_plans(records: Iterable[Record]) -> Iterator[PastPlan]:
    """Yield those plans of an archive's records that had not ended.

    A person's change of the file counts from when the game read it.
    """
    for record in records:
        with suppress(KeyError, ValueError, TypeError):  # one that this version cannot read
            plan = plan_in(record)
            if not plan.state.has_ended:
                yield plan


def open_promises(
    folder: Path, moment: Moment, plans: Iterable[PastPlan] = ()
) -> tuple[PastPromise, ...]:
    """Return the promises that were not kept at a moment, by the agent's own commands.

    ``plans``: Its open plans, some of which may have been made to keep one.
    """
    numbers = past_of(folder).commitments_until(moment.number)
    archive = Archive(folder / "archive", read_only=True)
    found: dict[str, PastPromise] = {}
    for number, memory in archive.read_each(numbers).items():
        if memory.text.startswith(PROMISED):
            line = memory.text.removeprefix(PROMISED).partition(REMINDED)[0]
            whom, text = promised_in(line)
            private = kept_for(memory.confidants)
            kept_by = (each.number for each in plans if _keeps(each, number, whom))
            found[line] = PastPromise(
                line=line,
                memory=number,
                private=private,
                whom=whom,
                text=text,
                plan=next(kept_by, 0),
            )
        found.pop(memory.text.removeprefix(PROMISE_KEPT), None)
    return tuple(found.values())


def _keeps(plan: PastPlan, memory: int, whom: str) -> bool:
    """Return whether a plan was made with a promise, and to keep it.

    Args:
        memory: That of the promise's being noted.
        whom: The name of the person to whom it was promised; empty if that is not known.
    """
    together = abs(plan.since - memory) <= SAME_ANSWER
    return together and bool(whom) and (plan.whom == whom or names(plan.what, whom))
