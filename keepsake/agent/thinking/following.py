"""Whom an agent goes after, because they asked it to; no model is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keepsake.agent.body import Body
from keepsake.agent.conversations import TALK_SECONDS
from keepsake.agent.surroundings import people_near

FOLLOW_SECONDS = TALK_SECONDS + 600.0
"""Silence between the two after which it follows no longer: ten minutes after their talk."""


@dataclass
class Following:
    """Whom one agent follows."""

    leader: int | None = None  # their database number; None for nobody
    spoke_at: float = 0.0  # when they last had words, in seconds of the services' timer

    def begin(self, leader: Any, now: float) -> None:
        """Go after them from now on."""
        self.leader, self.spoke_at = int(leader.id), now

    def end(self) -> None:
        """Stay where one is."""
        self.leader = None

    def spoke(self, leader: Any, now: float) -> None:
        """They had words with each other."""
        if self.leader == leader.id:
            self.spoke_at = now

    def follows(self, agent: Body, leader: Any, now: float) -> bool:
        """Whether it follows them, whom it sees; who is out of sight is followed no longer."""
        if self.leader is not None and all(p.id != self.leader for p in people_near(agent)):
            self.end()
        return self.leader == leader.id and now - self.spoke_at < FOLLOW_SECONDS
