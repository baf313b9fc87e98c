"""Whom an agent goes after, because they asked it to; no model is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from game.agent.conversations import TALK_SECONDS
from game.mind.prompt.parsing import Command
from typeclasses.components.hosts import guests_wait, is_at_home
from typeclasses.components.surroundings import people_near, players_near

if TYPE_CHECKING:
    from typeclasses.agents import Agent
    from typeclasses.minds import Mind

FOLLOW_SECONDS = TALK_SECONDS + 600.0
"""Silence between the two after which it follows no longer: ten minutes after their talk."""


@dataclass
class Following:
    """Whom one agent follows.

    Attributes:
        leader: Their database number; None for nobody.
        spoke_at: When they last had words, in seconds of the services' timer.
    """

    leader: int | None = None
    spoke_at: float = 0.0

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

    def follows(self, agent: Agent, leader: Any, now: float) -> bool:
        """Whether it follows them, whom it sees; who is out of sight is followed no longer."""
        if self.leader is not None and all(p.id != self.leader for p in people_near(agent)):
            self.end()
        return self.leader == leader.id and now - self.spoke_at < FOLLOW_SECONDS


def hosts_guests(agent: Agent) -> bool:
    """Whether it keeps the place where it is and has guests there, or some wait at home."""
    return (is_at_home(agent) and bool(players_near(agent))) or guests_wait(agent)


def go_after(minds: list[Mind], leader: Any, start: Any, way: Any, now: float) -> None:
    """Somebody has left by an exit: whoever follows them does the same, or loses them.

    Args:
        minds: All minds that are open.
        leader: Who has left.
        start: The room that they left.
        way: The exit.
        now: Seconds of the services' timer.
    """
    for mind in minds:
        agent, following = mind.thinker.agent, mind.following
        if agent is None or following.leader != leader.id:
            continue
        if _may_go(agent, start, way) and now - following.spoke_at < FOLLOW_SECONDS:
            mind.actor.do(agent, Command("go", way.key))
        if agent.location is not leader.location:
            following.end()


def _may_go(agent: Agent, start: Any, way: Any) -> bool:
    able = not (agent.is_asleep or agent.db.paused or hosts_guests(agent))
    return able and agent.location is start and bool(way.access(agent, "traverse"))
