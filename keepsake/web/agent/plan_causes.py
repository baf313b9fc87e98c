"""Why agents have their plans: who asked for them, and when.

Runs in a view's thread, because it reads the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import Speech
from keepsake.tracing.content import Content, Rarity
from keepsake.web.agent.shapes import OwnPlan
from keepsake.web.remembered import view_of, words_in_archive
from keepsake.web.shapes import PlanRow

_BACK = 40
"""The memories before a plan among which its person may have asked for it: those of a talk."""
_ASKED = 8.0
"""Bits by which words must be more than chance in what a person asked, as for other lines. Of the
88 plans of two evenings, four rested on nobody's words or on another's, and are put right."""


def with_causes(rows: Sequence[PlanRow], archive: Archive) -> list[OwnPlan]:
    """Return plans with what led to them, also to those that ended; ``archive``: the agent's.

    The archive is read twice, however many plans there are: all that rest on a memory, then all
    that those memories rest on.
    """
    memories = archive.read_each(each.memory for each in rows if each.memory)
    own = (each.rests_on for each in memories.values() if each.is_own)
    before = archive.read_each(chain.from_iterable(own))
    words = words_in_archive(archive)
    found = []
    for row in rows:
        memory = memories.get(row.memory)
        cause = next(_causes_of(memory, before), None) if memory else None
        if memory and memory.is_own and not (cause and cause.source == row.whom):
            cause = _asked_by(row, memory, archive, cause)
        view = view_of(cause, words) if cause else None
        found.append(OwnPlan(**row.model_dump(), cause=view))
    return found


def with_causes_of_all(
    rows: Sequence[PlanRow], agents: Iterable[tuple[int, str, Path]]
) -> list[OwnPlan]:
    """Return plans of several agents with what led to them, in their order.

    Args:
        rows: The plans.
        agents: Number, name and folder of each agent; plans of others are left out.
    """
    folders = {number: folder for number, _, folder in agents}
    plans = dict[int, Iterator[OwnPlan]]()
    for number in {each.id for each in rows} & folders.keys():
        archive = Archive(folders[number] / "archive", read_only=True)
        plans[number] = iter(with_causes([each for each in rows if each.id == number], archive))
    return [next(plans[each.id]) for each in rows if each.id in plans]


def _causes_of(memory: Memory, before: dict[int, Memory]) -> Iterator[Memory]:
    """Yield what led to a plan, the newest first: its memory, or what its own act rests on."""
    if not memory.is_own:
        yield memory
        return
    for number in sorted(memory.rests_on, reverse=True):
        each = before.get(number)
        if each is not None and not each.is_own:
            yield each


def _asked_by(
    row: PlanRow, memory: Memory, archive: Archive, given: Memory | None
) -> Memory | None:
    """Return what the person of a plan said for it, where its act rests on another's words.

    A thought begins with the newest words, and may plan what somebody asked a line before.

    Args:
        memory: That of the plan.
        given: What the act rests on; None if that is not known.
    """
    number = memory.number
    talk = archive.read(max(number - _BACK, 1), number - 1) if row.whom else []
    said = [each for each in talk if isinstance(each.what, Speech) and not each.is_own]
    rarity = Rarity.among(each.words for each in said)
    content = Content(row.what, rarity)

    def bits(each: Memory) -> float:
        return content.bits(content.shared(each.words or each.text))

    asked = [each for each in said if each.source == row.whom]
    best = max(asked, key=lambda each: (bits(each), each.number), default=None)
    if best is None or content.beyond_chance(best.words, len(said)) < _ASKED:
        return given
    return best if given is None or bits(best) >= 2 * bits(given) else given
