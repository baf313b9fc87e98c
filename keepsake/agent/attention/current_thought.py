"""The thought that an agent has now."""

from __future__ import annotations

from keepsake.agent.body import Body
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings.showing import show_players
from keepsake.agent.turns.state import Turn
from keepsake.events.values import Urgency
from keepsake.ports import Scheduler


class CurrentThought:
    """The thought that one agent has now; there is at most one.

    Attributes:
        turn: Its turn; None if the agent does not think.
        pause: Shows players after some seconds that the agent thinks, unless an answer comes first.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.turn: Turn | None = None
        self.pause = Alarm(scheduler)
        self._seconds = scheduler.seconds
        self._since = 0.0  # when it began

    @property
    def is_thinking(self) -> bool:
        """Whether a thought is under way; one that waits for the end of a walk is not."""
        return self.turn is not None and not self.turn.is_walking

    @property
    def waited(self) -> float | None:
        """Seconds since the thought began; None if there is none, or it walks."""
        return self._seconds() - self._since if self.is_thinking else None

    def begin(self, turn: Turn, agent: Body, pause_notice: float) -> None:
        """Take a thought as the current one.

        Args:
            pause_notice: Seconds after which players are shown that it thinks, if one of them waits
                for an answer; 0 for never.
        """
        self.turn = turn
        self._since = self._seconds()
        if turn.impulse.priority is Urgency.PLAYER and pause_notice:
            self.pause.set(pause_notice, show_players, agent, f"{agent.key} pauses, thinking.")

    def end(self) -> None:
        """Take it that there is no thought any more."""
        self.pause.cancel()
        self.turn = None
