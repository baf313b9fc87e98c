"""Why an agent has its plans: who asked for them, and when.

Runs in a view's thread, because it reads the archive.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.agent.why import set_off_by
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.web.agent.shapes import OwnPlan
from keepsake.web.remembered import view_of, words_in_archive
from keepsake.web.shapes import PlanRow


def with_causes(rows: Sequence[PlanRow], archive: Archive) -> list[OwnPlan]:
    """Return plans with what led to those that have not ended; ``archive``: the agent's."""
    open_rows = (each for each in rows if not each.state.has_ended)
    memories = archive.read_each(each.memory for each in open_rows if each.memory)
    words = words_in_archive(archive)
    found = []
    for row in rows:
        memory = None if row.state.has_ended else memories.get(row.memory)
        cause = memory and _cause_of(memory, archive)
        view = view_of(cause, words) if cause else None
        found.append(OwnPlan(**row.model_dump(), cause=view))
    return found


def _cause_of(memory: Memory, archive: Archive) -> Memory | None:
    """Return what led to a plan: its memory, or what that answers if it is the agent's own act."""
    return set_off_by(archive, memory) if memory.is_own else memory
