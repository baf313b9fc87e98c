"""Deletes a person's memories from those that wait for an archive that could not be written."""

from __future__ import annotations

from keepsake.archive.records import Memory
from keepsake.archive.spill import Line, Spill, time_in
from keepsake.erasure.traces import Traces


class SpillCleaner:
    """Cleans the waiting memories of one agent; used by the thread that uses the :class:`Spill`.

    The agent reads its waiting memories again when its mind is opened: call it while it is closed.
    """

    name = "waiting memories"

    def __init__(self, spill: Spill, agent: str) -> None:
        self._spill = spill
        self._agent = agent

    def clean(self, traces: Traces) -> None:
        """Delete the person's lines, and the lines that are archived already."""

        def unwanted(agent: str, line: Line) -> bool:
            if agent != self._agent:
                return False
            try:
                # It gets its number with its place in the archive.
                memory = Memory.from_record({**line, "t": time_in(line), "n": 0})
            except (KeyError, ValueError, TypeError):
                return False
            return traces.involves(agent, memory)

        self._spill.drop(unwanted)
