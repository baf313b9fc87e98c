"""The players whose words no model has answered yet; they are answered when one can again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from keepsake.agent.attention.attention import Attention
from keepsake.agent.attention.impulse import DIRECT, Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.turns.state import Turn
from keepsake.agent.turns.waiting import all_waiting


class WaitingPlayers:
    """The players who wait for one agent, each with the last words to it; on the reactor thread."""

    def __init__(self, memory: MemoryComponent, attention: Attention) -> None:
        self._memory = memory
        self._attention = attention
        self._impulses: dict[str, Impulse] = {}

    @property
    def impulses(self) -> tuple[Impulse, ...]:
        """The words that wait, oldest first."""
        return tuple(self._impulses.values())

    def add(self, impulse: Impulse) -> None:
        """Add words that the agent could not answer now."""
        self._impulses[impulse.key] = impulse

    def remove(self, impulse: Impulse) -> None:
        """Remove the words of a person; nothing happens if none of that person wait."""
        self._impulses.pop(impulse.key, None)

    def keep(self, turn: Turn, *, paused: bool) -> None:
        """Keep words that a turn left unanswered for another try, unless their speaker has gone on.

        ``paused``: Whether the agent was paused meanwhile.
        """
        impulse = turn.impulse
        self.remove(impulse)
        if turn.is_unanswered:
            impulse = replace(impulse, failed=True)
            newer = self._attention.waiting_of(impulse.key)
            if newer is not None and newer.kind in DIRECT:
                self.pass_over(impulse)
                return
        elif not paused or turn.did:
            return
        self.add(impulse)

    def drop_older(self, event: Impulse, turn: Turn | None) -> bool:
        """Drop an older line of the same person that no model answered, for a newer one.

        Args:
            event: The newer line.
            turn: The current thought; None if there is none.

        Returns:
            Whether the current thought tries that older line again, and has said nothing yet.
        """
        old = self._impulses.get(event.key)
        if event.failed or event.kind not in DIRECT or old is None or not old.failed:
            return False
        self.remove(old)
        if turn is None or turn.impulse.key != event.key or not turn.impulse.failed:
            self.pass_over(old)
            return False
        if turn.has_begun:
            return False
        self.pass_over(old)
        return True

    def pass_over(self, failed: Impulse) -> None:
        """Record that what was said up to an impulse gets no answer any more."""
        memory = self._memory
        lines = all_waiting(memory.memory.context().window, failed, memory.passed_over)
        numbers = (each.number for each in lines)
        memory.passed_over.update(each for each in numbers if each <= failed.memory_number)

    def store(self, agent: Body, seconds: float, now: datetime) -> None:
        """Store on the agent which players wait, and who is about to be answered; for a start.

        Also store with whom it has talked a while ago, who needs no greeting then.

        Args:
            seconds: The present on the clock of its attention.
        """
        ages = self._attention.talks.ages(seconds)
        if ages:
            agent.db.talked = [(who, now.timestamp() - age) for who, age in ages.items()]
        owed = [*self.impulses, *self._attention.owed]  # the newest last
        if owed:
            agent.db.owed = [
                (each.kind.value, each.source, each.memory_number, each.source_id) for each in owed
            ]

    def restore(self, agent: Body, seconds: float, now: datetime) -> bool:
        """Take the players whom :meth:`store` stored; return whether any of them wait."""
        if talked := agent.db.talked:
            ages = {str(who): now.timestamp() - at for who, at in talked}
            self._attention.talks.restore(ages, seconds)
            agent.attributes.remove("talked")
        owed = agent.db.owed
        if not owed:
            return False
        agent.attributes.remove("owed")
        self._impulses = {}
        for kind, source, memory_number, source_id in owed:
            self.add(Impulse(ImpulseKind(kind), True, source, memory_number, source_id))
        return True
