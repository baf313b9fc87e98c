"""What an agent meant to do at an earlier time: its open plans, and its promises.

Runs in a view's thread, because it reads the archive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
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
            found[line] = PastPromise(
                line=line,
                memory=number,
                private=kept_for(memory.confidants),
                whom=whom,
                text=text,
            )
        found.pop(memory.text.removeprefix(PROMISE_KEPT), None)
    kept_by = {promise.line: plan.number for plan, promise in _kept_by(plans, found.values())}
    return tuple(
        each.model_copy(update={"plan": kept_by.get(each.line, 0)}) for each in found.values()
    )


def _kept_by(
    plans: Iterable[PastPlan], promises: Collection[PastPromise]
) -> Iterator[tuple[PastPlan, PastPromise]]:
    """Yield each plan that was made with a promise, and to keep it, with that promise.

    Of several it is that in whose words the plan is, or else that which was made nearest.
    """
    for plan in plans:
        near = [each for each in promises if _keeps(plan, each)]
        same = [each for each in near if plan.what == each.text.strip(" -*#>.")]
        best = min(same or near, key=lambda each: abs(plan.since - each.memory), default=None)
        if best is not None:
            yield plan, best


def _keeps(plan: PastPlan, promise: PastPromise) -> bool:
    together = abs(plan.since - promise.memory) <= SAME_ANSWER
    whom = promise.whom
    return together and bool(whom) and (plan.whom == whom or names(plan.what, whom))
