"""Whom an agent has told that it cannot answer, so that nobody reads it over and over.

Who says something more reads it again, alone: words without any answer look as if they were lost.
While no model answers, an agent tries again once a minute, and whenever somebody speaks to it.
"""

from __future__ import annotations

from collections.abc import Collection

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.body import Body
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.surroundings.showing import show_no_answer
from keepsake.happening import PersonId


class Outage:
    """One agent's time without an answer; on the reactor thread."""

    def __init__(self) -> None:
        self._told: frozenset[PersonId] = frozenset()
        self._reason = ""

    def tell(self, agent: Body, impulse: Impulse, reason: str) -> None:
        """Tell a waiting player that no answer will come, unless they have been told.

        They are told again after an answer, for another kind of reason, if they have been away, and
        if they have said something new.

        Args:
            reason: The kind of the failure.
        """
        if reason != self._reason:
            self.end()
            self._reason = reason
        if impulse.who in self._told:
            if not impulse.failed:  # new words, not another try
                show_no_answer(agent, impulse, alone=True)
        elif show_no_answer(agent, impulse):
            self._told |= frozenset(map(identity_of, people_near(agent)))

    def set_present(self, present: Collection[PersonId]) -> None:
        """Set who is here: whoever leaves and comes back is told again."""
        self._told &= frozenset(present)

    def end(self) -> None:
        """Record that the agent has answered."""
        self._told = frozenset()
        self._reason = ""
